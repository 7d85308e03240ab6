//! Detects whether two files share a disk, through partitions, loop devices and device-mapper chains (sysfs).

use rustix::fs::{major, minor};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

/// Returns true if the notebook lies on the storage that is measured. Then the write-back of a commit must end before
/// the next trial begins ([`crate::Notebook::settle`]).
///
/// `target` is a file, a folder, or a block device; where it does not exist yet, its nearest folder counts.
/// Also true where it is unknown (file systems without a device number of their own, such as overlay and
/// btrfs): settling needlessly costs milliseconds, not settling can cost a measurement.
pub fn same_storage(notebook: &Path, target: &Path) -> bool {
    let (Some(ours), Some(theirs)) = (device_below(notebook), device_below(target)) else { return true };
    ours == theirs || share_a_disk(Path::new("/sys"), ours, theirs)
}

/// Major and minor number of what a path lies on, or of the block device that it is.
fn device_below(path: &Path) -> Option<(u32, u32)> {
    let metadata = path.ancestors().find_map(|ancestor| {
        // The parent of `notebook.db` is the empty path: the current folder.
        let ancestor = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        fs::metadata(ancestor).ok()
    })?;
    let device = if metadata.file_type().is_block_device() { metadata.rdev() } else { metadata.dev() };
    Some((major(device), minor(device)))
}

fn share_a_disk(sys: &Path, ours: (u32, u32), theirs: (u32, u32)) -> bool {
    let find = |device| {
        let mut disks = BTreeSet::new();
        collect_disks(sys, device, 0, &mut disks);
        disks
    };
    let (ours, theirs) = (find(ours), find(theirs));
    ours.is_empty() || theirs.is_empty() || !ours.is_disjoint(&theirs)
}

/// Adds the disks at the bottom of a block device, by their names in sysfs.
fn collect_disks(sys: &Path, (major, minor): (u32, u32), depth: u32, disks: &mut BTreeSet<String>) {
    // 16: deeper stacks than any real one; a loop device over itself must not go round for ever.
    let Ok(mut folder) = fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}"))) else { return };
    if depth > 16 {
        return;
    }
    if folder.join("partition").exists() {
        folder.pop();
    }
    let mut below: Vec<(u32, u32)> = Vec::new();
    for slave in fs::read_dir(folder.join("slaves")).into_iter().flatten().flatten() {
        below.extend(fs::read_to_string(slave.path().join("dev")).ok().and_then(|text| numbers(&text)));
    }
    if let Ok(file) = fs::read_to_string(folder.join("loop/backing_file")) {
        below.extend(device_below(Path::new(file.trim_end_matches('\n'))));
    }
    if below.is_empty() {
        disks.extend(folder.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    for device in below {
        collect_disks(sys, device, depth + 1, disks);
    }
}

/// `259:3` as sysfs writes it.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// nvme0n1 (259:0) with partitions p1 (259:1) and p2 (259:2); dm-0 (253:0) over p2; sda (8:0); loop0 (7:0)
    /// over a file on `backing`.
    fn machine(backing: Option<&Path>) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let block = sys.path().join("devices");
        fs::create_dir_all(sys.path().join("dev/block")).unwrap();
        let add = |folder: &str, number: &str| {
            fs::create_dir_all(block.join(folder)).unwrap();
            fs::write(block.join(folder).join("dev"), format!("{number}\n")).unwrap();
            symlink(block.join(folder), sys.path().join("dev/block").join(number)).unwrap();
        };
        add("nvme0n1", "259:0");
        add("nvme0n1/nvme0n1p1", "259:1");
        add("nvme0n1/nvme0n1p2", "259:2");
        add("dm-0", "253:0");
        add("sda", "8:0");
        add("loop0", "7:0");
        for partition in ["nvme0n1/nvme0n1p1", "nvme0n1/nvme0n1p2"] {
            fs::write(block.join(partition).join("partition"), "1\n").unwrap();
        }
        fs::create_dir_all(block.join("dm-0/slaves")).unwrap();
        symlink(block.join("nvme0n1/nvme0n1p2"), block.join("dm-0/slaves/nvme0n1p2")).unwrap();
        if let Some(backing) = backing {
            fs::create_dir_all(block.join("loop0/loop")).unwrap();
            fs::write(block.join("loop0/loop/backing_file"), format!("{}\n", backing.display())).unwrap();
        }
        sys
    }

    #[test]
    fn two_partitions_and_a_mapped_volume_share_a_disk() {
        let sys = machine(None);
        assert!(share_a_disk(sys.path(), (259, 1), (259, 2)));
        assert!(share_a_disk(sys.path(), (259, 1), (253, 0)));
        assert!(!share_a_disk(sys.path(), (259, 1), (8, 0)));
        assert!(!share_a_disk(sys.path(), (253, 0), (8, 0)));
    }

    #[test]
    fn what_cannot_be_told_counts_as_shared() {
        let sys = machine(None);
        // Major 0: an anonymous number, as btrfs and overlay give.
        assert!(share_a_disk(sys.path(), (0, 42), (8, 0)));
    }

    #[test]
    fn a_loop_device_lies_on_its_file() {
        // The backing file lies on a real device of this machine, which the invented /sys does not know: it has
        // no disk there, and the answer is unknown.
        let file = tempfile::NamedTempFile::new().unwrap();
        let sys = machine(Some(file.path()));
        let mut disks = BTreeSet::new();
        collect_disks(sys.path(), (7, 0), 0, &mut disks);
        assert!(!disks.contains("loop0"), "{disks:?}");
        let (major, minor) = device_below(file.path()).unwrap();
        if !sys.path().join(format!("dev/block/{major}:{minor}")).exists() {
            symlink(sys.path().join("devices/sda"), sys.path().join(format!("dev/block/{major}:{minor}")))
                .unwrap();
        }
        assert!(share_a_disk(sys.path(), (7, 0), (8, 0)));
        assert!(!share_a_disk(sys.path(), (7, 0), (259, 1)));
    }

    #[test]
    fn a_file_shares_its_storage_with_its_neighbour_and_with_one_not_yet_made() {
        let folder = tempfile::tempdir().unwrap();
        assert!(same_storage(&folder.path().join("n.db"), &folder.path().join("a/b/target")));
    }
}
