//! Disks.

use std::path::Path;

use crate::guard::{Admitted, Intent, Refusal};

/// Refuses it: whether a disk is in use by a volume, and by which, is not judged on macOS.
pub(crate) fn admit(path: &Path, _intent: &Intent) -> Result<Admitted, Refusal> {
    Err(Refusal::new(format!(
        "{} is a disk, which iosonde neither reads nor writes on macOS. It was not touched.",
        path.display()
    ))
    .hint("Measure inside a file system on it: name one of its directories."))
}
