//! Highest rates of both sides: where a ratio of workloads comes from. A limit of bandwidth, a limit of IOPS and the
//! time of one request explain most of what two devices give; the last is a workload of its own. What still rose at the
//! deepest queue is compared as far as it was measured.

use iosonde_model::{
    BandwidthOfSmall, ComparedHighest, Conditions, Finding, FindingName, Likeness, Op, ReachedAt, Run, Rw,
};

use super::{
    like::{LinePair, Sample, mean, standard_error},
    ratio::Ratio,
    side::{Question, Side},
    spread::Spreads,
};
use crate::{
    enough_depth::enough_depth,
    finding::lookup::{estimate, found, found_like},
};

/// Findings that are compared.
const NAMES: [FindingName; 2] = [FindingName::DeviceBandwidth, FindingName::MaxIops];

/// A finding that both sides have.
pub(super) struct Highest<'a> {
    first: &'a Finding,
    /// Conditions that both sides share.
    like: Option<&'a Conditions>,
    pair: LinePair,
    at_least: [bool; 2],
    reached: [Option<ReachedAt>; 2],
}

/// Those that every repeat of both sides has.
pub(super) fn highest<'a>(a: &'a Side, b: &Side) -> Vec<Highest<'a>> {
    let of = |(name, op): (FindingName, Op)| {
        let first = found(a.runs.first()?, name, op)?;
        // Bandwidth is the highest of all sizes and orders; each side reaches it with its own.
        let like = (name == FindingName::MaxIops).then_some(&first.conditions);
        Some(Highest {
            first,
            like,
            pair: LinePair {
                rw: if op == Op::Write { Rw::RandWrite } else { Rw::RandRead },
                op,
                a: sample(a, name, op, like)?,
                b: sample(b, name, op, like)?,
                in_turn: None,
            },
            at_least: [a, b].map(|side| {
                side.runs.iter().any(|run| alike(run, name, op, like).is_some_and(|found| found.at_least))
            }),
            reached: [a, b].map(|side| reached(side.runs.first()?, op, like)),
        })
    };
    NAMES.into_iter().flat_map(|name| Op::TRANSFERS.map(|op| (name, op))).filter_map(of).collect()
}

/// Their ratios. `wrong` is the chance that the interval of one of them may miss.
pub(super) fn compared(highest: &[Highest], wrong: f64, question: &Question) -> Vec<ComparedHighest> {
    let pairs: Vec<&LinePair> = highest.iter().map(|one| &one.pair).collect();
    let spreads = Spreads::of(&pairs);
    let one = |(at, own): (usize, &Highest)| {
        let ratio = Ratio::new(own.pair.log_ratio(), spreads.of_line(at), wrong, question);
        ComparedHighest {
            finding: own.first.name,
            op: own.pair.op,
            block_size_bytes: own.like.and_then(|like| like.block_size_bytes),
            random: own.like.and_then(|like| like.random),
            unit: own.first.unit,
            a: mean(&own.pair.a.repeats).exp(),
            b: mean(&own.pair.b.repeats).exp(),
            at_least: own.at_least,
            reached: own.reached,
            ratio: ratio.value,
            low: ratio.low,
            high: ratio.high,
            verdict: known(ratio.verdict, own.at_least),
        }
    };
    highest.iter().enumerate().map(one).collect()
}

/// The verdict, as far as lower limits allow one: a side that may be faster is not shown to be slower.
fn known(verdict: Likeness, [a, b]: [bool; 2]) -> Likeness {
    match verdict {
        Likeness::Same if a || b => Likeness::CannotTell,
        Likeness::Faster if a => Likeness::CannotTell,
        Likeness::Slower if b => Likeness::CannotTell,
        known => known,
    }
}

/// Small requests that give less than this share of the highest bandwidth clearly do not reach it: a choice, so that
/// two sides on either side of the margin are not told apart by their noise.
const CLEARLY_LESS: f64 = 0.9;

/// Where the smallest requests of one side reach its highest bandwidth, and those of the other clearly do not.
pub(super) fn bandwidth_of_small(
    sides: [&Side; 2],
    highest: &[ComparedHighest],
    margin: f64,
) -> Vec<BandwidthOfSmall> {
    let of = |name: FindingName, op: Op| highest.iter().find(|own| own.finding == name && own.op == op);
    let one = |op: Op| {
        let (iops, bandwidth) = (of(FindingName::MaxIops, op)?, of(FindingName::DeviceBandwidth, op)?);
        let block_size_bytes = iops.block_size_bytes?;
        let ends = [(iops.a, bandwidth.a), (iops.b, bandwidth.b)];
        let share = ends.map(|(iops, most)| iops * block_size_bytes as f64 / most);
        let reaches = |place: usize| share[place] >= 1.0 / (1.0 + margin) && share[1 - place] < CLEARLY_LESS;
        let place = [0, 1].into_iter().find(|&place| reaches(place))?;
        let (side, bytes_per_s) = (sides[place].name.clone(), ends[place].1);
        Some(BandwidthOfSmall { side, op, block_size_bytes, bytes_per_s })
    };
    Op::TRANSFERS.into_iter().filter_map(one).collect()
}

fn sample(side: &Side, name: FindingName, op: Op, like: Option<&Conditions>) -> Option<Sample> {
    let own = |run: &Run| {
        let value = alike(run, name, op, like)?.value?;
        (value.is_finite() && value > 0.0).then(|| value.ln())
    };
    let repeats: Vec<f64> = side.runs.iter().map(own).collect::<Option<_>>()?;
    let within = match side.runs.as_slice() {
        [only] => alike(only, name, op, like)
            .and_then(|finding| standard_error(&estimate(finding), finding.confidence)),
        _ => None,
    };
    let history = if repeats.len() == 1 { side.history.iter().map(own).collect() } else { None };
    Some(Sample { repeats, within, history: history.unwrap_or_default(), not_of_the_storage: None })
}

/// The finding of a run, like another of these conditions where there are any.
fn alike<'a>(run: &'a Run, name: FindingName, op: Op, like: Option<&Conditions>) -> Option<&'a Finding> {
    like.map_or_else(|| found(run, name, op), |like| found_like(run, name, op, like))
}

fn reached(run: &Run, op: Op, like: Option<&Conditions>) -> Option<ReachedAt> {
    Some(enough_depth(run, op, like?)?.reached_at())
}

#[cfg(test)]
mod tests {
    use iosonde_model::{ComparedFigure, Detail, Status, Unit};
    use iosonde_testkit::specimen;

    use super::*;

    const QUESTION: Question =
        Question { figure: ComparedFigure::Iops, margin: 0.02, confidence: 0.95, over: false };

    #[test]
    fn a_lower_limit_allows_only_what_more_of_it_would_not_change() {
        use Likeness::{CannotTell, Faster, Same, Slower};
        let verdicts =
            [(Same, CannotTell, CannotTell), (Faster, CannotTell, Faster), (Slower, Slower, CannotTell)];
        for (verdict, a_may_be_faster, b_may_be_faster) in verdicts {
            assert_eq!(known(verdict, [false, false]), verdict);
            assert_eq!(known(verdict, [true, false]), a_may_be_faster);
            assert_eq!(known(verdict, [false, true]), b_may_be_faster);
        }
    }

    fn run(name: FindingName, block_size_bytes: u64, value: f64) -> Run {
        let mut run = specimen::run(specimen::usual());
        run.points.clear();
        let conditions = Conditions {
            op: Some(Op::Read),
            block_size_bytes: Some(block_size_bytes),
            ..Conditions::default()
        };
        let (unit, detail) = (Unit::Rate, Detail::Plain);
        let found = specimen::write_buffer(Status::Found, 0);
        run.findings = vec![Finding { name, conditions, unit, value: Some(value), detail, ..found }];
        run
    }

    fn side(name: FindingName, block_size_bytes: u64, values: &[f64]) -> Side {
        let runs = values.iter().map(|value| run(name, block_size_bytes, *value)).collect();
        Side { name: "side".to_owned(), runs, history: Vec::new() }
    }

    #[test]
    fn the_ratio_of_highest_rates_is_as_sure_as_repeats_are_alike() {
        let of = |values: &[f64]| {
            let a = side(FindingName::DeviceBandwidth, 1 << 20, &[1.00e9, 1.01e9, 0.99e9]);
            let b = side(FindingName::DeviceBandwidth, 1 << 18, values);
            compared(&highest(&a, &b), 0.05, &QUESTION).remove(0)
        };
        let slower = of(&[0.50e9, 0.505e9, 0.495e9]);
        assert_eq!((slower.verdict, slower.block_size_bytes), (Likeness::Slower, None));
        assert!((slower.ratio - 0.5).abs() < 1e-3 && slower.low < Some(0.5) && slower.high > Some(0.5));
        assert_eq!(of(&[0.3e9, 0.9e9, 0.6e9]).verdict, Likeness::CannotTell);
        // One side has no such finding.
        let none = side(FindingName::MaxIops, 4096, &[1e5, 1e5]);
        assert!(highest(&side(FindingName::DeviceBandwidth, 1 << 20, &[1e9]), &none).is_empty());
    }

    #[test]
    fn small_requests_that_reach_all_bandwidth_of_one_side_are_told() {
        let side = |iops: f64| {
            let mut side = side(FindingName::DeviceBandwidth, 1 << 20, &[4.096e8]);
            side.runs[0].findings.extend(run(FindingName::MaxIops, 4096, iops).findings);
            side
        };
        let told = |a: f64, b: f64| {
            let (a, b) = (side(a), side(b));
            let rates = compared(&highest(&a, &b), 0.05, &QUESTION);
            bandwidth_of_small([&a, &b], &rates, 0.02)
        };
        let [only] = &told(1e4, 0.99e5)[..] else { panic!("one side's reads") };
        assert_eq!((only.op, only.block_size_bytes, only.bytes_per_s.round()), (Op::Read, 4096, 4.096e8));
        assert!(told(1e5, 1e5).is_empty() && told(1e4, 1e4).is_empty());
        // 97 % and 98.5 %: the noise of two measurements.
        assert!(told(0.97e5, 0.985e5).is_empty());
    }

    #[test]
    fn iops_of_two_sizes_are_not_compared() {
        let of = |bytes: u64| side(FindingName::MaxIops, bytes, &[1e5, 1.01e5]);
        assert!(highest(&of(4096), &of(8192)).is_empty());
        let same = compared(&highest(&of(4096), &of(4096)), 0.05, &QUESTION);
        assert_eq!((same[0].ratio, same[0].block_size_bytes), (1.0, Some(4096)));
    }
}
