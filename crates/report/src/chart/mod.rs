//! Charts: each turns a run into the data of one picture, one file each.
//!
//! A chart picks points by their workload, not by the experiment that asked for them, so that it serves every
//! study whose points happen to answer its question.

mod pick;

use iosonde_model::{Named, Run, registry};

use crate::figure::Figure;

registry! {
    /// Every chart, in the order in which a reader should meet them; the first that can be drawn opens the report.
    pub CHARTS: Chart "chart" {
        throughput_latency::ThroughputLatency,
                throughput_vs_block_size::ThroughputVsBlockSize,
        latency_vs_block_size::LatencyVsBlockSize,
        rate_vs_depth::RateVsDepth,
        latency_vs_depth::LatencyVsDepth,
        access_patterns::AccessPatterns,
        latency_percentiles::LatencyPercentiles,
        rate_over_time::RateOverTime,
    }
}

/// A registered chart.
pub trait Chart: Named {
    /// The chart's data; `None` where the run has no points that answer its question.
    fn draw(&self, run: &Run) -> Option<Figure>;
}

/// Every chart that this run has the data for.
pub fn figures(run: &Run) -> Vec<Figure> {
    CHARTS.iter().filter_map(|chart| chart.draw(run)).collect()
}
