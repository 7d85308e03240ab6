//! What the storage is like, in a few labelled lines: the second block of every report.

use iosonde_model::Run;

/// One line about the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageLine {
    /// `bandwidth`, `4 KiB reads`, `knee`; empty for a sentence that needs none.
    pub label: String,
    /// The figures with their intervals.
    pub text: String,
}

/// What a concluded run says about the storage; empty when its findings were all refused.
pub fn storage_lines(run: &Run) -> Vec<StorageLine> {
    let _ = run;
    Vec::new()
}
