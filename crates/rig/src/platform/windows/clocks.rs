//! Clocks of the system.

use std::sync::OnceLock;

use windows_sys::Win32::{
    Foundation::FILETIME,
    System::{
        Performance::{QueryPerformanceCounter, QueryPerformanceFrequency},
        SystemInformation::{GetSystemTimePreciseAsFileTime, GetTickCount64},
        WindowsProgramming::QueryUnbiasedInterruptTime,
    },
};

/// From 1601, where a FILETIME begins, to 1970, in units of 100 ns.
const EPOCH_100_NS: i128 = 116_444_736_000_000_000;
/// The clocks with and without sleep move in ticks of up to 15.6 ms: less than this between them is no sleep.
const SLEEP_LEAST_NS: i128 = 500_000_000;

/// Time since the start without sleep, in nanoseconds: the performance counter less the sleep since the first reading,
/// as far as that is half a second or more.
pub(crate) fn monotonic_ns() -> Option<i128> {
    static AWAKE: OnceLock<i128> = OnceLock::new();
    let difference_ns = tick_difference_ns()?;
    let slept_ns = difference_ns - AWAKE.get_or_init(|| difference_ns);
    Some(boot_ns()? - if slept_ns < SLEEP_LEAST_NS { 0 } else { slept_ns })
}

/// Calendar clock, in nanoseconds since 1970.
pub(crate) fn calendar_ns() -> Option<i128> {
    let mut time = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: the system writes to the place of ours alone.
    unsafe { GetSystemTimePreciseAsFileTime(&raw mut time) };
    let since_1601 = i128::from(time.dwHighDateTime) << 32 | i128::from(time.dwLowDateTime);
    Some((since_1601 - EPOCH_100_NS) * 100)
}

/// Performance counter, which counts while the machine sleeps, in nanoseconds.
pub(crate) fn boot_ns() -> Option<i128> {
    let (mut counter, mut frequency_hz) = (0, 0);
    // SAFETY: both write to places of ours; neither fails since Windows XP.
    let told = unsafe {
        QueryPerformanceCounter(&raw mut counter) != 0
            && QueryPerformanceFrequency(&raw mut frequency_hz) != 0
    };
    (told && frequency_hz > 0).then(|| i128::from(counter) * 1_000_000_000 / i128::from(frequency_hz))
}

/// The clock that the system trusts.
pub(crate) fn source() -> Option<String> {
    Some("QueryPerformanceCounter".to_owned())
}

/// By how much the clock that counts sleep is ahead of the one that does not.
fn tick_difference_ns() -> Option<i128> {
    let mut unbiased_100_ns = 0;
    // SAFETY: the first call writes to a place of ours, the second reads nothing.
    let (told, ticks_ms) =
        unsafe { (QueryUnbiasedInterruptTime(&raw mut unbiased_100_ns), GetTickCount64()) };
    (told != 0).then(|| i128::from(ticks_ms) * 1_000_000 - i128::from(unbiased_100_ns) * 100)
}
