//! The rate of a long write over the bytes written: where a buffer is full, and what is left then.
//!
//! Marked are the findings: how much the buffer took, the rate before and the rate after. Windows in which the rate
//! changed belong to neither.

use iosonde_model::{FindingName, Named, Op, Run, Trial};

use super::{Chart, course, pick};
use crate::figure::{Along, Axis, Dot, DotSeries, DotStanding, Figure, FindingMark, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct SustainedWrite;

/// Windows that make a course.
const WINDOWS_MIN: usize = 6;

impl Named for SustainedWrite {
    fn name(&self) -> &'static str {
        "sustained-write"
    }
}

impl Chart for SustainedWrite {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let experiment = asked(run)?;
        let writes = |trial: &&Trial| {
            trial.experiment == experiment
                && trial.streams.is_empty()
                && trial.write.is_some()
                && trial.read.is_none()
        };
        let trials: Vec<&Trial> = course::standing(run).filter(writes).collect();
        let first = trials.iter().find(|trial| trial.windows.len() >= WINDOWS_MIN)?;
        let course = course::stretches(first, Op::Write);
        let dots: Vec<Dot> = course.iter().map(dot).collect();
        let others = trials.iter().filter(|trial| trial.id != first.id);
        let others = others.flat_map(|trial| course::stretches(trial, Op::Write));
        let others: Vec<(f64, f64)> =
            others.map(|s| (s.before_bytes + s.bytes / 2.0, s.bytes_per_s())).collect();
        let series = vec![DotSeries {
            name: format!("trial {}", first.id),
            tone: Tone::Write,
            joined: true,
            dots,
            trials: others,
            ..DotSeries::default()
        }];
        let marks = marks(run, first);
        let mut heights = pick::heights(&series);
        heights.extend(marks.iter().filter(|mark| mark.along == Along::Y).map(|mark| mark.at));
        let label = format!("bytes written: {}", first.spec.describe());
        Some(Figure {
            name: self.name().into(),
            title: "How long does writing stay fast?".into(),
            answer: pick::sentences(
                run,
                &[FindingName::WriteBufferBytes, FindingName::BurstRate, FindingName::SustainedRate],
            ),
            reading: format!("Windows of trial {}, the first of {}.", first.id, trials.len()),
            experiment: Some(experiment.to_owned()),
            x: Axis::from_zero(&label, Quantity::Bytes, &pick::places(&series)),
            y: Axis::from_zero("throughput", Quantity::BytesPerSecond, &heights),
            series,
            marks,
            ..Figure::default()
        })
    }
}

/// The experiment that asked how long writing stays fast.
fn asked(run: &Run) -> Option<&str> {
    let names = [FindingName::WriteBufferBytes, FindingName::SustainedRate, FindingName::BurstRate];
    let finding = run.findings.iter().find(|finding| names.contains(&finding.name))?;
    Some(&finding.experiment)
}

fn marks(run: &Run, trial: &Trial) -> Vec<FindingMark> {
    let wanted = [
        (FindingName::WriteBufferBytes, Along::X, "buffer full after"),
        (FindingName::BurstRate, Along::Y, "before"),
        (FindingName::SustainedRate, Along::Y, "goes on at"),
    ];
    let mark = |(name, along, words)| {
        let finding = pick::found_about(run, name, Op::Write, &trial.spec).next()?;
        pick::mark(finding, along, words, Tone::Neutral)
    };
    wanted.into_iter().filter_map(mark).collect()
}

fn dot(stretch: &course::Stretch) -> Dot {
    let (x, y) = (stretch.before_bytes + stretch.bytes / 2.0, stretch.bytes_per_s());
    Dot {
        x,
        y,
        x_interval: None,
        y_interval: None,
        label: None,
        tip: vec![
            format!("after {}, {:.1} s", Quantity::Bytes.text(x), stretch.from_s),
            Quantity::BytesPerSecond.text(y),
        ],
        standing: DotStanding::Stands,
    }
}
