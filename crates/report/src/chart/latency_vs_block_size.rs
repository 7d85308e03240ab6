//! Latency against block size: what a larger request costs the one who waits for it.
//!
//! The counterpart of throughput against block size: where the line is flat a larger request costs nothing,
//! and where it rises with the size, the bytes themselves take the time.

use iosonde_model::{About, Named, Run};

use super::Chart;
use super::pick::{self, Doubts, MEAN};
use crate::figure::{Axis, Figure, Series, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct LatencyVsBlockSize;

impl Named for LatencyVsBlockSize {
    fn name(&self) -> &'static str {
        "latency-vs-block-size"
    }
}

impl Chart for LatencyVsBlockSize {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::by_block_size(run);
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Latency]);
        let mut series: Vec<Series> = Vec::new();
        for family in families.iter().take(4) {
            let other = series.iter().any(|s| s.tone == Tone::of(family.op, false));
            let dots = pick::dots(family, &doubts, |spec| spec.block_size_bytes, MEAN);
            let name = pick::family_name(&families, family);
            series.push(Series { name, tone: Tone::of(family.op, other), broken: other, joined: true, dots });
        }
        let (sizes, heights) = (pick::grid(&series), pick::heights(&series));
        if heights.is_empty() {
            return None;
        }
        Some(Figure {
            name: self.name(),
            title: "How long does one request take?".into(),
            reading: String::new(),
            answer: pick::sentences(run, &["base_latency", "per_request_cost"]),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(&pick::held("block size", lead), Quantity::Bytes, &sizes, &sizes),
            y: Axis::log("mean latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights)),
            series,
            marks: Vec::new(),
            curves: Vec::new(),
        })
    }
}
