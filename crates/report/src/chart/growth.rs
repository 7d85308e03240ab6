//! Throughput and latency of a mix relative to its first level: what a deeper queue or a larger request gives, and what
//! it costs.
//!
//! One picture over queue depth and one over block size, where a mix of reads and writes was measured at three levels
//! or more. Every figure is divided by that of the smallest level, so that throughput and latency share one axis.
//! Queueing theory says what to expect over queue depth: as soon as throughput stays, latency grows as the depth does.

use iosonde_model::{About, Estimate, Named, Op, Point, Run, TrialSpec, units};

use super::Chart;
use super::pick::{self, Doubts, Figured, MEAN, RATE, THROUGHPUT};
use crate::figure::{Axis, Dot, DotSeries, Figure, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct Growth;

impl Named for Growth {
    fn name(&self) -> &'static str {
        "growth"
    }
}

/// Parameter that varies.
struct Over {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    quantity: Quantity,
    blank: fn(&mut TrialSpec),
    level: fn(&TrialSpec) -> u64,
    rate: Figured,
    held: fn(&TrialSpec) -> String,
}

const OVER: [Over; 2] = [
    Over {
        name: "growth-over-depth",
        title: "What does a deeper queue give, and what does it cost?",
        label: "queue depth",
        quantity: Quantity::InFlight,
        blank: |spec| spec.queue_depth = 0,
        level: TrialSpec::asked_in_flight,
        rate: RATE,
        held: |spec| format!("{} requests", units::size(spec.block_size_bytes)),
    },
    Over {
        name: "growth-over-block-size",
        title: "What does a larger request give, and what does it cost?",
        label: "block size",
        quantity: Quantity::Bytes,
        blank: |spec| spec.block_size_bytes = 0,
        level: |spec| spec.block_size_bytes,
        rate: THROUGHPUT,
        held: |spec| pick::in_flight(spec.asked_in_flight()),
    },
];

impl Chart for Growth {
    fn draw(&self, run: &Run) -> Option<Figure> {
        self.draw_all(run).into_iter().next()
    }

    fn draw_all(&self, run: &Run) -> Vec<Figure> {
        OVER.iter().filter_map(|over| figure(run, over)).collect()
    }
}

fn figure(run: &Run, over: &Over) -> Option<Figure> {
    let points = levels(run, over)?;
    let doubts = Doubts::about(run, &[About::Rate, About::Latency]);
    let mut series = Vec::new();
    for op in [Op::Read, Op::Write] {
        for (figured, what, tail) in [(over.rate, "throughput", false), (MEAN, "mean latency", true)] {
            let name = format!("{what} of {op}s");
            let dots = relative(&points, op, figured, over, &doubts);
            let tone = Tone::of(op, tail);
            series.push(DotSeries { name, tone, broken: tail, joined: true, dots, ..DotSeries::default() });
        }
    }
    series.retain(|series| !series.dots.is_empty());
    let (places, heights) = (pick::grid(&series), pick::heights(&series));
    let first = points.first()?;
    let of = (over.quantity).text((over.level)(&first.spec) as f64);
    let held = (over.held)(&first.spec);
    let share = first.spec.read_percent.unwrap_or(50.0);
    (!heights.is_empty()).then(|| Figure {
        name: over.name.into(),
        title: over.title.into(),
        reading: format!("Each figure is divided by that at {} {of}.", over.label),
        experiment: Some(first.experiment.clone()),
        x: Axis::log(&format!("{}; {held}, {share} % reads", over.label), over.quantity, &places, &places),
        y: Axis::log(
            &format!("relative to {} {of}", over.label),
            Quantity::Ratio,
            &heights,
            &decimal_ticks(&heights),
        ),
        series,
        ..Figure::default()
    })
}

/// Points of a mix that differ in the parameter only: the largest set, by the parameter.
fn levels<'a>(run: &'a Run, over: &Over) -> Option<Vec<&'a Point>> {
    let mut sets: Vec<(TrialSpec, Vec<&Point>)> = Vec::new();
    for point in run.points.iter().filter(|point| point.read.is_some() && point.write.is_some()) {
        let mut key = point.spec.clone();
        (over.blank)(&mut key);
        match sets.iter_mut().find(|(known, _)| *known == key) {
            Some((_, set)) => set.push(point),
            None => sets.push((key, vec![point])),
        }
    }
    let (_, mut set) = sets.into_iter().rev().max_by_key(|(_, set)| set.len())?;
    set.sort_by_key(|point| (over.level)(&point.spec));
    (set.len() >= 3).then_some(set)
}

fn relative(points: &[&Point], op: Op, figured: Figured, over: &Over, doubts: &Doubts) -> Vec<Dot> {
    let of = |point: &Point| (figured.read)(point.direction(op)?);
    let Some(first) = points.first().and_then(|point| of(point)) else { return Vec::new() };
    let dot = |(place, point): (usize, &&Point)| {
        let own = of(point)?;
        let ratio =
            if place == 0 { Estimate { value: 1.0, low: None, high: None } } else { over_first(own, first) };
        let judged = doubts.of(point);
        Some(Dot {
            x: (over.level)(&point.spec) as f64,
            y: ratio.value,
            x_interval: None,
            y_interval: pick::interval(ratio),
            label: None,
            tip: pick::tip(point, &[pick::line(figured, own)], judged),
            standing: judged.0,
        })
    };
    points.iter().enumerate().filter_map(dot).collect()
}

/// Ratio of two estimates; their errors are independent, and add up as squares on a logarithmic scale.
fn over_first(own: Estimate, first: Estimate) -> Estimate {
    let value = own.value / first.value;
    let half = |estimate: Estimate| Some((estimate.high? / estimate.low?).ln() / 2.0);
    let ends = half(own).zip(half(first)).map(|(a, b)| a.hypot(b).exp());
    Estimate { value, low: ends.map(|factor| value / factor), high: ends.map(|factor| value * factor) }
}
