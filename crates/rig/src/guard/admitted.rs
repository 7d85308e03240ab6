//! A target that passed all checks.

use std::{fs::File, path::PathBuf, sync::Arc};

use iosonde_model::DeviceNote;

use crate::platform::{TargetKind, guard::OwnFile};

/// An open target, judged.
#[derive(Debug)]
pub struct Admitted {
    /// The only descriptor to measure through. Cannot write unless `writable`.
    pub file: Arc<File>,
    /// Path as typed.
    pub path: PathBuf,
    /// Kind of the target.
    pub kind: TargetKind,
    /// iosonde's own file, in a directory; nothing remains of it when this is dropped.
    pub own: Option<OwnFile>,
    /// Its files beside the first, where several were asked for.
    pub more: Vec<OwnFile>,
    /// Present size: 0 for a fresh own file.
    pub size_bytes: u64,
    /// The most that may be filled, where that is not the present size: of an own file, its largest size;
    /// of a sparse file, what there is room for.
    pub room_bytes: Option<u64>,
    /// Free space in the file system of a directory, where it is known.
    pub free_bytes: Option<u64>,
    /// True if the target may be written.
    pub writable: bool,
    /// Notes on the target that a reader must know.
    pub notes: Vec<DeviceNote>,
}
