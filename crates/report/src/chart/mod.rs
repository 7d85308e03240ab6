//! Charts: each turns a run into the data of one picture, one file each.
//!
//! A chart picks points by their workload, not by the experiment that asked for them, so that it serves every
//! study whose points happen to answer its question.

mod course;
mod heat;
mod law;
pub(crate) mod pick;

use iosonde_model::{Named, Run, registry};

use crate::figure::{Dot, Figure, Standing};

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
pub(crate) fn with_doubts(mut figure: Figure) -> Figure {
    let of = |standing: Standing| {
        let dots = figure.series.iter().flat_map(|series| &series.dots);
        dots.filter(move |dot| dot.standing == standing).collect::<Vec<_>>()
    };
    let (void, doubted) = (of(Standing::Void), of(Standing::Doubted));
    let what = if figure.series.iter().any(|series| series.bars) { "bar" } else { "dot" };
    let both = !void.is_empty() && !doubted.is_empty();
    let said =
        [(void, Standing::Void), (doubted, Standing::Doubted)].into_iter().filter_map(|(dots, standing)| {
            let (first, word) = (dots.first()?, standing.word()?);
            let subject = match (dots.len(), both) {
                (1, _) => format!("One hollow {what} is"),
                (_, false) => format!("Hollow {what}s are"),
                (count, true) => format!("{count} hollow {what}s are"),
            };
            Some(format!("{subject} {word}{}.", told(first, word)))
        });
    let said: Vec<String> = said.collect();
    for sentence in said {
        let reading = &mut figure.reading;
        *reading = if reading.is_empty() { sentence } else { format!("{reading} {sentence}") };
    }
    figure
}

/// What the dot is, and why it does not stand, as its tip says it.
fn told(dot: &Dot, word: &str) -> String {
    let (Some(head), Some(why)) = (dot.tip.first(), dot.tip.last()) else { return String::new() };
    let why = why.trim_end_matches('.').trim_start_matches(&format!("{word}: "));
    // Some reasons begin with the workload that they are about.
    let why = why.strip_prefix(head.as_str()).map_or(why, |rest| rest.trim_start_matches(": "));
    format!(": {head}: {why}")
}
