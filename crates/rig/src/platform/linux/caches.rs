//! Caches of this machine below a target, which direct I/O to the target does not bypass.

use iosonde_model::CacheBelow;

use super::BlockDevice;

/// The caches among the devices below a target, from the nearest.
pub(super) fn caches(below: &[BlockDevice]) -> Vec<CacheBelow> {
    below.iter().filter(|device| !device.is_partition()).filter_map(cache).collect()
}

fn cache(device: &BlockDevice) -> Option<CacheBelow> {
    let name = || device.name.clone();
    // `loop/dio` says how the driver opened the backing file; kernels before 4.4 know no other way than its pages.
    if let Some(file) = device.loop_file() {
        let direct = device.number_attribute("loop/dio") == Some(1);
        return (!direct).then(|| CacheBelow::Loop { device: name(), file: file.display().to_string() });
    }
    if is_zvol(device) {
        return Some(CacheBelow::ZfsVolume { device: name() });
    }
    let mechanism = if bcache_is_on(device) { "bcache" } else { mapped_cache(device)? };
    Some(CacheBelow::Tier { device: name(), mechanism: mechanism.to_owned() })
}

/// OpenZFS names its volumes zd0, zd16, ..: `zvol_os.c` steps by the minor numbers that it keeps for partitions.
fn is_zvol(device: &BlockDevice) -> bool {
    let digits = device.name.strip_prefix("zd");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a bcache device has a cache and uses it: the mode in use stands in brackets.
fn bcache_is_on(device: &BlockDevice) -> bool {
    let attached = device.attribute("bcache/state").is_none_or(|state| state != "no cache");
    let mode = device.attribute("bcache/cache_mode");
    attached && mode.is_some_and(|modes| !modes.contains("[none]"))
}

/// The mechanism of a cached LVM volume. A mapping's type needs root; LVM gives the slow part of a cached volume a
/// name that ends so (lvmcache(7)).
fn mapped_cache(device: &BlockDevice) -> Option<&'static str> {
    let parts: Vec<String> = device.slaves().iter().filter_map(|part| part.attribute("dm/name")).collect();
    let slow_part = |end: &str| parts.iter().any(|name| name.ends_with(end));
    match () {
        () if slow_part("_wcorig") => Some("dm-writecache"),
        () if slow_part("_corig") => Some("dm-cache"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::super::{Mount, System, block::fake, chain::DeviceChain, mount::mounts};
    use super::*;

    /// The caches below the file system that is mounted last.
    fn below_last_mount(root: &Path, mountinfo: &str) -> Vec<CacheBelow> {
        fs::create_dir_all(root.join("proc/self")).unwrap();
        fs::write(root.join("proc/self/mountinfo"), mountinfo).unwrap();
        let system = System::at(root);
        let mount: Mount = mounts(&system).pop().unwrap();
        let number = mount.number;
        caches(&DeviceChain::below_file(&system, mount, number).devices)
    }

    fn of_device(root: &Path, name: &str) -> Vec<CacheBelow> {
        let system = System::at(root);
        let device = BlockDevice::by_name(&system, name).unwrap();
        caches(&DeviceChain::below_device(&system, device).devices)
    }

    fn looped(root: &Path, name: &str, number: &str, file: &str, dio: Option<&str>) {
        let attributes: Vec<(&str, &str)> =
            [Some(("loop/backing_file", file)), dio.map(|dio| ("loop/dio", dio))]
                .into_iter()
                .flatten()
                .collect();
        fake::device(root, &format!("virtual/block/{name}"), number, &attributes);
    }

    fn named(device: &str, file: &str) -> CacheBelow {
        CacheBelow::Loop { device: device.into(), file: file.into() }
    }

    #[test]
    fn a_loop_device_is_a_cache_unless_it_opened_its_file_for_direct_io() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "ata/sda", "8:0", &[]);
        looped(root.path(), "loop0", "7:0", "/images/a.img", Some("0"));
        looped(root.path(), "loop1", "7:1", "/images/b.img", Some("1"));
        looped(root.path(), "loop2", "7:2", "/images/c.img", None);
        fake::device(root.path(), "virtual/block/loop0/loop0p1", "259:1", &[("partition", "1")]);
        let text = "1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 259:1 / /mnt rw - ext4 /dev/loop0p1 rw";
        assert_eq!(below_last_mount(root.path(), text), [named("loop0", "/images/a.img")]);
        assert_eq!(of_device(root.path(), "loop0"), [named("loop0", "/images/a.img")]);
        assert_eq!(of_device(root.path(), "loop1"), []);
        assert_eq!(of_device(root.path(), "loop2"), [named("loop2", "/images/c.img")]);
        assert_eq!(of_device(root.path(), "sda"), []);
    }

    #[test]
    fn a_cache_below_a_direct_loop_device_is_found() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "ata/sda", "8:0", &[]);
        looped(root.path(), "loop0", "7:0", "/images/outer.img", Some("0"));
        looped(root.path(), "loop1", "7:1", "/mnt/inner.img", Some("1"));
        let text = "1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 7:0 / /mnt rw - ext4 /dev/loop0 rw\n\
                    3 2 7:1 / /mnt/deep rw - xfs /dev/loop1 rw";
        assert_eq!(below_last_mount(root.path(), text), [named("loop0", "/images/outer.img")]);
    }

    #[test]
    fn volumes_with_a_cache_are_named_by_their_mechanism() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "virtual/block/zd16", "230:16", &[]);
        let modes = "writethrough [writeback] writearound none";
        let attached = [("bcache/cache_mode", modes), ("bcache/state", "clean")];
        fake::device(root.path(), "virtual/block/bcache0", "251:0", &attached);
        let alone = [("bcache/cache_mode", modes), ("bcache/state", "no cache")];
        fake::device(root.path(), "virtual/block/bcache1", "251:16", &alone);
        fake::device(root.path(), "virtual/block/dm-0", "253:0", &[("dm/name", "vg-home")]);
        for (name, number, mapped) in [
            ("dm-1", "253:1", "vg-home_corig"),
            ("dm-2", "253:2", "vg-fast_cpool_cdata"),
            ("dm-3", "253:3", "vg-log_wcorig"),
        ] {
            fake::device(root.path(), &format!("virtual/block/{name}"), number, &[("dm/name", mapped)]);
        }
        fake::device(root.path(), "virtual/block/dm-4", "253:4", &[("dm/name", "vg-log")]);
        fake::stack(root.path(), "virtual/block/dm-0", "virtual/block/dm-1");
        fake::stack(root.path(), "virtual/block/dm-0", "virtual/block/dm-2");
        fake::stack(root.path(), "virtual/block/dm-4", "virtual/block/dm-3");
        let tier = |device: &str, mechanism: &str| {
            vec![CacheBelow::Tier { device: device.into(), mechanism: mechanism.into() }]
        };
        assert_eq!(of_device(root.path(), "zd16"), [CacheBelow::ZfsVolume { device: "zd16".into() }]);
        assert_eq!(of_device(root.path(), "bcache0"), tier("bcache0", "bcache"));
        assert_eq!(of_device(root.path(), "bcache1"), []);
        assert_eq!(of_device(root.path(), "dm-0"), tier("dm-0", "dm-cache"));
        assert_eq!(of_device(root.path(), "dm-4"), tier("dm-4", "dm-writecache"));
    }
}
