//! Facts of findings about parallel units to which addresses are spread.

/// Address layout that the throughput of strided reads shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// Addresses are striped over units.
    Striped {
        /// Strides that were compared.
        strides: usize,
        /// Layouts that the strides do not exclude.
        layouts: usize,
        /// Strides without enough valid trials.
        invalid_strides_bytes: Vec<u64>,
    },
    /// All strides have equal throughput.
    NotStriped {
        /// Shortest stride that was measured.
        shortest_bytes: u64,
        /// Longest stride that was measured.
        longest_bytes: u64,
    },
}

/// Why strided reads do not tell.
#[derive(Debug, Clone, PartialEq)]
pub enum LayoutProblem {
    /// Too few strides, or only one request at a time.
    TooFewStrides {
        /// Strides that were measured.
        strides: usize,
        /// Strides that are needed.
        needed: usize,
        /// Queue depth of the reads.
        queue_depth: usize,
    },
    /// Large reads move hardly more: the link may hide units.
    LinkLimit {
        /// Bandwidth of the fastest stride over that of large reads.
        share: f64,
        /// Bandwidth of large reads.
        bytes_per_s: f64,
    },
    /// The program was CPU-bound and may hide units.
    GeneratorLimit {
        /// Largest CPU share of a trial.
        cpu_share: f64,
    },
    /// All strides have equal throughput.
    EqualStrides,
    /// The valid strides have equal throughput, and others are missing.
    EqualValidStrides {
        /// Strides without enough valid trials.
        invalid_strides_bytes: Vec<u64>,
    },
    /// Even the slowest stride keeps several units busy.
    NoSingleUnit {
        /// Requests that it serves in the time of one.
        requests: f64,
    },
    /// No layout was tried.
    NoLayout,
    /// Throughput follows no even layout.
    Uneven {
        /// Largest deviation from the nearest layout, as a share.
        miss_share: f64,
    },
}
