//! Reads and writes against the share of reads: what they take from each other.
//!
//! From writes alone on the left to reads alone on the right, at one block size and one queue depth. If neither
//! disturbed the other, each would follow its share in a straight line.

use iosonde_model::{About, Estimate, FindingName, Named, Op, Point, Run, TrialSpec, units};

use super::Chart;
use super::pick::{self, Doubts, RATE};
use crate::figure::{Axis, Dot, DotSeries, Figure, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct Mix;

impl Named for Mix {
    fn name(&self) -> &'static str {
        "mix"
    }
}

impl Chart for Mix {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let points = mixes(run);
        // Both ends and something between.
        if points.len() < 3 || points.iter().all(|point| !point.spec.rw.is_mixed()) {
            return None;
        }
        let doubts = Doubts::about(run, &[About::Rate]);
        let mut series: Vec<DotSeries> =
            [Op::Read, Op::Write].into_iter().map(|op| of_direction(&points, op, &doubts)).collect();
        series.push(total(&points, &doubts));
        series.retain(|series| !series.dots.is_empty());
        let lead = points.iter().find(|point| point.spec.rw.is_mixed())?;
        let label = format!(
            "share of reads among {} requests, {}",
            units::size(lead.spec.block_size_bytes),
            pick::in_flight(lead.spec.asked_in_flight())
        );
        let shares: Vec<f64> = [0.0, 25.0, 50.0, 75.0, 100.0].to_vec();
        let mut x = Axis::from_zero(&label, Quantity::Percent, &[96.0]);
        (x.high, x.low, x.ticks) = (100.0, 0.0, shares);
        Some(Figure {
            name: self.name().into(),
            title: "What do reads and writes take from each other?".into(),
            answer: pick::sentences(run, &[FindingName::MixInterference, FindingName::Crossover]),
            experiment: Some(lead.experiment.clone()),
            x,
            y: Axis::from_zero("requests completed per second", Quantity::Iops, &pick::heights(&series)),
            series,
            ..Figure::default()
        })
    }
}

/// Points that differ in their share of reads only: the largest set with a mix in it, by that share.
fn mixes(run: &Run) -> Vec<&Point> {
    let plain = |spec: &TrialSpec| {
        let rw = if spec.rw.is_random() { iosonde_model::Rw::RandRw } else { iosonde_model::Rw::Rw };
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
    sets.retain(|(_, set)| set.iter().any(|point| point.spec.rw.is_mixed()));
    let (_, mut set) = sets.into_iter().max_by_key(|(_, set)| set.len()).unwrap_or_default();
    set.sort_by(|a, b| share(&a.spec).total_cmp(&share(&b.spec)));
    set
}

/// Percent of reads.
fn share(spec: &TrialSpec) -> f64 {
    match (spec.rw.is_mixed(), spec.rw.reads()) {
        (true, _) => spec.read_percent.unwrap_or(50.0),
        (false, true) => 100.0,
        (false, false) => 0.0,
    }
}

fn of_direction(points: &[&Point], op: Op, doubts: &Doubts) -> DotSeries {
    let dots = points.iter().filter_map(|point| {
        let estimate = point.direction(op)?.iops;
        Some(dot(point, estimate, &pick::line(RATE, estimate), doubts))
    });
    DotSeries {
        name: format!("{op}s"),
        tone: Tone::of(op, false),
        joined: true,
        dots: dots.collect(),
        ..DotSeries::default()
    }
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
