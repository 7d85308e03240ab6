//! What stands behind the loop devices of this machine.

use std::{fs, os::fd::AsRawFd};

use super::inode::Inode;
use crate::platform::linux::{BlockDevice, DeviceNumber, System};

/// A loop device and what it reads and writes.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) device: BlockDevice,
    pub(super) backing: Inode,
}

/// Every loop device that has something behind it which can be identified.
pub(super) fn loops(system: &System) -> Vec<Loop> {
    let in_use = BlockDevice::all(system).into_iter().filter(|device| device.loop_file().is_some());
    in_use.filter_map(|device| Some(Loop { backing: backing(system, &device)?, device })).collect()
}

/// Backing file or device of a loop device. The driver knows the file itself, but only root may ask it. The path in
/// `/sys` is second best: the file may have been renamed or deleted, or belong to another mount namespace.
pub(super) fn backing(system: &System, device: &BlockDevice) -> Option<Inode> {
    let by_driver = fs::File::open(system.path(device.node())).ok().and_then(|node| ask_driver(&node));
    by_driver.or_else(|| {
        let stat = rustix::fs::stat(system.path(device.loop_file()?)).ok()?;
        Some(Inode::of(&stat))
    })
}

/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: u64 = 0x4c05;

/// `struct loop_info64` of linux/loop.h as words: lo_device, lo_inode, lo_rdevice, then 26 that are not
/// needed here (in bytes: 3 * 8 + 2 * 8 + 4 * 4 + 64 + 64 + 32 + 2 * 8 = 232 = 29 * 8).
type LoopInfo = [u64; 29];

fn ask_driver(node: &fs::File) -> Option<Inode> {
    let mut info: LoopInfo = [0; 29];
    // SAFETY: the request writes one loop_info64, for which `info` has exactly the room and the alignment;
    // on any other kind of node it fails with ENOTTY or ENXIO and writes nothing.
    let result = unsafe { libc::ioctl(node.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) };
    let [device, inode, node_device, ..] = info;
    let inode = match node_device {
        0 => Inode::File { device, inode },
        number => Inode::Device(DeviceNumber::of(number)),
    };
    (result == 0).then_some(inode)
}
