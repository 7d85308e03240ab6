//! Throughput against block size: from which size a larger request no longer increases throughput.
//!
//! Small requests pay a fixed cost each, so throughput grows with their size until the storage or the way to
//! it is busy. Marked are the half size, at which half of the bandwidth is reached, and the plateau, from
//! which no larger size increases it.

use iosonde_model::{About, FindingName, Named, Run};

use super::Chart;
use super::law;
use super::pick::{self, Doubts, THROUGHPUT};
use crate::figure::{Along, Axis, DotSeries, Figure, FindingMark, Tone};
use crate::quantity::Quantity;

/// The chart.
pub struct ThroughputVsBlockSize;

impl Named for ThroughputVsBlockSize {
    fn name(&self) -> &'static str {
        "throughput-vs-block-size"
    }
}

impl Chart for ThroughputVsBlockSize {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::alike(pick::by_block_size(run));
        let lead = families.first()?;
        let doubts = Doubts::about(run, &[About::Rate]);
        let (mut series, mut marks): (Vec<DotSeries>, Vec<FindingMark>) = (Vec::new(), Vec::new());
        let mut curves = Vec::new();
        for family in &families {
            let other = series.iter().any(|s| s.tone == Tone::of(family.op, false));
            let tone = Tone::of(family.op, other);
            let dots = pick::dots(family, &doubts, |spec| spec.block_size_bytes, THROUGHPUT);
            let wanted =
                [(FindingName::HalfSize, "half at"), (FindingName::PlateauBlockSize, "plateau from")];
            for (name, words) in wanted.into_iter().filter(|_| !other) {
                let words = format!("{}s: {words}", family.op);
                let found = pick::finding(run, name, family);
                marks.extend(found.and_then(|f| pick::mark(f, Along::X, &words, tone)));
            }
            let trials = pick::trials(run, family, |spec| spec.block_size_bytes, THROUGHPUT);
            if !other {
                curves.extend(law::throughput(run, family, tone));
            }
            series.push(DotSeries {
                name: pick::family_name(&families, family),
                tone,
                broken: other,
                joined: true,
                dots,
                trials,
                ..DotSeries::default()
            });
        }
        let sizes = pick::grid(&series);
        let answer = [FindingName::PlateauBlockSize, FindingName::HalfSize, FindingName::PerRequestCost];
        Some(Figure {
            name: self.name().into(),
            title: "What do larger requests bring?".into(),
            answer: pick::sentences_of(run, &answer, &families),
            reading: String::new(),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log(&pick::held("block size", lead), Quantity::Bytes, &sizes, &sizes),
            y: Axis::fitting("throughput", Quantity::BytesPerSecond, &pick::heights(&series)),
            series,
            marks,
            curves,
            ..Figure::default()
        })
    }
}
