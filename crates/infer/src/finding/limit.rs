//! A limit that was set, seen in an unbroken load: the common part of two findings. Either the throughput fell and
//! then stayed at one cap, or a control group's limit was reached.
//!
//! The windows of all trials, one after the other, are divided where two levels fit them best, as for a long write
//! ([`long_write`](super::long_write)). A cap differs from a medium that became slower by its exactness: the trials
//! after the fall agree within 1 %.

use iosonde_judge::{check::at_limit, estimate::FEWEST_TRIALS, evidence::Evidence};
use iosonde_model::{
    About, Conditions, Estimate, Inconclusive, IoLimit, Op, Trial, Window, detail::LimitProblem,
};

use super::{
    Proof,
    group::{self, Group},
    long_write, over_trials,
};

/// How closely trials at a cap agree, as a share.
const EXACT: f64 = 0.01;
/// Parts that the course is cut into at most: the search for the cut takes longer with their square.
const PARTS_MAX: usize = 400;
/// Minimum number of parts.
const PARTS_MIN: usize = 10;
/// A break in the load that is longer than this holds another trial, or a pause.
const BREAK_S: f64 = 0.1;
/// Over the length of this load's own trials, up to which what lies in a break is the schedule's own, which
/// repeats the same load.
const REPEAT_MAX: f64 = 1.2;
/// What starting a trial takes, as the schedule counts it.
const START_S: f64 = 0.012;
/// Maximum of repeats in one break: the last of a round and the first of the next.
const REPEATS_MAX: u64 = 2;
/// Share of the time until the fall that breaks may take.
const BROKEN_MAX: f64 = 0.3;
/// Requests of this size or more are counted in bytes: no volume sells so many of them that their number counts.
const LARGE_BYTES: u64 = 128 << 10;

/// One device and study that prove both findings; each adds its truth.
pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "volume"
summary = "a cloud volume of 1,000 requests a second, with a credit of 80,000 to be spent at 5,000 a second"
capacity = "64GiB"
[link]
bandwidth = "2GB/s"
latency = "100us"
[queue]
servers = 32
service = { fixed = "300us" }
[throttle]
iops = 1000
burst = { iops = 5000, credit = 80000 }
[noise]
latency_cv = 0.05
"#,
    study: r#"
name = "limits"
question = "Does somebody limit the rate?"
time = "2m"
size = "64MiB"
[[experiment]]
kind = "limit"
"#,
    truths: &[],
    widest: 0.1,
};

/// What an unbroken load shows.
pub(super) enum Shown {
    /// A control group's limit was reached: the rates of the trials at it, in requests or bytes a second.
    Witnessed(Vec<f64>, IoLimit),
    /// The rate fell to a cap.
    Fell(Fell),
    /// It neither fell nor is there a witness: with the seconds of load.
    Level(f64),
}

/// A fall to a cap.
pub(super) struct Fell {
    /// Requests a second before.
    pub(super) before: f64,
    /// And after.
    pub(super) cap: Estimate,
    /// Requests beyond what the cap alone would have let pass, from the first one on.
    pub(super) credit: Estimate,
    /// Seconds until it fell.
    pub(super) lasted_s: f64,
}

/// One for each load: a limit is looked for in the course of one point.
pub(super) fn groups<'e, 'a>(points: &'e [Evidence<'a>]) -> Vec<Group<'e, 'a>> {
    group::groups(points, |op, evidence| {
        let spec = &evidence.point.spec;
        spec.rate_iops.is_none().then(|| Conditions {
            op: Some(op),
            random: Some(spec.rw.is_random()),
            block_size_bytes: Some(spec.block_size_bytes),
            queue_depth: Some(spec.asked_in_flight() as u32),
            ..Conditions::default()
        })
    })
}

/// Whether a load's limit is in bytes.
pub(super) fn in_bytes(block_size_bytes: u64) -> bool {
    block_size_bytes >= LARGE_BYTES
}

/// What the trials of a point show.
pub(super) fn shown(evidence: &Evidence, op: Op, confidence: f64) -> Result<Shown, Inconclusive> {
    // Whatever else used the device: a trial that reached a limit shows the limit.
    if let Some(witnessed) = witnessed(&evidence.trials, op) {
        return Ok(witnessed);
    }
    // A limit voids what trials say of the device, and that is not the question here.
    enough(evidence, About::Rate, |void| void.is_none_or(|void| void == About::Device))?;
    // Without a witness the rates themselves are the evidence, and must be the storage's own.
    let mut trials = enough(evidence, About::Device, |void| void.is_none())?;
    trials.sort_by(|a, b| a.started_s.total_cmp(&b.started_s));
    let course = course(&trials, op);
    let length_s: f64 = course.iter().map(|part| part.length_s).sum();
    if course.len() < PARTS_MIN || course.iter().any(|part| part.length_s <= 0.0) {
        let windows = course.iter().filter(|part| part.length_s > 0.0).count();
        return Err(LimitProblem::FewWindows { windows }.into());
    }
    let rates: Vec<(f64, f64)> = course.iter().map(|part| (part.length_s, part.rate)).collect();
    let Some(fall) = long_write::fall(&rates) else { return Ok(Shown::Level(length_s)) };
    // Either a credit is spent or a buffer is full.
    if op == Op::Write {
        return Err(LimitProblem::WritesFell.into());
    }
    let moment = (fall.before_windows + 1).min(course.len() - 1);
    Ok(Shown::Fell(fell(&trials, &course, moment, fall.burst, op, confidence)?))
}

/// The trials that are valid, if they are enough.
fn enough<'a>(
    evidence: &Evidence<'a>,
    about: About,
    valid: impl Fn(Option<About>) -> bool,
) -> Result<Vec<&'a Trial>, Inconclusive> {
    let trials: Vec<&Trial> = evidence.with(valid).collect();
    if trials.len() >= FEWEST_TRIALS {
        return Ok(trials);
    }
    let spec = Box::new(evidence.point.spec.clone());
    let (valid, run, needed) = (trials.len(), evidence.trials.len(), FEWEST_TRIALS);
    Err(Inconclusive::TooFewTrials { spec, valid, run, needed, about })
}

fn fell(
    trials: &[&Trial],
    course: &[Part],
    moment: usize,
    before: f64,
    op: Op,
    confidence: f64,
) -> Result<Fell, LimitProblem> {
    let fell_s = course[moment].start_s;
    let after: Vec<f64> = trials
        .iter()
        .filter(|trial| trial.started_s >= fell_s)
        .filter_map(|trial| Some(trial.direction(op)?.iops))
        .collect();
    let few = LimitProblem::FewAfterFall { trials: after.len() };
    let cap = over_trials::mean(&after, confidence).ok_or(few)?;
    // A trial ends at a completion: its count is known to one.
    let fewest = trials.iter().filter_map(|trial| Some(trial.direction(op)?.ios)).min().unwrap_or(1).max(1);
    let cap = over_trials::widened(cap, 1.0 / fewest as f64);
    let deviation = after.iter().map(|rate| (rate / cap.value - 1.0).abs()).fold(0.0, f64::max);
    if deviation > EXACT {
        return Err(LimitProblem::Scatter { deviation });
    }
    let earlier = trials.iter().filter(|trial| trial.started_s + trial.elapsed_s <= fell_s);
    let drained: u64 = earlier.map(|trial| uncounted(trial, op)).sum();
    let in_flight = trials[0].spec.asked_in_flight();
    let credit = credit(&course[..=moment], (drained as f64, in_flight as f64), before, cap)?;
    Ok(Fell { before, cap, credit, lasted_s: fell_s - course[0].start_s })
}

/// Requests of a trial that no window counts: those still outstanding when it ended.
fn uncounted(trial: &Trial, op: Op) -> u64 {
    let counted: u64 =
        trial.windows.iter().filter_map(|window| window.direction(op)).map(|lane| lane.ios).sum();
    trial.witnesses.issued_ios.saturating_sub(counted)
}

/// What passed until the fall beyond the cap, `drained` after the ends of trials. A break with one trial in it,
/// as long as the others, holds the schedule's own, of the same load, but for the time of starting it; one with
/// none is a pause, in which nothing passes. Where the rate is high before such a break and low after it, it fell
/// within it, at an unknown time. The last part of the course is the first that lies wholly after the fall.
fn credit(
    course: &[Part],
    (drained, in_flight): (f64, f64),
    before: f64,
    cap: Estimate,
) -> Result<Estimate, LimitProblem> {
    let begun_s = course[0].start_s;
    // Requests outstanding when it fell had passed the limit or not; as many are outstanding when a trial ends.
    let (mut passed, mut broken_s, mut error) = (drained, 0.0, in_flight);
    // One trial before the first may have been the schedule's own, and have spent as the others did.
    let first = &course[0];
    let repeated = first.trial == 2 && first.start_s <= REPEAT_MAX * first.trial_s;
    let spent_before = if repeated { first.start_s * (before - cap.value) } else { 0.0 };
    let fallen = |part: &Part| part.rate < (before + cap.value) / 2.0;
    for (part, next) in course.iter().zip(&course[1..]) {
        passed += part.length_s * part.rate;
        let break_s = next.start_s - part.start_s - part.length_s;
        let between = next.trial.saturating_sub(part.trial + 1);
        if break_s <= BREAK_S || between == 0 {
            continue;
        }
        broken_s += break_s;
        if between > REPEATS_MAX || break_s > REPEAT_MAX * part.trial_s {
            return Err(LimitProblem::OtherWorkloads);
        }
        let until_then = match (fallen(part), fallen(next)) {
            (true, _) => cap.value,
            (false, false) => before,
            (false, true) => {
                error += break_s * (before - cap.value) / 2.0;
                (before + cap.value) / 2.0
            }
        };
        // Nobody knows what of the time that starting them takes the load went on.
        let starts_s = (between + 1) as f64 * START_S;
        passed += (break_s - starts_s / 2.0) * until_then;
        error += BREAK_S / 2.0 * until_then;
    }
    let lasted_s = course.last().map_or(begun_s, |part| part.start_s) - begun_s;
    if broken_s > BROKEN_MAX * lasted_s {
        return Err(LimitProblem::OtherWorkloads);
    }
    let value = passed - cap.value * lasted_s;
    // The part in which it fell is counted whole, and the cap is multiplied by all of the time: the moment within that
    // part is not known, so that half of it on either side is derived and not tuned. Without it the truth was held in
    // 85 % of 34 drawn devices of `bench/blind`, whose seed is not recorded.
    let last_s = course.iter().rev().nth(1).map_or(0.0, |part| part.length_s);
    let uneven = (EVEN * value).max(0.5 * last_s * (before - cap.value));
    let half = (cap.relative_half_width().unwrap_or(0.0) * cap.value * lasted_s).hypot(uneven) + error;
    Ok(Estimate { value, low: Some((value - half).max(0.0)), high: Some(value + half + spent_before) })
}

/// Share of the credit by which it may be off where the throughput before the fall is not even.
const EVEN: f64 = 0.005;

/// A stretch of the load.
#[derive(Debug, Clone, Copy)]
struct Part {
    start_s: f64,
    length_s: f64,
    /// Requests a second.
    rate: f64,
    /// The trial that it belongs to, and how long that one took.
    trial: u64,
    trial_s: f64,
}

/// The windows of all trials, a few together where there are many.
fn course(trials: &[&Trial], op: Op) -> Vec<Part> {
    let windows: usize = trials.iter().map(|trial| trial.windows.len()).sum();
    let each = windows.div_ceil(PARTS_MAX).max(1);
    let part = |trial: &Trial, windows: &[Window]| {
        let length_s: f64 = windows.iter().map(|window| window.length_s).sum();
        let ios: u64 = windows.iter().filter_map(|window| window.direction(op)).map(|lane| lane.ios).sum();
        Part {
            start_s: trial.started_s + windows[0].start_s,
            length_s,
            rate: ios as f64 / length_s.max(1e-9),
            trial: trial.id,
            trial_s: trial.elapsed_s,
        }
    };
    trials.iter().flat_map(|trial| trial.windows.chunks(each).map(|windows| part(trial, windows))).collect()
}

/// A control group's limit that enough trials reached.
fn witnessed(trials: &[&Trial], op: Op) -> Option<Shown> {
    let reached = |trial: &&Trial| {
        let (share, limit) = at_limit::reached(trial).find(|(_, limit)| limit.op == op)?;
        Some((share * limit.iops.or(limit.bytes_per_s)?, limit))
    };
    let reached: Vec<(f64, IoLimit)> = trials.iter().filter_map(reached).collect();
    let (_, limit) = reached.first()?.clone();
    let rates: Vec<f64> = reached.into_iter().filter(|(_, of)| *of == limit).map(|(rate, _)| rate).collect();
    (rates.len() >= FEWEST_TRIALS).then_some(Shown::Witnessed(rates, limit))
}
