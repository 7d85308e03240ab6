//! Facts of the check `units`.

use serde::Serialize;

use crate::Op;

/// Figures of one trial that contradict each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Units {
    /// No request completed, so that no figure follows from another.
    NothingCompleted,
    /// Figure that differs from what the other figures give.
    Contradiction {
        /// Name of the figure.
        figure: TrialFigure,
        /// Operation that the figure is about.
        op: Op,
        /// Value in the trial.
        stated: f64,
        /// Value that follows from the other figures.
        worked_out: f64,
    },
    /// Throughput that differs from IOPS times block size by one factor in all rows of a table.
    Slip {
        /// Median of throughput over IOPS × block size.
        factor: f64,
        /// Rows that were compared.
        rows: usize,
        /// Power of 1.024 that the factor is: 1 for kB taken for KiB, 2 for MB and MiB, negative the other way round.
        power: Option<i32>,
    },
    /// IOPS that follow from the throughput and another block size.
    OtherBlockSize {
        /// Operation that the figures are about.
        op: Op,
        /// IOPS in the trial.
        stated_iops: f64,
        /// Block size that they follow from.
        from_block_size_bytes: u64,
        /// The trial's own block size.
        block_size_bytes: u64,
    },
    /// Latency statistic that is above the next higher one, or not a number.
    Disorder {
        /// Operation that the latencies are about.
        op: Op,
        /// Statistic that must not be above the other.
        lower: LatencyStatistic,
        /// Its value.
        lower_ns: f64,
        /// Statistic that must not be below the other.
        higher: LatencyStatistic,
        /// Its value.
        higher_ns: f64,
    },
    /// Latency that is longer than the run by far.
    LongerThanRun {
        /// Longest request or flush, in seconds.
        longest_s: f64,
        /// Measured time, in seconds.
        measured_s: f64,
    },
    /// More bytes in the figures than the requests moved.
    Overcounted {
        /// Bytes in the figures.
        counted_bytes: u64,
        /// Bytes that the requests moved, with the warm-up.
        issued_bytes: u64,
    },
}

/// Figure of a trial that follows from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub enum TrialFigure {
    RequestsPerS,
    BytesPerS,
    Bytes,
    RequestsInHistogram,
    MeanLatencyNs,
    RequestsInWindows,
}

/// Statistic of a trial's latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub enum LatencyStatistic {
    Min,
    P50,
    P90,
    P99,
    P99_9,
    P99_99,
    Mean,
    Max,
}
