//! The devices that come with the program: every file in `devices/`, compiled in.

use iosonde_model::{Unknown, nearest};

macro_rules! devices {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../devices/", $name, ".toml")))),+]
    };
}

/// Name and text. A new device is a file and its name here.
const DEVICES: &[(&str, &str)] = devices![
    "ideal",
    "plain-nvme",
    "noisy-virtual-disk",
    "client-nvme",
    "sata-ssd",
    "hdd-7200",
    "usb-stick",
    "cloud-volume",
    "cloud-gp3",
    "cloud-p20",
    "container",
    "nfs",
    "mac-nocache",
    "raid0",
    "optane",
    "d7-p5600",
    "d7-p5600-steady",
    "fio-matrix-laptop",
    "windows-laptop",
    "mac-ssd",
    "mac-ssd-2014",
    "mac-m1",
    "mac-intel",
    "usb3-hdd",
    "usb3-stick",
    "dfs",
];

/// Returns the TOML text of a built-in device.
///
/// # Errors
/// Returns [`Unknown`] with the nearest name if no built-in device has this name.
pub fn builtin(name: &str) -> Result<&'static str, Unknown> {
    DEVICES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(|| Unknown {
        kind: "simulated device",
        typed: name.to_owned(),
        nearest: nearest(name, builtin_names()),
    })
}

/// Returns the names of the built-in devices, the simplest first.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceFile;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_the_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../devices");
        let files =
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let listed: BTreeSet<String> = builtin_names().map(|name| format!("{name}.toml")).collect();
        assert_eq!(files.collect::<BTreeSet<_>>(), listed);
        assert_eq!(builtin_names().count(), listed.len(), "a name is listed twice");
    }

    #[test]
    fn every_device_is_readable_bears_its_files_name_and_says_where_its_figures_come_from() {
        for name in builtin_names() {
            let text = builtin(name).unwrap();
            let file = DeviceFile::parse(text, name).unwrap();
            assert_eq!(file.name(), name);
            assert!(file.summary().len() > 20, "{name} has no summary");
            assert!(text.lines().any(|line| line.starts_with("# Source: ")), "{name} names no source");
        }
    }

    #[test]
    fn a_slip_gets_a_suggestion() {
        let said = builtin("plain-nmve").unwrap_err().to_string();
        assert_eq!(said, "there is no simulated device named `plain-nmve`; did you mean `plain-nvme`?");
    }
}
