//! Throughput against the size of the addressed area: where a cache ends.
//!
//! A small area fits into whatever remembers: the storage's own cache, a controller's, the page cache. Once the area is
//! larger, more and more requests must go to the medium, and the rate falls.

use iosonde_model::{About, FindingName, Named, Run, units};

use super::Chart;
use super::pick::{self, Doubts, THROUGHPUT};
use crate::figure::{Along, Axis, DotSeries, Figure, FindingMark, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct RateVsWorkingSet;

impl Named for RateVsWorkingSet {
    fn name(&self) -> &'static str {
        "rate-vs-working-set"
    }
}

impl Chart for RateVsWorkingSet {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::one_of_each(pick::by_span(run));
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Rate]);
        let (mut series, mut marks): (Vec<DotSeries>, Vec<FindingMark>) = (Vec::new(), Vec::new());
        for family in &families {
            let tone = Tone::of(family.op, false);
            let found = pick::finding(run, FindingName::CacheBytes, family);
            marks.extend(found.and_then(|f| pick::mark(f, Along::X, "a cache of", tone)));
            series.push(DotSeries {
                name: pick::family_name(&families, family),
                tone,
                joined: true,
                dots: pick::dots(family, &doubts, |spec| spec.span_bytes, THROUGHPUT),
                trials: pick::trials(run, family, |spec| spec.span_bytes, THROUGHPUT),
                ..DotSeries::default()
            });
        }
        let (sizes, heights) = (pick::grid(&series), pick::heights(&series));
        let size = units::size(lead.spec().block_size_bytes);
        let label =
            format!("addressed area, {size} requests, {}", pick::in_flight(lead.spec().asked_in_flight()));
        Some(Figure {
            name: self.name().into(),
            title: "Does a larger area make it slower?".into(),
            answer: pick::sentences_of(run, &[FindingName::CacheBytes], &families),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(&label, Quantity::Bytes, &sizes, &sizes),
            y: Axis::fitting("throughput", Quantity::BytesPerSecond, &heights),
            series,
            marks,
            ..Figure::default()
        })
    }
}
