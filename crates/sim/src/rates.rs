//! Rates of reads and of writes, where a key may give one for both or each apart.

use iosonde_model::Op;

use crate::file::{DeviceError, Section};

/// Bytes a second, each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rates {
    read: u64,
    write: u64,
}

impl Rates {
    /// `key = "5GB/s"`, or `key = { read = "5GB/s", write = "3GB/s" }`.
    pub(crate) fn read(section: &mut Section, key: &'static str) -> Result<Option<Self>, DeviceError> {
        if !section.is_table(key) {
            return Ok(section.rate(key)?.map(|rate| Self { read: rate, write: rate }));
        }
        let Some(mut each) = section.table(key) else { return Ok(None) };
        let read = each.rate("read")?.ok_or_else(|| each.missing("read", "the rate of reads"))?;
        let write = each.rate("write")?.ok_or_else(|| each.missing("write", "the rate of writes"))?;
        Ok(Some(Self { read, write }))
    }

    /// That of an operation's direction.
    pub(crate) fn of(self, op: Op) -> u64 {
        if op == Op::Read { self.read } else { self.write }
    }

    /// Whether one of them is nothing.
    pub(crate) fn has_zero(self) -> bool {
        self.read == 0 || self.write == 0
    }
}
