//! The vantage point of a run: a guest, or a system behind a network, sees the storage through what stands between.

use iosonde_infer::validity::{has_unseen_cache, is_of_guest};
use iosonde_model::{Run, RunInfo};

/// `as this guest sees it` in a virtual machine, `as this system sees it` behind a network or a file system
/// in user space; `None` where nothing is known to stand between.
pub fn as_seen(info: &RunInfo) -> Option<&'static str> {
    let told = if is_of_guest(info) { "as this guest sees it" } else { "as this system sees it" };
    (!info.device.unseen.is_empty()).then_some(told)
}

/// What may have answered in place of the storage, where the figures show it and nothing on this side can. (Said of
/// every virtual disk, it left readers with nothing that they could do; the report's facts have what is not visible.)
pub fn unseen_cache(run: &Run) -> Option<String> {
    has_unseen_cache(run).then(|| taken(is_of_guest(&run.info)))
}

/// Who may have taken the writes.
pub fn taken(of_host: bool) -> String {
    let place = if of_host { "a host cache" } else { "a cache behind this volume" };
    format!("{place} may have taken the writes, whose bandwidth is above that of reads")
}
