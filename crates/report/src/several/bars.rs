//! Bars: what each side gives at best for each operation, from workloads that all sides were asked for.

use iosonde_lab::compare::Side;
use iosonde_model::{Estimate, Judgement, Op, Outcome, Point, Rw, TrialSpec};

use super::tone;
use crate::figure::{Axis, Dot, Figure, Series, Standing};
use crate::quantity::Quantity;

/// The patterns that stand side by side.
const PATTERNS: [(Rw, Op, &str); 4] = [
    (Rw::Read, Op::Read, "sequential reads"),
    (Rw::RandRead, Op::Read, "random reads"),
    (Rw::Write, Op::Write, "sequential writes"),
    (Rw::RandWrite, Op::Write, "random writes"),
];

/// One place for each pattern, one bar for each side; `None` where no workload is shared.
pub(super) fn bars(sides: &[Side]) -> Option<Figure> {
    let apart = both_ways(sides);
    let shared: Vec<(&str, Vec<(TrialSpec, Estimate)>)> = PATTERNS
        .into_iter()
        .filter_map(|(rw, op, name)| Some((name, largest_shared(sides, rw, op, apart)?)))
        .collect();
    if shared.is_empty() {
        return None;
    }
    let series = sides.iter().enumerate().map(|(number, side)| Series {
        name: side.name.clone(),
        tone: tone(number),
        bars: true,
        dots: shared
            .iter()
            .enumerate()
            .map(|(place, (_, told))| dot(side, place, &told[number], apart))
            .collect(),
        ..Series::default()
    });
    let series: Vec<Series> = series.collect();
    let heights: Vec<f64> = series
        .iter()
        .flat_map(|s| &s.dots)
        .flat_map(|dot| [dot.y, dot.y_interval.map_or(dot.y, |ends| ends.1)])
        .collect();
    let places = shared.iter().map(|(name, told)| {
        let spec = &told[0].0;
        let size = iosonde_model::units::size(spec.block_size_bytes);
        match spec.asked_in_flight() {
            1 => format!("{size} {name}"),
            n => format!("{size} {name}, {n} in flight"),
        }
    });
    Some(Figure {
        name: "bars".into(),
        title: "What does each give at best?".into(),
        reading: "For each pattern, of the workloads that all were asked for, the one that moves the most \
                  bytes on the first side. With several repeats, the geometric mean over them, and no interval. \
                  Hollow bars are void as figures of the storage: memory or the program made them."
            .into(),
        x: Axis::places("", places.collect()),
        y: Axis::from_zero("throughput", Quantity::BytesPerSecond, &heights),
        series,
        ..Figure::default()
    })
}

/// A workload's throughput on every side; of several workloads the one with the most on the first side.
fn largest_shared(sides: &[Side], rw: Rw, op: Op, apart: bool) -> Option<Vec<(TrialSpec, Estimate)>> {
    let first = sides.first()?.runs.first()?;
    let mut candidates: Vec<&Point> = first
        .points
        .iter()
        .filter(|p| p.spec.rw == rw && plain(&p.spec) && p.direction(op).is_some())
        .collect();
    let rate = |point: &Point| point.direction(op).map_or(0.0, |d| d.bytes_per_s.value);
    candidates.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    candidates.into_iter().find_map(|point| {
        let told =
            sides.iter().map(|side| Some((point.spec.clone(), throughput(side, &point.spec, op, apart)?)));
        told.collect::<Option<Vec<_>>>()
    })
}

fn plain(spec: &TrialSpec) -> bool {
    spec.stride_bytes.is_none() && spec.rate_iops.is_none() && spec.and.is_empty()
}

/// What one side gives for a workload: its point with its interval, or the geometric mean over repeats.
fn throughput(side: &Side, spec: &TrialSpec, op: Op, apart: bool) -> Option<Estimate> {
    estimate(side, |point| {
        same(&point.spec, spec, apart).then(|| point.direction(op).map(|d| d.bytes_per_s)).flatten()
    })
}

pub(super) fn estimate(side: &Side, of: impl Fn(&Point) -> Option<Estimate>) -> Option<Estimate> {
    let told: Vec<Estimate> = side.runs.iter().filter_map(|run| run.points.iter().find_map(&of)).collect();
    match told.as_slice() {
        [] => None,
        [one] => Some(*one),
        several => {
            let value = several.iter().map(|e| e.value.ln()).sum::<f64>() / several.len() as f64;
            Some(Estimate { value: value.exp(), low: None, high: None })
        }
    }
}

/// Whether a side measured both past the page cache and through it: then the two are told apart.
pub(super) fn both_ways(sides: &[Side]) -> bool {
    sides.iter().filter_map(|side| side.runs.first()).any(|run| {
        let direct = |wanted: bool| run.points.iter().any(|point| point.spec.direct == wanted);
        direct(true) && direct(false)
    })
}

/// The same work, wherever and however it was done; ways told apart where a side has both.
pub(super) fn same(a: &TrialSpec, b: &TrialSpec, apart: bool) -> bool {
    work(a, apart) == work(b, apart)
}

pub(super) fn work(spec: &TrialSpec, apart: bool) -> TrialSpec {
    let direct = spec.direct || !apart;
    TrialSpec { engine: String::new(), direct, span_bytes: 0, offset_bytes: 0, ..spec.clone() }
}

/// Why a workload's figures on one side are not of its storage: half of its trials or more are void as such.
pub(super) fn why_not(side: &Side, spec: &TrialSpec, apart: bool) -> Option<String> {
    let run = side.runs.first()?;
    let point = run.points.iter().find(|point| same(&point.spec, spec, apart))?;
    let own = |judged: &&Judgement| {
        judged.verdict == Outcome::Void && judged.trial.is_some_and(|id| point.trial_ids.contains(&id))
    };
    let voids: Vec<&Judgement> = run.verdicts.iter().filter(own).collect();
    let first = voids.first()?;
    (2 * voids.len() >= point.trial_ids.len()).then(|| format!("not of the storage: {}", first.why))
}

fn dot(side: &Side, place: usize, (spec, estimate): &(TrialSpec, Estimate), apart: bool) -> Dot {
    let why = why_not(side, spec, apart);
    let interval = estimate.low.zip(estimate.high);
    Dot {
        x: place as f64,
        y: estimate.value,
        x_interval: None,
        y_interval: interval,
        label: Some(Quantity::BytesPerSecond.earned_text(estimate.value, estimate.low, estimate.high)),
        standing: if why.is_some() { Standing::Doubted } else { Standing::Stands },
        tip: [
            side.name.clone(),
            spec.describe(),
            Quantity::BytesPerSecond.interval_text(estimate.value, estimate.low, estimate.high),
        ]
        .into_iter()
        .chain(why)
        .collect(),
    }
}
