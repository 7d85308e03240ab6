//! Latency against queue depth: what keeping the storage busy costs each request.
//!
//! Mean and 99th percentile. Beyond the saturation point the mean grows in proportion to the depth, since
//! every further request only waits behind the others.

use iosonde_model::{About, FindingName, Named, Run, TrialSpec, units};

use super::Chart;
use super::pick::{self, Doubts, MEAN, P99};
use crate::figure::{Along, Axis, DotSeries, Figure, FindingMark, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct LatencyVsDepth;

impl Named for LatencyVsDepth {
    fn name(&self) -> &'static str {
        "latency-vs-depth"
    }
}

impl Chart for LatencyVsDepth {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::one_of_each(pick::by_depth(run));
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Latency, About::Depth]);
        let (mut series, mut marks): (Vec<DotSeries>, Vec<FindingMark>) = (Vec::new(), Vec::new());
        // Two families at most: each has two lines.
        for family in families.iter().take(2) {
            let name = format!("{}s", family.op);
            for (figured, words, tail) in [(MEAN, "mean", false), (P99, "p99", true)] {
                let dots = pick::dots(family, &doubts, TrialSpec::asked_in_flight, figured);
                if !dots.is_empty() {
                    let tone = Tone::of(family.op, tail);
                    series.push(DotSeries {
                        name: format!("{name}, {words}"),
                        tone,
                        broken: tail,
                        joined: true,
                        dots,
                        ..DotSeries::default()
                    });
                }
            }
            let words = format!("{}s: knee", family.op);
            let found = pick::finding(run, FindingName::QueueDepthKnee, family);
            marks.extend(found.and_then(|f| pick::mark(f, Along::X, &words, Tone::of(family.op, false))));
        }
        let (depths, heights) = (pick::grid(&series), pick::heights(&series));
        if heights.is_empty() {
            return None;
        }
        Some(Figure {
            name: self.name().into(),
            title: "What does it cost each request?".into(),
            answer: pick::sentences_of(run, &[FindingName::BaseLatency], &families),
            // Where no knee was found, none is spoken of.
            reading: match marks.is_empty() {
                true => String::new(),
                false => {
                    "Beyond the knee a further request only waits: latency grows with the queue depth.".into()
                }
            },
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(
                &format!("queue depth, requests of {}", units::size(lead.spec().block_size_bytes)),
                Quantity::InFlight,
                &depths,
                &depths,
            ),
            y: Axis::log("latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights)),
            series,
            marks,
            ..Figure::default()
        })
    }
}
