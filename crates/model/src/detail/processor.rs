//! Facts of the CPU share.

/// CPU share beside that at the largest block size, which is the finding's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessorShare {
    /// Limit of the throughput at the largest block size.
    pub pace: Bottleneck,
    /// Smallest block size that was measured.
    pub smallest_block_size_bytes: u64,
    /// Mean CPU share at the smallest block size.
    pub share_at_smallest: f64,
}

/// Limit of the throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bottleneck {
    /// CPU and memory; the storage is hardly waited for.
    Cpu,
    /// Something else than the CPU most of the time.
    Waiting,
    /// Both.
    Both,
}
