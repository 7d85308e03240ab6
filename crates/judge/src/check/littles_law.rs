//! Throughput, latency and queue depth that contradict each other.
//!
//! Looks at: throughput × mean latency, summed over reads and writes, against the queue depth: as counted where it
//! was counted, as requested otherwise.
//!
//! Rule: in any system, over any interval of time, the mean number of requests inside is their throughput times the
//! mean time they spend inside (Little, Operations Research 9 (1961) 383). Nothing is assumed about the storage. A
//! finite interval differs by the requests that cross its edges: at most the longest latency as a share of the
//! measured time. That share and 5 % are allowed.
//!
//! Not checked where that share exceeds a half. Nor where the law falls short of the counted depth and fewer than
//! 20 requests completed for each outstanding one. A disk that serves the nearest request first delays some
//! requests for the whole of a short trial.
//!
//! Queue depth 1 of each job in a table that counted nothing: what is missing is the program's own time between
//! requests, when none was outstanding. That is a warning about the throughput, not about the depth. Where the law is
//! missed by a thousand or a million, a unit was misread, and the verdict says so.
//!
//! Where a file does not state whether a rate or pauses limited the load (fio's text), a depth below the requested one
//! is a warning.
//!
//! Another tool's result of a blocking engine (psync, mmap and the like) with a requested depth above 1: invalid as a
//! figure for that depth, since those engines send one request at a time. So does libaio without direct I/O.
//!
//! Verdict: against the counted depth, latency is invalid: it leaves out part of the time. Against the requested
//! depth, depth is invalid: either it was not reached, or the latency leaves out part of the time.
//!
//! Example: 82.2 k × 260 µs + 81.8 k × 187 µs = a queue depth of 37, where 64 was requested: the mixed 4 KiB row of
//! a published table. Its rows of 64 and 128 KiB requests give 63 of 64 and are believable.
//!
//! What to do: use the queue depth that the law gives. Look for a queue above the one that was timed: submission
//! that blocks, a limit of the controller, a thread pool that is too small.

#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, CheckName, Reason, Run, Scope, Trial, Unstated, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::mean_depth;

/// Share of the queue depth by which the law may be missed, beside the edges.
const TOLERANCE: f64 = 0.05;
/// Largest share of the measured time that one request may take.
const EDGE_MAX: f64 = 0.5;
/// Share of the time at QD 1 that a program may spend between requests before the figures are of
/// something else.
const IDLE_MIN: f64 = 0.5;

/// Completions per outstanding request, below which requests that a scheduler delayed for the whole of a trial
/// (a disk's arm that goes where it is nearest) may explain the difference: at QD 8, 1,600. (20 were too few: at QD 4
/// of a simulated disk, one request waited for a hundred others.)
const COMPLETIONS_MIN: f64 = 200.0;

pub(super) struct LittlesLaw;

impl Check for LittlesLaw {
    fn id(&self) -> CheckName {
        CheckName::LittlesLaw
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let blocking = |trial: &&Trial| run.info.is_imported() && blocks(trial);
        let trial = judged::measuring(scope, run)?;
        Some(
            Some(trial)
                .filter(blocking)
                .map_or_else(|| verdict(trial, run.info.is_imported()), one_at_a_time),
        )
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let table = |queue_depth, reads: (u64, u64), writes: (u64, u64)| {
            specimen::run(published(queue_depth, 4096, reads, writes))
        };
        let mut wait_left_out = specimen::usual();
        wait_left_out.read = Some(specimen::direction(100_000, 4096, 200_000));
        let mut slow = specimen::healthy(Rw::RandRead, 4 << 20, 8, 4);
        slow.in_flight_mean = Some(8.0);
        let mut silent = specimen::usual();
        silent.read = Some(specimen::direction(0, 4096, 320_000));
        // 119 requests of 17.8 ms in a second are a mean depth of 2.1: the others of the 8 never came back.
        let mut blocking = specimen::tabled();
        (blocking.spec.engine, blocking.spec.queue_depth) = ("psync".into(), 32);
        // Linux's AIO waits in the submission of a buffered request; in direct I/O it does not.
        let mut buffered = specimen::tabled();
        (buffered.spec.engine, buffered.spec.direct) = ("libaio".into(), false);
        let mut bypassing = buffered.clone();
        bypassing.spec.direct = true;
        let mut unstated = specimen::tabled();
        unstated.unstated = vec![Unstated::QueueDepth];
        let mut passed_over = specimen::healthy(Rw::RandRead, 4096, 8, 119);
        passed_over.read = Some(specimen::direction(119, 4096, 17_800_000));
        passed_over.in_flight_mean = Some(8.0);
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                specimen::run(specimen::healthy(Rw::RandRw, 4096, 16, 20_000)),
                specimen::run(specimen::tabled()),
                specimen::imported(bypassing),
                // 19.7 k × 1,167 µs + 20.1 k × 1,993 µs = 63 of 64.
                specimen::run(published(64, 65_536, (19_700, 1_167_000), (20_100, 1_993_000))),
            ],
            invalid: vec![
                table(64, (82_200, 260_000), (81_800, 187_000)),
                table(16, (76_100, 128_000), (75_600, 52_000)),
                table(256, (86_100, 829_000), (85_700, 731_000)),
                table(1024, (88_100, 2_981_000), (87_600, 2_880_000)),
                specimen::run(wait_left_out),
                specimen::imported(blocking),
                specimen::imported(buffered),
            ],
            // Its requests take 2 s each in a trial of 1 s.
            not_checked: vec![
                specimen::run(slow),
                specimen::run(silent),
                specimen::run(passed_over),
                specimen::imported(unstated),
            ],
            ..Specimens::default()
        }
    }
}

/// A row of a published table, without a count of outstanding requests.
#[cfg(test)]
fn published(queue_depth: u32, block_size_bytes: u64, reads: (u64, u64), writes: (u64, u64)) -> Trial {
    let mut trial = specimen::healthy(Rw::RandRw, block_size_bytes, queue_depth, 1000);
    trial.read = Some(specimen::direction(reads.0, block_size_bytes, reads.1));
    trial.write = Some(specimen::direction(writes.0, block_size_bytes, writes.1));
    trial.in_flight_mean = None;
    trial
}

/// Engines of fio and others that wait for each request before the next.
const BLOCKING: [&str; 7] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];

/// Whether another tool's result asks a blocking engine for a depth.
fn blocks(trial: &Trial) -> bool {
    let (spec, knows_cache) = (&trial.spec, !trial.unstated.contains(&Unstated::PageCache));
    let is_blocking = BLOCKING.contains(&spec.engine.as_str());
    // Linux's AIO waits in the submission of a buffered request.
    let waits_to_submit = spec.engine == "libaio" && !spec.direct && knows_cache;
    spec.queue_depth > 1 && spec.and.is_empty() && (is_blocking || waits_to_submit)
}

fn one_at_a_time(trial: &Trial) -> Verdict {
    let (engine, jobs) = (trial.spec.engine.clone(), u64::from(trial.spec.jobs));
    let blocking = cause::LittlesLaw::Blocking { engine, jobs, asked: trial.spec.asked_in_flight() };
    Verdict::Invalid(Reason::new(About::Depth, blocking))
}

fn verdict(trial: &Trial, is_imported: bool) -> Verdict {
    let asked = trial.asked_in_flight_mean();
    let abstain = |cause: cause::LittlesLaw| Verdict::NotChecked(Reason::new(About::Depth, cause));
    if trial.spec.streams().any(|stream| stream.rate_iops.is_some()) {
        return abstain(cause::LittlesLaw::Paced);
    }
    if trial.in_flight_mean.is_none() && !trial.keeps_depth() {
        let unstated = trial.unstated.contains(&Unstated::QueueDepth);
        return abstain(if unstated { cause::LittlesLaw::Unstated } else { cause::LittlesLaw::Uncounted });
    }
    let (terms, longest_ns) = mean_depth::terms(trial);
    let are_numbers = |term: &cause::Term| (term.iops * term.latency_ns_mean).is_finite();
    if terms.is_empty() || !terms.iter().all(are_numbers) {
        return abstain(cause::LittlesLaw::NoLatency);
    }
    // A table that does not say for how long was hardly made of trials as short as that. Another tool's runtime is
    // rounded to a millisecond.
    let rounded_ns = if is_imported { 1e6 } else { 0.0 };
    let edge =
        if trial.measured_s > 0.0 { (longest_ns + rounded_ns) / (trial.measured_s * 1e9) } else { 0.0 };
    if edge.is_nan() || edge > EDGE_MAX {
        return abstain(cause::LittlesLaw::LongRequests { longest_ns, measured_s: trial.measured_s });
    }
    let in_flight = mean_depth::by_littles_law(&terms);
    let (expected, about) = match trial.in_flight_mean {
        Some(counted) => (counted, About::Latency),
        None => (asked, About::Depth),
    };
    if (in_flight / expected - 1.0).abs() <= TOLERANCE + edge {
        return Verdict::Pass;
    }
    let requests: u64 = trial.directions().map(|(_, direction)| direction.ios).sum();
    if let Some(counted) = trial.in_flight_mean
        && in_flight < counted
        && (requests as f64) < COMPLETIONS_MIN * asked
    {
        return abstain(cause::LittlesLaw::TooFewRequests { requests, counted });
    }
    let is_one_each = trial.spec.streams().all(|stream| stream.queue_depth == 1);
    let has_open_load = trial.unstated.contains(&Unstated::Load);
    if trial.in_flight_mean.is_none()
        && is_one_each
        && !has_open_load
        && (IDLE_MIN..1.0).contains(&(in_flight / asked))
    {
        return Verdict::Warning(Reason::new(about, cause::LittlesLaw::Idle { in_flight, expected, terms }));
    }
    // A tool's own output states its units; of a table, somebody may have taken them wrongly.
    let is_table = trial.measured_s == 0.0 || requests == 0;
    let misread_thousands = misread(in_flight / expected).filter(|_| is_table);
    // A rate or pauses, which the file does not state, make a queue shorter, and never longer.
    let may_wait = has_open_load && in_flight < expected;
    let missed = cause::LittlesLaw::Missed { in_flight, expected, misread_thousands, may_wait, terms };
    let missed = Reason::new(about, missed);
    if may_wait { Verdict::Warning(missed) } else { Verdict::Invalid(missed) }
}

/// The power of a thousand of a slip between ns, µs, ms and s.
fn misread(ratio: f64) -> Option<i32> {
    let thousands = (ratio.log10() / 3.0).round();
    // Three times too many or too few is still that slip; nothing else is off by hundreds.
    let slip = thousands != 0.0 && (ratio.log10() - 3.0 * thousands).abs() < 0.5;
    (slip && thousands.abs() <= 3.0).then_some(thousands as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_was_misread_is_named() {
        let mut trial = published(32, 4096, (50_000, 320_000_000_000), (50_000, 320_000_000_000));
        trial.measured_s = 0.0;
        let Verdict::Invalid(reason) = verdict(&trial, false) else { panic!("32 million are not 32") };
        let cause::Cause::LittlesLaw(cause::LittlesLaw::Missed { misread_thousands, .. }) = reason.cause
        else {
            panic!("{reason:?}")
        };
        assert_eq!(misread_thousands, Some(2), "a million times too large");
        // A program that counted requests for a while stated its units: it kept no such depth.
        let own = published(32, 4096, (50_000, 320), (50_000, 320));
        let Verdict::Invalid(reason) = verdict(&own, false) else { panic!("0.032 are not 32") };
        let cause::Cause::LittlesLaw(cause::LittlesLaw::Missed { misread_thousands, .. }) = reason.cause
        else {
            panic!("{reason:?}")
        };
        assert_eq!(misread_thousands, None);
        assert_eq!((misread(0.6), misread(30.0), misread(1e-3)), (None, None, Some(-1)));
    }

    #[test]
    fn one_at_a_time_what_is_missing_is_the_programs() {
        let mut trial = specimen::tabled();
        trial.spec.queue_depth = 1;
        trial.read.as_mut().unwrap().iops = 280_000.0;
        trial.read.as_mut().unwrap().latency_ns.mean = Some(3_000.0);
        let Verdict::Warning(reason) = verdict(&trial, false) else { panic!("0.84 of one") };
        let terms = vec![cause::Term { iops: 280_000.0, latency_ns_mean: 3_000.0 }];
        let idle = cause::LittlesLaw::Idle { in_flight: 0.84, expected: 1.0, terms };
        assert_eq!(reason, Reason::new(About::Depth, idle));
    }

    #[test]
    fn what_each_of_several_jobs_does_between_its_requests_is_no_missing_depth() {
        let mut trial = specimen::tabled();
        (trial.spec.queue_depth, trial.spec.jobs) = (1, 4);
        trial.read.as_mut().unwrap().iops = 1_120_000.0;
        trial.read.as_mut().unwrap().latency_ns.mean = Some(3_000.0);
        let Verdict::Warning(reason) = verdict(&trial, false) else { panic!("3.36 of four") };
        let terms = vec![cause::Term { iops: 1_120_000.0, latency_ns_mean: 3_000.0 }];
        let idle = cause::LittlesLaw::Idle { in_flight: 3.36, expected: 4.0, terms };
        assert_eq!(reason, Reason::new(About::Depth, idle));
    }

    #[test]
    fn a_shorter_queue_may_be_of_a_rate_that_the_file_does_not_state() {
        let mut trial = published(16, 4096, (400, 3_000), (400, 3_000));
        assert!(matches!(verdict(&trial, true), Verdict::Invalid(_)));
        trial.unstated = vec![Unstated::Load];
        assert!(matches!(verdict(&trial, true), Verdict::Warning(_)));
        // No pause makes a queue longer.
        let mut longer = published(16, 4096, (50_000, 320_000), (50_000, 320_000));
        longer.unstated = vec![Unstated::Load];
        assert!(matches!(verdict(&longer, true), Verdict::Invalid(_)));
    }

    #[test]
    fn a_run_of_a_millisecond_has_no_rate_to_compare() {
        let mut trial = published(1, 4096, (100_000, 1_460), (100_000, 1_460));
        trial.measured_s = 1e-3;
        assert!(matches!(verdict(&trial, true), Verdict::NotChecked(_)));
        assert!(matches!(verdict(&trial, false), Verdict::Invalid(_)));
    }

    #[test]
    fn the_product_is_worked_out_from_the_table() {
        let trial = published(64, 4096, (82_200, 260_000), (81_800, 187_000));
        let Verdict::Invalid(reason) = verdict(&trial, false) else { panic!("37 are not 64") };
        let cause::Cause::LittlesLaw(cause::LittlesLaw::Missed { in_flight, expected, terms, .. }) =
            reason.cause
        else {
            panic!("{:?}", reason.cause)
        };
        // 82.2e3 × 260e-6 + 81.8e3 × 187e-6 = 21.372 + 15.2966.
        assert!((in_flight - 36.6686).abs() < 1e-9);
        assert_eq!((expected, terms.len()), (64.0, 2));
    }
}
