//! Charts: each turns a run into the data of one picture, one file each.
//!
//! A chart picks points by their workload, not by the experiment that asked for them, so that it serves every
//! study whose points happen to answer its question.

mod course;
mod heat;
mod law;
mod pick;

use iosonde_model::{Named, Run, registry};

use crate::figure::{Figure, Standing};

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
        access_patterns::AccessPatterns,
        stride_reads::StrideReads,
        stride_writes::StrideWrites,
        rate_vs_working_set::RateVsWorkingSet,
        mix::Mix,
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
}

/// Every chart that this run has the data for, with what is in doubt about it.
pub fn figures(run: &Run) -> Vec<Figure> {
    CHARTS.iter().filter_map(|chart| chart.draw(run)).map(with_doubts).collect()
}

/// A verdict stands beside the picture that it is about, not only in a list elsewhere.
fn with_doubts(mut figure: Figure) -> Figure {
    let dots = figure.series.iter().flat_map(|series| &series.dots);
    let mut doubted = dots.filter(|dot| dot.standing == Standing::Doubted);
    if let Some(first) = doubted.next() {
        let count = 1 + doubted.count();
        let what = if count == 1 { "One dot is hollow" } else { "Hollow dots are in doubt" };
        let tip = &first.tip;
        let said = match (tip.first(), tip.last()) {
            (Some(head), Some(why)) => {
                let why = why.trim_end_matches('.').trim_start_matches("in doubt: ");
                // Some reasons begin with the workload that they are about.
                let why = why.strip_prefix(head.as_str()).map_or(why, |rest| rest.trim_start_matches(": "));
                format!("{what}: {head}: {why}.")
            }
            _ => format!("{what}."),
        };
        figure.reading = if figure.reading.is_empty() { said } else { format!("{} {said}", figure.reading) };
    }
    figure
}
