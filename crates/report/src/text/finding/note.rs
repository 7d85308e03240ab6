//! Words of what other findings add to a finding.

use crate::text::number::with_interval;
use iosonde_model::{Law, Note, Unit};

/// One sentence with its full stop.
pub(super) fn words(note: &Note) -> String {
    match note {
        Note::AtOdds { with, law } => {
            let with: Vec<String> = with.iter().map(|name| format!("`{name}`")).collect();
            format!("Contradicts {}: {}.", with.join(" and "), law_in_words(*law))
        }
        Note::LinkCarries { queue_depth, bytes_per_s } => format!(
            "At queue depth {queue_depth} the link carries {}; that limits large requests, the round trip limits \
             single ones.",
            with_interval(Unit::Rate, bytes_per_s)
        ),
    }
}

fn law_in_words(law: Law) -> &'static str {
    match law {
        Law::KneeIsRateTimesLatency => "the knee is the highest rate times the latency of one request",
        Law::HalfSizeOverCostIsBandwidth => {
            "half size divided by the cost of a request is the bandwidth of one stream, at most the device's"
        }
        Law::NoRequestBelowItsCost => "no request is faster than the cost of every request",
        Law::SmallRequestsWithinBandwidth => "small requests cannot move more bytes than the bandwidth",
        Law::UnitsServeTheirNumber => {
            "busy parallel units serve their number of requests in at most the time of one request"
        }
        Law::WritesStayBelowTheirBurst => "sustained writes are at most as fast as the burst",
    }
}
