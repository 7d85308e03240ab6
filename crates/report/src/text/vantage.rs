//! The vantage point of a run: a guest, or a system behind a network, sees the storage through what stands between.

use iosonde_model::RunInfo;

/// `as this guest sees it` in a virtual machine, `as this system sees it` behind a network or a file system
/// in user space; `None` where nothing is known to stand between.
pub fn as_seen(info: &RunInfo) -> Option<&'static str> {
    if info.device.unseen.is_empty() {
        return None;
    }
    let guest = info.host.virtualization.is_some() || info.device.medium == iosonde_model::Medium::Virtual;
    Some(if guest { "as this guest sees it" } else { "as this system sees it" })
}
