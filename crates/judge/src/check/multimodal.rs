//! Latencies in two groups, so that their mean describes no request.
//!
//! Looks at: the latencies of all of a point's trials together, each direction separately.
//!
//! Rule: two groups are separate where three things hold. Both contain 5 % of the requests or more; they are a
//! factor of 3 or more apart; and the histogram between them falls to a quarter of the lower peak (bins of an
//! eighth of an octave, smoothed over three). A factor of 3, because requests that wait for one or two others of
//! the same length accumulate at twice and three times its time, which is a queue and not a second kind of service.
//! 5 %, because fewer are a tail. At least 1,000 requests, because with fewer a valley may be chance. Both groups
//! have 2.5 % of the requests in half of the trials or more: where whole trials are fast or slow, the interval of
//! their mean shows it.
//!
//! The groups are all requests below and above the valley, each with its share and its mean latency, so that shares
//! times means add up to the mean.
//!
//! Verdict: a warning about latency: use percentiles, not the mean. The throughput is not affected.
//!
//! Measured: see docs/checks.md. Mixtures of 10 % and more at a thirtieth of the time are all detected; clean runs
//! with one kind of service get no warning.
//!
//! Example: strided reads that are partly in memory: the mean lies between 5 µs and 100 µs, where no request was.
//!
//! What to do: read the percentiles. Find the two groups: a cache (measure a larger span), a write buffer that is
//! full at times (measure longer), two tiers of storage.

use iosonde_model::{
    About, Cause, CheckName, Histogram, Op, Point, Reason, Run, Scope, Trial, Verdict, cause,
};

use super::{Check, Symptom, TrialStanding, course};
#[cfg(test)]
use super::{Specimens, specimen};

/// Requests of a kind, as a share of all.
const SHARE_MIN: f64 = 0.05;
/// The same within a trial.
const TRIAL_SHARE_MIN: f64 = SHARE_MIN / 2.0;
/// Between the middles of two kinds.
const APART_MIN: f64 = 3.0;
/// Maximum height of the valley, as a share of the lower peak.
const VALLEY_MAX: f64 = 0.25;
const REQUESTS_MIN: u64 = 1000;
/// Parts of an octave.
const PARTS: f64 = 8.0;

pub(super) struct Multimodal;

impl Check for Multimodal {
    fn id(&self) -> CheckName {
        CheckName::Multimodal
    }

    fn after(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        let Scope::Point(place) = scope else { return None };
        run.points.get(place).map(|point| verdict(run, point, standing))
    }

    fn symptom(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    fn is_about_percentiles(&self) -> bool {
        false
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        Specimens {
            pass: vec![
                mixture(&[(80_000, 1000)]),
                mixture(&[(80_000, 600), (160_000, 400)]),
                mixture(&[(80_000, 990), (1_600_000, 10)]),
                // One trial of ten is fast as a whole.
                trials(&[&[(10_000, 1000)], &[(100_000, 1000)]], 1),
            ],
            warning: vec![
                // Both in half of the trials.
                trials(&[&[(10_000, 500), (100_000, 500)], &[(100_000, 1000)]], 5),
                mixture(&[(10_000, 900), (100_000, 100)]),
                mixture(&[(10_000, 100), (100_000, 900)]),
            ],
            not_checked: vec![specimen::run(specimen::healthy(iosonde_model::Rw::Write, 4 << 20, 1, 100))],
            ..Specimens::default()
        }
    }
}

/// Ten trials of one point: so many of them have the first mixture, and the others the second.
#[cfg(test)]
fn trials(mixtures: &[&[(u64, u64)]; 2], first: usize) -> Run {
    let mut run = specimen::rounds(10, |_| 1e5);
    for (place, trial) in run.trials.iter_mut().enumerate() {
        let of = mixture(mixtures[usize::from(place >= first)]);
        trial.read = of.trials[0].read.clone();
    }
    run
}

/// A trial whose latencies lie around these places, so many around each.
#[cfg(test)]
fn mixture(kinds: &[(u64, u64)]) -> Run {
    let mut trial = specimen::usual();
    let mut histogram = Histogram::new();
    for &(around_ns, count) in kinds {
        // Within ±20 % of the place, evenly; twice as many, so that there are enough.
        (0..2 * count).for_each(|i| histogram.record(around_ns * (80 + i % 41) / 100));
    }
    trial.read.as_mut().expect("it reads").histogram = histogram;
    specimen::run(trial)
}

/// Requests that belong together.
#[derive(Debug, Clone, Copy)]
struct Kind {
    share: f64,
    middle_ns: f64,
    /// First part of an octave that belongs to it.
    first_part: usize,
}

fn verdict(run: &Run, point: &Point, standing: &TrialStanding) -> Verdict {
    let trials = course::of_point(run, point, standing);
    let mut most = 0;
    for op in Op::DIRECTIONS {
        let mut all = Histogram::new();
        let own = trials.iter().filter_map(|trial| trial.direction(op));
        own.for_each(|direction| all.merge(&direction.histogram));
        most = most.max(all.total());
        let kinds = if all.total() >= REQUESTS_MIN { kinds(&all) } else { Vec::new() };
        let apart = |pair: &&[Kind]| pair[1].middle_ns >= APART_MIN * pair[0].middle_ns;
        if let Some([_, high]) = kinds.windows(2).find(apart)
            && within_trials(&trials, op, high.first_part)
        {
            let groups = Cause::from(groups(op, &all, high.first_part));
            return Verdict::Warning(Reason::new(About::Latency, groups.at_point(&point.spec)));
        }
    }
    let cause = match most {
        0 if trials.is_empty() => cause::Multimodal::NoTrials,
        0 => cause::Multimodal::NoLatencies,
        requests if requests < REQUESTS_MIN => {
            cause::Multimodal::TooFewRequests { requests, needed: REQUESTS_MIN }
        }
        _ => return Verdict::Pass,
    };
    Verdict::NotChecked(Reason::new(About::Latency, cause))
}

/// Whether half of the trials have requests of both groups. Where whole trials are fast or slow, the interval of their
/// mean shows it.
fn within_trials(trials: &[&Trial], op: Op, first_part: usize) -> bool {
    let own: Vec<&Histogram> = trials.iter().filter_map(|t| t.direction(op)).map(|d| &d.histogram).collect();
    let mixed = own.iter().filter(|histogram| {
        let slow: u64 = histogram.buckets().filter(|b| part(b.0) >= first_part).map(|b| b.2).sum();
        let share = slow as f64 / histogram.total().max(1) as f64;
        (TRIAL_SHARE_MIN..=1.0 - TRIAL_SHARE_MIN).contains(&share)
    });
    2 * mixed.count() >= own.len()
}

/// All requests below a part of an octave, and all from there on.
fn groups(op: Op, all: &Histogram, first_part: usize) -> cause::Multimodal {
    let of = |is_own: &dyn Fn(usize) -> bool| {
        let own = all.buckets().filter(|(middle_ns, ..)| is_own(part(*middle_ns)));
        let (count, sum_ns) = own.fold((0.0, 0.0), |(count, sum), (middle_ns, _, own)| {
            (count + own as f64, sum + own as f64 * middle_ns)
        });
        (count / all.total() as f64, sum_ns / count)
    };
    let ((low_share, low_ns), (high_share, high_ns)) =
        (of(&|part| part < first_part), of(&|part| part >= first_part));
    cause::Multimodal::Groups {
        op,
        low_share,
        low_ns,
        high_share,
        high_ns,
        mean_ns: all.mean_ns().unwrap_or(0.0),
    }
}

/// Place of a latency among the parts of octaves.
fn part(ns: f64) -> usize {
    (ns.max(1.0).log2() * PARTS) as usize
}

/// The kinds of a histogram with their shares, from the fastest on.
///
/// Valleys, not the best cut in two (`iosonde_stats::two_groups`, with which `cache_bytes` parts hits from misses 1.5
/// times as slow): a queue piles requests up at once, twice and three times the service time, and such a cut would part
/// 80 µs from 160 µs. There may also be more than two kinds here.
fn kinds(all: &Histogram) -> Vec<Kind> {
    let Some(last) = all.max_ns().map(|ns| part(ns as f64)) else { return Vec::new() };
    let mut counts = vec![0.0; last + 2];
    all.buckets().for_each(|(middle_ns, _, count)| counts[part(middle_ns)] += count as f64);
    let at = |i: usize, by: isize| counts.get(i.wrapping_add_signed(by)).copied().unwrap_or(0.0);
    let smooth: Vec<f64> = (0..counts.len()).map(|i| (at(i, -1) + 2.0 * at(i, 0) + at(i, 1)) / 4.0).collect();
    let total = all.total() as f64;
    // Cut at valleys: from left to right, a part is closed once it has sunk far enough below its peak and the next
    // peak rises as far above the valley.
    let mut cuts = vec![0];
    let (mut peak, mut valley) = (0.0f64, (f64::INFINITY, 0));
    for (i, &height) in smooth.iter().enumerate() {
        if height < valley.0 {
            valley = (height, i);
        }
        let deep = valley.0 <= VALLEY_MAX * peak && peak > 0.0;
        // A rise to more than a hundredth of all: what is less is no peak.
        if deep && height > valley.0 / VALLEY_MAX && height > 0.01 * total {
            cuts.push(valley.1);
            (peak, valley) = (height, (height, i));
        } else if height > peak {
            (peak, valley) = (height, (height, i));
        }
    }
    cuts.push(smooth.len());
    let kind = |range: &[usize]| {
        let own = &counts[range[0]..range[1]];
        let sum: f64 = own.iter().sum();
        let mut below = 0.0;
        let middle = own.iter().position(|count| {
            below += count;
            below >= sum / 2.0
        });
        let middle_ns = ((range[0] + middle.unwrap_or(0)) as f64 + 0.5) / PARTS;
        Kind { share: sum / total, middle_ns: middle_ns.exp2(), first_part: range[0] }
    };
    cuts.windows(2).map(kind).filter(|kind| kind.share >= SHARE_MIN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_groups_have_their_shares() {
        let run = mixture(&[(12_000, 830), (105_000, 170)]);
        let Some(Verdict::Warning(reason)) =
            Multimodal.judge(Scope::Point(0), &run, &TrialStanding::default())
        else {
            panic!("two kinds")
        };
        let Cause::AtPoint { spec, cause } = reason.cause else { panic!("{reason:?}") };
        assert_eq!(*spec, run.points[0].spec);
        let Cause::Multimodal(cause::Multimodal::Groups {
            op,
            low_share,
            low_ns,
            high_share,
            high_ns,
            mean_ns,
        }) = *cause
        else {
            panic!("{cause:?}")
        };
        let near =
            |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 0.05, "{value} {expected}");
        assert_eq!(op, Op::Read);
        near(low_share, 0.83);
        near(low_ns, 12e3);
        near(high_share, 0.17);
        near(high_ns, 105e3);
        near(mean_ns, 0.83 * 12e3 + 0.17 * 105e3);
    }

    #[test]
    fn shares_times_means_of_the_groups_are_the_mean() {
        // A tail that is no group of its own belongs to the slower one.
        let run = mixture(&[(12_000, 800), (105_000, 170), (2_000_000, 30)]);
        let Some(Verdict::Warning(Reason { cause: Cause::AtPoint { cause, .. }, .. })) =
            Multimodal.judge(Scope::Point(0), &run, &TrialStanding::default())
        else {
            panic!("two kinds")
        };
        let Cause::Multimodal(cause::Multimodal::Groups {
            low_share,
            low_ns,
            high_share,
            high_ns,
            mean_ns,
            ..
        }) = *cause
        else {
            panic!("{cause:?}")
        };
        assert!((low_share + high_share - 1.0).abs() < 1e-9, "{low_share} {high_share}");
        // Half of a bucket is 0.2 %.
        let sum_ns = low_share * low_ns + high_share * high_ns;
        assert!((sum_ns / mean_ns - 1.0).abs() < 0.002, "{sum_ns} {mean_ns}");
    }
}
