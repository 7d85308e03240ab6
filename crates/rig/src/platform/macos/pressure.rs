//! Pressure on the machine: heat, and memory that is short.

use std::ffi::{CStr, c_char, c_int};

use iosonde_model::ThermalPressure;

use super::host::number32;
use crate::platform::apple::pressure;

/// `kOSThermalNotificationPressureLevelName` (libkern/OSThermalNotification.h).
const THERMAL: &CStr = c"com.apple.system.thermalpressurelevel";

// Of libSystem (notify.h); 0 says that a call did what it should.
unsafe extern "C" {
    fn notify_register_check(name: *const c_char, token: *mut c_int) -> u32;
    fn notify_get_state(token: c_int, state: *mut u64) -> u32;
    fn notify_cancel(token: c_int) -> u32;
}

/// Registration for the thermal pressure. Reading it is a look into shared memory.
#[derive(Debug)]
pub(super) struct Thermal(c_int);

impl Thermal {
    pub(super) fn register() -> Option<Self> {
        let mut token = 0;
        // SAFETY: the name ends with a zero, and the token is a place of ours.
        let failed = unsafe { notify_register_check(THERMAL.as_ptr(), &raw mut token) };
        (failed == 0).then_some(Self(token))
    }

    pub(super) fn pressure(&self) -> Option<ThermalPressure> {
        let mut level = 0;
        // SAFETY: the token was given to us and is not yet cancelled; the level is a place of ours.
        let failed = unsafe { notify_get_state(self.0, &raw mut level) };
        ThermalPressure::of_level(level).filter(|_| failed == 0)
    }
}

impl Drop for Thermal {
    fn drop(&mut self) {
        // SAFETY: the token was given to us, and nothing uses it any more.
        unsafe { notify_cancel(self.0) };
    }
}

/// Whether the kernel says that memory is short.
pub(super) fn memory_short() -> Option<bool> {
    pressure::memory_short(number32(c"kern.memorystatus_vm_pressure_level")?)
}
