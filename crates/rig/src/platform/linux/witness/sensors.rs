//! What the device's thermometers and the processors' clocks say after a trial, where there are any: a guest sees none.

use iosonde_model::Device;

use crate::platform::linux::{BlockDevice, System};

/// The warmest sensor of the device in °C. NVMe and (with the driver `drivetemp`) SATA disks list theirs below the
/// device. Asking may take a millisecond, since the device itself is asked.
pub(super) fn temperature_celsius(system: &System, device: &Device) -> Option<f64> {
    let disk = BlockDevice::by_name(system, device.name.as_deref()?)?.whole();
    let below = disk.folder().join("device");
    let folders = folders_named(&below, "hwmon").into_iter().flat_map(|folder| {
        // `device/hwmon/hwmon3` (SATA) or `device/hwmon3` (NVMe).
        let inner = folders_named(&folder, "hwmon");
        if inner.is_empty() { vec![folder] } else { inner }
    });
    let files = folders.flat_map(|folder| folders_named(&folder, "temp"));
    let millidegrees = files
        .filter(|file| file.to_string_lossy().ends_with("_input"))
        .filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse::<i32>().ok());
    millidegrees.max().map(|millidegrees| f64::from(millidegrees) / 1000.0)
}

/// Mean frequency of all processors, as the kernel last set or measured it.
pub(super) fn cpu_frequency_hz(system: &System) -> Option<f64> {
    let folder = "/sys/devices/system/cpu";
    let is_cpu = |name: &&String| name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let khz: Vec<f64> = system
        .names(folder)
        .iter()
        .filter(is_cpu)
        .filter_map(|cpu| {
            system.text(format!("{folder}/{cpu}/cpufreq/scaling_cur_freq"))?.parse::<u64>().ok()
        })
        .map(|khz| khz as f64)
        .collect();
    (!khz.is_empty()).then(|| khz.iter().sum::<f64>() / khz.len() as f64 * 1000.0)
}

/// Entries of a folder whose names begin so.
fn folders_named(folder: &std::path::Path, prefix: &str) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let begins = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(prefix);
    entries.flatten().filter(|entry| begins(&entry.file_name())).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake;

    fn named(name: &str) -> Device {
        Device { name: Some(name.into()), ..Device::unknown("block", 0) }
    }

    #[test]
    fn the_warmest_of_an_nvme_drives_sensors() {
        let root = tempfile::tempdir().unwrap();
        let sensors = [("device/hwmon2/temp1_input", "41850"), ("device/hwmon2/temp2_input", "63000")];
        let others = [("device/hwmon2/temp1_max", "84000"), ("device/hwmon2/name", "nvme")];
        fake::device(root.path(), "nvme/nvme0n1", "259:0", &[sensors, others].concat());
        fake::device(root.path(), "ata/sda", "8:0", &[("device/hwmon/hwmon0/temp1_input", "38000")]);
        fake::device(root.path(), "virtio1/vda", "254:0", &[]);
        let system = System::at(root.path());
        assert_eq!(temperature_celsius(&system, &named("nvme0n1")), Some(63.0));
        assert_eq!(temperature_celsius(&system, &named("sda")), Some(38.0));
        assert_eq!(temperature_celsius(&system, &named("vda")), None);
    }

    #[test]
    fn the_mean_frequency_of_the_processors_that_tell() {
        let root = tempfile::tempdir().unwrap();
        for (cpu, khz) in [("cpu0", "2000000"), ("cpu1", "3000000"), ("cpufreq", "1")] {
            let folder = root.path().join(format!("sys/devices/system/cpu/{cpu}/cpufreq"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("scaling_cur_freq"), khz).unwrap();
        }
        assert_eq!(cpu_frequency_hz(&System::at(root.path())), Some(2.5e9));
        assert_eq!(cpu_frequency_hz(&System::at(tempfile::tempdir().unwrap().path())), None);
    }
}
