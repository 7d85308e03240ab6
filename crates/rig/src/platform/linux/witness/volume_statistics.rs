//! What the controller of a volume in AWS counts: for how long requests exceeded the limits of the volume and of the
//! instance, and how long they took without the host.
//!
//! The vendor's log page 0xD0 of the NVMe controller, as AWS documents it for EBS volumes and for instance store
//! volumes ("Amazon EBS detailed performance statistics"). Drives of other vendors are not asked: a page that a drive
//! does not have counts as an error in its log. Asking costs one admin command, and needs root.

use iosonde_model::{Absence, Counter, Device, VolumeStatistics};

use crate::platform::linux::{BlockDevice, Controller, System, controller_node};
use crate::witness::grown;

const PAGE: u8 = 0xd0;
/// The counters; a histogram for each size of request follows.
const PAGE_BYTES: usize = 4096;
/// First four bytes of the page: an EBS volume, or an instance store volume.
const EBS: u32 = 0x3c23_b510;
const INSTANCE_STORE: u32 = 0xec2c_0d7e;
/// Models of the drives that have the page.
const MODELS: [&str; 2] = ["Amazon Elastic Block Store", "Amazon EC2 NVMe Instance Storage"];

/// An open controller that has the page.
#[derive(Debug)]
pub(super) struct VolumeCounters {
    controller: Controller,
    namespace: u32,
    name: String,
}

/// Counters since the volume was attached; times in microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    has_volume_limits: bool,
    ops: [u64; 2],
    time_us: [u64; 2],
    volume_iops_us: u64,
    volume_throughput_us: u64,
    instance_iops_us: u64,
    instance_throughput_us: u64,
}

impl VolumeCounters {
    /// Opens the controller below a target; `None` where the disk is none of these volumes.
    pub(super) fn open(system: &System, device: &Device) -> Option<Result<Self, Absence>> {
        let disk = BlockDevice::by_name(system, device.name.as_deref()?)?.whole();
        let model = disk.attribute("device/model")?;
        if !MODELS.contains(&model.trim()) {
            return None;
        }
        let (node, namespace) = (controller_node(&disk)?, namespace(&disk.name)?);
        let absent = |errno| Absence::Unreadable { path: format!("/dev/{node}"), errno };
        let opened = Controller::try_open(system, &node).map_err(|error| absent(error.raw_os_error()));
        Some(opened.and_then(|controller| {
            let counters = Self { controller, namespace, name: disk.name.clone() };
            if counters.page().is_some() { Ok(counters) } else { Err(absent(None)) }
        }))
    }

    pub(super) fn page(&self) -> Option<Page> {
        parse(&*self.controller.page::<PAGE_BYTES>(PAGE, self.namespace)?)
    }

    /// What was counted since an earlier page.
    pub(super) fn since(&self, before: Option<&Page>) -> Result<VolumeStatistics, Absence> {
        statistics(before, self.page().as_ref(), &self.name)
    }
}

/// 1 of `nvme0n1`.
fn namespace(name: &str) -> Option<u32> {
    name.rsplit_once('n')?.1.parse().ok()
}

fn parse(page: &[u8; PAGE_BYTES]) -> Option<Page> {
    let magic = u32::from_le_bytes(page[..4].try_into().expect("four bytes"));
    // After the magic and a version: eleven counters of eight bytes.
    let counter = |place: usize| {
        let at = 8 + 8 * place;
        u64::from_le_bytes(page[at..at + 8].try_into().expect("eight bytes"))
    };
    matches!(magic, EBS | INSTANCE_STORE).then(|| Page {
        has_volume_limits: magic == EBS,
        // Between them lie the bytes of either direction.
        ops: [counter(0), counter(1)],
        time_us: [counter(4), counter(5)],
        volume_iops_us: counter(6),
        volume_throughput_us: counter(7),
        instance_iops_us: counter(8),
        instance_throughput_us: counter(9),
    })
}

fn statistics(before: Option<&Page>, after: Option<&Page>, name: &str) -> Result<VolumeStatistics, Absence> {
    let since = |of: fn(&Page) -> u64| {
        grown(Counter::VolumeStatistics, name, before.map(of), after.map(of)).map(|grown| grown as f64)
    };
    let seconds = |of: fn(&Page) -> u64| since(of).map(|us| us / 1e6);
    let latency_ns = |ops: f64, time_us: f64| (ops > 0.0).then(|| time_us * 1e3 / ops);
    let of_volume = after.is_some_and(|page| page.has_volume_limits);
    let volume_iops_s = seconds(|page| page.volume_iops_us)?;
    let volume_throughput_s = seconds(|page| page.volume_throughput_us)?;
    Ok(VolumeStatistics {
        volume_iops_exceeded_s: of_volume.then_some(volume_iops_s),
        volume_throughput_exceeded_s: of_volume.then_some(volume_throughput_s),
        instance_iops_exceeded_s: seconds(|page| page.instance_iops_us)?,
        instance_throughput_exceeded_s: seconds(|page| page.instance_throughput_us)?,
        read_latency_ns_mean: latency_ns(since(|page| page.ops[0])?, since(|page| page.time_us[0])?),
        write_latency_ns_mean: latency_ns(since(|page| page.ops[1])?, since(|page| page.time_us[1])?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake;

    /// A page as AWS lays it out: reads, writes, bytes read, bytes written, time of reads, time of writes, the four
    /// limits, and the queue.
    fn page(magic: u32, counters: [u64; 11]) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        page[..4].copy_from_slice(&magic.to_le_bytes());
        for (place, counter) in counters.iter().enumerate() {
            page[8 + 8 * place..16 + 8 * place].copy_from_slice(&counter.to_le_bytes());
        }
        page
    }

    #[test]
    fn the_time_at_each_limit_is_the_difference_of_two_pages() {
        let first = [1000, 500, 4_096_000, 2_048_000, 700_000, 400_000, 2_000_000, 0, 0, 7, 3];
        let later = [3000, 500, 12_288_000, 2_048_000, 1_900_000, 400_000, 3_500_000, 250_000, 0, 7, 32];
        let of = |magic, counters| parse(&page(magic, counters));
        let told = statistics(of(EBS, first).as_ref(), of(EBS, later).as_ref(), "nvme1n1");
        let expected = VolumeStatistics {
            volume_iops_exceeded_s: Some(1.5),
            volume_throughput_exceeded_s: Some(0.25),
            instance_iops_exceeded_s: 0.0,
            instance_throughput_exceeded_s: 0.0,
            // 1.2 s over 2,000 reads.
            read_latency_ns_mean: Some(600_000.0),
            write_latency_ns_mean: None,
        };
        assert_eq!(told, Ok(expected));
        let own = statistics(
            of(INSTANCE_STORE, first).as_ref(),
            of(INSTANCE_STORE, [3000, 500, 0, 0, 1_900_000, 400_000, 2_000_000, 0, 1_000_000, 7, 0]).as_ref(),
            "nvme1n1",
        )
        .unwrap();
        assert_eq!((own.volume_iops_exceeded_s, own.instance_iops_exceeded_s), (None, 1.0));
        // A volume that was attached anew counts from 0.
        let again = statistics(of(EBS, later).as_ref(), of(EBS, first).as_ref(), "nvme1n1");
        assert!(matches!(again, Err(Absence::WentBackwards { .. })), "{again:?}");
        assert!(matches!(statistics(None, None, "nvme1n1"), Err(Absence::NotReadTwice { .. })));
    }

    #[test]
    fn another_page_is_none() {
        assert_eq!(parse(&page(0x1234_5678, [1; 11])), None);
    }

    #[test]
    fn only_volumes_of_aws_are_asked() {
        let root = tempfile::tempdir().unwrap();
        let model = |name| [("device/model", name)];
        fake::device(root.path(), "pci/nvme/nvme1/nvme1n1", "259:0", &model("Amazon Elastic Block Store"));
        fake::device(root.path(), "pci/nvme/nvme2/nvme2n1", "259:1", &model("Another Drive"));
        let system = System::at(root.path());
        let open = |name: &str| {
            VolumeCounters::open(&system, &Device { name: Some(name.into()), ..Device::unknown("block", 0) })
        };
        assert!(open("nvme2n1").is_none());
        // Its controller is not there to be asked, or not by this user.
        let why = open("nvme1n1").unwrap().unwrap_err();
        assert!(matches!(&why, Absence::Unreadable { path, .. } if path == "/dev/nvme1"), "{why:?}");
        assert_eq!((namespace("nvme1n1"), namespace("nvme12n3")), (Some(1), Some(3)));
    }
}
