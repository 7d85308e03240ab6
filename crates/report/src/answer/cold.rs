//! First and second reads.

use iosonde_model::{Circumstances, Cold, ColdVerdict, Histogram, units};

use super::{
    Answer,
    shown::{Shown, Tenor},
};
use crate::{
    ReportError,
    chart::pick,
    document::cold_json,
    figure::{Axis, Dot, DotSeries, DotStanding, Figure, Tone, decimal_ticks},
    quantity::Quantity,
    text::cold,
};

impl Answer for Cold {
    fn circumstances(&self) -> &Circumstances {
        &self.circumstances
    }

    fn json(&self) -> Result<String, ReportError> {
        cold_json(self)
    }

    fn shown(&self) -> Shown {
        Shown {
            command: "cold",
            word: cold::verdict(self.verdict),
            tenor: match self.verdict {
                ColdVerdict::Warm => Tenor::Good,
                ColdVerdict::Inconclusive => Tenor::Doubt,
                ColdVerdict::Cold => Tenor::Bad,
            },
            sentence: cold::answer(self),
            before: Vec::new(),
            table: Some(cold::table(self)),
            after: cold::lines(self),
            figures: chart(self).into_iter().collect(),
            target: self.target.clone(),
        }
    }
}

/// Shares of reads that the chart shows, in percent: steps of 2.5, without the ends, which are single reads.
const SHARES_PERCENT: std::ops::Range<u32> = 1..40;
const SHARE_STEP_PERCENT: f64 = 2.5;

/// How long single reads take, for the first time and again.
fn chart(cold: &Cold) -> Option<Figure> {
    let size = units::size(cold.block_bytes);
    let kinds = [("first reads", Tone::Read, false), ("second reads", Tone::OtherRead, true)];
    let dot = |times: &Histogram, name: &str, step: u32| {
        let percent = SHARE_STEP_PERCENT * f64::from(step);
        let ns = times.quantile_ns(percent / 100.0)?;
        let told = format!("{percent} % within {}", Quantity::Nanoseconds.text(ns));
        Some(Dot {
            x: percent,
            y: ns,
            x_interval: None,
            y_interval: None,
            label: None,
            tip: vec![format!("{size} {name}, QD 1"), told],
            standing: DotStanding::Stands,
        })
    };
    let series = kinds.into_iter().zip(&cold.single_ns).map(|((name, tone, broken), times)| DotSeries {
        name: name.into(),
        tone,
        broken,
        joined: true,
        dots: SHARES_PERCENT.filter_map(|step| dot(times, name, step)).collect(),
        ..DotSeries::default()
    });
    let series: Vec<DotSeries> = series.collect();
    let heights = pick::heights(&series);
    (!heights.is_empty()).then(|| Figure {
        name: "first-and-second-reads".into(),
        title: "How long do first and second reads take?".into(),
        reading:
            "The same places, read for the first time and again. Where the first read has to fetch the data, \
                  its line lies higher. From all reads together, so there is no interval."
                .into(),
        x: Axis::from_zero("share of reads that take no longer", Quantity::Percent, &[96.0]),
        y: Axis::log(
            &format!("latency of {size} reads, QD 1"),
            Quantity::Nanoseconds,
            &heights,
            &decimal_ticks(&heights),
        ),
        series,
        ..Figure::default()
    })
}
