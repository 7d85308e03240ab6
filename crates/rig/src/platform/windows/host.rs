//! The machine that measures.

use std::mem::zeroed;

use iosonde_model::Host;
use windows_sys::{
    Wdk::System::SystemServices::RtlGetVersion,
    Win32::System::{
        Power::{GetSystemPowerStatus, SYSTEM_POWER_STATUS},
        SystemInformation::{GetSystemInfo, OSVERSIONINFOW, SYSTEM_INFO},
    },
};

use super::files::memory_bytes;

/// Describes this machine. The caller fills in the clock.
pub fn host() -> Host {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    Host {
        name: variable("COMPUTERNAME"),
        kernel: version(),
        cpu: variable("PROCESSOR_IDENTIFIER"),
        cpus: std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: memory_bytes(),
        on_battery: on_battery(),
        ..Host::default()
    }
}

/// Identity of this boot of the machine: not asked here.
pub fn boot() -> Option<String> {
    None
}

/// Size of a page of memory.
pub fn page_bytes() -> u64 {
    // SAFETY: plain numbers, which the system fills in.
    let info = unsafe {
        let mut info: SYSTEM_INFO = zeroed();
        GetSystemInfo(&raw mut info);
        info
    };
    info.dwPageSize.into()
}

/// `None`: limits of job objects are not asked.
pub fn allowed_memory_bytes() -> Option<u64> {
    None
}

/// Not asked on Windows.
pub fn virtualization() -> Option<String> {
    None
}

/// `Windows 10.0.19045`. Other calls say an older version to programs without a manifest.
fn version() -> Option<String> {
    // SAFETY: plain numbers; the system reads the length and fills in the rest.
    let (info, status) = unsafe {
        let mut info: OSVERSIONINFOW = zeroed();
        info.dwOSVersionInfoSize = size_of::<OSVERSIONINFOW>() as u32;
        let status = RtlGetVersion(&raw mut info);
        (info, status)
    };
    let OSVERSIONINFOW { dwMajorVersion: major, dwMinorVersion: minor, dwBuildNumber: build, .. } = info;
    (status == 0).then(|| format!("Windows {major}.{minor}.{build}"))
}

fn on_battery() -> Option<bool> {
    // SAFETY: plain numbers, which the system fills in.
    let (status, told) = unsafe {
        let mut status: SYSTEM_POWER_STATUS = zeroed();
        let told = GetSystemPowerStatus(&raw mut status);
        (status, told)
    };
    match (told, status.ACLineStatus) {
        (0, _) => None,
        (_, 0) => Some(true),
        (_, 1) => Some(false),
        _ => None,
    }
}
