//! What control groups allow this process to move: version 1 `blkio.throttle`, version 2 `io.max`.
//!
//! A container's limit looks like a slow device to everything inside, so it is read where it is set: in the group
//! of this process and, in version 2, in every group above it. (In version 1 the throttle is flat unless the
//! hierarchy was mounted "sane": kernel documentation, cgroup-v1/blkio-controller.) A container sees only its own
//! part of the tree; a limit that lies above stays unseen, and so does one that a hypervisor sets.

use std::path::{Path, PathBuf};

use iosonde_model::{Absence, Device, IoLimit, Op};

use crate::platform::linux::{BlockDevice, DeviceNumber, Mount, System, folder, group_of, mounts};

/// The files of version 1, one a direction and a unit.
const THROTTLES: [(&str, Op, bool); 4] = [
    ("blkio.throttle.read_iops_device", Op::Read, false),
    ("blkio.throttle.write_iops_device", Op::Write, false),
    ("blkio.throttle.read_bps_device", Op::Read, true),
    ("blkio.throttle.write_bps_device", Op::Write, true),
];

/// Where control groups are mounted, and the devices below the target.
#[derive(Debug)]
pub(super) struct IoLimits {
    system: System,
    mounts: Vec<Mount>,
    devices: Vec<(DeviceNumber, String)>,
}

/// The groups that this process is in.
struct Groups {
    /// Folder of our group in the version 1 hierarchy.
    throttle: Option<PathBuf>,
    /// Folders of our group and of those above it in the version 2 hierarchy.
    unified: Vec<PathBuf>,
}

impl IoLimits {
    pub(super) fn open(system: &System, device: &Device) -> Result<Self, Absence> {
        let whole = |name: &String| Some(BlockDevice::by_name(system, name)?.whole());
        let mut devices: Vec<_> = device.chain.iter().filter_map(whole).map(|d| (d.number, d.name)).collect();
        devices.sort_unstable();
        devices.dedup();
        let mut mounts = mounts(system);
        mounts.retain(|mount| mount.file_system.starts_with("cgroup"));
        let limits = Self { system: system.clone(), mounts, devices };
        let groups = limits.groups()?;
        if groups.throttle.is_none() && groups.unified.is_empty() {
            return Err(Absence::NoControlGroups);
        }
        Ok(limits)
    }

    /// The groups of this process now: it may be moved to another one while a run goes on.
    fn groups(&self) -> Result<Groups, Absence> {
        let groups = self.system.text("/proc/self/cgroup").ok_or(Absence::ControlGroupsUnreadable)?;
        let throttle = group_of(&groups, |controllers| controllers.split(',').any(|name| name == "blkio"));
        let throttle = throttle.and_then(|group| {
            let blkio = |mount: &&Mount| mount.file_system == "cgroup" && mount.option("blkio").is_some();
            Some(self.system.path(folder(self.mounts.iter().find(blkio)?, group)))
        });
        let unified = group_of(&groups, str::is_empty).and_then(|group| {
            let mount = self.mounts.iter().find(|mount| mount.file_system == "cgroup2")?;
            let folders = folder(mount, group);
            let above = folders.ancestors().take_while(|folder| folder.starts_with(&mount.at));
            Some(above.map(|folder| self.system.path(folder)).collect())
        });
        Ok(Groups { throttle, unified: unified.unwrap_or_default() })
    }

    /// Every limit that holds now. A file that is not there sets none; one that may not be read may set any.
    pub(super) fn now(&self) -> Result<Vec<IoLimit>, Absence> {
        let (groups, mut limits) = (self.groups()?, Vec::new());
        for (name, op, bytes) in THROTTLES {
            let Some(file) = groups.throttle.as_ref().map(|folder| folder.join(name)) else { continue };
            for (number, value) in lines(&file)?.iter().filter_map(|line| throttle_line(line)) {
                limits.extend(self.limit(&file, number, op, bytes, value));
            }
        }
        for file in groups.unified.iter().map(|folder| folder.join("io.max")) {
            for (number, op, bytes, value) in lines(&file)?.iter().flat_map(|line| max_line(line)) {
                limits.extend(self.limit(&file, number, op, bytes, value));
            }
        }
        Ok(limits)
    }

    fn limit(&self, file: &Path, number: DeviceNumber, op: Op, bytes: bool, value: f64) -> Option<IoLimit> {
        let (_, device) = self.devices.iter().find(|(known, _)| *known == number)?;
        Some(IoLimit {
            set_by: file.display().to_string(),
            device: device.clone(),
            op,
            iops: (!bytes).then_some(value),
            bytes_per_s: bytes.then_some(value),
        })
    }
}

fn lines(file: &Path) -> Result<Vec<String>, Absence> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => {
            Err(Absence::LimitUnreadable { path: file.display().to_string(), errno: error.raw_os_error() })
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
fn max_line(line: &str) -> Vec<(DeviceNumber, Op, bool, f64)> {
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
        Some((number, op, bytes, value.parse::<u64>().ok()? as f64))
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
        let limits = IoLimits::open(&system, &on_vda()).unwrap();
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
