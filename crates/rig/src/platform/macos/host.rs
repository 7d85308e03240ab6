//! The machine that measures.

use std::{ffi::CStr, process::Command, ptr};

use iosonde_model::Host;

use crate::platform::apple::{pmset, processor};

/// Describes this machine. The caller fills in the clock.
pub fn host() -> Host {
    let version = text(c"kern.osproductversion").map(|version| format!("macOS {version}"));
    let kernel = text(c"kern.osrelease").map(|release| format!("Darwin {release}"));
    let (power, saves_power) =
        pmset::settings(&pmset(&["-g"]).unwrap_or_default(), &pmset(&["-g", "therm"]).unwrap_or_default());
    let levels = [c"hw.perflevel0.logicalcpu", c"hw.perflevel1.logicalcpu"];
    let levels: Vec<u32> = levels.into_iter().filter_map(number32).collect();
    Host {
        name: text(c"kern.hostname"),
        kernel: match (version, kernel) {
            (Some(version), Some(kernel)) => Some(format!("{version}, {kernel}")),
            (one, other) => one.or(other),
        },
        cpu: text(c"machdep.cpu.brand_string").map(|model| processor::with_cores(model, &levels)),
        on_battery: pmset(&["-g", "batt"]).and_then(|answer| pmset::on_battery(&answer)),
        power,
        saves_power,
        cpus: std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: memory_bytes(),
        virtualization: virtualization(),
        ..Host::default()
    }
}

/// Memory of this machine.
pub(crate) fn memory_bytes() -> Option<u64> {
    number(c"hw.memsize")
}

/// Identity of this boot of the machine: not asked here.
pub fn boot() -> Option<String> {
    None
}

/// Size of a page of memory.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// `None`: macOS has no control groups.
pub fn allowed_memory_bytes() -> Option<u64> {
    None
}

/// `a hypervisor` in a virtual machine (kern.hv_vmm_present).
pub fn virtualization() -> Option<String> {
    (number32(c"kern.hv_vmm_present")? == 1).then(|| "a hypervisor".to_owned())
}

/// What `pmset` answers; it changes nothing and needs no rights.
fn pmset(words: &[&str]) -> Option<String> {
    let answer = Command::new("/usr/bin/pmset").args(words).output().ok()?;
    String::from_utf8(answer.stdout).ok().filter(|_| answer.status.success())
}

fn text(name: &CStr) -> Option<String> {
    let mut bytes = [0_u8; 256];
    let length = ask(name, &mut bytes)?;
    let text = CStr::from_bytes_until_nul(&bytes[..length]).ok()?.to_str().ok()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn number(name: &CStr) -> Option<u64> {
    let mut bytes = [0; 8];
    (ask(name, &mut bytes)? == 8).then(|| u64::from_ne_bytes(bytes))
}

pub(super) fn number32(name: &CStr) -> Option<u32> {
    let mut bytes = [0; 4];
    (ask(name, &mut bytes)? == 4).then(|| u32::from_ne_bytes(bytes))
}

fn ask(name: &CStr, answer: &mut [u8]) -> Option<usize> {
    let mut length = answer.len();
    // SAFETY: the name ends with a zero; the kernel writes at most as many bytes as it is told.
    let result = unsafe {
        libc::sysctlbyname(name.as_ptr(), answer.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0)
    };
    (result == 0 && length <= answer.len()).then_some(length)
}
