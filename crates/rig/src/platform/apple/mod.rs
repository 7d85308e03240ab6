//! What macOS answers, and what it means: read by functions that are tested on every system, with recorded answers.

pub(super) mod disk_statistics;
pub(super) mod diskutil;
pub(super) mod plist;
pub(super) mod pmset;
pub(super) mod pressure;
pub(super) mod processor;
