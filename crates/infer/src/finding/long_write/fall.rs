//! Falls of throughput within a trial.
//!
//! The windows of a trial are divided where two levels fit them best (least squares). It is a fall only where the
//! level before is at least a fifth higher, for two windows or more, and exceeds the scatter within the two parts
//! by five of its standard deviations: a slowly varying throughput has no such step. A buffer that fills within the
//! first window leaves no level before, but raises that window above those after the next one, in every trial: 5 %
//! and the same five deviations are enough then. The buffered bytes are everything written above the later level.
//!
//! Two buffers in series cause two falls. Three levels are accepted where they explain the logarithms of throughput
//! better than two by the Bayesian information criterion (Schwarz, Estimating the dimension of a model, 1978). It
//! counts every fifth window, since neighbours are correlated. Each level must also exceed the next as a single
//! fall must, in more than half of the trials.

use iosonde_judge::estimate::FEWEST_TRIALS;
use iosonde_model::{Op, Trial};
use iosonde_stats::robust;

/// A smaller fall may be slow variation.
const FALL_MIN: f64 = 1.2;
/// Standard deviations of the windows around their level by which the two must differ.
const STANDS_OUT: f64 = 5.0;
/// The first window over the later level, where the buffer fills within it. At its beginning nothing wanders: it
/// is the same moment of each trial.
const FIRST_MIN: f64 = 1.05;
/// Minimum number of windows of a level.
pub(super) const WINDOWS_MIN: usize = 2;
/// And of one between two others, of which the first and the last may belong to neither.
const MIDDLE_MIN: usize = 5;
/// At lag-1 correlation 0.65, five windows are worth one independent sample.
const ALIKE: f64 = 5.0;

/// What one trial shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::finding) struct Fall {
    /// Bytes a second before.
    pub(in crate::finding) burst: f64,
    /// And after.
    pub(in crate::finding) sustained: f64,
    /// Bytes beyond what the later level alone would have moved.
    pub(in crate::finding) buffered: f64,
    /// Bytes of the windows before.
    pub(super) before_bytes: f64,
    /// How many windows there are before.
    pub(in crate::finding) before_windows: usize,
    /// The part of a request that had drained when the first one had come.
    pub(super) late: f64,
}

impl Fall {
    /// All that was written until the rate fell, if it was so fast from the beginning on.
    pub(in crate::finding) fn stock(&self) -> f64 {
        self.buffered * self.burst / (self.burst - self.sustained)
    }
}

/// What all buffers took in a trial, and the rate that lasts.
pub(super) fn taken(falls: &[Fall]) -> f64 {
    falls.iter().map(|fall| fall.buffered).sum()
}

pub(super) fn lasting(falls: &[Fall]) -> f64 {
    falls.last().map_or(0.0, |fall| fall.sustained)
}

pub(super) fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / f64::max(count, 1.0)
}

/// Length and rate of each window of writes.
pub(super) fn windows(trial: &Trial) -> Vec<(f64, f64)> {
    let of = |window: &iosonde_model::Window| {
        let bytes = window.direction(Op::Write)?.bytes as f64;
        (window.length_s > 0.0).then(|| (window.length_s, bytes / window.length_s))
    };
    trial.windows.iter().filter_map(of).collect()
}

/// Mean rate and squared scatter of a part, both weighted with the windows' lengths.
fn level(part: &[(f64, f64)]) -> (f64, f64) {
    let length: f64 = part.iter().map(|(length, _)| length).sum();
    let mean = part.iter().map(|(length, rate)| length * rate).sum::<f64>() / length;
    (mean, part.iter().map(|(length, rate)| length * (rate - mean).powi(2)).sum())
}

/// The fall within one trial, if there is one.
pub(in crate::finding) fn fall(windows: &[(f64, f64)]) -> Option<Fall> {
    let cuts = WINDOWS_MIN..windows.len().saturating_sub(WINDOWS_MIN) + 1;
    let scatter = |cut: usize| level(&windows[..cut]).1 + level(&windows[cut..]).1;
    let cut = cuts.min_by(|&a, &b| scatter(a).total_cmp(&scatter(b)))?;
    // The window in which the buffer filled up belongs to neither level, and lies on either side of the cut.
    let (burst, _) = level(&windows[..if cut > WINDOWS_MIN { cut - 1 } else { cut }]);
    let (sustained, _) = level(&windows[(cut + 1).min(windows.len() - 1)..]);
    let length: f64 = windows.iter().map(|(length, _)| length).sum();
    let deviation = (scatter(cut) / length).sqrt();
    if burst < FALL_MIN * sustained || burst - sustained < STANDS_OUT * deviation {
        return first_window(windows);
    }
    // One window more than the burst has: the one in which the buffer filled up.
    let before = &windows[..(cut + 1).min(windows.len())];
    let buffered = before.iter().map(|(length, rate)| length * (rate - sustained)).sum();
    let before_bytes = windows[..cut].iter().map(|(length, rate)| length * rate).sum();
    let late = sustained / burst;
    Some(Fall { burst, sustained, buffered, before_bytes, before_windows: cut, late })
}

/// A buffer that fills within the first window: that one stands out of all but the next, in which it may fill up.
fn first_window(windows: &[(f64, f64)]) -> Option<Fall> {
    let (before, after) = windows.split_at_checked(2).filter(|(_, after)| after.len() > WINDOWS_MIN)?;
    let (sustained, scatter) = level(after);
    let length: f64 = after.iter().map(|(length, _)| length).sum();
    let (first_s, burst) = before[0];
    if burst < FIRST_MIN * sustained || burst - sustained < STANDS_OUT * (scatter / length).sqrt() {
        return None;
    }
    let buffered = before.iter().map(|(length, rate)| length * (rate - sustained)).sum();
    // The rate before is not seen: anything between nothing and a whole request may have drained.
    Some(Fall { burst, sustained, buffered, before_bytes: first_s * burst, before_windows: 1, late: 0.5 })
}

/// Logarithms of the rates, their lengths aside: windows are alike long. A window without any is as slow as a
/// twentieth of the middle one: how long nothing came is no level.
fn logs(windows: &[(f64, f64)]) -> Vec<f64> {
    let rates: Vec<f64> = windows.iter().map(|(_, rate)| *rate).collect();
    let least = (robust::median(&rates).unwrap_or(0.0) / 20.0).max(f64::MIN_POSITIVE);
    windows.iter().map(|(_, rate)| rate.max(least).ln()).collect()
}

/// The two places at which three levels fit best, if they fit so much better than two.
fn two_cuts(logs: &[f64]) -> Option<(usize, usize)> {
    let count = logs.len();
    if count < 2 * WINDOWS_MIN + MIDDLE_MIN + 1 {
        return None;
    }
    let mut sums = vec![(0.0, 0.0)];
    let middle = logs.iter().sum::<f64>() / count as f64;
    for log in logs {
        let (sum, square) = *sums.last().expect("it has one");
        sums.push((sum + log - middle, square + (log - middle).powi(2)));
    }
    let scatter = |from: usize, to: usize| {
        let (sum, square) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (square - sum * sum / (to - from) as f64).max(0.0)
    };
    let of_two = |cut: usize| scatter(0, cut) + scatter(cut, count);
    let two = (WINDOWS_MIN..=count - WINDOWS_MIN).map(of_two).fold(f64::INFINITY, f64::min);
    let mut best = (f64::INFINITY, (0, 0));
    for first in WINDOWS_MIN..=count - MIDDLE_MIN - WINDOWS_MIN {
        for second in first + MIDDLE_MIN..=count - WINDOWS_MIN {
            let three = scatter(0, first) + scatter(first, second) + scatter(second, count);
            if three < best.0 {
                best = (three, (first, second));
            }
        }
    }
    // Rates that repeat themselves are known to one part in a thousand.
    let grain = 1e-6 * count as f64;
    let independent = count as f64 / ALIKE;
    // A level and its place are two parameters more.
    let pays = independent * ((two + grain) / (best.0 + grain)).ln() > 2.0 * independent.ln();
    pays.then_some(best.1)
}

/// Two falls within one trial, if there are two.
fn two_falls(windows: &[(f64, f64)]) -> Option<Vec<Fall>> {
    let Some((first, second)) = two_cuts(&logs(windows)) else { return after_first_window(windows) };
    // Windows in which a buffer filled up belong to neither level.
    let before = &windows[..if first > WINDOWS_MIN { first - 1 } else { first }];
    let (between, after) = (&windows[first + 1..second - 1], &windows[(second + 1).min(windows.len() - 1)..]);
    let falls = |above: &[(f64, f64)], below: &[(f64, f64)]| {
        let ((burst, above_scatter), (sustained, below_scatter)) = (level(above), level(below));
        let length: f64 = above.iter().chain(below).map(|(length, _)| length).sum();
        let deviation = ((above_scatter + below_scatter) / length).sqrt();
        let stands_out = burst >= FALL_MIN * sustained && burst - sustained >= STANDS_OUT * deviation;
        stands_out.then_some((burst, sustained))
    };
    let Some(((burst, middle), (_, sustained))) = falls(before, between).zip(falls(between, after)) else {
        return after_first_window(windows);
    };
    let above = |part: &[(f64, f64)], rate: f64| -> f64 { part.iter().map(|(s, at)| s * (at - rate)).sum() };
    let buffered = above(&windows[..first + 1], middle);
    let of_both = above(&windows[..(second + 1).min(windows.len())], sustained);
    Some(vec![
        Fall {
            burst,
            sustained: middle,
            buffered,
            before_bytes: above(&windows[..first], 0.0),
            before_windows: first,
            late: middle / burst,
        },
        Fall {
            burst: middle,
            sustained,
            buffered: of_both - buffered,
            before_bytes: above(between, 0.0),
            before_windows: second,
            late: 0.0,
        },
    ])
}

/// A buffer that fills within the first window, and another behind it.
fn after_first_window(windows: &[(f64, f64)]) -> Option<Vec<Fall>> {
    // The first window, and the next, in which it may have filled up, would hide what comes after.
    let (soon, later) = windows.split_at_checked(2)?;
    let rest = fall(later).filter(|fall| fall.before_windows > WINDOWS_MIN)?;
    let first = first_window(&windows[..rest.before_windows + 1])?;
    let soon_s: f64 = soon.iter().map(|(length, _)| length).sum();
    let second = Fall {
        buffered: rest.buffered + soon_s * (rest.burst - rest.sustained),
        before_windows: rest.before_windows + 2,
        late: 0.0,
        ..rest
    };
    let stands_out = second.burst >= FALL_MIN * second.sustained && second.buffered > 0.0;
    stands_out.then(|| vec![first, second])
}

/// The falls of each trial that has any: two where more than half of the trials have two, else one.
pub(super) fn falls_of(trials: &[&Trial]) -> Vec<Vec<Fall>> {
    let two: Vec<Vec<Fall>> = trials.iter().filter_map(|trial| two_falls(&windows(trial))).collect();
    if 2 * two.len() > trials.len() && two.len() >= FEWEST_TRIALS {
        return two;
    }
    trials.iter().filter_map(|trial| Some(vec![fall(&windows(trial))?])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(burst: usize, before: f64, after: f64, wobble: f64) -> Vec<(f64, f64)> {
        let sign = |place: usize| if place.is_multiple_of(2) { 1.0 } else { -1.0 };
        (0..50).map(|i| (0.1, if i < burst { before } else { after } * (1.0 + wobble * sign(i)))).collect()
    }

    #[test]
    fn a_step_is_found_with_its_levels_and_what_the_buffer_took() {
        let found = fall(&steps(10, 1000.0, 200.0, 0.0)).unwrap();
        assert!((found.burst - 1000.0).abs() < 1e-9 && (found.sustained - 200.0).abs() < 1e-9, "{found:?}");
        // 1 s at 800 above what lasts.
        assert!((found.buffered - 800.0).abs() < 1e-9, "{found:?}");
        assert!(fall(&steps(10, 1000.0, 200.0, 0.1)).is_some(), "through noise");
    }

    #[test]
    fn a_buffer_that_fills_within_the_first_window_is_seen() {
        let found = fall(&steps(1, 1100.0, 1000.0, 0.002)).unwrap();
        // 0.1 s at 100 above what lasts.
        assert!((found.buffered - 10.0).abs() < 0.5 && found.before_windows == 1, "{found:?}");
        assert_eq!(fall(&steps(1, 1100.0, 1000.0, 0.03)), None, "a scatter that hides it");
        assert_eq!(fall(&steps(1, 900.0, 1000.0, 0.002)), None, "a slow start");
    }

    /// 50 windows: two that end in falls, and a last level, with a wobble that resembles nothing.
    fn two(first: usize, second: usize, levels: [f64; 3], wobble: f64) -> Vec<(f64, f64)> {
        let level = |place: usize| levels[usize::from(place >= first) + usize::from(place >= second)];
        let off = |place: usize| 1.0 + wobble * ((place * place * 7 + place) % 13) as f64 / 6.0 - wobble;
        (0..50).map(|place| (0.1, level(place) * off(place))).collect()
    }

    #[test]
    fn two_falls_are_told_apart_with_what_each_buffer_took() {
        let found = two_falls(&two(10, 30, [1000.0, 400.0, 100.0], 0.0)).unwrap();
        // 1 s at 600 above the middle, and 3 s at 300 above the last; all that was written at 400 until then: 1,200.
        assert!(
            (found[0].buffered - 600.0).abs() < 1e-6 && (found[1].buffered - 900.0).abs() < 1e-6,
            "{found:?}"
        );
        assert!((found[1].stock() - 1200.0).abs() < 1e-6, "{found:?}");
        let levels = [found[0].burst, found[0].sustained, found[1].burst, found[1].sustained];
        assert_eq!(levels.map(f64::round), [1000.0, 400.0, 400.0, 100.0]);
        let noisy = two_falls(&two(10, 30, [1000.0, 400.0, 100.0], 0.1)).unwrap();
        assert!((noisy[1].buffered / 900.0 - 1.0).abs() < 0.1, "{noisy:?}");
        // The first buffer fills within the first window: 0.1 s at 600.
        let soon = two_falls(&two(1, 30, [1000.0, 400.0, 100.0], 0.01)).unwrap();
        assert!((soon[0].buffered / 60.0 - 1.0).abs() < 0.1 && soon[0].before_windows == 1, "{soon:?}");
        assert!((soon[1].buffered / 900.0 - 1.0).abs() < 0.05, "{soon:?}");
    }

    #[test]
    fn one_fall_a_slope_and_a_wobble_are_no_two() {
        for wobble in [0.0, 0.05, 0.1] {
            assert_eq!(two_falls(&steps(10, 1000.0, 200.0, wobble)), None, "{wobble}");
            assert_eq!(two_falls(&two(10, 30, [1000.0, 1000.0, 200.0], wobble)), None, "{wobble}");
            // The window in which the buffer filled up lies between the levels.
            let mut filled = two(10, 10, [1000.0, 200.0, 200.0], wobble);
            filled[10].1 = 600.0;
            assert_eq!(two_falls(&filled), None, "{wobble}");
        }
        let slope: Vec<(f64, f64)> = (0..50).map(|place| (0.1, 1000.0 - 15.0 * f64::from(place))).collect();
        assert_eq!(two_falls(&slope), None);
        assert_eq!(two_falls(&[]), None);
    }

    #[test]
    fn a_wandering_rate_a_rise_and_a_moment_are_no_fall() {
        assert_eq!(fall(&steps(0, 0.0, 1000.0, 0.1)), None);
        assert_eq!(fall(&steps(25, 1000.0, 950.0, 0.0)), None);
        assert_eq!(fall(&steps(10, 200.0, 1000.0, 0.0)), None);
        assert_eq!(fall(&[]), None);
        assert_eq!(fall(&[(0.1, 5.0); 3]), None);
    }
}
