//! IOPS against queue depth: which depth saturates the storage.
//!
//! Marked are the knee with its interval, where the line through the origin (each request served at once)
//! meets the highest rate, and the depth that reaches 95 % of that rate.

use iosonde_model::{About, FindingName, Named, Run, TrialSpec};

use super::Chart;
use super::pick::{self, Doubts, RATE};
use crate::figure::{Along, Axis, DotSeries, Figure, FindingMark, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct RateVsDepth;

impl Named for RateVsDepth {
    fn name(&self) -> &'static str {
        "rate-vs-depth"
    }
}

impl Chart for RateVsDepth {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let mut families = pick::one_way(pick::by_depth(run));
        families.truncate(4);
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Rate, About::Depth]);
        let (mut series, mut marks): (Vec<DotSeries>, Vec<FindingMark>) = (Vec::new(), Vec::new());
        for family in &families {
            let other = series.iter().any(|s| s.tone == Tone::of(family.op, false));
            let tone = Tone::of(family.op, other);
            let dots = pick::dots(family, &doubts, TrialSpec::asked_in_flight, RATE);
            let wanted = [(FindingName::QueueDepthKnee, "knee"), (FindingName::DepthFor95Percent, "95 % at")];
            for (name, words) in wanted.into_iter().filter(|_| !other) {
                let words = format!("{}s: {words}", family.op);
                let found = pick::finding(run, name, family);
                marks.extend(found.and_then(|f| pick::mark(f, Along::X, &words, tone)));
            }
            series.push(DotSeries {
                name: pick::family_name(&families, family),
                tone,
                broken: other,
                joined: true,
                dots,
                trials: pick::trials(run, family, TrialSpec::asked_in_flight, RATE),
                ..DotSeries::default()
            });
        }
        let depths = pick::grid(&series);
        let rates: Vec<Vec<f64>> =
            series.iter().map(|one| pick::heights(std::slice::from_ref(one))).collect();
        Some(Figure {
            name: self.name().into(),
            title: "How does throughput grow with queue depth?".into(),
            reading: String::new(),
            answer: pick::sentences_of(
                run,
                &[FindingName::MaxIops, FindingName::QueueDepthKnee, FindingName::DepthFor95Percent],
                &families,
            ),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log("queue depth", Quantity::InFlight, &depths, &depths),
            y: Axis::of_series("requests completed per second", Quantity::Iops, &rates),
            series,
            marks,
            ..Figure::default()
        })
    }
}
