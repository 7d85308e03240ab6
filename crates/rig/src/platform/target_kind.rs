//! Kind of a target.

/// Kind of a target, judged by its open descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory, in which iosonde made its own file.
    Directory,
    /// An existing file.
    File,
    /// A block device.
    Block,
}

impl TargetKind {
    /// The word in the JSON document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Block => "block",
        }
    }
}
