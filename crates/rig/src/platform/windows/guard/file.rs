//! An existing file.

use std::{fs::File, io, path::Path, sync::Arc};

use iosonde_model::units;
use windows_sys::Win32::Foundation::{ERROR_SHARING_VIOLATION, GENERIC_READ, GENERIC_WRITE};

use crate::{
    guard::{Admitted, Destroy, Intent, Refusal, in_words, refusal::exchanged, target::unreachable_path},
    platform::{
        TargetKind,
        windows::{
            files::identity,
            handle::{SHARED, open},
        },
    },
};

pub(crate) fn admit(path: &Path, intent: &Intent) -> Result<Admitted, Refusal> {
    let shown = path.display();
    let writable = intent.will_write();
    let found = std::fs::metadata(path).map_err(|error| unreachable_path(path, &error))?;
    if !found.is_file() {
        return Err(exchanged(path));
    }
    let size_bytes = found.len();
    if size_bytes == 0 {
        return Err(beside(Refusal::new(format!("{shown} is empty: nothing in it to measure.")), path));
    }
    if writable {
        judge(path, size_bytes, intent)?;
    }
    let file = if writable { open_writable(path)? } else { open_readable(path)? };
    Ok(Admitted {
        file: Arc::new(file),
        path: path.to_owned(),
        kind: TargetKind::File,
        own: None,
        more: Vec::new(),
        size_bytes,
        room_bytes: None,
        free_bytes: None,
        writable,
        notes: Vec::new(),
    })
}

/// Refuses a file that the run itself needs, and one for which the user has not given the word.
fn judge(path: &Path, size_bytes: u64, intent: &Intent) -> Result<(), Refusal> {
    let shown = path.display();
    let itself = identity(path).ok();
    let is_it = |other: &Path| itself.is_some() && identity(other).ok() == itself;
    if let Some(what) = intent.protects(is_it) {
        let sentence = format!("{shown} is {what}. No measurement writes to it, and it was not touched.");
        return Err(beside(Refusal::new(sentence), path));
    }
    match &intent.destroy {
        Some(Destroy::Plain) => Ok(()),
        Some(Destroy::Identity(typed)) => Err(Refusal::new(format!(
            "--destroy={typed} names a device, and {shown} is a file. It was not touched."
        ))
        .command("Overwrite the file", path, "--destroy")),
        None => {
            let size = units::size(size_bytes);
            let sentence = format!("{shown} is an existing file of {size}, and this would overwrite it.");
            let refusal = Refusal::new(sentence).without_writing(path);
            Err(beside(refusal, path).command("Overwrite it", path, "--destroy"))
        }
    }
}

/// First for oneself alone, which fails where any program has the file open; then so that engines can open it again.
fn open_writable(path: &Path) -> Result<File, Refusal> {
    let access = GENERIC_READ | GENERIC_WRITE;
    open(path, access, 0, 0).map_err(|error| not_opened(path, "written", &error))?;
    open(path, access, SHARED, 0).map_err(|error| not_opened(path, "written", &error))
}

fn open_readable(path: &Path) -> Result<File, Refusal> {
    open(path, GENERIC_READ, SHARED, 0).map_err(|error| not_opened(path, "read", &error))
}

fn not_opened(path: &Path, verb: &str, error: &io::Error) -> Refusal {
    let shown = path.display();
    if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32) {
        return Refusal::new(format!("{shown} is open in another program. It was not touched."))
            .without_writing(path)
            .hint("Close that program, or another iosonde that measures it.");
    }
    Refusal::new(format!("{shown} cannot be {verb}: {}.", in_words(error)))
}

fn beside(refusal: Refusal, path: &Path) -> Refusal {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    refusal.command("Measure beside it, with a file of iosonde's own", folder, "")
}
