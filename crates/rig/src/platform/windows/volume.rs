//! The volume below a path and its disk, by control codes. Handles are opened without any right, which suffices to ask.

use std::{
    fs::File,
    io,
    path::{Component, Path, Prefix},
};

use windows_sys::Win32::Storage::FileSystem::{
    BusTypeAta, BusTypeFileBackedVirtual, BusTypeNvme, BusTypeRAID, BusTypeSas, BusTypeSata, BusTypeScsi,
    BusTypeSd, BusTypeSpaces, BusTypeUsb, BusTypeVirtual, BusTypeiScsi, OPEN_EXISTING,
};
use windows_sys::Win32::System::Ioctl::{
    DEVICE_SEEK_PENALTY_DESCRIPTOR, IOCTL_STORAGE_GET_DEVICE_NUMBER, IOCTL_STORAGE_QUERY_PROPERTY,
    PropertyStandardQuery, STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR, STORAGE_DEVICE_DESCRIPTOR,
    STORAGE_DEVICE_NUMBER, STORAGE_PROPERTY_QUERY, STORAGE_WRITE_CACHE_PROPERTY,
    StorageAccessAlignmentProperty, StorageDeviceProperty, StorageDeviceSeekPenaltyProperty,
    StorageDeviceWriteCacheProperty, WriteCacheDisabled, WriteCacheEnabled,
};

use super::handle::{SHARED, control, control_bytes, create};

/// Where a path lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// On the volume of a drive letter: `C:`.
    Drive(String),
    /// On a server: `\\server\share`.
    Share(String),
    /// On neither.
    Other,
}

impl Place {
    /// Reads it from the path, made absolute, links resolved where the path leads somewhere.
    pub(super) fn of(path: &Path) -> Self {
        let path =
            path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        let Some(Component::Prefix(prefix)) = path.components().next() else { return Self::Other };
        match prefix.kind() {
            Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
                Self::Drive(format!("{}:", char::from(letter).to_ascii_uppercase()))
            }
            Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
                Self::Share(format!(r"\\{}\{}", server.display(), share.display()))
            }
            _ => Self::Other,
        }
    }

    /// Opens the volume without any right.
    pub(super) fn open_volume(&self) -> io::Result<File> {
        let Self::Drive(letter) = self else { return Err(io::ErrorKind::Unsupported.into()) };
        create(Path::new(&format!(r"\\.\{letter}")), 0, SHARED, OPEN_EXISTING, 0)
    }
}

/// What a volume's disk says of itself.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) number: Option<u32>,
    pub(super) model: Option<String>,
    pub(super) bus: Option<&'static str>,
    pub(super) is_virtual: bool,
    pub(super) seeks: Option<bool>,
    pub(super) logical_block_bytes: Option<u64>,
    pub(super) physical_block_bytes: Option<u64>,
    pub(super) write_cache: Option<bool>,
}

/// Asks the disk below an open volume.
pub(super) fn disk(volume: &File) -> Disk {
    let number: Option<STORAGE_DEVICE_NUMBER> = control(volume, IOCTL_STORAGE_GET_DEVICE_NUMBER, &());
    let alignment: Option<STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR> =
        property(volume, StorageAccessAlignmentProperty);
    let seeks: Option<DEVICE_SEEK_PENALTY_DESCRIPTOR> = property(volume, StorageDeviceSeekPenaltyProperty);
    let cache: Option<STORAGE_WRITE_CACHE_PROPERTY> = property(volume, StorageDeviceWriteCacheProperty);
    let device = control_bytes(volume, IOCTL_STORAGE_QUERY_PROPERTY, &query(StorageDeviceProperty), 1024);
    let device = device.ok().and_then(|answer| Descriptor::read(&answer));
    let bytes = |of: fn(&STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR) -> u32| {
        alignment.as_ref().map(of).filter(|&bytes| bytes > 0).map(u64::from)
    };
    Disk {
        number: number.map(|found| found.DeviceNumber),
        logical_block_bytes: bytes(|found| found.BytesPerLogicalSector),
        physical_block_bytes: bytes(|found| found.BytesPerPhysicalSector),
        seeks: seeks.map(|found| found.IncursSeekPenalty),
        write_cache: cache.and_then(|found| match found.WriteCacheEnabled {
            state if state == WriteCacheEnabled => Some(true),
            state if state == WriteCacheDisabled => Some(false),
            _ => None,
        }),
        is_virtual: device.as_ref().is_some_and(Descriptor::is_virtual),
        bus: device.as_ref().and_then(Descriptor::bus),
        model: device.and_then(|found| found.model),
    }
}

fn query(property: i32) -> STORAGE_PROPERTY_QUERY {
    STORAGE_PROPERTY_QUERY {
        PropertyId: property,
        QueryType: PropertyStandardQuery,
        AdditionalParameters: [0],
    }
}

fn property<A: Copy>(volume: &File, property: i32) -> Option<A> {
    control(volume, IOCTL_STORAGE_QUERY_PROPERTY, &query(property))
}

/// The parts of a device's descriptor that are used.
#[derive(Debug, PartialEq, Eq)]
struct Descriptor {
    model: Option<String>,
    bus_type: i32,
}

impl Descriptor {
    /// Strings lie behind the fixed part, at offsets from its beginning; 0 stands for none.
    fn read(answer: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(answer.get(at..at + 4)?.try_into().ok()?));
        let text = |offset: u32| {
            let rest = answer.get(offset as usize..).filter(|_| offset > 0)?;
            let text = rest.split(|byte| *byte == 0).next()?;
            let text = String::from_utf8_lossy(text).trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let vendor = text(number(std::mem::offset_of!(STORAGE_DEVICE_DESCRIPTOR, VendorIdOffset))?);
        let product = text(number(std::mem::offset_of!(STORAGE_DEVICE_DESCRIPTOR, ProductIdOffset))?);
        let bus_type = number(std::mem::offset_of!(STORAGE_DEVICE_DESCRIPTOR, BusType))? as i32;
        let model = match (vendor, product) {
            // Windows invents this vendor for NVMe drives.
            (Some(vendor), Some(product)) if vendor != "NVMe" => Some(format!("{vendor} {product}")),
            (vendor, product) => product.or(vendor),
        };
        Some(Self { model, bus_type })
    }

    fn bus(&self) -> Option<&'static str> {
        let names = [
            (BusTypeNvme, "NVMe"),
            (BusTypeSata, "SATA"),
            (BusTypeAta, "ATA"),
            (BusTypeSas, "SAS"),
            (BusTypeScsi, "SCSI"),
            (BusTypeUsb, "USB"),
            (BusTypeSd, "SD"),
            (BusTypeRAID, "RAID"),
            (BusTypeiScsi, "iSCSI"),
            (BusTypeSpaces, "Storage Spaces"),
            (BusTypeVirtual, "virtual"),
            (BusTypeFileBackedVirtual, "virtual, in a file"),
        ];
        names.iter().find(|(bus, _)| *bus == self.bus_type).map(|(_, name)| *name)
    }

    fn is_virtual(&self) -> bool {
        [BusTypeVirtual, BusTypeFileBackedVirtual].contains(&self.bus_type)
            || self.model.as_deref().is_some_and(|model| {
                ["Virtual", "VBOX", "QEMU", "VMware", "Red Hat", "Msft"].iter().any(|of| model.contains(of))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_descriptor_gives_model_and_bus() {
        // As Windows 11 answers for an NVMe drive: 40 bytes, then the strings.
        let mut answer = vec![0_u8; 80];
        answer[std::mem::offset_of!(STORAGE_DEVICE_DESCRIPTOR, VendorIdOffset)] = 44;
        answer[std::mem::offset_of!(STORAGE_DEVICE_DESCRIPTOR, ProductIdOffset)] = 52;
        answer[std::mem::offset_of!(STORAGE_DEVICE_DESCRIPTOR, BusType)] = 17;
        answer[44..48].copy_from_slice(b"NVMe");
        answer[52..64].copy_from_slice(b"Example 1TB ");
        let found = Descriptor::read(&answer).unwrap();
        assert_eq!((found.model.as_deref(), found.bus()), (Some("Example 1TB"), Some("NVMe")));
        assert!(!found.is_virtual());
        assert_eq!(Descriptor::read(&answer[..10]), None);
    }

    #[test]
    fn places_by_their_prefix() {
        assert_eq!(Place::of(Path::new(r"Q:\no\such")), Place::Drive("Q:".into()));
        assert_eq!(Place::of(Path::new(r"\\srv\share\no")), Place::Share(r"\\srv\share".into()));
    }
}
