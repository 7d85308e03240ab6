//! Table of single trials: a row for each direction, for flushes, and for each stream of several.

use crate::{
    Paint,
    paint::{Ink, clean, columns, pad},
    quantity::Quantity,
};
use iosonde_model::{
    Commits, Direction, Flush, LatencySummary, Op, Trial, fio::FioReport, requests_beyond, units,
};

/// Figures of a row; `None` is one that another tool does not state.
type Figures = [Option<String>; 7];

/// A row of the table.
pub(super) struct Row {
    label: String,
    figures: Figures,
}

/// What stands where a figure is not stated.
const NOT_STATED: &str = "–";

fn cell(figure: &Option<String>) -> String {
    figure.clone().unwrap_or_else(|| NOT_STATED.to_owned())
}

/// Columns of the table of one trial.
const TRIAL_HEADS: [&str; 8] = ["", "IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "max"];

/// A row for each direction, for flushes, and for each stream of several.
pub(super) fn latency_table(trial: &Trial, paint: Paint) -> String {
    let directions = trial.directions();
    let mut rows: Vec<Row> =
        directions.map(|(op, direction)| transfer_row(op.name().to_owned(), direction)).collect();
    if let Some(flush) = &trial.flush {
        rows.push(flush_row("flush".to_owned(), flush, trial.measured_s));
        rows.extend(flush.commit.as_ref().map(|commits| commit_row(flush, commits, trial.measured_s)));
    }
    for (number, stream) in trial.streams.iter().enumerate() {
        let lanes = [(Op::Read, &stream.read), (Op::Write, &stream.write), (Op::Trim, &stream.trim)];
        let own = lanes.into_iter().filter_map(|(op, lane)| Some((op, lane.as_ref()?)));
        let label = |what: &str| format!("stream {} {what}", number + 1);
        rows.extend(own.map(|(op, lane)| transfer_row(label(op.name()), lane)));
        let own_s = stream.measured_s.unwrap_or(trial.measured_s);
        rows.extend(stream.flush.as_ref().map(|flush| flush_row(label("flush"), flush, own_s)));
    }
    rows_of_figures(rows, paint)
}

/// Rows of single trials below their heads.
pub(super) fn rows_of_figures(rows: Vec<Row>, paint: Paint) -> String {
    let cells = |row: Row| {
        std::array::from_fn(|at| if at == 0 { row.label.clone() } else { cell(&row.figures[at - 1]) })
    };
    let heads = TRIAL_HEADS.map(str::to_owned);
    aligned(&std::iter::once(heads).chain(rows.into_iter().map(cells)).collect::<Vec<_>>(), paint)
}

/// Minimum width of the labels of a table that is wider than the screen, in columns.
const LABEL_MIN: usize = 9;

/// Rows below their heads. Where they are wider than the screen, a long label stands above its figures.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]], paint: Paint) -> String {
    let mut widths: [usize; N] = std::array::from_fn(|at| {
        let widest = rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0);
        if widest > 0 { widest + 2 } else { 0 }
    });
    let figures: usize = widths[1..].iter().sum();
    let is_wide = widths[0] + figures > paint.width;
    if is_wide {
        widths[0] = paint.width.saturating_sub(figures).clamp(LABEL_MIN, widths[0]);
    }
    let line = |(nth, row): (usize, &[String; N])| {
        let label = if is_wide { row[0].trim_start() } else { &row[0] };
        let is_apart = columns(label) + 2 > widths[0];
        let (above, label) = if is_apart { (format!("  {label}\n"), "") } else { (String::new(), label) };
        let cells: String = (1..N).map(|at| pad(&row[at], widths[at])).collect();
        let line = format!("  {}", format!("{}{cells}", pad(label, widths[0])).trim_end());
        format!("{above}{}\n", if nth == 0 { paint.ink(Ink::Quiet, &line) } else { line })
    };
    rows.iter().enumerate().map(line).collect()
}

/// A table of results of other tools: a row for each direction, without the columns that no result has. A label has as
/// many columns as the figures leave, and half of the screen at least.
pub(crate) fn results_table(
    trials: &[Trial],
    label: impl Fn(&Trial, usize) -> String,
    paint: Paint,
) -> String {
    let mut rows: Vec<(&Trial, Place, Figures)> = Vec::new();
    for trial in trials {
        let flush = trial.flush.as_ref().filter(|flush| flush.latency_ns.mean.is_some());
        let several = trial.directions().count() > 1 || flush.is_some();
        for (nth, (op, direction)) in trial.directions().enumerate() {
            let row = match (several, nth) {
                (false, _) => Place::Only,
                (true, 0) => Place::First(format!(", {op}s")),
                (true, _) => Place::Below(format!("{op}s")),
            };
            rows.push((trial, row, transfer(direction)));
        }
        if let Some(flush) = flush {
            let row = Place::Below("flushes".to_owned());
            rows.push((trial, row, flushes(flush, trial.measured_s)));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let is_given = |at: &usize| rows.iter().any(|(.., figures)| figures[*at].is_some());
    let given: Vec<usize> = (0..TRIAL_HEADS.len() - 1).filter(is_given).collect();
    let width = |at: &usize| {
        let cells = rows.iter().map(|(.., figures)| columns(figures[*at].as_deref().unwrap_or(NOT_STATED)));
        cells.chain([TRIAL_HEADS[*at + 1].len()]).max().unwrap_or(0) + GAP
    };
    let room = paint.width.saturating_sub(given.iter().map(width).sum::<usize>() + GAP);
    let of = |label: String, figure: &dyn Fn(usize) -> String| {
        let mut cells: [String; 8] = Default::default();
        cells[0] = label;
        for (to, from) in given.iter().enumerate() {
            cells[to + 1] = figure(*from);
        }
        cells
    };
    // What stands behind the label of a result with several rows has its place first.
    let label = |trial: &Trial, behind: usize| label(trial, room.saturating_sub(behind).max(paint.width / 2));
    let behind = columns(", writes");
    let labelled = rows.iter().map(|(trial, row, figures)| {
        let label = match row {
            Place::Only => label(trial, 0),
            Place::First(op) => label(trial, behind) + op,
            Place::Below(what) => " ".repeat(columns(&label(trial, behind)) + 2) + what,
        };
        of(label, &|at| cell(&figures[at]))
    });
    let heads = of(String::new(), &|at| TRIAL_HEADS[at + 1].to_owned());
    aligned(&std::iter::once(heads).chain(labelled).collect::<Vec<_>>(), paint)
}

/// Columns between two cells.
const GAP: usize = 2;

/// Place of a row among those of its result: the only one, the first of several, or one of the others.
enum Place {
    Only,
    First(String),
    Below(String),
}

fn transfer_row(label: String, direction: &Direction) -> Row {
    Row { label, figures: transfer(direction) }
}

fn transfer(direction: &Direction) -> Figures {
    let bandwidth = Quantity::BytesPerSecond.text(direction.bytes_per_s);
    let latencies = latencies(&direction.latency_ns, direction.histogram.total() > 0);
    row(units::count(direction.iops), bandwidth, latencies)
}

fn flush_row(label: String, flush: &Flush, measured_s: f64) -> Row {
    Row { label, figures: flushes(flush, measured_s) }
}

fn flushes(flush: &Flush, measured_s: f64) -> Figures {
    row(per_s(flush, measured_s), String::new(), latencies(&flush.latency_ns, flush.histogram.total() > 0))
}

fn per_s(flush: &Flush, measured_s: f64) -> String {
    units::count(if measured_s > 0.0 { flush.ios as f64 / measured_s } else { 0.0 })
}

/// Writes and the flush that made them durable: what a client waits for.
fn commit_row(flush: &Flush, commits: &Commits, measured_s: f64) -> Row {
    let latencies = latencies(&commits.latency_ns, true);
    Row { label: "commit".to_owned(), figures: row(per_s(flush, measured_s), String::new(), latencies) }
}

fn row(iops: String, bandwidth: String, [mean, p50, p99, p99_9, max]: [Option<String>; 5]) -> Figures {
    [Some(iops), Some(bandwidth), mean, p50, p99, p99_9, max]
}

/// Mean, p50, p99, p99.9 and maximum. Where requests were counted one by one, a percentile that is not given needs more
/// of them; of another tool's result, it is not stated.
fn latencies(latency: &LatencySummary, is_counted: bool) -> [Option<String>; 5] {
    let max = latency.max.map(|ns| ns as f64);
    let missing = is_counted.then(|| "too few".to_owned());
    [latency.mean, latency.p50, latency.p99, latency.p99_9, max]
        .map(|ns| ns.map_or(missing.clone(), |ns| Some(Quantity::Nanoseconds.text(ns))))
}

/// How many requests the percentiles need that are not given: `p99 needs 1,000, p99.9 needs 10,000 requests; 206 were
/// made`.
pub(super) fn requests_needed(trial: &Trial) -> Option<String> {
    let counted = trial.directions().map(|(_, direction)| direction.histogram.total());
    let flushes = trial.flush.iter().map(|flush| flush.histogram.total());
    let fewest = counted.chain(flushes).filter(|total| *total > 0).min()?;
    let needs = |(name, quantile): (&str, f64)| {
        let needed = requests_beyond(quantile);
        (fewest < needed).then(|| format!("{name} needs {},000", needed / 1000))
    };
    let lacking: Vec<String> = [("p99", 0.99), ("p99.9", 0.999)].into_iter().filter_map(needs).collect();
    (!lacking.is_empty()).then(|| format!("{} requests; {fewest} were made", lacking.join(", ")))
}

/// A row for each direction of a job, and for its flushes.
pub(super) fn report_rows(trial: &Trial, report: &FioReport) -> Vec<Row> {
    let label = |what: &str| format!("{} {what}", clean(&report.name));
    let mut rows = Vec::new();
    for op in Op::DIRECTIONS {
        rows.extend(report.direction(trial, op).map(|lane| transfer_row(label(op.name()), &lane)));
    }
    let flushing_s = report.flushing_s(trial);
    rows.extend(report.flush(trial).map(|flush| flush_row(label("flush"), &flush, flushing_s)));
    rows
}
