//! Whether the trials of a point hold their rate once their warm-up is over, and how much longer the next one warms
//! up where they do not.
//!
//! A write buffer that takes the first 64 MiB of every trial makes each of them begin fast and end slow: the mean
//! depends on nothing but the trial's length, and repeats itself so well that its interval is the narrowest of the
//! run. No single trial of three windows can show that; all trials of a point together can.

mod history;
mod must_hold;

use iosonde_model::{Trial, Window};
use iosonde_stats::LogEstimate;

use crate::levels::HEIGHT_MIN;

pub use history::after_heavier_writes;
use history::{Before, History};
pub use must_hold::must_hold;

/// Windows shorter than this share of the longest say too little: the last one of a trial is what was left over, and of
/// a rate that goes up and down (every pass moves on to the next unit) it sees one place, the same in every trial.
const SHORTEST_SHARE: f64 = 0.5;
/// Trials that must agree.
const FEWEST: usize = 3;
/// Change within a trial that a reader would want to know of, as a share.
pub const NOTICED: f64 = 0.1;
/// Probability that noise alone makes trials invalid at any point of a run. So little, since it is asked again after
/// every trial, and windows with long tails are not normal.
pub const INVALID_BY_CHANCE: f64 = 1e-5;
/// Probability that noise alone lengthens the warm-up at any point of a run, each time that it is asked: an error costs
/// time only.
const LONGER_BY_CHANCE: f64 = 1e-2;
/// Probability that noise alone puts trials with a longer warm-up at another level than those without, at any point of
/// a run that has both.
const REPLACED_BY_CHANCE: f64 = 1e-3;
/// Minimum distance of two levels, as a multiple of the scatter of each.
const LEVEL_SHARE: f64 = 6.0;
/// Warm-ups that differ by less are of one length, in seconds.
const SAME_S: f64 = 1e-9;
/// Maximum number of doublings: a warm-up of seven trials' length. What has not converged then needs a long write.
const DOUBLINGS: u32 = 3;

/// How trials of one point change between their first and their last windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within {
    /// The mean of ln(rate at the end / rate at the beginning).
    pub log_ratio: f64,
    /// Trials that were looked at.
    pub trials: usize,
}

/// ln(rate of a trial's second half / that of its first), and both rates; `None` with fewer than two windows or where
/// one half completed nothing.
pub fn halves(trial: &Trial) -> Option<(f64, f64)> {
    let longest_s = trial.windows.iter().map(|window| window.length_s).fold(0.0, f64::max);
    let long = |window: &&Window| window.length_s >= SHORTEST_SHARE * longest_s;
    let windows: Vec<&Window> = trial.windows.iter().filter(long).collect();
    // The one in the middle belongs to neither.
    let half = windows.len() / 2;
    let rate = |windows: &[&Window]| {
        let lanes = |window: &Window| {
            [&window.read, &window.write, &window.trim]
                .into_iter()
                .flatten()
                .map(|lane| lane.ios)
                .sum::<u64>()
        };
        let seconds: f64 = windows.iter().map(|window| window.length_s).sum();
        windows.iter().map(|window| lanes(window)).sum::<u64>() as f64 / seconds
    };
    let (begin, end) = (rate(&windows[..half]), rate(&windows[windows.len() - half..]));
    (half > 0 && begin > 0.0 && end > 0.0).then_some((begin, end))
}

/// What one trial changes by.
struct Change {
    log_ratio: f64,
    /// By how much one request more would have moved that: of few requests, many trials give the very same figure.
    resolution: f64,
}

impl Change {
    fn of(trial: &Trial) -> Option<Self> {
        let (begin, end) = halves(trial)?;
        let half_s = trial.windows.iter().map(|window| window.length_s).sum::<f64>() / 2.0;
        Some(Self { log_ratio: (end / begin).ln(), resolution: 1.0 / (begin.min(end) * half_s).max(1.0) })
    }
}

/// Whether trials of one point change within themselves by more than noise does, in a run of so many points: all of
/// them, or some that agree and are outliers (which found the buffer full). Noise alone shows it at any of these points
/// with the probability `by_chance`.
pub fn within(trials: &[&Trial], points: usize, by_chance: f64) -> Option<Within> {
    let changes: Vec<Change> = trials.iter().filter_map(|trial| Change::of(trial)).collect();
    let logs: Vec<f64> = changes.iter().map(|change| change.log_ratio).collect();
    if logs.len() < FEWEST {
        return None;
    }
    let by_chance = by_chance / points.max(1) as f64;
    let mean = LogEstimate::mean_of(&logs)?;
    let surely = mean.log_mean.abs() > mean.half_width(1.0 - by_chance);
    if surely && is_noticed(mean.log_mean) {
        return Some(Within { log_ratio: mean.log_mean, trials: logs.len() });
    }
    let resolution = changes.iter().map(|change| change.resolution).fold(0.0, f64::max);
    let (low, high) = two_levels(logs, resolution, by_chance)?;
    let middle = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let apart = if middle(&low).abs() > middle(&high).abs() { low } else { high };
    let held = is_noticed(middle(&apart)) && apart.len() >= FEWEST;
    held.then(|| Within { log_ratio: middle(&apart), trials: apart.len() })
}

fn is_noticed(log_ratio: f64) -> bool {
    log_ratio < (1.0 - NOTICED).ln() || log_ratio > (1.0 + NOTICED).ln()
}

/// Figures that lie in two groups, a noticeable distance apart, at least two in each, so narrow that one level shows
/// them with at most this probability. Nothing is narrower than the figures' own resolution.
fn two_levels(mut logs: Vec<f64>, resolution: f64, by_chance: f64) -> Option<(Vec<f64>, Vec<f64>)> {
    logs.sort_by(f64::total_cmp);
    let gap = |place: usize| logs[place] - logs[place - 1];
    let at = (2..logs.len().saturating_sub(1)).max_by(|&a, &b| gap(a).total_cmp(&gap(b)))?;
    let (distance, width) = (gap(at), |group: &[f64]| group[group.len() - 1] - group[0] + resolution);
    let high = logs.split_off(at);
    let narrow = width(&logs).max(width(&high)) * apart(logs.len() + high.len(), by_chance) <= distance;
    (narrow && is_noticed(-distance)).then_some((logs, high))
}

/// How many times their width two groups of figures lie apart where chance does that to one normal level so rarely. Of
/// n figures it is r times with a probability below 4·r^(2−n) (2 to 24 million draws for each n from 5 to 24): six
/// times, for 5 figures, is one draw in 170.
fn apart(figures: usize, by_chance: f64) -> f64 {
    let free = figures.saturating_sub(2).max(1) as f64;
    (4.0 / by_chance).powf(1.0 / free).max(LEVEL_SHARE)
}

/// Extra warm-up of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Settling {
    /// That of the trial itself, in seconds.
    pub own_s: f64,
    /// What it needs, of which trials right before took the rest, in seconds.
    pub needed_s: f64,
}

/// Extra warm-up that a trial needed when it ran, whatever took it.
pub(crate) fn needed_s(trial: &Trial) -> f64 {
    trial.settling_s.max(trial.settling_needed_s)
}

/// How long the trials of a point warmed up.
pub struct WarmedUp<'a> {
    history: History<'a>,
    /// Whether what ran before a trial counts as its warm-up.
    carries_over: bool,
    /// Longest extra warm-up that any trial needed, in seconds.
    pub longest_s: f64,
}

impl<'a> WarmedUp<'a> {
    /// `own` are the trials of the point that must hold their rate, `all` those of the run in the order of time, in
    /// which there are so many points.
    pub fn of(own: Vec<&'a Trial>, all: &[Trial], points: usize) -> Self {
        let longest_s = own.iter().map(|trial| needed_s(trial)).fold(0.0, f64::max);
        let history = History::of(own, all);
        // What is emptied at the end of each trial is filled anew in each, whatever ran before.
        let short = history.own.iter().filter(|(trial, _)| trial.settling_s == 0.0);
        let (all_short, alike): (Vec<&Trial>, Vec<&Trial>) = (
            short.clone().map(|(trial, _)| *trial).collect(),
            short.filter(|(_, before)| before.warmed_up_s > 0.0).map(|(trial, _)| *trial).collect(),
        );
        let asked = if alike.len() < FEWEST { all_short } else { alike };
        Self { carries_over: within(&asked, points, INVALID_BY_CHANCE).is_none(), history, longest_s }
    }

    /// Those that warmed up longest, or for which what was written before them did.
    pub fn latest(&self) -> Vec<&'a Trial> {
        self.for_so_long(self.longest_s)
    }

    /// Whether they replace the others: not where all of those give the same, as where a buffer plays no part.
    ///
    /// Where nothing of the run writes, no write buffer can be the reason, and what lengthened the warm-up was one
    /// chance in a hundred, asked many times. It takes evidence of its own then: the others are at another level or
    /// change within themselves.
    pub fn replace(&self, latest: &[&Trial], all: &[Trial], points: usize) -> bool {
        let log = |trial: &&Trial| trial.iops().max(f64::MIN_POSITIVE).ln();
        let logs = |trials: &[&Trial]| trials.iter().map(log).collect::<Vec<f64>>();
        let is_latest = |trial: &Trial| latest.iter().any(|other| other.id == trial.id);
        let others = self.history.own.iter().map(|(trial, _)| *trial).filter(|trial| !is_latest(trial));
        let others: Vec<&Trial> = others.collect();
        let (before, after) = (logs(&others), logs(latest));
        let usual = after.iter().sum::<f64>() / after.len() as f64;
        if before.iter().all(|log| (log - usual).abs() <= HEIGHT_MIN.ln_1p()) {
            return false;
        }
        if all.iter().any(|trial| must_hold(trial) && trial.spec.changes()) {
            return true;
        }
        let distance = LogEstimate::mean_of(&before).zip(LogEstimate::mean_of(&after));
        let apart = distance.is_some_and(|(before, after)| {
            let distance = before.over(after);
            distance.log_mean.abs() > distance.half_width(1.0 - REPLACED_BY_CHANCE / points.max(1) as f64)
        });
        apart || within(&others, points, INVALID_BY_CHANCE).is_some()
    }

    fn for_so_long(&self, settling_s: f64) -> Vec<&'a Trial> {
        // What changes all the same was not warmed up by what ran before.
        let held = |trial: &Trial| Change::of(trial).is_none_or(|change| !is_noticed(change.log_ratio));
        let long = self.history.own.iter().filter(|(trial, before)| {
            let missing_s = settling_s - trial.settling_s - SAME_S;
            missing_s <= 0.0 || (self.carried_s(before) >= missing_s && held(trial))
        });
        long.map(|(trial, _)| *trial).collect()
    }

    /// Extra warm-up of the next trial, where a usual one lasts `trial_s`. `enough` says whether the point gets enough
    /// trials with so long a warm-up where so many of those that it has stay valid.
    pub fn next(
        &self,
        all: &[Trial],
        trial_s: f64,
        points: usize,
        enough: impl Fn(usize, f64) -> bool,
    ) -> Settling {
        let most_s = trial_s * f64::from((1_u32 << DOUBLINGS) - 1);
        let tolerance_s = trial_s / 2.0;
        let longer_s = |so_far_s: f64| (2.0 * so_far_s + trial_s).min(most_s);
        let may_be = |needed_s: f64| {
            let longer_s = longer_s(needed_s);
            needed_s < most_s && enough(self.for_so_long(longer_s).len(), longer_s)
        };
        let mut needed_s = self.longest_s;
        if may_be(needed_s) && within(&self.latest(), points, LONGER_BY_CHANCE).is_some() {
            needed_s = longer_s(needed_s);
        }
        // What other points' trials have shown need not be shown again.
        while may_be(needed_s) && history::matters(all, needed_s, tolerance_s) {
            needed_s = longer_s(needed_s);
        }
        let own_s = (needed_s - self.carried_s(&self.history.before_next)).max(0.0);
        Settling { own_s, needed_s }
    }

    fn carried_s(&self, before: &Before) -> f64 {
        if self.carries_over { before.warmed_up_s } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::specimen;

    use super::*;

    /// A trial whose windows complete so many requests a second.
    fn trial(rates: [f64; 3]) -> Trial {
        let mut trial = specimen::usual();
        trial.windows.truncate(3);
        for (window, rate) in trial.windows.iter_mut().zip(rates) {
            window.read.as_mut().expect("the usual trial reads").ios = (rate * window.length_s) as u64;
        }
        trial
    }

    fn asked(trials: &[Trial]) -> Option<Within> {
        within(&trials.iter().collect::<Vec<_>>(), 27, INVALID_BY_CHANCE)
    }

    #[test]
    fn a_buffer_that_fills_within_every_trial_is_seen_from_the_fourth_on() {
        let rates =
            [[203e3, 168e3, 117e3], [203e3, 167e3, 117e3], [204e3, 168e3, 118e3], [203e3, 168e3, 117e3]];
        let fills = rates.map(trial);
        assert_eq!(asked(&fills[..2]), None);
        let seen = asked(&fills).expect("it falls by 42 %");
        assert!((seen.log_ratio.exp() - 0.576).abs() < 0.005, "{seen:?}");
    }

    #[test]
    fn a_longer_warm_up_replaces_shorter_ones_only_where_it_made_a_difference() {
        let noise = |i: i32| 1.0 + 0.08 * (f64::from(i * 7 % 12) / 5.5 - 1.0);
        let replaced = |short: [f64; 3], long: f64| {
            let of = |(i, settling_s, rates): (i32, f64, [f64; 3])| {
                let rates = rates.map(|rate| rate * noise(i));
                let mut trial = Trial { id: i as u64 + 1, settling_s, ..trial(rates) };
                trial.read.as_mut().expect("it reads").iops = rates.iter().sum::<f64>() / 3.0;
                trial
            };
            let all: Vec<Trial> =
                (0..6).map(|i| (i, 0.0, short)).chain((6..12).map(|i| (i, 0.3, [long; 3]))).map(of).collect();
            let warmed_up = WarmedUp::of(all.iter().collect(), &all, 4);
            let latest = warmed_up.latest();
            assert_eq!(latest.len(), 6);
            warmed_up.replace(&latest, &all, 4)
        };
        // Some of the shorter ones are 5 % and more away from the others' mean, and that is noise.
        assert!(!replaced([100e3; 3], 100e3));
        assert!(replaced([203e3, 168e3, 117e3], 100e3));
        assert!(replaced([203e3, 203e3, 203e3], 100e3));
    }

    #[test]
    fn noise_is_no_change() {
        let noisy: Vec<Trial> = (0..12)
            .map(|i| trial([100e3, 100e3, 100e3 * (1.0 + 0.2 * (f64::from(i * 7 % 12) / 5.5 - 1.1))]))
            .collect();
        assert_eq!(asked(&noisy), None);
        let steady: Vec<Trial> = (0..12).map(|_| trial([100e3, 97e3, 95e3])).collect();
        assert_eq!(asked(&steady), None, "5 % is less than a reader minds");
    }

    #[test]
    fn the_warm_up_doubles_until_the_rate_holds_or_it_is_seven_trials_long() {
        let mut own = vec![trial([203e3, 168e3, 117e3]); 3];
        let next =
            |own: &[Trial]| WarmedUp::of(own.iter().collect(), own, 27).next(own, 0.3, 27, |_, _| true).own_s;
        let mut lengths = Vec::new();
        for _ in 0..5 {
            let settling_s = next(&own);
            lengths.push((settling_s * 10.0).round());
            own.extend((0..3).map(|_| Trial { settling_s, ..trial([203e3, 168e3, 117e3]) }));
        }
        assert_eq!(lengths, [3.0, 9.0, 21.0, 21.0, 21.0]);
        let held = Trial { settling_s: 0.3, ..trial([117e3; 3]) };
        let falls = trial([203e3, 168e3, 117e3]);
        let own = [falls.clone(), falls.clone(), falls, held.clone(), held.clone(), held];
        assert!((next(&own) - 0.3).abs() < 1e-12, "what holds stays as it is");
    }

    #[test]
    fn three_that_fall_among_many_that_found_the_buffer_full_are_enough() {
        let (falls, full) = (trial([203e3, 168e3, 117e3]), trial([117e3; 3]));
        let of = |falling: usize| {
            let mut trials = vec![full.clone(); 9];
            trials[..falling].fill(falls.clone());
            asked(&trials)
        };
        let seen = of(3).expect("three agree");
        assert!(seen.trials == 3 && (seen.log_ratio.exp() - 0.576).abs() < 0.005, "{seen:?}");
        assert_eq!((of(2), of(0)), (None, None));
    }

    /// Reads every 16 MiB over 32 units go from one unit to the next every 54 ms, and are twice as fast for 8 of them:
    /// the last 25 ms of every trial see the same part of that.
    #[test]
    fn what_was_left_over_for_a_last_window_is_no_end() {
        let short: Vec<Trial> = (0..8)
            .map(|_| {
                let mut short = trial([19_203.0, 16_667.0, 1.0]);
                short.windows.truncate(2);
                short.windows[1].length_s = 0.025;
                short.windows[1].read.as_mut().expect("it reads").ios = 417;
                short
            })
            .collect();
        assert_eq!((halves(&short[0]), asked(&short)), (None, None));
    }

    /// With a rule of only six widths, one of 1,044 clean runs had invalid trials.
    #[test]
    fn two_groups_among_five_figures_are_chance() {
        let five: Vec<Trial> =
            [1.0, 0.998, 0.866, 0.852, 0.861].map(|end| trial([1e5, 1e5, 1e5 * end])).into();
        assert_eq!(asked(&five), None);
        // Among fifteen they are not.
        let many: Vec<Trial> = five.iter().cycle().take(15).cloned().collect();
        assert_eq!(asked(&many).map(|seen| seen.trials), Some(9));
        assert!((apart(5, 1e-5) - 73.7).abs() < 0.1 && (apart(40, 1e-5) - LEVEL_SHARE).abs() < 1e-12);
    }

    /// Few requests give the same few ratios again and again: fifteen trials of twelve requests a half, of which nine
    /// lost one of them and six three.
    #[test]
    fn levels_that_are_one_request_apart_are_none() {
        let slow: Vec<Trial> =
            (0..15).map(|i| trial([120.0, 120.0, if i % 5 < 3 { 110.0 } else { 90.0 }])).collect();
        assert_eq!(asked(&slow), None);
    }

    #[test]
    fn trials_without_windows_say_nothing() {
        let mut bare = trial([1.0; 3]);
        bare.windows.clear();
        assert_eq!(halves(&bare), None);
        assert_eq!(asked(&[bare.clone(), bare.clone(), bare]), None);
    }
}
