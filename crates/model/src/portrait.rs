//! Device model fitted to a run: its parameters with their sources, as facts. Words are made of them in the report.

use crate::{Estimate, Finding, FindingName, Op, TraitKey, TrialSpec};

/// Kind of device that the requests show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Build {
    /// Units side by side, each with its own line, to which addresses send requests: flash.
    Units,
    /// Servers side by side with one line for all.
    Servers,
    /// Disk: one arm over a rotating platter.
    Disk,
}

/// Source of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraitSource {
    /// A finding.
    Finding(FindingName),
    /// The run's points themselves, through a fit.
    Points,
}

/// How a parameter follows from its sources, or which default was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Derivation {
    /// Time that the program was busy, over the requests of that time.
    BusyTimePerRequest,
    /// Best of all candidates in a fit of the reads.
    BestFit,
    /// Latency of a small request at QD 1, less path and transfer.
    LatencyLessPath,
    /// Latency of a small request at QD 1, less the medium's part.
    LatencyLessMedium,
    /// Strides that meet all units, or fewer.
    Strides,
    /// Number of units that the highest rate needs.
    UnitsForHighestRate,
    /// Equal to the reads' rate: no burst was measured.
    EqualToReads,
    /// Stride that meets all units.
    StrideOfAllUnits,
    /// Default: one page on each unit in turn.
    PagePerUnit,
    /// Default page, or the smallest that allows the measured rate of large reads.
    PageForRate,
    /// Smaller writes read first.
    SmallWritesReadFirst,
    /// Default value.
    Default,
    /// Default that does not limit the sustained rate.
    DefaultWithinSustained,
    /// A flush after one write waits for path and one program.
    FlushAfterWrite,
    /// Bytes that are written before the rate falls.
    BytesBeforeSlower,
    /// Smaller than a long write can show.
    BelowDetection,
    /// Default size, or what drains in a quarter of a second.
    QuarterSecondOfDrain,
    /// Sustained rate of writes.
    SustainedRate,
    /// Latency of a flush beyond path and program.
    FlushBeyondProgram,
    /// Highest rate times the latency at QD 1, in whole servers.
    RateTimesLatency,
    /// Number of servers over the highest rate.
    ServersOverRate,
    /// Slope of the latency of single requests over their size.
    SlopeOverSize,
    /// Highest rate of large requests: link and medium are not distinguished.
    HighestBandwidth,
    /// Default: far below one turn.
    FarBelowOneTurn,
    /// 60 s over the measured period of rotation.
    RotationPeriod,
    /// Each durable write of a log waits for one turn.
    LogWriteWaitsOneTurn,
    /// Sequential reads at the first addresses.
    SequentialAtStart,
    /// Rate that falls linearly over the zones.
    LinearZones,
    /// Default: half of the outer edge.
    HalfOfOuter,
    /// Single large reads pass medium and link in turn, sequential ones both at once.
    MediumThenLink,
    /// Default of 0.6 ms, or what short seeks leave.
    ShortSeeks,
    /// Latency of a random read beyond half a turn, scaled to the whole disk by a square-root law.
    SeekBeyondHalfTurn,
    /// Seek time beyond half of a rotation, where the rotation time is a default.
    SeekBeyondDefaultTurn,
    /// Default: sequential reads did not wait for a turn.
    ReadAheadSeen,
    /// Default: writes did not wait for the arm.
    WritesSkipArm,
    /// Default of SATA: deeper queues were served faster.
    SataSlots,
}

/// Something that the run does not identify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unidentified {
    /// Share of a read's latency that is the path.
    PathShare,
    /// Number of units, other than through rates.
    Units,
    /// Rate of the link: nothing came near it.
    LinkBound,
    /// Spread of addresses over the units.
    Stripe,
    /// Size of a page.
    Page,
    /// Writes: none were measured.
    Writes,
    /// Program time.
    Program,
    /// Size of the write buffer.
    BufferSize,
    /// Further servers: throughput was still rising at the deepest valid queue.
    MoreServers,
    /// Bandwidth of large requests of one direction.
    Bandwidth(Op),
    /// Bandwidth of a disk.
    DiskBandwidth,
    /// Speed of rotation.
    Rotation,
    /// Seeks beyond the part of the disk that was addressed.
    LongSeeks,
    /// Noise, neighbours, heat and what builds up over hours: no model has them.
    Noise,
}

/// One parameter of the model: measured, fitted or a default.
#[derive(Debug, Clone, PartialEq)]
pub struct Trait {
    /// Its section and key in a device's file.
    pub key: TraitKey,
    /// The value with its interval; without one for a default.
    pub estimate: Estimate,
    /// Sources of the value; empty for a default.
    pub sources: Vec<TraitSource>,
    /// How it follows from them, or which default was taken.
    pub derivation: Derivation,
}

impl Trait {
    /// Returns true if no measurement supports the value.
    pub fn is_assumed(&self) -> bool {
        self.sources.is_empty()
    }
}

/// Why the model misses a workload, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// Reads and writes were mixed: the model's own rule serves them.
    Mix,
    /// The write buffer's size is a default.
    BufferSize,
    /// The program time is a default.
    Program,
    /// The spread of addresses over the units is a default.
    Stripe,
    /// The page is a default, and the requests are larger.
    Page {
        /// Bytes of the default.
        page_bytes: u64,
    },
    /// A disk serves several requests in an order of its own.
    DiskOrder,
    /// Writes are modelled as reads.
    WritesAsReads,
    /// No default explains it: the storage is built in another way.
    Structure,
}

/// A point of the run beside the same point on the fitted device.
#[derive(Debug, Clone, PartialEq)]
pub struct Compliance {
    /// The point's id.
    pub point: usize,
    /// Its workload.
    pub spec: TrialSpec,
    /// Which direction of it.
    pub op: Op,
    /// Whether a parameter was fitted to this point: where it was, the model can hardly miss it.
    pub fitted: bool,
    /// Requests a second as measured.
    pub measured: Estimate,
    /// Requests a second on the fitted device.
    pub model: Estimate,
    /// Model over measured.
    pub ratio: f64,
    /// Why the model fails here; `None` where it holds.
    pub why: Option<Misfit>,
}

/// Device model fitted to a run, in a form that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Portrait {
    /// Kind of device.
    pub build: Build,
    /// Its parameters, in the order of the way down: program, link, medium.
    pub traits: Vec<Trait>,
    /// Traits that the run does not identify.
    pub unidentified: Vec<Unidentified>,
    /// Bytes of the device, or at least what was addressed.
    pub capacity_bytes: u64,
}

impl Portrait {
    /// The parameter of a key.
    pub fn find(&self, key: TraitKey) -> Option<&Trait> {
        self.traits.iter().find(|one| one.key == key)
    }
}

/// Why no model can be fitted to a run: a finding that everything else rests on is lacking.
#[derive(Debug, Clone, PartialEq)]
pub struct NoPortrait {
    /// Finding that is lacking.
    pub lacks: FindingName,
    /// The finding as it was concluded without a value; `None` where no experiment measured it.
    pub inconclusive: Option<Box<Finding>>,
}
