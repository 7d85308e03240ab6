//! Circumstances of a run that a reader of its figures must know, as facts.

use serde::{Deserialize, Serialize};

use crate::StorageKind;

/// One circumstance. In JSON an object with its `kind` and numbers, or a sentence where no kind exists for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
        /// Rounds of random writes that led to a steady state; absent for other states.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<Preconditioning>,
    },
    /// The rate still changed after the last round of random writes.
    NotSteady {
        /// The rounds; absent in runs that were kept before they were recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<Preconditioning>,
    },
    /// A simulated device that must be written whole is simulated smaller; times and rates are those of the whole.
    SimulatedSmaller {
        /// Bytes that are simulated.
        simulated_bytes: u64,
        /// Bytes of the whole device.
        whole_bytes: u64,
    },
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
    /// The repeats of a run differ.
    RepeatSpread {
        /// How many repeats.
        repeats: usize,
        /// The first repeat's run.
        first: String,
        /// Standard deviation from repeat to repeat of all points together, as a share.
        run_share: f64,
        /// Standard deviation from repeat to repeat of one point, as a share.
        point_share: f64,
    },
    /// Points or an experiment of the study that were left out, with the `reason`.
    LeftOut(LeftOut),
    /// What the measured loop met, as its `what`.
    Loop(LoopNote),
    /// A sentence of an import, or of a run that was kept before notes had kinds.
    #[serde(untagged)]
    Other(String),
}

/// What an engine or the measured loop met. In JSON an object with its `what`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum LoopNote {
    /// The first engines of the list do not work here.
    OtherEngine {
        /// The engine that measured.
        engine: String,
        /// Why each of the others did not, as it said.
        refused: Vec<String>,
    },
    /// The null engine moves nothing.
    NothingMoved,
    /// The kernel ignores `hipri`.
    HipriIgnored,
    /// Requests that could not be served without waiting were made a second time.
    MadeAgain {
        /// How many.
        requests: u64,
    },
    /// Requests ended in SIGBUS.
    BusErrors {
        /// How many.
        requests: u64,
    },
    /// Buffers are too large to be registered.
    LargeBuffers,
    /// The kernel did not register the buffers.
    UnregisteredBuffers {
        /// What it said.
        error: String,
    },
    /// A kernel thread submits, whose processor time is not counted.
    KernelSubmits,
    /// Buffered requests of libaio run one after the other.
    OneAfterTheOther,
    /// Trims end after one pass over the span.
    TrimsEndAfterOnePass,
    /// A simulated device holds nothing of earlier commands that could be verified.
    NothingToVerify,
    /// What was written was not verified, since requests never came back.
    UnverifiedAfterHang {
        /// How many.
        requests: u64,
    },
    /// Blocks that were read carry no whole mark.
    UnmarkedBlocks {
        /// How many.
        unmarked: u64,
        /// Blocks that were read.
        blocks: u64,
    },
}

/// Points or an experiment of a study that the storage does not allow. In JSON an object with its `reason`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum LeftOut {
    /// An experiment about another kind of storage.
    OtherStorage {
        /// The experiment.
        experiment: String,
        /// The kind of storage that it asks about.
        only_on: StorageKind,
    },
    /// Nothing may be written.
    Writing {
        /// Points that write.
        points: usize,
    },
    /// The engine makes one request at a time.
    QueueDepth {
        /// Points with a larger queue depth.
        points: usize,
        /// The engine.
        engine: String,
    },
    /// The stride is smaller than the block.
    StrideBelowBlock {
        /// Points with such a stride.
        points: usize,
    },
    /// The addresses lie beyond the part that may be addressed.
    BeyondSpan {
        /// Points that reach beyond it.
        points: usize,
        /// Bytes that may be addressed.
        span_bytes: u64,
    },
    /// The addresses are not multiples of the unit that direct I/O needs.
    Misaligned {
        /// Points with such addresses.
        points: usize,
        /// The unit.
        unit_bytes: u64,
    },
    /// Files cannot be created on this target.
    NewFiles {
        /// Points that write new files.
        points: usize,
    },
    /// The run has fewer hosts.
    Hosts {
        /// Points with more hosts.
        points: usize,
        /// Hosts of the run.
        hosts: u32,
    },
    /// The blocks are larger than a quarter of the part that may be addressed.
    LargeBlocks {
        /// Points with such blocks.
        points: usize,
        /// The smallest of these blocks.
        smallest_bytes: u64,
        /// Bytes that may be addressed.
        span_bytes: u64,
    },
    /// A simulated device has no page cache, so that buffered points go past it.
    NoPageCache,
}

/// Rounds of random 4 KiB writes that bring storage to its steady state, and what was reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// Rounds in all.
    pub rounds: u32,
    /// First round of the window that was judged, counted from 1; the last one is the last of all.
    pub from_round: u32,
    /// Change of IOPS from one round of the window to the next, as a share.
    pub slope_per_round: f64,
    /// Lower end of its confidence interval.
    pub low: f64,
    /// Upper end of its confidence interval.
    pub high: f64,
    /// Confidence of the interval, as a share.
    pub confidence: f64,
    /// Largest change per round that counts as steady, as a share.
    pub bound_share: f64,
    /// Bytes that all rounds wrote, as a multiple of the prepared area.
    pub passes: f64,
    /// Duration of all rounds.
    pub elapsed_s: f64,
    /// Mean IOPS in the window.
    pub iops: f64,
    /// Mean latency in the window; absent where no round of it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<f64>,
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
            DeviceNote::LeftOut(LeftOut::Writing { points: 13 }),
            DeviceNote::Loop(LoopNote::MadeAgain { requests: 2 }),
            DeviceNote::Other("measured with psync instead".into()),
        ];
        let text = serde_json::to_string(&notes).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"[{"kind":"holes","unmapped_bytes":1048576,"file_bytes":1073741824},"#,
                r#"{"kind":"no-direct-io"},{"kind":"left-out","reason":"writing","points":13},"#,
                r#"{"kind":"loop","what":"made-again","requests":2},"#,
                r#""measured with psync instead"]"#
            )
        );
        assert_eq!(serde_json::from_str::<Vec<DeviceNote>>(&text).unwrap(), notes);
    }
}
