//! Width of the console, and write permission of a folder.

use std::{mem::zeroed, path::Path};

use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, GetConsoleScreenBufferInfo, GetStdHandle, STD_ERROR_HANDLE, STD_OUTPUT_HANDLE,
};

/// Columns of the console on stdout, or on stderr; `None` where neither is one.
pub fn terminal_columns() -> Option<usize> {
    [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE].into_iter().find_map(|standard| {
        // SAFETY: the structure is plain numbers, which the system fills in where the handle is a console.
        let (info, told) = unsafe {
            let mut info: CONSOLE_SCREEN_BUFFER_INFO = zeroed();
            let told = GetConsoleScreenBufferInfo(GetStdHandle(standard), &raw mut info);
            (info, told)
        };
        let columns = i32::from(info.srWindow.Right) - i32::from(info.srWindow.Left) + 1;
        (told != 0 && columns > 0).then_some(columns as usize)
    })
}

/// Returns true if a folder is there. Whether this user may make files in it, only making one tells on Windows.
pub fn may_write_in(folder: &Path) -> bool {
    folder.is_dir()
}
