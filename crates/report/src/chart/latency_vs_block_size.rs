//! Latency against block size: what a larger request costs the one who waits for it.
//!
//! The counterpart of throughput against block size: where the line is flat a larger request costs nothing,
//! and where it rises with the size, the bytes themselves take the time.

use iosonde_model::{About, FindingName, Named, Run};

use super::Chart;
use super::law;
use super::pick::{self, Doubts, MEAN};
use crate::figure::{Axis, Curve, DotSeries, Figure, Tone, decimal_ticks};
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
        let families = pick::alike(pick::by_block_size(run));
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Latency]);
        let (mut series, mut curves): (Vec<DotSeries>, Vec<Curve>) = (Vec::new(), Vec::new());
        for family in &families {
            let other = series.iter().any(|s| s.tone == Tone::of(family.op, false));
            let dots = pick::dots(family, &doubts, |spec| spec.block_size_bytes, MEAN);
            let name = pick::family_name(&families, family);
            let tone = Tone::of(family.op, other);
            let trials = pick::trials(run, family, |spec| spec.block_size_bytes, MEAN);
            if !other {
                curves.extend(law::latency(run, family, tone));
            }
            series.push(DotSeries {
                name,
                tone,
                broken: other,
                joined: true,
                dots,
                trials,
                ..DotSeries::default()
            });
        }
        let (sizes, heights) = (pick::grid(&series), pick::heights(&series));
        if heights.is_empty() {
            return None;
        }
        Some(Figure {
            name: self.name().into(),
            title: "How long does one request take?".into(),
            reading: String::new(),
            answer: pick::sentences_of(
                run,
                &[FindingName::BaseLatency, FindingName::PerRequestCost],
                &families,
            ),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(&pick::held("block size", lead), Quantity::Bytes, &sizes, &sizes),
            y: Axis::log("mean latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights)),
            series,
            curves,
            ..Figure::default()
        })
    }
}
