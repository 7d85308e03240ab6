//! The figures of a run that a picture shows.

use iosonde_model::{
    Estimate, Finding, FindingName, Histogram, Op, Phase, Point, Run, Trial, TrialSpec, WindowDirection,
    units,
};

use crate::frame::{Dot, Frame, Mark, Series, Shape};
use crate::scale::Counts;

/// What points may differ in.
pub struct Axis {
    name: &'static str,
    of: fn(&TrialSpec) -> f64,
    counts: Counts,
    log: bool,
}

const fn axis(name: &'static str, of: fn(&TrialSpec) -> f64, counts: Counts) -> Axis {
    Axis { name, of, counts, log: true }
}

pub const IN_FLIGHT: Axis = axis("queue depth", |s| s.asked_in_flight() as f64, Counts::InFlight);
pub const HOSTS: Axis = axis("hosts", |s| f64::from(s.hosts), Counts::InFlight);
pub const BLOCK: Axis = axis("block size", |s| s.block_size_bytes as f64, Counts::Bytes);
pub const STRIDE: Axis = axis("stride", |s| s.stride_bytes.unwrap_or(0) as f64, Counts::Bytes);
pub const SPAN: Axis = axis("span of the addresses", |s| s.span_bytes as f64, Counts::Bytes);
const LOAD: Axis = Axis {
    log: false,
    ..axis("requests a second offered", |s| s.rate_iops.unwrap_or(0.0), Counts::Requests)
};
const OFFSET: Axis = Axis { log: false, ..axis("first address", |s| s.offset_bytes as f64, Counts::Bytes) };
const MIX: Axis =
    Axis { log: false, ..axis("reads in 100", |s| s.read_percent.unwrap_or(0.0), Counts::Ratio) };

const AXES: [Axis; 7] = [STRIDE, IN_FLIGHT, BLOCK, SPAN, LOAD, MIX, OFFSET];

/// What is read off a point or a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Requests,
    Rate,
    /// From one completion to the next.
    TimeEach,
    MeanTime,
    P99,
    Busy,
    InFlight,
}

impl Figure {
    fn axis(self) -> (&'static str, Counts) {
        match self {
            Self::Requests => ("requests a second", Counts::Requests),
            Self::Rate => ("bytes a second", Counts::Rate),
            Self::TimeEach => ("time for each request", Counts::TimeNs),
            Self::MeanTime => ("mean latency", Counts::TimeNs),
            Self::P99 => ("99th percentile of the latency", Counts::TimeNs),
            Self::Busy => ("share of the time at work", Counts::Ratio),
            Self::InFlight => ("mean queue depth", Counts::InFlight),
        }
    }

    fn of(self, point: &Point, op: Op) -> Option<Estimate> {
        let direction = point.direction(op).or(point.read.as_ref()).or(point.write.as_ref())?;
        let turned = |rate: Estimate| Estimate {
            value: 1e9 / rate.value,
            low: rate.high.map(|high| 1e9 / high),
            high: rate.low.map(|low| 1e9 / low),
        };
        match self {
            Self::Requests | Self::Busy | Self::InFlight => Some(direction.iops),
            Self::Rate => Some(direction.bytes_per_s),
            Self::TimeEach => Some(turned(direction.iops)),
            Self::MeanTime => direction.latency_ns_mean,
            Self::P99 => direction.latency_ns_p99,
        }
    }
}

fn op_of(finding: &Finding) -> Op {
    finding.conditions.op.filter(|op| *op != Op::Flush).unwrap_or(Op::Read)
}

fn trials<'r>(run: &'r Run, finding: &Finding) -> Vec<&'r Trial> {
    run.trials.iter().filter(|trial| finding.trials.contains(&trial.id)).collect()
}

fn points<'r>(run: &'r Run, finding: &Finding) -> Vec<&'r Point> {
    let of = trials(run, finding);
    run.points.iter().filter(|point| of.iter().any(|trial| trial.point == Some(point.id))).collect()
}

fn dots(points: &[&Point], op: Op, axis: &Axis, figure: Figure) -> Vec<Dot> {
    let dot = |point: &&Point| {
        let Estimate { value, low, high } = figure.of(point, op)?;
        Some(Dot { x: (axis.of)(&point.spec), y: value, ends: low.zip(high) })
    };
    let mut dots: Vec<Dot> = points.iter().filter_map(dot).filter(|dot| !axis.log || dot.x > 0.0).collect();
    dots.sort_by(|a, b| a.x.total_cmp(&b.x));
    dots
}

fn framed(series: Vec<Series>, axis: &Axis, figure: Figure) -> Frame {
    let mut frame = Frame::new(series, (axis.name, axis.counts), figure.axis());
    frame.x.log = axis.log;
    frame.x.at = frame.series.iter().flat_map(|series| series.dots.iter().map(|dot| dot.x)).collect();
    frame.x.at.sort_by(f64::total_cmp);
    frame.x.at.dedup();
    frame
}

fn series(dots: Vec<Dot>) -> Series {
    Series { name: None, dots, shape: Shape::Dots }
}

/// The finding's points over what they differ in.
pub fn over(run: &Run, finding: &Finding, axis: &Axis, figure: Figure) -> Frame {
    framed(vec![series(dots(&points(run, finding), op_of(finding), axis, figure))], axis, figure)
}

/// All reads of the run.
pub fn all(run: &Run, axis: &Axis, figure: Figure) -> Frame {
    let points: Vec<&Point> = run.points.iter().collect();
    framed(vec![series(dots(&points, Op::Read, axis, figure))], axis, figure)
}

/// Reads beside writes.
pub fn both(run: &Run, finding: &Finding, axis: &Axis) -> Frame {
    let of = |name: &str, reads: bool| {
        let points: Vec<&Point> =
            points(run, finding).into_iter().filter(|point| point.spec.rw.reads() == reads).collect();
        let op = if reads { Op::Read } else { Op::Write };
        Series { name: Some(name.into()), ..series(dots(&points, op, axis, Figure::Requests)) }
    };
    framed(vec![of("reads", true), of("writes", false)], axis, Figure::Requests)
}

/// What the finding's points differ in most, where that is at least in three places.
pub fn widest(run: &Run, finding: &Finding) -> Option<&'static Axis> {
    let points = points(run, finding);
    let distinct = |axis: &Axis| {
        let mut values: Vec<f64> = points.iter().map(|point| (axis.of)(&point.spec)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len()
    };
    AXES.iter().rev().max_by_key(|axis| distinct(axis)).filter(|axis| distinct(axis) >= 3)
}

/// A few points side by side.
pub fn bars(run: &Run, finding: &Finding, figure: Figure) -> Frame {
    let op = op_of(finding);
    let mut points = points(run, finding);
    // What the others are compared with comes first.
    points.sort_by_key(|point| {
        let alone = point
            .spec
            .read_percent
            .map_or(0, |reads| if op == Op::Read { 100 - reads as u64 } else { reads as u64 });
        (alone, point.spec.offset_bytes, point.spec.stride_bytes, point.spec.rw.is_random(), point.spec.jobs)
    });
    bars_of(&points, op, figure)
}

fn bars_of(points: &[&Point], op: Op, figure: Figure) -> Frame {
    let mut labels = Vec::new();
    let mut dots = Vec::new();
    for point in points {
        let Some(Estimate { value, low, high }) = figure.of(point, op) else { continue };
        dots.push(Dot { x: dots.len() as f64, y: value, ends: low.zip(high) });
        labels.push(label(&point.spec, points));
    }
    let bars = Series { name: None, dots, shape: Shape::Bars };
    let mut frame = Frame::new(vec![bars], ("", Counts::Ratio), figure.axis());
    (frame.x.low, frame.x.high) = (-0.6, labels.len() as f64 - 0.4);
    frame.x.at = (0..labels.len()).map(|nth| nth as f64).collect();
    frame.labels = labels;
    frame
}

fn label(spec: &TrialSpec, among: &[&Point]) -> String {
    let shifted = |spec: &TrialSpec| spec.offset_bytes > 0 && spec.offset_bytes < spec.block_size_bytes;
    match (spec.read_percent, spec.stride_bytes) {
        (Some(reads), _) => format!("{reads} % reads"),
        (None, Some(stride)) => format!("stride {}", units::size(stride)),
        _ if among.iter().any(|point| point.spec.read_percent.is_some()) => {
            if spec.rw.reads() {
                "reads alone".into()
            } else {
                "writes alone".into()
            }
        }
        _ if among.iter().any(|point| point.spec.jobs != spec.jobs) => match spec.jobs {
            1 => format!("one worker, QD {}", spec.queue_depth),
            jobs => format!("{jobs} workers"),
        },
        _ if shifted(spec) => format!("{} off", units::size(spec.offset_bytes)),
        _ if among.iter().any(|point| shifted(&point.spec)) => "at multiples of the size".into(),
        _ => if spec.rw.is_random() { "random" } else { "in sequence" }.into(),
    }
}

/// Figures trial by trial.
pub fn by_trial(run: &Run, finding: &Finding, figure: Figure) -> Frame {
    let op = op_of(finding);
    let value = |trial: &&Trial| match figure {
        Figure::Busy => trial.busy_share,
        Figure::InFlight => trial.in_flight_mean,
        Figure::Rate => trial.direction(op).map(|direction| direction.bytes_per_s),
        // Of a finding about both directions, both.
        Figure::Requests if finding.conditions.op.is_none() => Some(trial.iops()),
        _ => trial.direction(op).map(|direction| direction.iops),
    };
    let of = trials(run, finding);
    let dots = of.iter().filter_map(value).enumerate();
    let dots: Vec<Dot> = dots.map(|(nth, y)| Dot { x: nth as f64 + 1.0, y, ends: None }).collect();
    let mut frame = Frame::new(vec![series(dots)], ("trial", Counts::Seconds), figure.axis());
    frame.x.low = 0.0;
    frame.x.high = frame.series[0].dots.len() as f64 + 1.0;
    frame
}

/// Each trial's rate over the geometric mean of those of its point that `among` holds.
fn relative<'r>(trials: &[&'r Trial], among: impl Fn(&Trial) -> bool) -> Vec<(&'r Trial, f64)> {
    let level = |of: &Trial| {
        let own = trials.iter().filter(|trial| trial.point == of.point && among(trial));
        let logs: Vec<f64> = own.map(|trial| trial.iops().ln()).collect();
        (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
    };
    trials.iter().map(|trial| (*trial, trial.iops() / level(trial))).collect()
}

const RELATIVE: (&str, Counts) = ("rate, over the mean of its point", Counts::Ratio);

/// All trials over the time, each over the mean of its point, with the true change.
pub fn over_time(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let middle_s = |trial: &Trial| trial.started_s + trial.elapsed_s / 2.0;
    let of = trials(run, finding);
    let mean_s = of.iter().map(|trial| middle_s(trial)).sum::<f64>() / of.len().max(1) as f64;
    let dots: Vec<Dot> = relative(&of, |_| true)
        .into_iter()
        .map(|(trial, y)| Dot { x: middle_s(trial), y, ends: None })
        .collect();
    let last_s = dots.iter().map(|dot| dot.x).fold(0.0, f64::max);
    let law = |x: f64| (1.0 + truth).powf((x - mean_s) / 3600.0);
    let along = (0..=40).map(|step| last_s * f64::from(step) / 40.0).map(|x| (x, law(x))).collect();
    let words = format!("true: {:.0} % an hour", 100.0 * truth);
    let frame = Frame::new(vec![series(dots)], ("seconds of the run", Counts::Seconds), RELATIVE);
    frame.with(Mark::Curve { along, words })
}

/// All trials by what came right before them, each over the mean of its point after reads.
pub fn by_what_came_before(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let mut all: Vec<&Trial> = run.trials.iter().collect();
    all.sort_by(|a, b| a.started_s.total_cmp(&b.started_s));
    let after_write: Vec<u64> =
        all.windows(2).filter(|pair| pair[0].spec.changes()).map(|pair| pair[1].id).collect();
    let is_after = |trial: &Trial| after_write.contains(&trial.id);
    let dots = relative(&trials(run, finding), |trial| !is_after(trial));
    // Side by side within their column, so that none hides another.
    let dot = |(nth, (trial, y)): (usize, (&Trial, f64))| {
        let aside = 0.5 * ((nth * 7 % 19) as f64 / 19.0 - 0.5);
        Dot { x: f64::from(u8::from(is_after(trial))) + aside, y, ends: None }
    };
    let dots = dots.into_iter().enumerate().map(dot).collect();
    let mut frame = Frame::new(vec![series(dots)], ("", Counts::Ratio), RELATIVE);
    (frame.x.low, frame.x.high, frame.x.at) = (-0.6, 1.6, vec![0.0, 1.0]);
    frame.labels = ["after a read", "after a write"].map(String::from).into();
    frame.with(Mark::level(truth))
}

fn flow(window: &iosonde_model::Window, op: Op) -> Option<&WindowDirection> {
    window.direction(op).or(window.read.as_ref()).or(window.write.as_ref())
}

/// The windows of the first trial.
pub fn course(run: &Run, finding: &Finding) -> Frame {
    let first: Vec<&Trial> = trials(run, finding).into_iter().take(1).collect();
    let dots = first.iter().flat_map(|trial| windows(trial, op_of(finding), 0.0, |flow| flow.bytes as f64));
    Frame::new(vec![series(dots.collect())], ("seconds into one trial", Counts::Seconds), Figure::Rate.axis())
}

/// The finding's trials and those between them that are the same load: what it met is no break.
fn unbroken<'r>(run: &'r Run, finding: &Finding) -> Vec<&'r Trial> {
    let spec = trials(run, finding).first().map(|trial| &trial.spec);
    let mut of: Vec<&Trial> = run
        .trials
        .iter()
        .filter(|trial| trial.phase != Phase::Prepare && Some(&trial.spec) == spec)
        .collect();
    of.sort_by(|a, b| a.started_s.total_cmp(&b.started_s));
    of
}

/// The windows of all trials.
pub fn whole_course(run: &Run, finding: &Finding) -> Frame {
    let of = unbroken(run, finding);
    let began_s = of.first().map_or(0.0, |trial| trial.started_s);
    let dots = of
        .iter()
        .flat_map(|trial| windows(trial, op_of(finding), trial.started_s - began_s, |flow| flow.ios as f64));
    let line = Series { name: None, dots: dots.collect(), shape: Shape::Line };
    Frame::new(vec![line], ("seconds of unbroken load", Counts::Seconds), Figure::Requests.axis())
}

fn windows(trial: &Trial, op: Op, after_s: f64, of: fn(&WindowDirection) -> f64) -> Vec<Dot> {
    let whole = trial.windows.iter().filter(|window| window.length_s > 0.0);
    let dot = |window: &iosonde_model::Window| {
        let x = after_s + window.start_s + window.length_s / 2.0;
        Some(Dot { x, y: of(flow(window, op)?) / window.length_s, ends: None })
    };
    whole.filter_map(dot).collect()
}

/// What was moved beyond what the later rate alone would have moved: of the first trial, or of a load that trials
/// only divide.
pub fn beyond(run: &Run, finding: &Finding) -> Frame {
    let op = op_of(finding);
    let divided = finding.name == FindingName::BurstCreditBytes;
    let of: Vec<&Trial> =
        trials(run, finding).into_iter().take(if divided { usize::MAX } else { 1 }).collect();
    let began_s = of.first().map_or(0.0, |trial| trial.started_s);
    let late = of.last().map_or(&[][..], |trial| &trial.windows[trial.windows.len() / 2..]);
    let (bytes, seconds) = late.iter().fold((0.0, 0.0), |(bytes, seconds), window| {
        (bytes + flow(window, op).map_or(0.0, |flow| flow.bytes as f64), seconds + window.length_s)
    });
    let later_per_s = bytes / f64::max(seconds, 1e-9);
    let mut moved = 0.0;
    let mut dots = vec![Dot { x: 0.0, y: 0.0, ends: None }];
    for trial in of {
        let mut counted = 0;
        for window in &trial.windows {
            let (bytes, ios) = flow(window, op).map_or((0, 0), |flow| (flow.bytes, flow.ios));
            (moved, counted) = (moved + bytes as f64, counted + ios);
            let x = trial.started_s - began_s + window.start_s + window.length_s;
            dots.push(Dot { x, y: moved - later_per_s * x, ends: None });
        }
        // Requests outstanding at the end of the trial completed after its last window.
        let late = trial.witnesses.issued_ios.saturating_sub(counted) * trial.spec.block_size_bytes;
        moved += late as f64;
    }
    let across = if divided { "seconds of unbroken load" } else { "seconds into one trial" };
    let line = Series { name: None, dots, shape: Shape::Line };
    Frame::new(
        vec![line],
        (across, Counts::Seconds),
        ("moved beyond what the later rate would have", Counts::Bytes),
    )
}

fn latencies(trials: &[&Trial], finding: &Finding) -> Histogram {
    let mut merged = Histogram::new();
    for trial in trials {
        let flush = trial.flush.as_ref().filter(|_| finding.conditions.op == Some(Op::Flush));
        let own = flush.map(|flush| &flush.histogram);
        if let Some(one) = own.or_else(|| Some(&trial.direction(op_of(finding))?.histogram)) {
            merged.merge(one);
        }
    }
    merged
}

/// How long the quickest share of requests took, from `from` to all but one in a thousand.
fn curve(histogram: &Histogram, from: f64) -> Frame {
    let shares = (0..=200).map(|step| from + (0.999 - from) * f64::from(step) / 200.0);
    let dots = shares.filter_map(|x| Some(Dot { x, y: histogram.quantile_ns(x.max(1e-3))?, ends: None }));
    let line = Series { name: None, dots: dots.collect(), shape: Shape::Line };
    let across = "share of requests that took no longer";
    Frame::new(vec![line], (across, Counts::Share), ("latency", Counts::TimeNs))
}

/// Trials of the finding.
pub fn quantiles(run: &Run, finding: &Finding) -> Frame {
    curve(&latencies(&trials(run, finding), finding), 0.0)
}

/// Reads in order: those that begin a piece wait for it.
pub fn pieces(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let mut of = trials(run, finding);
    let smallest = of.iter().map(|trial| trial.spec.block_size_bytes).min().unwrap_or(4096);
    of.retain(|trial| trial.spec.block_size_bytes == smallest && !trial.spec.rw.is_random());
    let slow = smallest as f64 / truth;
    let words = format!("true: one in {:.0} begins a piece", 1.0 / slow);
    let from = (1.0 - 4.0 * slow).max(0.0);
    curve(&latencies(&of, finding), from).logarithmic().with(Mark::Place { at: 1.0 - slow, words })
}

/// Waits for a platter: a straight line that rises by one turn.
pub fn turn(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let histogram = latencies(&trials(run, finding), finding);
    let first = histogram.quantile_ns(0.5).unwrap_or(0.0) - truth / 2.0;
    let along = vec![(0.0, first), (0.999, first + truth)];
    curve(&histogram, 0.0).with(Mark::Curve { along, words: "true: rises by one turn".into() })
}

/// Reads in sequence, near each other and far apart: arm, platter and the rest.
pub fn seeks(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let mut points = points(run, finding);
    points.sort_by_key(|point| (point.spec.rw.is_random(), point.spec.span_bytes));
    let mut frame = bars_of(&points, Op::Read, Figure::MeanTime);
    let turn = run
        .findings
        .iter()
        .find(|finding| finding.name == FindingName::RotationPeriod)
        .and_then(|it| it.value);
    for (label, point) in frame.labels.iter_mut().zip(&points) {
        if point.spec.rw.is_random() {
            *label = format!("random within {}", units::size(point.spec.span_bytes));
        }
    }
    if let (Some(turn), Some(quickest)) = (turn, frame.values().reduce(f64::min)) {
        let words = format!("true: {} of seek, half a turn, and a read in sequence", units::time(truth));
        frame = frame.with(Mark::Level { at: truth + turn / 2.0 + quickest, words, is_truth: true });
    }
    frame
}

/// Rates from the outer edge to the inner: their squares lie on a line.
pub fn zones(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let frame = over(run, finding, &OFFSET, Figure::Rate);
    let dots = &frame.series[0].dots;
    let whole = run.info.device.size_bytes.unwrap_or(1) as f64;
    let law = |x: f64| (1.0 - (1.0 - truth.powi(-2)) * x / whole).sqrt();
    let outer = dots.iter().map(|dot| dot.y / law(dot.x)).sum::<f64>() / dots.len().max(1) as f64;
    let along = (0..=40).map(|step| whole * f64::from(step) / 40.0).map(|x| (x, outer * law(x))).collect();
    let words =
        format!("true: {} times as fast outside as inside", crate::scale::short(&format!("{truth:.2}")));
    let mut frame = frame.with(Mark::Curve { along, words });
    (frame.x.low, frame.x.high) = (-0.02 * whole, 1.02 * whole);
    frame
}

/// Latency over the load that was offered, with the limit.
pub fn loads(run: &Run, finding: &Finding) -> Frame {
    let frame = over(run, finding, &LOAD, Figure::P99).logarithmic();
    let spec = points(run, finding).into_iter().find_map(|point| point.spec.latency_limit);
    match spec {
        Some(limit) => frame.with(Mark::Level {
            at: limit.ns as f64,
            words: format!("the limit, {}", crate::scale::short(&units::time(limit.ns as f64))),
            is_truth: false,
        }),
        None => frame,
    }
}
