//! Requests per second against block size: what many small requests cost.
//!
//! While requests are small, most of a request's time does not depend on its size, and the rate hardly falls as they
//! grow; from the half size on, twice the size is half the rate.

use iosonde_model::{About, Named, Run};

use super::Chart;
use super::law;
use super::pick::{self, Doubts, RATE};
use crate::figure::{Axis, Curve, DotSeries, Figure, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct IopsVsBlockSize;

impl Named for IopsVsBlockSize {
    fn name(&self) -> &'static str {
        "iops-vs-block-size"
    }
}

impl Chart for IopsVsBlockSize {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::one_of_each(pick::by_block_size(run));
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Rate]);
        let (mut series, mut curves): (Vec<DotSeries>, Vec<Curve>) = (Vec::new(), Vec::new());
        for family in &families {
            let tone = Tone::of(family.op, false);
            curves.extend(law::rate(run, family, tone));
            series.push(DotSeries {
                name: pick::family_name(&families, family),
                tone,
                joined: true,
                dots: pick::dots(family, &doubts, |spec| spec.block_size_bytes, RATE),
                trials: pick::trials(run, family, |spec| spec.block_size_bytes, RATE),
                ..DotSeries::default()
            });
        }
        let (sizes, heights) = (pick::grid(&series), pick::heights(&series));
        Some(Figure {
            name: self.name().into(),
            title: "How many requests a second, of which size?".into(),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(&pick::held("block size", lead), Quantity::Bytes, &sizes, &sizes),
            y: Axis::log("requests completed per second", Quantity::Iops, &heights, &decimal_ticks(&heights)),
            series,
            curves,
            ..Figure::default()
        })
    }
}
