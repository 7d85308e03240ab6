//! What is measured, and on what machine: facts read before a run, absent as `None`.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{DeviceNote, HostLayout};

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

/// Sign that the tracks of a rotating disk overlap (shingled recording, SMR): random writes are kept in a part of the
/// disk and moved later, and become very slow where that part is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shingled {
    /// The kernel shows its zones (`host-aware` or `host-managed`).
    Zones,
    /// It takes trims, which only disks do that move data themselves. Not proved by this alone.
    Trims,
}

/// Layer between this system and the medium that hides it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HidingLayer {
    /// Server of a network file system, with its cache.
    Server,
    /// Host that shares a folder with this virtual machine, with its cache.
    SharingHost,
    /// Host of this virtual machine, with its cache.
    VirtualMachineHost,
    /// File system in user space.
    UserSpaceFileSystem,
    /// Words of a run that was kept before layers had names.
    #[serde(untagged)]
    Other(String),
}

/// Reads the layers; runs that were kept before layers had names hold words or `null`.
fn layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HidingLayer>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept {
        Layers(Vec<HidingLayer>),
        Words(Option<String>),
    }
    Ok(match Kept::deserialize(deserializer)? {
        Kept::Layers(layers) => layers,
        Kept::Words(words) => words.into_iter().map(HidingLayer::Other).collect(),
    })
}

/// A cache of this machine below the target, which direct I/O to the target does not bypass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CacheBelow {
    /// A loop device whose file is buffered.
    Loop {
        /// The loop device: `loop0`.
        device: String,
        /// Its backing file, as the kernel gives the path.
        file: String,
    },
    /// A volume of ZFS, whose reads its cache in memory (ARC) serves unless `primarycache` forbids it.
    ZfsVolume {
        /// The volume: `zd0`.
        device: String,
    },
    /// A volume that keeps parts of a slower device on a faster one.
    Tier {
        /// The volume: `bcache0`, `dm-3`.
        device: String,
        /// The kernel's mechanism: `bcache`, `dm-cache`.
        mechanism: String,
    },
}

impl CacheBelow {
    /// Returns true if all requests pass the page cache of this machine.
    pub fn is_page_cache(&self) -> bool {
        matches!(self, Self::Loop { .. })
    }
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
    /// Sign of shingled recording, of a rotating disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shingled: Option<Shingled>,
    /// Storage medium.
    pub medium: Medium,
    /// `ext4`, `tmpfs`, `nfs4`; `None` on a bare device.
    pub file_system: Option<String>,
    /// Mount options, as mounted.
    pub mount_options: Option<String>,
    /// `PCIe 4.0 x4`, `SATA 6 Gb/s`, `virtio`.
    pub link: Option<String>,
    /// Link that the drive and its slot could have, where the one in use is slower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faster_link: Option<FasterLink>,
    /// Requests that the kernel's queue of the device holds (`nr_requests`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_requests: Option<u64>,
    /// Bytes by which a partition's beginning misses the unit that the disk writes whole; 0 where it is aligned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misaligned_bytes: Option<u64>,
    /// Unit in which the file system gives space to files: its block, or cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_unit_bytes: Option<u64>,
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
    /// Caches of this machine among them, which direct I/O to the target does not bypass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches_below: Vec<CacheBelow>,
    /// Bytes of the file or device that were prepared and may be addressed.
    pub working_set_bytes: u64,
    /// Requested bytes, where the working set is smaller.
    pub asked_size_bytes: Option<u64>,
    /// Layers between this system and the medium that hide it; empty where none is known.
    #[serde(default, deserialize_with = "layers")]
    pub unseen: Vec<HidingLayer>,
    /// The engine that measures, and why if another was wanted.
    pub engine: String,
    /// True if direct I/O is used.
    pub direct: bool,
    /// True if writing is allowed.
    pub writable: bool,
    /// Hosts that measure it at the same time, where there are several: each point is made by all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Layout of the data of hosts and workers: `file-per-host`, `file-per-worker`, `shared-segmented`,
    /// `shared-strided` or `shared`; `null` for one host without `--layout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<HostLayout>,
    /// Files of each host, where each worker has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_files: Option<u32>,
    /// True if reads go to data that another host wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rotated: bool,
    /// True if workloads may create files of their own there.
    #[serde(default)]
    pub new_files: bool,
    /// State of the storage: `steady` where it was brought to its steady state; `None` where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Notes on the measurement that a reader must know: direct I/O not available, engine fell back, ..
    pub notes: Vec<DeviceNote>,
}

/// A link that both of its ends could have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FasterLink {
    /// The link: `PCIe 4.0 x4`.
    pub link: String,
    /// Its bytes per second over those of the link in use.
    pub times: f64,
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
    /// Bytes of the storage; of the drive that a smaller simulated one stands for.
    pub fn whole_bytes(&self) -> Option<u64> {
        let scaled = self.notes.iter().find_map(|note| match note {
            DeviceNote::SimulatedSmaller { whole_bytes, .. } => Some(*whole_bytes),
            _ => None,
        });
        scaled.or(self.size_bytes)
    }

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
            shingled: None,
            medium: Medium::Unknown,
            file_system: None,
            mount_options: None,
            link: None,
            faster_link: None,
            queue_requests: None,
            misaligned_bytes: None,
            allocation_unit_bytes: None,
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
            caches_below: Vec::new(),
            working_set_bytes,
            asked_size_bytes: None,
            unseen: Vec::new(),
            engine: String::new(),
            direct: false,
            writable: true,
            hosts: None,
            layout: None,
            worker_files: None,
            rotated: false,
            new_files: ["directory", "simulated"].contains(&kind),
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
    /// True if one of them tells processors or links to save power at the cost of speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_power: Option<bool>,
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
    fn layers_have_names_and_words_kept_earlier_are_read() {
        let read = |unseen: &str| {
            let mut device = serde_json::to_value(Device::unknown("file", 0)).unwrap();
            device["unseen"] = serde_json::from_str(unseen).unwrap();
            serde_json::from_value::<Device>(device).unwrap().unseen
        };
        let layers = [HidingLayer::Server, HidingLayer::VirtualMachineHost];
        let text = serde_json::to_string(&layers).unwrap();
        assert_eq!(text, r#"["server","virtual-machine-host"]"#);
        assert_eq!(read(&text), layers);
        assert_eq!(read("null"), []);
        assert_eq!(read("\"the server's cache\""), [HidingLayer::Other("the server's cache".into())]);
    }

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
