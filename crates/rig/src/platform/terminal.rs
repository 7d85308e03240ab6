//! The terminal's width.

/// Columns of the terminal on stdout, or on stderr; `None` where neither is one.
pub fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(std::io::stderr()))
        .ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
