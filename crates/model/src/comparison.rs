//! Two runs, or two machines, side by side: one line for each workload that both were asked.

use serde::{Deserialize, Serialize};

use crate::{
    ComparedFigure, FindingName, HostLayout, Judgement, Layer, OddSides, Op, RateLimit, RunInfo, RunProperty,
    RunState, TrialSpec, Unit, WorkloadGroup,
};

/// Result of a comparison: the second side against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Likeness {
    /// The whole interval lies inside the margin around 1.
    #[serde(rename = "same")]
    Same,
    /// The whole interval lies beyond the margin, on the better side.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval lies beyond the margin, on the worse side.
    #[serde(rename = "slower")]
    Slower,
    /// The interval reaches across the margin's edge.
    #[serde(rename = "cannot tell")]
    CannotTell,
    /// One side has no valid figure.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl std::fmt::Display for Likeness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::CannotTell => "cannot tell",
            Self::NotComparable => "not comparable",
        })
    }
}

/// Side of a comparison: the runs of one series, each with a fresh file, fill and process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    /// Name of the side: its label, else its target.
    pub name: String,
    /// Ids of its runs.
    pub runs: Vec<RunInfo>,
    /// Older runs of the same study on the same storage, from which the differences between repeats were taken
    /// because there was one repeat only.
    pub history: usize,
}

/// Server of the requests that a ratio is about: the storage, memory or the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedBy {
    /// The storage served both sides.
    Storage,
    /// Memory served both sides: a statement about programs on this machine, not about the storage.
    Memory,
    /// The program itself was the limit on both sides.
    Program,
    /// Memory at some workloads, the program at others.
    MemoryOrProgram,
}

/// Unit of the statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComparedUnit {
    /// The spread between repeats is known: the comparison is about the storage.
    Repeat,
    /// It is not known: the comparison is about these runs.
    Run,
}

/// Why a workload has no ratio, or what its ratio is about instead of the storage.
#[derive(Debug, Clone, PartialEq)]
pub enum Incomparable {
    /// Both sides have the same fixed rate.
    FixedRate,
    /// A side has no figure that is valid for the storage.
    Side {
        /// Place of the side: 0 or 1.
        side: usize,
        /// Number of the repeat, where the side has several.
        repeat: Option<usize>,
        /// Cause.
        cause: NoFigure,
    },
}

/// Why one side of a workload has no figure that is valid for the storage.
#[derive(Debug, Clone, PartialEq)]
pub enum NoFigure {
    /// The run did not measure the workload.
    NotMeasured,
    /// The trials have no such figure.
    NoSuchFigure,
    /// A check invalidated its trials.
    Invalid(Box<Judgement>),
}

/// One workload and direction on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The names of the two sides.
    pub between: [String; 2],
    /// The workload, as the first side ran it.
    pub spec: TrialSpec,
    /// Direction that is compared.
    pub op: Op,
    /// Figure that is compared.
    pub figure: ComparedFigure,
    /// The first side's figure: the geometric mean over its repeats.
    pub a: Option<f64>,
    /// The second side's figure.
    pub b: Option<f64>,
    /// b / a.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval, which allows for the number of lines.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Result of the comparison.
    pub verdict: Likeness,
    /// Why it is not comparable, or what limits the verdict; empty where nothing does.
    pub limits: Vec<Incomparable>,
}

/// The geometric mean of the ratios of some like points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// Which workloads: `all`, `random reads`, ..
    pub of: WorkloadGroup,
    /// Number of workloads.
    pub points: usize,
    /// b / a.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Result of the comparison.
    pub verdict: Likeness,
}

/// Highest rate of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedHighest {
    /// Finding that is compared.
    pub finding: FindingName,
    /// Direction.
    pub op: Op,
    /// Size of the requests, where the finding is about one.
    pub block_size_bytes: Option<u64>,
    /// Whether they are at random offsets, where the finding is about one order.
    pub random: Option<bool>,
    /// Unit of `a` and `b`.
    pub unit: Unit,
    /// The first side's rate: the geometric mean over its repeats.
    pub a: f64,
    /// The second side's rate.
    pub b: f64,
    /// Whether the rate of each side is a lower limit: the program, or the deepest queue, was what limited it.
    pub at_least: [bool; 2],
    /// Queue depth that is enough on each side, in its first run; of IOPS alone.
    pub reached: [Option<ReachedAt>; 2],
    /// b / a.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Result of the comparison.
    pub verdict: Likeness,
}

/// A side's direction whose smallest requests reach its highest bandwidth: larger ones give no more.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BandwidthOfSmall {
    /// Name of the side.
    pub side: String,
    /// Direction.
    pub op: Op,
    /// Size of the small requests.
    pub block_size_bytes: u64,
    /// The highest bandwidth.
    pub bytes_per_s: f64,
}

/// Rate limit of one side, as its first run found it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitOfSide {
    /// Name of the side.
    pub side: String,
    /// The limit.
    #[serde(flatten)]
    pub limit: RateLimit,
}

/// Lowest measured queue depth for at least 95 % of a highest rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReachedAt {
    /// Queue depth.
    pub queue_depth: u64,
    /// Whether IOPS still rose at the deepest measured queue, which this is.
    pub still_rising: bool,
    /// Whether iosonde's CPU was the limit at the deeper ones that were tried.
    pub cpu_bound_above: bool,
}

/// Value of a property of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    /// A name, as the system gives it.
    Text(String),
    /// A number of bytes.
    Bytes(u64),
    /// A count.
    Count(u64),
    /// Whether it is so.
    Flag(bool),
    /// State of the run.
    State(RunState),
    /// Layout of the data of several hosts or workers.
    Layout {
        /// The layout.
        layout: HostLayout,
        /// Whether reads go to what another host wrote.
        rotated: bool,
    },
}

/// Something besides the storage that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Property that differs.
    pub what: RunProperty,
    /// Value on the first side; `None` where it is not known.
    pub a: Option<PropertyValue>,
    /// Value on the second side.
    pub b: Option<PropertyValue>,
}

/// Two sides compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// The side that is compared against.
    pub a: String,
    /// The side that is compared.
    pub b: String,
    /// Figure that is compared.
    pub figure: ComparedFigure,
    /// Server of the requests.
    pub about: ServedBy,
    /// Unit of the statistics.
    pub unit: ComparedUnit,
    /// Repeats of each side.
    pub repeats: [usize; 2],
    /// Whether all ratios come from trials that took turns.
    pub in_turn: bool,
    /// Ratios within this share of 1 count as the same: 0.02.
    pub margin: f64,
    /// Confidence of the whole family of statements.
    pub confidence: f64,
    /// Geometric means, that over all like points first.
    pub geometric_means: Vec<GeometricMean>,
    /// Highest rates that both sides have; empty where latency is compared, or memory served the requests.
    pub highest: Vec<ComparedHighest>,
    /// Directions of one side, and not of the other, whose smallest requests reach the highest bandwidth.
    pub bandwidth_of_small: Vec<BandwidthOfSmall>,
    /// Rate limits of both sides; empty where latency is compared, or memory served the requests.
    pub limits: Vec<LimitOfSide>,
    /// Geometric means of p99 latency beside those of throughput, a family of statements of their own; empty where
    /// another figure is compared.
    pub p99_means: Vec<GeometricMean>,
    /// Workloads of both sides without a ratio.
    pub not_compared: usize,
    /// Workloads whose ratio has no interval; no mean contains them.
    pub without_interval: usize,
    /// Workloads that contradict the overall mean with certainty.
    pub opposite: usize,
    /// The lowest and the highest ratio among the workloads of the overall mean.
    pub extremes: Option<[f64; 2]>,
    /// Points that only one side has.
    pub unmatched: usize,
    /// Differences between the sides besides the storage.
    pub differences: Vec<Difference>,
    /// What the second side costs above the first, where it lies above it.
    pub layer: Option<Layer>,
}

/// Two or more sides compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The sides, in the order of the command.
    pub sides: Vec<ComparedSide>,
    /// Comparisons, one for each like point of each pair; beside throughput also of p99 latency.
    pub comparisons: Vec<Comparison>,
    /// Comparisons of each side with the first.
    pub pairs: Vec<ComparedPair>,
    /// From three sides on: from fastest to slowest; sides without a difference share a place.
    pub ranking: Vec<Vec<String>>,
    /// From three sides on that took turns: those that differ from all the others.
    pub odd_sides: Option<OddSides>,
}

impl Compared {
    /// The lines of one pair, of the figure that is compared.
    pub fn lines<'a>(&'a self, pair: &'a ComparedPair) -> impl Iterator<Item = &'a Comparison> {
        self.of(pair).filter(|line| line.figure == pair.figure)
    }

    /// Whether the ranking says more than that there is a first side.
    pub fn is_ranked(&self) -> bool {
        self.ranking.iter().flatten().count() > 1
    }

    /// The lines of one pair about p99 latency, beside throughput.
    pub fn p99_lines<'a>(&'a self, pair: &'a ComparedPair) -> impl Iterator<Item = &'a Comparison> {
        self.of(pair).filter(|line| line.figure != pair.figure)
    }

    fn of<'a>(&'a self, pair: &'a ComparedPair) -> impl Iterator<Item = &'a Comparison> {
        self.comparisons.iter().filter(|line| line.between[0] == pair.a && line.between[1] == pair.b)
    }
}
