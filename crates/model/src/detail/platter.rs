//! Facts about disks: rotation, seeks and zones.

use crate::TrialSpec;

/// Positioning and zones that a sweep over the addresses shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Platter {
    /// Latencies lie too close together for a rotation.
    Still {
        /// Width of the middle three quarters of the latencies, over the median.
        spread: f64,
    },
    /// Throughput falls from the first addresses to the last.
    Zones {
        /// Places that were measured.
        places: usize,
        /// End of the last place.
        end_bytes: u64,
    },
    /// Throughput is the same at the first and the last addresses.
    OneZone {
        /// End of the last place.
        end_bytes: u64,
        /// Lower end of the interval of their ratio.
        low: f64,
        /// Upper end of the interval of their ratio.
        high: f64,
    },
}

/// Why nothing can be said of arm or platter.
#[derive(Debug, Clone, PartialEq)]
pub enum PlatterProblem {
    /// No request of a workload has a latency.
    NothingMeasured {
        /// Workload of the point.
        spec: Box<TrialSpec>,
    },
    /// Latencies are not spread evenly, as waits for a rotation are.
    Uneven {
        /// Workload of the point.
        spec: Box<TrialSpec>,
        /// Largest distance of a quantile from the line, as a share of its rise.
        miss: f64,
    },
    /// Too few requests to see how waits are spread.
    FewRequests {
        /// Requests that were measured.
        requests: u64,
        /// Requests that are needed.
        needed: u64,
    },
    /// Requests in the narrow part show no rotation, but those over the widest part may.
    OnlyNarrowIsStill {
        /// Workload over the widest part.
        spec: Box<TrialSpec>,
        /// Median latency there.
        median_ns: f64,
    },
    /// A memory answers some of the reads.
    SomeFromMemory {
        /// Share of the reads that it answers.
        share: f64,
    },
    /// The interval reaches zero.
    Scatter,
    /// Sequential reads take as long as half a rotation.
    SequentialReadsWait {
        /// Mean latency of sequential reads.
        latency_ns: f64,
    },
    /// The ratio of the zones may be 1.
    ZonesUnclear {
        /// Lower end of the interval.
        low: f64,
        /// Upper end of the interval.
        high: f64,
    },
}
