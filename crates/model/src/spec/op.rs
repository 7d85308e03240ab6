//! Kinds of requests and the access patterns made of them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Bytes from the storage.
    Read,
    /// Bytes to the storage.
    Write,
    /// The storage may forget these bytes: a hole in a file, a discard on a device.
    Trim,
    /// Earlier writes are to survive a loss of power: `fsync`, `fdatasync`.
    Flush,
}

impl Op {
    /// Kinds that move data between memory and storage.
    pub const TRANSFERS: [Self; 2] = [Self::Read, Self::Write];
    /// Kinds that have an offset and a length.
    pub const DIRECTIONS: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// `read`, `write`, `trim` or `flush`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The access pattern, by fio's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Reads of random blocks.
    RandRead,
    /// Writes of random blocks.
    RandWrite,
    /// Sequential, reads and writes mixed.
    Rw,
    /// Random blocks, reads and writes mixed.
    RandRw,
    /// Sequential trims.
    Trim,
    /// Trims of random blocks.
    RandTrim,
}

impl Rw {
    /// All patterns.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Write,
        Self::RandRead,
        Self::RandWrite,
        Self::Rw,
        Self::RandRw,
        Self::Trim,
        Self::RandTrim,
    ];

    /// fio's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Rw => "rw",
            Self::RandRw => "randrw",
            Self::Trim => "trim",
            Self::RandTrim => "randtrim",
        }
    }

    /// Returns true if offsets are random.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim)
    }

    /// Returns true if any request reads.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::RandRead | Self::Rw | Self::RandRw)
    }

    /// Returns true if any request writes.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandWrite | Self::Rw | Self::RandRw)
    }

    /// Returns true if requests trim.
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim)
    }

    /// Returns true if requests change the stored data.
    pub fn changes(self) -> bool {
        self.writes() || self.trims()
    }

    /// Returns true if the pattern both reads and writes.
    pub fn is_mixed(self) -> bool {
        self.reads() && self.writes()
    }

    /// Returns true if the pattern has requests of this kind. Flushes are no part of a pattern.
    pub fn has(self, op: Op) -> bool {
        match op {
            Op::Read => self.reads(),
            Op::Write => self.writes(),
            Op::Trim => self.trims(),
            Op::Flush => false,
        }
    }
}

impl fmt::Display for Rw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rw {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|rw| rw.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let hint = crate::nearest(text, names)
                .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            format!("`{text}` is no access pattern{hint} (the patterns are {})", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_read_back_and_a_slip_gets_a_hint() {
        for rw in Rw::ALL {
            assert_eq!(rw.name().parse(), Ok(rw));
        }
        assert!("randred".parse::<Rw>().unwrap_err().contains("did you mean `randread`?"));
    }
}
