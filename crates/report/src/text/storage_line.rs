//! Lines about the storage.

use iosonde_model::FindingName;

/// One line about the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageLine {
    /// `bandwidth`, `4 KiB reads`, `knee`; empty for a sentence that needs none.
    pub label: String,
    /// The figures with their intervals.
    pub text: String,
    /// Whether it may wait behind the figures until somebody asks.
    pub folded: bool,
    /// Name of the findings that it reports as inconclusive, with the reason.
    pub inconclusive: Option<FindingName>,
}

/// Returns a line that is always shown.
pub(super) fn line(label: &str, text: String) -> StorageLine {
    StorageLine { label: label.to_owned(), text, folded: false, inconclusive: None }
}
