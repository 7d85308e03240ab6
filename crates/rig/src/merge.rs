//! What several jobs did, as one: counts are added, rates are added, histograms are merged.
//!
//! Each job measures from a completion of its own to another, so the jobs' measured times differ by a request or so.
//! Rates are added because each is right over its own time; the measured time of the whole is then the one for which
//! its count and its rate agree. Windows are cut anew on one grid, from the jobs' own, each taken as even within. Their
//! mean latency is that of all their requests; percentiles by window are left out, since those of several jobs have no
//! common value.

use iosonde_model::{Direction, Flush, Histogram, Op, Stream, TrialSpec, Window, WindowDirection};

use crate::{
    crew::Worked,
    drive::{Driven, Limits},
    recorder::WINDOW_NS,
};

pub use crate::recorder::Recorded;

/// Jobs that ran for at least this share of the longest job's time count as simultaneous (see [`over_common_time`]).
const UNEVEN_SHARE: f64 = 0.99;
/// Completions of each job in the common time: with fewer, where its windows were cut decides.
const COMMON_IOS_MIN: f64 = 10.0;

/// Merged results of all workers of a trial.
pub struct Team {
    /// Counts, bytes, errors and latencies of all streams.
    pub recorded: Recorded,
    /// Mean queue depth, over all jobs.
    pub in_flight_mean: Option<f64>,
    /// Open loop: requests due and never sent.
    pub unserved: u64,
    /// Requests that never came back.
    pub hung: u64,
    /// Completions a second of the streams that a rate was asked of.
    pub achieved_rate_iops: Option<f64>,
    /// Open loop: the generator's own lateness.
    pub pacing_error: Option<Histogram>,
    /// The streams apart, where there are several.
    pub streams: Vec<Stream>,
}

impl Team {
    /// Adds up what the workers did: by stream first, and those over this time.
    pub fn of(spec: &TrialSpec, over: Over, worked: Vec<Worked>) -> Self {
        let specs: Vec<&TrialSpec> = spec.streams().collect();
        let mut by_stream: Vec<Vec<Driven>> = specs.iter().map(|_| Vec::new()).collect();
        let mut cpu_s: Vec<Option<(f64, f64)>> = specs.iter().map(|_| Some((0.0, 0.0))).collect();
        for worker in worked {
            let sum = |(user_s, system_s), own: (f64, f64)| (user_s + own.0, system_s + own.1);
            let stream = worker.stream;
            cpu_s[stream] = cpu_s[stream].zip(worker.whole_cpu_s()).map(|(so_far, own)| sum(so_far, own));
            by_stream[stream].push(worker.driven);
        }
        let mut teams: Vec<Self> =
            specs.iter().zip(by_stream).map(|(spec, driven)| Self::stream(spec, driven)).collect();
        if teams.len() == 1 {
            return teams.remove(0);
        }
        let apart = |((spec, team), cpu_s): ((&&TrialSpec, &Self), Option<(f64, f64)>)| Stream {
            spec: spec.alone(),
            read: team.recorded.read.clone(),
            write: team.recorded.write.clone(),
            trim: team.recorded.trim.clone(),
            flush: team.recorded.flush.clone(),
            in_flight_mean: team.in_flight_mean,
            unserved: team.unserved,
            achieved_rate_iops: team.achieved_rate_iops,
            measured_s: Some(team.recorded.measured_s),
            cpu_user_s: cpu_s.map(|cpu_s| cpu_s.0),
            cpu_system_s: cpu_s.map(|cpu_s| cpu_s.1),
            windows: team.recorded.windows.clone(),
        };
        let streams = specs.iter().zip(&teams).zip(cpu_s).map(apart).collect();
        let rates: Vec<f64> = teams.iter().filter_map(|team| team.achieved_rate_iops).collect();
        let depths: Vec<(Option<f64>, f64)> =
            teams.iter().map(|team| (team.in_flight_mean, team.recorded.measured_s)).collect();
        let (unserved, hung) =
            (teams.iter().map(|team| team.unserved).sum(), teams.iter().map(|team| team.hung).sum());
        let pacing_error = merged(teams.iter().filter_map(|team| team.pacing_error.as_ref()));
        let recorded = recorded(teams.into_iter().map(|team| team.recorded).collect(), over);
        // A stream that ran for a part of the time had its requests outstanding for that part.
        let part = |own_s: f64| match over {
            Over::Common => 1.0,
            Over::Whole => (own_s / recorded.measured_s).min(1.0),
        };
        Self {
            in_flight_mean: depths.iter().map(|(depth, own_s)| Some((*depth)? * part(*own_s))).sum(),
            unserved,
            hung,
            achieved_rate_iops: (!rates.is_empty()).then(|| rates.iter().sum()),
            pacing_error,
            recorded,
            streams,
        }
    }

    fn stream(spec: &TrialSpec, driven: Vec<Driven>) -> Self {
        let in_flight_mean = driven.iter().map(|job| job.in_flight_mean).sum();
        let (unserved, hung) =
            (driven.iter().map(|job| job.unserved).sum(), driven.iter().map(|job| job.hung).sum());
        let pacing_error = merged(driven.iter().filter_map(|job| job.pacing_error.as_ref()));
        let jobs = driven.into_iter().map(|job| job.recorded).collect();
        let recorded = recorded(jobs, Over::of(std::iter::once(spec)));
        let served =
            [&recorded.read, &recorded.write, &recorded.trim].into_iter().flatten().map(|d| d.iops).sum();
        let achieved_rate_iops = spec.rate_iops.map(|_| served);
        Self {
            recorded,
            in_flight_mean,
            unserved,
            hung,
            achieved_rate_iops,
            pacing_error,
            streams: Vec::new(),
        }
    }
}

fn merged<'a>(parts: impl Iterator<Item = &'a Histogram>) -> Option<Histogram> {
    parts.fold(None, |sum: Option<Histogram>, part| {
        let mut sum = sum.unwrap_or_default();
        sum.merge(part);
        Some(sum)
    })
}

/// The time over which rates of several jobs are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Each job's own; the time that all of them measured, where those differ.
    Common,
    /// From the first one's beginning to the last one's end: of jobs that flush at their ends, since what they wrote is
    /// on their storage when the last flush is over, and of streams that were told to begin or to end at different
    /// times.
    Whole,
}

impl Over {
    pub(crate) fn of<'a>(mut streams: impl Iterator<Item = &'a TrialSpec>) -> Self {
        if streams.any(|stream| stream.sync.at_end()) { Self::Whole } else { Self::Common }
    }

    /// That of streams with these limits: one that ends after so many requests ends when these are done.
    pub(crate) fn of_streams(spec: &TrialSpec, limits: &[Limits]) -> Self {
        let alike = spec.streams().all(|stream| stream.delay_ns == spec.delay_ns)
            && limits.iter().all(|own| own == &limits[0] && own.ios.is_none());
        if limits.len() > 1 && !alike { Self::Whole } else { Self::of(spec.streams()) }
    }
}

/// Adds up what jobs counted. One job's figures stay as they are.
pub fn recorded(mut jobs: Vec<Recorded>, over: Over) -> Recorded {
    if jobs.len() == 1 {
        return jobs.remove(0);
    }
    let directions = |pick: fn(&Recorded) -> Option<&Direction>| -> Option<Direction> {
        let parts: Vec<&Direction> = jobs.iter().filter_map(pick).collect();
        Direction::of_all(&parts)
    };
    let read = directions(|job| job.read.as_ref());
    let write = directions(|job| job.write.as_ref());
    let trim = directions(|job| job.trim.as_ref());
    let windows = windows(&jobs);
    let [read, write, trim] = match over {
        Over::Common => over_common_time(&jobs, [read, write, trim]),
        Over::Whole => over_whole_time(&jobs, [read, write, trim]),
    };
    let all = || [&read, &write, &trim].into_iter().flatten();
    let (ios, iops): (u64, f64) = (all().map(|d| d.ios).sum(), all().map(|d| d.iops).sum());
    let longest_s = jobs.iter().map(|job| job.measured_s).fold(0.0, f64::max);
    let flushes: Vec<&Flush> = jobs.iter().filter_map(|job| job.flush.as_ref()).collect();
    Recorded {
        flush: Flush::of_all(&flushes),
        windows,
        // One job's stall is none of the storage's where others were served.
        stalls: Vec::new(),
        measured_s: if iops > 0.0 { ios as f64 / iops } else { longest_s },
        errors: errors(&jobs),
        read,
        write,
        trim,
    }
}

/// Errors of all jobs, with one count for each number.
fn errors(jobs: &[Recorded]) -> Vec<(i32, u64)> {
    let mut errors: Vec<(i32, u64)> = Vec::new();
    for &(errno, count) in jobs.iter().flat_map(|job| &job.errors) {
        match errors.iter_mut().find(|(known, _)| *known == errno) {
            Some((_, sum)) => *sum += count,
            None => errors.push((errno, count)),
        }
    }
    errors
}

/// A job's own time is right for it where its requests complete evenly. Many jobs with many requests each take turns
/// on slow storage: each has its completions in bursts, and between the first and the last of few bursts lies one burst
/// too many. Where the jobs' times differ by more than 1 %, rates are taken over the time that all of them measured.
fn over_common_time(jobs: &[Recorded], mut directions: [Option<Direction>; 3]) -> [Option<Direction>; 3] {
    let (from_s, to_s) = common(jobs);
    let common_s = to_s - from_s;
    let longest_s = jobs.iter().map(|job| job.measured_s).fold(0.0, f64::max);
    let within = |job: &Recorded, op: Op, figure: fn(&WindowDirection) -> f64| {
        total_until(&job.windows, op, to_s, figure) - total_until(&job.windows, op, from_s, figure)
    };
    let all = |job: &Recorded| {
        Op::DIRECTIONS.into_iter().map(|op| within(job, op, |lane| lane.ios as f64)).sum::<f64>()
    };
    let enough = || jobs.iter().all(|job| all(job) >= COMMON_IOS_MIN);
    if common_s.is_finite() && common_s > 0.0 && common_s < UNEVEN_SHARE * longest_s && enough() {
        for (op, direction) in Op::DIRECTIONS.into_iter().zip(&mut directions) {
            let Some(direction) = direction else { continue };
            let sum = |figure| jobs.iter().map(|job| within(job, op, figure)).sum::<f64>();
            direction.iops = sum(|lane| lane.ios as f64) / common_s;
            direction.bytes_per_s = sum(|lane| lane.bytes as f64) / common_s;
        }
    }
    directions
}

fn over_whole_time(jobs: &[Recorded], mut directions: [Option<Direction>; 3]) -> [Option<Direction>; 3] {
    let windows = || jobs.iter().flat_map(|job| &job.windows);
    let from_s = windows().map(|window| window.start_s).fold(f64::INFINITY, f64::min);
    let whole_s = windows().map(|window| window.start_s + window.length_s).fold(0.0, f64::max) - from_s;
    for direction in directions.iter_mut().flatten().filter(|_| whole_s > 0.0) {
        direction.iops = direction.ios as f64 / whole_s;
        direction.bytes_per_s = direction.bytes as f64 / whole_s;
    }
    directions
}

/// The time in which all jobs measured; empty, or without an end, where there was none.
fn common(jobs: &[Recorded]) -> (f64, f64) {
    let starts = jobs.iter().filter_map(|job| job.windows.first()).map(|window| window.start_s);
    let ends =
        jobs.iter().filter_map(|job| job.windows.last()).map(|window| window.start_s + window.length_s);
    (starts.fold(0.0, f64::max), ends.fold(f64::INFINITY, f64::min))
}

/// Windows of all jobs on one grid, over the time in which all of them measured.
fn windows(jobs: &[Recorded]) -> Vec<Window> {
    let (from_s, to_s) = common(jobs);
    if !to_s.is_finite() || to_s <= from_s {
        return Vec::new();
    }
    // Whole windows of at least the usual length, so that none is a sliver.
    // A ten-thousandth less is a rounding of seconds, not a shorter window.
    let count = ((to_s - from_s) / (WINDOW_NS as f64 / 1e9) + 1e-4).floor().max(1.0) as usize;
    let length_s = (to_s - from_s) / count as f64;
    (0..count)
        .map(|number| {
            let start_s = from_s + number as f64 * length_s;
            let lane = |op| window(jobs, op, start_s, start_s + length_s);
            Window { start_s, length_s, read: lane(Op::Read), write: lane(Op::Write), trim: lane(Op::Trim) }
        })
        .collect()
}

fn window(jobs: &[Recorded], op: Op, from_s: f64, to_s: f64) -> Option<WindowDirection> {
    // Rounding differences of running totals, not shares: what is cut is neither lost nor counted twice.
    let until = |at_s, figure: fn(&WindowDirection) -> f64| {
        jobs.iter().map(|job| total_until(&job.windows, op, at_s, figure)).sum::<f64>()
    };
    let between = |figure: fn(&WindowDirection) -> f64| until(to_s, figure) - until(from_s, figure);
    let whole = |figure| (until(to_s, figure).round() - until(from_s, figure).round()) as u64;
    let occurs = jobs.iter().flat_map(|job| job.windows.first()).any(|window| window.direction(op).is_some());
    occurs.then(|| WindowDirection {
        ios: whole(|lane| lane.ios as f64),
        bytes: whole(|lane| lane.bytes as f64),
        latency_ns_mean: mean(between),
        ..WindowDirection::default()
    })
}

/// Mean latency of all requests of a window; `None` where there were none.
fn mean(between: impl Fn(fn(&WindowDirection) -> f64) -> f64) -> Option<f64> {
    let timed = between(|lane| lane.latency_ns_mean.map_or(0.0, |_| lane.ios as f64));
    let sum_ns = between(|lane| lane.latency_ns_mean.map_or(0.0, |mean_ns| mean_ns * lane.ios as f64));
    // A cut leaves a rounding where there is nothing.
    (timed > 1e-6).then(|| sum_ns / timed)
}

/// Requests of one host that completed in each of these windows, of which its own need not have the bounds.
pub(crate) fn ios_within(own: &[Window], windows: &[Window]) -> Vec<u64> {
    let until = |at_s: f64| -> u64 {
        let of = |op| total_until(own, op, at_s, |lane| lane.ios as f64).round() as u64;
        Op::DIRECTIONS.into_iter().map(of).sum()
    };
    windows.iter().map(|window| until(window.start_s + window.length_s) - until(window.start_s)).collect()
}

fn total_until(windows: &[Window], op: Op, at_s: f64, figure: fn(&WindowDirection) -> f64) -> f64 {
    let part = |window: &Window| {
        let share = if window.length_s > 0.0 { (at_s - window.start_s) / window.length_s } else { 1.0 };
        window.direction(op).map_or(0.0, |lane| figure(lane) * share.clamp(0.0, 1.0))
    };
    windows.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use iosonde_model::LatencySummary;

    use super::*;

    /// A job that reads evenly, in windows of its own.
    fn job(starts_s: &[f64], length_s: f64, ios: u64) -> Recorded {
        let lane = WindowDirection {
            ios,
            bytes: ios * 4096,
            latency_ns_p50: Some(1.0),
            ..WindowDirection::default()
        };
        let window = |&start_s| Window { start_s, length_s, read: Some(lane.clone()), ..Window::default() };
        let measured_s = length_s * starts_s.len() as f64;
        let mut histogram = Histogram::new();
        (0..ios * starts_s.len() as u64).for_each(|i| histogram.record(1000 + i));
        let total = histogram.total();
        let read = Direction {
            ios: total,
            bytes: total * 4096,
            errors: 0,
            short: 0,
            iops: total as f64 / measured_s,
            bytes_per_s: total as f64 * 4096.0 / measured_s,
            latency_ns: LatencySummary::of(&histogram),
            histogram,
        };
        Recorded {
            read: Some(read),
            write: None,
            trim: None,
            flush: None,
            windows: starts_s.iter().map(window).collect(),
            stalls: Vec::new(),
            measured_s,
            errors: Vec::new(),
        }
    }

    #[test]
    fn counts_and_rates_add_up_and_agree() {
        let merged =
            recorded(vec![job(&[0.0, 0.1, 0.2], 0.1, 100), job(&[0.0, 0.15], 0.15, 300)], Over::Common);
        let read = merged.read.unwrap();
        assert_eq!(read.ios, 900);
        assert!((read.iops - 3000.0).abs() < 1e-6, "{}", read.iops);
        assert!((read.ios as f64 / read.iops - merged.measured_s).abs() < 1e-9);
        assert_eq!(read.histogram.total(), 900);
    }

    #[test]
    fn jobs_errors_of_one_number_have_one_count() {
        let failed = |errors: &[(i32, u64)]| Recorded { errors: errors.to_vec(), ..job(&[0.0], 0.1, 100) };
        let merged = recorded(vec![failed(&[(5, 3), (28, 1)]), failed(&[(5, 4)])], Over::Common);
        assert_eq!(merged.errors, [(5, 7), (28, 1)]);
    }

    #[test]
    fn windows_are_cut_anew_and_nothing_is_lost() {
        let merged =
            recorded(vec![job(&[0.0, 0.1, 0.2], 0.1, 100), job(&[0.0, 0.15], 0.15, 300)], Over::Common);
        let ios: Vec<u64> = merged.windows.iter().map(|w| w.read.as_ref().unwrap().ios).collect();
        // 100 + 200 in each: both jobs are even.
        assert_eq!(ios, [300, 300, 300]);
        assert!(merged.windows.iter().all(|w| w.read.as_ref().unwrap().latency_ns_p50.is_none()));
        assert!(merged.windows.iter().all(|w| w.write.is_none()));
    }

    #[test]
    fn jobs_with_a_handful_of_completions_keep_their_own_rates() {
        // Between 0.9 s and 1 s both measured, and nothing completed: that is no rate of 0.
        let merged = recorded(vec![job(&[0.0, 0.5], 0.5, 1), job(&[0.9], 0.6, 1)], Over::Common);
        assert!(merged.measured_s.is_finite() && merged.measured_s > 0.0, "{}", merged.measured_s);
        let iops = merged.read.unwrap().iops;
        assert!((iops - (2.0 + 1.0 / 0.6)).abs() < 1e-9, "{iops}");
    }

    #[test]
    fn one_job_stays_as_it_is() {
        let merged = recorded(vec![job(&[0.0, 0.1], 0.1, 5)], Over::Common);
        assert_eq!(merged.windows[0].read.as_ref().unwrap().latency_ns_p50, Some(1.0));
    }

    #[test]
    fn jobs_that_flush_at_their_ends_share_the_whole_time() {
        // Both wrote for 0.2 s; one flush took 0.1 s, the other 0.4 s.
        let flushed = |flush_s: f64| {
            let mut one = job(&[0.0, 0.1], 0.1, 100);
            one.windows[1].length_s += flush_s;
            one
        };
        let merged = recorded(vec![flushed(0.1), flushed(0.4)], Over::Whole);
        assert!((merged.read.unwrap().iops - 400.0 / 0.6).abs() < 1e-6);
        assert!((merged.measured_s - 0.6).abs() < 1e-9);
    }
}
