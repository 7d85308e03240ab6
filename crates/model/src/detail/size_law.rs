//! Facts of findings about the time of a request over its size, t(b) = t₀ + b/B.

/// Fit of the law to the measured sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeLaw {
    /// Block size that deviates most.
    pub worst_size_bytes: u64,
    /// Its deviation as a share of the law's time.
    pub worst_miss_share: f64,
    /// Whether the deviations exceed their errors, so that the interval was widened.
    pub widened: bool,
}

/// Block size from which on throughput hardly rises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// Largest measured size below the interval; `None` where the interval begins at the smallest one.
    pub next_smaller_bytes: Option<u64>,
    /// Way in which it was found.
    pub method: PlateauMethod,
}

/// Way in which a plateau was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlateauMethod {
    /// From the law of a request's time and its size.
    Law(SizeLaw),
    /// By comparing each size with the highest throughput: the times follow no such law.
    Comparison,
    /// By comparing each size with the highest throughput: measured sizes contradict the law.
    ComparisonAgainstLaw {
        /// Size that the law would give.
        law_bytes: u64,
    },
}

/// Network round trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrip {
    /// Fit that it comes from.
    pub law: SizeLaw,
    /// CPU time of the program in each request, which was subtracted; `None` where it is not known.
    pub cpu_ns: Option<f64>,
    /// Mean time from sending to answer that the client of the network file system counts.
    pub client_ns: Option<f64>,
    /// Block size of the requests that the client counted.
    pub client_block_size_bytes: u64,
}

/// Why a curve over block sizes does not answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SizeLawProblem {
    /// Several requests at once: the time between completions is not the time of a request.
    SeveralInFlight {
        /// Queue depth of the points.
        queue_depth: u32,
    },
    /// Too few block sizes, or too close together.
    TooFewSizes {
        /// Block sizes that were measured.
        sizes: usize,
        /// Block sizes that are needed.
        needed: usize,
        /// Largest over smallest size that is needed; 1 where any range will do.
        range_needed: u64,
    },
    /// The least-squares fit has no solution.
    NoFit,
    /// The times do not follow the law.
    NotLinear {
        /// Block size that deviates most.
        size_bytes: u64,
        /// Its deviation as a share of the law's time.
        miss_share: f64,
    },
    /// The time of a request hardly rises with its size.
    Flat {
        /// Largest size that was measured.
        largest_bytes: u64,
    },
    /// Throughput still rises at the largest size.
    StillRising {
        /// Largest size that was measured.
        largest_bytes: u64,
        /// Size that the plateau would need by the law.
        needed_bytes: Option<u64>,
    },
    /// Throughput is too uncertain at the largest sizes, or falls there.
    Unsure,
    /// The round trip is not larger than the CPU time of the program.
    BelowCpuTime,
    /// Small reads have two kinds of latency: some wait for the server's medium.
    MixedLatency {
        /// Their 10th percentile.
        p10_ns: f64,
        /// Their 90th percentile.
        p90_ns: f64,
    },
}
