//! What this process caused the storage layer to fetch and to write: `/proc/self/io`, threads of io_uring
//! included.
//!
//! `write_bytes` counts pages when they are made dirty, so it says nothing of when they reach a device.

use iosonde_model::{Absence, Counter};

use super::reading::Reading;
use crate::platform::linux::System;
use crate::witness::grown;

/// `/proc/self/io`, open.
#[derive(Debug)]
pub(crate) struct ProcessIo(Reading);

/// Counters since the process began; also the difference of two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
}

impl ProcessIo {
    /// Opens it.
    pub(crate) fn open(system: &System) -> Result<Self, Absence> {
        Reading::open(&system.path("/proc/self/io")).map(Self)
    }

    /// Bytes fetched from storage so far.
    pub(crate) fn read_bytes(&mut self) -> Option<u64> {
        self.counters().map(|counters| counters.read_bytes)
    }

    pub(super) fn counters(&mut self) -> Option<Counters> {
        parse(self.0.text().ok()?)
    }

    /// What was moved since an earlier reading.
    pub(super) fn since(&mut self, before: Option<Counters>) -> Result<Counters, Absence> {
        let after = self.counters();
        let delta = |counter: Counter, count: fn(Counters) -> u64| {
            grown(counter, "/proc/self/io", before.map(count), after.map(count))
        };
        Ok(Counters {
            read_bytes: delta(Counter::BytesRead, |c| c.read_bytes)?,
            write_bytes: delta(Counter::BytesWritten, |c| c.write_bytes)?,
        })
    }
}

fn parse(text: &str) -> Option<Counters> {
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    Some(Counters { read_bytes: value("read_bytes")?, write_bytes: value("write_bytes")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cancelled_writes_are_another_line() {
        let text = "rchar: 7082\nwchar: 106\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\n\
                    cancelled_write_bytes: 5\n";
        assert_eq!(parse(text), Some(Counters { read_bytes: 4096, write_bytes: 8192 }));
        assert_eq!(parse("rchar: 7082\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = parse(&text);
        }
    }
}
