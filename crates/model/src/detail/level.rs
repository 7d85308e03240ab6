//! Level of a parameter: what findings name when they compare workloads that differ in one thing.

/// Level of the parameter in which workloads differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// Queue depth over all jobs.
    QueueDepth(u64),
    /// Bytes of a request.
    BlockSize(u64),
    /// Bytes from the start of a request to the start of the next.
    Stride(u64),
    /// Bytes from the start of the target to the first request.
    Offset(u64),
    /// Reads in a mix, in percent of all requests.
    ReadPercent(f64),
    /// Writes in a mix, in percent of all requests.
    WritePercent(f64),
}

impl Level {
    /// Number of the level, in its own unit.
    pub fn value(self) -> f64 {
        match self {
            Self::QueueDepth(number)
            | Self::BlockSize(number)
            | Self::Stride(number)
            | Self::Offset(number) => number as f64,
            Self::ReadPercent(percent) | Self::WritePercent(percent) => percent,
        }
    }
}
