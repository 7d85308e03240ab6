//! Throughput of reads by stride and block size, as a heat map.
//!
//! A stride is the distance from the beginning of one request to that of the next. Storage that works in larger pieces
//! than a request, or spreads them over units, shows it as a change along a row.

use iosonde_model::{Named, Op, Run};

use super::{Chart, heat};
use crate::figure::Figure;

/// The chart.
pub struct StrideReads;

impl Named for StrideReads {
    fn name(&self) -> &'static str {
        "stride-reads"
    }
}

impl Chart for StrideReads {
    fn draw(&self, run: &Run) -> Option<Figure> {
        heat::strides(run, self.name(), Op::Read)
    }
}
