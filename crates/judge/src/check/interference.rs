//! Interference: another program used the storage, or the processors, during a trial.
//!
//! Looks at: the bytes that the block layer moved beyond ours. This is possible with direct I/O only: buffered I/O
//! reads ahead and writes back more than was requested. Also at:
//! - the share of processor time that a hypervisor took (steal), and in which some task waited for a processor
//!   (pressure), and whether the system signalled that memory was short (Windows, macOS);
//! - on a network file system, what its mount exchanged and had to send again;
//! - over a run, windows in which the throughput collapsed (not those of canaries that read right after one of the
//!   run's own writes, nor of trials right after others of the run that wrote more than they do).
//!
//! Rule: a trial is invalid where other I/O was 5 % of our bytes and at least 1 MiB. Reading the counters beside
//! the trial is off by less than 0.8 %, and 10 % must not be missed. A trial that reached a control group's limit
//! is left to `throttled`: the limit hides what other I/O beside it costs, and the trial is not checked. It is
//! invalid, too, where the hypervisor took 10 % of the processors' time. It is a warning from 5 %, or where tasks
//! waited for a processor in a quarter of the time. Where this program used half of the busy processor time and
//! more, its own threads are what waited, and the advice is to have fewer of them. One request that a network file
//! system sent again is a warning, too, since it waits as long as the mount's timeout says (60 s over TCP, by default).
//!
//! A neighbour that no counter shows (another guest on the host) appears in the windows of a run. The sign is
//! stretches of two windows and more, in three places or more and for 0.5 % of the time or more, that are both 5
//! standard deviations and 20 % below the point's usual level. A point that is slow far more often than all others
//! together (a binomial test at a chance of 1 in 1,000 for the run) has two rates of its own. Nor does a stretch count
//! that is one whole trial, from its beginning to its end: no neighbour comes and goes with a trial. The starts are
//! called regular where each gap is a whole multiple of the median one within 15 %. Of several hosts, how many were
//! slow at once is told: all, where the storage or its network has another user. Where half and fewer of three or more
//! were, it is left to `host-slowed`.
//!
//! Not checked without the device's counters, for buffered I/O (other I/O cannot be separated from its own), and
//! without the hypervisor's share or the pressure.
//!
//! Verdict: invalid trials are repeated within the round and counted nowhere. Stretches of a run are a warning
//! about the throughput: the estimates exclude these trials, and the check `outliers` counts them.
//!
//! Measured: see docs/checks.md. A neighbour that takes half of the storage for a fifth of the time is detected in
//! 95 % and more of runs. Other I/O of 10 % is always detected where a trial moves 13 MB and more, and in nine of
//! ten runs beside smaller trials, since less than 1 MiB is ignored.
//!
//! Example: a "peculiar divot" at depth 32 of a sweep of single runs. One stretch of other I/O would cause it, and
//! the report did not check.
//!
//! What to do: find the process (`iotop`, the host's other guests), or measure when it is quiet. A regular stretch
//! is a scheduled job, or the device's own garbage collection.

use iosonde_model::{
    About, CheckName, Op, Reason, Run, Scope, Sync, Trial, Verdict, Window,
    cause::{self, CountedAt, Missing},
};

use super::{
    Check, at_limit, counted, course, host_windows, judged,
    slow_periods::{Found, Observed, REQUESTS_MIN, Slice, WINDOWS_MIN, whole_windows},
};
#[cfg(test)]
use super::{Specimens, specimen};

/// Share of our bytes; see the manual page above.
const OTHERS_SHARE: f64 = 0.05;
/// Less is ignored: it may be a log that was written.
const OTHERS_MIN_BYTES: u64 = 1 << 20;
const STEAL_DOUBT: f64 = 0.05;
const STEAL_VOID: f64 = 0.10;
const PRESSURE_DOUBT: f64 = 0.25;

pub(super) struct Interference;

impl Check for Interference {
    fn id(&self) -> CheckName {
        CheckName::Interference
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        match scope {
            Scope::Trial(_) => {
                judged::measuring(scope, run).map(|trial| of_trial(&counted::witnessed(trial, run), run))
            }
            Scope::Run => (run.trials.len() > 1).then(|| of_run(run)),
            Scope::Point(_) => None,
        }
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |change: fn(&mut Trial)| {
            let mut trial = specimen::usual();
            change(&mut trial);
            specimen::run(trial)
        };
        let visited = |every: usize| {
            let mut run = specimen::rounds(40, |i| 1e5 + 100.0 * (i % 7) as f64);
            for trial in run.trials.iter_mut().skip(3).step_by(every) {
                trial.windows[4..8].iter_mut().for_each(|window| slow(window, 2));
            }
            run
        };
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                specimen::rounds(40, |i| 1e5 + 100.0 * (i % 7) as f64),
                with(|trial| trial.witnesses.steal_share = Some(0.02)),
                with(|trial| on_a_network(trial, 0)),
                visited(100),
            ],
            warning: vec![
                with(|trial| trial.witnesses.steal_share = Some(0.07)),
                with(|trial| trial.witnesses.pressure_cpu_some_share = Some(0.4)),
                with(|trial| trial.witnesses.memory_short = Some(true)),
                with(|trial| trial.witnesses.network_retransmissions = Some(3)),
                visited(8),
            ],
            invalid: vec![
                with(|trial| *trial.witnesses.block_layer_read_bytes.as_mut().expect("counted") += 60 << 20),
                with(|trial| trial.witnesses.block_layer_write_bytes = Some(90 << 20)),
                with(|trial| trial.witnesses.steal_share = Some(0.3)),
                with(|trial| on_a_network(trial, 60 << 20)),
            ],
            not_checked: vec![
                with(|trial| {
                    let witnesses = &mut trial.witnesses;
                    (witnesses.block_layer_read_bytes, witnesses.block_layer_write_bytes) = (None, None);
                }),
                with(|trial| trial.witnesses.steal_share = None),
                with(|trial| trial.witnesses.pressure_cpu_some_share = None),
                // What was read ahead is nobody else's, and hides what is.
                specimen::run(specimen::buffered(Some(4 << 30), Some(0))),
                // Ten requests a window scatter by a third of themselves.
                specimen::rounds(8, |_| 100.0),
            ],
        }
    }
}

/// For a specimen: a mount's counters in the place of a device's, with so many bytes of others.
#[cfg(test)]
fn on_a_network(trial: &mut Trial, others_bytes: u64) {
    let witnesses = &mut trial.witnesses;
    let (read, write) = (witnesses.block_layer_read_bytes.take(), witnesses.block_layer_write_bytes.take());
    witnesses.network_read_bytes = read.map(|bytes| bytes + others_bytes);
    witnesses.network_write_bytes = write;
}

/// For a specimen: a window at a `part` of its rate.
#[cfg(test)]
fn slow(window: &mut iosonde_model::Window, part: u64) {
    if let Some(read) = &mut window.read {
        read.ios /= part;
    }
}

fn of_trial(trial: &Trial, run: &Run) -> Verdict {
    let witnesses = &trial.witnesses;
    let others = others_bytes(trial, run);
    let issued_bytes = witnesses.issued_read_bytes + witnesses.issued_write_bytes;
    let share = others.map(|bytes| bytes as f64 / issued_bytes.max(1) as f64);
    let mut at_limit = None;
    if let (Some(bytes), Some(share)) = (others, share)
        && bytes >= OTHERS_MIN_BYTES
        && share >= OTHERS_SHARE
    {
        let counted_at = match witnesses.block_layer_read_bytes {
            Some(_) => CountedAt::Device(witnesses.block_layer_device.clone()),
            None => CountedAt::Mount,
        };
        // A limit that the trial reached set its rate, with or without other I/O: `throttled` reports it.
        if at_limit::reached(trial).next().is_none() {
            let moved = cause::Interference::OtherBytes { others_bytes: bytes, issued_bytes, counted_at };
            return Verdict::Invalid(Reason::new(About::All, moved));
        }
        at_limit = Some(cause::Interference::AtLimit { others_bytes: bytes, issued_bytes });
    }
    if let Some(steal_share) = witnesses.steal_share.filter(|&steal| steal >= STEAL_DOUBT) {
        let reason = Reason::new(About::All, cause::Interference::Steal { steal_share });
        return if steal_share >= STEAL_VOID { Verdict::Invalid(reason) } else { Verdict::Warning(reason) };
    }
    let waited = witnesses.pressure_cpu_some_share.filter(|&share| share >= PRESSURE_DOUBT);
    if let Some(pressure_cpu_some_share) = waited {
        let own_cpu_share = own_cpu_share(trial, run.info.host.cpus);
        let pressure = cause::Interference::CpuPressure { pressure_cpu_some_share, own_cpu_share };
        return Verdict::Warning(Reason::new(About::Device, pressure));
    }
    if witnesses.memory_short == Some(true) {
        return Verdict::Warning(Reason::new(About::Device, cause::Interference::MemoryShort));
    }
    if let Some(retransmissions) = witnesses.network_retransmissions.filter(|&again| again > 0) {
        let again = cause::Interference::Retransmissions { retransmissions };
        return Verdict::Warning(Reason::new(About::Latency, again));
    }
    let missing = missing(trial, others);
    let unseen = (!missing.is_empty()).then_some(cause::Interference::Unseen { missing });
    match at_limit.or(unseen) {
        Some(why) => Verdict::NotChecked(Reason::new(About::Rate, why)),
        None => Verdict::Pass,
    }
}

/// This program's share of the processor time that all programs used. Several hosts have processors of their own, whose
/// sum is not kept.
fn own_cpu_share(trial: &Trial, cpus: Option<u32>) -> Option<f64> {
    let seen = &trial.witnesses;
    let all_s = seen.machine_busy_share? * f64::from(cpus?) * (seen.to_s - seen.from_s);
    let own_s = trial.cpu_user_s? + trial.cpu_system_s?;
    (seen.hosts.is_none() && all_s > 0.0).then(|| (own_s / all_s).min(1.0))
}

/// Witnesses of others' work that are missing.
fn missing(trial: &Trial, others: Option<u64>) -> Vec<Missing> {
    let witnesses = &trial.witnesses;
    let parts = [
        (others.is_none() && trial.spec.direct, Missing::DeviceCounters),
        (others.is_none() && !trial.spec.direct, Missing::UncachedCounters),
        (witnesses.steal_share.is_none(), Missing::Steal),
        (witnesses.pressure_cpu_some_share.is_none(), Missing::CpuPressure),
    ];
    parts.into_iter().filter_map(|(is_missing, witness)| is_missing.then_some(witness)).collect()
}

/// What the device moved beyond our requests; `None` where that cannot be separated from our own I/O.
fn others_bytes(trial: &Trial, run: &Run) -> Option<u64> {
    let witnesses = &trial.witnesses;
    // A network file system's mount counts in the place of a device.
    let (read, write) = match (witnesses.block_layer_read_bytes, witnesses.block_layer_write_bytes) {
        (None, None) => (witnesses.network_read_bytes?, witnesses.network_write_bytes?),
        (read, write) => (read?, write?),
    };
    if !trial.spec.direct {
        return None;
    }
    // A flush makes the file system write its own records, and a trim moves no data: then only reads are others'.
    let own_records = trial.spec.streams().any(|stream| stream.sync != Sync::None || stream.has(Op::Trim));
    // What an earlier trial left in the page cache is written out whenever the kernel likes.
    let left_dirty = |earlier: &Trial| !earlier.spec.direct && earlier.spec.changes();
    let own_pages = || run.trials.iter().take_while(|earlier| earlier.id < trial.id).any(left_dirty);
    // Asked for every trial after every trial: earlier ones are looked through only where something needs a reason.
    let written = match write.saturating_sub(witnesses.issued_write_bytes) {
        0 => 0,
        _ if own_records || own_pages() => 0,
        written => written,
    };
    Some(read.saturating_sub(witnesses.issued_read_bytes) + written)
}

fn of_run(run: &Run) -> Verdict {
    let slices = |trial: &Trial| {
        let slice = |(window, own): (usize, &Window)| {
            let requests = course::completed(own) as f64;
            Slice { window, requests, log: course::log(requests / own.length_s) }
        };
        whole_windows(trial).map(slice).collect()
    };
    let slow = match Observed::of(run).slow_periods(None, slices) {
        Found::TooFewWindows => {
            let (windows_needed, requests_needed) = (WINDOWS_MIN, REQUESTS_MIN);
            let too_few = cause::Interference::TooFewWindows { windows_needed, requests_needed };
            return Verdict::NotChecked(Reason::new(About::Rate, too_few));
        }
        Found::Even => return Verdict::Pass,
        Found::Slow(slow) => slow,
    };
    let hosts = host_windows::slowed(run, slow.windows());
    if hosts.is_some_and(|hosts| hosts.are_few()) {
        // One host's own matter, which `host-slowed` tells.
        return Verdict::Pass;
    }
    let stalls = cause::Interference::Stalls {
        stretches: slow.count(),
        length_s: slow.length_s(),
        loss_share: slow.loss_share(),
        time_share: slow.time_share,
        period_s: slow.period_s(),
        hosts,
    };
    Verdict::Warning(Reason::new(About::Rate, stalls))
}

#[cfg(test)]
mod tests {
    use super::{super::slow_periods::WHOLE_MIN, *};

    #[test]
    fn others_bytes_do_not_explain_a_trial_that_reached_a_limit() {
        let mut trial = specimen::usual();
        *trial.witnesses.block_layer_read_bytes.as_mut().unwrap() += 60 << 20;
        assert!(matches!(
            Interference.check(Scope::Trial(0), &specimen::run(trial.clone())),
            Some(Verdict::Invalid(_))
        ));
        trial.witnesses.io_limits = Some(vec![iosonde_model::IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".into(),
            device: "vda".into(),
            op: Op::Read,
            iops: Some(100_000.0),
            bytes_per_s: None,
        }]);
        let at_limit = cause::Interference::AtLimit { others_bytes: 60 << 20, issued_bytes: 110_000 * 4096 };
        assert_eq!(
            Interference.check(Scope::Trial(0), &specimen::run(trial.clone())),
            Some(Verdict::NotChecked(Reason::new(About::Rate, at_limit)))
        );
        // Without other I/O, the limit hides nothing.
        *trial.witnesses.block_layer_read_bytes.as_mut().unwrap() -= 60 << 20;
        assert_eq!(Interference.check(Scope::Trial(0), &specimen::run(trial)), Some(Verdict::Pass));
    }

    #[test]
    fn others_bytes_are_counted() {
        let mut trial = specimen::usual();
        // 110,000 reads of 4 KiB are 450.6 MB; 62.9 MB more were moved.
        *trial.witnesses.block_layer_read_bytes.as_mut().unwrap() += 60 << 20;
        let Verdict::Invalid(reason) = of_trial(&trial, &specimen::run(trial.clone())) else {
            panic!("another reader")
        };
        let moved = cause::Interference::OtherBytes {
            others_bytes: 60 << 20,
            issued_bytes: 110_000 * 4096,
            counted_at: CountedAt::Device(Some("vda".into())),
        };
        assert_eq!(reason, Reason::new(About::All, moved));
    }

    #[test]
    fn what_a_mount_sent_again_is_no_latency_of_the_storage() {
        let mut trial = specimen::usual();
        trial.witnesses.network_retransmissions = Some(1);
        let Verdict::Warning(reason) = of_trial(&trial, &specimen::run(trial.clone())) else {
            panic!("sent again")
        };
        let again = cause::Interference::Retransmissions { retransmissions: 1 };
        assert_eq!(reason, Reason::new(About::Latency, again));
        trial.witnesses.network_retransmissions = Some(0);
        assert_eq!(of_trial(&trial, &specimen::run(trial.clone())), Verdict::Pass);
    }

    #[test]
    fn what_earlier_trials_left_in_memory_is_nobody_elses() {
        let mut direct = specimen::usual();
        direct.id = 2;
        direct.witnesses.block_layer_write_bytes = Some(90 << 20);
        let mut run = specimen::run(direct);
        assert!(matches!(of_trial(&run.trials[0], &run), Verdict::Invalid(_)));
        let mut buffered = specimen::healthy(iosonde_model::Rw::Write, 1 << 20, 1, 2000);
        (buffered.id, buffered.spec.direct) = (1, false);
        run.trials.insert(0, buffered);
        assert_eq!(of_trial(&run.trials[1], &run), Verdict::Pass);
    }

    /// Strided writes that meet one unit or two, pass by pass, are slow in half of their trials; a neighbour that is
    /// there for a seventh of the time strikes every point alike.
    #[test]
    fn what_only_one_point_of_many_does_is_its_own() {
        let with = |slow_at: &dyn Fn(usize) -> bool| {
            let mut run = specimen::rounds(200, |i| 1e5 + 100.0 * (i % 7) as f64);
            for (place, trial) in run.trials.iter_mut().enumerate() {
                trial.point = Some(place % 20);
                if slow_at(place) {
                    trial.windows[2..8].iter_mut().for_each(|window| slow(window, 2));
                }
            }
            Interference.check(Scope::Run, &run)
        };
        assert_eq!(with(&|place| place % 20 == 3 && place % 40 > 20), Some(Verdict::Pass));
        assert!(matches!(with(&|place| place % 7 == 3), Some(Verdict::Warning(_))));
        // One that meets six of ten long trials, and 5 of 190 that are a tenth as long.
        let mut run = specimen::rounds(200, |i| 1e5 + 100.0 * (i % 7) as f64);
        for (place, trial) in run.trials.iter_mut().enumerate() {
            trial.point = Some(place % 20);
            if place % 20 == 3 {
                let usual = trial.windows.clone();
                trial.windows = usual.iter().cycle().take(10 * usual.len()).cloned().collect();
            }
            if [3, 23, 43].contains(&(place % 100)) || place % 37 == 5 {
                trial.windows[2..8].iter_mut().for_each(|window| slow(window, 2));
            }
        }
        assert!(matches!(Interference.check(Scope::Run, &run), Some(Verdict::Warning(_))));
    }

    #[test]
    fn trials_that_are_slow_as_a_whole_met_no_neighbour() {
        // Twenty points in turn: the trials of these places are slow in these of their windows.
        let with = |places: [usize; 3], windows: std::ops::Range<usize>, after: usize| {
            let mut run = specimen::rounds(60, |i| 1e5 + 100.0 * (i % 7) as f64);
            for (place, trial) in run.trials.iter_mut().enumerate() {
                trial.point = Some(place % 20);
                let slow_windows = match places.contains(&place) {
                    true => windows.clone(),
                    false => 0..if place > 0 && places.contains(&(place - 1)) { after } else { 0 },
                };
                trial.windows[slow_windows].iter_mut().for_each(|window| slow(window, 2));
            }
            Interference.check(Scope::Run, &run)
        };
        let places = [3, 24, 47];
        let length = specimen::rounds(1, |_| 1e5).trials[0].windows.len();
        assert!(length > WHOLE_MIN + 1, "{length}");
        assert_eq!(with(places, 0..length, 0), Some(Verdict::Pass));
        assert_eq!(with(places, 1..length, 0), Some(Verdict::Pass));
        // It went on into the next trial, or began later.
        assert!(matches!(with(places, 0..length, 2), Some(Verdict::Warning(_))));
        assert!(matches!(with(places, 2..length, 0), Some(Verdict::Warning(_))));
    }

    #[test]
    fn a_regular_neighbour_is_named_with_its_period() {
        let mut run = specimen::rounds(48, |i| 1e5 + 100.0 * (i % 7) as f64);
        for trial in run.trials.iter_mut().skip(3).step_by(8) {
            trial.windows[2..8].iter_mut().for_each(|window| slow(window, 2));
        }
        let Some(Verdict::Warning(reason)) = Interference.check(Scope::Run, &run) else { panic!("seen") };
        let cause::Cause::Interference(cause::Interference::Stalls {
            stretches,
            length_s,
            loss_share,
            time_share,
            period_s,
            hosts: _,
        }) = reason.cause
        else {
            panic!("{reason:?}")
        };
        // Every eighth trial of 1.2 s, six windows of 100 ms at half the rate: 36 of 480.
        let near =
            |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 0.01, "{value} {expected}");
        assert_eq!(stretches, 6);
        near(length_s, 0.6);
        near(loss_share, 0.5);
        near(time_share, 0.075);
        near(period_s.expect("it is regular"), 9.6);
    }
}
