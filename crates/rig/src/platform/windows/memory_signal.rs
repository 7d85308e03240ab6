//! The system's own signal that memory is short.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::System::Memory::{
    CreateMemoryResourceNotification, LowMemoryResourceNotification, QueryMemoryResourceNotification,
};

/// The signal. Windows gives it at about 32 MB a 4 GB of memory, and below that begins to write programs' pages out.
#[derive(Debug)]
pub(super) struct LowMemory(OwnedHandle);

impl LowMemory {
    pub(super) fn watch() -> Option<Self> {
        // SAFETY: the call takes a number and gives a handle of ours, or none.
        unsafe {
            let handle = CreateMemoryResourceNotification(LowMemoryResourceNotification);
            (!handle.is_null()).then(|| Self(OwnedHandle::from_raw_handle(handle)))
        }
    }

    pub(super) fn is_short(&self) -> Option<bool> {
        let mut short = 0;
        // SAFETY: the handle is open, and the answer a place of ours.
        let told = unsafe { QueryMemoryResourceNotification(self.0.as_raw_handle(), &raw mut short) };
        (told != 0).then_some(short != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_runs_tests_has_memory() {
        let watch = LowMemory::watch().expect("the system has the signal");
        assert_eq!(watch.is_short(), Some(false));
    }
}
