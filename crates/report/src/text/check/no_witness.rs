//! Words of why no witness tells how many bytes the device moved.

use iosonde_model::{Op, cause::NoWitness, units};

use crate::text::absence;

/// Memory of the smallest machine that is measured today.
const MEMORY_LEAST_BYTES: u64 = 2 << 30;

/// `no witness of the bytes moved: no block device lies below this file system`.
pub(super) fn words(cause: &NoWitness) -> String {
    match cause {
        // The device's counters come first; what else is missing would not tell either.
        NoWitness::NotRead { said } => match said.first() {
            Some(said) => format!("bytes moved by the device are unknown: {}", absence(said)),
            None => "bytes moved by the device are unknown: its counters were not read".to_owned(),
        },
        NoWitness::CountsNothing { device, counted_bytes, filled_bytes } => format!(
            "the counters of {} are not usable: {} counted of {} filled with direct I/O",
            device.as_deref().unwrap_or("the device"),
            units::decimal_bytes(*counted_bytes),
            units::decimal_bytes(*filled_bytes)
        ),
        NoWitness::TooSmall { issued_bytes, needed_bytes } => format!(
            "{} moved, {} are needed; use `--time` for a longer trial",
            units::decimal_bytes(*issued_bytes),
            units::size(*needed_bytes)
        ),
        NoWitness::NoData { op } => format!("{op}s move no data that a counter could show"),
        NoWitness::Imported { span_bytes: Some(bytes) } if *bytes < MEMORY_LEAST_BYTES => format!(
            "buffered I/O to {}, which fits in the memory of nearly any machine: memory may have served it",
            units::size(*bytes)
        ),
        NoWitness::Imported { .. } => "buffered I/O: memory may have served it".to_owned(),
        NoWitness::AtMost { op, direct, issued_bytes, most_bytes } => {
            let did = if *op == Op::Read { "read" } else { "wrote" };
            let (device, rest) = match most_bytes {
                0 => (format!("{did} nothing"), "all of it"),
                bytes => (format!("{did} at most {} for it", units::decimal_bytes(*bytes)), "the rest"),
            };
            let who = if *direct { "holes in the file or a cache" } else { "memory" };
            format!(
                "the result {did} {}, but by the file's own counters the device {device}: {who} served {rest}",
                units::decimal_bytes(*issued_bytes)
            )
        }
        NoWitness::CountersAtZero => {
            "the file's own counters of the device show no request: memory served it, or they do not count"
                .to_owned()
        }
        NoWitness::PageCacheUnstated => {
            "the file does not state whether the page cache was bypassed (direct I/O)".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_stands_still_is_named() {
        let (counted_bytes, filled_bytes) = (0, 100_000_000);
        let device = Some("nvme0n1".to_owned());
        assert_eq!(
            words(&NoWitness::CountsNothing { device, counted_bytes, filled_bytes }),
            "the counters of nvme0n1 are not usable: 0 B counted of 100 MB filled with direct I/O"
        );
    }
}
