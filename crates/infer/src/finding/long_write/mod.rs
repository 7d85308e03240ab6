//! A write that continues until a buffer is full: where throughput fell within each trial, the common part of four
//! findings.

mod drain;
mod fall;
mod long;

use iosonde_judge::{estimate::FEWEST_TRIALS, evidence::Evidence, levels};
use iosonde_model::{
    About, Detail, Estimate, Finding, Inconclusive, Op, Trial,
    detail::{LongWrite, LongWriteProblem},
};

use super::{
    Proof,
    group::{self, Writer},
    over_trials,
};
pub(super) use drain::Drained;
use drain::pause_s;
pub(super) use fall::{Fall, fall};
use fall::{WINDOWS_MIN, falls_of, lasting, mean_of, taken, windows};
pub(super) use long::Long;

/// The first trial over the others, from which on a buffer was not empty when they began.
const REFILLED: f64 = 1.1;
/// A pause before a trial, over the trial's own length, from which on it counts as one.
const RESTED: f64 = 0.5;
/// What a buffer took over what it could empty in a pause, beyond which it was perhaps not empty.
const EMPTIED_MAX: f64 = 0.9;

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

/// What the trials of a point show together.
pub(super) enum Shown {
    /// The rate falls in most trials, in each as often: the falls of each.
    Falls(Vec<Vec<Fall>>),
    /// It falls in none.
    Level {
        /// Bytes a second of each trial.
        rates: Vec<f64>,
        /// The most that a trial wrote.
        bytes: u64,
    },
}

/// The trials that began after a pause. When the time runs out, a last trial may follow right upon another.
fn rested<'a>(long: &Long<'_, 'a>) -> Vec<&'a Trial> {
    let writes = long.writes();
    let all = || long.evidence.standing(About::Rate);
    let rested: Vec<&Trial> =
        all().filter(|trial| pause_s(trial, &writes) >= RESTED * trial.elapsed_s).collect();
    // Points that were never paused before are told of by the size of what their first trial could write.
    if rested.len() > 1 { rested } else { all().collect() }
}

/// Why a buffer was perhaps not empty when trials began: what they found in it is what the pauses can empty.
fn never_empty(trials: &[&Trial], falls: &[Vec<Fall>]) -> Option<LongWriteProblem> {
    let pause_s = trials.iter().map(|trial| trial.elapsed_s).reduce(f64::min)?;
    let taken_bytes = mean_of(falls.iter().map(|falls| taken(falls)));
    let emptied = mean_of(falls.iter().map(|falls| lasting(falls))) * pause_s;
    let perhaps = !falls.is_empty() && taken_bytes > EMPTIED_MAX * emptied;
    perhaps.then_some(LongWriteProblem::PerhapsNotEmpty { taken_bytes })
}

/// What a long write shows, with what a write after a shorter pause is compared with.
pub(super) fn shown(long: &Long) -> Result<Shown, Inconclusive> {
    group::valid(long.evidence, &[About::Rate])?;
    let trials: Vec<&Trial> = rested(long);
    let fewest = trials.iter().map(|trial| windows(trial).len()).min().unwrap_or(0);
    if fewest <= 2 * WINDOWS_MIN {
        return Err(LongWriteProblem::FewWindows { windows: fewest }.into());
    }
    let falls = falls_of(&trials);
    if let Some(why) = never_empty(&trials, &falls) {
        return Err(why.into());
    }
    // Before the first trial nothing was written for long; a buffer that took much more then was not empty later.
    let usual = mean_of(falls.iter().skip(1).map(|falls| taken(falls)));
    let refilled = falls.first().is_some_and(|first| taken(first) > REFILLED * usual);
    if refilled && falls.len() >= FEWEST_TRIALS {
        return Err(LongWriteProblem::FirstTookMore.into());
    }
    let enough = 2 * falls.len() > trials.len();
    if enough && falls.len() >= FEWEST_TRIALS {
        return after_step(falls).map(Shown::Falls).map_err(Into::into);
    }
    if !falls.is_empty() {
        return Err(LongWriteProblem::SomeFall { falls: falls.len(), trials: trials.len() }.into());
    }
    let direction = |trial: &&Trial| trial.direction(Op::Write).cloned();
    Ok(Shown::Level {
        rates: trials.iter().filter_map(direction).map(|write| write.bytes_per_s).collect(),
        bytes: trials.iter().filter_map(direction).map(|write| write.bytes).max().unwrap_or(0),
    })
}

/// What trials show after the rate that lasts within them stepped from one to the next: a larger and faster area was
/// full, or a credit was spent. What was before is not what lasts.
fn after_step(mut falls: Vec<Vec<Fall>>) -> Result<Vec<Vec<Fall>>, LongWriteProblem> {
    let logs: Vec<f64> = falls.iter().map(|own| lasting(own).max(f64::MIN_POSITIVE).ln()).collect();
    let Some(at) = levels::step(&logs, 1) else { return Ok(falls) };
    let after = falls.split_off(at);
    if after.len() >= FEWEST_TRIALS {
        return Ok(after);
    }
    let mean = |falls: &[Vec<Fall>]| mean_of(falls.iter().map(|own| lasting(own)));
    Err(LongWriteProblem::SteppedLate { before: mean(&falls), after: mean(&after), trials: after.len() })
}

/// The figure that one of the three findings reads off a fall.
pub(super) struct Reading {
    /// The figure of a fall.
    pub(super) figure: fn(&Fall) -> f64,
    /// Whether the figure is what the buffer holds, which requests enter as a whole.
    pub(super) of_content: bool,
    /// Whether it is about the first level, which must then last longer than the fewest windows that make a level: a
    /// buffer that fills within them leaves a mean of both levels there.
    pub(super) of_first_level: bool,
    /// Whether it is about the last fall only.
    pub(super) of_last_fall: bool,
    /// Whether it is the rate of the whole trial where that never falls; it is absent then otherwise.
    pub(super) of_level: bool,
}

/// One finding for each workload that writes and nothing else, and for each of its falls.
pub(super) fn conclude(reading: &Reading, writer: &Writer, points: &[Evidence]) -> Vec<Finding> {
    Long::of(points).iter().flat_map(|long| of_one(reading, writer, long)).collect()
}

fn of_one(reading: &Reading, writer: &Writer, long: &Long) -> Vec<Finding> {
    let conditions = long.conditions();
    let points = [long.evidence];
    match shown(long) {
        Err(why) => vec![writer.inconclusive(&conditions, &points, why)],
        Ok(Shown::Falls(falls)) => {
            let count = falls[0].len();
            let from = if reading.of_last_fall { count - 1 } else { 0 };
            (from..count).map(|place| of_fall(reading, writer, long, &falls, place)).collect()
        }
        Ok(Shown::Level { rates, bytes }) => {
            let level = Detail::LongWrite(LongWrite::Level { written_bytes: bytes });
            let rate = over_trials::mean(&rates, writer.confidence).filter(|_| reading.of_level);
            vec![match rate {
                Some(rate) => writer.concluded(&conditions, &points, rate, level),
                None => writer.absent(&conditions, &points, level),
            }]
        }
    }
}

/// What is said of one fall of several trials.
fn of_fall(reading: &Reading, writer: &Writer, long: &Long, all: &[Vec<Fall>], nth: usize) -> Finding {
    let (buffers, block_bytes) = (all[0].len(), long.evidence.point.spec.block_size_bytes as f64);
    let mut conditions = long.conditions();
    conditions.stage = (buffers > 1 && !reading.of_last_fall).then_some(nth as u32 + 1);
    let falls: Vec<&Fall> = all.iter().map(|falls| &falls[nth]).collect();
    let drained = if nth + 1 == buffers { long.drained(all, writer.confidence) } else { None };
    let points: Vec<&Evidence> =
        [Some(long.evidence), long.after_gap.filter(|_| drained.is_some())].into_iter().flatten().collect();
    if reading.of_first_level && falls.iter().any(|fall| fall.before_windows <= WINDOWS_MIN) {
        return writer.inconclusive(&conditions, &points, LongWriteProblem::FullTooSoon);
    }
    let pause = drained.map(|drained| drained.pause).filter(|_| reading.of_content);
    let figure = |fall: &&Fall| match (reading.of_content, pause.is_some_and(|pause| pause.drain.holds_all()))
    {
        (true, true) => fall.stock(),
        // The buffer empties only from the moment that the first request has come.
        (true, false) => (reading.figure)(fall) + block_bytes * fall.late,
        (false, _) => (reading.figure)(fall),
    };
    let figures: Vec<f64> = falls.iter().map(figure).collect();
    let estimate = match over_trials::valid_mean(&figures, writer.confidence) {
        Ok(estimate) => estimate,
        Err(why) => return writer.inconclusive(&conditions, &points, why),
    };
    let known = pause.is_some_and(|pause| pause.drain.is_known());
    let estimate = if reading.of_content && nth > 0 && !known {
        let stocks: Vec<f64> = falls.iter().map(|fall| fall.stock()).collect();
        both(estimate, over_trials::mean(&stocks, writer.confidence))
    } else {
        estimate
    };
    // Where the first level begins and ends is known to one request, however well the trials agree.
    let shortest = falls.iter().map(|fall| fall.before_bytes).fold(f64::INFINITY, f64::min);
    let grain = if reading.of_content { 0.5 * block_bytes / estimate.value } else { block_bytes / shortest };
    let estimate = over_trials::widened(estimate, grain);
    let facts = LongWrite::Falls { trials: falls.len(), buffers, pause };
    writer.concluded(&conditions, &points, estimate, Detail::LongWrite(facts))
}

/// From what was beyond the lasting rate to all that was written until the rate fell: behind a first buffer,
/// either is as likely without a shorter pause.
fn both(beyond: Estimate, all: Option<Estimate>) -> Estimate {
    let high = all.and_then(|all| all.high).or(beyond.high);
    let middle = beyond.low.zip(high).map(|(low, high)| (low * high).sqrt());
    Estimate { value: middle.unwrap_or(beyond.value), low: beyond.low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials that end with these rates.
    fn trials(sustained: &[f64]) -> Vec<Vec<Fall>> {
        let fall = |&sustained: &f64| Fall {
            burst: 3e9,
            sustained,
            buffered: 6e7,
            before_bytes: 6e7,
            before_windows: 3,
            late: 0.1,
        };
        sustained.iter().map(|rate| vec![fall(rate)]).collect()
    }

    #[test]
    fn what_was_before_a_step_between_trials_is_not_what_lasts() {
        let fast = [2.27e9, 2.28e9, 2.26e9, 2.27e9, 2.275e9];
        let slow = [6.94e8, 6.95e8, 6.93e8, 6.94e8, 6.945e8];
        let lasts = |rates: &[f64]| after_step(trials(rates)).map(|falls| falls.len());
        assert_eq!(lasts(&fast), Ok(5));
        assert_eq!(after_step(trials(&[fast, slow].concat())), Ok(trials(&slow)));
        let late = lasts(&[&fast[..], &fast[..3], &slow[..4]].concat());
        assert!(matches!(late, Err(LongWriteProblem::SteppedLate { trials: 4, .. })), "{late:?}");
    }
}
