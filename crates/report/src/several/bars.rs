//! Bars: what all sides give for one workload of each pattern, the one at which they come nearest to their own best.
//!
//! A bar compares like with like only where all sides did the same, and is fair only where that suits each of them:
//! what one side does best may be another's worst. What a side gives beyond its bar with another size is said in
//! words.

use iosonde_infer::compare::Side;
use iosonde_model::{About, Estimate, Op, Point, Rw, TrialSpec, units};

use crate::{
    chart::pick::{Doubts, in_flight},
    figure::{Axis, Dot, DotSeries, DotStanding, Figure, Tone},
    quantity::Quantity,
};

/// The patterns, one below the other.
const PATTERNS: [(Rw, Op, &str); 4] = [
    (Rw::Read, Op::Read, "sequential reads"),
    (Rw::RandRead, Op::Read, "random reads"),
    (Rw::Write, Op::Write, "sequential writes"),
    (Rw::RandWrite, Op::Write, "random writes"),
];

/// By so much more than its bar a side must give elsewhere for that to be said: less is the scatter of a run.
const BEYOND: f64 = 1.05;
/// Share of the longest bar that is left for its value.
const ROOM: f64 = 1.45;

/// A workload of one pattern, and what each side gives for it.
struct Chosen {
    spec: TrialSpec,
    told: Vec<Rate>,
    pattern: &'static str,
    /// Results of the sides at another size or queue depth.
    beyond: Vec<String>,
}

/// What one side gives, and whether that is of its storage.
#[derive(Clone)]
struct Rate {
    estimate: Estimate,
    standing: DotStanding,
    why: Option<String>,
}

/// A row for each side below the name of each pattern's workload; `None` where no workload is shared.
pub(super) fn bars(sides: &[Side]) -> Option<Figure> {
    let apart = both_ways(sides);
    let doubts = judged(sides, &[About::Rate]);
    let chosen: Vec<Chosen> =
        PATTERNS.into_iter().filter_map(|pattern| choose(sides, &doubts, pattern, apart)).collect();
    if chosen.is_empty() {
        return None;
    }
    // From above: a workload, then its sides; an axis counts from below.
    let rows = chosen.len() * (sides.len() + 1);
    let row = |group: usize, place: usize| rows - 1 - group * (sides.len() + 1) - place;
    let mut places = vec![String::new(); rows];
    for (group, one) in chosen.iter().enumerate() {
        let size = units::size(one.spec.block_size_bytes);
        places[row(group, 0)] = format!("{size} {}, {}", one.pattern, in_flight(one.spec.asked_in_flight()));
        for (number, side) in sides.iter().enumerate() {
            places[row(group, number + 1)].clone_from(&side.name);
        }
    }
    let series = sides.iter().enumerate().map(|(number, side)| DotSeries {
        name: side.name.clone(),
        tone: Tone::of_side(number),
        bars: true,
        dots: chosen
            .iter()
            .enumerate()
            .map(|(group, one)| dot(side, row(group, number + 1), &one.spec, &one.told[number]))
            .collect(),
        ..DotSeries::default()
    });
    let series: Vec<DotSeries> = series.collect();
    let longest = series.iter().flat_map(|s| &s.dots).map(|dot| dot.x_interval.map_or(dot.x, |ends| ends.1));
    let longest = longest.fold(0.0, f64::max);
    let beyond: Vec<&str> = chosen.iter().flat_map(|one| &one.beyond).map(String::as_str).collect();
    let reading = "For each pattern, of the workloads that all were asked for, the one at which they come nearest to \
                   their own best. With several repeats, the geometric mean over them, and no interval.";
    let figure = Figure {
        name: "bars".into(),
        title: "What does each give, near its best?".into(),
        reading: [&[reading], beyond.as_slice()].concat().join(" "),
        x: Axis::from_zero("throughput", Quantity::BytesPerSecond, &[longest * ROOM]),
        y: Axis::places("", places),
        series,
        ..Figure::default()
    };
    Some(crate::chart::with_doubts(figure))
}

/// The shared workload at which the sides lie nearest to their own best, by ratio, where the fewest are invalid.
fn choose(
    sides: &[Side],
    doubts: &[Doubts],
    (rw, op, pattern): (Rw, Op, &'static str),
    apart: bool,
) -> Option<Chosen> {
    let of_pattern =
        |point: &&Point| point.spec.rw == rw && plain(&point.spec) && point.direction(op).is_some();
    let own = |side: &Side, doubts: &Doubts| -> Vec<(TrialSpec, Rate)> {
        let points = side.runs.first().map_or(&[][..], |run| &run.points).iter().filter(of_pattern);
        let told =
            points.filter_map(|point| Some((point.spec.clone(), rate(side, doubts, point, op, apart)?)));
        told.collect()
    };
    let all: Vec<Vec<(TrialSpec, Rate)>> =
        sides.iter().zip(doubts).map(|(side, doubts)| own(side, doubts)).collect();
    let of = |told: &[(TrialSpec, Rate)], spec: &TrialSpec| {
        told.iter().find(|(known, _)| same(known, spec, apart)).map(|(_, told)| told.clone())
    };
    let shared = all.first()?.iter().filter_map(|(spec, _)| {
        let told: Option<Vec<Rate>> = all.iter().map(|side| of(side, spec)).collect();
        Some((spec.clone(), told?))
    });
    let shared: Vec<(TrialSpec, Vec<Rate>)> = shared.collect();
    let best = |number: usize| {
        let rates = || shared.iter().map(|(_, told)| &told[number]);
        let most = |only: fn(&&Rate) -> bool| rates().filter(only).map(|t| t.estimate.value).reduce(f64::max);
        most(|told| told.standing != DotStanding::Void).or(most(|_| true)).unwrap_or(f64::NAN)
    };
    let best: Vec<f64> = (0..sides.len()).map(best).collect();
    let score = |told: &[Rate]| {
        let void = told.iter().filter(|told| told.standing == DotStanding::Void).count();
        let shares = told.iter().zip(&best).map(|(told, best)| (told.estimate.value / best).ln());
        (void, -shares.sum::<f64>())
    };
    let nearest = |a: &&(TrialSpec, Vec<Rate>), b: &&(TrialSpec, Vec<Rate>)| {
        let (a, b) = (score(&a.1), score(&b.1));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    let (spec, told) = shared.iter().min_by(nearest)?.clone();
    let beyond = sides.iter().zip(&all).zip(&told).filter_map(|((side, own), shown)| {
        let like = own.iter().filter(|(other, told)| {
            told.standing == DotStanding::Stands && (!apart || other.direct == spec.direct)
        });
        let (other, most) = like.max_by(|a, b| a.1.estimate.value.total_cmp(&b.1.estimate.value))?;
        let (size, rate) = (units::size(other.block_size_bytes), rate_text(&most.estimate));
        let depth = in_flight(other.asked_in_flight());
        // Surely more, where both have intervals.
        let least = most.estimate.low.unwrap_or(most.estimate.value);
        (least > shown.estimate.high.unwrap_or(shown.estimate.value) * BEYOND)
            .then(|| format!("{} moves more {pattern} with {size}, {depth}: {rate}.", side.name))
    });
    let beyond = beyond.collect();
    Some(Chosen { spec, told, pattern, beyond })
}

fn plain(spec: &TrialSpec) -> bool {
    spec.stride_bytes.is_none() && spec.rate_iops.is_none() && spec.and.is_empty()
}

fn rate_text(estimate: &Estimate) -> String {
    Quantity::BytesPerSecond.text(estimate.value)
}

/// What one side gives for the workload of this point of its first run.
fn rate(side: &Side, doubts: &Doubts, point: &Point, op: Op, apart: bool) -> Option<Rate> {
    let estimate = estimate(side, |other| {
        same(&other.spec, &point.spec, apart).then(|| other.direction(op).map(|d| d.bytes_per_s)).flatten()
    })?;
    let (standing, why) = doubts.of(point);
    Some(Rate { estimate, standing, why: why.map(str::to_owned) })
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

/// Whether a side measured both direct and buffered: then the two are separate bars.
pub(super) fn both_ways(sides: &[Side]) -> bool {
    sides.iter().filter_map(|side| side.runs.first()).any(|run| {
        let direct = |wanted: bool| run.points.iter().any(|point| point.spec.direct == wanted);
        direct(true) && direct(false)
    })
}

/// The same work, wherever and however it was done; direct and buffered apart where a side has both.
pub(super) fn same(a: &TrialSpec, b: &TrialSpec, apart: bool) -> bool {
    work(a, apart) == work(b, apart)
}

pub(super) fn work(spec: &TrialSpec, apart: bool) -> TrialSpec {
    let direct = spec.direct || !apart;
    TrialSpec { engine: String::new(), direct, span_bytes: 0, offset_bytes: 0, ..spec.clone() }
}

/// Invalid figures and warnings of each side's first run.
pub(super) fn judged(sides: &[Side], figures: &[About]) -> Vec<Doubts> {
    sides
        .iter()
        .map(|side| side.runs.first().map_or_else(Doubts::none, |run| Doubts::about(run, figures)))
        .collect()
}

fn dot(side: &Side, row: usize, spec: &TrialSpec, told: &Rate) -> Dot {
    let Estimate { value, low, high } = told.estimate;
    let rate = Quantity::BytesPerSecond.interval_text(value, low, high);
    let why = told.standing.word().zip(told.why.as_ref()).map(|(word, why)| format!("{word}: {why}"));
    Dot {
        x: value,
        y: row as f64,
        x_interval: low.zip(high),
        y_interval: None,
        label: Some(rate_text(&told.estimate)),
        standing: told.standing,
        tip: [format!("{}, {}", side.name, spec.describe()), rate].into_iter().chain(why).collect(),
    }
}
