//! A pause: requests that wait for 0.8 s or more on storage that usually answers far sooner.
//!
//! A device that retries a bad sector, resets itself or loses its link answers nothing for seconds, and then
//! continues normally. In a mean over half a minute that is a few per cent, and in a median nothing.

use iosonde_model::{
    About, Direction, Op, Reason, Run, Sync, Trial, TrialSpec,
    cause::{LongWait, NotSteady, Waited},
};
use iosonde_stats::robust;

use super::course;

/// Longer than any queue or tail of storage that is well: a disk's slowest seek takes 25 ms, its retries seconds. Not a
/// whole second, since one may begin before a trial's first request, or just before its last window ends.
///
/// Tuned on the selftest's device for pauses (four servers of 1 ms, trials of 0.2 s): with 1 s, pauses of a second were
/// found in 86 % of 87 runs, whose seeds are not recorded. With 0.8 s, in all of 1,000 runs of other seeds
/// (docs/checks.md). Pauses of 0.8 to 1 s were not measured.
const PAUSE_NS: f64 = 8e8;
/// Times the usual latency: 32 requests in line on one disk wait 0.3 s, and 5 s would not be a pause.
const TIMES_USUAL: f64 = 20.0;

/// Finds a pause within a trial, or beside what was counted of it.
pub(super) fn seen(trial: &Trial, run: &Run) -> Option<Reason> {
    let within = Op::DIRECTIONS
        .into_iter()
        .filter_map(|op| Some((op, trial.direction(op)?)))
        .filter_map(|(op, direction)| Some((op, direction, direction.latency_ns.max? as f64)))
        .max_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((op, direction, longest_ns)) = within.filter(|found| found.2 >= PAUSE_NS) {
        let usual_ns = usual_ns(trial, op, run)?;
        let long = longest_ns >= TIMES_USUAL * usual_ns;
        return long.then(|| within_trial(trial, op, direction, longest_ns, usual_ns));
    }
    beside(trial, run)
}

/// What half of a point's requests take, over its trials: in the trial with the pause itself, half may have waited.
fn usual_ns(trial: &Trial, op: Op, run: &Run) -> Option<f64> {
    let own = |other: &&Trial| other.point == trial.point && other.spec == trial.spec;
    let middle = |trial: &Trial| {
        let latency = &trial.direction(op)?.latency_ns;
        latency.p50.or(latency.mean)
    };
    robust::median(&run.trials.iter().filter(own).filter_map(middle).collect::<Vec<_>>())
}

fn within_trial(trial: &Trial, op: Op, direction: &Direction, longest_ns: f64, usual_ns: f64) -> Reason {
    let half = longest_ns / 2.0;
    let waited: u64 = direction.histogram.buckets().filter(|bucket| bucket.0 >= half).map(|b| b.2).sum();
    let facts = Waited { op, longest_ns, usual_ns, waited };
    if 2 * waited >= trial.spec.asked_in_flight() {
        Reason::new(About::All, NotSteady::Pause(LongWait::Everything(facts)))
    } else {
        Reason::new(About::Latency, NotSteady::Pause(LongWait::Single(facts)))
    }
}

/// Before or after what was counted: the figures do not hold it, but the storage did it.
fn beside(trial: &Trial, run: &Run) -> Option<Reason> {
    if run.info.is_imported() || trial.spec.streams().any(waits_otherwise) {
        return None;
    }
    let latency_ns = trial.directions().filter_map(|(_, direction)| direction.latency_ns.mean);
    let patience_s = (TIMES_USUAL * latency_ns.reduce(f64::max)? / 1e9).max(PAUSE_NS / 1e9);
    // What was measured is nine tenths of what was planned; where the warm-up is at its bounds, that does not matter.
    let planned_ns = Trial::usual_warm_up_ns((trial.measured_s * 1e9 * 10.0 / 9.0) as u64);
    let planned_s = planned_ns as f64 / 1e9 + trial.settling_s;
    // A warm-up ends with the first completion after its time; by hand it can be of any length.
    let before_s = if course::is_single(run) { 0.0 } else { trial.warmup_s - planned_s };
    let after_s = trial.elapsed_s - trial.delay_s() - trial.warmup_s - trial.measured_s;
    let before = before_s >= after_s;
    let paused_s = before_s.max(after_s);
    (paused_s >= patience_s).then(|| {
        let pause = LongWait::Beside { longest_ns: paused_s * 1e9, before };
        Reason::new(About::Device, NotSteady::Pause(pause))
    })
}

/// For the next moment that something is due, or for a flush, which may write out all that went before.
fn waits_otherwise(stream: &TrialSpec) -> bool {
    stream.rate_iops.is_some() || stream.sync != Sync::None
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Cause, Histogram, LatencySummary};
    use iosonde_testkit::specimen;

    use super::*;

    /// The usual trial, of which so many requests took 3 s.
    fn with_pauses(count: u64) -> Trial {
        let mut trial = specimen::usual();
        let read = trial.read.as_mut().unwrap();
        let mut histogram = Histogram::new();
        (0..10_000).for_each(|_| histogram.record(320_000));
        (0..count).for_each(|_| histogram.record(3_000_000_000));
        (read.latency_ns, read.histogram) = (LatencySummary::of(&histogram), histogram);
        trial
    }

    fn of(trial: &Trial, run: &Run) -> Option<LongWait> {
        seen(trial, run).map(|reason| match reason.cause {
            Cause::NotSteady(NotSteady::Pause(pause)) => pause,
            other => panic!("{other:?}"),
        })
    }

    fn alone(trial: Trial) -> Option<LongWait> {
        let run = specimen::run(trial);
        of(&run.trials[0], &run)
    }

    #[test]
    fn everything_in_flight_waited_or_one_request_did() {
        assert_eq!(alone(specimen::usual()), None);
        let Some(LongWait::Everything(all)) = alone(with_pauses(32)) else { panic!("all waited") };
        assert_eq!((all.op, all.longest_ns, all.waited), (Op::Read, 3e9, 32));
        let Some(LongWait::Single(one)) = alone(with_pauses(1)) else { panic!("one waited") };
        assert_eq!((one.longest_ns, one.waited), (3e9, 1));
        assert!((3e5..3.4e5).contains(&one.usual_ns), "{one:?}");
    }

    /// It begins before the first request of a trial, or ends after the last: each is asked by what it saw of it.
    #[test]
    fn a_pause_of_a_second_need_not_lie_wholly_within_a_trial() {
        let longest = |longest_ns: u64| {
            let mut trial = specimen::usual();
            let read = trial.read.as_mut().unwrap();
            let mut histogram = Histogram::new();
            (0..10_000).for_each(|_| histogram.record(320_000));
            (0..32).for_each(|_| histogram.record(longest_ns));
            (read.latency_ns, read.histogram) = (LatencySummary::of(&histogram), histogram);
            alone(trial)
        };
        assert!(
            matches!(longest(850_000_000), Some(LongWait::Everything(waited)) if waited.longest_ns == 850_000_000.0)
        );
        assert_eq!(longest(700_000_000), None);
    }

    #[test]
    fn a_deep_queue_on_a_slow_disk_is_no_pause() {
        // 1,024 in line at 100 a second: each waits for ten seconds.
        assert_eq!(alone(specimen::healthy(iosonde_model::Rw::RandRead, 4096, 1024, 100)), None);
    }

    #[test]
    fn a_trial_that_holds_little_but_the_pause_is_judged_by_the_others_of_its_point() {
        let mut run = specimen::rounds(8, |_| 1e5);
        let mut stalled = with_pauses(20_000);
        (stalled.id, stalled.point) = (9, Some(0));
        run.trials.push(stalled);
        assert!(seen(run.trials.last().unwrap(), &run).is_some());
        assert!(run.trials[..8].iter().all(|trial| seen(trial, &run).is_none()));
    }

    #[test]
    fn a_pause_beside_what_was_counted_is_named_too() {
        let mut run = specimen::rounds(8, |_| 1e5);
        run.trials[3].warmup_s = 3.1;
        run.trials[3].elapsed_s += 3.0;
        let beside = |place: usize, run: &Run| match of(&run.trials[place], run) {
            Some(LongWait::Beside { longest_ns, before }) => ((longest_ns / 1e7).round() as u64, before),
            other => panic!("{other:?}"),
        };
        assert_eq!(beside(3, &run), (299, true));
        run.trials[4].elapsed_s += 2.0;
        assert_eq!(beside(4, &run), (200, false));
        // The schedule may ask for a longer one.
        run.trials[3].settling_s = 3.0;
        assert!(seen(&run.trials[3], &run).is_none());
        run.trials[3].settling_s = 0.0;
        // By hand a warm-up is as long as one likes.
        run.info.study_source = String::new();
        assert!(seen(&run.trials[3], &run).is_none());
    }
}
