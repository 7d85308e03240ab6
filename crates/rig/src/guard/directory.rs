//! A directory: iosonde makes a file of its own there.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use iosonde_model::units;
use rustix::{
    fs::{Access, FileType},
    io::Errno,
};

use super::{
    Admitted, Intent, Kind, OwnFile, Refusal, StrayRecorder, exchanged,
    open::Found,
    room::{ROOM_MIN_BYTES, Room, room},
    target::in_words,
};
use crate::platform::{System, keeps_in_memory, mount_of};

/// So many files are named as what could be read instead.
const FILES_NAMED: usize = 3;

pub(super) fn admit(
    path: &Path,
    intent: &Intent,
    recorder: &mut dyn StrayRecorder,
) -> Result<Admitted, Refusal> {
    let found = Found::at(path)?;
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
    let room = room(found.handle(), in_memory).map_err(|error| {
        Refusal::new(format!("The free space of {shown} cannot be read: {}.", in_words(&error)))
    })?;
    if room.own_bytes < ROOM_MIN_BYTES {
        return Err(too_small(path, &room));
    }
    let own = OwnFile::make(found.handle(), path, recorder).map_err(|error| not_made(path, &error))?;
    let mut notes = Vec::new();
    if room.available_bytes.is_none() {
        let most = units::size(room.own_bytes);
        notes.push(format!("the file system does not tell its size, so the file stays at or below {most}"));
    }
    Ok(Admitted {
        file: Arc::clone(own.file()),
        path: path.to_owned(),
        kind: Kind::Directory,
        own: Some(own),
        size_bytes: 0,
        room_bytes: Some(room.own_bytes),
        writable: true,
        notes,
    })
}

fn too_small(path: &Path, room: &Room) -> Refusal {
    let shown = path.display();
    let least = units::size(ROOM_MIN_BYTES);
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
    Refusal::new(sentence)
        .hint(format!(
            "iosonde needs {least}, takes at most half of what is available, and leaves a tenth \
             of the file system."
        ))
        .hint("Free some space, or name a directory on another file system.")
}

fn not_made(path: &Path, error: &io::Error) -> Refusal {
    let shown = path.display();
    let words = in_words(error);
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
            name_files(Refusal::new(format!("This user may not make a file in {shown} ({words}).")), path)
        }
        Some(Errno::NOSPC | Errno::DQUOT) => {
            Refusal::new(format!("There is no room for a file in {shown}: {words}."))
                .hint("Free some space, or name a directory on another file system.")
        }
        _ => Refusal::new(format!("A file could not be made in {shown}: {words}.")),
    }
}

/// Adds the files in the directory that could be read instead, the largest first.
fn name_files(refusal: Refusal, path: &Path) -> Refusal {
    let files = readable_files(path);
    if files.is_empty() {
        let least = units::size(ROOM_MIN_BYTES);
        return refusal
            .hint(format!("No file of {least} or more in it can be read either. Name another directory."));
    }
    files.iter().fold(refusal, |refusal, (size_bytes, file)| {
        refusal.command(format!("Read a file in it ({})", units::size(*size_bytes)), file, "--read-only")
    })
}

fn readable_files(folder: &Path) -> Vec<(u64, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            // Not through links: what they lead to may lie on other storage.
            let metadata = fs::symlink_metadata(&path).ok()?;
            let readable = || rustix::fs::access(&path, Access::READ_OK).is_ok();
            (metadata.is_file() && metadata.size() >= ROOM_MIN_BYTES && readable())
                .then_some((metadata.size(), path))
        })
        .collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    files.truncate(FILES_NAMED);
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_largest_files_are_named_and_links_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mib) in [("a", 70), ("b", 90), ("c", 64), ("d", 80), ("small", 63)] {
            File::create(folder.path().join(name)).unwrap().set_len(mib << 20).unwrap();
        }
        std::os::unix::fs::symlink(folder.path().join("b"), folder.path().join("link")).unwrap();
        let names: Vec<_> = readable_files(folder.path())
            .iter()
            .map(|(_, path)| path.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["b", "d", "a"]);
        let refusal = name_files(Refusal::new("No."), folder.path());
        assert_eq!(refusal.advice.len(), 3);
        assert_eq!(refusal.advice[0].what, "Read a file in it (90 MiB)");
        assert!(refusal.advice[0].arguments.as_ref().unwrap().ends_with("/b --read-only"));
    }

    #[test]
    fn a_full_file_system_says_how_full() {
        let room = Room {
            available_bytes: Some(12 << 20),
            total_bytes: 1 << 30,
            own_bytes: 0,
            process_limit: false,
        };
        let text = too_small(Path::new("/mnt"), &room).to_string();
        assert!(
            text.starts_with("The file system of /mnt has too little room: 12 MiB of 1 GiB are available"),
            "{text}"
        );
    }

    #[test]
    fn causes_are_told_apart() {
        let text = |errno| not_made(Path::new("/mnt"), &io::Error::from_raw_os_error(errno)).to_string();
        assert!(text(libc::EACCES).starts_with("This user may not make a file in /mnt (permission denied)."));
        assert!(text(libc::EDQUOT).contains("no room"));
        assert!(text(libc::EIO).contains("could not be made"));
    }
}
