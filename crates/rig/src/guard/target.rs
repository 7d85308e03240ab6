//! What a person typed as TARGET.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::Refusal;
use crate::platform::{TargetKind, files};

/// Target to measure. The kind is a first look at the path; [`super::admit`] judges the open descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// iosonde makes its own file in it.
    Directory(PathBuf),
    /// An existing regular file.
    File(PathBuf),
    /// A disk, a partition, or a device made of others.
    BlockDevice(PathBuf),
    /// A simulated device: a name, or the path of a TOML file.
    Simulated(String),
}

impl Target {
    /// Reads `sim:NAME`, `sim:PATH.toml` or a path. Refuses what does not exist and what is no storage.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if let Some(device) = text.strip_prefix("sim:") {
            if device.is_empty() {
                return Err(Refusal::new("`sim:` names no simulated device.")
                    .hint("`iosonde devices` lists them; write for example sim:client-nvme."));
            }
            return Ok(Self::Simulated(device.to_owned()));
        }
        let path = PathBuf::from(text);
        if files::is_device(&path) {
            return Ok(Self::BlockDevice(path));
        }
        let metadata = fs::metadata(&path).map_err(|error| unreachable_path(&path, &error))?;
        match files::kind(&path, metadata.file_type()) {
            Ok(TargetKind::Directory) => Ok(Self::Directory(path)),
            Ok(TargetKind::File) => Ok(Self::File(path)),
            Ok(TargetKind::Block) => Ok(Self::BlockDevice(path)),
            Err(what) => Err(no_storage(&path, what)),
        }
    }

    /// Returns the path; `None` for a simulated device.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) | Self::File(path) | Self::BlockDevice(path) => Some(path),
            Self::Simulated(_) => None,
        }
    }
}

/// Refuses a path that exists but is no storage.
fn no_storage(path: &Path, what: &str) -> Refusal {
    Refusal::new(format!("{} is {what}, and nothing to measure.", path.display()))
        .hint("A target is a directory, a file, a block device, or sim:NAME for a simulated device.")
}

/// Why a path leads nowhere.
pub(crate) fn unreachable_path(path: &Path, error: &io::Error) -> Refusal {
    let shown = path.display();
    if path.as_os_str().is_empty() {
        return Refusal::new("The target is empty.")
            .hint("Name a directory, a file or a block device; ./ is here.");
    }
    if error.kind() != io::ErrorKind::NotFound {
        return Refusal::new(format!("{shown} cannot be reached: {}.", in_words(error)));
    }
    if let Ok(aim) = fs::read_link(path) {
        return Refusal::new(format!("{shown} is a link to {}, which does not exist.", aim.display()));
    }
    let refusal = Refusal::new(format!("{shown} does not exist."));
    let folder =
        path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    match folder {
        Some(folder) if folder.starts_with("/dev") => {
            refusal.hint("`lsblk` lists the block devices of this machine.")
        }
        Some(folder) if folder.is_dir() => {
            refusal.command("Measure with a file of iosonde's own, removed afterwards", folder, "")
        }
        _ => refusal,
    }
}

/// An error without the number that Rust adds: `permission denied`.
pub(crate) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
    // Kernel messages begin with a capital and stand in the middle of our sentences.
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "x").unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        assert_eq!(Target::parse(&text(folder.path())), Ok(Target::Directory(folder.path().into())));
        assert_eq!(Target::parse(&text(&file)), Ok(Target::File(file.clone())));
        assert_eq!(Target::parse("sim:client-nvme"), Ok(Target::Simulated("client-nvme".into())));
        assert!(Target::parse("sim:").unwrap_err().sentence.contains("sim:"));
    }

    #[test]
    fn what_does_not_exist_names_the_folder_it_would_be_in() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let refusal = Target::parse(missing.to_str().unwrap()).unwrap_err();
        assert_eq!(refusal.sentence, format!("{} does not exist.", missing.display()));
        assert_eq!(refusal.advice[0].arguments.as_deref(), folder.path().to_str());
        // A folder that is missing too is no advice.
        let deeper = missing.join("deeper");
        assert_eq!(Target::parse(deeper.to_str().unwrap()).unwrap_err().advice, []);
    }

    #[test]
    fn errors_are_words_in_a_sentence() {
        let words = in_words(&io::Error::from_raw_os_error(5));
        assert!(words.starts_with(char::is_lowercase) && !words.contains("os error"), "{words}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = Target::parse(&text).map_err(|refusal| refusal.to_string());
        }
    }
}
