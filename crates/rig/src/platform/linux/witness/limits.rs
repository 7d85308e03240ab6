//! What control groups allow this process to move: version 1 `blkio.throttle`, version 2 `io.max`.
//!
//! A container's limit looks like a slow device to everything inside, so it is read where it is set: in the group
//! of this process and, in version 2, in every group above it. (In version 1 the throttle is flat unless the
//! hierarchy was mounted "sane": kernel documentation, cgroup-v1/blkio-controller.) A container sees only its own
//! part of the tree; a limit that lies above stays unseen, and so does one that a hypervisor sets.

use std::{
    fs::File,
    io::{self, ErrorKind},
    os::unix::fs::FileExt,
    path::PathBuf,
};

use iosonde_model::{Absence, Device, IoLimit, Op};

use crate::platform::linux::{BlockDevice, DeviceNumber, Mount, System, folder, group_of, mounts};

/// The files of version 1, one a direction and a unit.
const THROTTLES: [(&str, Op, bool); 4] = [
    ("blkio.throttle.read_iops_device", Op::Read, false),
    ("blkio.throttle.write_iops_device", Op::Write, false),
    ("blkio.throttle.read_bps_device", Op::Read, true),
    ("blkio.throttle.write_bps_device", Op::Write, true),
];

/// Where control groups are mounted, and the devices below the target. Files stay open: twelve were opened around each
/// trial, for which the other hosts of a run wait.
#[derive(Debug)]
pub(super) struct IoLimits {
    system: System,
    mounts: Vec<Mount>,
    devices: Vec<(DeviceNumber, String)>,
    /// `/proc/self/cgroup`, and its text when `files` were those of our groups.
    groups: File,
    known: String,
    files: Vec<LimitFile>,
}

/// A file that may set limits.
#[derive(Debug)]
struct LimitFile {
    path: PathBuf,
    form: Form,
    /// `None` while it is not there.
    open: Option<File>,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    /// Version 1: of these requests, in bytes (or requests) a second.
    Throttle(Op, bool),
    /// Version 2.
    Max,
}

impl IoLimits {
    pub(super) fn open(system: &System, device: &Device) -> Result<Self, Absence> {
        let whole = |name: &String| Some(BlockDevice::by_name(system, name)?.whole());
        let mut devices: Vec<_> = device.chain.iter().filter_map(whole).map(|d| (d.number, d.name)).collect();
        devices.sort_unstable();
        devices.dedup();
        let mut mounts = mounts(system);
        mounts.retain(|mount| mount.file_system.starts_with("cgroup"));
        let unreadable = |_| Absence::ControlGroupsUnreadable;
        let groups = File::open(system.path("/proc/self/cgroup")).map_err(unreadable)?;
        let known = text_of(&groups).map_err(unreadable)?;
        let mut limits = Self { system: system.clone(), mounts, devices, groups, known, files: Vec::new() };
        limits.files = limits.files_of(&limits.known);
        if limits.files.is_empty() {
            return Err(Absence::NoControlGroups);
        }
        Ok(limits)
    }

    /// The files of our group in the hierarchy of version 1, and of our group and those above it in that of version 2.
    fn files_of(&self, groups: &str) -> Vec<LimitFile> {
        let throttle = group_of(groups, |controllers| controllers.split(',').any(|name| name == "blkio"));
        let throttle = throttle.and_then(|group| {
            let blkio = |mount: &&Mount| mount.file_system == "cgroup" && mount.option("blkio").is_some();
            Some(self.system.path(folder(self.mounts.iter().find(blkio)?, group)))
        });
        let throttle = throttle.into_iter().flat_map(|folder| {
            THROTTLES.map(|(name, op, bytes)| (folder.join(name), Form::Throttle(op, bytes)))
        });
        let unified = self.mounts.iter().find(|mount| mount.file_system == "cgroup2").into_iter();
        let unified =
            unified.filter_map(|mount| Some((mount, folder(mount, group_of(groups, str::is_empty)?))));
        let unified = unified.flat_map(|(mount, folder)| {
            let above = folder.ancestors().take_while(|folder| folder.starts_with(&mount.at));
            above.map(|folder| (self.system.path(folder).join("io.max"), Form::Max)).collect::<Vec<_>>()
        });
        throttle.chain(unified).map(|(path, form)| LimitFile { path, form, open: None }).collect()
    }

    /// Every limit that holds now. A file that is not there sets none; one that may not be read may set any. This
    /// process may be moved to another group while a run goes on.
    pub(super) fn now(&mut self) -> Result<Vec<IoLimit>, Absence> {
        let groups = text_of(&self.groups).map_err(|_| Absence::ControlGroupsUnreadable)?;
        if groups != self.known {
            self.files = self.files_of(&groups);
            self.known = groups;
        }
        let mut limits = Vec::new();
        for file in &mut self.files {
            let path = file.path.display().to_string();
            let text = match file.text() {
                Ok(text) => text,
                Err(error) => return Err(Absence::LimitUnreadable { path, errno: error.raw_os_error() }),
            };
            let set = text.lines().flat_map(|line| file.form.limits(line)).filter_map(|set| {
                let Set { number, op, bytes, value } = set;
                let (_, device) = self.devices.iter().find(|(known, _)| *known == number)?;
                Some(IoLimit {
                    set_by: path.clone(),
                    device: device.clone(),
                    op,
                    iops: (!bytes).then_some(value),
                    bytes_per_s: bytes.then_some(value),
                })
            });
            limits.extend(set);
        }
        Ok(limits)
    }
}

impl LimitFile {
    /// Its text now; empty where there is no such file.
    fn text(&mut self) -> io::Result<String> {
        if self.open.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.open = Some(file),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
                Err(error) => return Err(error),
            }
        }
        let text = self.open.as_ref().map_or(Ok(String::new()), text_of);
        if text.is_err() {
            self.open = None;
        }
        text
    }
}

/// All of a file's text now, which the kernel makes anew at offset 0. Of many devices it is longer than a page.
fn text_of(file: &File) -> io::Result<String> {
    let (mut text, mut page) = (Vec::new(), [0; 4096]);
    loop {
        let length = file.read_at(&mut page, text.len() as u64)?;
        if length == 0 {
            return String::from_utf8(text).map_err(|_| ErrorKind::InvalidData.into());
        }
        text.extend_from_slice(&page[..length]);
    }
}

/// A limit in a file.
struct Set {
    number: DeviceNumber,
    op: Op,
    /// Whether `value` is in bytes a second; otherwise in requests a second.
    bytes: bool,
    value: f64,
}

impl Form {
    fn limits(self, line: &str) -> Vec<Set> {
        match self {
            Self::Throttle(op, bytes) => {
                let set = throttle_line(line).map(|(number, value)| Set { number, op, bytes, value });
                set.into_iter().collect()
            }
            Self::Max => max_line(line),
        }
    }
}

/// `254:0 2000`.
fn throttle_line(line: &str) -> Option<(DeviceNumber, f64)> {
    let (number, value) = line.split_once(' ')?;
    let value: u64 = value.trim().parse().ok()?;
    Some((number.parse().ok()?, value as f64))
}

/// `254:0 rbps=1048576 wbps=max riops=max wiops=100`.
fn max_line(line: &str) -> Vec<Set> {
    let mut words = line.split_whitespace();
    let Some(number) = words.next().and_then(|word| word.parse().ok()) else { return Vec::new() };
    let entry = |word: &str| {
        let (key, value) = word.split_once('=')?;
        let (op, bytes) = match key {
            "rbps" => (Op::Read, true),
            "wbps" => (Op::Write, true),
            "riops" => (Op::Read, false),
            "wiops" => (Op::Write, false),
            _ => return None,
        };
        // `max` is no number, and no limit.
        Some(Set { number, op, bytes, value: value.parse::<u64>().ok()? as f64 })
    };
    words.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake;
    use proptest::prelude::*;
    use std::fs;

    fn tree(groups: &str, mountinfo: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "virtio1/vda", "254:0", &[]);
        let all = [("proc/self/cgroup", groups), ("proc/self/mountinfo", mountinfo)];
        for (file, text) in all.iter().chain(files) {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let system = System::at(root.path());
        (root, system)
    }

    fn on_vda() -> Device {
        Device { chain: vec!["vda".into()], ..Device::unknown("file", 0) }
    }

    #[test]
    fn version_1_limits_of_our_own_group() {
        let (_root, system) = tree(
            "7:blkio:/box/inner\n0::/\n",
            "1 0 0:30 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio",
            &[
                ("sys/fs/cgroup/blkio/box/inner/blkio.throttle.read_iops_device", "254:0 2000\n8:0 5\n"),
                ("sys/fs/cgroup/blkio/box/inner/blkio.throttle.write_bps_device", "254:0 1048576\n"),
                ("sys/fs/cgroup/blkio/box/blkio.throttle.read_iops_device", "254:0 10\n"),
            ],
        );
        let limits = IoLimits::open(&system, &on_vda()).unwrap().now().unwrap();
        let seen: Vec<_> = limits.iter().map(|l| (l.device.as_str(), l.op, l.iops, l.bytes_per_s)).collect();
        // Neither the other device's limit nor the flat hierarchy's upper one.
        assert_eq!(
            seen,
            [("vda", Op::Read, Some(2000.0), None), ("vda", Op::Write, None, Some(1_048_576.0))]
        );
        assert!(limits[0].set_by.ends_with("blkio/box/inner/blkio.throttle.read_iops_device"));
    }

    #[test]
    fn version_2_limits_of_every_group_above() {
        let (_root, system) = tree(
            "0::/pods/pod7/app\n",
            // A container sees the tree from /pods/pod7 on.
            "1 0 0:30 /pods/pod7 /sys/fs/cgroup ro - cgroup2 cgroup rw",
            &[
                ("sys/fs/cgroup/io.max", "254:0 rbps=max wbps=max riops=500 wiops=max\n"),
                ("sys/fs/cgroup/app/io.max", "254:0 rbps=1000000 wbps=max riops=max wiops=max\n"),
            ],
        );
        let limits = IoLimits::open(&system, &on_vda()).unwrap().now().unwrap();
        let seen: Vec<_> = limits.iter().map(|limit| (limit.iops, limit.bytes_per_s)).collect();
        assert_eq!(seen, [(None, Some(1_000_000.0)), (Some(500.0), None)]);
    }

    #[test]
    fn a_limit_set_later_and_another_group_are_seen_at_the_next_reading() {
        let mount = "1 0 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw";
        let (root, system) = tree("0::/a\n", mount, &[("sys/fs/cgroup/b/io.max", "254:0 riops=100\n")]);
        let mut limits = IoLimits::open(&system, &on_vda()).unwrap();
        assert_eq!(limits.now(), Ok(Vec::new()));
        fs::create_dir_all(root.path().join("sys/fs/cgroup/a")).unwrap();
        fs::write(root.path().join("sys/fs/cgroup/a/io.max"), "254:0 riops=6000\n").unwrap();
        assert_eq!(limits.now().unwrap()[0].iops, Some(6000.0));
        fs::write(root.path().join("proc/self/cgroup"), "0::/b\n").unwrap();
        assert_eq!(limits.now().unwrap()[0].iops, Some(100.0));
    }

    #[test]
    fn no_groups_are_said_and_no_limit_is_none() {
        let (_root, system) = tree("0::/\n", "", &[]);
        assert_eq!(IoLimits::open(&system, &on_vda()).unwrap_err(), Absence::NoControlGroups);
        let mount = "1 0 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw";
        let (_root, system) = tree("0::/a\n", mount, &[]);
        assert_eq!(IoLimits::open(&system, &on_vda()).unwrap().now(), Ok(Vec::new()));
        // A file that cannot be read as text (here a folder) does not count as no limit.
        let (_root, system) = tree("0::/a\n", mount, &[("sys/fs/cgroup/a/io.max/x", "")]);
        let why = IoLimits::open(&system, &on_vda()).unwrap().now().unwrap_err();
        assert!(
            matches!(&why, Absence::LimitUnreadable { path, .. } if path.ends_with("sys/fs/cgroup/a/io.max")),
            "{why:?}"
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = (throttle_line(&text), max_line(&text), group_of(&text, str::is_empty));
        }
    }
}
