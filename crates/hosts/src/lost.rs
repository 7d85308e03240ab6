//! How a run on many hosts fails: a host that is gone, or one that refuses.

use std::{error, fmt, io};

/// Hosts that sent nothing for too long, or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Their numbers and names.
    pub hosts: Vec<(u32, String)>,
    /// What they were expected to send.
    pub awaited: &'static str,
    /// Seconds for which it was waited; `None` where the run was being ended anyway.
    pub after_s: Option<u64>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.hosts.iter().map(|(rank, name)| host(*rank, name)).collect();
        let hosts = hosts.join(", ");
        match self.after_s {
            Some(after_s) => write!(
                f,
                "{hosts}: no {} for {after_s} s; the process, its machine or its network is gone, or its storage hangs",
                self.awaited
            ),
            None => write!(f, "{hosts}: ended, or was killed, before it sent its {}", self.awaited),
        }
    }
}

impl error::Error for Lost {}

/// A host that cannot do its part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its number.
    pub rank: u32,
    /// Name of its machine.
    pub name: String,
    /// What it said.
    pub why: String,
    /// Whether it is a matter of what was asked, before anything was written.
    pub usage: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", host(self.rank, &self.name), self.why)
    }
}

impl error::Error for Refused {}

/// A host as people read it: the same machine may run several.
fn host(rank: u32, name: &str) -> String {
    if name.is_empty() { format!("host {rank}") } else { format!("host {rank} ({name})") }
}

impl From<Lost> for io::Error {
    fn from(lost: Lost) -> Self {
        Self::other(lost)
    }
}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::other(refused)
    }
}
