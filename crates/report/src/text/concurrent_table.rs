//! What streams get beside each other, as the reads of a database do beside its log.

use iosonde_model::{About, Estimate, Op, Outcome, Point, Run, TrialSpec, Unit};

use super::{
    footnote::Footnotes,
    number::{Figure, Style, figure},
    table::{Cell, ResultRow, ResultTable},
};
use iosonde_infer::finding::over_trials;
use iosonde_judge::standing::confidence;

/// Points on the first screen, where a screen holds no more.
const POINTS_MAX: usize = 4;

/// A row for the streams of each direction, below them the flushes that the writes wait for.
pub(super) fn table(run: &Run, footnotes: &Footnotes) -> Option<ResultTable> {
    let together = run.points.iter().filter(|point| point.spec.streams().count() > 1);
    let rows = together.take(POINTS_MAX).flat_map(|point| rows(run, footnotes, point));
    ResultTable::new("concurrent", &["QD", "IOPS", "mean latency"], rows.collect())
}

fn rows(run: &Run, footnotes: &Footnotes, point: &Point) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for op in Op::TRANSFERS {
        let streams: Vec<&TrialSpec> = point.spec.streams().filter(|stream| stream.rw.has(op)).collect();
        let (Some(own), false) = (point.direction(op), streams.is_empty()) else { continue };
        let depth: u64 = streams.iter().map(|stream| stream.stream_in_flight()).sum();
        let depth = Figure { value: depth.to_string(), interval: String::new() };
        let rate = figure(Style::bare(Unit::Iops), &own.iops);
        let time = |time: &Estimate| Cell {
            // Its ends are in the report: with them the table is wider than a screen.
            figure: Some(figure(Unit::Time, time))
                .filter(|own| !own.is_unknown())
                .unwrap_or_else(Figure::unknown),
            marks: footnotes.of_trials(&[About::Latency], &point.trial_ids),
        };
        let marks = footnotes.of_trials(&[About::Rate], &point.trial_ids);
        rows.push(ResultRow {
            label: streams
                .into_iter()
                .map(TrialSpec::describe_without_depth)
                .collect::<Vec<_>>()
                .join(" and "),
            indented: !rows.is_empty(),
            cells: vec![
                Some(depth.into()),
                Some(Cell { figure: rate, marks }),
                own.latency_ns_mean.as_ref().map(time),
            ],
        });
        // A client that waits for the flush waits for both.
        rows.extend(flush(run, point).filter(|_| op == Op::Write).map(|flush| ResultRow {
            label: "flush after each write".to_owned(),
            indented: true,
            cells: vec![None, None, Some(time(&flush))],
        }));
    }
    rows
}

/// How long a flush took among a point's streams, over the valid trials.
pub(super) fn flush(run: &Run, point: &Point) -> Option<Estimate> {
    let void = |id: u64| {
        run.verdicts.iter().any(|line| {
            line.trial == Some(id) && line.verdict == Outcome::Invalid && line.about.touches(About::Latency)
        })
    };
    let own = run.trials.iter().filter(|trial| point.trial_ids.contains(&trial.id) && !void(trial.id));
    let means: Vec<f64> = own.filter_map(|trial| trial.flush.as_ref()?.latency_ns.mean).collect();
    over_trials::mean(&means, confidence(run))
}
