//! A directory: iosonde makes a file of its own there.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use iosonde_model::{DeviceNote, units};
use rustix::{
    fs::{FileType, fstat},
    io::Errno,
};

use super::{
    open::OpenedPath,
    own::{OwnFile, open_of_another},
    own_folder::OwnFolder,
    room::{FilesRoom, files_room, room},
};
use crate::guard::{
    Admitted, FolderNeed, Intent, OwnFiles, ROOM_MIN_BYTES, Refusal, StrayRecorder, Writes, in_words,
    refusal::exchanged, room::Room, unseen,
};
use crate::platform::TargetKind;
use crate::platform::linux::{KERNEL_SECTOR_BYTES, System, keeps_in_memory, mount_of, unmapped_bytes};

/// So many files are named as what could be read instead.
const FILES_NAMED: usize = 3;
/// So many are opened to see whether they hold data: of a folder full of sparse images, not every one.
const FILES_LOOKED_AT: usize = 64;

pub(crate) fn admit(
    path: &Path,
    intent: &Intent,
    recorder: &mut dyn StrayRecorder,
) -> Result<Admitted, Refusal> {
    let (found, room) = looked_at(path, intent)?;
    let room_bytes = if intent.writes == Writes::Everywhere { room.whole_bytes } else { room.own_bytes };
    if room_bytes < ROOM_MIN_BYTES {
        return Err(too_small(path, &room, ROOM_MIN_BYTES, intent.writes));
    }
    let mut own = own_files(&found, path, &intent.own, recorder)?.into_iter();
    let Some(first) = own.next() else { return Err(Refusal::new("No file was asked for.")) };
    let mut notes = Vec::new();
    if room.available_bytes.is_none() {
        notes.push(DeviceNote::SizeNotTold { most_bytes: room.own_bytes });
    }
    Ok(Admitted {
        file: Arc::clone(first.file()),
        path: path.to_owned(),
        kind: TargetKind::Directory,
        own: Some(first),
        more: own.collect(),
        size_bytes: 0,
        room_bytes: Some(room_bytes),
        free_bytes: room.available_bytes,
        writable: true,
        notes,
    })
}

/// Makes the files that this host uses, or opens the one that another host made.
fn own_files(
    found: &OpenedPath,
    path: &Path,
    wanted: &OwnFiles,
    recorder: &mut dyn StrayRecorder,
) -> Result<Vec<OwnFile>, Refusal> {
    let folder = found.handle();
    let made: io::Result<Vec<OwnFile>> = match wanted {
        OwnFiles::Private(count) => (0..*count).map(|_| OwnFile::make(folder, path, recorder)).collect(),
        OwnFiles::Named(names) => {
            names.iter().map(|name| OwnFile::make_as(folder, path, name, recorder)).collect()
        }
        OwnFiles::OfHost0(name) => {
            let opened = open_of_another(path, name, true);
            return opened
                .map(|file| vec![OwnFile::of_another(file)])
                .map_err(|error| unseen(path, 0, &error));
        }
    };
    made.map_err(|error| not_made(path, "file", &error))
}

/// Makes a folder of our own in a directory that has room for what is needed.
pub(crate) fn admit_folder(
    path: &Path,
    need: FolderNeed,
    recorder: &mut dyn StrayRecorder,
) -> Result<OwnFolder, Refusal> {
    let intent = Intent::of(Writes::Needed);
    let (found, room) = looked_at(path, &intent)?;
    if room.own_bytes < need.bytes {
        let refusal = too_small(path, &room, need.bytes, intent.writes);
        return Err(refusal.hint("Or ask for fewer or smaller files (--files, --size)."));
    }
    let room = files_room(found.handle()).map_err(|error| untold(path, &error))?;
    if let Some(room) = room.filter(|room| room.own_files < need.files) {
        return Err(too_few_files(path, need, room));
    }
    OwnFolder::make(found.handle(), path, recorder).map_err(|error| not_made(path, "folder", &error))
}

/// Opens a directory and looks for room in it. Refuses where nothing may be made.
fn looked_at(path: &Path, intent: &Intent) -> Result<(OpenedPath, Room), Refusal> {
    let found = OpenedPath::at(path)?;
    if found.kind() != FileType::Directory {
        return Err(exchanged(path));
    }
    let shown = path.display();
    if intent.read_only {
        return Err(name_files(
            Refusal::new(format!(
                "{shown} is a directory, and with --read-only iosonde makes no file of its own in it."
            )),
            path,
        ));
    }
    let mount = mount_of(&System::real(), found.handle(), path);
    if let Some(mount) = mount.as_ref().filter(|mount| mount.read_only()) {
        let sentence = format!("{shown} lies on a read-only file system ({}).", mount.file_system);
        return Err(name_files(Refusal::new(sentence), path));
    }
    let in_memory = mount.as_ref().is_some_and(|mount| keeps_in_memory(&mount.file_system));
    if let Some(mount) = mount.as_ref().filter(|_| in_memory && intent.writes == Writes::Everywhere) {
        return Err(filled_memory(path, &mount.file_system));
    }
    let room = room(found.handle(), in_memory).map_err(|error| untold(path, &error))?;
    Ok((found, room))
}

fn untold(path: &Path, error: &io::Error) -> Refusal {
    Refusal::new(format!("The free space of {} cannot be read: {}.", path.display(), in_words(error)))
}

/// More files than the file system may take.
fn too_few_files(path: &Path, need: FolderNeed, room: FilesRoom) -> Refusal {
    let shown = path.display();
    let available = units::count(room.available as f64);
    let needed = units::count(need.files as f64);
    Refusal::new(format!(
        "The file system of {shown} has too few free inodes: iosonde needs {needed}, and takes at most half of the \
         {available} that are available to this user."
    ))
    .hint("It also leaves a tenth of the file system.")
    .hint("Ask for fewer files (--files), or name a directory on another file system.")
}

/// Taking all room there is would take all memory.
fn filled_memory(path: &Path, file_system: &str) -> Refusal {
    let shown = path.display();
    let sentence = format!("{shown} lies in memory ({file_system}), and this would fill it.");
    Refusal::new(sentence).hint("Name a directory on storage.")
}

fn too_small(path: &Path, room: &Room, least_bytes: u64, writes: Writes) -> Refusal {
    let shown = path.display();
    let least = units::size(least_bytes);
    if room.process_limit {
        let most = units::size(room.own_bytes);
        return Refusal::new(format!(
            "This process may make files of {most} at most (ulimit -f), and iosonde needs {least} in {shown}."
        ));
    }
    let available = units::size(room.available_bytes.unwrap_or(0));
    let total = units::size(room.total_bytes);
    let sentence = format!(
        "The file system of {shown} has too little room: {available} of {total} are available to this user."
    );
    let rule = match writes {
        Writes::Everywhere => format!("iosonde needs {least}, beside 2 % or 64 MiB that it leaves."),
        _ => format!(
            "iosonde needs {least}, takes at most half of what is available, and leaves a tenth \
             of the file system, or 10 GiB of a large one."
        ),
    };
    let refusal = Refusal::new(sentence)
        .hint(rule)
        .hint("Free some space, or name a directory on another file system.");
    // The files that fill it can be read instead.
    add_files(refusal, &readable_files(path, ROOM_MIN_BYTES))
}

fn not_made(path: &Path, what: &str, error: &io::Error) -> Refusal {
    let shown = path.display();
    let words = in_words(error);
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
            name_files(Refusal::new(format!("This user may not make a {what} in {shown} ({words}).")), path)
        }
        Some(Errno::NOSPC | Errno::DQUOT) => {
            Refusal::new(format!("There is no room for a {what} in {shown}: {words}."))
                .hint("Free some space, or name a directory on another file system.")
        }
        _ => Refusal::new(format!("A {what} could not be made in {shown}: {words}."))
            .hint("Name a directory on a file system that keeps files."),
    }
}

/// Adds the files in the directory that could be read instead, the largest first.
fn name_files(refusal: Refusal, path: &Path) -> Refusal {
    let files = readable_files(path, ROOM_MIN_BYTES);
    if files.is_empty() {
        let least = units::size(ROOM_MIN_BYTES);
        return refusal.hint(format!(
            "No file in it that this user may read holds {least} or more of data either. Name another directory."
        ));
    }
    add_files(refusal, &files)
}

fn add_files(refusal: Refusal, files: &[(u64, PathBuf)]) -> Refusal {
    files.iter().fold(refusal, |refusal, (size_bytes, file)| {
        refusal.reading(format!("Read a file in it ({})", units::size(*size_bytes)), file)
    })
}

/// Files that hold at least so much data and can be read, the largest first.
fn readable_files(folder: &Path, least_bytes: u64) -> Vec<(u64, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            // Not through links: what they lead to may lie on other storage.
            let metadata = fs::symlink_metadata(&path).ok()?;
            (metadata.is_file() && metadata.size() >= least_bytes).then_some((metadata.size(), path))
        })
        .collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    let data =
        files.into_iter().take(FILES_LOOKED_AT).filter(|(size_bytes, path)| is_data(path, *size_bytes));
    data.take(FILES_NAMED).collect()
}

/// Returns true if a file can be read and is data from end to end, but for a tenth: reading holes measures memory.
fn is_data(path: &Path, size_bytes: u64) -> bool {
    let Ok(file) = OpenedPath::at(path).map_err(drop).and_then(|found| found.open_read_only().map_err(drop))
    else {
        return false;
    };
    let allocated_bytes = fstat(&file).map_or(0, |stat| stat.st_blocks.unsigned_abs() * KERNEL_SECTOR_BYTES);
    // Allocated and never written is a hole to a reader, and only some file systems tell holes.
    let holes_bytes = unmapped_bytes(&file, 0..size_bytes).unwrap_or(0);
    allocated_bytes.min(size_bytes - holes_bytes) >= size_bytes / 10 * 9
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// A file of so many KiB, all of them data.
    fn data(folder: &Path, name: &str, kib: usize) -> File {
        fs::write(folder.join(name), vec![1; kib << 10]).unwrap();
        File::options().write(true).open(folder.join(name)).unwrap()
    }

    #[test]
    fn the_largest_files_that_hold_data_are_named_and_links_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for (name, kib) in [("a", 640), ("b", 960), ("c", 512), ("d", 800), ("small", 508)] {
            data(folder.path(), name, kib);
        }
        // The largest of all, and nothing in it; half of one; one that is promised its blocks and has none.
        data(folder.path(), "sparse", 0).set_len(1 << 30).unwrap();
        data(folder.path(), "half", 1024).set_len(2 << 20).unwrap();
        let promised = data(folder.path(), "promised", 0);
        let _ = rustix::fs::fallocate(&promised, rustix::fs::FallocateFlags::empty(), 0, 4 << 20);
        std::os::unix::fs::symlink(folder.path().join("b"), folder.path().join("link")).unwrap();
        let files = readable_files(folder.path(), 512 << 10);
        let names: Vec<_> = files.iter().map(|(_, path)| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["b", "d", "a"]);
        let refusal = add_files(Refusal::new("No."), &files);
        assert_eq!(refusal.advice.len(), 3);
        assert_eq!(refusal.advice[0].what, "Read a file in it (960 KiB)");
        assert!(refusal.advice[0].arguments.as_ref().unwrap().ends_with("/b --read-only"));
    }

    #[test]
    fn where_only_holes_could_be_read_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        data(folder.path(), "sparse", 0).set_len(1 << 30).unwrap();
        let refusal = name_files(Refusal::new("No."), folder.path());
        assert_eq!(refusal.advice.len(), 1);
        assert!(refusal.advice[0].what.contains("64 MiB or more of data"), "{}", refusal.advice[0].what);
    }

    #[test]
    fn a_full_file_system_says_how_full() {
        let room = Room {
            available_bytes: Some(12 << 20),
            total_bytes: 1 << 30,
            own_bytes: 0,
            whole_bytes: 0,
            process_limit: false,
        };
        let text = too_small(Path::new("/mnt"), &room, ROOM_MIN_BYTES, Writes::Needed).to_string();
        assert!(
            text.starts_with("The file system of /mnt has too little room: 12 MiB of 1 GiB are available"),
            "{text}"
        );
    }

    #[test]
    fn causes_are_told_apart() {
        let text =
            |errno| not_made(Path::new("/mnt"), "file", &io::Error::from_raw_os_error(errno)).to_string();
        assert!(text(libc::EACCES).starts_with("This user may not make a file in /mnt (permission denied)."));
        assert!(text(libc::EDQUOT).contains("no room"));
        assert!(text(libc::EIO).contains("could not be made"));
    }
}
