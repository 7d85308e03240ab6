//! Process groups, by which others end processes.

/// Which process group a process belongs to that measures under another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessGroup {
    /// That of the process which waits for it: a shell knows both as one.
    Shared,
    /// One of its own, so that who kills that of the other process leaves it time to remove its files. Open MPI kills
    /// 3 to 11 ms after it has asked.
    Own,
}
