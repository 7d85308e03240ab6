//! Units of findings.

/// Unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds: `45 µs`.
    Time,
    /// Bytes per second: `6.91 GB/s`.
    Rate,
    /// Operations per second: `1.02 M IOPS`.
    Iops,
    /// Bytes of a size between the measured ones: `22 KiB`.
    Bytes,
    /// Requests outstanding, or units: `46 requests`.
    InFlight,
    /// A share of itself in an hour: `-5.1 % an hour`.
    PerHour,
    /// Ratio of two values: `1.00×`.
    Ratio,
    /// Accelerators: `12.4 accelerators`.
    Accelerators,
    /// Hosts: `7.8 hosts`.
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

impl serde::Serialize for Unit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
