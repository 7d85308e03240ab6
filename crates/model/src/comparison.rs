//! Two runs, or two machines, side by side: one line for each workload that both were asked.

use serde::{Deserialize, Serialize};

use crate::{Op, RunInfo, TrialSpec};

/// What a comparison says of the second side against the first.
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
    /// One side has no figure that stands.
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

/// One side: the runs of one series, each with a fresh file, fill and process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    /// How the side is called in sentences: its label, else its id.
    pub name: String,
    /// Its runs.
    pub runs: Vec<RunInfo>,
    /// Older runs of the same study on the same storage, from which the differences between repeats were taken
    /// because there was one repeat only.
    pub history: usize,
}

/// One workload and direction on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The names of the two sides.
    pub between: [String; 2],
    /// The workload, as the first side ran it.
    pub spec: TrialSpec,
    /// Which of its requests.
    pub op: Op,
    /// What is compared: `iops`, `latency_ns_mean`, `latency_ns_p50`, `latency_ns_p99`.
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
    /// What that says.
    pub verdict: Likeness,
    /// Why it is not comparable, or what limits the verdict; empty where nothing does.
    pub why: String,
}

/// The geometric mean of the ratios of some like points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeometricMean {
    /// Of which points: `all`, `random reads`, ..
    pub of: String,
    /// How many.
    pub points: usize,
    /// b / a.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What that says.
    pub verdict: Likeness,
}

/// Something besides the storage that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `kernel`, `memory`, ..
    pub what: String,
    /// On the first side.
    pub a: String,
    /// On the second.
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
    /// What the ratios are about: `storage`, or `program` where memory or the program itself served both sides.
    #[serde(default)]
    pub about: String,
    /// What one unit of the statistics is: `repeat`, or `run` where how repeats differ is not known.
    pub unit: String,
    /// Of ratios that count as the same, as a share: 0.02.
    pub margin: f64,
    /// Of the whole family of statements.
    pub confidence: f64,
    /// Over all like points first.
    pub geometric_means: Vec<GeometricMean>,
    /// Points that only one side has.
    pub unmatched: usize,
    /// What differs besides the storage.
    pub differences: Vec<Difference>,
}

/// Two or more sides compared: the document of `compare --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The version of iosonde that compared.
    pub iosonde: String,
    /// Version of this document: 2.
    pub schema: u32,
    /// The sides, in the order of the command.
    pub sides: Vec<ComparedSide>,
    /// One line for each like point of each pair.
    pub comparisons: Vec<Comparison>,
    /// Each side against the first.
    pub pairs: Vec<ComparedPair>,
    /// From three sides on: from fastest to slowest; sides that cannot be told apart share a place.
    pub ranking: Vec<Vec<String>>,
}

impl Compared {
    /// The lines of one pair.
    pub fn lines<'a>(&'a self, pair: &'a ComparedPair) -> impl Iterator<Item = &'a Comparison> {
        self.comparisons.iter().filter(|line| line.between[0] == pair.a && line.between[1] == pair.b)
    }
}
