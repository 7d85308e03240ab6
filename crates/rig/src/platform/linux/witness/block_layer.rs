//! The counters of the block device below a target: bytes that really went to it, for anybody.
//!
//! Bytes are compared, never requests: the block layer splits a request of 4 MiB and merges neighbours. What
//! other programs moved meanwhile is in the counters too.

use iosonde_model::{Absence, Counter, Device};

use super::reading::Reading;
use crate::platform::linux::{BlockDevice, KERNEL_SECTOR_BYTES, System};
use crate::witness::grown;

/// A device's `stat`, open.
#[derive(Debug)]
pub(super) struct BlockLayer {
    name: String,
    stat: Reading,
}

/// Counters of `stat` since the device appeared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    read_sectors: u64,
    written_sectors: u64,
    /// Milliseconds that requests spent in the device, summed over all: added when a request completes. The
    /// kernel prints it with 32 bits, so at QD 100 it wraps every 12 hours.
    waited_ms: u64,
}

/// Difference of two readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
    waited_ms: Option<u64>,
}

impl Moved {
    /// Requests in the device, averaged over the time between the readings (Little's law on the kernel's
    /// own sum of waits). `None` when that sum went backwards.
    pub(super) fn in_flight_mean(&self, elapsed_s: f64) -> Option<f64> {
        (elapsed_s > 0.0).then_some(self.waited_ms? as f64 / 1000.0 / elapsed_s)
    }
}

impl BlockLayer {
    /// Opens the counters of the device that all of the target's bytes pass, nearest to the medium.
    pub(super) fn open(system: &System, device: &Device) -> Result<Self, Absence> {
        let Some(name) = device.name.clone() else {
            return Err(Absence::NoBlockDevice { file_system: device.file_system.clone() });
        };
        let block =
            BlockDevice::by_name(system, &name).ok_or_else(|| Absence::NotListed { device: name.clone() })?;
        if block.whole().attribute("queue/iostats").as_deref() == Some("0") {
            return Err(Absence::CountersOff { device: name });
        }
        let mut stat = Reading::open(&block.folder().join("stat"))?;
        let readable = stat.text().ok().and_then(parse).is_some();
        if readable { Ok(Self { name, stat }) } else { Err(Absence::CountersUnknown { device: name }) }
    }

    /// The device's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The counters now.
    pub(super) fn counters(&mut self) -> Option<Counters> {
        parse(self.stat.text().ok()?)
    }

    /// What was moved since an earlier reading.
    pub(super) fn since(&mut self, before: Option<Counters>) -> Result<Moved, Absence> {
        let after = self.counters();
        moved(&self.name, before, after)
    }
}

fn moved(name: &str, before: Option<Counters>, after: Option<Counters>) -> Result<Moved, Absence> {
    let delta = |counter: Counter, count: fn(Counters) -> u64| {
        grown(counter, name, before.map(count), after.map(count))
    };
    Ok(Moved {
        read_bytes: delta(Counter::SectorsRead, |c| c.read_sectors)? * KERNEL_SECTOR_BYTES,
        write_bytes: delta(Counter::SectorsWritten, |c| c.written_sectors)? * KERNEL_SECTOR_BYTES,
        waited_ms: delta(Counter::TimeInDevice, |c| c.waited_ms).ok(),
    })
}

/// Columns: reads, merged, sectors, ms, writes, merged, sectors, ms, outstanding, busy ms, weighted ms, then
/// discards (4.18) and flushes (5.5).
fn parse(text: &str) -> Option<Counters> {
    let mut columns = text.split_whitespace().map(str::parse::<u64>);
    let mut column = |skip: usize| columns.nth(skip)?.ok();
    let (read_sectors, written_sectors, waited_ms) = (column(2)?, column(3)?, column(3)?);
    Some(Counters { read_sectors, written_sectors, waited_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "   51983     8481  3688426    11460    25396    12476  2749224     6853        0     \
                        8744    19097     8359       34   723112      636     3575      146\n";

    #[test]
    fn the_right_columns_are_read() {
        let want = Counters { read_sectors: 3_688_426, written_sectors: 2_749_224, waited_ms: 19_097 };
        assert_eq!(parse(TEXT), Some(want));
        assert_eq!(parse("1 2 3 4 5 6 7 8 9 10"), None);
    }

    #[test]
    fn bytes_and_the_mean_in_flight() {
        let before = Counters { read_sectors: 100, written_sectors: 7, waited_ms: 1_000 };
        let after = Counters { read_sectors: 108, written_sectors: 7, waited_ms: 17_000 };
        let delta = moved("sda", Some(before), Some(after)).unwrap();
        // 8 sectors of 512 bytes; 16 s of waiting in 0.5 s are 32 requests at a time.
        assert_eq!((delta.read_bytes, delta.write_bytes), (4096, 0));
        assert_eq!(delta.in_flight_mean(0.5), Some(32.0));
        assert_eq!(delta.in_flight_mean(0.0), None);
    }

    #[test]
    fn a_wrapped_wait_leaves_the_bytes() {
        let before = Counters { read_sectors: 100, written_sectors: 7, waited_ms: u64::from(u32::MAX) };
        let after = Counters { read_sectors: 101, written_sectors: 7, waited_ms: 5 };
        let delta = moved("sda", Some(before), Some(after)).unwrap();
        assert_eq!((delta.read_bytes, delta.in_flight_mean(1.0)), (512, None));
        let (counter, of) = (Counter::SectorsRead, "sda".to_owned());
        assert_eq!(
            moved("sda", Some(after), Some(before)),
            Err(Absence::WentBackwards { counter, of, before: 101, after: 100 })
        );
    }

    #[test]
    fn without_a_device_it_says_so() {
        let mut device = Device::unknown("file", 0);
        device.file_system = Some("tmpfs".to_owned());
        let why = BlockLayer::open(&System::real(), &device).unwrap_err();
        assert_eq!(why, Absence::NoBlockDevice { file_system: device.file_system });
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", numbers in prop::collection::vec(any::<u64>(), 0..20)) {
            let _ = parse(&text);
            let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
            prop_assert_eq!(parse(&numbers.join(" ")).is_some(), numbers.len() >= 11);
        }

        #[test]
        fn no_counters_panic(a: [u64; 3], b: [u64; 3]) {
            let make = |[read, written, waited]: [u64; 3]| Counters {
                read_sectors: read >> 9, written_sectors: written >> 9, waited_ms: waited,
            };
            let _ = moved("x", Some(make(a)), Some(make(b)));
        }
    }
}
