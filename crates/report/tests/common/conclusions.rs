//! What is concluded about the invented device: values in closed form.

use iosonde_model::{
    Conditions, Detail, Finding, FindingName, Inconclusive, Op, Status, Unit,
    detail::{Plateau, PlateauMethod, QueueDepthProblem, RatioAnswer},
};

type Told = (f64, f64, f64);

pub(super) fn finding(name: FindingName, experiment: &str, op: Op, unit: Unit, told: Told) -> Finding {
    let block_size_bytes = if experiment == "block-size" { None } else { Some(4096) };
    Finding {
        name,
        experiment: experiment.into(),
        conditions: Conditions {
            op: Some(op),
            random: Some(true),
            block_size_bytes,
            ..Conditions::default()
        },
        status: Status::Found,
        value: Some(told.0),
        unit,
        low: Some(told.1),
        high: Some(told.2),
        at_least: false,
        confidence: 0.95,
        detail: detail(name),
        notes: Vec::new(),
        trials: vec![3, 4, 5],
    }
}

/// Facts of a finding beside its value.
fn detail(name: FindingName) -> Detail {
    let plateau = Plateau { next_smaller_bytes: Some(1 << 20), method: PlateauMethod::Comparison };
    match name {
        FindingName::RandomVsSequential => Detail::AccessOrder(RatioAnswer::Equal),
        FindingName::PlateauBlockSize => Detail::Plateau(plateau),
        _ => Detail::Plain,
    }
}

/// Name, experiment, unit, value with its interval; all of reads.
///
/// Closed forms: R0 = 80 us + 4096 B / 2.5 B/ns = 81.6 us; 24 / R0 = 294 k IOPS; n1/2 = 80 us * 2.5 B/ns = 200 kB.
const FOUND: [(FindingName, &str, Unit, Told); 9] = [
    (FindingName::DeviceBandwidth, "random-vs-sequential", Unit::Rate, (2.48e9, 2.41e9, 2.55e9)),
    (FindingName::MaxIops, "queue-depth", Unit::Iops, (294e3, 288e3, 301e3)),
    (FindingName::BaseLatency, "queue-depth", Unit::Time, (81_600.0, 80_100.0, 83_200.0)),
    (FindingName::PerRequestCost, "block-size", Unit::Time, (80_000.0, 76_000.0, 84_400.0)),
    (FindingName::HalfSize, "block-size", Unit::Bytes, (200_000.0, 188_000.0, 213_000.0)),
    (FindingName::PlateauBlockSize, "block-size", Unit::Bytes, (4_194_304.0, 2_097_152.0, 4_194_304.0)),
    (FindingName::QueueDepthKnee, "queue-depth", Unit::InFlight, (24.0, 22.6, 25.5)),
    (FindingName::DepthFor95Percent, "queue-depth", Unit::InFlight, (45.0, 38.0, 54.0)),
    (FindingName::RandomVsSequential, "random-vs-sequential", Unit::Ratio, (1.0, 0.98, 1.02)),
];

/// What is found, and one that is refused.
pub(super) fn findings() -> Vec<Finding> {
    let found = FOUND.iter().map(|(name, experiment, unit, told)| {
        let mut found = finding(*name, experiment, Op::Read, *unit, *told);
        if *experiment == "random-vs-sequential" {
            let (block_size_bytes, queue_depth) = (Some(1 << 20), Some(8));
            found.conditions = Conditions { random: None, block_size_bytes, queue_depth, ..found.conditions };
        }
        found
    });
    let why = QueueDepthProblem::TooFewDepths { depths: 4, needed: 5, smallest: 1 };
    let nothing = finding(
        FindingName::QueueDepthKnee,
        "queue-depth-writes",
        Op::Write,
        Unit::InFlight,
        (0.0, 0.0, 0.0),
    );
    let status = Status::Inconclusive;
    let detail = Detail::Inconclusive(Inconclusive::QueueDepth(why));
    let refused = Finding { status, detail, value: None, low: None, high: None, ..nothing };
    found.chain([refused]).collect()
}
