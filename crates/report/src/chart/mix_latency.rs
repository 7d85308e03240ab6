//! Mean latency of reads and of writes against the share of reads, a picture for each block size.
//!
//! Where one direction waits for the other, its latency changes with the other's share, even where the throughput of
//! both follows their shares.

use iosonde_model::{Named, Run};

use super::{Chart, mixes};
use crate::figure::Figure;

/// The chart.
pub struct MixLatency;

impl Named for MixLatency {
    fn name(&self) -> &'static str {
        "mix-latency"
    }
}

impl Chart for MixLatency {
    fn draw(&self, run: &Run) -> Option<Figure> {
        self.draw_all(run).into_iter().next()
    }

    fn draw_all(&self, run: &Run) -> Vec<Figure> {
        mixes::latencies(run, self.name())
    }
}
