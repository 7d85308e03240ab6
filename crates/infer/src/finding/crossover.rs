//! The queue depth, or block size, from which on the slower of reads and writes becomes the faster.
//!
//! What it is: the level of one parameter (queue depth or block size) at which reads and writes have equal
//! throughput, with one of them ahead below it and the other above.
//!
//! How it is computed: at each level the throughput of reads divided by that of writes, with simultaneous intervals
//! over all levels (Bonferroni). The interval runs from the last level at which one significantly leads to the
//! first at which the other does. The value is where a straight line between the two, both scales logarithmic,
//! crosses 1.
//!
//! Over queue depths the interval may be narrower. Both levels must be neighbours with another level on their other
//! side. The lines through each pair on either side then cross 1 as well. Between the levels, a curve that bends
//! one way only, or has one corner, lies between these lines and the chord. The interval then runs over the three
//! crossings, each with the ends of the ratios' intervals. Block sizes have steps in between, and no such lines.
//!
//! Where one of them significantly leads at every level, or all ratios lie within 5 % of 1 (within 10 %, where none
//! differs significantly), there is no crossover. Otherwise it is inconclusive.
//!
//! Assumes: that the lead changes once between these two levels, and that the ratio bends one way between the four
//! levels around it; levels in between would narrow the interval. Writes count when the storage acknowledges them:
//! those in a buffer are fast until it is full.
//!
//! It is about throughput. At equal queue depth, the direction with the higher throughput also has the lower
//! latency.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Op, Rw, TrialSpec,
    Unit,
    detail::{self, Lead, Level, RatioAnswer},
};

use super::{
    FindingKind, Proof, ScreenLine,
    effect::{self, MARGIN, inside},
    group::{self, Writer},
};

pub(crate) struct Crossover;

/// A parameter over which they may cross.
struct Axis {
    blank: fn(&mut TrialSpec),
    level: fn(&TrialSpec) -> Level,
    unit: Unit,
}

const AXES: [Axis; 2] = [
    Axis {
        blank: |spec| spec.queue_depth = 1,
        level: |spec| Level::QueueDepth(spec.asked_in_flight()),
        unit: Unit::InFlight,
    },
    Axis {
        blank: |spec| spec.block_size_bytes = 1,
        level: |spec| Level::BlockSize(spec.block_size_bytes),
        unit: Unit::Bytes,
    },
];

impl FindingKind for Crossover {
    fn id(&self) -> FindingName {
        FindingName::Crossover
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize, ExperimentName::QueueDepth]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("crossover")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let all =
            AXES.iter().flat_map(|axis| curves(axis, points).into_iter().map(move |curve| (axis, curve)));
        all.map(|(axis, curve)| {
            let writer = Writer { name: FindingName::Crossover, experiment, unit: axis.unit, confidence };
            one(&writer, axis, &curve)
        })
        .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "buffered"
summary = "32 units that read, behind a buffer that takes writes at 200 MB/s"
capacity = "1GiB"
[flash]
units = 32
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "80us"
program = "600us"
erase = "3ms"
pages_per_block = 4096
placement = "static"
write_buffer = { size = "1MiB", latency = "12us", drain = "819200000B/s" }
[noise]
latency_cv = 0.02
"#,
            study: r#"
name = "depths"
question = "Are reads or writes faster?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "queue-depth"
rw = ["read", "write"]
block_size = "16k"
depth = "1..16*2"
"#,
            truths: &[(
                Some(4.0),
                "reads: N / 80 us; writes: 819.2 MB/s / 16 KiB = 50,000 a second; both are alike at N = 4.0",
            )],
            widest: 2.0,
        }
    }
}

/// A level with a point of either direction.
struct Pair<'e, 'a> {
    at: Level,
    reads: &'e Evidence<'a>,
    writes: &'e Evidence<'a>,
}

/// Workloads that differ in the parameter and in their direction, with both directions at two levels or more.
fn curves<'e, 'a>(axis: &Axis, points: &'e [Evidence<'a>]) -> Vec<(TrialSpec, Vec<Pair<'e, 'a>>)> {
    let mut curves: Vec<(TrialSpec, Vec<(Op, &Evidence)>)> = Vec::new();
    for evidence in points.iter().filter(|evidence| evidence.point.spec.rate_iops.is_none()) {
        let Some(op) = group::only_direction(evidence.point.spec.rw) else { continue };
        let mut alike = evidence.point.spec.clone();
        (axis.blank)(&mut alike);
        alike.rw = if alike.rw.is_random() { Rw::RandRead } else { Rw::Read };
        match curves.iter_mut().find(|(known, _)| *known == alike) {
            Some((_, members)) => members.push((op, evidence)),
            None => curves.push((alike, vec![(op, evidence)])),
        }
    }
    let level = |evidence: &Evidence| (axis.level)(&evidence.point.spec);
    let paired = |members: Vec<(Op, &'e Evidence<'a>)>| {
        let of =
            |wanted: Op| members.iter().filter(move |(op, _)| *op == wanted).map(|(_, evidence)| *evidence);
        let with = |reads: &'e Evidence<'a>| {
            let writes = of(Op::Write).find(|writes| level(writes) == level(reads))?;
            Some(Pair { at: level(reads), reads, writes })
        };
        let mut pairs: Vec<Pair> = of(Op::Read).filter_map(with).collect();
        pairs.sort_by(|a, b| a.at.value().total_cmp(&b.at.value()));
        pairs
    };
    let curves = curves.into_iter().map(|(spec, members)| (spec, paired(members)));
    curves.filter(|(_, pairs)| pairs.len() > 1).collect()
}

fn one(writer: &Writer, axis: &Axis, (spec, pairs): &(TrialSpec, Vec<Pair>)) -> Finding {
    let over_sizes = axis.unit == Unit::Bytes;
    let conditions = Conditions {
        random: Some(spec.rw.is_random()),
        block_size_bytes: (!over_sizes).then_some(spec.block_size_bytes),
        queue_depth: over_sizes.then(|| spec.asked_in_flight() as u32),
        ..Conditions::default()
    };
    let members: Vec<&Evidence> = pairs.iter().flat_map(|pair| [pair.reads, pair.writes]).collect();
    let ratios: Result<Vec<Estimate>, Inconclusive> =
        pairs.iter().map(|pair| ratio(pair, writer, pairs.len())).collect();
    let ratios = match ratios {
        Ok(ratios) => ratios,
        Err(why) => return writer.inconclusive(&conditions, &members, why),
    };
    let levels: Vec<f64> = pairs.iter().map(|pair| pair.at.value()).collect();
    match answer(&levels, &ratios) {
        Answer::At(estimate, faster_below) => {
            let lines = if over_sizes { None } else { between(&levels, &ratios, &estimate) };
            let detail = detail::Crossover::At { faster_below, narrowed: lines.is_some() };
            let estimate = lines.unwrap_or(estimate);
            writer.concluded(&conditions, &members, estimate, Detail::Crossover(detail))
        }
        Answer::Never(lead) => {
            let (lowest, highest) = (pairs[0].at, pairs[pairs.len() - 1].at);
            let detail = detail::Crossover::Never { lowest, highest, lead };
            writer.absent(&conditions, &members, Detail::Crossover(detail))
        }
        Answer::Undecided => writer.inconclusive(&conditions, &members, Inconclusive::CloseCurves),
    }
}

/// Reads over writes at one level.
fn ratio(pair: &Pair, writer: &Writer, comparisons: usize) -> Result<Estimate, Inconclusive> {
    let over = group::valid_rate(pair.reads, Op::Read, &[])?;
    let under = group::valid_rate(pair.writes, Op::Write, &[])?;
    Ok(effect::ratio(over, under, writer.confidence, comparisons))
}

/// What the levels say.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    /// Where, and who leads below it.
    At(Estimate, Op),
    Never(Lead),
    Undecided,
}

/// The direction that significantly leads, by the ratio of reads to writes.
fn leader(ratio: &Estimate) -> Option<Op> {
    match effect::leads(ratio)? {
        RatioAnswer::Lower => Some(Op::Write),
        _ => Some(Op::Read),
    }
}

fn answer(levels: &[f64], ratios: &[Estimate]) -> Answer {
    let within = |ratio: &Estimate| inside(ratio, MARGIN);
    let leads: Vec<(usize, Op)> =
        ratios.iter().enumerate().filter_map(|(place, ratio)| Some((place, leader(ratio)?))).collect();
    let never_slower = |op: Op| ratios.iter().all(|ratio| within(ratio) || leader(ratio) == Some(op));
    let changes: Vec<_> = leads.windows(2).filter(|pair| pair[0].1 != pair[1].1).collect();
    match changes[..] {
        [pair] => {
            let ((low, faster_below), (high, _)) = (pair[0], pair[1]);
            let log = |place: usize| (levels[place].ln(), ratios[place].value.ln());
            let ((x0, y0), (x1, y1)) = (log(low), log(high));
            let value = (x0 + (x1 - x0) * y0 / (y0 - y1)).exp();
            Answer::At(Estimate { value, low: Some(levels[low]), high: Some(levels[high]) }, faster_below)
        }
        [] if ratios.iter().all(within) => Answer::Never(Lead::Equal),
        [] if leads.is_empty() && ratios.iter().all(|ratio| inside(ratio, 2.0 * MARGIN)) => {
            Answer::Never(Lead::NoneSeen)
        }
        [] if leads.len() == ratios.len() => Answer::Never(Lead::Always(leads[0].1)),
        // Equal somewhere, and one ahead elsewhere: they may touch, but they do not cross.
        [] => match [Op::Read, Op::Write].into_iter().find(|&op| never_slower(op)) {
            Some(op) => Answer::Never(Lead::NeverSlower(op)),
            None => Answer::Undecided,
        },
        _ => Answer::Undecided,
    }
}

/// Where lines through the levels on either side of a crossing cross one: the ends of a curve without a second bend.
fn between(levels: &[f64], ratios: &[Estimate], at: &Estimate) -> Option<Estimate> {
    let low = levels.iter().position(|level| Some(*level) == at.low)?;
    // Neighbours, with one more on either side.
    if Some(*levels.get(low + 1)?) != at.high || low == 0 || low + 2 >= levels.len() {
        return None;
    }
    let ends = |place: usize| Some([ratios[place].low?.ln(), ratios[place].high?.ln()]);
    let (from, to) = (levels[low].ln(), levels[low + 1].ln());
    let mut crossings: Vec<f64> = vec![at.value.ln()];
    for (one, other) in [(low - 1, low), (low, low + 1), (low + 1, low + 2)] {
        let (x0, x1) = (levels[one].ln(), levels[other].ln());
        for (y0, y1) in
            ends(one)?.iter().flat_map(|y0| ends(other).into_iter().flatten().map(move |y1| (*y0, y1)))
        {
            let slope = (y1 - y0) / (x1 - x0);
            // A line that hardly rises crosses beyond the levels, on the side to which it leads.
            let crossing = x0 - y0 / slope;
            crossings.push(if crossing.is_finite() { crossing.clamp(from, to) } else { from });
            crossings.extend((!crossing.is_finite()).then_some(to));
        }
    }
    let ends = |pick: fn(f64, f64) -> f64| crossings.iter().copied().reduce(pick).map(f64::exp);
    Some(Estimate { value: at.value, low: ends(f64::min), high: ends(f64::max) })
}

#[cfg(test)]
mod tests {
    use iosonde_model::Status;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    fn crossing(ratios: &[f64], share: f64) -> Answer {
        let of = |&value: &f64| Estimate {
            value,
            low: Some(value * (1.0 - share)),
            high: Some(value * (1.0 + share)),
        };
        let levels: Vec<f64> = (0..ratios.len()).map(|place| f64::from(1 << place)).collect();
        answer(&levels, &ratios.iter().map(of).collect::<Vec<_>>())
    }

    #[test]
    fn the_lead_changes_between_the_levels_at_which_it_is_sure() {
        let Answer::At(found, faster_below) = crossing(&[0.25, 0.5, 2.0, 4.0], 0.1) else { panic!() };
        // Half and twice: the middle of 2 and 4 on a logarithmic scale.
        assert!((found.value - 8f64.sqrt()).abs() < 1e-9 && faster_below == Op::Write, "{found:?}");
        assert_eq!((found.low, found.high), (Some(2.0), Some(4.0)));
        let Answer::At(found, _) = crossing(&[0.25, 0.98, 1.03, 4.0], 0.1) else { panic!() };
        assert_eq!((found.low, found.high), (Some(1.0), Some(8.0)), "two levels lead nobody");
    }

    fn within(ratios: &[f64], share: f64) -> Option<[f64; 2]> {
        let Answer::At(at, _) = crossing(ratios, share) else { panic!("they cross") };
        let of = |&value: &f64| Estimate {
            value,
            low: Some(value * (1.0 - share)),
            high: Some(value * (1.0 + share)),
        };
        let levels: Vec<f64> = (0..ratios.len()).map(|place| f64::from(1 << place)).collect();
        let found = between(&levels, &ratios.iter().map(of).collect::<Vec<_>>(), &at)?;
        assert!(found.low <= Some(found.value) && Some(found.value) <= found.high, "{found:?}");
        Some([found.low?, found.high?])
    }

    #[test]
    fn lines_on_either_side_narrow_the_crossing_and_hold_a_corner() {
        // N / 6, level by level: a straight line, known to 1 %.
        let [low, high] = within(&[1.0 / 6.0, 2.0 / 6.0, 4.0 / 6.0, 8.0 / 6.0, 16.0 / 6.0], 0.01).unwrap();
        assert!(low < 6.0 && 6.0 < high && high / low < 1.15, "{low} .. {high}");
        // Level up to QD 5, then as the square: a corner between 4 and 8, and the crossing at 6.
        let bent = |n: f64| if n <= 5.0 { 25.0 / 36.0 } else { n * n / 36.0 };
        let [low, high] = within(&[1.0, 2.0, 4.0, 8.0, 16.0].map(bent), 0.001).unwrap();
        assert!(low <= 6.0 && 6.0 <= high, "{low} .. {high}");
        assert_eq!(within(&[0.5, 2.0, 4.0], 0.1), None, "no line on the left");
        assert_eq!(within(&[0.25, 0.5, 1.01, 2.0, 4.0], 0.1), None, "not between neighbours");
    }

    #[test]
    fn a_lead_that_stays_twins_and_noise_are_no_crossover() {
        assert_eq!(crossing(&[2.0, 3.0], 0.1), Answer::Never(Lead::Always(Op::Read)));
        assert_eq!(crossing(&[1.0, 1.01], 0.02), Answer::Never(Lead::Equal));
        assert_eq!(crossing(&[1.0, 1.01], 0.07), Answer::Never(Lead::NoneSeen));
        assert_eq!(crossing(&[0.5, 1.0], 0.01), Answer::Never(Lead::NeverSlower(Op::Write)));
        assert_eq!(crossing(&[0.5, 1.0], 0.2), Answer::Undecided);
        assert_eq!(crossing(&[0.5, 2.0, 0.5], 0.1), Answer::Undecided, "twice is no crossover");
    }

    #[test]
    fn storage_that_does_not_tell_them_apart_has_none() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"\n\
                     rw = [\"randread\", \"randwrite\"]";
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = &exact.conclusions(&Crossover, study, 1)[0];
        assert_eq!((found.len(), found[0].status), (1, Status::Absent));
        let Detail::Crossover(detail::Crossover::Never { lead, .. }) = found[0].detail else {
            panic!("{found:?}")
        };
        assert_eq!(lead, Lead::Equal);
    }
}
