//! One relation on every side: throughput by block size and by queue depth, a line for each side.

use iosonde_infer::compare::Side;
use iosonde_model::{About, Estimate, Op, Point, Rw, TrialSpec, units};

use super::bars;
use crate::{
    chart::pick::Doubts,
    figure::{Axis, Dot, DotSeries, DotStanding, Figure, Tone, decimal_ticks},
    quantity::Quantity,
};

/// What varies along the x axis.
#[derive(Clone, Copy)]
struct Along {
    name: &'static str,
    label: &'static str,
    quantity: Quantity,
    height: (&'static str, Quantity),
    /// What else must stand for its figures.
    about: About,
    of: fn(&TrialSpec) -> u64,
    without: fn(&mut TrialSpec),
    read: fn(&iosonde_model::PointDirection) -> Estimate,
}

const BLOCK_SIZE: Along = Along {
    name: "block-size",
    label: "block size",
    quantity: Quantity::Bytes,
    height: ("throughput", Quantity::BytesPerSecond),
    about: About::Rate,
    of: |spec| spec.block_size_bytes,
    without: |spec| spec.block_size_bytes = 0,
    read: |direction| direction.bytes_per_s,
};

const DEPTH: Along = Along {
    name: "depth",
    label: "queue depth",
    quantity: Quantity::InFlight,
    height: ("requests completed per second", Quantity::Iops),
    about: About::Depth,
    of: TrialSpec::asked_in_flight,
    without: |spec| spec.queue_depth = 0,
    read: |direction| direction.iops,
};

/// Maximum number of charts for each of the two: after these, only rarer patterns are left.
const EACH_MAX: usize = 4;

/// A chart for each pattern that two sides or more measured at three places or more.
pub(super) fn overlays(sides: &[Side]) -> Vec<Figure> {
    let apart = bars::both_ways(sides);
    [BLOCK_SIZE, DEPTH].into_iter().flat_map(|along| of_one(sides, along, apart)).collect()
}

fn of_one(sides: &[Side], along: Along, apart: bool) -> Vec<Figure> {
    let doubts = bars::judged(sides, &[About::Rate, along.about]);
    let mut groups: Vec<(TrialSpec, Op)> = Vec::new();
    for point in sides.iter().filter_map(|side| side.runs.first()).flat_map(|run| &run.points) {
        let op = match point.spec.rw {
            Rw::Read | Rw::RandRead => Op::Read,
            Rw::Write | Rw::RandWrite => Op::Write,
            _ => continue,
        };
        let key = (key(&point.spec, along, apart), op);
        if !groups.contains(&key) {
            groups.push(key);
        }
    }
    let drawn = groups.iter().filter_map(|(spec, op)| {
        let series: Vec<DotSeries> = sides
            .iter()
            .enumerate()
            .filter_map(|(number, side)| line((side, &doubts[number]), number, (spec, *op), along, apart))
            .collect();
        (series.len() >= 2).then_some((spec, *op, series))
    });
    let mut drawn: Vec<_> = drawn.collect();
    // The most measured first.
    drawn.sort_by_key(|(.., series)| std::cmp::Reverse(series.iter().map(|s| s.dots.len()).sum::<usize>()));
    drawn.truncate(EACH_MAX);
    let figure = |(number, (spec, op, series)): (usize, (&TrialSpec, Op, Vec<DotSeries>))| {
        figure(number, (spec, op), series, along, apart)
    };
    drawn.into_iter().enumerate().map(figure).collect()
}

fn key(spec: &TrialSpec, along: Along, apart: bool) -> TrialSpec {
    let mut key = bars::work(spec, apart);
    (along.without)(&mut key);
    key
}

fn line(
    (side, doubts): (&Side, &Doubts),
    number: usize,
    (group, op): (&TrialSpec, Op),
    along: Along,
    apart: bool,
) -> Option<DotSeries> {
    let run = side.runs.first()?;
    let mut dots: Vec<Dot> = Vec::new();
    for point in run.points.iter().filter(|point| key(&point.spec, along, apart) == *group) {
        let x = (along.of)(&point.spec) as f64;
        let told = bars::estimate(side, |other: &Point| {
            bars::same(&other.spec, &point.spec, apart).then(|| other.direction(op).map(along.read)).flatten()
        });
        let (Some(estimate), false) = (told, dots.iter().any(|dot| dot.x == x)) else { continue };
        dots.push(dot(side, point, x, (estimate, along.height.1), doubts.of(point)));
    }
    dots.sort_by(|a, b| a.x.total_cmp(&b.x));
    (dots.len() >= 3).then(|| DotSeries {
        name: side.name.clone(),
        tone: Tone::of_side(number),
        broken: number >= 6,
        joined: true,
        dots,
        ..DotSeries::default()
    })
}

fn dot(
    side: &Side,
    point: &Point,
    x: f64,
    (estimate, quantity): (Estimate, Quantity),
    (standing, why): (DotStanding, Option<&str>),
) -> Dot {
    let why = standing.word().zip(why).map(|(word, why)| format!("{word}: {why}"));
    Dot {
        x,
        y: estimate.value,
        x_interval: None,
        y_interval: estimate.low.zip(estimate.high),
        label: None,
        standing,
        tip: [
            format!("{}, {}", side.name, point.spec.describe()),
            quantity.interval_text(estimate.value, estimate.low, estimate.high),
        ]
        .into_iter()
        .chain(why)
        .collect(),
    }
}

fn figure(
    number: usize,
    (group, op): (&TrialSpec, Op),
    series: Vec<DotSeries>,
    along: Along,
    apart: bool,
) -> Figure {
    let dots = || series.iter().flat_map(|s| &s.dots);
    let mut places: Vec<f64> = dots().map(|dot| dot.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let heights: Vec<f64> = dots()
        .flat_map(|dot| [dot.y, dot.y_interval.map_or(dot.y, |e| e.0), dot.y_interval.map_or(dot.y, |e| e.1)])
        .filter(|value| *value > 0.0)
        .collect();
    let order = if group.rw.is_random() { "random" } else { "sequential" };
    let held = match (along.name, group.asked_in_flight()) {
        ("block-size", n) => format!(", QD {n}"),
        _ => format!(" of {}", units::size(group.block_size_bytes)),
    };
    let way = match (apart, group.direct) {
        (false, _) => "",
        (true, true) => ", direct",
        (true, false) => ", buffered",
    };
    let y = if along.name == "depth" {
        Axis::log(along.height.0, along.height.1, &heights, &decimal_ticks(&heights))
    } else {
        Axis::fitting(along.height.0, along.height.1, &heights)
    };
    crate::chart::with_doubts(Figure {
        name: format!("{}-{number}", along.name),
        title: format!("{}{} {op}s{held}{way}", order[..1].to_uppercase(), &order[1..]),
        x: Axis::log(along.label, along.quantity, &places, &places),
        y,
        series,
        ..Figure::default()
    })
}
