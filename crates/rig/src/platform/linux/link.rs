//! What a disk is attached by, where `/sys` tells: `PCIe 4.0 x4`, `SATA 6.0 Gb/s`, `USB 10 Gb/s`, `virtio`.

use std::path::Path;

use iosonde_model::FasterLink;

use super::{
    BlockDevice,
    system::{names_in, text_of},
};

/// The link of a whole disk, read off the folders above it in `/sys/devices`.
pub(super) fn link(device: &BlockDevice) -> Option<String> {
    let folder = device.folder();
    let text = folder.to_string_lossy();
    // A disk behind a USB bridge also hangs on a PCI host controller: the nearest link is the narrow one.
    for folder in folder.ancestors().skip(1) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if let Some(found) = usb(folder).or_else(|| sata(folder, &name)) {
            return Some(found);
        }
        if is_numbered(&name, "virtio") {
            return Some("virtio".to_owned());
        }
        if is_numbered(&name, "mmc") {
            return Some("SD or eMMC".to_owned());
        }
        // Only NVMe: the width of a SATA controller's slot says little about one of its disks.
        if text.contains("/nvme/")
            && let Some(found) = pcie(folder)
        {
            return Some(found);
        }
    }
    None
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn usb(folder: &Path) -> Option<String> {
    text_of(&folder.join("busnum"))?;
    usb_speed(&text_of(&folder.join("speed"))?)
}

/// `speed` is in Mb/s: 480, 5000, 10000.
fn usb_speed(text: &str) -> Option<String> {
    let megabits_per_s: f64 = text.parse().ok().filter(|&speed| speed > 0.0 && speed < 1e9)?;
    Some(match megabits_per_s {
        speed if speed >= 1000.0 => format!("USB {} Gb/s", speed / 1000.0),
        speed => format!("USB {speed} Mb/s"),
    })
}

fn sata(folder: &Path, name: &str) -> Option<String> {
    if !is_numbered(name, "ata") {
        return None;
    }
    let links = names_in(folder).into_iter().filter(|name| name.starts_with("link"));
    let speeds =
        links.filter_map(|link| text_of(&folder.join(&link).join("ata_link").join(&link).join("sata_spd")));
    speeds.filter_map(|text| sata_speed(&text)).next()
}

/// `sata_spd` is `6.0 Gbps`, or `<unknown>`.
fn sata_speed(text: &str) -> Option<String> {
    Some(format!("SATA {} Gb/s", text.strip_suffix("Gbps")?.trim_end()))
}

fn pcie(folder: &Path) -> Option<String> {
    let attribute = |name: &str| text_of(&folder.join(name));
    pcie_link(&attribute("current_link_speed")?, &attribute("current_link_width")?)
}

/// The link that an NVMe drive and the port above it could have, where the one in use is slower or narrower.
pub(super) fn faster_link(device: &BlockDevice) -> Option<FasterLink> {
    let folder = device.folder().ancestors().skip(1).find(|folder| pcie(folder).is_some())?;
    device.folder().to_string_lossy().contains("/nvme/").then_some(())?;
    let of = |folder: &Path, name: &str| text_of(&folder.join(name));
    let speed = |folder: &Path, name: &str| lane_rate(&of(folder, name)?);
    let width = |folder: &Path, name: &str| of(folder, name)?.parse::<u32>().ok().filter(|&lanes| lanes > 0);
    // A port without these files (a root port of a virtual machine) limits nothing that is known.
    let port = folder.parent()?;
    let rate = speed(folder, "max_link_speed")?;
    let rate = speed(port, "max_link_speed").map_or(rate, |of_port| of_port.min(rate));
    let lanes = width(folder, "max_link_width")?;
    let lanes = width(port, "max_link_width").map_or(lanes, |of_port| of_port.min(lanes));
    let now = speed(folder, "current_link_speed")? * f64::from(width(folder, "current_link_width")?);
    let times = rate * f64::from(lanes) / now;
    (times > 1.01)
        .then_some(FasterLink { link: pcie_link(&format!("{rate} GT/s"), &lanes.to_string())?, times })
}

/// Transfers of one lane, in 10⁹ per second.
fn lane_rate(text: &str) -> Option<f64> {
    text.split_once(" GT/s")?.0.parse().ok().filter(|rate: &f64| *rate > 0.0 && rate.is_finite())
}

/// The generation follows from the rate of one lane: 2.5, 5, 8, 16, 32, 64 GT/s.
fn pcie_link(speed: &str, width: &str) -> Option<String> {
    let generation = match speed.split_once(" GT/s")?.0 {
        "2.5" => "1.0",
        "5" | "5.0" => "2.0",
        "8" | "8.0" => "3.0",
        "16" | "16.0" => "4.0",
        "32" | "32.0" => "5.0",
        "64" | "64.0" => "6.0",
        _ => return None,
    };
    let lanes: u32 = width.parse().ok().filter(|&lanes| lanes > 0)?;
    Some(format!("PCIe {generation} x{lanes}"))
}

#[cfg(test)]
mod tests {
    use super::super::{System, block::fake};
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn link_of(path: &str, above: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), path, "8:0", &[]);
        for (file, text) in above {
            let file = root.path().join("sys/devices").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let name = path.rsplit('/').next().unwrap();
        link(&BlockDevice::by_name(&System::at(root.path()), name).unwrap())
    }

    #[test]
    fn links_are_read_off_the_folders_above() {
        let slot = "pci0/0000:01:00.0";
        assert_eq!(
            link_of(
                "pci0/0000:01:00.0/nvme/nvme0/nvme0n1",
                &[
                    (&format!("{slot}/current_link_speed"), "16.0 GT/s PCIe\n"),
                    (&format!("{slot}/current_link_width"), "4\n")
                ]
            ),
            Some("PCIe 4.0 x4".to_owned())
        );
        assert_eq!(
            link_of(
                "pci0/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda",
                &[("pci0/0000:00:17.0/ata3/link3/ata_link/link3/sata_spd", "6.0 Gbps\n")]
            ),
            Some("SATA 6.0 Gb/s".to_owned())
        );
        assert_eq!(
            link_of(
                "pci0/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb",
                &[
                    ("pci0/0000:00:14.0/usb2/2-1/busnum", "2\n"),
                    ("pci0/0000:00:14.0/usb2/2-1/speed", "10000\n")
                ]
            ),
            Some("USB 10 Gb/s".to_owned())
        );
        assert_eq!(link_of("pci0/0000:00:02.0/virtio1/block/vda", &[]), Some("virtio".to_owned()));
        assert_eq!(link_of("virtual/block/loop0", &[]), None);
    }

    #[test]
    fn a_link_below_what_both_ends_could_have_is_told() {
        let faster = |own: [&str; 4], port: [&str; 2]| {
            let root = tempfile::tempdir().unwrap();
            fake::device(root.path(), "pci0/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1", "259:0", &[]);
            let names = ["current_link_speed", "current_link_width", "max_link_speed", "max_link_width"];
            let of_drive = names.iter().zip(own).map(|(name, text)| (format!("0000:01:00.0/{name}"), text));
            let of_port = names[2..].iter().zip(port).map(|(name, text)| ((*name).to_owned(), text));
            for (file, text) in of_drive.chain(of_port) {
                fs::write(root.path().join("sys/devices/pci0/0000:00:01.0").join(file), text).unwrap();
            }
            faster_link(&BlockDevice::by_name(&System::at(root.path()), "nvme0n1").unwrap())
        };
        let fast = "16.0 GT/s PCIe\n";
        let told = faster(["8.0 GT/s PCIe\n", "2\n", fast, "4\n"], [fast, "16\n"]).unwrap();
        assert_eq!((told.link.as_str(), told.times), ("PCIe 4.0 x4", 4.0));
        // A slot with two lanes of PCIe 3.0 can do no more.
        assert_eq!(faster(["8.0 GT/s PCIe\n", "2\n", fast, "4\n"], ["8.0 GT/s PCIe\n", "2\n"]), None);
        assert_eq!(faster([fast, "4\n", fast, "4\n"], [fast, "16\n"]), None);
    }

    #[test]
    fn unknown_speeds_are_absent() {
        assert_eq!(pcie_link("Unknown", "4"), None);
        assert_eq!(pcie_link("8.0 GT/s PCIe", "0"), None);
        assert_eq!(sata_speed("<unknown>"), None);
        assert_eq!(usb_speed("480"), Some("USB 480 Mb/s".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_panics(a in "\\PC*", b in "\\PC*") {
            let _ = (usb_speed(&a), sata_speed(&a), pcie_link(&a, &b));
        }
    }
}
