//! Units of findings.

/// Unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds: `45 µs [44, 46]`.
    Time,
    /// Bytes per second: `6.91 GB/s [6.84, 6.98]`.
    Rate,
    /// Operations per second: `1.02 M IOPS [0.99, 1.04]`.
    Iops,
    /// Bytes of a size between the measured ones: `22 KiB [20, 25]`.
    Bytes,
    /// Requests outstanding, or units: `46 requests [41, 52]`.
    InFlight,
    /// A share of itself in an hour: `-5.1 % an hour [-5.9, -4.3]`.
    PerHour,
    /// Ratio of two values: `1.00× [0.98, 1.02]`.
    Ratio,
    /// Accelerators: `12.4 accelerators [12.1, 12.7]`.
    Accelerators,
    /// Hosts: `7.8 hosts [7.1, 8.5]`.
    Hosts,
    /// A conclusion without a value.
    None,
}

impl Unit {
    /// The unit's name in findings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Rate => "B/s",
            Self::Iops => "IOPS",
            Self::Bytes => "B",
            Self::InFlight => "requests",
            Self::PerHour => "1/h",
            Self::Ratio => "ratio",
            Self::Accelerators => "accelerators",
            Self::Hosts => "hosts",
            Self::None => "",
        }
    }
}
