//! Volumes and drives.

use std::path::Path;

use crate::guard::{Admitted, Intent, Refusal};

/// Refuses it: whether a drive is in use by a volume, and by which, is not judged on Windows.
pub(crate) fn admit(path: &Path, _intent: &Intent) -> Result<Admitted, Refusal> {
    Err(Refusal::new(format!(
        "{} is a volume or a drive, which iosonde neither reads nor writes on Windows. It was not touched.",
        path.display()
    ))
    .hint("Measure inside a file system on it: name one of its directories."))
}
