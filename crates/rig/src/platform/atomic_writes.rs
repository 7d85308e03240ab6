//! Limits of atomic writes.

/// Limits of atomic writes to a file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicWrites {
    /// Smallest size in bytes.
    pub unit_min_bytes: u32,
    /// Largest size in bytes.
    pub unit_max_bytes: u32,
    /// Largest size in bytes that the hardware writes by itself; larger ones take a slower way of the file system. 0
    /// where that is no different, or the kernel is older than 6.16.
    pub unit_max_opt_bytes: u32,
    /// Most pieces of memory of one write.
    pub segments_max: u32,
}

impl AtomicWrites {
    /// Whether a write of this size is atomic: a power of two between both limits, at a multiple of itself.
    pub fn takes(&self, bytes: u32) -> bool {
        bytes.is_power_of_two() && (self.unit_min_bytes..=self.unit_max_bytes).contains(&bytes)
    }
}
