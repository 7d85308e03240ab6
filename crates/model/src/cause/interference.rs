//! Facts of the check `interference`.

use serde::Serialize;

/// Use of the storage or the processors by others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Interference {
    /// Others moved bytes on the device.
    OtherBytes {
        /// Bytes of other I/O on the device.
        others_bytes: u64,
        /// Bytes that the trial moved.
        issued_bytes: u64,
        /// Counters that show it.
        #[serde(skip)]
        counted_at: CountedAt,
    },
    /// Others moved bytes on the device while the trial ran at a control group's limit, which set its rate.
    AtLimit {
        /// Bytes of other I/O on the device.
        others_bytes: u64,
        /// Bytes that the trial moved.
        issued_bytes: u64,
    },
    /// The hypervisor took processor time.
    Steal {
        /// Share of the processors' time.
        steal_share: f64,
    },
    /// Tasks waited for a processor.
    CpuPressure {
        /// Share of the time in which at least one task waited.
        pressure_cpu_some_share: f64,
        /// This program's share of the processor time that all programs used.
        #[serde(skip_serializing_if = "Option::is_none")]
        own_cpu_share: Option<f64>,
    },
    /// The operating system signalled that memory was short.
    MemoryShort,
    /// The network file system sent requests again.
    Retransmissions {
        /// Requests that were sent again.
        retransmissions: u64,
    },
    /// Some witness is missing.
    Unseen {
        /// Witnesses that are missing.
        #[serde(skip)]
        missing: Vec<Missing>,
    },
    /// No point has enough windows to show another guest of the host.
    TooFewWindows {
        /// Windows that a point needs.
        windows_needed: usize,
        /// Requests that each of them needs.
        requests_needed: f64,
    },
    /// The rate collapsed several times.
    Stalls {
        /// Number of stalls.
        stretches: usize,
        /// Typical length of one.
        length_s: f64,
        /// Loss of rate during them.
        loss_share: f64,
        /// Share of the time that they take.
        time_share: f64,
        /// Time from one to the next, where they are regular.
        #[serde(skip_serializing_if = "Option::is_none")]
        period_s: Option<f64>,
        /// How many hosts were slow at once, where several measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        hosts: Option<HostsSlowed>,
    },
}

/// Hosts that were slow at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HostsSlowed {
    /// Those that were.
    pub slowed: usize,
    /// Those that measured.
    pub hosts: usize,
}

/// Share of the busy processor time from which on this program is not held up by others.
const MOSTLY_OWN: f64 = 0.5;

impl Interference {
    /// This program's share of the busy processor time, where it is half or more: threads waited for each other, and no
    /// other program is the cause.
    pub fn mostly_own_cpu_share(&self) -> Option<f64> {
        match self {
            Self::CpuPressure { own_cpu_share, .. } => own_cpu_share.filter(|&own| own >= MOSTLY_OWN),
            _ => None,
        }
    }
}

impl HostsSlowed {
    /// Whether the others went on: half and fewer of at least three were slow.
    pub fn are_few(&self) -> bool {
        self.hosts > 2 && 2 * self.slowed <= self.hosts
    }
}

/// Counters of bytes that all programs moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum CountedAt {
    /// A block device, by name where it is known.
    Device(Option<String>),
    /// A mount of a network file system.
    Mount,
}

/// A witness of others' work that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Missing {
    /// Counters of the device.
    DeviceCounters,
    /// Counters that mean something: for buffered I/O they include read-ahead and write-back.
    UncachedCounters,
    /// Processor time that the hypervisor took.
    Steal,
    /// Time in which tasks waited for a processor.
    CpuPressure,
}
