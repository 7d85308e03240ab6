//! What is measured, and on what machine: facts read before a run, absent as `None`.

use serde::{Deserialize, Serialize};

use crate::DeviceNote;

/// Storage medium, as far as the system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// The kernel says that it does not rotate.
    Flash,
    /// The kernel says that it rotates.
    Disk,
    /// Memory: tmpfs, ramfs, zram.
    Memory,
    /// A network file system.
    Network,
    /// A file system in user space.
    UserSpace,
    /// A simulated device.
    Simulated,
    /// A disk of a virtual machine: whatever lies behind it is the host's secret.
    Virtual,
    /// Unknown medium.
    Unknown,
}

/// The storage below a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// `directory`, `file`, `block`, `simulated`, or `imported` where another program measured.
    pub kind: String,
    /// The name of the block device: `nvme0n1`, `vda`.
    pub name: Option<String>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Summary of a simulated device, from its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// True if volumes of this model have burst credit; `None` where the model is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_credit: Option<bool>,
    /// Size of the device, or of the file that was measured.
    pub size_bytes: Option<u64>,
    /// The kernel's word, often wrong in virtual machines (virtio says 1 of everything): `medium` is more.
    pub rotational: Option<bool>,
    /// Storage medium.
    pub medium: Medium,
    /// `ext4`, `tmpfs`, `nfs4`; `None` on a bare device.
    pub file_system: Option<String>,
    /// Mount options, as mounted.
    pub mount_options: Option<String>,
    /// `PCIe 4.0 x4`, `SATA 6 Gb/s`, `virtio`.
    pub link: Option<String>,
    /// Smallest unit that the device addresses.
    pub logical_block_bytes: Option<u64>,
    /// Smallest unit that the device says it writes whole.
    pub physical_block_bytes: Option<u64>,
    /// Alignment that direct I/O needs; `None` where the file system does not report one.
    pub direct_alignment_bytes: Option<u64>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// True if single writes can bypass the write cache (FUA), so that durable writes need no full flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forces_unit_access: Option<bool>,
    /// The layer of this machine that encrypts: `dm-crypt (dm-0)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_by: Option<String>,
    /// True if the file is marked for compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_compressed: Option<bool>,
    /// True if overwritten data gets a new place each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies_on_write: Option<bool>,
    /// Health of the drive as it reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// The block devices below the target, from the nearest to the last: `loop0`, `vda`.
    pub chain: Vec<String>,
    /// Bytes of the file or device that were prepared and may be addressed.
    pub working_set_bytes: u64,
    /// Requested bytes, where the working set is smaller.
    pub asked_size_bytes: Option<u64>,
    /// Layer between this system and the medium that hides it: "a virtual machine's host".
    pub unseen: Option<String>,
    /// The engine that measures, and why if another was wanted.
    pub engine: String,
    /// True if direct I/O is used.
    pub direct: bool,
    /// True if writing is allowed.
    pub writable: bool,
    /// State of the storage: `steady` where it was brought to its steady state; `None` where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Notes on the measurement that a reader must know: direct I/O not available, engine fell back, ..
    pub notes: Vec<DeviceNote>,
}

/// Health of a drive as it reports it, before a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Warnings, in words that follow "the drive says that".
    pub warnings: Vec<String>,
    /// Spare blocks that are left.
    pub spare_share: f64,
    /// Share of the rated endurance that is used; above 1 beyond it.
    pub used_share: f64,
    /// Written to it in its life.
    pub written_bytes: f64,
    /// Errors that it could not correct, in its life.
    pub media_errors: u64,
    /// Time in its life above the temperature from which it slows down.
    pub too_hot_s: f64,
}

impl Device {
    /// A device of which nothing is known but its kind and working set.
    pub fn unknown(kind: &str, working_set_bytes: u64) -> Self {
        Self {
            kind: kind.to_owned(),
            name: None,
            model: None,
            description: None,
            burst_credit: None,
            size_bytes: None,
            rotational: None,
            medium: Medium::Unknown,
            file_system: None,
            mount_options: None,
            link: None,
            logical_block_bytes: None,
            physical_block_bytes: None,
            direct_alignment_bytes: None,
            scheduler: None,
            write_cache: None,
            forces_unit_access: None,
            encrypted_by: None,
            marked_compressed: None,
            copies_on_write: None,
            health: None,
            chain: Vec::new(),
            working_set_bytes,
            asked_size_bytes: None,
            unseen: None,
            engine: String::new(),
            direct: false,
            writable: true,
            state: None,
            notes: Vec::new(),
        }
    }

    /// Returns true if the medium rotates. `None` where the kernel's flag means nothing: virtual disks, servers,
    /// memory.
    pub fn rotates(&self) -> Option<bool> {
        match self.medium {
            Medium::Disk => Some(true),
            Medium::Flash => Some(false),
            Medium::Simulated => self.rotational,
            Medium::Memory | Medium::Network | Medium::UserSpace | Medium::Virtual | Medium::Unknown => None,
        }
    }
}

/// The machine that measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Name of the machine.
    pub name: Option<String>,
    /// Operating system and kernel.
    pub kernel: Option<String>,
    /// The processor's model.
    pub cpu: Option<String>,
    /// Processors that this process may use.
    pub cpus: Option<u32>,
    /// Memory in all.
    pub memory_bytes: Option<u64>,
    /// True if the machine ran on battery when the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_battery: Option<bool>,
    /// Power-saving settings: `governor powersave, PCIe links powersave`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<String>,
    /// The hypervisor, where there is one.
    pub virtualization: Option<String>,
    /// The clock that times requests: `tsc`, `clock_gettime`, `virtual`.
    pub clock: Option<String>,
    /// Largest rates of the generator, by engine and block size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Ceiling>,
}

/// Largest rate of the generator with one worker, measured without the storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The engine, with its options.
    pub engine: String,
    /// Bytes of one request.
    pub block_size_bytes: u64,
    /// Requests a second against nothing: the loop's own cost.
    pub null_iops: f64,
    /// Requests a second against a file in the page cache; `None` where there was no place for one.
    pub cached_iops: Option<f64>,
    /// Processor time in user mode for one request against nothing.
    pub user_ns_per_io: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rotates_is_known_of_a_disk_only_and_not_of_a_guest_s() {
        let of =
            |medium, rotational| Device { medium, rotational, ..Device::unknown("file", 1 << 30) }.rotates();
        assert_eq!(of(Medium::Disk, Some(true)), Some(true));
        assert_eq!(of(Medium::Simulated, Some(true)), Some(true));
        assert_eq!(of(Medium::Flash, Some(false)), Some(false));
        // virtio's flag is 1 unless the host was told otherwise.
        assert_eq!(of(Medium::Virtual, Some(true)), None);
        assert_eq!(of(Medium::Network, Some(true)), None);
        assert_eq!(of(Medium::Memory, Some(true)), None);
    }
}
