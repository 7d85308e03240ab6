//! Reasons why a witness has no reading, and errors of requests, as facts.

use serde::{Deserialize, Serialize};

/// Reason for a missing reading. In JSON an object with its `kind`, or a sentence of a run that was kept before reasons
/// had kinds. An `errno` is the operating system's error number; `None` where it gave none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Absence {
    /// No block device with counters is known below the target.
    NoBlockDevice {
        /// The type of the file system: `tmpfs`. `None` on a bare device.
        file_system: Option<String>,
    },
    /// The kernel does not list the block device.
    NotListed {
        /// The device's name.
        device: String,
    },
    /// The counters of the block device are switched off.
    CountersOff {
        /// The device's name.
        device: String,
    },
    /// The counters of the block device are in no known form.
    CountersUnknown {
        /// The device's name.
        device: String,
    },
    /// A file of the kernel cannot be read.
    Unreadable {
        /// The file.
        path: String,
        /// The error number.
        errno: Option<i32>,
    },
    /// A counter could not be read both before and after the trial.
    NotReadTwice {
        /// The counter.
        counter: Counter,
        /// Device, mount or file to which it belongs.
        of: String,
    },
    /// A counter went backwards: it was reset, or it wrapped around.
    WentBackwards {
        /// The counter.
        counter: Counter,
        /// Device, mount or file to which it belongs.
        of: String,
        /// Value before the trial.
        before: u64,
        /// Value after the trial.
        after: u64,
    },
    /// No time passed between the readings of a counter.
    NoTimePassed {
        /// The counter.
        counter: Counter,
        /// Device, mount or file to which it belongs.
        of: String,
    },
    /// The trial was shorter than one tick of `/proc/stat`.
    ShorterThanTick,
    /// The target lies in memory, so that the page cache tells nothing.
    TargetInMemory,
    /// The kernel does not tell this user what the page cache holds of a file that it may not write.
    PageCacheDenied,
    /// The kernel has no call that tells what the page cache holds.
    PageCacheUnsupported,
    /// This operating system has no call that tells what its cache holds of a file.
    PageCacheUntold,
    /// The kernel did not tell what the page cache holds.
    PageCacheFailed {
        /// The error number.
        errno: Option<i32>,
    },
    /// The control groups of this process cannot be read.
    ControlGroupsUnreadable,
    /// No control groups are mounted, so that a container's limit would not be seen.
    NoControlGroups,
    /// A container's limit may be set in a file that cannot be read.
    LimitUnreadable {
        /// The file.
        path: String,
        /// The error number.
        errno: Option<i32>,
    },
    /// The kernel's clocks cannot be read.
    ClocksUnreadable,
    /// A file of another tool holds no counters of the device and no view of the page cache.
    NotInFile,
    /// A sentence of a run that was kept before reasons had kinds.
    #[serde(untagged)]
    Other(String),
}

/// Counter of the kernel that is read before and after a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counter {
    /// Sectors that a block device read.
    SectorsRead,
    /// Sectors that a block device wrote.
    SectorsWritten,
    /// Time that requests spent in a block device.
    TimeInDevice,
    /// Bytes that were read.
    BytesRead,
    /// Bytes that were written.
    BytesWritten,
    /// Busy time of the processors.
    BusyTime,
    /// Idle time of the processors.
    IdleTime,
    /// Time of the processors that the hypervisor took.
    StealTime,
    /// Time of the processors spent serving interrupts.
    SoftirqTime,
    /// Time in which some task waited.
    WaitingTime,
    /// Counters of a cloud volume's controller.
    VolumeStatistics,
    /// Requests of a network file system.
    Requests,
    /// Transmissions of a network file system.
    Transmissions,
    /// Time that requests of a network file system waited before they were sent.
    QueueTime,
    /// Time from sending requests of a network file system to their answers.
    RoundTripTime,
    /// Time of requests of a network file system in all.
    ExecutionTime,
}

/// Error of a trial's requests. In JSON an object with its `kind`, or a sentence of a run that was kept before errors
/// had kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RequestError {
    /// Error of the operating system.
    System {
        /// The operating system's error number.
        errno: i32,
        /// Requests that returned it, warm-up included.
        count: u64,
    },
    /// Error for which another tool stopped a job; its file does not say which.
    JobStopped,
    /// Another tool's own limit of latency, at which it ended a job. No request failed.
    TooSlow,
    /// Another tool's own limit of throughput, at which it ended a job. No request failed.
    TooLowRate,
    /// A sentence of a run that was kept before errors had numbers.
    #[serde(untagged)]
    Other(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_numbers_and_sentences_kept_earlier_are_read() {
        let gone =
            Absence::WentBackwards { counter: Counter::SectorsRead, of: "vda".into(), before: 10, after: 3 };
        let absent = vec![gone, Absence::ShorterThanTick, Absence::Other("no device below".into())];
        let text = serde_json::to_string(&absent).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"[{"kind":"went-backwards","counter":"sectors-read","of":"vda","before":10,"after":3},"#,
                r#"{"kind":"shorter-than-tick"},"no device below"]"#
            )
        );
        assert_eq!(serde_json::from_str::<Vec<Absence>>(&text).unwrap(), absent);
    }

    #[test]
    fn errors_are_numbers_and_sentences_kept_earlier_are_read() {
        let errors = vec![
            RequestError::System { errno: 5, count: 3 },
            RequestError::Other("3 x Input/output error (os error 5)".into()),
        ];
        let text = serde_json::to_string(&errors).unwrap();
        assert_eq!(text, r#"[{"kind":"system","errno":5,"count":3},"3 x Input/output error (os error 5)"]"#);
        assert_eq!(serde_json::from_str::<Vec<RequestError>>(&text).unwrap(), errors);
    }
}
