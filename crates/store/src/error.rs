//! Errors of a notebook. Each message names the file and a remedy.

use rusqlite::ErrorCode;
use std::{
    io,
    path::{Path, PathBuf},
};

use crate::companion;

/// A notebook that could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The sentences say what the variants mean.
pub enum StoreError {
    #[error(
        "no place for the notebook of runs is known: neither XDG_DATA_HOME nor HOME is set to an absolute path; \
         say where with --store PATH"
    )]
    NoHome,
    #[error(
        "the folder {} for the notebook cannot be made: {source}; choose another with --store PATH",
        .path.display()
    )]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "{} is a folder, and the notebook is a file; name a file in it: --store {}", .path.display(),
        .path.join("notebook.db").display()
    )]
    IsFolder { path: PathBuf },
    #[error(
        "the notebook {} cannot be written, because {} cannot be: {source}; choose another place with \
         --store PATH", .path.display(), .what.display()
    )]
    NotWritable { path: PathBuf, what: PathBuf, source: io::Error },
    #[error(
        "{} is not a regular file, so it cannot be a notebook; it was not touched; choose another with --store PATH",
        .path.display()
    )]
    NoFile { path: PathBuf },
    #[error(
        "{} belongs to a database that is not there; SQLite would play it back into a new notebook; move it away, or \
         choose another place with --store PATH", .companion.display()
    )]
    Orphan { companion: PathBuf },
    #[error(
        "the notebook {} has a second name (a hard link, or it is mounted as a single file); SQLite keeps its log \
         beside one name, and a notebook that is written under two of them is ruined; nothing was written. Copy it to \
         a file of its own (cp), and name that with --store PATH", .path.display()
    )]
    SecondName { path: PathBuf },
    #[error(
        "{} is not a notebook: it is no SQLite file; it was not touched; choose another with --store PATH",
        .path.display()
    )]
    NoDatabase { path: PathBuf },
    #[error(
        "{} is an SQLite file of another program; it was not touched; choose another with --store PATH",
        .path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "the notebook {} was written by a newer iosonde (its layout is number {found}, this one knows up to \
         {known}); use the newer one, or another notebook with --store PATH", .path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the notebook {} was written by an older iosonde (its layout is number {found}, this one's is {known}) and \
         cannot be changed where it lies; copy it elsewhere and name the copy with --store PATH", .path.display()
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the notebook {} is damaged ({why}); move it away to begin a new one, or save what can be read: \
         sqlite3 {} .recover", .path.display(), .path.display()
    )]
    Damaged { path: PathBuf, why: String },
    #[error(
        "the notebook {} cannot grow: its file system is full; free some space there (removing runs takes \
         some, too) or choose another place with --store PATH", .path.display()
    )]
    Full { path: PathBuf },
    #[error(
        "the notebook {} cannot grow: this process may write no file larger than {limit_bytes} bytes; raise that limit \
         (ulimit -f, LimitFSIZE=)", .path.display()
    )]
    Limited { path: PathBuf, limit_bytes: u64 },
    #[error("the notebook {} has been kept busy by another process for {waited_s} s; try again", .path.display())]
    Busy { path: PathBuf, waited_s: u64 },
    #[error("the notebook {} failed: {why}; choose another place with --store PATH", .path.display())]
    Failed { path: PathBuf, why: String },
    #[error(
        "the lock file {} of a run cannot be used: {source}; choose another notebook with --store PATH",
        .path.display()
    )]
    Lock { path: PathBuf, source: io::Error },
    #[error("there is a run `{id}` in the notebook already")]
    IdTaken { id: String },
    #[error("`{id}` cannot be the id of a run: letters, digits, `-` and `_` only, at most 64")]
    BadId { id: String },
    #[error("run `{id}` is under way in another process; wait for it, or stop it with Ctrl-C there")]
    UnderWay { id: String },
    #[error("trial {trial} of run `{id}` is in the notebook already")]
    TrialTaken { id: String, trial: u64 },
    #[error("{what} cannot be kept, since it could not be read back: {why}; this is a mistake in iosonde")]
    Unwritable { what: String, why: String },
    #[error("{what} in the notebook {} cannot be read: {why}", .path.display())]
    Unreadable { path: PathBuf, what: String, why: String },
    #[error("the notebook {} holds no runs yet; `iosonde run TARGET` makes one", .path.display())]
    Empty { path: PathBuf },
    #[error(
        "there is no notebook of runs yet at {}; the first run makes it, for example:  iosonde run quick ./",
        .path.display()
    )]
    Missing { path: PathBuf },
    #[error("the notebook {} cannot be reached: {source}; choose another with --store PATH", .path.display())]
    Unreachable { path: PathBuf, source: io::Error },
    #[error(
        "the notebook {} holds no run `{reference}`{}`iosonde ls` lists them", .path.display(), hint(.nearest)
    )]
    NoRun { path: PathBuf, reference: String, nearest: Option<String> },
    #[error(
        "`{reference}` asks for the run {back} before the newest, but the notebook {} holds {}",
        .path.display(), runs(*.held)
    )]
    NotSoMany { path: PathBuf, reference: String, back: u64, held: u64 },
    #[error("`{reference}` could be any of these runs; say which by its id: {}", .matches.join("; "))]
    Ambiguous { reference: String, matches: Vec<String> },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(|| "; ".to_owned(), |name| format!("; did you mean `{name}`? "))
}

fn runs(held: u64) -> String {
    if held == 1 { "only 1 run".to_owned() } else { format!("only {held} runs") }
}

impl From<StoreError> for io::Error {
    fn from(error: StoreError) -> Self {
        Self::other(error)
    }
}

/// Time in seconds that a statement waits for another process. Commits take milliseconds; ten seconds mean a
/// transaction forgotten in a shell.
pub(crate) const BUSY_S: u64 = 10;

impl StoreError {
    /// True where the next try fails as well, and room does not help: the file is damaged, or its disk is.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::NoDatabase { .. } | Self::Failed { .. })
    }

    /// Makes an error from SQLite's message about the file at `path`.
    pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NoDatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, why },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            // SQLite tells no EFBIG from other errors; its loop of short writes ends at the limit, a page off at most.
            Some(ErrorCode::SystemIoFailure) => match companion::limit_reached(&path) {
                Some(limit_bytes) => Self::Limited { path, limit_bytes },
                None => Self::Failed { path, why },
            },
            Some(
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Busy { path, waited_s: BUSY_S },
            _ => Self::Failed { path, why },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_id_says_what_an_id_is() {
        let error = StoreError::BadId { id: "../x".into() };
        assert_eq!(
            error.to_string(),
            "`../x` cannot be the id of a run: letters, digits, `-` and `_` only, at most 64"
        );
    }

    #[test]
    fn sentences_name_the_file_and_the_way_out() {
        let path = PathBuf::from("/n.db");
        let full = StoreError::Full { path: path.clone() }.to_string();
        assert!(full.contains("/n.db") && full.contains("--store PATH"), "{full}");
        let one = StoreError::NotSoMany { path, reference: "last~3".into(), back: 3, held: 1 };
        assert_eq!(
            one.to_string(),
            "`last~3` asks for the run 3 before the newest, but the notebook /n.db holds only 1 run"
        );
    }
}
