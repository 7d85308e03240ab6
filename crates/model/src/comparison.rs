//! Two runs, or two machines, side by side: one line for each workload that both were asked.

use serde::{Deserialize, Serialize};

use crate::{Op, RunInfo, TrialSpec};

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
    /// Name of the side: its label, else its id.
    pub name: String,
    /// Ids of its runs.
    pub runs: Vec<RunInfo>,
    /// Older runs of the same study on the same storage, from which the differences between repeats were taken
    /// because there was one repeat only.
    pub history: usize,
}

/// Comparison of one workload and direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The names of the two sides.
    pub between: [String; 2],
    /// The workload, as the first side ran it.
    pub spec: TrialSpec,
    /// Direction that is compared.
    pub op: Op,
    /// Figure that is compared: `iops`, `latency_ns_mean`, `latency_ns_p50`, `latency_ns_p99`.
    pub figure: String,
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
    /// Reason why it is not comparable, or what limits the verdict; empty where nothing does.
    pub why: String,
}

/// The geometric mean of the ratios of some like points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// Points of the mean: `all`, `random reads`, ..
    pub of: String,
    /// Number of points.
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

/// Something besides the storage that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `kernel`, `memory`, ..
    pub what: String,
    /// Value on the first side.
    pub a: String,
    /// Value on the second side.
    pub b: String,
}

/// Two sides compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedPair {
    /// The side that is compared against.
    pub a: String,
    /// The side that is compared.
    pub b: String,
    /// The answer in a sentence.
    pub sentence: String,
    /// Subject of the ratios: `storage`, or `program` where memory or the program itself limited both sides.
    #[serde(default)]
    pub about: String,
    /// Unit of replication: `repeat`, or `run` where the difference between repeats is unknown.
    pub unit: String,
    /// Largest deviation of ratios that count as the same, as a share: 0.02.
    pub margin: f64,
    /// Confidence of the whole family of statements, as a share.
    pub confidence: f64,
    /// Geometric means, that over all like points first.
    pub geometric_means: Vec<GeometricMean>,
    /// Points that only one side has.
    pub unmatched: usize,
    /// Differences between the sides besides the storage.
    pub differences: Vec<Difference>,
}

/// Two or more sides compared: the document of `compare --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The version of iosonde that compared.
    pub iosonde: String,
    /// Version of this document.
    pub schema: u32,
    /// The sides, in the order of the command.
    pub sides: Vec<ComparedSide>,
    /// Comparisons, one for each like point of each pair.
    pub comparisons: Vec<Comparison>,
    /// Comparisons of each side with the first.
    pub pairs: Vec<ComparedPair>,
    /// Sides from fastest to slowest, for three sides or more; indistinguishable sides share a place.
    pub ranking: Vec<Vec<String>>,
}

impl Compared {
    /// The lines of one pair.
    pub fn lines<'a>(&'a self, pair: &'a ComparedPair) -> impl Iterator<Item = &'a Comparison> {
        self.comparisons.iter().filter(|line| line.between[0] == pair.a && line.between[1] == pair.b)
    }
}
