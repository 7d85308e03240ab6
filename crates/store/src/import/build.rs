//! A direction of a trial from figures that another tool states.

use iosonde_model::{Direction, Histogram, LatencySummary};

/// Figures of one direction as stated in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Requests that completed; `None` where only a rate is stated.
    pub ios: Option<u64>,
    /// Bytes that they moved.
    pub bytes: Option<u64>,
    /// Requests that failed.
    pub errors: u64,
    /// Requests that moved fewer bytes than asked.
    pub short: u64,
    /// Completions per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Latency figures as far as they are stated, in nanoseconds.
    pub latency_ns: LatencySummary,
}

impl Figures {
    /// The direction, of requests of that size where only one of the two rates is stated. Nothing is left where
    /// neither is.
    pub(super) fn direction(self, block_size_bytes: u64) -> Option<Direction> {
        let size = block_size_bytes as f64;
        let whole = |value: f64| value.is_finite() && value >= 0.0;
        let iops = self.iops.or_else(|| Some(self.bytes_per_s? / size)).filter(|&value| whole(value))?;
        let bytes_per_s = self.bytes_per_s.unwrap_or(iops * size);
        whole(bytes_per_s).then(|| Direction {
            ios: self.ios.unwrap_or(0),
            bytes: self.bytes.unwrap_or(0),
            errors: self.errors,
            short: self.short,
            iops,
            bytes_per_s,
            latency_ns: self.latency_ns,
            histogram: Histogram::new(),
        })
    }
}
