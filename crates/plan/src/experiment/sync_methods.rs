//! What each way of making a write durable costs.
//!
//! One writer appends in order, and each write is durable before the next: by `fdatasync`, by `fsync`, or because the
//! file was opened with `O_DSYNC` or `O_SYNC`; with direct and buffered I/O. `sync_file_range` is not among them: it
//! starts writing pages back, but neither flushes the drive's cache nor writes the file's length, so that nothing is
//! durable after it (sync_file_range(2)).
//!
//! Parameters: `rw` (`write`), `block_size`, `sync` (the methods), `buffered` (`true`, `false` or both).
//!
//! How to read it: one row for each method, its commits per second and the latency of a commit. Methods that send the
//! drive the same commands cost the same. `fsync` and `O_SYNC` also write the file's times, which on most file systems
//! is a second write. `O_DSYNC` with direct I/O lets the kernel mark each write as durable (FUA) instead of flushing
//! the whole cache, where the drive takes that.
//!
//! Traps:
//! - On a drive whose cache outlives a power failure all methods are fast and alike. On one that ignores flushes, too:
//!   the check `early-flush` looks for that.
//! - The area is filled beforehand. Appending to a file that grows also writes its length each time, which makes
//!   `fdatasync` as slow as `fsync`.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct SyncMethods;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"write\""),
    grid::block_size("\"8k\""),
    grid::depth("1"),
    grid::sync("[\"fdatasync:1\", \"fsync:1\", \"dsync\", \"osync\"]"),
    grid::buffered("[false, true]"),
];

impl Experiment for SyncMethods {
    fn id(&self) -> ExperimentName {
        ExperimentName::SyncMethods
    }

    fn question(&self) -> &'static str {
        "Which way of making a write durable is the fastest here, and what does each cost?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn point_by_point(&self) -> bool {
        true
    }
}
