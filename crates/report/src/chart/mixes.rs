//! Points of mixes over the share of reads, as the pictures of throughput and latency show them.

use iosonde_model::{About, Estimate, FindingName, Op, Point, Run, Rw, TrialSpec, units};

use super::pick::{self, Doubts, Figured, MEAN, RATE};
use crate::figure::{Axis, Dot, DotSeries, Figure, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// Throughput of both directions over the share of reads, a picture for each block size.
pub(super) fn throughputs(run: &Run, name: &str) -> Vec<Figure> {
    let doubts = Doubts::about(run, &[About::Rate]);
    let of = |points: &[&Point]| {
        let mut series = directions(points, RATE, &doubts);
        series.push(total(points, &doubts));
        let heights = pick::heights(&series);
        let y = Axis::from_zero("requests completed per second", Quantity::Iops, &heights);
        let names = &[FindingName::MixInterference, FindingName::Crossover];
        let title = "What do reads and writes take from each other?";
        figure(run, name, title, names, points, y, series)
    };
    mixes(run).iter().filter_map(|points| of(points)).collect()
}

/// Mean latency of both directions over the share of reads, a picture for each block size.
pub(super) fn latencies(run: &Run, name: &str) -> Vec<Figure> {
    let doubts = Doubts::about(run, &[About::Latency]);
    let of = |points: &[&Point]| {
        let series = directions(points, MEAN, &doubts);
        let heights = pick::heights(&series);
        let y = Axis::log("mean latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights));
        let title = "What does the mix cost each request?";
        (!heights.is_empty())
            .then(|| figure(run, name, title, &[FindingName::MixInterference], points, y, series))
            .flatten()
    };
    mixes(run).iter().filter_map(|points| of(points)).collect()
}

fn figure(
    run: &Run,
    name: &str,
    title: &str,
    findings: &[FindingName],
    points: &[&Point],
    y: Axis,
    mut series: Vec<DotSeries>,
) -> Option<Figure> {
    series.retain(|series| !series.dots.is_empty());
    let lead = points.iter().find(|point| point.spec.rw.is_mixed())?;
    let size = units::size(lead.spec.block_size_bytes);
    let first = mixes(run).first().is_some_and(|set| set[0].id == points[0].id);
    let depth = pick::in_flight(lead.spec.asked_in_flight());
    let mut x = Axis::from_zero(
        &format!("share of reads among {size} requests, {depth}"),
        Quantity::Percent,
        &[96.0],
    );
    (x.high, x.low, x.ticks) = (100.0, 0.0, vec![0.0, 25.0, 50.0, 75.0, 100.0]);
    Some(Figure {
        name: if first { name.into() } else { format!("{name}-{}", size.replace(' ', "").to_lowercase()) },
        title: title.into(),
        answer: pick::sentences_at(run, findings, &lead.spec),
        experiment: Some(lead.experiment.clone()),
        x,
        y,
        series,
        ..Figure::default()
    })
}

/// Sets of points that differ in their share of reads only, both ends and something between, by that share: one set
/// for each block size, that with the most points, in order of the sizes.
fn mixes(run: &Run) -> Vec<Vec<&Point>> {
    let plain = |spec: &TrialSpec| {
        let rw = if spec.rw.is_random() { Rw::RandRw } else { Rw::Rw };
        TrialSpec { rw, read_percent: None, ..spec.clone() }
    };
    let mut sets: Vec<(TrialSpec, Vec<&Point>)> = Vec::new();
    for point in run.points.iter().filter(|point| point.read.is_some() || point.write.is_some()) {
        let key = plain(&point.spec);
        match sets.iter_mut().find(|(known, _)| *known == key) {
            Some((_, set)) => set.push(point),
            None => sets.push((key, vec![point])),
        }
    }
    sets.retain(|(_, set)| set.len() >= 3 && set.iter().any(|point| point.spec.rw.is_mixed()));
    sets.sort_by_key(|(spec, set)| (spec.block_size_bytes, std::cmp::Reverse(set.len())));
    sets.dedup_by_key(|(spec, _)| spec.block_size_bytes);
    let mut sets: Vec<Vec<&Point>> = sets.into_iter().map(|(_, set)| set).collect();
    sets.iter_mut().for_each(|set| set.sort_by(|a, b| share(&a.spec).total_cmp(&share(&b.spec))));
    sets
}

/// Percent of reads.
fn share(spec: &TrialSpec) -> f64 {
    match (spec.rw.is_mixed(), spec.rw.reads()) {
        (true, _) => spec.read_percent.unwrap_or(50.0),
        (false, true) => 100.0,
        (false, false) => 0.0,
    }
}

fn directions(points: &[&Point], figured: Figured, doubts: &Doubts) -> Vec<DotSeries> {
    let of = |op: Op| {
        let dots = points.iter().filter_map(|point| {
            let estimate = (figured.read)(point.direction(op)?)?;
            Some(dot(point, estimate, &pick::line(figured, estimate), doubts))
        });
        DotSeries {
            name: format!("{op}s"),
            tone: Tone::of(op, false),
            joined: true,
            dots: dots.collect(),
            ..DotSeries::default()
        }
    };
    [Op::Read, Op::Write].into_iter().map(of).collect()
}

/// Both together; how the two vary together is not known, so there is no interval.
fn total(points: &[&Point], doubts: &Doubts) -> DotSeries {
    let dots = points.iter().filter(|point| point.spec.rw.is_mixed()).filter_map(|point| {
        let value = point.read.as_ref()?.iops.value + point.write.as_ref()?.iops.value;
        let estimate = Estimate { value, low: None, high: None };
        Some(dot(point, estimate, &format!("together {}", Quantity::Iops.text(value)), doubts))
    });
    DotSeries {
        name: "both together".into(),
        tone: Tone::Neutral,
        broken: true,
        joined: true,
        dots: dots.collect(),
        ..DotSeries::default()
    }
}

fn dot(point: &Point, estimate: Estimate, line: &str, doubts: &Doubts) -> Dot {
    let judged = doubts.of(point);
    Dot {
        x: share(&point.spec),
        y: estimate.value,
        x_interval: None,
        y_interval: pick::interval(estimate),
        label: None,
        tip: pick::tip(point, &[line.to_owned()], judged),
        standing: judged.0,
    }
}
