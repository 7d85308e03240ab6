//! Log pages of an NVMe controller, asked of it by the kernel's ioctl. Only root may ask.

use std::{fs::File, io, os::fd::AsRawFd};

use super::{BlockDevice, System};

/// `NVME_IOCTL_ADMIN_CMD` of linux/nvme_ioctl.h: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN: u64 = 0xc048_4e41;
/// "Get Log Page" of the NVMe base specification.
const GET_LOG_PAGE: u8 = 0x02;
/// A controller that answers no admin command within a second is asked nothing more.
const TIMEOUT_MS: u32 = 1000;
/// For pages of the whole controller.
pub(crate) const EVERY_NAMESPACE: u32 = u32::MAX;

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

/// An open controller.
#[derive(Debug)]
pub(crate) struct Controller {
    node: File,
}

impl Controller {
    /// Opens the controller of an NVMe drive; `None` for other drives, and without the permission.
    pub(crate) fn open(system: &System, disk: &BlockDevice) -> Option<Self> {
        Self::try_open(system, &node(disk)?).ok()
    }

    /// Opens a controller by its name in `/dev`.
    pub(crate) fn try_open(system: &System, name: &str) -> io::Result<Self> {
        Ok(Self { node: File::open(system.path(format!("/dev/{name}")))? })
    }

    /// Reads a log page; `None` where the controller has no such page.
    pub(crate) fn page<const BYTES: usize>(&self, number: u8, namespace: u32) -> Option<Box<[u8; BYTES]>> {
        const { assert!(BYTES.is_multiple_of(4) && BYTES <= 1 << 16) };
        let mut page = Box::new([0; BYTES]);
        let words = BYTES as u32 / 4;
        let mut command = Command {
            opcode: GET_LOG_PAGE,
            namespace,
            address: page.as_mut_ptr() as u64,
            data_length: BYTES as u32,
            words_10_15: [u32::from(number) | (words - 1) << 16, 0, 0, 0, 0, 0],
            timeout_ms: TIMEOUT_MS,
            ..Command::default()
        };
        const { assert!(std::mem::size_of::<Command>() == 0x48) };
        // SAFETY: the request reads and writes one nvme_admin_cmd, which `command` is, and the bytes of `page` that it
        // points to, which outlive the call; the command reads a log and changes nothing. On other nodes it fails with
        // ENOTTY.
        let result = unsafe { libc::ioctl(self.node.as_raw_fd(), ADMIN as _, &raw mut command) };
        (result == 0).then_some(page)
    }
}

/// Name of the controller in `/dev`: `nvme0` of `/sys/devices/../nvme/nvme0/nvme0n1`.
pub(crate) fn node(disk: &BlockDevice) -> Option<String> {
    let name = disk.folder().parent()?.file_name()?.to_str()?;
    let number = name.strip_prefix("nvme")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake;

    #[test]
    fn only_an_nvme_drive_has_a_controller_to_ask() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "pci/nvme/nvme3/nvme3n1", "259:0", &[]);
        fake::device(root.path(), "pci/virtio1/block/vda", "254:0", &[]);
        let system = System::at(root.path());
        let of = |name: &str| BlockDevice::by_name(&system, name).unwrap();
        assert_eq!(node(&of("nvme3n1")).as_deref(), Some("nvme3"));
        assert_eq!(node(&of("vda")), None);
        // Its node is not there, or may not be opened.
        assert!(Controller::open(&system, &of("nvme3n1")).is_none());
    }

    #[test]
    fn a_node_that_is_no_controller_answers_nothing() {
        let null = Controller { node: File::open("/dev/null").unwrap() };
        assert!(null.page::<512>(0x02, EVERY_NAMESPACE).is_none());
    }
}
