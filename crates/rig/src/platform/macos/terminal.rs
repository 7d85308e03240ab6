//! Width of the terminal, and write permission of a folder.

use std::path::Path;

use rustix::fs::{Access, access};

/// Columns of the terminal on stdout, or on stderr; `None` where neither is one.
pub fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(std::io::stderr()))
        .ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Returns true if this process may make files in a folder: permissions and read-only mounts are checked by the kernel.
pub fn may_write_in(folder: &Path) -> bool {
    folder.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}
