//! A write that goes on until a buffer is full: where its rate fell within each trial, which three findings read.
//!
//! The windows of a trial are cut where two levels fit them best (least squares). It is a fall only where the
//! level before is at least a fifth higher, for two windows or more, and stands out of the scatter within the two
//! parts by five of its standard deviations: a wandering rate has no such step. A buffer that fills within the
//! first window leaves no level before, but lifts that window above those after the next one, in every trial
//! alike: 5 % and the same five deviations are enough then. What the buffer took is everything that was written
//! above the later level.
//!
//! Two buffers, one behind the other, make two falls. Three levels are believed where they explain the logarithms
//! of the rates so much better than two that the Bayesian information criterion would pay for them (Schwarz,
//! Estimating the dimension of a model, 1978), counting every fifth window, since neighbours resemble each other,
//! and where each stands out of the next as a single fall must; and where more than half of the trials say so.
//!
//! A buffer may empty while it is filled, and then holds what was written beyond the later rate; or only while
//! nothing is asked, and then holds all that was written until the fall. A write after a shorter pause tells the
//! two apart: the first kind has emptied at its lasting rate by then, the second more slowly.

use iosonde_judge::{estimate::FEWEST_TRIALS, evidence::Evidence};
use iosonde_model::{About, Conditions, Detail, Estimate, Finding, Op, Status, Trial, units};

use super::{
    Proof,
    group::{self, Writer, workload},
    over_trials,
};

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
/// The first window over the later level, where the buffer fills within it. At its beginning nothing wanders: it
/// is the same moment of each trial.
const FIRST_MIN: f64 = 1.05;
/// Windows of a level at the least.
const WINDOWS_MIN: usize = 2;
/// And of one between two others, of which the first and the last may belong to neither.
const MIDDLE_MIN: usize = 5;
/// Of noise that resembles the window before by 0.65, as many windows say as much as one that does not.
const ALIKE: f64 = 5.0;
/// Of the lasting rate, at which a buffer that empties while it is filled empties in a pause too.
const SAME_RATE: [f64; 2] = [0.75, 1.3];
/// Of what a buffer takes, from which on it is called empty.
const ALL_BACK: f64 = 0.9;
/// Up to which nothing shows.
const NOTHING_BACK: f64 = 0.05;

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

impl Fall {
    /// All that was written until the rate fell, if it was so fast from the beginning on.
    pub(super) fn stock(&self) -> f64 {
        self.buffered * self.burst / (self.burst - self.sustained)
    }
}

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

/// Logarithms of the rates, their lengths aside: windows are alike long. A window without any is as slow as a
/// twentieth of the middle one: how long nothing came is no level.
fn logs(windows: &[(f64, f64)]) -> Vec<f64> {
    let mut rates: Vec<f64> = windows.iter().map(|(_, rate)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    let least = (rates.get(rates.len() / 2).copied().unwrap_or(0.0) / 20.0).max(f64::MIN_POSITIVE);
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

/// How long nothing had been written before a trial.
fn pause_s(trial: &Trial, writes: &[&Trial]) -> f64 {
    let ends = writes.iter().filter(|other| other.started_s < trial.started_s);
    let latest = ends.map(|other| other.started_s + other.elapsed_s).reduce(f64::max);
    latest.map_or(f64::INFINITY, |ended_s| trial.started_s - ended_s)
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

/// What all buffers took in a trial, and the rate that lasts.
fn taken(falls: &[Fall]) -> f64 {
    falls.iter().map(|fall| fall.buffered).sum()
}

fn lasting(falls: &[Fall]) -> f64 {
    falls.last().map_or(0.0, |fall| fall.sustained)
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / f64::max(count, 1.0)
}

/// Why a buffer was perhaps not empty when trials began: what they found in it is what the pauses can empty.
fn never_empty(trials: &[&Trial], falls: &[Vec<Fall>]) -> Option<String> {
    let pause_s = trials.iter().map(|trial| trial.elapsed_s).reduce(f64::min)?;
    let taken = mean_of(falls.iter().map(|falls| taken(falls)));
    let emptied = mean_of(falls.iter().map(|falls| lasting(falls))) * pause_s;
    (!falls.is_empty() && taken > EMPTIED_MAX * emptied).then(|| {
        format!(
            "what the buffer took ({}) is about what it can empty in a pause, so that it was perhaps not empty when \
             trials began; a longer `trial` has longer pauses",
            units::size(taken as u64)
        )
    })
}

/// The falls of each trial that has any: two where more than half of the trials have two, else one.
fn falls_of(trials: &[&Trial]) -> Vec<Vec<Fall>> {
    let two: Vec<Vec<Fall>> = trials.iter().filter_map(|trial| two_falls(&windows(trial))).collect();
    if 2 * two.len() > trials.len() && two.len() >= FEWEST_TRIALS {
        return two;
    }
    trials.iter().filter_map(|trial| Some(vec![fall(&windows(trial))?])).collect()
}

/// What a long write shows, with what a write after a shorter pause is compared with.
pub(super) fn shown(long: &Long) -> Shown {
    if let Err(why) = group::stands(long.evidence, &[About::Rate]) {
        return Shown::Unsure(why);
    }
    let trials: Vec<&Trial> = rested(long);
    let fewest = trials.iter().map(|trial| windows(trial).len()).min().unwrap_or(0);
    if fewest <= 2 * WINDOWS_MIN {
        return Shown::Unsure(format!("a trial has {fewest} windows with writes, too few to see a fall"));
    }
    let falls = falls_of(&trials);
    if let Some(why) = never_empty(&trials, &falls) {
        return Shown::Unsure(why);
    }
    // Before the first trial nothing was written for long; a buffer that took much more then was not empty later.
    let usual = mean_of(falls.iter().skip(1).map(|falls| taken(falls)));
    let refilled = falls.first().is_some_and(|first| taken(first) > REFILLED * usual);
    if refilled && falls.len() >= FEWEST_TRIALS {
        return Shown::Unsure(
            "the buffer took much more in the first trial than later, so that the pauses are too short for it to \
             empty; a longer `trial` has longer pauses, and `rest = 0.2` leaves a drive alone in them"
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
    pub(super) falls: fn(&str, Place) -> String,
    /// Whether it speaks of the first level, which must then last longer than the fewest windows that make a level: a
    /// buffer that fills within them leaves a mean of both levels there.
    pub(super) of_first_level: bool,
    /// Whether it speaks of the last fall only.
    pub(super) of_last_fall: bool,
    /// The same where the rate never fell: with the bytes written; `None` where the figure is then not there.
    pub(super) level: Option<fn(&str, &str) -> String>,
}

/// Which of how many falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Only,
    First,
    Second,
}

/// A long write, and the same after a shorter pause.
pub(super) struct Long<'e, 'a> {
    pub(super) evidence: &'e Evidence<'a>,
    pub(super) after_gap: Option<&'e Evidence<'a>>,
}

impl<'e, 'a> Long<'e, 'a> {
    /// One for each workload that writes and nothing else.
    pub(super) fn of(points: &'e [Evidence<'a>]) -> Vec<Self> {
        let writes = |evidence: &&Evidence| group::only_direction(evidence.point.spec.rw) == Some(Op::Write);
        let after_gap = |evidence: &Evidence, other: &Evidence| {
            let (spec, mut again) = (&evidence.point.spec, other.point.spec.clone());
            let on = again.offset_bytes.checked_sub(spec.offset_bytes);
            again.offset_bytes = spec.offset_bytes;
            again.span_bytes += on.unwrap_or(0);
            on == Some(spec.block_size_bytes) && again == *spec
        };
        let all = || points.iter().filter(writes);
        let first = |evidence: &&Evidence| !all().any(|other| after_gap(other, evidence));
        all()
            .filter(first)
            .map(|evidence| Self { evidence, after_gap: all().find(|other| after_gap(evidence, other)) })
            .collect()
    }

    /// Every trial that writes.
    fn writes(&self) -> Vec<&'a Trial> {
        let again = self.after_gap.iter().flat_map(|evidence| evidence.trials.iter());
        self.evidence.trials.iter().chain(again).copied().collect()
    }

    pub(super) fn conditions(&self) -> Conditions {
        let spec = &self.evidence.point.spec;
        Conditions {
            op: Some(Op::Write),
            random: Some(spec.rw.is_random()),
            block_size_bytes: Some(spec.block_size_bytes),
            queue_depth: Some(spec.asked_in_flight() as u32),
            span_bytes: Some(spec.span_bytes),
            ..Conditions::default()
        }
    }

    /// What the write after a shorter pause finds, against what the last of `falls` took.
    pub(super) fn drained(&self, falls: &[Vec<Fall>], confidence: f64) -> Option<Drained> {
        let after_gap = self.after_gap?;
        let rate = mean_of(falls.iter().map(|falls| lasting(falls)));
        let last = || falls.iter().filter_map(|falls| falls.last());
        let whole = mean_of(last().map(|fall| fall.buffered));
        // What buffers before the last one hold is long there again.
        let before = mean_of(falls.iter().map(|falls| taken(falls))) - whole;
        // No burst lasts longer than after a whole pause.
        let most = last().map(|fall| fall.before_windows).max()? + 2;
        let writes = self.writes();
        let back = |trial: &Trial| {
            let windows = windows(trial);
            let burst = &windows[..most.min(windows.len())];
            (burst.iter().map(|(length, at)| length * (at - rate)).sum::<f64>() - before).max(1.0)
        };
        let trials = || after_gap.standing(About::Rate).filter(|trial| trial.measured_s > 0.0);
        let gap_s = mean_of(trials().map(|trial| pause_s(trial, &writes)));
        let back: Vec<f64> = trials().map(back).collect();
        let share = mean_of(back.iter().copied()) / whole;
        let back = over_trials::mean(&back, confidence)?;
        let by_rate = |end: Option<f64>| end.unwrap_or(0.0) / (gap_s * rate);
        let same = by_rate(back.low) >= SAME_RATE[0] && by_rate(back.high) <= SAME_RATE[1];
        let manner = if share <= NOTHING_BACK {
            Manner::NothingYet
        } else if share >= ALL_BACK {
            Manner::AllBack
        } else if same {
            Manner::WhileFilled
        } else if by_rate(back.high) < SAME_RATE[0] {
            Manner::OnlyAtRest
        } else {
            Manner::Unknown
        };
        (gap_s.is_finite() && gap_s > 0.0 && whole > 0.0).then_some(Drained { gap_s, back, manner })
    }
}

/// What had drained within a shorter pause.
pub(super) struct Drained {
    pub(super) gap_s: f64,
    /// Bytes beyond the lasting rate that were taken again.
    pub(super) back: Estimate,
    pub(super) manner: Manner,
}

/// How a buffer empties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// At its lasting rate, whether it is filled or not.
    WhileFilled,
    /// More slowly than that: it empties when nothing is asked of the storage.
    OnlyAtRest,
    /// Nothing had come back.
    NothingYet,
    /// All had.
    AllBack,
    /// Neither is sure.
    Unknown,
}

impl Manner {
    /// Whether it holds all that was written until the rate fell, and not only what was beyond the lasting rate.
    pub(super) fn is_stock(self) -> bool {
        matches!(self, Self::OnlyAtRest | Self::NothingYet)
    }

    /// Whether that is known.
    fn is_sure(self) -> bool {
        self.is_stock() || self == Self::WhileFilled
    }
}

/// One finding for each workload that writes and nothing else, and for each of its falls.
pub(super) fn conclude(say: &Say, writer: &Writer, points: &[Evidence]) -> Vec<Finding> {
    Long::of(points).iter().flat_map(|long| of_one(say, writer, long)).collect()
}

fn of_one(say: &Say, writer: &Writer, long: &Long) -> Vec<Finding> {
    let conditions = long.conditions();
    let points = [long.evidence];
    match shown(long) {
        Shown::Unsure(why) => vec![writer.refused(&conditions, &points, say.about, &why)],
        Shown::Falls(falls) => {
            let count = falls[0].len();
            let from = if say.of_last_fall { count - 1 } else { 0 };
            (from..count).map(|place| of_fall(say, writer, long, &falls, place)).collect()
        }
        Shown::Level { rates, bytes } => {
            let (bytes, what) = (units::size(bytes), workload(&conditions));
            let why = format!("No trial shows a fall by a fifth or more; each wrote up to {bytes}.");
            match (say.level, over_trials::mean(&rates, writer.confidence)) {
                (Some(sentence), Some(estimate)) => {
                    vec![writer.found(&conditions, &points, estimate, &sentence(&what, &bytes), why)]
                }
                _ => vec![none(writer, &conditions, long.evidence, &what, why)],
            }
        }
    }
}

/// What is said of one fall of several trials.
fn of_fall(say: &Say, writer: &Writer, long: &Long, all: &[Vec<Fall>], nth: usize) -> Finding {
    let (count, spec) = (all[0].len(), &long.evidence.point.spec);
    let place = match (count, nth) {
        (1, _) => Place::Only,
        (_, 0) => Place::First,
        _ => Place::Second,
    };
    let mut conditions = long.conditions();
    conditions.stage = (count > 1 && !say.of_last_fall).then_some(nth as u32 + 1);
    let what = workload(&conditions);
    let falls: Vec<&Fall> = all.iter().map(|falls| &falls[nth]).collect();
    let drained = if nth + 1 == count { long.drained(all, writer.confidence) } else { None };
    let points: Vec<&Evidence> =
        [Some(long.evidence), long.after_gap.filter(|_| drained.is_some())].into_iter().flatten().collect();
    let few = |why: &str| writer.refused(&conditions, &points, say.about, why);
    if say.of_first_level && falls.iter().any(|fall| fall.before_windows <= WINDOWS_MIN) {
        return few("the buffer fills within the first windows of a trial, too soon to see the rate before");
    }
    let stock = say.of_content && drained.as_ref().is_some_and(|drained| drained.manner.is_stock());
    let block_bytes = spec.block_size_bytes as f64;
    let figure = |fall: &&Fall| match (say.of_content, stock) {
        (true, true) => fall.stock(),
        // The buffer empties only from the moment that the first request has come.
        (true, false) => (say.figure)(fall) + block_bytes * fall.late,
        (false, _) => (say.figure)(fall),
    };
    let mean = |figures: Vec<f64>| over_trials::mean(&figures, writer.confidence);
    let Some(estimate) = mean(falls.iter().map(figure).collect()) else {
        return few("too few trials stand");
    };
    let sure = drained.as_ref().is_some_and(|drained| drained.manner.is_sure());
    let estimate = if say.of_content && place == Place::Second && !sure {
        both(estimate, mean(falls.iter().map(|fall| fall.stock()).collect()))
    } else {
        estimate
    };
    // Where the first level begins and ends is known to one request, however well the trials agree.
    let shortest = falls.iter().map(|fall| fall.before_bytes).fold(f64::INFINITY, f64::min);
    let grain = if say.of_content { 0.5 * block_bytes / estimate.value } else { block_bytes / shortest };
    let estimate = over_trials::widened(estimate, grain);
    let mut why = match count {
        1 => format!("The rate falls within {} trials; the mean over them.", falls.len()),
        _ => format!("The rate falls twice within {} trials; the mean over them.", falls.len()),
    };
    if let Some(drained) = drained.filter(|_| say.of_content) {
        why.push_str(&in_words(&drained));
    }
    writer.found(&conditions, &points, estimate, &(say.falls)(&what, place), why)
}

/// From what was beyond the lasting rate to all that was written until the rate fell: behind a first buffer,
/// either is as likely where no pause told.
fn both(beyond: Estimate, all: Option<Estimate>) -> Estimate {
    let high = all.and_then(|all| all.high).or(beyond.high);
    let middle = beyond.low.zip(high).map(|(low, high)| (low * high).sqrt());
    Estimate { value: middle.unwrap_or(beyond.value), low: beyond.low, high }
}

fn in_words(drained: &Drained) -> String {
    let gap = units::duration(drained.gap_s);
    match drained.manner {
        Manner::WhileFilled => format!(
            " After a pause of {gap} as much was free as it empties at its lasting rate: it empties while it is \
             filled, and what it emptied meanwhile is not counted."
        ),
        Manner::OnlyAtRest => format!(
            " After a pause of {gap} less was free than it would empty at its lasting rate: it empties only at \
             rest, and all that was written until then is counted."
        ),
        Manner::NothingYet => format!(
            " After a pause of {gap} nothing was free again: it does not empty while it is filled, and all that was \
             written until then is counted."
        ),
        Manner::AllBack => format!(" After a pause of {gap} it was empty again."),
        Manner::Unknown => format!(
            " What a pause of {gap} freed does not tell whether it empties while it is filled; what it may have \
             emptied meanwhile is not counted."
        ),
    }
}

fn none(writer: &Writer, conditions: &Conditions, evidence: &Evidence, what: &str, why: String) -> Finding {
    let mut finding = writer.refused(conditions, &[evidence], "", "");
    finding.status = Status::Absent;
    let sentence = crate::words::capitalised(&format!("{what} show no buffer that fills up within a trial."));
    finding.detail = Detail::Said { sentence, why: Some(why) };
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
