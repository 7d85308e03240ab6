//! Charts: each turns a run into the data of one picture, one file each.
//!
//! A chart picks points by their workload, not by the experiment that measured them, so that it serves every
//! study whose points happen to answer its question.

mod course;
mod heat;
mod law;
mod mixes;
pub(crate) mod pick;

use iosonde_model::{Named, Run, registry};

use crate::figure::{DotStanding, Figure};

registry! {
    /// Every chart, in the order in which a reader should meet them; the first that can be drawn opens the
    /// report.
    pub CHARTS: Chart "chart" {
        throughput_latency::ThroughputLatency,
        throughput_vs_block_size::ThroughputVsBlockSize,
        iops_vs_block_size::IopsVsBlockSize,
        latency_vs_block_size::LatencyVsBlockSize,
        measured_vs_model::MeasuredVsModel,
        rate_vs_depth::RateVsDepth,
        latency_vs_depth::LatencyVsDepth,
        rate_vs_hosts::RateVsHosts,
        hosts_over_time::HostsOverTime,
        access_patterns::AccessPatterns,
        stride_reads::StrideReads,
        stride_writes::StrideWrites,
        rate_vs_working_set::RateVsWorkingSet,
        mix::Mix,
        mix_latency::MixLatency,
        growth::Growth,
        latency_vs_load::LatencyVsLoad,
        latency_percentiles::LatencyPercentiles,
        latency_over_time::LatencyOverTime,
        sustained_write::SustainedWrite,
        rate_over_time::RateOverTime,
        temperature::Temperature,
    }
}

/// A registered chart.
pub trait Chart: Named {
    /// The chart's data; `None` where the run has no points that answer its question.
    fn draw(&self, run: &Run) -> Option<Figure>;

    /// Every picture of it, where a run has the data for several: one for each block size.
    fn draw_all(&self, run: &Run) -> Vec<Figure> {
        self.draw(run).into_iter().collect()
    }
}

/// Every chart that this run has the data for, with its warnings.
pub fn figures(run: &Run) -> Vec<Figure> {
    CHARTS.iter().flat_map(|chart| chart.draw_all(run)).map(with_doubts).collect()
}

/// A verdict appears beside the picture that it is about, not only in a list elsewhere.
pub(crate) fn with_doubts(mut figure: Figure) -> Figure {
    let of = |standing: DotStanding| {
        let dots = figure.series.iter().flat_map(|series| &series.dots);
        dots.filter(move |dot| dot.standing == standing).collect::<Vec<_>>()
    };
    let what = if figure.series.iter().any(|series| series.bars) { "bar" } else { "dot" };
    let told = |(standing, is)| {
        let dots = of(standing);
        let first = dots.first()?;
        let subject = match dots.len() {
            1 => format!("One hollow {what}:"),
            count => format!("{count} hollow {what}s; for example,"),
        };
        // Its tip names it first, and says last why it is hollow.
        let (name, why) = (first.tip.first()?, first.tip.last()?);
        Some(format!("{subject} {name} {is} {why}."))
    };
    let kinds = [(DotStanding::Void, "is"), (DotStanding::Doubted, "has a")];
    let said: Vec<String> = kinds.into_iter().filter_map(told).collect();
    for sentence in said {
        let reading = &mut figure.reading;
        *reading = if reading.is_empty() { sentence } else { format!("{reading} {sentence}") };
    }
    figure
}
