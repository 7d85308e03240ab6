//! Totals of what completed in a trial.

/// Bytes and requests that completed, warm-up and drain included: what a witness outside must have seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Issued {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// Requests.
    pub ios: u64,
}

impl Issued {
    /// Bytes of all directions.
    pub fn bytes(&self) -> u64 {
        self.read_bytes + self.write_bytes + self.trim_bytes
    }
}

impl std::ops::AddAssign for Issued {
    fn add_assign(&mut self, other: Self) {
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.trim_bytes += other.trim_bytes;
        self.ios += other.ios;
    }
}
