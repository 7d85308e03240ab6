//! A directory: iosonde makes a file of its own there.

use std::{io, path::Path, sync::Arc};

use iosonde_model::units;

use super::own::OwnFile;
use crate::{
    guard::{Admitted, Intent, ROOM_MIN_BYTES, Refusal, StrayRecorder, Writes, in_words, share},
    platform::{TargetKind, no_shared_files::private_files, windows::files::space},
};

pub(crate) use crate::platform::no_small_files::admit_folder;

pub(crate) fn admit(
    path: &Path,
    intent: &Intent,
    _recorder: &mut dyn StrayRecorder,
) -> Result<Admitted, Refusal> {
    let shown = path.display();
    if intent.read_only {
        return Err(Refusal::new(format!(
            "{shown} is a directory, and with --read-only iosonde makes no file of its own in it."
        ))
        .hint("Name an existing file to read."));
    }
    let (available_bytes, total_bytes) = space(path).map_err(|error| {
        Refusal::new(format!("The free space of {shown} cannot be read: {}.", in_words(&error)))
    })?;
    let room = share(total_bytes, Some(available_bytes), None);
    let room_bytes = if intent.writes == Writes::Everywhere { room.whole_bytes } else { room.own_bytes };
    if room_bytes < ROOM_MIN_BYTES {
        let (available, total) = (units::size(available_bytes), units::size(total_bytes));
        return Err(Refusal::new(format!(
            "The volume of {shown} has too little room: {available} of {total} are available to this user."
        ))
        .hint("Free some space, or name a directory on another volume."));
    }
    let files = private_files(&intent.own)?;
    let made: io::Result<Vec<OwnFile>> = (0..files).map(|_| OwnFile::make(path)).collect();
    let own = made.map_err(|error| {
        Refusal::new(format!("A file could not be made in {shown}: {}.", in_words(&error)))
            .hint("Name a directory in which this user may make files.")
    })?;
    let mut own = own.into_iter();
    let Some(first) = own.next() else { return Err(Refusal::new("No file was asked for.")) };
    Ok(Admitted {
        file: Arc::clone(first.file()),
        path: path.to_owned(),
        kind: TargetKind::Directory,
        own: Some(first),
        more: own.collect(),
        size_bytes: 0,
        room_bytes: Some(room_bytes),
        free_bytes: Some(available_bytes),
        writable: true,
        notes: Vec::new(),
    })
}
