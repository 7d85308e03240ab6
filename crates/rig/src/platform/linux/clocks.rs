//! Clocks of the kernel.

/// Monotonic clock, which stops while the machine is suspended, in nanoseconds.
pub(crate) fn monotonic_ns() -> Option<i128> {
    kernel_ns(libc::CLOCK_MONOTONIC)
}

/// Calendar clock, in nanoseconds since 1970.
pub(crate) fn calendar_ns() -> Option<i128> {
    kernel_ns(libc::CLOCK_REALTIME)
}

/// Monotonic clock including suspended time, in nanoseconds.
pub(crate) fn boot_ns() -> Option<i128> {
    kernel_ns(libc::CLOCK_BOOTTIME)
}

/// What the kernel itself trusts as its clock: `tsc`, `kvm-clock`, `arch_sys_counter`.
pub(crate) fn source() -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn kernel_ns(clock: libc::clockid_t) -> Option<i128> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours, which outlives the call.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (result == 0).then(|| i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec))
}
