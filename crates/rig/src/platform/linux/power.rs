//! What this machine does to save power: on battery, or told to be frugal, processors and links are slower and wake
//! later.

use super::System;

/// Returns true if it runs on a battery; `None` where no power supply is listed.
pub(super) fn on_battery(system: &System) -> Option<bool> {
    const FOLDER: &str = "/sys/class/power_supply";
    let of = |name: &String, file: &str| system.text(format!("{FOLDER}/{name}/{file}"));
    let (mut plugged, mut unplugged, mut battery) = (false, false, false);
    for name in system.names(FOLDER) {
        match (of(&name, "type").as_deref(), of(&name, "online").as_deref()) {
            // A mouse has a battery too; its scope is its own.
            (Some("Battery"), _) if of(&name, "scope").as_deref() != Some("Device") => battery = true,
            (Some("Mains" | "USB"), Some("1")) => plugged = true,
            (Some("Mains" | "USB"), Some("0")) => unplugged = true,
            _ => {}
        }
    }
    (plugged || unplugged || battery).then_some(battery && !plugged)
}

/// Its settings, in words: `governor powersave, profile low-power, PCIe links powersupersave`; `None` where none is
/// known.
pub(super) fn settings(system: &System) -> Option<String> {
    let named = |what: &str, path: &str| system.text(path).map(|text| format!("{what} {}", chosen(&text)));
    let parts = [
        named("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        named("preference", "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"),
        named("profile", "/sys/firmware/acpi/platform_profile"),
        named("PCIe links", "/sys/module/pcie_aspm/parameters/policy"),
    ];
    let words: Vec<String> = parts.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns true if a setting saves power at the cost of speed; `None` where no setting is known. The governor
/// `powersave` alone is none: with some drivers it is the usual one, and follows the load.
pub(super) fn saves(system: &System) -> Option<bool> {
    let slow: [(&str, &[&str]); 3] = [
        ("/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", &["power"]),
        ("/sys/firmware/acpi/platform_profile", &["low-power", "quiet"]),
        ("/sys/module/pcie_aspm/parameters/policy", &["powersave", "powersupersave"]),
    ];
    let known = slow.iter().filter_map(|(path, slow)| Some(slow.contains(&chosen(&system.text(path)?))));
    known.reduce(|one, other| one || other)
}

/// The one in brackets, or the only one.
fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(name, _)| name).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let system = System::at(root.path());
        (root, system)
    }

    fn supplies(list: &[(&str, &str, &str)]) -> Option<bool> {
        let mut files: Vec<(String, &str)> = Vec::new();
        for (name, kind, online) in list {
            files.push((format!("sys/class/power_supply/{name}/type"), kind));
            if !online.is_empty() {
                files.push((format!("sys/class/power_supply/{name}/online"), online));
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        on_battery(&with(&files).1)
    }

    #[test]
    fn a_laptop_by_its_supplies() {
        assert_eq!(supplies(&[("AC", "Mains\n", "0\n"), ("BAT0", "Battery\n", "")]), Some(true));
        assert_eq!(supplies(&[("AC", "Mains\n", "1\n"), ("BAT0", "Battery\n", "")]), Some(false));
        assert_eq!(supplies(&[("ucsi", "USB\n", "1\n"), ("BAT0", "Battery\n", "")]), Some(false));
        assert_eq!(supplies(&[("AC", "Mains\n", "1\n")]), Some(false));
        assert_eq!(supplies(&[]), None);
        let mouse = [
            ("sys/class/power_supply/hid/type", "Battery\n"),
            ("sys/class/power_supply/hid/scope", "Device\n"),
        ];
        assert_eq!(on_battery(&with(&mouse).1), None);
    }

    #[test]
    fn settings_in_words() {
        let files = [
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/module/pcie_aspm/parameters/policy", "default performance [powersave] powersupersave\n"),
        ];
        assert_eq!(settings(&with(&files).1).as_deref(), Some("governor powersave, PCIe links powersave"));
        assert_eq!(settings(&with(&[]).1), None);
    }
}
