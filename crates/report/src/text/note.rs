//! Words of a circumstance that a reader of the figures must know.

use iosonde_model::{DeviceNote, units};

/// The sentence of a note, without a full stop.
pub fn note(note: &DeviceNote) -> String {
    match note {
        DeviceNote::NotDescribed => "the target could not be asked what it is (fstat failed)".to_owned(),
        DeviceNote::BlockDeviceUnseen { file_system } => {
            format!("the block device below this {file_system} file system cannot be seen from here")
        }
        DeviceNote::StorageUnseen { file_system } => {
            format!("the storage below this {file_system} mount cannot be seen from here")
        }
        DeviceNote::SpansDevices { file_system, devices } => format!(
            "this {file_system} file system spans {devices} devices, so no device's counters see all bytes"
        ),
        DeviceNote::SizeNotTold { most_bytes } => format!(
            "the file system does not tell its size, so the file stays at or below {}",
            units::size(*most_bytes)
        ),
        DeviceNote::ReadOnlyWins => "--read-only beats --destroy: nothing is written".to_owned(),
        DeviceNote::NothingToDestroy => {
            "--destroy has nothing to do in a directory: iosonde writes to a file of its own there".to_owned()
        }
        DeviceNote::BufferedAsAsked => {
            "buffered, as asked: the page cache stands between these figures and the device".to_owned()
        }
        DeviceNote::NoDirectIo => {
            "no direct I/O here: the page cache stands between these figures and the device".to_owned()
        }
        DeviceNote::Holes { unmapped_bytes, file_bytes } => format!(
            "{} of the file's {} are holes that were never written",
            units::percent(*unmapped_bytes as f64 / (*file_bytes).max(1) as f64),
            units::size(*file_bytes)
        ),
        DeviceNote::PartAddressed { part_bytes, all_bytes, other } => format!(
            "{} of {} are addressed, as much as {other} has, so that both have the same points",
            units::size(*part_bytes),
            units::size(*all_bytes)
        ),
        DeviceNote::StateReached { state, span_bytes, larger_bytes } => {
            let (span, larger) = (units::size(*span_bytes), larger_bytes.map(units::decimal_bytes));
            let part = larger.map_or_else(String::new, |drive| {
                format!(", within {span} of {drive}: a drive of which all is in use may be slower")
            });
            format!("the storage was brought to the state {state} first{part}")
        }
        DeviceNote::NotSteady => {
            "--state steady: the rate still changed when what is addressed had been written twice at random; what \
             follows is not in steady state"
                .to_owned()
        }
        DeviceNote::WriteLimitReached { max_bytes } => {
            format!("writing ended early: --max-write {} allows no more of it", units::size(*max_bytes))
        }
        DeviceNote::OneDevice { targets: [a, b], device } => {
            format!("{a} and {b} lie on one device, {device}: what differs is not the device")
        }
        DeviceNote::Other(sentence) => sentence.clone(),
    }
}
