//! Latency against the offered load: how much the storage serves before latency grows.
//!
//! An open loop: requests are due at their moments whether or not earlier ones have come back, so that a storage that
//! falls behind shows it. Latency counts from the moment a request was due.

use iosonde_model::{About, FindingName, Named, Run, units};

use super::Chart;
use super::pick::{self, Doubts, MEAN, P99};
use crate::figure::{Along, Axis, DotSeries, Figure, FindingMark, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct LatencyVsLoad;

impl Named for LatencyVsLoad {
    fn name(&self) -> &'static str {
        "latency-vs-load"
    }
}

impl Chart for LatencyVsLoad {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::one_of_each(pick::by_load(run));
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Latency]);
        let (mut series, mut marks): (Vec<DotSeries>, Vec<FindingMark>) = (Vec::new(), Vec::new());
        for family in &families {
            for (figured, words, tail) in [(MEAN, "mean", false), (P99, "p99", true)] {
                let dots = pick::dots(family, &doubts, pick::asked_load, figured);
                if !dots.is_empty() {
                    series.push(DotSeries {
                        name: format!("{}s, {words}", family.op),
                        tone: Tone::of(family.op, tail),
                        broken: tail,
                        joined: true,
                        dots,
                        trials: pick::trials(run, family, pick::asked_load, figured),
                        ..DotSeries::default()
                    });
                }
            }
            let found = pick::finding(run, FindingName::IopsAtLatency, family);
            let tone = Tone::of(family.op, false);
            marks.extend(found.and_then(|f| pick::mark(f, Along::X, "kept up to", tone)));
        }
        let (loads, heights) = (pick::grid(&series), pick::heights(&series));
        if heights.is_empty() {
            return None;
        }
        let label =
            format!("offered load, {} requests per second", units::size(lead.spec().block_size_bytes));
        Some(Figure {
            name: self.name().into(),
            title: "How long do requests wait under which load?".into(),
            answer: pick::sentences_of(run, &[FindingName::IopsAtLatency], &families),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(&label, Quantity::Iops, &loads, &loads),
            y: Axis::log("latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights)),
            series,
            marks,
            ..Figure::default()
        })
    }
}
