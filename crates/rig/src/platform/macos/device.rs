//! What is below a target, as far as macOS tells: `statfs`, and `diskutil`.

use std::{
    ffi::CStr,
    fs::File,
    io,
    os::{fd::AsRawFd, macos::fs::MetadataExt},
    path::Path,
    process::Command,
};

use iosonde_model::{Device, DeviceNote, HidingLayer, Medium};

use crate::platform::{
    Layer, TargetKind,
    apple::{
        diskutil::{DiskFacts, disk_facts, physical},
        plist::facts,
    },
    unix::allocation_unit_bytes,
};

/// UF_COMPRESSED (sys/stat.h): the system compresses the file's contents.
const COMPRESSED: u32 = 0x20;
/// MNT_LOCAL (sys/mount.h).
const LOCAL: u32 = 0x1000;

/// Describes what lies below an open target. `path` is where it was reached.
pub fn describe(file: &File, path: &Path, kind: TargetKind) -> Device {
    describe_with_layers(file, path, kind).0
}

/// Describes the storage below a target, as a whole and each device by itself.
pub fn look(path: &Path, kind: TargetKind) -> io::Result<(Device, Vec<Layer>)> {
    Ok(describe_with_layers(&File::open(path)?, path, kind))
}

fn describe_with_layers(file: &File, _path: &Path, kind: TargetKind) -> (Device, Vec<Layer>) {
    let mut device = Device::unknown(kind.as_str(), 0);
    if let Ok(found) = file.metadata() {
        device.marked_compressed = Some(found.st_flags() & COMPRESSED != 0);
        device.size_bytes = Some(found.len()).filter(|&bytes| bytes > 0 && kind == TargetKind::File);
    }
    let Some((file_system, source, flags)) = mount(file) else {
        device.notes.push(DeviceNote::NotDescribed);
        return (device, Vec::new());
    };
    device.copies_on_write = (file_system == "apfs").then_some(true);
    device.file_system = Some(file_system);
    device.allocation_unit_bytes = allocation_unit_bytes(file);
    if flags & LOCAL == 0 {
        device.medium = Medium::Network;
        device.unseen = vec![HidingLayer::Server];
        return (device, Vec::new());
    }
    let volume = source.trim_start_matches("/dev/").to_owned();
    let plist = diskutil(&volume).unwrap_or_default();
    let of_volume = facts(&plist);
    let of_disk = physical(&of_volume, &plist).and_then(|disk| diskutil(&disk)).map(|plist| facts(&plist));
    let disk = disk_facts(&of_volume, of_disk.as_ref());
    let layers = vec![layer(&volume, &disk)];
    fill(&mut device, volume, disk);
    (device, layers)
}

fn fill(device: &mut Device, volume: String, disk: DiskFacts) {
    device.medium = match disk.solid_state {
        _ if disk.is_virtual => Medium::Virtual,
        Some(true) => Medium::Flash,
        Some(false) => Medium::Disk,
        None => Medium::Unknown,
    };
    device.rotational = disk.solid_state.map(|solid| !solid);
    device.encrypted_by = disk.encrypted.filter(|&yes| yes).map(|_| "FileVault".to_owned());
    device.logical_block_bytes = disk.block_bytes;
    device.size_bytes = device.size_bytes.or(disk.size_bytes);
    device.chain = std::iter::once(volume).chain(disk.name.clone()).collect();
    (device.name, device.model, device.link) = (disk.name, disk.model, disk.bus);
}

fn layer(volume: &str, disk: &DiskFacts) -> Layer {
    Layer {
        name: volume.to_owned(),
        made: None,
        model: disk.model.clone(),
        link: disk.bus.clone(),
        size_bytes: None,
        logical_block_bytes: disk.block_bytes,
        physical_block_bytes: None,
        scheduler: None,
        write_cache: None,
        write_streams: None,
        read_only: false,
    }
}

/// Type of the file system, what is mounted, and the flags of the mount.
fn mount(file: &File) -> Option<(String, String, u32)> {
    // SAFETY: the structure is plain numbers and text, which the kernel fills in; its texts end with a zero.
    unsafe {
        let mut found: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(file.as_raw_fd(), &raw mut found) != 0 {
            return None;
        }
        let text = |text: *const libc::c_char| CStr::from_ptr(text).to_string_lossy().into_owned();
        Some((text(found.f_fstypename.as_ptr()), text(found.f_mntfromname.as_ptr()), found.f_flags))
    }
}

/// What `diskutil` says of a disk or volume; it writes nothing and needs no rights.
fn diskutil(name: &str) -> Option<String> {
    let answer = Command::new("/usr/sbin/diskutil").args(["info", "-plist", name]).output().ok()?;
    String::from_utf8(answer.stdout).ok().filter(|_| answer.status.success())
}
