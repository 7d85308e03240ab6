//! Facts behind the answer whether a run is valid, as numbers and enums. Words are made of them in the report.

use std::collections::BTreeSet;

use iosonde_model::{About, Absence, CheckName, DeviceNote, Judgement, TrialSpec};

use crate::slow::Slow;

/// Weight of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Valid.
    Yes,
    /// Valid, with something to know that changes no figure of the first screen.
    Note,
    /// Valid, with a warning.
    Doubt,
    /// Not valid.
    No,
}

/// One fact with its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedFact {
    /// Weight for the answer.
    pub mark: Weight,
    /// Fact behind it.
    pub fact: Fact,
}

impl WeighedFact {
    /// A fact that warns.
    pub(super) fn doubt(fact: impl Into<Fact>) -> Self {
        Self { mark: Weight::Doubt, fact: fact.into() }
    }

    /// A fact that warns where `matters`, and is a note elsewhere.
    pub(super) fn doubt_if(matters: bool, fact: impl Into<Fact>) -> Self {
        Self { mark: if matters { Weight::Doubt } else { Weight::Note }, fact: fact.into() }
    }
}

/// Why no figure of a run is valid.
#[derive(Debug, Clone, PartialEq)]
pub enum Fatal {
    /// There is no measured trial.
    NothingMeasured,
    /// The bytes did not come from the storage.
    NotStorage(NotStorage),
    /// The load generator was the limit; the verdict on the first such trial.
    GeneratorLimit(Judgement),
    /// At least half of the trials are invalid for several reasons.
    MostInvalid {
        /// Invalid trials.
        invalid: usize,
        /// Measured trials.
        trials: usize,
        /// Whether only their queue depth is invalid, and their throughput may be valid.
        depth_only: bool,
        /// Verdict on the first of them.
        example: Judgement,
    },
    /// Rounds were completed, but no point has a confidence interval.
    NoInterval {
        /// Completed rounds.
        rounds: u32,
    },
    /// Fewer complete rounds than noise and drift can be estimated from.
    TooFewRounds {
        /// Completed rounds.
        rounds: u32,
        /// Rounds that are needed.
        needed: u32,
    },
}

/// Trials whose bytes did not come from the storage.
#[derive(Debug, Clone, PartialEq)]
pub struct NotStorage {
    /// Source of the bytes.
    pub source: ByteSource,
    /// Share of the requested bytes that the storage moved.
    pub moved_share: f64,
    /// Unwritten ranges of the file, where it has some.
    pub holes: Option<DeviceNote>,
    /// Verdict on the trial of which the storage moved the smallest share.
    pub example: Judgement,
    /// Number of trials of which the storage moved too little.
    pub trials: usize,
    /// Number of measured trials.
    pub measured: usize,
}

/// Source of bytes that the storage did not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteSource {
    /// Engine that moves no data.
    Engine,
    /// Direct I/O that moved nothing.
    Nothing,
    /// Holes of the file, in part.
    Holes,
    /// Page cache below a loop device, or the storage below that.
    CacheBelow,
    /// Memory.
    Memory,
    /// Memory and the storage.
    MemoryAndStorage,
}

/// Points without a valid trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidPoints {
    /// Points without a valid trial.
    pub invalid: usize,
    /// Measured points.
    pub points: usize,
}

/// Kind of thing that a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningScope {
    /// Trials.
    Trial,
    /// Points.
    Point,
    /// The whole run.
    Run,
}

/// Share of a figure's trials that a warning touches, above which the figure carries its mark.
const TOUCHED_SHARE: f64 = 0.1;

/// Trials that the warnings of one check are about, each with the figures that it qualifies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Touched {
    pub(super) lines: Vec<(About, Vec<u64>)>,
    /// Whether percentiles of these trials are qualified as their means are.
    pub(super) percentiles: bool,
}

impl Fact {
    /// Trials whose figures it qualifies, where it says which.
    pub fn touched(&self) -> Option<&Touched> {
        match self {
            Self::Warnings { touched, .. } | Self::UnseenCache { touched, .. } => Some(touched),
            _ => None,
        }
    }
}

impl Touched {
    /// Whether more than a tenth of the trials behind a figure of this kind are touched.
    pub fn qualifies(&self, figures: &[About], trials: &[u64]) -> bool {
        let touches = |about: &About| figures.iter().any(|&figure| about.touches(figure));
        // Every figure of the tables is one of the device.
        let own = self.lines.iter().filter(|(about, _)| *about == About::Device || touches(about));
        let affected: BTreeSet<u64> = own.flat_map(|(_, ids)| ids.iter().copied()).collect();
        let count = trials.iter().filter(|id| affected.contains(id)).count();
        count as f64 > TOUCHED_SHARE * trials.len() as f64
    }

    /// The same, of a percentile of latency.
    pub fn qualifies_percentile(&self, trials: &[u64]) -> bool {
        self.percentiles && self.qualifies(&[About::Latency], trials)
    }
}

/// Invalid trials, by the first check that makes them invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidBy {
    /// Name of the check.
    pub check: CheckName,
    /// Trials that it makes invalid and no earlier check does.
    pub trials: usize,
    /// Workloads that they are of.
    pub workloads: usize,
    /// Whether only their queue depth is invalid.
    pub depth_only: bool,
    /// Whether later trials with a longer warm-up replace all of them.
    pub replaced: bool,
    /// Workload of the first of them, where the run has measured several.
    pub workload: Option<Box<TrialSpec>>,
    /// Verdict on the first of them.
    pub example: Judgement,
}

/// What a reader must know before using the figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Counts of valid trials, invalid trials and outliers.
    Trials {
        /// Measured trials.
        trials: usize,
        /// Invalid ones.
        invalid: usize,
        /// Valid ones that are excluded from every mean.
        outliers: usize,
        /// Checks that make trials invalid, in the order of the checks; their counts add up to `invalid`.
        reasons: Vec<InvalidBy>,
    },
    /// Workloads that use the page cache, as the study asks, where the others bypass it.
    CachedOnPurpose {
        /// Workloads that the cache served.
        cached: usize,
        /// All workloads.
        points: usize,
    },
    /// A rate limit was measured on purpose and found.
    LimitFound,
    /// Warnings of one check.
    Warnings {
        /// Kind of thing that was judged.
        scope: WarningScope,
        /// Warnings.
        count: usize,
        /// Those of them about trials that are invalid for another reason.
        about_invalid: usize,
        /// Whether the run has a single trial.
        single_trial: bool,
        /// Points that they are about; 0 where they are about the run or a run without points.
        points: usize,
        /// Workload of the example.
        workload: Option<Box<TrialSpec>>,
        /// Worst of the verdicts, or the first where they cannot be compared.
        example: Judgement,
        /// Whether the example is the worst.
        is_worst: bool,
        /// Trials that they are about.
        touched: Touched,
    },
    /// Nothing could tell whether the device moved the bytes of most trials; the verdict that says so.
    NoWitness(Judgement),
    /// Counters of the device were lost during the run.
    WitnessLost {
        /// Trials without counters.
        trials_without: usize,
        /// Measured trials.
        trials: usize,
        /// Id of the first trial without counters.
        from_trial: u64,
        /// First reason for a missing reading.
        reported: Option<Absence>,
    },
    /// The run was interrupted.
    Interrupted,
    /// The run ended with an error.
    Failed,
    /// Intervals are wider than requested, or missing.
    Imprecise {
        /// Whether the time was up.
        time_up: bool,
        /// Points.
        points: usize,
        /// Points whose interval is wider or missing.
        wide: usize,
        /// Points among these whose interval is wider since rates changed over the run.
        changed: usize,
        /// Points without an interval.
        missing: usize,
        /// Workload of the one that is known worst.
        worst: Box<TrialSpec>,
        /// Half-width of that one as a share; `None` where it has no interval, or where a highest rate of the run has a
        /// wider one and would contradict "worst".
        worst_half: Option<f64>,
        /// Requested half-width.
        asked: f64,
        /// The `--time` that these points need if their trials scatter as they did, in seconds; `None` where the time
        /// was not up, and where no estimate is possible.
        needed_s: Option<f64>,
    },
    /// A cache that nothing on this side of it sees may have taken the writes: they are faster than reads.
    UnseenCache {
        /// Whether it is that of a virtual machine's host.
        of_host: bool,
        /// Trials of these writes.
        touched: Touched,
    },
    /// Circumstance that the figures hold under.
    Circumstance(Circumstance),
    /// Cause for which the storage may be slower than it could be.
    Slow(Slow),
}

impl From<Circumstance> for Fact {
    fn from(circumstance: Circumstance) -> Self {
        Self::Circumstance(circumstance)
    }
}

/// Circumstance of the machine, the target or the writes.
#[derive(Debug, Clone, PartialEq)]
pub enum Circumstance {
    /// Buffered I/O.
    PageCache {
        /// Bytes that were addressed.
        working_set_bytes: u64,
        /// Memory of the machine, where they fit into it.
        fits_memory_bytes: Option<u64>,
    },
    /// Warnings of the drive's own health report.
    DriveWarnings(Vec<String>),
    /// Measured on battery.
    OnBattery,
    /// Fewer bytes were addressed than requested.
    SmallerThanAsked {
        /// Bytes that were addressed.
        measured_bytes: u64,
        /// Requested bytes.
        asked_bytes: u64,
    },
    /// Random requests covered a part of a rotating disk only.
    ShortStrokes {
        /// Bytes that were addressed.
        span_bytes: u64,
        /// Bytes of the disk.
        disk_bytes: u64,
    },
    /// The file lies in many pieces on a rotating disk.
    Fragmented {
        /// Pieces.
        pieces: u64,
        /// Mean size of a piece.
        piece_bytes: u64,
    },
    /// Blocks that were written to are shared with a copy or a snapshot.
    SharedBlocks {
        /// Bytes that are shared.
        shared_bytes: u64,
        /// Bytes that are addressed.
        span_bytes: u64,
    },
    /// The volume has burst credit, and its end was not seen.
    BurstCredit {
        /// Time of the run.
        elapsed_s: f64,
    },
    /// A write buffer was found by another experiment.
    WriteBuffer {
        /// Size of the buffer.
        buffer_bytes: u64,
        /// Points with two rates, since trials found it empty or full.
        two_rates: usize,
    },
}

/// Relation of a run's writes to a write buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferedWrites {
    /// A buffer of this size was found: shorter writes fit it.
    Fit {
        /// Size of the buffer.
        buffer_bytes: u64,
    },
    /// What was written may fit into a buffer of unknown size.
    MayFit {
        /// Bytes written in all.
        written_bytes: u64,
        /// Bytes of the area that was written to.
        area_bytes: u64,
    },
}
