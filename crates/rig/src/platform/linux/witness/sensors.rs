//! What the device's thermometers and the processors' clocks say after a trial, where there are any: a guest sees none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use iosonde_model::Device;

use crate::platform::linux::{BlockDevice, System};

/// Files to read after each trial. They are looked for once: most machines have none, and a walk through sysfs after
/// each trial found that.
#[derive(Debug)]
pub(super) struct Sensors {
    thermometers: Vec<PathBuf>,
    frequencies: Vec<PathBuf>,
}

impl Sensors {
    /// Those of the device and of all processors. NVMe and (with the driver `drivetemp`) SATA disks list theirs below
    /// the device.
    pub(super) fn find(system: &System, device: &Device) -> Self {
        let folder = "/sys/devices/system/cpu";
        let is_cpu =
            |name: &&String| name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok());
        let frequency = |cpu: &String| system.path(format!("{folder}/{cpu}/cpufreq/scaling_cur_freq"));
        let names = system.names(folder);
        let frequencies = names.iter().filter(is_cpu).map(frequency);
        Self {
            thermometers: thermometers(system, device).unwrap_or_default(),
            frequencies: frequencies.filter(|file| file.exists()).collect(),
        }
    }

    /// The warmest sensor of the device in °C. Asking may take a millisecond, since the device itself is asked.
    pub(super) fn temperature_celsius(&self) -> Option<f64> {
        numbers(&self.thermometers).reduce(f64::max).map(|millidegrees| millidegrees / 1000.0)
    }

    /// Mean frequency of all processors, as the kernel last set or measured it.
    pub(super) fn cpu_frequency_hz(&self) -> Option<f64> {
        let khz: Vec<f64> = numbers(&self.frequencies).collect();
        (!khz.is_empty()).then(|| khz.iter().sum::<f64>() / khz.len() as f64 * 1000.0)
    }
}

fn thermometers(system: &System, device: &Device) -> Option<Vec<PathBuf>> {
    let disk = BlockDevice::by_name(system, device.name.as_deref()?)?.whole();
    let below = disk.folder().join("device");
    let folders = folders_named(&below, "hwmon").into_iter().flat_map(|folder| {
        // `device/hwmon/hwmon3` (SATA) or `device/hwmon3` (NVMe).
        let inner = folders_named(&folder, "hwmon");
        if inner.is_empty() { vec![folder] } else { inner }
    });
    let files = folders.flat_map(|folder| folders_named(&folder, "temp"));
    Some(files.filter(|file| file.to_string_lossy().ends_with("_input")).collect())
}

fn numbers(files: &[PathBuf]) -> impl Iterator<Item = f64> {
    let number = |file: &PathBuf| fs::read_to_string(file).ok()?.trim().parse::<i64>().ok();
    files.iter().filter_map(number).map(|number| number as f64)
}

/// Entries of a folder whose names begin so.
fn folders_named(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
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
        let warmest = |name| Sensors::find(&system, &named(name)).temperature_celsius();
        assert_eq!(warmest("nvme0n1"), Some(63.0));
        assert_eq!(warmest("sda"), Some(38.0));
        assert_eq!(warmest("vda"), None);
    }

    #[test]
    fn the_mean_frequency_of_the_processors_that_tell() {
        let root = tempfile::tempdir().unwrap();
        for (cpu, khz) in [("cpu0", "2000000"), ("cpu1", "3000000"), ("cpufreq", "1")] {
            let folder = root.path().join(format!("sys/devices/system/cpu/{cpu}/cpufreq"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("scaling_cur_freq"), khz).unwrap();
        }
        let mean = |root: &Path| Sensors::find(&System::at(root), &named("vda")).cpu_frequency_hz();
        assert_eq!(mean(root.path()), Some(2.5e9));
        assert_eq!(mean(tempfile::tempdir().unwrap().path()), None);
    }
}
