//! A limit that was set: a container's, a cloud volume's once its credit is spent, or a device's own when it is
//! hot.
//!
//! Looks at: the control groups that apply to this process, and at the course of throughput over a long trial and
//! over a run.
//!
//! Rule: where a control group's limit is visible, it decides: a trial that reached 97 % of it is at the limit (the
//! kernel keeps such a rate to 0.3 %). Half a slice of 100 ms less is enough where a request waited for the next slice.
//! Without one, the sign is throughput that falls by 6 % or more at one moment
//! and then stays at one cap.
//!
//! A cap differs from a slower device by its exactness. After the moment, throughput agrees within 1 %, in requests
//! or in bytes per second, and less than half as closely before. This is tested over the parts of a trial, or over
//! the trials of points that fell (four trials of several points, eight of one). None of them recovers, and no
//! other point of the same direction lies above the cap. Trials that `not-steady` makes invalid do not count: before
//! warm-ups are long enough, they have a write buffer's rate in them. Otherwise it is a fall to a throughput that
//! scatters as before: heat (a sensor of 70 °C or more makes it likely), or for writes a full buffer.
//!
//! A limit that holds from the first second on looks like the device's own limit. Not checked where no control
//! group is visible and no fall either.
//!
//! The controller of a volume in AWS counts the time in which more was requested than the volume or the instance lets
//! pass. The instance's limit is named from 5 % of a trial on: it is no property of the volume. The volume's own is
//! evidence of `constant_limit`.
//!
//! macOS tells its thermal pressure. From the level `heavy` on it slows the machine: a warning about the device.
//!
//! The limits of control groups are read before and after each trial. One that is set, changed or lifted while the run
//! goes on is reported with its time.
//!
//! The estimates are the cap and the credit: the bytes above the cap until it began. This is the bucket when the
//! run began, full or not.
//!
//! Verdict: invalid as a statement about the device where a control group decides; otherwise a warning about the
//! throughput.
//!
//! Measured: see docs/checks.md. A cap that costs 10 % and more is detected in 95 % and more of runs of twelve
//! rounds, on storage whose throughput scatters by 2 % over 100 ms.
//!
//! Example: short bursts into a cloud volume give 16,000 IOPS; the volume is sold with 3,000, and gives them for
//! the rest of the day.
//!
//! What to do: in a container, raise or lift the limit named. On a cloud volume, measure until the credit is spent,
//! and report both rates. On a hot device, cool it or report its sustained throughput.

use iosonde_model::{
    About, CheckName, IoLimit, Op, Phase, Reason, Run, Scope, ThermalPressure, Trial, Verdict,
    cause::{self, Cap, CapStart},
};

use super::{Check, Symptom, at_limit, course, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use iosonde_stats::{
    change_point::{Change, Likeliest, Step},
    robust,
};

use crate::{estimate::leftovers, validity::TrialStanding};

/// Loss that is looked for, as a share.
const LOSS_MIN: f64 = 0.06;
/// How closely rates at a cap agree, as a share.
const EXACT: f64 = 0.01;
/// A sensor that reads so much is hot: drives begin to slow down between 70 and 85 °C.
const HOT_CELSIUS: f64 = 70.0;
/// Share of a trial above the limit of an instance from which on its mean is felt: it may lose as much.
const EXCEEDED_MIN: f64 = 0.05;
/// Visits of a point on either side of the moment.
const SIDE: usize = 2;
/// Points that fell to the same cap, and trials of theirs after the moment.
const CAPPED_TRIALS: usize = 4;
/// Trials below the middle of a fall before it, one in so many, from which on it is none: rare slow trials are.
const LOW_BEFORE_ONE_IN: usize = 5;
/// By how much, as a logarithm, another point may lie above a cap: noise of its median, and requests of two sizes.
const NOT_ABOVE: f64 = 0.03;
/// Pooled deviations of the fall: chance does not reach them among all moments of all runs.
const DEVIATIONS: f64 = 6.0;

pub(super) struct Throttled;

impl Check for Throttled {
    fn id(&self) -> CheckName {
        CheckName::Throttled
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).map(|trial| of_trial(trial, run))
    }

    fn after(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        (scope == Scope::Run && run.trials.len() > 1).then(|| of_run(run, standing))
    }

    fn symptom(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let limited = |iops: f64| {
            let mut trial = specimen::usual();
            trial.witnesses.io_limits = Some(vec![IoLimit {
                set_by: "/sys/fs/cgroup/box/io.max".into(),
                device: "vda".into(),
                op: Op::Read,
                iops: Some(iops),
                bytes_per_s: None,
            }]);
            specimen::run(trial)
        };
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                limited(300_000.0),
                specimen::rounds(16, |i| 1e5 * quiet(i)),
                specimen::single(60, |i| 16_000.0 * quiet(i)),
            ],
            warning: vec![
                specimen::rounds(16, |i| if i < 7 { 1.2e5 * quiet(i) } else { 1e5 }),
                specimen::single(60, |i| if i < 25 { 16_000.0 * quiet(i) } else { 3000.0 }),
                later(specimen::rounds(16, |i| 1e5 * quiet(i))),
                at_instance_limit(),
                hot(),
            ],
            invalid: vec![limited(100_000.0), limited(101_000.0)],
            not_checked: vec![
                unseen(specimen::single(8, |_| 1e4)),
                unseen(specimen::single(60, |i| 16_000.0 * quiet(i))),
                unseen(specimen::rounds(16, |i| 1e5 * quiet(i))),
                specimen::rounds(3, |i| 1e5 * quiet(i)),
            ],
        }
    }
}

/// For a specimen: under a control group's limit from its eighth trial on.
#[cfg(test)]
fn later(mut run: Run) -> Run {
    for trial in &mut run.trials[7..] {
        trial.witnesses.io_limits = Some(vec![IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".into(),
            device: "vda".into(),
            op: Op::Read,
            iops: Some(300_000.0),
            bytes_per_s: None,
        }]);
    }
    run
}

/// For a specimen: held by the limit of its instance.
#[cfg(test)]
fn at_instance_limit() -> Run {
    let mut trial = specimen::usual();
    let length_s = trial.witnesses.to_s - trial.witnesses.from_s;
    trial.witnesses.volume_statistics = Some(iosonde_model::VolumeStatistics {
        instance_throughput_exceeded_s: 0.6 * length_s,
        ..Default::default()
    });
    specimen::run(trial)
}

/// For a specimen: on a machine that is slowed by heat.
#[cfg(test)]
fn hot() -> Run {
    let mut trial = specimen::usual();
    trial.witnesses.thermal_pressure = Some(ThermalPressure::Heavy);
    specimen::run(trial)
}

/// For a specimen: where no control group can be seen.
#[cfg(test)]
fn unseen(mut run: Run) -> Run {
    run.trials.iter_mut().for_each(|trial| trial.witnesses.io_limits = None);
    run
}

fn of_trial(trial: &Trial, run: &Run) -> Verdict {
    let limits = trial.witnesses.io_limits.as_deref().unwrap_or_default();
    if let Some((limit_share, limit)) = at_limit::reached(trial).next() {
        let facts = cause::Throttled::ControlGroup { limit_share, limit };
        return Verdict::Invalid(Reason::new(About::Device, facts));
    }
    if let Some(facts) = instance_limit(trial) {
        return Verdict::Warning(Reason::new(About::Device, facts));
    }
    let hot = trial.witnesses.thermal_pressure.filter(|&level| level >= ThermalPressure::Heavy);
    if let Some(thermal_pressure) = hot {
        return Verdict::Warning(Reason::new(About::Device, cause::Throttled::Heat { thermal_pressure }));
    }
    let course = (course::is_single(run) && limits.is_empty()).then(|| course_of_trial(trial));
    match course {
        Some(Verdict::Warning(reason)) => Verdict::Warning(reason),
        _ if trial.witnesses.io_limits.is_none() => {
            Verdict::NotChecked(Reason::new(About::Device, cause::Throttled::Unseen))
        }
        _ => Verdict::Pass,
    }
}

/// The limit of a cloud instance, as the controller of its volume counts it.
fn instance_limit(trial: &Trial) -> Option<cause::Throttled> {
    let counted = trial.witnesses.volume_statistics?;
    let length_s = trial.witnesses.to_s - trial.witnesses.from_s;
    let share = |exceeded_s: f64| if length_s > 0.0 { (exceeded_s / length_s).min(1.0) } else { 0.0 };
    let iops_exceeded_share = share(counted.instance_iops_exceeded_s);
    let throughput_exceeded_share = share(counted.instance_throughput_exceeded_s);
    let told = iops_exceeded_share.max(throughput_exceeded_share) >= EXCEEDED_MIN;
    told.then_some(cause::Throttled::InstanceLimit { iops_exceeded_share, throughput_exceeded_share })
}

fn course_of_trial(trial: &Trial) -> Verdict {
    let parts = course::parts(trial);
    let logs: Vec<f64> = parts.iter().map(|part| course::log(part.iops)).collect();
    let found = Likeliest::within(&logs, course::resemblance(trial));
    let Some(Change::Step(Step { at, height })) = found.map(|found| found.change()) else {
        return Verdict::Pass;
    };
    if height.exp_m1() > -LOSS_MIN {
        return Verdict::Pass;
    }
    // The part in which it happens belongs to neither side.
    let (before, after) = (&logs[..at], &logs[(at + 1).min(logs.len() - 1)..]);
    let cap = robust::median(after).unwrap_or(0.0).exp();
    let high = robust::median(before).unwrap_or(0.0).exp();
    let at_s = parts[at].start_s + trial.warmup_s;
    let exact = spread(after) <= EXACT && spread(after) < spread(before).max(1e-3) / 2.0;
    let credit_requests = (high - cap).max(0.0) * at_s;
    let fell = cause::Throttled::Fell {
        throttle_iops: cap,
        before_iops: high,
        at_s,
        temperature_celsius: trial.witnesses.temperature_celsius.filter(|&celsius| celsius >= HOT_CELSIUS),
        cap: exact.then(|| Cap { kept_within_share: spread(after), credit_requests }),
        writes: trial.spec.rw.writes(),
    };
    Verdict::Warning(Reason::new(About::Rate, fell))
}

/// Half of the middle 80 % of logarithms: how closely they agree.
fn spread(logs: &[f64]) -> f64 {
    let mut sorted = logs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = sorted.len() / 10;
    match (sorted.get(cut), sorted.get(sorted.len().saturating_sub(1 + cut))) {
        (Some(low), Some(high)) => (high - low) / 2.0,
        _ => 0.0,
    }
}

/// A visit of a point.
#[derive(Debug, Clone, Copy)]
struct Row {
    group: usize,
    at_s: f64,
    end_s: f64,
    log_iops: f64,
    log_bytes: f64,
    writes: bool,
}

/// The first limit of a control group that does not hold over all of the run.
fn set_in_mid_run(run: &Run) -> Option<Reason> {
    let mut trials: Vec<&Trial> = run.trials.iter().filter(|t| t.witnesses.io_limits.is_some()).collect();
    trials.sort_by(|a, b| a.started_s.total_cmp(&b.started_s));
    // What held at a moment: before each trial and after it.
    let readings: Vec<(f64, &[IoLimit])> = trials
        .iter()
        .flat_map(|trial| {
            let seen = &trial.witnesses;
            let after = seen.io_limits.as_deref().unwrap_or_default();
            let before = seen.io_limits_before.as_deref().unwrap_or(after);
            [(trial.started_s + seen.from_s, before), (trial.started_s + seen.to_s, after)]
        })
        .collect();
    let (_, first) = *readings.first()?;
    let later = readings.iter().flat_map(|(_, limits)| limits.iter()).find(|limit| !first.contains(limit));
    let lifted = || first.iter().find(|limit| readings.iter().any(|(_, now)| !now.contains(limit)));
    let limit = later.or_else(lifted)?;
    // Between two readings: the middle is off by at most half a trial.
    let turned = |from: usize, holds: bool| {
        let at = (from..readings.len()).find(|&at| readings[at].1.contains(limit) == holds)?;
        Some((at, (readings[at - 1].0 + readings[at].0) / 2.0))
    };
    let (begun, from_s) = if first.contains(limit) { (0, readings[0].0) } else { turned(1, true)? };
    let until_s = turned(begun + 1, false).map(|(_, until_s)| until_s);
    let under = |trial: &&&Trial| {
        trial.phase != Phase::Prepare && trial.witnesses.io_limits.iter().flatten().any(|own| own == limit)
    };
    let limited_trials = trials.iter().filter(under).count();
    let facts = cause::Throttled::SetInMidRun { limit: limit.clone(), from_s, until_s, limited_trials };
    Some(Reason::new(About::Device, facts))
}

fn of_run(run: &Run, standing: &TrialStanding) -> Verdict {
    if let Some(reason) = set_in_mid_run(run) {
        return Verdict::Warning(reason);
    }
    let leftovers = leftovers(&run.trials);
    let counts = |trial: &&Trial| {
        let rates = [trial.iops(), trial.bytes_per_s()];
        let has_rate = rates[0] > 0.0 && rates.iter().all(|rate| rate.is_finite());
        // What a short warm-up left of a write buffer's rate is no credit.
        let settled = || standing.causes(trial.id).iter().all(|one| one.check != CheckName::NotSteady);
        trial.phase != Phase::Prepare && has_rate && !leftovers.contains(&trial.id) && settled()
    };
    let mut rows: Vec<Row> = run
        .trials
        .iter()
        .filter(counts)
        .map(|trial| Row {
            group: trial.point.map_or(0, |point| point + 1),
            at_s: trial.started_s,
            end_s: trial.started_s + trial.elapsed_s,
            log_iops: trial.iops().ln(),
            log_bytes: trial.bytes_per_s().max(1.0).ln(),
            writes: trial.spec.has(Op::Write),
        })
        .collect();
    rows.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    if moments(&rows).next().is_none() {
        let too_few = cause::Throttled::TooFewTrials { trials: rows.len() };
        return Verdict::NotChecked(Reason::new(About::Rate, too_few));
    }
    let found = moments(&rows).filter_map(|at| Fall::at(&rows, at));
    let best = found.max_by(|a, b| a.deviations.total_cmp(&b.deviations));
    best.filter(|fall| fall.deviations >= DEVIATIONS).map_or(Verdict::Pass, |fall| fall.verdict(&rows))
}

/// At most 60 places to look at, evenly over the run: the moment itself costs a trial or two.
fn moments(rows: &[Row]) -> impl Iterator<Item = usize> {
    let length = rows.len();
    let step = length.div_ceil(60).max(1);
    (2 * SIDE..length.saturating_sub(2 * SIDE)).step_by(step)
}

/// Points that fell at one moment to one cap.
struct Fall {
    at: usize,
    deviations: f64,
    cap_log: f64,
    in_bytes: bool,
    exactness: f64,
    points: usize,
}

impl Fall {
    fn at(rows: &[Row], at: usize) -> Option<Self> {
        [false, true].into_iter().filter_map(|in_bytes| Self::in_unit(rows, at, in_bytes)).max_by(|a, b| {
            (a.points, a.deviations).partial_cmp(&(b.points, b.deviations)).expect("no NaN among them")
        })
    }

    fn in_unit(rows: &[Row], at: usize, in_bytes: bool) -> Option<Self> {
        let value = |row: &Row| if in_bytes { row.log_bytes } else { row.log_iops };
        let mut sides: std::collections::BTreeMap<(bool, usize), [Vec<f64>; 2]> = Default::default();
        for (place, row) in rows.iter().enumerate() {
            // The trial in which it happens is a mixture.
            if place != at {
                sides.entry((row.writes, row.group)).or_default()[usize::from(place > at)].push(value(row));
            }
        }
        let (mut before, mut after, mut falls) = (Vec::new(), Vec::new(), Vec::new());
        let (mut usual, mut fell) = (Vec::new(), [false; 2]);
        for ((writes, _), [early, late]) in sides {
            let (Some(high), Some(low)) = (robust::median(&early), robust::median(&late)) else { continue };
            if early.len() < SIDE || late.len() < SIDE || low - high > (1.0 - LOSS_MIN).ln() {
                usual.push((writes, low));
                continue;
            }
            // One that comes back above half of the fall was held by nothing. Nor is it a fall where trials lay at the
            // cap before: a write buffer is full or empty by what was written before, all the time.
            let middle = (high + low) / 2.0;
            let low_before = early.iter().filter(|log| **log < middle).count();
            let was_there = low_before >= SIDE && low_before * LOW_BEFORE_ONE_IN >= early.len();
            if was_there || late.iter().any(|log| *log > middle) {
                return None;
            }
            fell[usize::from(writes)] = true;
            before.extend(early.iter().map(|log| log - high));
            falls.push(
                (high - low) * ((early.len() * late.len()) as f64 / (early.len() + late.len()) as f64).sqrt(),
            );
            after.extend(late);
        }
        // Few trials of one point are alike by chance, or since all of them met the same full buffer.
        let enough = if falls.len() == 1 { 2 * CAPPED_TRIALS } else { CAPPED_TRIALS };
        if after.len() < enough {
            return None;
        }
        let cap_log = robust::median(&after)?;
        // A limit holds for all points of a direction: what others exceed is none.
        if usual.iter().any(|&(writes, log)| fell[usize::from(writes)] && log > cap_log + NOT_ABOVE) {
            return None;
        }
        let exactness = spread(&after);
        let scatter = robust::median_absolute_deviation(&before)? * robust::SIGMA_PER_MAD;
        if exactness > EXACT || exactness > scatter.max(2e-3) / 2.0 {
            return None;
        }
        let squares: f64 = falls.iter().map(|fall| fall * fall).sum();
        Some(Self {
            at,
            deviations: squares.sqrt() / scatter.max(5e-3),
            cap_log,
            in_bytes,
            exactness,
            points: falls.len(),
        })
    }

    fn verdict(&self, rows: &[Row]) -> Verdict {
        let cap = self.cap_log.exp();
        let log = |row: &Row| if self.in_bytes { row.log_bytes } else { row.log_iops };
        let over = |row: &Row| (log(row).exp() - cap).max(0.0) * (row.end_s - row.at_s);
        let credit: f64 = rows[..self.at].iter().map(over).sum();
        let (from_s, points) = (rows[self.at].at_s, self.points);
        let at = CapStart { from_s, points, kept_within_share: self.exactness };
        let capped = match self.in_bytes {
            true => cause::Throttled::CappedBytes { throttle_bytes_per_s: cap, credit_bytes: credit, at },
            false => cause::Throttled::CappedRequests { throttle_iops: cap, credit_requests: credit, at },
        };
        Verdict::Warning(Reason::new(About::Rate, capped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(run: &Run, scope: Scope) -> Option<cause::Throttled> {
        match Throttled.judge(scope, run, &TrialStanding::default())? {
            Verdict::Warning(reason) | Verdict::Invalid(reason) => match reason.cause {
                cause::Cause::Throttled(facts) => Some(facts),
                other => panic!("{other:?}"),
            },
            Verdict::Pass => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_point_that_fell_alone_below_others_or_that_came_back_met_no_limit() {
        let capped = |i: usize| if i < 7 { 1.2e5 + 900.0 * (i % 3) as f64 } else { 1e5 };
        let mut run = specimen::rounds(16, capped);
        let Some(cause::Throttled::CappedRequests { throttle_iops, at, .. }) = said(&run, Scope::Run) else {
            panic!("a limit")
        };
        assert_eq!((throttle_iops.round(), at.points), (1e5, 1));
        // Another point of the run goes on at twice that rate.
        let others = (0..16).map(|place| specimen::visit(place, 1, 200_000 + 500 * (place as u64 % 3)));
        let mut above = run.clone();
        above.trials.extend(others);
        assert_eq!(said(&above, Scope::Run), None);
        run.trials[12] = specimen::visit(12, 0, 119_000);
        assert_eq!(said(&run, Scope::Run), None);
    }

    #[test]
    fn what_a_short_warm_up_left_of_a_write_buffer_is_no_credit() {
        let run = specimen::rounds(16, |i| if i < 7 { 1.2e5 + 900.0 * (i % 3) as f64 } else { 1e5 });
        assert!(said(&run, Scope::Run).is_some());
        let unsettled = |trial: &Trial| {
            (trial.id, crate::validity::Invalidity { check: CheckName::NotSteady, about: About::All })
        };
        let standing: TrialStanding = run.trials[..7].iter().map(unsettled).collect();
        let judged = Throttled.judge(Scope::Run, &run, &standing);
        assert!(!matches!(judged, Some(Verdict::Warning(_) | Verdict::Invalid(_))), "{judged:?}");
    }

    #[test]
    fn a_point_that_lay_at_the_cap_before_did_not_fall() {
        // A buffer that is empty in some rounds, and in none once few other points are left.
        let two = |i: usize| if [1, 4, 9].contains(&i) || i > 11 { 1e5 } else { 1.4e5 };
        assert_eq!(said(&specimen::rounds(24, |i| two(i) + 20.0 * (i % 3) as f64), Scope::Run), None);
        let once = |i: usize| if i == 4 || i > 11 { 1e5 } else { 1.4e5 + 2000.0 * (i % 3) as f64 };
        assert!(said(&specimen::rounds(24, once), Scope::Run).is_some(), "one slow trial is no level");
    }

    #[test]
    fn a_control_group_is_named_with_the_limit_that_was_reached() {
        let mut trial = specimen::healthy(iosonde_model::Rw::RandRead, 4096, 32, 4990);
        let limit = IoLimit {
            set_by: "/sys/fs/cgroup/blkio/box/blkio.throttle.read_iops_device".into(),
            device: "vda".into(),
            op: Op::Read,
            iops: Some(5000.0),
            bytes_per_s: Some(1e9),
        };
        trial.witnesses.io_limits = Some(vec![limit.clone()]);
        let Some(cause::Throttled::ControlGroup { limit_share, limit: reached }) =
            said(&specimen::run(trial), Scope::Trial(0))
        else {
            panic!("at its limit")
        };
        assert!((limit_share - 0.998).abs() < 1e-9, "{limit_share}");
        assert_eq!(reached, IoLimit { bytes_per_s: None, ..limit });
    }

    #[test]
    fn a_limit_set_in_mid_run_is_told_with_its_time_and_trials() {
        let mut run = later(specimen::rounds(16, |i| 1e5 + 100.0 * (i % 3) as f64));
        let seventh = run.trials[7].started_s;
        // Set while the seventh ran: its reading before is still without it.
        run.trials[7].witnesses.io_limits_before = Some(Vec::new());
        let Some(cause::Throttled::SetInMidRun { limit, from_s, until_s: None, limited_trials: 9 }) =
            said(&run, Scope::Run)
        else {
            panic!("a limit")
        };
        let length_s = run.trials[7].witnesses.to_s - run.trials[7].witnesses.from_s;
        assert_eq!(limit.iops, Some(300_000.0));
        assert!((from_s - seventh).abs() <= length_s, "{from_s} {seventh}");
        run.trials[12].witnesses.io_limits = Some(Vec::new());
        let Some(cause::Throttled::SetInMidRun { until_s: Some(until_s), .. }) = said(&run, Scope::Run)
        else {
            panic!("it was lifted")
        };
        assert!(until_s > run.trials[11].started_s && until_s < run.trials[13].started_s);
        // One that held all the time is no news of the run.
        run.trials.iter_mut().for_each(|trial| trial.witnesses.io_limits_before = None);
        let whole = run.trials[8].witnesses.io_limits.clone();
        run.trials.iter_mut().for_each(|trial| trial.witnesses.io_limits = whole.clone());
        assert!(!matches!(said(&run, Scope::Run), Some(cause::Throttled::SetInMidRun { .. })));
        // One that held from the start and was lifted makes the trials after it another run.
        run.trials.iter_mut().skip(10).for_each(|trial| trial.witnesses.io_limits = Some(Vec::new()));
        let Some(cause::Throttled::SetInMidRun {
            from_s, until_s: Some(until_s), limited_trials: 10, ..
        }) = said(&run, Scope::Run)
        else {
            panic!("it was lifted")
        };
        assert!(from_s <= run.trials[0].started_s + run.trials[0].witnesses.from_s);
        assert!(until_s > run.trials[9].started_s && until_s < run.trials[11].started_s);
    }

    #[test]
    fn a_bucket_in_a_long_trial_is_named_with_its_cap_and_credit() {
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let run = specimen::single(60, |i| if i < 25 { 16_000.0 * quiet(i) } else { 3000.0 });
        let Some(cause::Throttled::Fell { throttle_iops, at_s, cap: Some(cap), writes, .. }) =
            said(&run, Scope::Trial(0))
        else {
            panic!("a bucket")
        };
        // (16,000 − 3,000) × 2.6 s with the warm-up.
        assert!((at_s - 2.6).abs() < 1e-6 && (33e3..34.5e3).contains(&cap.credit_requests), "{at_s} {cap:?}");
        assert!((throttle_iops - 3000.0).abs() < 1.0 && !writes);
    }
}
