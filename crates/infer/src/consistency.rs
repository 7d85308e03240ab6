//! Whether findings that explain each other agree.
//!
//! Some figures follow from others, or bound them. Each relation is looked at for findings of one direction and,
//! where it matters, of one block size; two sides contradict each other where their intervals do, with a tenth to
//! spare for what the laws leave out. The findings stand, and each says what it is at odds with: the trials do not
//! tell which of them is wrong.

use iosonde_model::{Detail, Device, Finding, FindingName, Inconclusive, Law, Note, Op, Status};

/// By how much two sides may miss each other, beyond their intervals, before they contradict each other.
const SPARE: f64 = 1.10;

/// A relation between findings.
struct Relation {
    /// Those that take part; the first is the one that the others explain.
    names: &'static [FindingName],
    /// Whether all of them are of one block size.
    one_size: bool,
    /// What must hold, in words.
    law: Law,
    /// Whether random requests tell nothing of others.
    one_order: bool,
    /// The two sides, each low and high: the first is at most the second.
    sides: fn(&[&Finding]) -> Option<Sides>,
}

/// Two sides, each low and high.
type Sides = ([f64; 2], [f64; 2]);

const RELATIONS: &[Relation] = &[
    Relation {
        names: &[FindingName::QueueDepthKnee, FindingName::MaxIops, FindingName::BaseLatency],
        one_size: true,
        one_order: true,
        law: Law::KneeIsRateTimesLatency,
        sides: |of| {
            let ([a, b], [c, d]) = (ends(of[1])?, ends(of[2])?);
            Some(([a * c / 1e9, b * d / 1e9], ends(of[0])?))
        },
    },
    Relation {
        names: &[FindingName::HalfSize, FindingName::PerRequestCost, FindingName::DeviceBandwidth],
        one_size: false,
        one_order: false,
        law: Law::HalfSizeOverCostIsBandwidth,
        sides: |of| {
            let ([a, b], [c, d]) = (ends(of[0])?, ends(of[1])?);
            Some(([a / d * 1e9, b / c * 1e9], ends(of[2])?))
        },
    },
    Relation {
        names: &[FindingName::PerRequestCost, FindingName::BaseLatency],
        one_size: false,
        one_order: true,
        law: Law::NoRequestBelowItsCost,
        sides: |of| Some((ends(of[0])?, ends(of[1])?)),
    },
    Relation {
        names: &[FindingName::MaxIops, FindingName::DeviceBandwidth],
        one_size: false,
        one_order: false,
        law: Law::SmallRequestsWithinBandwidth,
        sides: |of| {
            let bytes = of[0].conditions.block_size_bytes? as f64;
            let [low, high] = ends(of[0])?;
            Some(([low * bytes, high * bytes], ends(of[1])?))
        },
    },
    Relation {
        names: &[FindingName::Parallelism, FindingName::MaxIops, FindingName::BaseLatency],
        // Units were told apart at this size, so that no link bounds it; a larger one may be bound by the link.
        one_size: true,
        one_order: false,
        law: Law::UnitsServeTheirNumber,
        sides: |of| {
            let ([a, b], [c, d]) = (ends(of[1])?, ends(of[2])?);
            let [low, high] = ends(of[0])?;
            Some(([low / 2.0, high / 2.0], [a * c / 1e9, b * d / 1e9]))
        },
    },
    Relation {
        names: &[FindingName::SustainedRate, FindingName::BurstRate],
        one_size: true,
        one_order: true,
        law: Law::WritesStayBelowTheirBurst,
        sides: |of| Some((ends(of[0])?, ends(of[1])?)),
    },
];

fn ends(finding: &Finding) -> Option<[f64; 2]> {
    Some([finding.low?, finding.high?])
}

/// Adds to each finding what it is at odds with.
pub(crate) fn check(findings: &mut [Finding]) {
    let mut said: Vec<(usize, Note)> = Vec::new();
    for (relation, op) in RELATIONS.iter().flat_map(|relation| [(relation, Op::Read), (relation, Op::Write)])
    {
        for sets in sets(relation, op, findings) {
            // A finding that agrees with any of those that may be held against it is at odds with none.
            let at_odds = |places: &Vec<usize>| {
                let members: Vec<&Finding> = places.iter().map(|&place| &findings[place]).collect();
                (relation.sides)(&members).is_some_and(|(left, right)| contradict(left, right))
            };
            let Some(places) = sets.first().filter(|_| sets.iter().all(at_odds)) else { continue };
            for (nth, &place) in places.iter().enumerate() {
                let others = relation.names.iter().enumerate().filter(|(other, _)| *other != nth);
                let with = others.map(|(_, name)| *name).collect();
                let note = (place, Note::AtOdds { with, law: relation.law });
                if !said.contains(&note) {
                    said.push(note);
                }
            }
        }
    }
    for (place, note) in said {
        findings[place].notes.push(note);
    }
}

/// What a run concludes from requests that something else answered, against what the system knows of the medium: a
/// cache that answers whatever is asked looks like storage in which nothing turns.
pub(crate) fn with_device(findings: &mut [Finding], device: &Device) {
    if device.rotates() != Some(true) {
        return;
    }
    let of_a_platter =
        |name: FindingName| [FindingName::RotationPeriod, FindingName::SeekTimeAverage].contains(&name);
    let absent = |finding: &&mut Finding| finding.status == Status::Absent && of_a_platter(finding.name);
    for finding in findings.iter_mut().filter(absent) {
        finding.status = Status::Inconclusive;
        finding.detail = Detail::Inconclusive(Inconclusive::DiskThatNeverWaits);
    }
}

/// Whether the first side is above the second, intervals included.
fn contradict(left: [f64; 2], right: [f64; 2]) -> bool {
    left[0] > right[1] * SPARE
}

/// For each finding of the first name, every choice of one of each other name that may be compared with it, and
/// with each other.
fn sets(relation: &Relation, op: Op, findings: &[Finding]) -> Vec<Vec<Vec<usize>>> {
    let of = |name: FindingName| {
        let is_it = |finding: &Finding| {
            finding.name == name
                && finding.status == Status::Found
                && finding.conditions.op.is_none_or(|known| known == op)
        };
        findings
            .iter()
            .enumerate()
            .filter(move |(_, finding)| is_it(finding))
            .map(|(place, _)| place)
            .collect()
    };
    let like = |one: usize, other: usize| {
        let (one, other) = (&findings[one].conditions, &findings[other].conditions);
        let sizes = one.block_size_bytes.zip(other.block_size_bytes);
        let orders = one.random.zip(other.random);
        (!relation.one_size || sizes.is_none_or(|(a, b)| a == b))
            && (!relation.one_order || orders.is_none_or(|(a, b)| a == b))
    };
    let with = |first: usize| {
        relation.names[1..].iter().fold(vec![vec![first]], |sets, name| {
            let others: Vec<usize> = of(*name);
            let longer = |set: &Vec<usize>| {
                let fits = |other: &usize| set.iter().all(|&member| like(member, *other));
                let longer = |other: usize| set.iter().copied().chain([other]).collect::<Vec<usize>>();
                others.iter().copied().filter(fits).map(longer).collect::<Vec<_>>()
            };
            sets.iter().flat_map(longer).collect()
        })
    };
    of(relation.names[0]).into_iter().map(with).collect()
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Conditions, Medium, Unit};

    use super::*;

    fn finding(name: FindingName, low: f64, high: f64) -> Finding {
        let conditions =
            Conditions { op: Some(Op::Read), block_size_bytes: Some(4096), ..Conditions::default() };
        Finding {
            name,
            experiment: "x".into(),
            conditions,
            status: Status::Found,
            value: Some((low + high) / 2.0),
            unit: Unit::None,
            low: Some(low),
            high: Some(high),
            at_least: false,
            confidence: 0.95,
            detail: Detail::Plain,
            notes: Vec::new(),
            trials: Vec::new(),
        }
    }

    #[test]
    fn findings_that_follow_from_each_other_say_when_they_do_not() {
        // 100 us alone and 80,000 a second at most: a knee of 8.
        let of = |knee: [f64; 2]| {
            let mut all = vec![
                finding(FindingName::BaseLatency, 99_000.0, 101_000.0),
                finding(FindingName::MaxIops, 79_000.0, 81_000.0),
                finding(FindingName::QueueDepthKnee, knee[0], knee[1]),
            ];
            check(&mut all);
            all.into_iter().map(|finding| finding.notes).collect::<Vec<_>>()
        };
        assert!(of([7.5, 8.5]).iter().all(Vec::is_empty));
        let odd = of([5.0, 6.0]);
        let with = vec![FindingName::QueueDepthKnee, FindingName::MaxIops];
        assert_eq!(odd[0], [Note::AtOdds { with, law: Law::KneeIsRateTimesLatency }]);
        assert!(odd.iter().all(|notes| notes.len() == 1), "{odd:?}");
        // What was measured may stay below what the rate tends to.
        assert!(of([10.0, 11.0]).iter().all(Vec::is_empty));
    }

    #[test]
    fn units_of_strided_reads_are_held_against_random_ones() {
        // 32 units, of which less than a quarter would ever have been busy: as findings have it, strides are no
        // random reads.
        let mut all = vec![
            finding(FindingName::Parallelism, 32.0, 32.0),
            finding(FindingName::MaxIops, 79_000.0, 81_000.0),
            finding(FindingName::BaseLatency, 99_000.0, 101_000.0),
        ];
        all[0].conditions.random = Some(false);
        all[1].conditions.random = Some(true);
        all[2].conditions.random = Some(true);
        check(&mut all);
        assert!(all.iter().all(|finding| !finding.notes.is_empty()), "{all:?}");
    }

    #[test]
    fn what_agrees_with_one_size_is_at_odds_with_none() {
        // 32 units of 100 us: 250,000 small reads a second, and 26,700 large ones, which the link bounds.
        let of = |sizes: &[(u64, f64)]| {
            let mut all = vec![finding(FindingName::Parallelism, 32.0, 32.0)];
            for (bytes, iops) in sizes {
                for mut one in
                    [finding(FindingName::MaxIops, *iops, *iops), finding(FindingName::BaseLatency, 1e5, 1e5)]
                {
                    one.conditions.block_size_bytes = Some(*bytes);
                    all.push(one);
                }
            }
            check(&mut all);
            !all[0].notes.is_empty()
        };
        assert!(!of(&[(131_072, 26_700.0), (4096, 250_000.0)]));
        assert!(!of(&[(131_072, 26_700.0)]), "another size says nothing of these units");
        assert!(of(&[(131_072, 26_700.0), (4096, 26_700.0)]));
    }

    #[test]
    fn a_bound_is_missed_on_one_side_only() {
        let of = |cost: f64, alone: f64| {
            let mut all = vec![
                finding(FindingName::PerRequestCost, cost, cost),
                finding(FindingName::BaseLatency, alone, alone),
            ];
            check(&mut all);
            !all[0].notes.is_empty()
        };
        assert!(!of(100.0, 104.0) && !of(100.0, 300.0) && !of(100.0, 95.0) && of(100.0, 80.0));
    }

    #[test]
    fn a_disk_that_shows_no_turn_is_not_said_to_have_none() {
        let of = |medium: Medium, name: FindingName| {
            let mut all = vec![Finding { status: Status::Absent, ..finding(name, 1.0, 1.0) }];
            with_device(&mut all, &Device { medium, ..Device::unknown("block", 1 << 30) });
            (all[0].status, all.remove(0).detail)
        };
        let (status, detail) = of(Medium::Disk, FindingName::RotationPeriod);
        assert_eq!(status, Status::Inconclusive);
        assert_eq!(detail, Detail::Inconclusive(Inconclusive::DiskThatNeverWaits));
        assert_eq!(of(Medium::Disk, FindingName::SeekTimeAverage).0, Status::Inconclusive);
        assert_eq!(
            of(Medium::Disk, FindingName::ZoneRatio).0,
            Status::Absent,
            "a small part of a disk has one rate"
        );
        assert_eq!(of(Medium::Flash, FindingName::RotationPeriod).0, Status::Absent);
    }

    #[test]
    fn refused_findings_and_other_directions_contradict_nobody() {
        let mut all =
            vec![finding(FindingName::PerRequestCost, 9.0, 9.0), finding(FindingName::BaseLatency, 1.0, 1.0)];
        all[1].conditions.op = Some(Op::Write);
        check(&mut all);
        assert!(all[0].notes.is_empty());
        all[1].conditions.op = Some(Op::Read);
        all[1].status = Status::Inconclusive;
        check(&mut all);
        assert!(all[0].notes.is_empty());
    }
}
