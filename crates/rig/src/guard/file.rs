//! An existing regular file.

use std::{fs::File, io, path::Path, sync::Arc};

use iosonde_model::units;
use rustix::{
    fs::{FileType, FlockOperation, OFlags, flock, fstat},
    io::Errno,
};

use super::{
    Admitted, Destroy, Intent, Kind, Refusal, exchanged,
    open::Found,
    room::room,
    target::in_words,
    users::{Thing, user_of_file},
};
use crate::clock::sleep_s;
use crate::platform::{KERNEL_SECTOR_BYTES, System, keeps_in_memory, mount_of};

/// One second in all.
const LOCK_TRIES: u32 = 21;
const LOCK_PAUSE_S: f64 = 0.05;

pub(super) fn admit(path: &Path, intent: &Intent) -> Result<Admitted, Refusal> {
    let found = Found::at(path)?;
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
        open_writable(path, &found)?
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
        kind: Kind::File,
        own: None,
        size_bytes,
        room_bytes,
        free_bytes: None,
        writable,
        notes: Vec::new(),
    })
}

/// Refuses a file that something else lives on, and one for which the user has not given the word.
fn judge(path: &Path, found: &Found, size_bytes: u64, intent: &Intent) -> Result<(), Refusal> {
    let shown = path.display();
    if let Some(user) = user_of_file(&System::real(), Thing::of(&found.stat)) {
        let refusal = Refusal::new(format!("{shown} {user}. It was not touched."));
        return Err(without_writing(refusal, path));
    }
    match &intent.destroy {
        Some(Destroy::Plain) => Ok(()),
        Some(Destroy::Identity(identity)) => {
            let sentence =
                format!("--destroy={identity} names a device, and {shown} is a file. It was not touched.");
            Err(Refusal::new(sentence).command("Overwrite the file", path, "--destroy"))
        }
        None => {
            let size = units::size(size_bytes);
            let sentence = format!("{shown} is an existing file of {size}, and this would overwrite it.");
            let refusal = without_writing(Refusal::new(sentence), path);
            Err(beside(refusal, path).command("Overwrite it", path, "--destroy"))
        }
    }
}

fn open_writable(path: &Path, found: &Found) -> Result<File, Refusal> {
    let shown = path.display();
    let file = found.open(OFlags::RDWR).map_err(|error| {
        let refusal = Refusal::new(format!("{shown} cannot be written: {}.", in_words(&error)));
        without_writing(refusal, path)
    })?;
    // Two measurements on one file would measure each other. Where there are no locks there is nothing to
    // ask.
    if !locked_in_time(&file) {
        return Err(Refusal::new(format!("{shown} is locked by another program. It was not touched."))
            .hint("Another iosonde may be measuring it. Wait until it ends."));
    }
    Ok(file)
}

/// A killed program's lock outlives it while the kernel closes its rings: tenths of a second.
fn locked_in_time(file: &File) -> bool {
    let locked = || flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK);
    (0..LOCK_TRIES).any(|tried| {
        if tried > 0 {
            sleep_s(LOCK_PAUSE_S);
        }
        locked()
    })
}

fn without_writing(refusal: Refusal, path: &Path) -> Refusal {
    refusal.command("Measure it without writing", path, "--read-only")
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
