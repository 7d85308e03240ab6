//! Files that results are written to: whole or not at all, and never over what is no result.
//!
//! A path behind `-o` or `--json` is a user's word to replace what lies there, except where it is plainly a slip: the
//! notebook of runs, a block device, or the very file that is to be measured.

use std::{
    ffi::OsStr,
    fs::{self, File, FileType, Metadata},
    io::{self, Read, Write},
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use iosonde_rig::platform;

use crate::{
    failure::{Failure, in_words},
    screen::Screen,
};

/// How every SQLite file begins (<https://www.sqlite.org/fileformat.html>, the database header).
const SQLITE: &[u8] = b"SQLite format 3\0";

/// What cannot be written should be known before an hour of measuring, not after. `measured` is the target as typed.
pub fn check(path: &Path, measured: Option<&str>) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(());
    }
    if let Ok(found) = fs::metadata(path) {
        refuse_to_replace(path, &found)?;
        if measured.is_some_and(|target| is_same_file(&found, Path::new(target))) {
            return Err(Failure::usage(format!(
                "{} is what is to be measured; results need a file of their own",
                path.display()
            )));
        }
        if is_stream(found.file_type()) {
            return Ok(());
        }
    }
    let folder = folder(path);
    if platform::may_write_in(folder) && !path.is_dir() {
        return Ok(());
    }
    let why = if path.is_dir() {
        "it is a folder, and a result is a file".to_owned()
    } else if folder.is_dir() {
        format!("this user may not write in the folder {}", folder.display())
    } else {
        format!("there is no folder {}", folder.display())
    };
    Err(Failure::usage(format!(
        "{} cannot be written: {why}; name a file elsewhere (-o PATH, --json=PATH)",
        path.display()
    )))
}

/// Whether two paths, of which neither need be there yet, name one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    place(one) == place(other)
}

/// Writes a file, replacing an earlier one whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let found = fs::metadata(path).ok();
    if let Some(found) = &found {
        refuse_to_replace(path, found)?;
    }
    let written = match &found {
        // `/dev/stdout`, or a pipe of the shell: there is nothing to replace.
        Some(found) if is_stream(found.file_type()) => fs::write(path, bytes),
        _ => replace(path, bytes, found),
    };
    written.map_err(|error| {
        Failure::failed(format!("{} cannot be written: {}", path.display(), in_words(&error)))
    })
}

/// Prints a result where the path is `-`, or writes it.
pub fn result(path: &Path, text: &str, screen: Screen) -> Result<(), Failure> {
    if path == Path::new("-") { screen.result(text) } else { write(path, text.as_bytes()) }
}

fn replace(path: &Path, bytes: &[u8], before: Option<Metadata>) -> io::Result<()> {
    // A link stays a link: what it points at is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().unwrap_or(OsStr::new("result")).to_string_lossy();
    let beside = folder(&path).join(format!(".{name}.{}.part", std::process::id()));
    let written = File::create_new(&beside).and_then(|mut file| {
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(bytes)
    });
    written.and_then(|()| fs::rename(&beside, &path)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

fn refuse_to_replace(path: &Path, found: &Metadata) -> Result<(), Failure> {
    let kind = found.file_type();
    let why = if kind.is_block_device() {
        "is a block device"
    } else if kind.is_file() && begins_with(path, SQLITE) {
        "is a notebook or another SQLite file"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{} {why}, and no result is written over it; name another file",
        path.display()
    )))
}

fn begins_with(path: &Path, signature: &[u8]) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(signature.len() as u64).read_to_end(&mut head));
    read.is_ok() && head == signature
}

fn is_same_file(found: &Metadata, target: &Path) -> bool {
    fs::metadata(target).is_ok_and(|target| (target.dev(), target.ino()) == (found.dev(), found.ino()))
}

/// What is written through rather than replaced.
fn is_stream(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_fifo() || kind.is_socket()
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn place(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = fs::canonicalize(folder(path)).unwrap_or_else(|_| folder(path).to_owned());
        folder.join(path.file_name().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_replaces_an_earlier_one_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write(&path, b"one, and longer").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, b"three").unwrap();
        assert!(link.is_symlink() && fs::read(&path).unwrap() == b"three");
        write(Path::new("/dev/null"), b"away").unwrap();
    }

    #[test]
    fn where_no_file_can_be_written_the_reason_is_the_right_one() {
        let folder = tempfile::tempdir().unwrap();
        let told = |path: &Path| check(path, None).unwrap_err().text;
        let own = told(folder.path());
        assert!(
            own.contains("it is a folder, and a result is a file; name a file elsewhere (-o PATH"),
            "{own}"
        );
        let missing = told(&folder.path().join("not/there.html"));
        assert!(missing.contains("there is no folder ") && missing.contains("/not;"), "{missing}");
    }

    #[test]
    fn a_notebook_and_what_is_measured_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("n.db");
        fs::write(&book, [SQLITE, b"rest"].concat()).unwrap();
        for failure in [write(&book, b"x"), check(&book, None)] {
            let failure = failure.unwrap_err();
            assert!(failure.code == 2 && failure.text.contains("is a notebook"), "{}", failure.text);
        }
        let data = folder.path().join("data");
        fs::write(&data, "mine").unwrap();
        let failure = check(&data, data.to_str()).unwrap_err();
        assert!(failure.text.contains("is what is to be measured"), "{}", failure.text);
        assert!(check(&data, None).is_ok());
        assert!(check(&folder.path().join("no/x"), None).unwrap_err().text.contains("there is no folder"));
    }

    #[test]
    fn two_names_of_one_place_are_seen_before_it_is_there() {
        assert!(is_same(Path::new("./new.json"), Path::new("new.json")));
        assert!(!is_same(Path::new("a.json"), Path::new("b.json")));
    }
}
