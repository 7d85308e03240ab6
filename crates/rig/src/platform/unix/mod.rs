//! What Linux and macOS share.

pub mod interrupt;

use std::fs::File;

/// Unit in which a file's file system gives space to files.
pub(crate) fn allocation_unit_bytes(file: &File) -> Option<u64> {
    rustix::fs::fstatvfs(file).ok().map(|room| room.f_frsize).filter(|&bytes| bytes > 0)
}

/// A text as a shell takes it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_split_is_quoted() {
        assert_eq!(quoted("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(quoted("my disk"), "'my disk'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
