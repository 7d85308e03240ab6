//! Power that a measurement has: to change its notebook, and nothing else by name. Its target is open.

use std::path::{Path, PathBuf};

use iosonde_rig::{confine, guard::OwnFile};

use crate::{failure::Failure, hosts::Hosts, session::Session};

/// Folders in which something changes while it is measured: the notebook's, where its log lies and where a lost one is
/// kept again, temporary files', for the same and for SQLite's own, and that of an own file that must be removed by its
/// name.
pub fn places<'a>(notebook: &Path, sessions: impl Iterator<Item = &'a Session>) -> Vec<PathBuf> {
    let own =
        sessions.filter_map(|session| session.admitted.as_ref()?.own.as_ref().and_then(OwnFile::stray_path));
    let folders = own.chain([notebook]).filter_map(Path::parent).map(Path::to_owned);
    // MPI removes its shared memory when it ends.
    let shared = (Hosts::of_process().count() > 1).then(|| PathBuf::from("/dev/shm"));
    folders.chain([std::env::temp_dir(), "/var/tmp".into()]).chain(shared).collect()
}

/// Measures with least power, and shows what came of it with all that the user gave. Files can be changed in these
/// places alone, or anywhere where none are given.
pub fn least<T: Send>(
    places: Option<&[PathBuf]>,
    measure: impl FnOnce() -> Result<T, Failure>,
    show: impl FnOnce(Result<T, Failure>) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    confine::with_least_power(places, measure, show)
        .map_err(|error| Failure::failed(format!("the system gives no thread for the results ({error})")))?
}
