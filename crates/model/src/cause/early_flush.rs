//! Facts of the check `early-flush`.

use serde::Serialize;

/// Flush that ended sooner than the medium allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EarlyFlush {
    /// Half of the commits took less than half a rotation of the fastest disks.
    BeforeRotation {
        /// Median time of a commit: its write and flush.
        commit_ns_p50: f64,
        /// Half a rotation.
        half_rotation_ns: f64,
    },
    /// Flushes took less than a command to the drive.
    BeforeCommand {
        /// Mean time of a flush.
        flush_ns_mean: f64,
        /// Shortest time of a command and its answer.
        command_ns: f64,
    },
    /// Flushes of another tool's run took less than a command to any drive.
    BeforeAnyDrive {
        /// Mean time of a flush.
        flush_ns_mean: f64,
    },
    /// What the medium is cannot be seen from here.
    MediumHidden,
}
