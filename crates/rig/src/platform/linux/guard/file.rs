//! An existing regular file.

use std::{fs::File, io, path::Path, sync::Arc};

use iosonde_model::units;
use rustix::{
    fs::{FileType, FlockOperation, OFlags, flock, fstat},
    io::Errno,
};

use super::{
    held::{Held, held, held_by_strangers},
    inode::Inode,
    open::OpenedPath,
    room::room,
    users::user_of_file,
};
use crate::guard::{Admitted, Destroy, Intent, Refusal, in_words, refusal::exchanged};
use crate::platform::TargetKind;
use crate::platform::linux::{KERNEL_SECTOR_BYTES, System, keeps_in_memory, locked_by_the_killed, mount_of};

pub(crate) fn admit(path: &Path, intent: &Intent) -> Result<Admitted, Refusal> {
    let found = OpenedPath::at(path)?;
    if found.kind() != FileType::RegularFile {
        return Err(exchanged(path));
    }
    let size_bytes = u64::try_from(found.stat.st_size).unwrap_or(0);
    if size_bytes == 0 {
        return Err(beside(
            Refusal::new(format!("{} is empty: nothing in it to measure.", path.display())),
            path,
        ));
    }
    let file = if intent.will_write() {
        judge(path, &found, size_bytes, intent)?;
        open_writable(path, &found, intent.beside_host0)?
    } else {
        found.open_read_only().map_err(|error| {
            Refusal::new(format!("{} cannot be read: {}.", path.display(), in_words(&error)))
        })?
    };
    let writable = intent.will_write();
    let room_bytes = if writable { room_where_sparse(&file, path, size_bytes) } else { None };
    Ok(Admitted {
        file: Arc::new(file),
        path: path.to_owned(),
        kind: TargetKind::File,
        own: None,
        more: Vec::new(),
        size_bytes,
        room_bytes,
        free_bytes: None,
        writable,
        notes: Vec::new(),
    })
}

/// Refuses a file that something else lives on, and one for which the user has not given the word.
fn judge(path: &Path, found: &OpenedPath, size_bytes: u64, intent: &Intent) -> Result<(), Refusal> {
    let shown = path.display();
    if let Some(user) = user_of_file(&System::real(), Inode::of(&found.stat)) {
        let refusal = Refusal::new(format!("{shown} {user}. It was not touched."));
        return Err(refusal.without_writing(path));
    }
    if let Some(what) = intent.protects(|path| Inode::of(&found.stat).is_at(path)) {
        let sentence = format!("{shown} is {what}. No measurement writes to it, and it was not touched.");
        return Err(beside(Refusal::new(sentence), path));
    }
    let identity = format!("inode-{}", found.stat.st_ino);
    match &intent.destroy {
        Some(Destroy::Plain) => match in_use(found, intent.beside_host0) {
            None => Ok(()),
            Some(Held::Flock) => Err(locked(path)),
            Some(held) => {
                let refusal = Refusal::new(format!("{shown} {held}. It was not touched."));
                let option = format!("--destroy={identity}");
                Err(beside(refusal.without_writing(path), path).command(
                    "Destroy its contents under that program",
                    path,
                    &option,
                ))
            }
        },
        Some(Destroy::Identity(typed)) if *typed == identity => match in_use(found, intent.beside_host0) {
            Some(Held::Flock) => Err(locked(path)),
            _ => Ok(()),
        },
        Some(Destroy::Identity(typed)) => {
            let sentence = format!(
                "--destroy={typed} does not name the file {shown}, which is {identity}. It was not touched."
            );
            Err(Refusal::new(sentence).command("Overwrite the file", path, "--destroy"))
        }
        None => {
            let size = units::size(size_bytes);
            let sentence = format!("{shown} is an existing file of {size}, and this would overwrite it.");
            let refusal = Refusal::new(sentence).without_writing(path);
            Err(beside(refusal, path).command("Overwrite it", path, "--destroy"))
        }
    }
}

fn open_writable(path: &Path, found: &OpenedPath, beside_host0: bool) -> Result<File, Refusal> {
    let shown = path.display();
    let file = found.open(OFlags::RDWR).map_err(|error| {
        let refusal = Refusal::new(format!("{shown} cannot be written: {}.", in_words(&error)));
        refusal.without_writing(path)
    })?;
    if beside_host0 {
        // Host 0 has the lock for all of them.
        return Ok(file);
    }
    // Two measurements on one file would measure each other. Where there are no locks there is nothing to
    // ask.
    let taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
    if taken == Err(Errno::WOULDBLOCK) && !locked_by_the_killed(&file) {
        return Err(locked(path));
    }
    Ok(file)
}

/// Who else has the file. One that cannot be read cannot be asked; opening it to write will say why.
fn in_use(found: &OpenedPath, beside_host0: bool) -> Option<Held> {
    let held = if beside_host0 { held_by_strangers } else { held };
    held(&found.open_read_only().ok()?, Inode::of(&found.stat))
}

fn locked(path: &Path) -> Refusal {
    Refusal::new(format!("{} is locked by another program. It was not touched.", path.display()))
        .hint("Another iosonde may be measuring it. Wait until it ends.")
}

fn beside(refusal: Refusal, path: &Path) -> Refusal {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    refusal.command("Measure beside it, with a file of iosonde's own", folder, "")
}

/// Writing into the holes of a sparse file takes room that it does not occupy yet: what may be filled,
/// where that is less than all of it.
fn room_where_sparse(file: &File, path: &Path, size_bytes: u64) -> Option<u64> {
    let allocated_bytes =
        u64::try_from(fstat(file).ok()?.st_blocks).ok()?.checked_mul(KERNEL_SECTOR_BYTES)?;
    if allocated_bytes >= size_bytes {
        return None;
    }
    let mount = mount_of(&System::real(), file, path);
    let in_memory = mount.is_some_and(|mount| keeps_in_memory(&mount.file_system));
    let room: io::Result<_> = room(file, in_memory);
    let may_become_bytes = allocated_bytes.saturating_add(room.ok()?.own_bytes);
    (may_become_bytes < size_bytes).then_some(may_become_bytes)
}
