//! Whether the trials of a point hold their rate once their warm-up is over, and how much longer the next one warms
//! up where they do not.
//!
//! A write buffer that takes the first 64 MiB of every trial makes each of them begin fast and end slow: the mean
//! depends on nothing but the trial's length, and repeats itself so well that its interval is the narrowest of the
//! run. No single trial of three windows can show that; all trials of a point together can.

use iosonde_model::{Phase, Trial, Window};
use iosonde_stats::{LogEstimate, normal, student_t};

use crate::levels::HEIGHT_MIN;

/// Windows shorter than this share of the longest say too little: the last one of a trial is what was left over, and of
/// a rate that goes up and down (every pass moves on to the next unit) it sees one place, the same in every trial.
const SHORTEST_SHARE: f64 = 0.5;
/// Trials that must agree.
const FEWEST: usize = 3;
/// Change within a trial that a reader would want to know of, as a share.
pub const NOTICED: f64 = 0.1;
/// Probability that noise alone shows such a change at any point of a run. So little, since it is asked again after
/// every trial, and windows with long tails are not normal.
const BY_CHANCE: f64 = 1e-5;
/// Minimum distance of two levels, as a multiple of the scatter of each.
const LEVEL_SHARE: f64 = 6.0;
/// A trial before has filled what takes writes first where it wrote at least this share of what the storage takes for
/// long.
const FILLS_SHARE: f64 = 0.9;
/// Trials of either kind, after writes and after a rest, that are compared.
const FEWEST_OF_HISTORY: usize = 2;
/// Confidence that they differ, each time that it is asked; where it errs, a warm-up is longer for nothing.
const HISTORY_CONFIDENCE: f64 = 0.999;
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
/// them, or some that agree and are outliers (which found the buffer full).
pub fn within(trials: &[&Trial], points: usize) -> Option<Within> {
    let changes: Vec<Change> = trials.iter().filter_map(|trial| Change::of(trial)).collect();
    let logs: Vec<f64> = changes.iter().map(|change| change.log_ratio).collect();
    if logs.len() < FEWEST {
        return None;
    }
    let by_chance = BY_CHANCE / points.max(1) as f64;
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

/// Whether what a point that writes gives depends on what ran before: trials right after another that wrote as fast as
/// the storage takes it for long are slower than those after a rest, in which a buffer was emptied.
///
/// Student's test of the difference of both means, with one scatter for both. It is asked after every trial, and an
/// error costs time alone.
pub fn depends_on_history(own: &[&Trial], all: &[Trial]) -> bool {
    let own: Vec<&Trial> =
        own.iter().copied().filter(|trial| trial.spec.rw.changes() && trial.iops() > 0.0).collect();
    let Some(lasting) = own.iter().map(|trial| written_per_s(trial)).min_by(f64::total_cmp) else {
        return false;
    };
    let is_after_write = |trial: &&Trial| {
        let before = all.iter().filter(|other| other.started_s < trial.started_s);
        let before = before.max_by(|a, b| a.started_s.total_cmp(&b.started_s));
        before.is_some_and(|other| written_per_s(other) >= FILLS_SHARE * lasting)
    };
    let (filled, rested): (Vec<&Trial>, Vec<&Trial>) = own.into_iter().partition(is_after_write);
    if filled.len() < FEWEST_OF_HISTORY || rested.len() < FEWEST_OF_HISTORY {
        return false;
    }
    // All of one kind before all of the other: that may be a change with time, and no longer warm-up undoes it.
    let last_s = |trials: &[&Trial]| trials.iter().map(|trial| trial.started_s).fold(f64::MIN, f64::max);
    let first_s = |trials: &[&Trial]| trials.iter().map(|trial| trial.started_s).fold(f64::MAX, f64::min);
    let alternate = last_s(&rested) > first_s(&filled) && last_s(&filled) > first_s(&rested);
    alternate && surely_faster(&rested, &filled)
}

/// Bytes that a trial wrote in a second.
fn written_per_s(trial: &Trial) -> f64 {
    trial.write.as_ref().map_or(0.0, |write| write.bytes as f64 / trial.measured_s.max(1e-9))
}

/// Whether the first of two groups of trials is faster, by as much as the trials of two levels are apart.
fn surely_faster(fast: &[&Trial], slow: &[&Trial]) -> bool {
    let logs = |trials: &[&Trial]| -> Vec<f64> { trials.iter().map(|trial| trial.iops().ln()).collect() };
    let (fast_logs, slow_logs) = (logs(fast), logs(slow));
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let scatter = |logs: &[f64]| logs.iter().map(|log| (log - mean(logs)).powi(2)).sum::<f64>();
    let counts = [fast_logs.len() as f64, slow_logs.len() as f64];
    let free = counts[0] + counts[1] - 2.0;
    // A count of requests is off by up to one: uniformly, within its own size.
    let counted = |trial: &&Trial| 1.0 / (trial.iops() * trial.measured_s).max(1.0);
    let coarsest = fast.iter().chain(slow).map(counted).fold(0.0, f64::max);
    let scattered = ((scatter(&fast_logs) + scatter(&slow_logs)) / free).sqrt();
    // How far counts are off is known, and no matter of so many trials.
    let off = (student_t(HISTORY_CONFIDENCE, free) * scattered)
        .hypot(normal(HISTORY_CONFIDENCE) * coarsest / 6_f64.sqrt());
    let error = off * (1.0 / counts[0] + 1.0 / counts[1]).sqrt();
    let apart = mean(&fast_logs) - mean(&slow_logs);
    apart > HEIGHT_MIN.ln_1p() && apart > error
}

/// Whether a trial is one whose rate is expected to hold: a measurement of a point, after a warm-up, that sends as fast
/// as it can.
pub fn must_hold(trial: &Trial) -> bool {
    trial.phase == Phase::Measure
        && trial.point.is_some()
        && trial.warmup_s > 0.0
        && trial.spec.streams().all(|stream| stream.rate_iops.is_none())
}

/// Those of a point's trials that warmed up longest.
pub fn latest<'a>(own: &[&'a Trial]) -> Vec<&'a Trial> {
    let longest_s = own.iter().map(|trial| trial.settling_s).fold(0.0, f64::max);
    own.iter().copied().filter(|trial| trial.settling_s >= longest_s).collect()
}

/// Extra warm-up of a point's next trial in seconds, where a usual trial lasts `trial_s`. `own` are
/// its trials so far, `all` those of the run, in which there are so many points.
pub fn next_settling_s(own: &[&Trial], all: &[Trial], trial_s: f64, points: usize) -> f64 {
    let latest = latest(own);
    let so_far_s = latest.first().map_or(0.0, |trial| trial.settling_s);
    let longest_s = trial_s * f64::from((1_u32 << DOUBLINGS) - 1);
    if within(&latest, points).is_some() || depends_on_history(&latest, all) {
        (2.0 * so_far_s + trial_s).min(longest_s).max(so_far_s)
    } else {
        so_far_s
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;
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
        within(&trials.iter().collect::<Vec<_>>(), 27)
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
        let next = |own: &[Trial]| next_settling_s(&own.iter().collect::<Vec<_>>(), own, 0.3, 27);
        let mut lengths = Vec::new();
        for _ in 0..5 {
            let settling_s = next(&own);
            lengths.push((settling_s * 10.0).round());
            own.extend((0..3).map(|_| Trial { settling_s, ..trial([203e3, 168e3, 117e3]) }));
        }
        assert_eq!(lengths, [3.0, 9.0, 21.0, 21.0, 21.0]);
        let held = Trial { settling_s: 0.3, ..trial([117e3; 3]) };
        let own = [trial([203e3, 168e3, 117e3]), held.clone(), held.clone(), held];
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
    fn a_rate_that_is_lower_after_writes_depends_on_history() {
        let of = |place: usize, rw: Rw, iops: u64| Trial {
            started_s: place as f64,
            ..specimen::healthy(rw, 16_384, 1, iops)
        };
        // Every second trial reads; the point's own ones come after a read or after a write.
        let run = |lower_after: Rw| -> Vec<Trial> {
            (0..8)
                .flat_map(|i| {
                    let before = if i % 3 == 0 { Rw::RandWrite } else { Rw::RandRead };
                    let iops = if before == lower_after { 29_300 } else { 42_800 };
                    [of(2 * i, before, 50_000), of(2 * i + 1, Rw::RandWrite, iops + i as u64)]
                })
                .collect()
        };
        let asked =
            |all: &[Trial]| depends_on_history(&all.iter().skip(1).step_by(2).collect::<Vec<_>>(), all);
        assert!(asked(&run(Rw::RandWrite)));
        assert!(!asked(&run(Rw::RandRead)), "slow after reads: whatever it is, no buffer filled");
        assert!(!asked(&run(Rw::Trim)), "one level");
        let mut step = run(Rw::RandWrite);
        step.sort_by_key(|trial| std::cmp::Reverse(trial.iops() as u64));
        for (place, trial) in step.iter_mut().enumerate() {
            trial.started_s = place as f64;
        }
        let own: Vec<&Trial> = step.iter().filter(|trial| trial.spec.block_size_bytes == 16_384).collect();
        assert!(!depends_on_history(&own[..own.len() - 1], &step), "a step");
    }

    #[test]
    fn trials_without_windows_say_nothing() {
        let mut bare = trial([1.0; 3]);
        bare.windows.clear();
        assert_eq!(halves(&bare), None);
        assert_eq!(asked(&[bare.clone(), bare.clone(), bare]), None);
    }
}
