//! Files that results are written to: whole or not at all, and over nothing but an earlier result.
//!
//! A file that is there is replaced where iosonde wrote it and nobody has changed it since, or with `--force`. Some are
//! never replaced: the target, what the command reads, databases and their companions, devices, and files behind loop
//! devices or in use as swap.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use iosonde_rig::{
    guard::{self, Protected},
    platform::{self, TargetKind},
};

use crate::{
    failure::{Failure, in_words},
    screen::Screen,
};

/// How an SQLite file begins, its write-ahead log in both byte orders, and its rollback journal
/// (<https://www.sqlite.org/fileformat.html>).
const SQLITE: [&[u8]; 4] =
    [b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"];

/// Where a result keeps its length and time of change, by which it is known again; a file that somebody edited has
/// others. File systems without attributes keep none.
const MARK: &str = "user.iosonde.result";

/// How JSON documents of iosonde begin, white space left out: its version comes first, or a fio document's head and the
/// run that it is of.
const OWN: [&str; 2] = ["{\"iosonde\":\"", "{\"fioversion\":\"fio-3.0\",\"iosonde\":{\"run\":"];
/// The page's own mark, white space left out.
const OWN_PAGE: &str = "name=\"generator\"content=\"iosonde";
/// Within so many bytes of the beginning.
const OWN_WITHIN: u64 = 2000;

/// Files that a command reads, by the words that name them; words that name none are passed over.
pub fn inputs<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<Protected> {
    let files = words.into_iter().map(|word| PathBuf::from(word.strip_prefix("sim:").unwrap_or(word)));
    files.map(|path| Protected { path, what: "what this command reads" }).collect()
}

/// What cannot be written should be known before an hour of measuring, not after. `apart` is what no result replaces.
pub fn check(path: &Path, apart: &[Protected], screen: Screen) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(());
    }
    guard::refuse_strangers_link(path).map_err(Failure::usage)?;
    refuse_a_name(path)?;
    if let Ok(found) = fs::metadata(path) {
        if let Some(one) = apart.iter().find(|one| is_same_file(path, &one.path)) {
            return Err(Failure::usage(format!(
                "{} is {}; results need a file of their own",
                path.display(),
                one.what
            )));
        }
        refuse_to_replace(path, &found, screen)?;
        if is_stream(path, &found) {
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
    Err(Failure::usage(format!("{} cannot be written: {why}; name a file elsewhere", path.display())))
}

/// Refuses to write over what a command reads; `words` name files among other things.
pub fn check_beside<'a>(
    path: Option<&Path>,
    words: impl IntoIterator<Item = &'a str>,
    screen: Screen,
) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| check(path, &inputs(words), screen))
}

/// Whether two paths, of which neither need be there yet, name one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    place(one) == place(other)
}

/// Writes a file, replacing an earlier one whole or not at all.
pub fn write(path: &Path, bytes: &[u8], screen: Screen) -> Result<(), Failure> {
    guard::refuse_strangers_link(path).map_err(Failure::usage)?;
    refuse_a_name(path)?;
    let found = fs::metadata(path).ok();
    if let Some(found) = &found {
        refuse_to_replace(path, found, screen)?;
    }
    let written = match &found {
        // `/dev/stdout`, or a pipe of the shell: there is nothing to replace.
        Some(found) if is_stream(path, found) => fs::write(path, bytes),
        _ => replace(path, bytes, found),
    };
    written.map_err(|error| {
        Failure::failed(format!("{} cannot be written: {}", path.display(), in_words(&error)))
    })
}

/// Writes files into a folder, which is made if it is not there. Each is refused or replaced as a file of its own would
/// be, and all of them are looked at before the first is written.
pub fn write_folder<'a>(
    path: &Path,
    files: impl IntoIterator<Item = (&'a str, &'a [u8])> + Clone,
    screen: Screen,
) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| {
        let why = if path.exists() && !path.is_dir() { "it is no folder".into() } else { in_words(&error) };
        Failure::usage(format!("{} cannot be made as a folder: {why}", path.display()))
    })?;
    for (name, _) in files.clone() {
        check(&path.join(name), &[], screen)?;
    }
    let mut count = 0;
    for (name, bytes) in files {
        write(&path.join(name), bytes, screen)?;
        count += 1;
    }
    screen.say(&format!("written       {}/ ({count} files)", path.display()));
    Ok(())
}

/// Prints a result where the path is `-`, or writes it.
pub fn result(path: &Path, text: &str, screen: Screen) -> Result<(), Failure> {
    if path == Path::new("-") { screen.result(text) } else { write(path, text.as_bytes(), screen) }
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
        file.write_all(bytes)?;
        // Where there are no attributes, the next result of that name asks for --force.
        let _ = platform::set_attribute(&file, MARK, &mark(&file.metadata()?));
        Ok(())
    });
    written.and_then(|()| fs::rename(&beside, &path)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// A link that leads nowhere, which would be replaced, and a file beside a database under the name that SQLite gives to
/// its log, journal or index, which SQLite would play back, overwrite or refuse to open the database for, or under
/// that of the lock of one of its runs.
fn refuse_a_name(path: &Path) -> Result<(), Failure> {
    if path.is_symlink() && !path.exists() {
        let link = path.display();
        return Err(Failure::usage(format!("{link} is a link that leads nowhere; name another file")));
    }
    let name = path.file_name().unwrap_or_default();
    let ending = |ending: &&str| platform::without_ending(name, ending);
    let of_sqlite = ["-wal", "-journal", "-shm"].iter().find_map(ending).map(|name| (name, "SQLite uses"));
    // `notebook.db.7f3a91.running`
    let of_run = || Path::new(ending(&".running")?).file_stem().map(|name| (name, "the lock of a run has"));
    let Some((name, who)) = of_sqlite.or_else(of_run) else { return Ok(()) };
    let database = path.with_file_name(name);
    if !database.is_file() || !beginning(&database).starts_with(SQLITE[0]) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} is a name that {who} for the database {}; name another file",
        path.display(),
        database.display()
    )))
}

fn refuse_to_replace(path: &Path, found: &Metadata, screen: Screen) -> Result<(), Failure> {
    let kind = platform::kind(path, found.file_type());
    // What is read from a pipe is gone, and reading waits for what nobody writes.
    let begins = if kind == Ok(TargetKind::File) { beginning(path) } else { Vec::new() };
    let why = if kind == Ok(TargetKind::Block) {
        "is a block device, and no result is written over it".to_owned()
    } else if kind != Ok(TargetKind::File) || found.len() == 0 {
        return Ok(());
    } else if SQLITE.iter().any(|signature| begins.starts_with(signature)) {
        "is a notebook of runs or belongs to another SQLite database, and iosonde never overwrites one"
            .to_owned()
    } else if let Some(user) = guard::user_of(path) {
        format!("{user}, and no result is written over it")
    } else if screen.force || is_own(path, found, &begins) {
        return Ok(());
    } else {
        let changed = platform::attribute(path, MARK).is_some();
        let why = if changed { "was changed since iosonde wrote it" } else { "is no result of iosonde" };
        return Err(Failure::usage(format!(
            "{} exists and {why}; nothing was written: name another file, or replace it with --force",
            path.display()
        )));
    };
    Err(Failure::usage(format!("{} {why}; name another file", path.display())))
}

/// Whether iosonde wrote it, and it is as it was written.
fn is_own(path: &Path, found: &Metadata, begins: &[u8]) -> bool {
    if let Some(kept) = platform::attribute(path, MARK) {
        return kept == mark(found);
    }
    let begins: String = String::from_utf8_lossy(begins).split_whitespace().collect();
    let is_page = begins.starts_with("<!DOCTYPEhtml>") && begins.contains(OWN_PAGE);
    is_page || OWN.iter().any(|own| begins.starts_with(own))
}

fn mark(found: &Metadata) -> String {
    let changed =
        found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {}.{:09}", found.len(), changed.as_secs(), changed.subsec_nanos())
}

fn beginning(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    let _ = File::open(path).and_then(|file| file.take(OWN_WITHIN).read_to_end(&mut head));
    head
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let pair = platform::identity(one).ok().zip(platform::identity(other).ok());
    pair.is_some_and(|(one, other)| one == other)
}

/// What is written through rather than replaced.
fn is_stream(path: &Path, found: &Metadata) -> bool {
    platform::kind(path, found.file_type()).is_err()
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
        let write = |path: &Path, bytes: &[u8]| write(path, bytes, Screen::silent());
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
        let told = |path: &Path| check(path, &[], Screen::silent()).unwrap_err().text;
        let own = told(folder.path());
        assert!(own.contains("it is a folder, and a result is a file; name a file elsewhere"), "{own}");
        let missing = told(&folder.path().join("not/there.html"));
        assert!(missing.contains("there is no folder ") && missing.contains("/not;"), "{missing}");
    }

    #[test]
    fn databases_and_what_a_command_needs_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let forced = Screen { force: true, ..Screen::silent() };
        let book = folder.path().join("n.db");
        for signature in SQLITE {
            fs::write(&book, [signature, b"rest"].concat()).unwrap();
            for failure in [write(&book, b"x", forced), check(&book, &[], forced)] {
                let failure = failure.unwrap_err();
                assert!(
                    failure.code == 2 && failure.text.contains("is a notebook of runs or"),
                    "{}",
                    failure.text
                );
            }
        }
        let (data, link) = (folder.path().join("data"), folder.path().join("link"));
        fs::write(&data, "mine").unwrap();
        fs::hard_link(&data, &link).unwrap();
        let apart = inputs([data.to_str().unwrap(), "last"]);
        for path in [&data, &link] {
            let failure = check(path, &apart, forced).unwrap_err();
            assert!(failure.text.contains("is what this command reads"), "{}", failure.text);
        }
        fs::write(&book, SQLITE[0]).unwrap();
        std::os::unix::fs::symlink("/nowhere", folder.path().join("lost")).unwrap();
        for (name, why) in [
            ("n.db-wal", "SQLite uses"),
            ("n.db.7f3a91.running", "the lock of a run has"),
            ("lost", "leads nowhere"),
        ] {
            let failure = write(&folder.path().join(name), b"x", forced).unwrap_err();
            assert!(failure.code == 2 && failure.text.contains(why), "{}", failure.text);
        }
        let missing = check(&folder.path().join("no/x"), &[], forced).unwrap_err();
        assert!(missing.text.contains("there is no folder"));
    }

    #[test]
    fn what_iosonde_did_not_write_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let (screen, forced) = (Screen::silent(), Screen { force: true, ..Screen::silent() });
        let path = folder.path().join("thesis.md");
        fs::write(&path, "a year of work").unwrap();
        for refused in [write(&path, b"x", screen), check(&path, &[], screen)] {
            assert!(refused.unwrap_err().text.contains("is no result of iosonde"));
        }
        assert_eq!(fs::read(&path).unwrap(), b"a year of work");
        let empty = folder.path().join("empty");
        fs::write(&empty, "").unwrap();
        check(&empty, &[], screen).unwrap();
        write(&path, b"result", forced).unwrap();
        write(&path, b"again", screen).unwrap();
        // Notes that somebody wrote into a result are theirs.
        fs::write(&path, b"again, with notes").unwrap();
        let failure = write(&path, b"x", screen).unwrap_err();
        assert!(failure.text.contains("was changed since iosonde wrote it"), "{}", failure.text);
    }

    #[test]
    fn documents_are_known_where_the_file_system_keeps_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        fs::write(&path, "{\n  \"iosonde\": \"0.1.0\",\n").unwrap();
        assert!(check(&path, &[], Screen::silent()).is_ok());
        // Somebody's file that mentions it, or begins likewise, is none.
        for other in ["{\"tools\": {\"iosonde\": \"0.1.0\"}}", "{\"iosonde\": {\"color\": 1}}", "# iosonde"] {
            fs::write(&path, other).unwrap();
            assert!(check(&path, &[], Screen::silent()).is_err(), "{other}");
        }
    }

    #[test]
    fn two_names_of_one_place_are_seen_before_it_is_there() {
        assert!(is_same(Path::new("./new.json"), Path::new("new.json")));
        assert!(!is_same(Path::new("a.json"), Path::new("b.json")));
    }
}
