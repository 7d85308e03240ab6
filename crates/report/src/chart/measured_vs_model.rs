//! Measured throughput as a share of the linear model's, against block size: where the model holds and where it does
//! not.
//!
//! The law, t₀ + size / rate, has two numbers for all sizes. Storage that follows it lies on the line at 1 within its
//! intervals; a size that lies apart from it has something of its own: a request that is split, a cache, a buffer.
//! Only single requests follow the law: there is nothing to draw at a queue depth above 1, nor where the findings
//! `per_request_cost` and `half_size` are inconclusive.

use iosonde_model::{About, Estimate, Named, Run};

use super::{
    Chart, law,
    pick::{self, Doubts, Family, RATE},
};
use crate::figure::{Along, Axis, Dot, DotSeries, Figure, FindingMark, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct MeasuredVsModel;

/// Maximum number of lines.
const LINES_MAX: usize = 4;
/// Maximum number of sizes of one line: more overlap, and the page becomes slow.
const DOTS_MAX: usize = 240;

impl Named for MeasuredVsModel {
    fn name(&self) -> &'static str {
        "measured-vs-model"
    }
}

impl Chart for MeasuredVsModel {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let doubts = Doubts::about(run, &[About::Rate]);
        // Only single requests follow the law.
        let mut sizes = pick::one_way(pick::by_block_size(run));
        sizes.retain(|family| family.spec().asked_in_flight() == 1);
        let mut series: Vec<DotSeries> = Vec::new();
        let mut drawn: Vec<&Family> = Vec::new();
        for family in &sizes {
            let told = dots(run, family, &doubts);
            let other = series.iter().any(|s| s.tone == Tone::of(family.op, false));
            if told.len() < 3 || told.len() > DOTS_MAX || series.len() == LINES_MAX {
                continue;
            }
            drawn.push(family);
            series.push(DotSeries {
                name: format!("{}, QD 1", pick::family_name(&sizes, family)),
                tone: Tone::of(family.op, other),
                broken: other,
                joined: true,
                dots: told,
                ..DotSeries::default()
            });
        }
        let lead = drawn.first()?;
        let grid = pick::grid(&series);
        let mut heights = pick::heights(&series);
        heights.push(1.0);
        let mark = FindingMark {
            along: Along::Y,
            at: 1.0,
            interval: None,
            label: "as the law says".into(),
            tone: Tone::Law,
        };
        Some(Figure {
            name: self.name().into(),
            title: "Does one law hold for all sizes?".into(),
            answer: worst(&series),
            reading: "The law: each request takes t₀ and then its bytes at one rate. A dot above the line was faster \
                      than the law says, one below slower; its interval is the measurement's alone."
                .into(),
            experiment: lead.experiment(run),
            also: drawn.iter().filter_map(|family| family.experiment(run)).collect(),
            x: Axis::log("block size", Quantity::Bytes, &grid, &grid),
            y: Axis::log("measured rate as a share of the law's", Quantity::Ratio, &heights, &ticks(&heights)),
            series,
            marks: vec![mark],
            ..Figure::default()
        })
    }
}

fn dots(run: &Run, family: &Family, doubts: &Doubts) -> Vec<Dot> {
    let dot = |point: &&iosonde_model::Point| {
        let size_bytes = point.spec.block_size_bytes as f64;
        let law_iops = law::iops_at(run, family, size_bytes)?;
        let measured = point.direction(family.op)?.iops;
        let share = |iops: f64| iops / law_iops;
        let ratio = Estimate {
            value: share(measured.value),
            low: measured.low.map(share),
            high: measured.high.map(share),
        };
        let judged = doubts.of(point);
        let figures = [
            format!(
                "{} of the law's rate",
                Quantity::Ratio.interval_text(ratio.value, ratio.low, ratio.high)
            ),
            pick::line(RATE, measured),
            format!("the law says {}", Quantity::Iops.text(law_iops)),
        ];
        Some(Dot {
            x: size_bytes,
            y: ratio.value,
            x_interval: None,
            y_interval: pick::interval(ratio),
            label: None,
            tip: pick::tip(point, &figures, judged),
            standing: judged.0,
        })
    };
    family.points.iter().filter_map(dot).collect()
}

/// The size that lies farthest from the law, of each series.
fn worst(series: &[DotSeries]) -> String {
    let said = series.iter().filter_map(|one| {
        let far = one.dots.iter().max_by(|a, b| a.y.ln().abs().total_cmp(&b.y.ln().abs()))?;
        let (low, high) = (far.y_interval.map(|ends| ends.0), far.y_interval.map(|ends| ends.1));
        let (size, ratio) = (Quantity::Bytes.text(far.x), Quantity::Ratio.interval_text(far.y, low, high));
        Some(format!("Of {}, those of {size} lie farthest from the law: {ratio} its rate.", one.name))
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Even shares around 1, finer where the dots lie near it.
fn ticks(heights: &[f64]) -> Vec<f64> {
    let far = heights.iter().map(|height| height.ln().abs()).fold(0.0, f64::max);
    match far {
        far if far < 0.03 => (95..=105).map(|percent| f64::from(percent) / 100.0).collect(),
        far if far < 0.2 => [0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2].to_vec(),
        far if far < 1.1 => [0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0].to_vec(),
        _ => [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].to_vec(),
    }
}
