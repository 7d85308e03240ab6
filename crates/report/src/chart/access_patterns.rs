//! Access patterns side by side: random against sequential, reads against writes.
//!
//! One block size and one queue depth, chosen where the most patterns were measured. Each pattern has
//! its place on the x axis; where two intervals do not overlap, the patterns differ.

use iosonde_model::{About, FindingName, Named, Op, Point, Run, TrialSpec, units};

use super::Chart;
use super::pick::{self, Doubts, THROUGHPUT};
use crate::figure::{Axis, Dot, DotSeries, Figure, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct AccessPatterns;

impl Named for AccessPatterns {
    fn name(&self) -> &'static str {
        "access-patterns"
    }
}

impl Chart for AccessPatterns {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let points = alike(run);
        if points.len() < PATTERNS_MIN {
            return None;
        }
        let doubts = Doubts::about(run, &[About::Rate]);
        let rows = rows(&points);
        let series: Vec<DotSeries> =
            Op::DIRECTIONS.into_iter().filter_map(|op| series(&rows, op, &doubts)).collect();
        let spec = &points[0].spec;
        let label = format!(
            "access pattern: {} requests, {}",
            units::size(spec.block_size_bytes),
            pick::in_flight(spec.asked_in_flight())
        );
        Some(Figure {
            name: self.name().into(),
            title: "Does the order of access matter?".into(),
            reading: "Where two intervals do not overlap, the patterns differ.".into(),
            answer: pick::sentences(run, &[FindingName::RandomVsSequential]),
            experiment: Some(points[0].experiment.clone()),
            also: Vec::new(),
            // Behind the longest bar there is room for its value.
            x: Axis::from_zero(
                "throughput",
                Quantity::BytesPerSecond,
                &pick::places(&series).iter().map(|place| place * 1.3).collect::<Vec<_>>(),
            ),
            y: Axis::places(&label, rows.iter().rev().map(|row| row.0.clone()).collect()),
            series,
            ..Figure::default()
        })
    }
}

/// Fewer than three patterns are two numbers in a sentence, not a picture.
const PATTERNS_MIN: usize = 3;

/// The largest set of measured points that differ in their pattern only, reads first.
fn alike(run: &Run) -> Vec<&Point> {
    let measured = |point: &&Point| point.read.is_some() || point.write.is_some();
    let mut sets: Vec<Vec<&Point>> = Vec::new();
    for point in run.points.iter().filter(measured) {
        let plain = |point: &Point| TrialSpec {
            read_percent: None,
            rw: iosonde_model::Rw::Read,
            ..point.spec.clone()
        };
        match sets.iter_mut().find(|set| plain(set[0]) == plain(point)) {
            // A second experiment may have the same points: one bar for each pattern.
            Some(set) if set.iter().all(|own| pattern(&own.spec) != pattern(&point.spec)) => set.push(point),
            Some(_) => {}
            None => sets.push(vec![point]),
        }
    }
    let mut largest = sets.into_iter().max_by_key(Vec::len).unwrap_or_default();
    // Shares of reads in steps have a chart of their own; here one stands for the mix, the nearest to half.
    let from_half = |point: &&Point| (point.spec.read_percent.unwrap_or(50.0) - 50.0).abs();
    let nearest =
        largest.iter().filter(|point| point.spec.rw.is_mixed()).map(from_half).fold(f64::MAX, f64::min);
    let one_mix: Vec<&Point> = largest
        .iter()
        .copied()
        .filter(|point| !point.spec.rw.is_mixed() || from_half(point) <= nearest)
        .collect();
    if one_mix.len() >= PATTERNS_MIN {
        largest = one_mix;
    }
    largest
        .sort_by_key(|point| (point.spec.rw.is_mixed(), point.spec.rw.writes(), point.spec.rw.is_random()));
    largest
}

fn pattern(spec: &TrialSpec) -> String {
    let order = if spec.rw.is_random() { "random" } else { "sequential" };
    match (spec.rw.is_mixed(), spec.rw.reads()) {
        (true, _) => format!("{order}, {} % reads", spec.read_percent.unwrap_or(50.0)),
        (false, true) => format!("{order} reads"),
        (false, false) => format!("{order} writes"),
    }
}

/// A row for each direction of each pattern, from above.
fn rows<'a>(points: &[&'a Point]) -> Vec<(String, &'a Point, Op)> {
    let of = |point: &&'a Point| {
        let point = *point;
        let own = Op::DIRECTIONS.into_iter().filter(move |&op| point.direction(op).is_some());
        own.map(move |op| {
            let its = if point.spec.rw.is_mixed() { format!(": its {op}s") } else { String::new() };
            (format!("{}{its}", pattern(&point.spec)), point, op)
        })
    };
    points.iter().flat_map(of).collect()
}

fn series(rows: &[(String, &Point, Op)], op: Op, doubts: &Doubts) -> Option<DotSeries> {
    let dot = |(place, (_, point, of)): (usize, &(String, &Point, Op))| {
        if *of != op {
            return None;
        }
        let estimate = point.direction(op)?.bytes_per_s;
        let judged = doubts.of(point);
        Some(Dot {
            x: estimate.value,
            y: (rows.len() - 1 - place) as f64,
            x_interval: pick::interval(estimate),
            y_interval: None,
            label: Some(Quantity::BytesPerSecond.text(estimate.value)),
            tip: pick::tip(point, &[pick::line(THROUGHPUT, estimate)], judged),
            standing: judged.0,
        })
    };
    let dots: Vec<Dot> = rows.iter().enumerate().filter_map(dot).collect();
    let (name, tone) = (format!("{op}s"), Tone::of(op, false));
    (!dots.is_empty()).then_some(DotSeries { name, tone, bars: true, dots, ..DotSeries::default() })
}
