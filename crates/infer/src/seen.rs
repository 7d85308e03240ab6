//! How far this system sees: what stands between it and the medium belongs into every sentence about the
//! storage.

use iosonde_model::RunInfo;

use crate::words::{capitalised, lowered};

/// `as this guest sees it` in a virtual machine, `as this system sees it` behind a network or a file system
/// in user space; `None` where nothing is known to stand between.
pub(crate) fn as_seen(info: &RunInfo) -> Option<&'static str> {
    info.device.unseen.as_ref()?;
    let guest = info.host.virtualization.is_some() || info.device.medium == iosonde_model::Medium::Virtual;
    Some(if guest { "as this guest sees it" } else { "as this system sees it" })
}

/// A sentence without that, where another says it already.
pub(crate) fn plain(sentence: &str, info: &RunInfo) -> String {
    let began = as_seen(info).and_then(|seen| sentence.strip_prefix(&format!("{}, ", capitalised(seen))));
    lowered(began.unwrap_or(sentence))
}

/// A sentence that begins with that.
pub(crate) fn qualified(sentence: &str, info: &RunInfo) -> String {
    let Some(seen) = as_seen(info) else { return sentence.to_owned() };
    format!("{}, {}", capitalised(seen), lowered(sentence))
}
