//! What is below a target, as far as the kernel tells.

use std::{fs::File, io, path::Path};

use iosonde_model::{Device, DeviceNote, HidingLayer, Medium, Shingled};
use rustix::fs::{Mode, OFlags, fstat};

use super::{
    BlockDevice, DeviceNumber, KERNEL_SECTOR_BYTES, System,
    caches::caches,
    chain::DeviceChain,
    disk_attributes::{active_scheduler, model},
    filesystem::Keeps,
    health::health,
    interface::link_to_server,
    layer,
    link::{faster_link, link},
    mount_of, packing, virtualization,
};
use crate::platform::{Layer, TargetKind, unix::allocation_unit_bytes};

/// Describes what lies below an open target. `path` is where it was reached (the directory, for an own
/// file). The working set, the engine and the direct-I/O facts are the caller's to fill in.
pub fn describe(file: &File, path: &Path, kind: TargetKind) -> Device {
    describe_with_layers(file, path, kind).0
}

/// Describes the storage below a target that need not be readable, as a whole and each block device by itself.
pub fn look(path: &Path, kind: TargetKind) -> io::Result<(Device, Vec<Layer>)> {
    // O_PATH: no effect on what is there, and no permission needed for it.
    let file = File::from(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?);
    Ok(describe_with_layers(&file, path, kind))
}

fn describe_with_layers(file: &File, path: &Path, kind: TargetKind) -> (Device, Vec<Layer>) {
    let system = System::real();
    let mut device = Device::unknown(kind.as_str(), 0);
    let Ok(stat) = fstat(file) else {
        device.notes.push(DeviceNote::NotDescribed);
        return (device, Vec::new());
    };
    let chain = match kind {
        TargetKind::Block => BlockDevice::by_number(&system, DeviceNumber::of(stat.st_rdev))
            .map(|block| DeviceChain::below_device(&system, block)),
        TargetKind::Directory | TargetKind::File => mount_of(&system, file, path).map(|mount| {
            device.file_system = Some(mount.file_system.clone());
            device.mount_options = Some(mount.options.clone());
            device.allocation_unit_bytes = allocation_unit_bytes(file);
            device.link = link_to_server(&system, &mount);
            DeviceChain::below_file(&system, mount, DeviceNumber::of(stat.st_dev))
        }),
    };
    let chain = chain.unwrap_or_default();
    let layers: Vec<Layer> = chain.devices.iter().map(layer::layer).collect();
    if kind == TargetKind::Block {
        device.encrypted_by = packing::encrypted_by(&chain.devices, None, None);
    } else {
        packing::describe(&mut device, &chain.devices, file);
    }
    device.health = chain.covering().and_then(|block| health(&system, &block.whole()));
    fill(&mut device, chain, virtualization().as_deref());
    if let (TargetKind::Block, Some(itself)) = (kind, layers.first()) {
        // A partition is not its disk, and a loop device not what its file lies on.
        device.size_bytes = itself.size_bytes;
    }
    if device.size_bytes.is_none() {
        device.size_bytes = u64::try_from(stat.st_size).ok().filter(|&bytes| bytes > 0);
    }
    (device, layers)
}

fn fill(device: &mut Device, chain: DeviceChain, virtual_machine: Option<&str>) {
    device.chain = chain.devices.iter().map(|block| block.name.clone()).collect();
    device.caches_below = caches(&chain.devices);
    device.notes.extend(chain.notes.iter().cloned());
    if let Some(nearest) = chain.devices.first() {
        device.logical_block_bytes = nearest.whole().number_attribute("queue/logical_block_size");
        device.physical_block_bytes = nearest.whole().number_attribute("queue/physical_block_size");
    }
    let by_type = chain.file_systems.iter().find_map(|keeps| keeps.medium());
    let mut virtual_disk = false;
    if let Some(block) = chain.covering() {
        let disk = block.whole();
        device.model = model(&disk);
        device.burst_credit = device.model.as_deref().and_then(burst_credit);
        device.size_bytes = disk.size_bytes();
        device.rotational = disk.number_attribute("queue/rotational").map(|value| value != 0);
        device.shingled = shingled(&disk);
        device.scheduler = disk.attribute("queue/scheduler").and_then(|text| active_scheduler(&text));
        device.write_cache = disk.attribute("queue/write_cache");
        device.forces_unit_access = disk.number_attribute("queue/fua").map(|value| value != 0);
        device.link = link(&disk);
        device.faster_link = faster_link(&disk);
        device.queue_requests = disk.number_attribute("queue/nr_requests");
        device.misaligned_bytes = chain.devices.iter().rev().find_map(misaligned_bytes);
        // A virtual machine's disk is called so by its driver or its model; one handed through is the real
        // thing.
        virtual_disk = chain.devices.iter().any(is_virtual_disk);
        device.name = Some(disk.name);
    }
    device.medium = match (by_type, device.rotational) {
        (Some(medium), _) => medium,
        (None, _) if virtual_disk => Medium::Virtual,
        (None, Some(true)) => Medium::Disk,
        (None, Some(false)) => Medium::Flash,
        (None, None) => Medium::Unknown,
    };
    device.unseen = unseen(&chain.file_systems, device.medium, virtual_machine);
}

/// Sign of overlapping tracks. Disks that manage them by themselves show no zones; they take trims to move less
/// (Western Digital, Trim Command: General Benefits for Hard Disk Drives, June 2020), of which disks with separate
/// tracks have no use.
fn shingled(disk: &BlockDevice) -> Option<Shingled> {
    if disk.number_attribute("queue/rotational") != Some(1) {
        return None;
    }
    let zoned = disk.attribute("queue/zoned").is_some_and(|model| model != "none");
    let trims = disk.number_attribute("queue/discard_max_bytes").is_some_and(|bytes| bytes > 0);
    zoned.then_some(Shingled::Zones).or(trims.then_some(Shingled::Trims))
}

/// Bytes by which a partition's beginning misses its disk's unit; `None` for a whole disk. A disk that emulates sectors
/// of 512 bytes says its real unit; where it says none, 4 KiB is every medium's least.
fn misaligned_bytes(block: &BlockDevice) -> Option<u64> {
    let disk = block.is_partition().then(|| block.whole())?;
    let start_bytes = block.number_attribute("start")?.checked_mul(KERNEL_SECTOR_BYTES)?;
    let offset_bytes = disk.number_attribute("alignment_offset").unwrap_or(0);
    let unit_bytes = disk.number_attribute("queue/physical_block_size").unwrap_or(0).max(4096);
    Some(start_bytes.abs_diff(offset_bytes) % unit_bytes)
}

/// What stands between this system and the medium. Memory of this machine needs no such word.
fn unseen(file_systems: &[Keeps], medium: Medium, virtual_machine: Option<&str>) -> Vec<HidingLayer> {
    if medium == Medium::Memory {
        return Vec::new();
    }
    let host = virtual_machine.map(|_| HidingLayer::VirtualMachineHost);
    let mut layers: Vec<_> = file_systems.iter().filter_map(|keeps| keeps.unseen()).chain(host).collect();
    layers.dedup();
    layers
}

/// Returns true if volumes of this model may be sold with burst credit. By name, since a guest has nothing else to go
/// by: it sees no bucket, and what it measures shows one only when it is empty, which the check `throttled` finds.
fn burst_credit(model: &str) -> Option<bool> {
    const KNOWN: [&str; 2] = ["Elastic Block Store", "Msft Virtual Disk"];
    KNOWN.iter().any(|known| model.contains(known)).then_some(true)
}

fn is_virtual_disk(block: &BlockDevice) -> bool {
    let disk = block.whole();
    if disk.name.starts_with("vd") || disk.name.starts_with("xvd") {
        return true;
    }
    model(&disk).is_some_and(|model| is_virtual_model(&model))
}

/// Models under which hypervisors show their own disks.
fn is_virtual_model(model: &str) -> bool {
    const STARTS: [&str; 9] = [
        "QEMU",
        "VMware",
        "VBOX",
        "Msft Virtual",
        "Xen",
        "Google PersistentDisk",
        "nvme_card-pd",
        "Amazon Elastic Block Store",
        "Parallels",
    ];
    STARTS.iter().any(|start| model.starts_with(start)) || model.contains("Virtual")
}

#[cfg(test)]
mod tests {
    use super::super::block::fake;
    use super::*;
    use proptest::prelude::*;

    fn described(path: &str, attributes: &[(&str, &str)], virtual_machine: Option<&str>) -> Device {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), path, "8:0", attributes);
        let system = System::at(root.path());
        let block = BlockDevice::by_name(&system, path.rsplit('/').next().unwrap()).unwrap();
        let mut device = Device::unknown("block", 0);
        fill(&mut device, DeviceChain::below_device(&system, block), virtual_machine);
        device
    }

    #[test]
    fn a_sata_disk() {
        let device = described(
            "ata/block/sda",
            &[
                ("device/vendor", "ATA     "),
                ("device/model", "WDC WD40EFRX-68N"),
                ("queue/rotational", "1"),
                ("queue/scheduler", "none [mq-deadline] kyber bfq"),
                ("queue/write_cache", "write back"),
                ("queue/fua", "1"),
                ("queue/logical_block_size", "512"),
                ("queue/physical_block_size", "4096"),
            ],
            None,
        );
        assert_eq!(device.model.as_deref(), Some("WDC WD40EFRX-68N"));
        assert_eq!((device.medium, device.rotational), (Medium::Disk, Some(true)));
        assert_eq!((device.logical_block_bytes, device.physical_block_bytes), (Some(512), Some(4096)));
        assert_eq!(device.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(device.size_bytes, Some(2048 * 512));
        assert_eq!(
            (device.write_cache.as_deref(), device.forces_unit_access),
            (Some("write back"), Some(true))
        );
        assert_eq!(device.unseen, []);
    }

    #[test]
    fn a_rotating_disk_that_takes_trims_or_has_zones_is_told_as_shingled() {
        let of = |attributes: &[(&str, &str)]| described("ata/block/sda", attributes, None).shingled;
        let disk = ("queue/rotational", "1");
        assert_eq!(of(&[disk, ("queue/zoned", "none"), ("queue/discard_max_bytes", "0")]), None);
        assert_eq!(of(&[disk, ("queue/discard_max_bytes", "2147450880")]), Some(Shingled::Trims));
        assert_eq!(of(&[disk, ("queue/zoned", "host-aware")]), Some(Shingled::Zones));
        assert_eq!(of(&[("queue/rotational", "0"), ("queue/discard_max_bytes", "2147450880")]), None);
    }

    #[test]
    fn a_partition_that_begins_within_a_block_is_misaligned() {
        let root = tempfile::tempdir().unwrap();
        let disk = [("queue/physical_block_size", "4096"), ("queue/nr_requests", "64")];
        fake::device(root.path(), "ata/block/sda", "8:0", &disk);
        fake::device(root.path(), "ata/block/sda/sda1", "8:1", &[("partition", "1"), ("start", "63")]);
        fake::device(root.path(), "ata/block/sda/sda2", "8:2", &[("partition", "2"), ("start", "2048")]);
        let system = System::at(root.path());
        let of = |name: &str| {
            let mut device = Device::unknown("block", 0);
            let block = BlockDevice::by_name(&system, name).unwrap();
            fill(&mut device, DeviceChain::below_device(&system, block), None);
            (device.misaligned_bytes, device.queue_requests)
        };
        // The 63 sectors of old partition tables.
        assert_eq!(of("sda1"), (Some(63 * 512 % 4096), Some(64)));
        assert_eq!(of("sda2"), (Some(0), Some(64)));
        assert_eq!(of("sda"), (None, Some(64)));
    }

    #[test]
    fn a_guests_disk_is_virtual_whatever_it_says_of_rotation() {
        let device = described("pci/virtio1/block/vda", &[("queue/rotational", "1")], Some("KVM"));
        assert_eq!((device.medium, device.rotational), (Medium::Virtual, Some(true)));
        assert_eq!(device.link.as_deref(), Some("virtio"));
        assert_eq!(device.unseen, [HidingLayer::VirtualMachineHost]);
    }

    #[test]
    fn a_disk_handed_through_to_a_guest_keeps_its_medium_and_the_doubt() {
        let attributes = [("device/model", "Samsung SSD 990 PRO 2TB"), ("queue/rotational", "0")];
        let device = described("pci/nvme/nvme0/nvme0n1", &attributes, Some("KVM"));
        assert_eq!(device.medium, Medium::Flash);
        assert_eq!(device.unseen, [HidingLayer::VirtualMachineHost]);
    }

    #[test]
    fn memory_has_nothing_unseen() {
        let device = described("virtual/block/zram0", &[("queue/rotational", "0")], Some("KVM"));
        assert_eq!((device.medium, device.unseen), (Medium::Memory, Vec::new()));
    }

    #[test]
    fn what_is_unseen_is_named_in_order() {
        let below = [Keeps::InUserSpace, Keeps::OnServer];
        assert_eq!(
            unseen(&below, Medium::UserSpace, Some("KVM")),
            [HidingLayer::UserSpaceFileSystem, HidingLayer::Server, HidingLayer::VirtualMachineHost]
        );
    }

    #[test]
    fn one_scheduler_without_brackets() {
        assert_eq!(active_scheduler("none"), Some("none".to_owned()));
        assert_eq!(active_scheduler("none mq-deadline"), None);
    }

    #[test]
    fn a_cloud_disk_is_virtual_and_a_local_one_is_not() {
        assert!(is_virtual_model("Amazon Elastic Block Store"));
        assert_eq!(burst_credit("Amazon Elastic Block Store"), Some(true));
        assert_eq!(burst_credit("Amazon EC2 NVMe Instance Storage"), None);
        assert!(!is_virtual_model("Amazon EC2 NVMe Instance Storage"));
        assert!(is_virtual_model("Msft Virtual Disk"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (active_scheduler(&text), is_virtual_model(&text));
        }
    }
}
