//! Latency percentiles: how long the slow ones wait.
//!
//! From the merged histograms of all standing trials of a point, for the least and the most requests in
//! flight of each direction. A percentile is drawn only where at least ten requests waited longer than it.
//! The further to the right, the rarer: at p99.9 one request in a thousand waits longer.

use iosonde_judge::validity::TrialStanding;
use iosonde_model::{About, Histogram, Named, Op, Phase, Point, Run, units};

use super::Chart;
use super::pick;
use crate::figure::{Axis, Dot, DotSeries, DotStanding, Figure, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct LatencyPercentiles;

impl Named for LatencyPercentiles {
    fn name(&self) -> &'static str {
        "latency-percentiles"
    }
}

impl Chart for LatencyPercentiles {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::one_way(pick::by_depth(run));
        let lead = families.first()?;
        let standing = TrialStanding::of(run);
        let mut series: Vec<DotSeries> = Vec::new();
        for op in Op::DIRECTIONS {
            let Some(family) = families.iter().find(|family| family.op == op) else { continue };
            let ends = [family.points[0], family.points[family.points.len() - 1]];
            for (point, deep) in ends.into_iter().zip([false, true]) {
                let dots = percentiles(run, point, op, &standing);
                if dots.len() > 1 {
                    let name = format!("{}s, {}", op, pick::in_flight(point.spec.asked_in_flight()));
                    let tone = Tone::of(op, deep);
                    series.push(DotSeries {
                        name,
                        tone,
                        broken: deep,
                        joined: true,
                        dots,
                        ..DotSeries::default()
                    });
                }
            }
        }
        if series.is_empty() {
            return None;
        }
        let (ranks, heights) = (pick::grid(&series), pick::heights(&series));
        let ticks = [2.0, 10.0, 100.0, 1000.0, 10_000.0];
        let label = format!("latency of {} requests", units::size(lead.spec().block_size_bytes));
        Some(Figure {
            name: self.name().into(),
            title: "How long do the slow ones wait?".into(),
            answer: String::new(),
            reading: "At p99, one request in a hundred waits longer; at p99.9, one in a thousand. \
                      From the requests of all standing trials together, so there is no interval."
                .into(),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log("share of requests that wait no longer", Quantity::Tail, &ranks, &ticks),
            y: Axis::log(&label, Quantity::Nanoseconds, &heights, &decimal_ticks(&heights)),
            series,
            ..Figure::default()
        })
    }
}

fn percentiles(run: &Run, point: &Point, op: Op, standing: &TrialStanding) -> Vec<Dot> {
    let mut merged = Histogram::new();
    let trials = run.trials.iter().filter(|t| t.point == Some(point.id) && t.phase == Phase::Measure);
    for direction in
        trials.filter(|t| standing.is_valid_for(t, About::Latency)).filter_map(|t| t.direction(op))
    {
        merged.merge(&direction.histogram);
    }
    // Steps of about a sixth of a decade; the ticks are among them.
    let ranks =
        [2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4];
    // Ten beyond: fewer do not determine a percentile.
    let told = ranks.into_iter().filter(|one_in| merged.total() as f64 >= 10.0 * one_in);
    told.filter_map(|one_in| {
        let ns = merged.quantile_ns(1.0 - 1.0 / one_in)?;
        let tip = vec![
            point.spec.describe(),
            format!("{} within {}", Quantity::Tail.text(one_in), Quantity::Nanoseconds.text(ns)),
            format!("of {} requests", units::count(merged.total() as f64)),
        ];
        Some(Dot {
            x: one_in,
            y: ns,
            x_interval: None,
            y_interval: None,
            label: None,
            tip,
            standing: DotStanding::Stands,
        })
    })
    .collect()
}
