//! The name by which a person says "this device and no other".
//!
//! `/dev/sdb` is another disk after the next boot. A WWID or serial number stays with the disk; where there
//! is none, or two devices show the same, number and size together must do, of a loop device with the number of its
//! file.

use super::{inode::Inode, loops};
use crate::platform::linux::{BlockDevice, System};

/// Shorter ones, and those of one letter, are placeholders: `0`, `None`, `00000000`.
const LENGTH_MIN: usize = 5;

/// Identity to type after `--destroy=`.
pub(super) fn identity(system: &System, device: &BlockDevice) -> String {
    unique(system, device).into_iter().next().unwrap_or_else(|| number_and_size(system, device))
}

/// Returns true if what was typed names this device.
pub(super) fn names(system: &System, device: &BlockDevice, typed: &str) -> bool {
    let unique = unique(system, device);
    if unique.is_empty() {
        typed == number_and_size(system, device)
    } else {
        unique.iter().any(|own| own == typed)
    }
}

/// Other devices that show the same world-wide name: one disk reached over two paths, each of which the
/// kernel takes for a disk of its own, so that a mount of one does not hold the other.
pub(super) fn twins(system: &System, device: &BlockDevice) -> Vec<BlockDevice> {
    let whole = device.whole();
    let wwid = |disk: &BlockDevice| {
        ["wwid", "device/wwid"].iter().find_map(|attribute| typeable(&disk.attribute(attribute)?))
    };
    let Some(own) = wwid(&whole) else { return Vec::new() };
    let others = BlockDevice::all(system).into_iter().filter(|other| other.number != whole.number);
    others.filter(|other| wwid(other).as_ref() == Some(&own)).collect()
}

fn number_and_size(system: &System, device: &BlockDevice) -> String {
    let own = format!("{}:{}", device.number, device.size_bytes().unwrap_or(0));
    // Files of one length take turns behind a loop device.
    match device.loop_file().and_then(|_| loops::backing(system, &device.whole())) {
        Some(Inode::File { inode, .. }) => format!("{own}:inode-{inode}"),
        Some(Inode::Device(number)) => format!("{own}:{number}"),
        None => own,
    }
}

/// Its identities that no other device of this machine shows, the best first.
fn unique(system: &System, device: &BlockDevice) -> Vec<String> {
    let whole = device.whole();
    let others: Vec<String> = BlockDevice::all(system)
        .iter()
        .filter(|other| other.number != whole.number)
        .flat_map(of_disk)
        .collect();
    let own = of_disk(&whole).into_iter().filter(|own| !others.contains(own));
    match device.attribute("partition") {
        // A partition and its disk must not answer to one name.
        Some(partition) => own.map(|own| format!("{own}-part{partition}")).collect(),
        None => own.collect(),
    }
}

fn of_disk(disk: &BlockDevice) -> Vec<String> {
    const ATTRIBUTES: [&str; 7] =
        ["wwid", "device/wwid", "dm/uuid", "md/uuid", "serial", "device/serial", "device/cid"];
    ATTRIBUTES.iter().filter_map(|attribute| typeable(&disk.attribute(attribute)?)).collect()
}

/// As a person can type it without quotes: what is no letter, digit or one of `.:+-` becomes `_`.
fn typeable(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || ".:+-".contains(c)));
    let text = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let mut letters = text.chars().filter(char::is_ascii_alphanumeric);
    let first = letters.next()?;
    let varied = letters.any(|letter| letter != first);
    (text.len() >= LENGTH_MIN && varied).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake::device;
    use proptest::prelude::*;

    #[test]
    fn the_best_unique_identity_is_asked_for_and_any_unique_one_taken() {
        let root = tempfile::tempdir().unwrap();
        let attributes = [("device/wwid", "naa.5002538e40a1b2c3"), ("device/serial", "S4EVNF0M123456")];
        device(root.path(), "ata/sda", "8:0", &attributes);
        device(root.path(), "ata/sda/sda1", "8:1", &[("partition", "1")]);
        let system = System::at(root.path());
        let disk = BlockDevice::by_name(&system, "sda").unwrap();
        let part = BlockDevice::by_name(&system, "sda1").unwrap();
        assert_eq!(identity(&system, &disk), "naa.5002538e40a1b2c3");
        assert!(names(&system, &disk, "S4EVNF0M123456"));
        // 2048 sectors of 512 bytes; not taken where there is something better.
        assert!(!names(&system, &disk, "8:0:1048576"));
        assert_eq!(identity(&system, &part), "naa.5002538e40a1b2c3-part1");
        assert!(!names(&system, &part, "naa.5002538e40a1b2c3"));
        assert!(!names(&system, &disk, "naa.5002538e40a1b2c3-part1"));
    }

    #[test]
    fn twins_are_told_apart_by_number_and_size() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "usb/sdb", "8:16", &[("device/serial", "ABCDEF123")]);
        device(root.path(), "usb/sdc", "8:32", &[("device/serial", "ABCDEF123")]);
        let system = System::at(root.path());
        let twin = BlockDevice::by_name(&system, "sdc").unwrap();
        assert_eq!(identity(&system, &twin), "8:32:1048576");
        assert!(names(&system, &twin, "8:32:1048576") && !names(&system, &twin, "ABCDEF123"));
    }

    #[test]
    fn one_disk_over_two_paths_is_known_by_its_name_and_not_by_its_serial() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "sas/sda", "8:0", &[("device/wwid", "naa.5000c500a1b2c3d4")]);
        device(root.path(), "sas/sdb", "8:16", &[("device/wwid", "naa.5000c500a1b2c3d4")]);
        // Cheap bridges give all their disks one serial number: that proves nothing.
        device(root.path(), "usb/sdc", "8:32", &[("device/serial", "123456789012")]);
        device(root.path(), "usb/sdd", "8:48", &[("device/serial", "123456789012")]);
        let system = System::at(root.path());
        let twins_of = |name: &str| -> Vec<String> {
            let device = BlockDevice::by_name(&system, name).unwrap();
            twins(&system, &device).into_iter().map(|twin| twin.name).collect()
        };
        assert_eq!(twins_of("sda"), ["sdb"]);
        assert!(twins_of("sdc").is_empty());
    }

    #[test]
    fn placeholders_are_no_identity() {
        assert_eq!(typeable("0"), None);
        assert_eq!(typeable("0000-0000-0000"), None);
        assert_eq!(typeable("t10.ATA     Samsung SSD 860   ").as_deref(), Some("t10.ATA_Samsung_SSD_860"));
    }

    proptest! {
        #[test]
        fn what_comes_out_needs_no_quotes(text in "\\PC*") {
            if let Some(text) = typeable(&text) {
                prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || ".:+-_".contains(c)));
            }
        }
    }
}
