//! The machine that measures.

use iosonde_model::Host;

use super::{System, power, virtualization};

/// Describes this machine. The caller fills in the clock.
pub fn host() -> Host {
    let system = System::real();
    let mut host = read(&system);
    host.virtualization = virtualization();
    // CPUs of this process, not of the machine: a container or taskset may allow fewer.
    host.cpus = rustix::thread::sched_getaffinity(None).ok().map(|set| set.count());
    host
}

/// Identity of this boot of the machine; `None` where the kernel does not tell.
pub fn boot() -> Option<String> {
    System::real().text("/proc/sys/kernel/random/boot_id")
}

/// Size of a page of memory.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

fn read(system: &System) -> Host {
    let release = system.text("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"));
    let distribution = system.text("/etc/os-release").and_then(|text| pretty_name(&text));
    Host {
        name: system.text("/proc/sys/kernel/hostname"),
        kernel: match (distribution, release) {
            (Some(distribution), Some(release)) => Some(format!("{distribution}, {release}")),
            (one, other) => one.or(other),
        },
        cpu: system.text("/proc/cpuinfo").and_then(|text| processor(&text)),
        on_battery: power::on_battery(system),
        power: power::settings(system),
        saves_power: power::saves(system),
        memory_bytes: system.text("/proc/meminfo").and_then(|text| meminfo_bytes(&text, "MemTotal")),
        ..Host::default()
    }
}

/// A line of `/proc/meminfo`, which says kB and means KiB.
pub(crate) fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// `model name` on x86, `Model` or `Hardware` on boards, `cpu` on POWER; an ARM server names none of them.
fn processor(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    ["model name", "Model", "Hardware", "cpu"].into_iter().find_map(value)
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_of_a_debian_machine() {
        assert_eq!(
            pretty_name("NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n").unwrap(),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(processor("processor\t: 0\nmodel name\t: AMD EPYC 7763\n").unwrap(), "AMD EPYC 7763");
        // 1,000 KiB are 1,024,000 bytes.
        assert_eq!(meminfo_bytes("MemTotal:    1000 kB\nMemFree: 1 kB\n", "MemTotal"), Some(1_024_000));
        assert_eq!(meminfo_bytes("MemTotalX:    1000 kB\n", "MemTotal"), None);
    }

    #[test]
    fn this_machine_has_processors_and_memory() {
        let host = host();
        assert!(
            host.cpus.is_some_and(|cpus| cpus > 0) && host.memory_bytes.is_some_and(|bytes| bytes > 1 << 20)
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = (meminfo_bytes(&text, "MemTotal"), processor(&text), pretty_name(&text));
        }
    }
}
