//! Whether rates depend on what ran before: a buffer that was emptied takes the first writes after a rest, and one
//! that is full slows what writes less, and reads, until it is empty.
//!
//! What was written right before a trial is compared with what its own point writes for long. Where both are alike, it
//! counts as warm-up. After lighter or heavier writes a warm-up of its own is needed, if that matters on this storage.

use std::collections::{BTreeMap, BTreeSet};

use iosonde_model::Trial;
use iosonde_stats::normal;

use super::must_hold::must_hold;
use crate::levels::HEIGHT_MIN;

/// Two rates at which is written are alike where they differ by no more than this share.
const SAME_RATE_SHARE: f64 = 0.9;
/// A pause after a trial that wrote empties nothing if it is no longer than this share of the trial.
const REST_SHARE: f64 = 0.5;
/// Trials before that may count as warm-up: the longest one is seven trials long.
const LOOKED_BACK: usize = 8;
/// Confidence that it matters what ran before, each time that it is asked; where it errs, some warm-ups are longer for
/// nothing.
const CONFIDENCE: f64 = 0.999;

/// What was written right before a trial, beside what its point writes for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    /// Less, or nothing.
    Lighter,
    /// As much.
    Alike,
    /// More.
    Heavier,
}

/// What ran right before a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Before {
    /// What was written.
    pub writes: Writes,
    /// For how long that was alike, without a rest, in seconds.
    pub warmed_up_s: f64,
}

/// Trials of a point with what ran before each of them.
pub(super) struct History<'a> {
    /// The trials, with what ran before each.
    pub own: Vec<(&'a Trial, Before)>,
    /// What ran before a trial that begins now.
    pub before_next: Before,
}

impl<'a> History<'a> {
    /// `own`: the trials of one point; `all`: those of the run in the order of time.
    pub fn of(own: Vec<&'a Trial>, all: &[Trial]) -> Self {
        let lasting = own.iter().map(|trial| written_per_s(trial)).min_by(f64::total_cmp).unwrap_or(0.0);
        let point = own.first().and_then(|trial| trial.point);
        let with_before = |trial: &'a Trial| {
            let before = all.partition_point(|other| other.started_s < trial.started_s);
            (trial, Before::of(&all[..before], trial.started_s, point, lasting))
        };
        let now_s = all.last().map_or(0.0, |last| last.started_s + last.elapsed_s);
        Self {
            own: own.into_iter().map(with_before).collect(),
            before_next: Before::of(all, now_s, point, lasting),
        }
    }

    /// Trials that warmed up for so long, by themselves or by what ran before: what was written before, and ln(rate).
    fn after_writes(&self, settling_s: f64, tolerance_s: f64) -> Vec<(Writes, f64)> {
        let of = |(trial, before): &(&Trial, Before)| {
            let too_short_s = settling_s - trial.settling_s;
            let counts = match before.writes {
                Writes::Lighter | Writes::Heavier => too_short_s.abs() <= tolerance_s,
                Writes::Alike => too_short_s - before.warmed_up_s <= tolerance_s,
            };
            (counts && trial.iops() > 0.0).then(|| (before.writes, trial.iops().ln()))
        };
        self.own.iter().filter_map(of).collect()
    }
}

impl Before {
    /// What these trials leave to a trial of a point that begins then; the point writes so many bytes a second for
    /// long.
    fn of(before: &[Trial], mut begin_s: f64, point: Option<usize>, lasting: f64) -> Self {
        let nothing_written = if lasting > 0.0 { Writes::Lighter } else { Writes::Alike };
        let mut found = Self { writes: nothing_written, warmed_up_s: 0.0 };
        for (back, trial) in before.iter().rev().take(LOOKED_BACK).enumerate() {
            let rest_s = begin_s - (trial.started_s + trial.elapsed_s);
            let rate = written_per_s(trial);
            let writes = if lasting > 0.0 && rest_s > REST_SHARE * trial.elapsed_s {
                Writes::Lighter
            } else if point.is_some() && trial.point == point {
                Writes::Alike
            } else if rate < SAME_RATE_SHARE * lasting {
                Writes::Lighter
            } else if SAME_RATE_SHARE * rate > lasting {
                Writes::Heavier
            } else {
                Writes::Alike
            };
            if back == 0 {
                found.writes = writes;
            }
            if writes != Writes::Alike {
                break;
            }
            found.warmed_up_s += begin_s - trial.started_s;
            begin_s = trial.started_s;
        }
        found
    }
}

/// Bytes that a trial wrote in a second.
fn written_per_s(trial: &Trial) -> f64 {
    trial.write.as_ref().map_or(0.0, |write| write.bytes as f64 / trial.measured_s.max(1e-9))
}

/// Whether trials that warmed up for so long are faster after lighter writes, or slower after heavier ones, over all
/// points together: each has few trials, and one buffer takes the writes of all of them.
pub(super) fn matters(all: &[Trial], settling_s: f64, tolerance_s: f64) -> bool {
    let points = of_points(all).map(|history| history.after_writes(settling_s, tolerance_s));
    let points: Vec<Vec<(Writes, f64)>> = points.collect();
    [(Writes::Lighter, 1.0), (Writes::Heavier, -1.0)].into_iter().any(|(writes, sign)| {
        let apart = |(before, log): &(Writes, f64)| (f64::from(u8::from(*before == writes)), sign * log);
        let points = points.iter().map(|values| values.iter().map(apart).collect());
        surely_faster(points)
    })
}

/// Whether trials with a 1 are faster than those of their points with a 0: ln(rate) beside each.
///
/// A permutation test within points, with the normal distribution for its sum: of a point's covariance, the variance
/// over all orders of its trials is known. One point alone, however far its rates are apart, gives no more than
/// √(trials − 1) deviations, so that several points have to agree.
fn surely_faster(points: impl Iterator<Item = Vec<(f64, f64)>>) -> bool {
    let (mut sum, mut variance, mut highest) = (0.0, 0.0, 0.0_f64);
    for values in points {
        let count = values.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| values.iter().map(of).sum::<f64>() / count;
        let (middle, log) = (mean(|value| value.0), mean(|value| value.1));
        let product = |of: fn(f64, f64) -> f64| {
            values.iter().map(|value| of(value.0 - middle, value.1 - log)).sum::<f64>()
        };
        let (spread, scatter) = (product(|x, _| x * x), product(|_, y| y * y));
        if spread > 0.0 {
            let together = product(|x, y| x * y);
            sum += together;
            variance += spread * scatter / (count - 1.0);
            highest = highest.max(together / spread);
        }
    }
    highest > HEIGHT_MIN.ln_1p() && sum > normal(CONFIDENCE) * variance.sqrt()
}

fn of_points(all: &[Trial]) -> impl Iterator<Item = History<'_>> {
    let mut points: BTreeMap<Option<usize>, Vec<&Trial>> = BTreeMap::new();
    for trial in all.iter().filter(|trial| must_hold(trial)) {
        points.entry(trial.point).or_default().push(trial);
    }
    points.into_values().map(|own| History::of(own, all))
}

/// Ids of trials right after one that wrote more than they do for long: what they wait for may be what that one left
/// behind.
pub fn after_heavier_writes(all: &[Trial]) -> BTreeSet<u64> {
    let trials = of_points(all).flat_map(|history| history.own);
    trials.filter(|(_, before)| before.writes == Writes::Heavier).map(|(trial, _)| trial.id).collect()
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;
    use iosonde_testkit::specimen;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, LogNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn of(place: usize, rw: Rw, iops: u64) -> Trial {
        Trial { started_s: 4.0 * place as f64, elapsed_s: 4.0, ..specimen::healthy(rw, 16_384, 1, iops) }
    }

    #[test]
    fn what_was_written_without_a_rest_counts() {
        use Writes::{Alike, Heavier, Lighter};
        let kinds = [Rw::RandRead, Rw::RandWrite, Rw::RandWrite, Rw::RandWrite].into_iter().enumerate();
        let mut all: Vec<Trial> =
            kinds.map(|(place, rw)| Trial { point: Some(place), ..of(place, rw, 1000) }).collect();
        let before = |all: &[Trial], point: usize| {
            let before = History::of(vec![&all[point]], all).own[0].1;
            (before.writes, before.warmed_up_s)
        };
        let after = |all: &[Trial]| [1, 2, 3].map(|point| before(all, point));
        assert_eq!(after(&all), [(Lighter, 0.0), (Alike, 4.0), (Alike, 8.0)]);
        // A minute's rest before the last one.
        all[3].started_s += 60.0;
        assert_eq!(after(&all)[2], (Lighter, 0.0));
        all[3].started_s -= 60.0;
        // Twice as fast as the others: a buffer that they would leave empty may be full.
        all[1].write.as_mut().expect("it writes").bytes *= 2;
        assert_eq!(after(&all), [(Lighter, 0.0), (Heavier, 0.0), (Alike, 4.0)]);
        // Its own point's trial before is what it would have done itself.
        all[1].point = Some(2);
        assert_eq!(after(&all)[1], (Alike, 4.0));
        // A read after writes waits, and after reads or a rest it does not.
        all.push(Trial { point: Some(4), ..of(4, Rw::RandRead, 1000) });
        all.push(Trial { point: Some(5), ..of(5, Rw::RandRead, 1000) });
        assert_eq!([before(&all, 4), before(&all, 5)], [(Heavier, 0.0), (Alike, 4.0)]);
        assert_eq!(after_heavier_writes(&[]), BTreeSet::new());
    }

    /// A run of so many rounds: eight points write and eight read, in an order that is drawn; the first writes after a
    /// rest are faster by `gain` at a third of the points that write.
    fn run(rounds: usize, gain: f64, spread: f64, random: &mut Xoshiro256PlusPlus) -> Vec<Trial> {
        let noise = LogNormal::new(0.0, spread).expect("a spread");
        let mut all: Vec<Trial> = Vec::new();
        for _ in 0..rounds {
            let mut points: Vec<usize> = (0..16).collect();
            for place in (1..points.len()).rev() {
                points.swap(place, random.random_range(0..=place));
            }
            for point in points {
                let (place, writes) = (all.len(), point < 8);
                let rested = all.last().is_none_or(|last| !last.spec.rw.changes());
                let gained = if writes && rested && point % 3 == 0 { 1.0 + gain } else { 1.0 };
                let rw = if writes { Rw::RandWrite } else { Rw::RandRead };
                let iops = 10_000.0 * gained * noise.sample(random);
                all.push(Trial { point: Some(point), ..of(place, rw, iops as u64) });
            }
        }
        all
    }

    #[test]
    fn noise_is_rarely_taken_for_a_buffer_and_a_buffer_is_seen_early() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_126);
        let alarms = |rounds, gain, spread, random: &mut Xoshiro256PlusPlus| {
            (0..1000).filter(|_| matters(&run(rounds, gain, spread, random), 0.0, 0.1)).count()
        };
        // Two tests, each one-sided at 99.95 %: 1 of 1,000, and more than 5 in one of 1,700 tries.
        for (rounds, spread) in [(3, 0.05), (6, 0.05), (12, 0.05), (6, 0.5)] {
            let false_alarms = alarms(rounds, 0.0, spread, &mut random);
            assert!(false_alarms <= 5, "{false_alarms} of 1,000 in {rounds} rounds, spread {spread}");
        }
        let seen = alarms(6, 0.4, 0.03, &mut random);
        assert!(seen > 500, "{seen} of 1,000");
    }
}
