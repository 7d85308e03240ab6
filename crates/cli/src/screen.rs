//! Where results and messages go: stdout holds results only, everything else goes to stderr.

use std::io::{self, IsTerminal, Write};

use iosonde_report::{Paint, clean};

use crate::hosts::Hosts;
use crate::{args::Shared, failure::Failure};

/// Both streams, and how they may be used.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether stdout may carry colour.
    pub color: bool,
    /// Columns for results.
    pub width: usize,
    /// Whether a live progress line may be drawn on stderr.
    pub live: bool,
    /// Whether messages are wanted.
    pub quiet: bool,
    /// Whether every trial is reported.
    pub verbose: bool,
    /// Whether a result may replace a file that iosonde did not write.
    pub force: bool,
}

impl Screen {
    /// As the options and the terminals say.
    pub fn new(shared: &Shared) -> Self {
        // mpirun gives rank 0 a terminal, wherever its own output goes.
        let terminal = io::stdout().is_terminal() && Hosts::of_process().count() == 1;
        // https://no-color.org: any value that is not empty.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = match shared.color {
            crate::args::When::Always => true,
            crate::args::When::Never => false,
            crate::args::When::Auto => terminal && !no_color,
        };
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let width = columns.or_else(iosonde_rig::platform::terminal_columns).unwrap_or(80);
        Self {
            color,
            // Narrower than 40 breaks numbers from their units, wider than 100 is hard to read.
            width: width.clamp(40, 100),
            live: io::stderr().is_terminal() && !shared.no_progress && !shared.quiet,
            quiet: shared.quiet,
            verbose: shared.verbose,
            force: shared.force,
        }
    }

    /// Shows nothing.
    pub fn silent() -> Self {
        Self { color: false, width: 80, live: false, quiet: true, verbose: false, force: false }
    }

    /// How results are painted.
    pub fn paint(&self) -> Paint {
        Paint { color: self.color, width: self.width }
    }

    /// Prints a result. A reader that went away (`| head`) is no failure.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::failed(format!("the result could not be written to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints a message for the person who waits.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr().lock(), "{}", lines(text));
        }
    }

    /// Prints why the command ends, even where messages are not wanted.
    pub fn complain(text: &str) {
        let _ = writeln!(io::stderr().lock(), "iosonde: {}", lines(text));
    }
}

/// A message with names from outside in it, line by line.
fn lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}
