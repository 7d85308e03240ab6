//! A write that goes on until a buffer is full: where its rate fell within each trial, which three findings read.
//!
//! The windows of a trial are cut where two levels fit them best (least squares). It is a fall only where the level
//! before is at least a fifth higher, for two windows or more, and stands out of the scatter within the two parts by
//! five of its standard deviations: a wandering rate has no such step. A buffer that fills within the first window
//! leaves no level before, but lifts that window above those after the next one, in every trial alike: 5 % and the same
//! five deviations are enough then. What the buffer took is everything that was written above the later level.

use iosonde_model::{About, Conditions, Finding, Op, Status, Trial, units};

use super::{
    Proof,
    group::{self, Writer, workload},
    over_trials,
};
use crate::{estimate::FEWEST_TRIALS, evidence::Evidence};

/// A fall by less is not told from wandering.
const FALL_MIN: f64 = 1.2;
/// Standard deviations of the windows around their level by which the two must differ.
const STANDS_OUT: f64 = 5.0;
/// The first trial over the others, from which on a buffer was not empty when they began.
const REFILLED: f64 = 1.1;
/// A pause before a trial, over the trial's own length, from which on it counts as one.
const RESTED: f64 = 0.5;
/// What a buffer took over what it could empty in a pause, beyond which it was perhaps not empty.
const EMPTIED_MAX: f64 = 0.9;
/// The first window over the later level, where the buffer fills within it. At its beginning nothing wanders: it is the
/// same moment of each trial.
const FIRST_MIN: f64 = 1.05;
/// Windows of a level at the least.
const WINDOWS_MIN: usize = 2;

pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "buffered-flash"
summary = "a buffer of 64 MiB that empties at 20 MB/s, behind a link of 100 MB/s"
capacity = "64GiB"
[link]
bandwidth = "100MB/s"
latency = "5us"
[flash]
units = 16
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 65536
placement = "static"
write_buffer = { size = "64MiB", latency = "12us", drain = "20MB/s", flush = "1ms" }
"#,
    study: r#"
name = "long-writes"
question = "How long does writing stay fast?"
time = "4m"
[[experiment]]
kind = "sustained-write"
"#,
    truths: &[],
    widest: 0.1,
};

/// What one trial shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fall {
    /// Bytes a second before.
    pub(super) burst: f64,
    /// And after.
    pub(super) sustained: f64,
    /// Bytes beyond what the later level alone would have moved.
    pub(super) buffered: f64,
    /// Bytes of the windows before.
    before_bytes: f64,
    /// How many windows there are before.
    pub(super) before_windows: usize,
    /// The part of a request that had drained when the first one had come.
    late: f64,
}

/// What the trials of a point show together.
pub(super) enum Shown {
    /// The rate falls in most trials.
    Falls(Vec<Fall>),
    /// It falls in none.
    Level {
        /// Bytes a second of each trial.
        rates: Vec<f64>,
        /// The most that a trial wrote.
        bytes: u64,
    },
    /// Neither can be said.
    Unsure(String),
}

/// Length and rate of each window of writes.
fn windows(trial: &Trial) -> Vec<(f64, f64)> {
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
pub(super) fn fall(windows: &[(f64, f64)]) -> Option<Fall> {
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

/// The trials that began after a pause. When the time runs out, a last trial may follow right upon another.
fn rested<'a>(evidence: &Evidence<'a>) -> Vec<&'a Trial> {
    let mut written_s: Vec<(f64, f64)> =
        evidence.trials.iter().map(|trial| (trial.started_s, trial.started_s + trial.elapsed_s)).collect();
    written_s.sort_by(|a, b| a.0.total_cmp(&b.0));
    let pause_s = |trial: &Trial| {
        let before = written_s.iter().rev().find(|(started_s, _)| *started_s < trial.started_s);
        before.map_or(f64::INFINITY, |(_, ended_s)| trial.started_s - ended_s)
    };
    let all = || evidence.standing(About::Rate);
    let rested: Vec<&Trial> = all().filter(|trial| pause_s(trial) >= RESTED * trial.elapsed_s).collect();
    // Points that were never paused before are told of by the size of what their first trial could write.
    if rested.len() > 1 { rested } else { all().collect() }
}

/// Why a buffer was perhaps not empty when trials began: what they found in it is what the pauses can empty.
fn never_empty(trials: &[&Trial], falls: &[Fall]) -> Option<String> {
    let pause_s = trials.iter().map(|trial| trial.elapsed_s).reduce(f64::min)?;
    let count = falls.len().max(1) as f64;
    let taken = falls.iter().map(|fall| fall.buffered).sum::<f64>() / count;
    let emptied = falls.iter().map(|fall| fall.sustained).sum::<f64>() / count * pause_s;
    (!falls.is_empty() && taken > EMPTIED_MAX * emptied).then(|| {
        format!(
            "what the buffer took ({}) is about what it can empty in a pause, so that it was perhaps not empty when \
             trials began; a longer `trial` has longer pauses",
            units::size(taken as u64)
        )
    })
}

fn shown(evidence: &Evidence) -> Shown {
    if let Err(why) = group::stands(evidence, &[About::Rate]) {
        return Shown::Unsure(why);
    }
    let trials: Vec<&Trial> = rested(evidence);
    let fewest = trials.iter().map(|trial| windows(trial).len()).min().unwrap_or(0);
    if fewest <= 2 * WINDOWS_MIN {
        return Shown::Unsure(format!("a trial has {fewest} windows with writes, too few to see a fall"));
    }
    let falls: Vec<Fall> = trials.iter().filter_map(|trial| fall(&windows(trial))).collect();
    if let Some(why) = never_empty(&trials, &falls) {
        return Shown::Unsure(why);
    }
    // Before the first trial nothing was written for long; a buffer that took much more then was not empty later.
    let others: Vec<f64> = falls.iter().skip(1).map(|fall| fall.buffered).collect();
    let usual = others.iter().sum::<f64>() / others.len().max(1) as f64;
    if falls.first().is_some_and(|first| first.buffered > REFILLED * usual) && falls.len() >= FEWEST_TRIALS {
        return Shown::Unsure(
            "the buffer took much more in the first trial than later, so that the pauses are too short for \
                it to empty; \
             a longer `trial` has longer pauses"
                .to_owned(),
        );
    }
    let enough = 2 * falls.len() > trials.len();
    if enough && falls.len() >= FEWEST_TRIALS {
        return Shown::Falls(falls);
    }
    if !falls.is_empty() {
        return Shown::Unsure(format!("the rate falls in {} of {} trials", falls.len(), trials.len()));
    }
    let direction = |trial: &&Trial| trial.direction(Op::Write).cloned();
    Shown::Level {
        rates: trials.iter().filter_map(direction).map(|write| write.bytes_per_s).collect(),
        bytes: trials.iter().filter_map(direction).map(|write| write.bytes).max().unwrap_or(0),
    }
}

/// What one of the three findings says, with the workload in words.
pub(super) struct Say {
    /// Whether the figure is what the buffer holds, which requests enter as a whole.
    pub(super) of_content: bool,
    /// `how fast writes are at first`.
    pub(super) about: &'static str,
    /// The figure of a fall.
    pub(super) figure: fn(&Fall) -> f64,
    /// The sentence about it, with `{}` for the figure.
    pub(super) falls: fn(&str) -> String,
    /// Whether it speaks of the first level, which must then last longer than the fewest windows that make a level: a
    /// buffer that fills within them leaves a mean of both levels there.
    pub(super) of_first_level: bool,
    /// The same where the rate never fell: with the bytes written; `None` where the figure is then not there.
    pub(super) level: Option<fn(&str, &str) -> String>,
}

/// One finding for each workload that writes and nothing else.
pub(super) fn conclude(say: &Say, writer: &Writer, points: &[Evidence]) -> Vec<Finding> {
    let writes = |evidence: &&Evidence| group::only_direction(evidence.point.spec.rw) == Some(Op::Write);
    points.iter().filter(writes).map(|evidence| one(say, writer, evidence)).collect()
}

fn one(say: &Say, writer: &Writer, evidence: &Evidence) -> Finding {
    let spec = &evidence.point.spec;
    let conditions = Conditions {
        op: Some(Op::Write),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        span_bytes: Some(spec.span_bytes),
    };
    let what = workload(&conditions);
    let points = [evidence];
    let few = |why: &str| writer.refused(&conditions, &points, say.about, why);
    match shown(evidence) {
        Shown::Unsure(why) => few(&why),
        Shown::Falls(falls)
            if say.of_first_level && falls.iter().any(|fall| fall.before_windows <= WINDOWS_MIN) =>
        {
            few("the buffer fills within the first windows of a trial, too soon to see the rate before")
        }
        Shown::Falls(falls) => {
            let block_bytes = spec.block_size_bytes as f64;
            // The buffer empties only from the moment that the first request has come.
            let late = |fall: &Fall| block_bytes * fall.late;
            let figure = |fall: &Fall| (say.figure)(fall) + if say.of_content { late(fall) } else { 0.0 };
            let figures: Vec<f64> = falls.iter().map(figure).collect();
            let Some(estimate) = over_trials::mean(&figures, writer.confidence) else {
                return few("too few trials stand");
            };
            // Where the first level begins and ends is known to one request, however well the trials agree.
            let shortest = falls.iter().map(|fall| fall.before_bytes).fold(f64::INFINITY, f64::min);
            let grain =
                if say.of_content { 0.5 * block_bytes / estimate.value } else { block_bytes / shortest };
            let estimate = over_trials::widened(estimate, grain);
            let why = format!("The rate falls within {} trials; the mean over them.", falls.len());
            writer.found(&conditions, &points, estimate, &(say.falls)(&what), why)
        }
        Shown::Level { rates, bytes } => {
            let bytes = units::size(bytes);
            let why = format!("No trial shows a fall by a fifth or more; each wrote up to {bytes}.");
            match (say.level, over_trials::mean(&rates, writer.confidence)) {
                (Some(sentence), Some(estimate)) => {
                    writer.found(&conditions, &points, estimate, &sentence(&what, &bytes), why)
                }
                _ => none(writer, &conditions, evidence, &what, why),
            }
        }
    }
}

fn none(writer: &Writer, conditions: &Conditions, evidence: &Evidence, what: &str, why: String) -> Finding {
    let mut finding = writer.refused(conditions, &[evidence], "", "");
    finding.status = Status::None;
    finding.sentence =
        crate::words::capitalised(&format!("{what} show no buffer that fills up within a trial."));
    finding.why = Some(why);
    finding
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

    #[test]
    fn a_wandering_rate_a_rise_and_a_moment_are_no_fall() {
        assert_eq!(fall(&steps(0, 0.0, 1000.0, 0.1)), None);
        assert_eq!(fall(&steps(25, 1000.0, 950.0, 0.0)), None);
        assert_eq!(fall(&steps(10, 200.0, 1000.0, 0.0)), None);
        assert_eq!(fall(&[]), None);
        assert_eq!(fall(&[(0.1, 5.0); 3]), None);
    }
}
