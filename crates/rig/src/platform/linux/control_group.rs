//! Where this process's control groups lie, and how much memory they allow.

use std::path::{Path, PathBuf};

use super::{Mount, System, mounts};

/// Our group in the hierarchy of those controllers: lines of `/proc/self/cgroup` are `ID:CONTROLLERS:PATH`.
pub(crate) fn group_of(text: &str, wanted: impl Fn(&str) -> bool) -> Option<&str> {
    text.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        wanted(controllers).then_some(path)
    })
}

/// Where a group's folder lies. A container may have only its own part of the tree mounted.
pub(crate) fn folder(mount: &Mount, group: &str) -> PathBuf {
    let inside = Path::new(group).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    if inside.as_os_str().is_empty() { mount.at.clone() } else { mount.at.join(inside) }
}

/// Returns the memory in bytes that this process may take by the limits of its control groups; `None` without a limit.
/// More is not refused by the kernel: it kills the process.
pub fn memory_limit_bytes(system: &System) -> Option<u64> {
    let groups = system.text("/proc/self/cgroup")?;
    let mounts = mounts(system);
    let above = |mount: &Mount, group: &str, file: &str| -> Option<u64> {
        let folder = folder(mount, group);
        let folders = folder.ancestors().take_while(|folder| folder.starts_with(&mount.at));
        // `max` is none; version 1 says a number of pages that no machine has.
        let limits = folders.filter_map(|folder| system.text(folder.join(file))?.parse().ok());
        limits.filter(|&bytes: &u64| bytes < 1 << 60).min()
    };
    let first = mounts.iter().find(|mount| mount.file_system == "cgroup" && mount.option("memory").is_some());
    let first = first.zip(group_of(&groups, |names| names.split(',').any(|name| name == "memory")));
    let second =
        mounts.iter().find(|mount| mount.file_system == "cgroup2").zip(group_of(&groups, str::is_empty));
    let limits = [
        first.and_then(|(mount, group)| above(mount, group, "memory.limit_in_bytes")),
        second.and_then(|(mount, group)| above(mount, group, "memory.max")),
    ];
    limits.into_iter().flatten().min()
}

/// Memory that this process may use, where less is allowed than there is.
pub fn allowed_memory_bytes() -> Option<u64> {
    memory_limit_bytes(&System::real())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn limit(groups: &str, mount: &str, files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [&[("proc/self/cgroup", groups), ("proc/self/mountinfo", mount)], files].concat()
        {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        memory_limit_bytes(&System::at(root.path()))
    }

    #[test]
    fn the_least_of_a_group_and_those_above_it_holds() {
        let mount = "1 0 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw";
        let files = |inner: &'static str, outer: &'static str| {
            [("sys/fs/cgroup/a/b/memory.max", inner), ("sys/fs/cgroup/a/memory.max", outer)]
        };
        assert_eq!(limit("0::/a/b\n", mount, &files("max\n", "100000000\n")), Some(100_000_000));
        assert_eq!(limit("0::/a/b\n", mount, &files("5000\n", "100000000\n")), Some(5000));
        assert_eq!(limit("0::/a/b\n", mount, &files("max\n", "max\n")), None);
    }

    #[test]
    fn a_group_of_version_1_without_a_limit_says_a_number_that_is_none() {
        let mount = "1 0 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
        let file = |text: &'static str| [("sys/fs/cgroup/memory/box/memory.limit_in_bytes", text)];
        assert_eq!(limit("4:memory:/box\n0::/\n", mount, &file("9223372036854771712\n")), None);
        assert_eq!(limit("4:memory:/box\n0::/\n", mount, &file("104857600\n")), Some(104_857_600));
    }
}
