//! The vantage point of a run: a guest, or a system behind a network, sees the storage through what stands between.

use iosonde_model::RunInfo;

const GUEST: &str = "as this guest sees it";

/// `as this guest sees it` in a virtual machine, `as this system sees it` behind a network or a file system
/// in user space; `None` where nothing is known to stand between.
pub fn as_seen(info: &RunInfo) -> Option<&'static str> {
    if info.device.unseen.is_empty() {
        return None;
    }
    let guest = info.host.virtualization.is_some() || info.device.medium == iosonde_model::Medium::Virtual;
    Some(if guest { GUEST } else { "as this system sees it" })
}

/// What cannot be seen of caches from here; `None` where nothing is known to stand between.
pub fn unseen_cache(info: &RunInfo) -> Option<&'static str> {
    let guest = as_seen(info)? == GUEST;
    Some(if guest { "not checked: a cache of the host" } else { "not checked: a cache behind this volume" })
}
