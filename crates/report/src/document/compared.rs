//! The document of `compare --json`: sides compared, words included.

use iosonde_model::{
    BandwidthOfSmall, Compared, ComparedFigure, ComparedHighest, ComparedPair, ComparedSide, ComparedUnit,
    Comparison, Difference, GeometricMean, Layer, Likeness, LimitOfSide, OddSides, Op, RUN_SCHEMA,
    RunProperty, ServedBy, TrialSpec,
};
use serde::Serialize;

use crate::text::{compare, layer, odd_side};

/// Two or more sides compared, as other programs read them.
#[derive(Debug, Serialize)]
pub struct ComparedDocument<'a> {
    /// Version of iosonde that compared.
    pub iosonde: &'a str,
    /// Version of this document: 2.
    pub schema: u32,
    /// The sides, in the order of the command.
    pub sides: &'a [ComparedSide],
    /// One line for each like point of each pair.
    pub comparisons: Vec<ComparisonLine<'a>>,
    /// Each side against the first.
    pub pairs: Vec<PairLine<'a>>,
    /// From three sides on: from fastest to slowest; sides without a difference share a place.
    pub ranking: &'a [Vec<String>],
    /// From three sides on that took turns: those that differ from all the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_sides: Option<OddSidesDocument<'a>>,
}

/// One workload and direction on both sides, with its words.
#[derive(Debug, Serialize)]
pub struct ComparisonLine<'a> {
    /// The names of the two sides.
    pub between: &'a [String; 2],
    /// The workload, as the first side ran it.
    pub spec: &'a TrialSpec,
    /// Which of its requests.
    pub op: Op,
    /// Figure that is compared: `iops`, `latency_ns_mean`, `latency_ns_p50`, `latency_ns_p99`.
    pub figure: ComparedFigure,
    /// The first side's figure: the geometric mean over its repeats.
    pub a: Option<f64>,
    /// The second side's figure.
    pub b: Option<f64>,
    /// b / a.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval, which allows for the number of lines. Where the pair's unit is `run`, it is
    /// an interval of these two runs and none for the storage.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Verdict that follows from it.
    pub verdict: Likeness,
    /// Why it is not comparable, or what limits the verdict; empty where nothing does.
    pub why: String,
}

/// Two sides compared, with the answer in words.
#[derive(Debug, Serialize)]
pub struct PairLine<'a> {
    /// The side that is compared against.
    pub a: &'a str,
    /// The side that is compared.
    pub b: &'a str,
    /// The answer in a sentence.
    pub sentence: String,
    /// Server of the requests behind the ratios: `storage`, or `program` where memory or the program itself served both
    /// sides.
    pub about: &'a str,
    /// Unit of the statistics: `repeat`, or `run` where the variation between repeats is not known.
    pub unit: ComparedUnit,
    /// Ratios within this share of 1 count as equal: 0.02.
    pub margin: f64,
    /// Family-wise confidence of all statements together.
    pub confidence: f64,
    /// Over all like points first.
    pub geometric_means: &'a [GeometricMean],
    /// Highest rates that both sides have; empty where another figure than throughput is compared.
    pub highest: &'a [ComparedHighest],
    /// Directions of one side, and not of the other, whose smallest requests reach the highest bandwidth.
    pub bandwidth_of_small: &'a [BandwidthOfSmall],
    /// Rate limits of both sides, as the first run of each found them.
    pub limits: &'a [LimitOfSide],
    /// Geometric means of p99 latency; empty where another figure than throughput is compared.
    pub p99_means: &'a [GeometricMean],
    /// Points that only one side has.
    pub unmatched: usize,
    /// Differences other than the storage.
    pub differences: Vec<DifferenceLine>,
    /// What `b` costs above `a`; absent where it does not lie above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<LayerDocument<'a>>,
}

/// What a layer costs, with the answer in words.
#[derive(Debug, Serialize)]
pub struct LayerDocument<'a> {
    /// The answer in a sentence or two.
    pub sentence: String,
    /// What is odd about the layer, in words.
    pub warnings: Vec<String>,
    /// Cost of each workload: `added_ns` at QD 1, else `share` of the throughput that is left.
    #[serde(flatten)]
    pub facts: &'a Layer,
}

/// Sides that differ from all the others, with the answer in words.
#[derive(Debug, Serialize)]
pub struct OddSidesDocument<'a> {
    /// The answer.
    pub sentence: String,
    /// Its figures.
    #[serde(flatten)]
    pub facts: &'a OddSides,
}

/// Something besides the storage that is not the same on both sides, in words.
#[derive(Debug, Serialize)]
pub struct DifferenceLine {
    /// `kernel`, `memory`, ..
    pub what: RunProperty,
    /// On the first side.
    pub a: String,
    /// On the second.
    pub b: String,
}

impl<'a> ComparedDocument<'a> {
    /// The document of a comparison.
    pub fn of(compared: &'a Compared) -> Self {
        Self {
            iosonde: env!("CARGO_PKG_VERSION"),
            schema: RUN_SCHEMA,
            sides: &compared.sides,
            comparisons: compared.comparisons.iter().map(comparison).collect(),
            pairs: compared.pairs.iter().map(pair).collect(),
            ranking: &compared.ranking,
            odd_sides: compared
                .odd_sides
                .as_ref()
                .map(|facts| OddSidesDocument { sentence: odd_side::answer(facts), facts }),
        }
    }
}

fn comparison(line: &Comparison) -> ComparisonLine<'_> {
    ComparisonLine {
        between: &line.between,
        spec: &line.spec,
        op: line.op,
        figure: line.figure,
        a: line.a,
        b: line.b,
        ratio: line.ratio,
        low: line.low,
        high: line.high,
        verdict: line.verdict,
        why: compare::limits(line),
    }
}

fn pair(pair: &ComparedPair) -> PairLine<'_> {
    PairLine {
        a: &pair.a,
        b: &pair.b,
        sentence: compare::answer(pair),
        about: match pair.about {
            ServedBy::Storage => "storage",
            ServedBy::Memory | ServedBy::Program | ServedBy::MemoryOrProgram => "program",
        },
        unit: pair.unit,
        margin: pair.margin,
        confidence: pair.confidence,
        geometric_means: &pair.geometric_means,
        highest: &pair.highest,
        bandwidth_of_small: &pair.bandwidth_of_small,
        limits: &pair.limits,
        p99_means: &pair.p99_means,
        unmatched: pair.unmatched,
        differences: pair.differences.iter().map(difference).collect(),
        layer: pair.layer.as_ref().map(|facts| LayerDocument {
            sentence: layer::answer(pair, facts),
            warnings: layer::signs(pair, facts),
            facts,
        }),
    }
}

fn difference(difference: &Difference) -> DifferenceLine {
    let Difference { what, a, b } = difference;
    DifferenceLine {
        what: *what,
        a: compare::property_value(*what, a.as_ref()),
        b: compare::property_value(*what, b.as_ref()),
    }
}
