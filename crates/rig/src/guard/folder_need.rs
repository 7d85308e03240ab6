//! What a folder of our own needs.

/// Room that a folder needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderNeed {
    /// Bytes of all files at a time.
    pub bytes: u64,
    /// Files and folders at a time.
    pub files: u64,
}
