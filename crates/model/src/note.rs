//! Circumstances of a run that a reader of its figures must know, as facts.

use serde::{Deserialize, Serialize};

/// One circumstance. In JSON an object with its `kind` and numbers, or a sentence where no kind exists for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DeviceNote {
    /// The target could not be asked what it is.
    NotDescribed,
    /// The block device below a file system cannot be seen from here.
    BlockDeviceUnseen {
        /// The type of the file system: `ext4`.
        file_system: String,
    },
    /// The storage below a mount cannot be seen from here: an overlay whose upper folder belongs to the host.
    StorageUnseen {
        /// The type of the file system: `overlay`.
        file_system: String,
    },
    /// A file system spans several devices, so that no device's counters see all bytes.
    SpansDevices {
        /// The type of the file system: `btrfs`.
        file_system: String,
        /// How many devices.
        devices: usize,
    },
    /// A file system does not tell its size, so that the own file is limited.
    SizeNotTold {
        /// Largest size of the own file.
        most_bytes: u64,
    },
    /// Read-only and the word to overwrite were both given: nothing is written.
    ReadOnlyWins,
    /// The word to overwrite was given for a directory, where only an own file is written.
    NothingToDestroy,
    /// Direct I/O was forbidden.
    BufferedAsAsked,
    /// Direct I/O is not to be had.
    NoDirectIo,
    /// Parts of a file were never written, so that reading them moves nothing.
    Holes {
        /// Bytes in holes.
        unmapped_bytes: u64,
        /// Bytes of the file that are addressed.
        file_bytes: u64,
    },
    /// Less is addressed than there is, so that several targets have the same points.
    PartAddressed {
        /// Addressed bytes.
        part_bytes: u64,
        /// Prepared bytes.
        all_bytes: u64,
        /// The target that has no more.
        other: String,
    },
    /// The storage was brought to a state before anything was measured.
    StateReached {
        /// The state as it is typed: `filled:50%`.
        state: String,
        /// Bytes that were brought there.
        span_bytes: u64,
        /// Size of the drive, where the state is one of the whole drive and only a part was brought there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        larger_bytes: Option<u64>,
    },
    /// The rate still changed when the span had been written twice at random.
    NotSteady,
    /// The most that may be written was reached.
    WriteLimitReached {
        /// The most that may be written.
        max_bytes: u64,
    },
    /// Several targets of one run lie on one device.
    OneDevice {
        /// The targets.
        targets: [String; 2],
        /// The device's name.
        device: String,
    },
    /// A sentence of an engine, a plan or an import, or of a run that was kept before notes had kinds.
    #[serde(untagged)]
    Other(String),
}

impl From<String> for DeviceNote {
    fn from(sentence: String) -> Self {
        Self::Other(sentence)
    }
}

impl From<&str> for DeviceNote {
    fn from(sentence: &str) -> Self {
        Self::Other(sentence.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_numbers_and_sentences_kept_earlier_are_read() {
        let notes = vec![
            DeviceNote::Holes { unmapped_bytes: 1 << 20, file_bytes: 1 << 30 },
            DeviceNote::NoDirectIo,
            DeviceNote::Other("measured with psync instead".into()),
        ];
        let text = serde_json::to_string(&notes).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"[{"kind":"holes","unmapped_bytes":1048576,"file_bytes":1073741824},"#,
                r#"{"kind":"no-direct-io"},"measured with psync instead"]"#
            )
        );
        assert_eq!(serde_json::from_str::<Vec<DeviceNote>>(&text).unwrap(), notes);
    }
}
