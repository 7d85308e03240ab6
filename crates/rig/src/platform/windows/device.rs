//! What is below a target, as far as Windows tells.

use std::{fs::File, io, mem::zeroed, os::windows::fs::MetadataExt, path::Path};

use iosonde_model::{Device, DeviceNote, HidingLayer, Medium};
use windows_sys::Win32::{
    Storage::FileSystem::{
        FILE_ATTRIBUTE_COMPRESSED, FILE_ATTRIBUTE_ENCRYPTED, FILE_STORAGE_INFO, FileStorageInfo,
        GetDiskFreeSpaceW, GetVolumeInformationByHandleW,
    },
    System::Ioctl::{FSCTL_GET_INTEGRITY_INFORMATION, FSCTL_GET_INTEGRITY_INFORMATION_BUFFER},
};

use super::{
    bitlocker,
    handle::{SHARED, control, information, open, raw, wide},
    volume::{Disk, Place, disk},
};
use crate::platform::{Layer, TargetKind};

/// Describes what lies below an open target. `path` is where it was reached.
pub fn describe(file: &File, path: &Path, kind: TargetKind) -> Device {
    describe_with_layers(file, path, kind).0
}

/// Describes the storage below a target that need not be readable, as a whole and each device by itself.
pub fn look(path: &Path, kind: TargetKind) -> io::Result<(Device, Vec<Layer>)> {
    // No right at all: nothing can happen to what is there.
    Ok(describe_with_layers(&open(path, 0, SHARED, 0)?, path, kind))
}

fn describe_with_layers(file: &File, path: &Path, kind: TargetKind) -> (Device, Vec<Layer>) {
    let mut device = Device::unknown(kind.as_str(), 0);
    device.file_system = file_system(file);
    device.copies_on_write = copies_on_write(file, device.file_system.as_deref());
    if let Ok(found) = file.metadata() {
        let marked = |attribute: u32| found.file_attributes() & attribute != 0;
        device.marked_compressed = Some(marked(FILE_ATTRIBUTE_COMPRESSED));
        device.encrypted_by = marked(FILE_ATTRIBUTE_ENCRYPTED).then(|| "EFS".to_owned());
        device.size_bytes = Some(found.len()).filter(|&bytes| bytes > 0 && kind == TargetKind::File);
    }
    let place = Place::of(path);
    let layers = match &place {
        Place::Drive(letter) => {
            let disk = place.open_volume().map(|volume| disk(&volume)).unwrap_or_default();
            fill(&mut device, letter, &disk);
            device.allocation_unit_bytes = cluster_bytes(letter);
            let encrypts = || bitlocker::encrypts(letter) == Some(true);
            device.encrypted_by =
                device.encrypted_by.take().or_else(|| encrypts().then(|| "BitLocker".to_owned()));
            vec![layer(letter, &disk)]
        }
        Place::Share(share) => {
            device.medium = Medium::Network;
            device.link = Some(share.clone());
            device.unseen = vec![HidingLayer::Server];
            Vec::new()
        }
        Place::Other => {
            device.notes.push(DeviceNote::NotDescribed);
            Vec::new()
        }
    };
    if let Ok(found) = information::<FILE_STORAGE_INFO>(file, FileStorageInfo) {
        let told = |bytes: u32| Some(u64::from(bytes)).filter(|&bytes| bytes > 0);
        device.logical_block_bytes = device.logical_block_bytes.or(told(found.LogicalBytesPerSector));
        let physical = told(found.PhysicalBytesPerSectorForPerformance);
        device.physical_block_bytes = device.physical_block_bytes.or(physical);
    }
    (device, layers)
}

/// Whether overwriting takes a new place each time: on ReFS where the file's integrity is kept, since the old contents
/// and their checksum must hold until the new ones are written.
fn copies_on_write(file: &File, file_system: Option<&str>) -> Option<bool> {
    if file_system != Some("ReFS") {
        return None;
    }
    let found: FSCTL_GET_INTEGRITY_INFORMATION_BUFFER = control(file, FSCTL_GET_INTEGRITY_INFORMATION, &())?;
    // CHECKSUM_TYPE_NONE.
    Some(found.ChecksumAlgorithm != 0)
}

fn fill(device: &mut Device, letter: &str, disk: &Disk) {
    let name = disk.number.map(|number| format!("PhysicalDrive{number}"));
    device.chain = std::iter::once(letter.to_owned()).chain(name.clone()).collect();
    device.name = name.or_else(|| Some(letter.to_owned()));
    device.model.clone_from(&disk.model);
    device.link = disk.bus.map(str::to_owned);
    device.rotational = disk.seeks;
    device.logical_block_bytes = disk.logical_block_bytes;
    device.physical_block_bytes = disk.physical_block_bytes;
    device.write_cache = disk.write_cache.map(in_words);
    device.medium = match disk.seeks {
        _ if disk.is_virtual => Medium::Virtual,
        Some(true) => Medium::Disk,
        Some(false) => Medium::Flash,
        None => Medium::Unknown,
    };
}

/// Size of a volume's clusters.
fn cluster_bytes(letter: &str) -> Option<u64> {
    let root = wide(Path::new(&format!("{letter}\\")));
    let (mut sectors, mut sector_bytes) = (0, 0);
    // SAFETY: the path ends with a zero, and the numbers are places of ours; the other answers are not requested.
    let told = unsafe {
        let (free, total) = (std::ptr::null_mut(), std::ptr::null_mut());
        GetDiskFreeSpaceW(root.as_ptr(), &raw mut sectors, &raw mut sector_bytes, free, total)
    };
    Some(u64::from(sectors) * u64::from(sector_bytes)).filter(|&bytes| told != 0 && bytes > 0)
}

/// The kernel's words on Linux, so that one check reads both.
fn in_words(cached: bool) -> String {
    if cached { "write back" } else { "write through" }.to_owned()
}

fn layer(letter: &str, disk: &Disk) -> Layer {
    Layer {
        name: letter.to_owned(),
        made: None,
        model: disk.model.clone(),
        link: disk.bus.map(str::to_owned),
        size_bytes: None,
        logical_block_bytes: disk.logical_block_bytes,
        physical_block_bytes: disk.physical_block_bytes,
        scheduler: None,
        write_cache: disk.write_cache.map(in_words),
        write_streams: None,
        read_only: false,
    }
}

/// `NTFS`, `ReFS`, `exFAT`.
fn file_system(file: &File) -> Option<String> {
    let mut name = [0_u16; 32];
    // SAFETY: the name is a place of ours of the length that is told; the other answers are not requested.
    let told = unsafe {
        let mut flags: u32 = zeroed();
        GetVolumeInformationByHandleW(
            raw(file),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut flags,
            name.as_mut_ptr(),
            name.len() as u32,
        )
    };
    let length = name.iter().position(|&unit| unit == 0)?;
    (told != 0 && length > 0).then(|| String::from_utf16_lossy(&name[..length]))
}
