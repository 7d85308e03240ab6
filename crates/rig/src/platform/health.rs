//! What an NVMe drive says of its own health: the SMART page, asked of its controller. Only root may ask.

use std::{fs::File, os::fd::AsRawFd};

use iosonde_model::Health;

use super::{BlockDevice, System};

/// `NVME_IOCTL_ADMIN_CMD` of linux/nvme_ioctl.h: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN: u64 = 0xc048_4e41;
/// "Get Log Page" and the page's number, of the NVMe base specification.
const GET_LOG_PAGE: u8 = 0x02;
const SMART: u32 = 0x02;
const PAGE_BYTES: usize = 512;
/// A controller that answers no admin command within a second is asked nothing more.
const TIMEOUT_MS: u32 = 1000;
/// Meanings of the bits of the first byte (critical warning).
const WARNINGS: [&str; 6] = [
    "its spare blocks are nearly used up",
    "it is too hot or too cold",
    "it is no longer reliable",
    "it takes no more writes",
    "the backup of its volatile memory failed",
    "its persistent memory became unreliable",
];
/// A data unit of the page: 1,000 times 512 bytes.
const UNIT_BYTES: f64 = 512_000.0;

/// `struct nvme_admin_cmd`.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Health of an NVMe drive; `None` for other drives, and without the permission to ask.
pub(super) fn health(system: &System, disk: &BlockDevice) -> Option<Health> {
    let controller = controller(disk)?;
    let node = File::open(system.path(format!("/dev/{controller}"))).ok()?;
    Some(parse(&*page(&node)?))
}

/// `nvme0` of `/sys/devices/../nvme/nvme0/nvme0n1`.
fn controller(disk: &BlockDevice) -> Option<String> {
    let name = disk.folder().parent()?.file_name()?.to_str()?;
    let number = name.strip_prefix("nvme")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| name.to_owned())
}

fn page(node: &File) -> Option<Box<[u8; PAGE_BYTES]>> {
    let mut page = Box::new([0; PAGE_BYTES]);
    let words = PAGE_BYTES as u32 / 4;
    let mut command = Command {
        opcode: GET_LOG_PAGE,
        namespace: u32::MAX,
        address: page.as_mut_ptr() as u64,
        data_length: PAGE_BYTES as u32,
        words_10_15: [SMART | (words - 1) << 16, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..Command::default()
    };
    const { assert!(std::mem::size_of::<Command>() == 0x48) };
    // SAFETY: the request reads and writes one nvme_admin_cmd, which `command` is, and the 512 bytes that it points to,
    // which outlive the call; the command reads a log and changes nothing. On other nodes it fails with ENOTTY.
    let result = unsafe { libc::ioctl(node.as_raw_fd(), ADMIN as _, &raw mut command) };
    (result == 0).then_some(page)
}

fn parse(page: &[u8; PAGE_BYTES]) -> Health {
    // Sixteen bytes, of which a drive of this century fills half.
    let long = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().expect("eight bytes"));
    let minutes = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
    let warns = |bit: &usize| page[0] & (1 << bit) != 0;
    Health {
        warnings: (0..WARNINGS.len()).filter(warns).map(|bit| WARNINGS[bit].to_owned()).collect(),
        spare_share: f64::from(page[3]) / 100.0,
        used_share: f64::from(page[5]) / 100.0,
        written_bytes: long(48) as f64 * UNIT_BYTES,
        media_errors: long(160),
        too_hot_s: f64::from(minutes(192).saturating_add(minutes(196))) * 60.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::fake;

    #[test]
    fn a_page_as_the_specification_lays_it_out() {
        let mut page = [0; PAGE_BYTES];
        (page[0], page[3], page[5]) = (0b0101, 4, 103);
        page[48..56].copy_from_slice(&2_000u64.to_le_bytes());
        page[160] = 7;
        (page[192], page[196]) = (10, 2);
        let health = parse(&page);
        assert_eq!(health.warnings, ["its spare blocks are nearly used up", "it is no longer reliable"]);
        assert_eq!((health.spare_share, health.used_share, health.media_errors), (0.04, 1.03, 7));
        assert_eq!((health.written_bytes, health.too_hot_s), (1.024e9, 720.0));
    }

    #[test]
    fn only_an_nvme_drive_has_a_controller_to_ask() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "pci/nvme/nvme3/nvme3n1", "259:0", &[]);
        fake::device(root.path(), "pci/virtio1/block/vda", "254:0", &[]);
        let system = System::at(root.path());
        let of = |name: &str| BlockDevice::by_name(&system, name).unwrap();
        assert_eq!(controller(&of("nvme3n1")).as_deref(), Some("nvme3"));
        assert_eq!(controller(&of("vda")), None);
        // Its node is not there, or may not be opened.
        assert_eq!(health(&system, &of("nvme3n1")), None);
    }

    #[test]
    fn a_node_that_is_no_controller_answers_nothing() {
        assert!(page(&File::open("/dev/null").unwrap()).is_none());
    }
}
