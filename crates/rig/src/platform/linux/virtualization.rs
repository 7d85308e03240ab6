//! Whether this system runs in a virtual machine. Then a host stands between it and every disk, and its cache
//! cannot be seen from here.

use super::System;

/// Returns the hypervisor's name (`KVM`, `Xen`, ..) or `unnamed`; `None` on bare metal, as far as it is detectable.
/// Containers do not count: they share their host's kernel.
pub fn virtualization() -> Option<String> {
    detect(&System::real(), cpu_signature().as_deref())
}

fn detect(system: &System, cpu_signature: Option<&str>) -> Option<String> {
    let release = system.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    if release.to_ascii_lowercase().contains("microsoft") {
        return Some("Hyper-V (WSL)".to_owned());
    }
    let cpuinfo = system.text("/proc/cpuinfo").unwrap_or_default();
    if flags(&cpuinfo).is_some() && !is_guest(&cpuinfo) && !is_xen_guest(system) {
        // x86 with its flags listed, and none says hypervisor: DMI alone would call an EC2 metal machine a
        // guest.
        return None;
    }
    let told = dmi(system)
        .or_else(|| cpu_signature.and_then(from_signature))
        .or_else(|| is_xen_guest(system).then_some("Xen"))
        .or_else(|| device_tree(system));
    if let Some(name) = told {
        return Some(name.to_owned());
    }
    let virtio = !system.names("/sys/bus/virtio/devices").is_empty();
    (is_guest(&cpuinfo) || virtio).then(|| "unnamed".to_owned())
}

/// The `flags` line of an x86 processor.
fn flags(cpuinfo: &str) -> Option<&str> {
    cpuinfo.lines().find(|line| line.starts_with("flags"))?.split_once(':').map(|(_, flags)| flags)
}

fn is_guest(cpuinfo: &str) -> bool {
    flags(cpuinfo).is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Xen's first domain runs on the hypervisor too, but owns the hardware: it says `control_d`.
fn is_xen_guest(system: &System) -> bool {
    system.text("/sys/hypervisor/type").is_some_and(|kind| kind == "xen")
        && !system.text("/proc/xen/capabilities").is_some_and(|text| text.contains("control_d"))
}

fn dmi(system: &System) -> Option<&'static str> {
    let read = |name: &str| system.text(format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let text =
        [read("sys_vendor"), read("product_name"), read("board_vendor"), read("bios_vendor")].join("\n");
    from_dmi(&text)
}

fn from_dmi(text: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 13] = [
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("innotek", "VirtualBox"),
        ("Parallels", "Parallels"),
        ("Xen", "Xen"),
        ("Google", "KVM (Google Compute Engine)"),
        ("Amazon EC2", "KVM (Amazon EC2)"),
        ("Virtual Machine", "Hyper-V"),
        ("Apple Virtualization", "Apple Virtualization"),
        ("BHYVE", "bhyve"),
        ("OpenStack", "KVM"),
        ("KVM", "KVM"),
        ("QEMU", "QEMU"),
    ];
    NAMES.iter().find(|(mark, _)| text.contains(mark)).map(|&(_, name)| name)
}

fn device_tree(system: &System) -> Option<&'static str> {
    let compatible = system.text("/proc/device-tree/hypervisor/compatible")?;
    Some(if compatible.contains("xen") { "Xen" } else { "KVM" })
}

fn from_signature(signature: &str) -> Option<&'static str> {
    Some(match signature {
        "KVMKVMKVM" | "Linux KVM Hv" => "KVM",
        "XenVMMXenVMM" => "Xen",
        "VMwareVMware" => "VMware",
        "Microsoft Hv" => "Hyper-V",
        "VBoxVBoxVBox" => "VirtualBox",
        "bhyve bhyve " => "bhyve",
        "TCGTCGTCGTCG" => "QEMU",
        "ACRNACRNACRN" => "ACRN",
        " lrpepyh vr" | "prl hyperv  " => "Parallels",
        _ => return None,
    })
}

/// The twelve letters in which a hypervisor names itself to x86 guests (leaf 0x4000_0000, after bit 31 of
/// leaf 1 said that there is one).
#[cfg(target_arch = "x86_64")]
fn cpu_signature() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    if __cpuid(1).ecx >> 31 == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_signature() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn detected(files: &[(&str, &str)], signature: Option<&str>) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        detect(&System::at(root.path()), signature)
    }

    const GUEST: (&str, &str) = ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n");
    const METAL: (&str, &str) = ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme lahf_lm\n");

    #[test]
    fn a_guest_without_dmi_is_named_by_its_processor() {
        assert_eq!(detected(&[GUEST], Some("KVMKVMKVM")).as_deref(), Some("KVM"));
        assert_eq!(detected(&[GUEST], None).as_deref(), Some("unnamed"));
    }

    #[test]
    fn dmi_names_the_maker() {
        let vendor = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        assert_eq!(detected(&[GUEST, vendor], None).as_deref(), Some("KVM (Amazon EC2)"));
        assert_eq!(detected(&[METAL, vendor], None), None);
    }

    #[test]
    fn xens_first_domain_owns_the_hardware() {
        let xen = ("sys/hypervisor/type", "xen\n");
        assert_eq!(detected(&[METAL, xen], None).as_deref(), Some("Xen"));
        assert_eq!(detected(&[METAL, xen, ("proc/xen/capabilities", "control_d\n")], None), None);
    }

    #[test]
    fn an_arm_guest_is_known_by_its_virtio_devices() {
        let cpuinfo = ("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
        assert_eq!(detected(&[cpuinfo], None), None);
        assert_eq!(
            detected(&[cpuinfo, ("sys/bus/virtio/devices/virtio0", "")], None).as_deref(),
            Some("unnamed")
        );
    }

    #[test]
    fn the_windows_subsystem_is_a_guest() {
        let release = ("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
        assert_eq!(detected(&[release], None).as_deref(), Some("Hyper-V (WSL)"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (flags(&text), is_guest(&text), from_dmi(&text), from_signature(&text));
        }
    }
}
