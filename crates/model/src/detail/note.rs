//! What other findings and the device add to a finding.

use crate::{Estimate, FindingName};

/// A law that several findings must obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// The knee is the highest rate times the latency of one request.
    KneeIsRateTimesLatency,
    /// Half size over the cost of a request is the bandwidth of one stream.
    HalfSizeOverCostIsBandwidth,
    /// No request is done sooner than the cost of every request.
    NoRequestBelowItsCost,
    /// Small requests move no more bytes than the bandwidth.
    SmallRequestsWithinBandwidth,
    /// Units that are never idle serve their number of requests in the time of one.
    UnitsServeTheirNumber,
    /// Sustained writes are at most as fast as a burst.
    WritesStayBelowTheirBurst,
}

/// Something that another finding or the device adds to a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// Contradicts other findings.
    AtOdds {
        /// Findings that it contradicts.
        with: Vec<FindingName>,
        /// Law that they cannot obey together.
        law: Law,
    },
    /// Throughput of the link at a queue depth above 1, beside a round trip of one request.
    LinkCarries {
        /// Queue depth.
        queue_depth: u32,
        /// Bytes per second.
        bytes_per_s: Estimate,
    },
}
