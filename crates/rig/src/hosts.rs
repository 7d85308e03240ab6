//! One trial on several hosts: what each waits for, and what their parts amount to.
//!
//! Counts are added, rates are added or taken over the time that all measured, histograms are merged: the same that is
//! done with the jobs of one host. Percentiles come from the merged histogram, never from those of the hosts. Counters
//! of a machine are its own: of several hosts on one machine one counts for all.

use iosonde_model::{HostShare, Stream, Togetherness, Trial, Window, Witnesses};

use crate::{
    merge::{self, Over, Recorded},
    trial::FinishedTrial,
};

/// Largest number of hosts whose windows are kept: 50 windows of 64 hosts are 16 kB a trial.
const WINDOWS_KEPT_OF: usize = 64;

/// One host's part of a trial, on its way to rank 0.
#[derive(Debug)]
pub struct Part {
    /// The host's number.
    pub rank: u32,
    /// What it measured.
    pub finished: FinishedTrial,
    /// Its clock less that of rank 0, in nanoseconds.
    pub clock_offset_ns: i64,
    /// Shortest round trip of the messages that told the offset, in nanoseconds.
    pub round_trip_ns: u64,
    /// Whether it read the counters of its machine, for all of the trial's hosts there.
    pub counts_machine: bool,
}

impl Part {
    /// Moments of its first request and of its end, on the clock of rank 0.
    fn active_ns(&self) -> (i64, i64) {
        let (from_ns, to_ns) = self.finished.active_ns;
        (from_ns as i64 - self.clock_offset_ns, to_ns as i64 - self.clock_offset_ns)
    }
}

/// The trial that the hosts' parts amount to; the first part is that of rank 0. `announced_ns` is the moment at which
/// all were to begin, on the clock of rank 0, and `duration_ns` for how long they were to measure.
///
/// # Panics
/// Without any part.
pub fn merged(mut parts: Vec<Part>, announced_ns: u64, duration_ns: u64) -> FinishedTrial {
    let together = togetherness(&parts, announced_ns, duration_ns);
    let hosts = parts.iter().map(|part| share(part, announced_ns)).collect();
    let first_ns = parts.iter().map(|part| part.active_ns().0).min().unwrap_or(0);
    for part in &mut parts {
        let late_s = (part.active_ns().0 - first_ns) as f64 / 1e9;
        shift(&mut part.finished.trial, late_s);
    }
    let mut notes = Vec::new();
    for note in parts.iter_mut().flat_map(|part| std::mem::take(&mut part.finished.notes)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let active_ns = parts[0].finished.active_ns;
    let witnesses = Witnesses { hosts: Some(together), ..witnesses(&parts) };
    let trials: Vec<Trial> = parts.into_iter().map(|part| part.finished.trial).collect();
    let own_windows: Vec<Vec<Window>> = trials.iter().map(|trial| trial.windows.clone()).collect();
    let mut trial = Trial { hosts, witnesses, ..sum(trials) };
    if own_windows.len() <= WINDOWS_KEPT_OF {
        for (host, own) in trial.hosts.iter_mut().zip(&own_windows) {
            host.window_ios = merge::ios_within(own, &trial.windows);
        }
    }
    FinishedTrial { trial, notes, active_ns }
}

/// How well they were together. The last requests come back after the time that was asked, of one host later than of
/// another: what is then still out is no load that one of them had alone.
fn togetherness(parts: &[Part], announced_ns: u64, duration_ns: u64) -> Togetherness {
    let until_ns = i64::try_from(announced_ns.saturating_add(duration_ns)).unwrap_or(i64::MAX);
    let asked = |(from_ns, to_ns): (i64, i64)| (from_ns, to_ns.min(until_ns.max(from_ns)));
    let active: Vec<(i64, i64)> = parts.iter().map(|part| asked(part.active_ns())).collect();
    let first_ns = active.iter().map(|times| times.0).min().unwrap_or(0);
    let last_ns = active.iter().map(|times| times.1).max().unwrap_or(0);
    let common_ns = active.iter().map(|times| times.1).min().unwrap_or(0)
        - active.iter().map(|times| times.0).max().unwrap_or(0);
    let slowest = parts.iter().max_by_key(|part| part.active_ns().0);
    let (slowest_rank, latest_ns) = slowest.map_or((0, 0), |part| (part.rank, part.active_ns().0));
    Togetherness {
        hosts: parts.len() as u32,
        start_skew_ns: (latest_ns - first_ns) as u64,
        slowest_rank,
        slowest_late_ns: latest_ns - announced_ns as i64,
        overlap_share: common_ns.max(0) as f64 / (last_ns - first_ns).max(1) as f64,
        clock_error_ns: parts.iter().map(|part| part.round_trip_ns / 2).max().unwrap_or(0),
        coordination_ns: 0,
    }
}

fn share(part: &Part, announced_ns: u64) -> HostShare {
    HostShare {
        late_ns: part.active_ns().0 - announced_ns as i64,
        clock_offset_ns: part.clock_offset_ns,
        round_trip_ns: part.round_trip_ns,
        ..HostShare::of(part.rank, &part.finished.trial)
    }
}

/// Windows count from the first request of the earliest host.
fn shift(trial: &mut Trial, late_s: f64) {
    let windows = trial.streams.iter_mut().flat_map(|stream| &mut stream.windows);
    for window in trial.windows.iter_mut().chain(windows) {
        window.start_s += late_s;
    }
}

/// What was seen around the parts: bytes are added, shares are those of the worst host, and a reading that one host
/// lacks is lacking. What is left is rank 0's.
fn witnesses(parts: &[Part]) -> Witnesses {
    let all = || parts.iter().map(|part| &part.finished.trial.witnesses);
    let machines =
        || parts.iter().filter(|part| part.counts_machine).map(|part| &part.finished.trial.witnesses);
    let sum = |pick: fn(&Witnesses) -> u64| all().map(pick).sum();
    let counted = |pick: fn(&Witnesses) -> Option<u64>| machines().map(pick).sum::<Option<u64>>();
    let each = |pick: fn(&Witnesses) -> Option<u64>| all().map(pick).sum::<Option<u64>>();
    let highest = |shares: Option<Vec<f64>>| Some(shares?.into_iter().fold(0.0, f64::max));
    let worst = |pick: fn(&Witnesses) -> Option<f64>| highest(machines().map(pick).collect());
    let absent = all().flat_map(|seen| &seen.absent).fold(Vec::new(), |mut known, absence| {
        if !known.contains(absence) {
            known.push(absence.clone());
        }
        known
    });
    Witnesses {
        issued_read_bytes: sum(|seen| seen.issued_read_bytes),
        issued_write_bytes: sum(|seen| seen.issued_write_bytes),
        issued_trim_bytes: sum(|seen| seen.issued_trim_bytes),
        issued_ios: sum(|seen| seen.issued_ios),
        block_layer_read_bytes: counted(|seen| seen.block_layer_read_bytes),
        block_layer_write_bytes: counted(|seen| seen.block_layer_write_bytes),
        block_layer_in_flight_mean: machines().map(|seen| seen.block_layer_in_flight_mean).sum(),
        network_read_bytes: counted(|seen| seen.network_read_bytes),
        network_write_bytes: counted(|seen| seen.network_write_bytes),
        network_retransmissions: counted(|seen| seen.network_retransmissions),
        resident_before_bytes: each(|seen| seen.resident_before_bytes),
        resident_after_bytes: each(|seen| seen.resident_after_bytes),
        process_read_bytes: each(|seen| seen.process_read_bytes),
        process_write_bytes: each(|seen| seen.process_write_bytes),
        unmapped_bytes: each(|seen| seen.unmapped_bytes),
        compressed_bytes: each(|seen| seen.compressed_bytes),
        shared_bytes: each(|seen| seen.shared_bytes),
        dirty_after_bytes: each(|seen| seen.dirty_after_bytes),
        pressure_io_some_share: worst(|seen| seen.pressure_io_some_share),
        pressure_cpu_some_share: worst(|seen| seen.pressure_cpu_some_share),
        pressure_memory_some_share: worst(|seen| seen.pressure_memory_some_share),
        memory_short: machines().filter_map(|seen| seen.memory_short).max(),
        thermal_pressure: machines().filter_map(|seen| seen.thermal_pressure).max(),
        steal_share: worst(|seen| seen.steal_share),
        machine_busy_share: worst(|seen| seen.machine_busy_share),
        suspended_s: highest(all().map(|seen| seen.suspended_s).collect()),
        absent,
        ..parts[0].finished.trial.witnesses.clone()
    }
}

/// The parts as one trial, without what was seen around them.
fn sum(mut trials: Vec<Trial>) -> Trial {
    let longest = |pick: fn(&Trial) -> f64| trials.iter().map(pick).fold(0.0, f64::max);
    let (elapsed_s, warmup_s) = (longest(|trial| trial.elapsed_s), longest(|trial| trial.warmup_s));
    let busy_share = trials.iter().filter_map(|trial| trial.busy_share).reduce(f64::max);
    let pacing_error_ns_p99 = trials.iter().filter_map(|trial| trial.pacing_error_ns_p99).reduce(f64::max);
    let total = |pick: fn(&Trial) -> Option<f64>| trials.iter().map(pick).sum::<Option<f64>>();
    let pacing_error_ns = total(|trial| trial.pacing_error_ns).map(|sum_ns| sum_ns / trials.len() as f64);
    let (in_flight_mean, achieved_rate_iops) =
        (total(|trial| trial.in_flight_mean), total(|trial| trial.achieved_rate_iops));
    let (cpu_user_s, cpu_system_s) = (total(|trial| trial.cpu_user_s), total(|trial| trial.cpu_system_s));
    let unserved = trials.iter().map(|trial| trial.unserved).sum();
    let hung = trials.iter().map(|trial| trial.hung).sum();
    let verify = trials.iter().filter_map(|trial| trial.verify).reduce(|sum, more| sum + more);
    let mut error_examples = Vec::new();
    for error in trials.iter_mut().flat_map(|trial| std::mem::take(&mut trial.error_examples)) {
        if !error_examples.contains(&error) {
            error_examples.push(error);
        }
    }
    let streams = streams(&mut trials);
    let (mut first, hosts) = (trials[0].clone(), trials.len() as u32);
    let over = Over::of(first.spec.streams());
    let recorded = merge::recorded(trials.into_iter().map(of_trial).collect(), over);
    first.spec = first.spec.on_hosts(hosts);
    Trial {
        elapsed_s,
        warmup_s,
        measured_s: recorded.measured_s,
        read: recorded.read,
        write: recorded.write,
        trim: recorded.trim,
        flush: recorded.flush,
        windows: recorded.windows,
        stalls: recorded.stalls,
        streams,
        busy_share,
        pacing_error_ns,
        pacing_error_ns_p99,
        in_flight_mean,
        achieved_rate_iops,
        cpu_user_s,
        cpu_system_s,
        unserved,
        hung,
        verify,
        error_examples,
        ..first
    }
}

fn of_trial(trial: Trial) -> Recorded {
    let Trial { read, write, trim, flush, windows, stalls, measured_s, .. } = trial;
    Recorded { read, write, trim, flush, windows, stalls, measured_s, errors: Vec::new() }
}

/// Each stream of all hosts, where there are several.
fn streams(trials: &mut [Trial]) -> Vec<Stream> {
    let first = std::mem::take(&mut trials[0].streams);
    let mut others: Vec<Vec<Stream>> =
        trials[1..].iter_mut().map(|trial| std::mem::take(&mut trial.streams)).collect();
    let one = |(at, own): (usize, Stream)| {
        let beside = others.iter_mut().filter_map(|streams| streams.get_mut(at).map(std::mem::take));
        stream(std::iter::once(own).chain(beside).collect())
    };
    first.into_iter().enumerate().map(one).collect()
}

fn stream(parts: Vec<Stream>) -> Stream {
    let total = |pick: fn(&Stream) -> Option<f64>| parts.iter().map(pick).sum::<Option<f64>>();
    let whole = Stream {
        spec: parts[0].spec.clone(),
        in_flight_mean: total(|part| part.in_flight_mean),
        unserved: parts.iter().map(|part| part.unserved).sum(),
        achieved_rate_iops: total(|part| part.achieved_rate_iops),
        cpu_user_s: total(|part| part.cpu_user_s),
        cpu_system_s: total(|part| part.cpu_system_s),
        ..Stream::default()
    };
    let recorded = |part: Stream| Recorded {
        measured_s: part.measured_s.unwrap_or(0.0),
        read: part.read,
        write: part.write,
        trim: part.trim,
        flush: part.flush,
        windows: part.windows,
        stalls: Vec::new(),
        errors: Vec::new(),
    };
    let over = Over::of(std::iter::once(&whole.spec));
    let all = merge::recorded(parts.into_iter().map(recorded).collect(), over);
    Stream {
        measured_s: Some(all.measured_s),
        read: all.read,
        write: all.write,
        trim: all.trim,
        flush: all.flush,
        windows: all.windows,
        ..whole
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        Direction, Histogram, LatencySummary, Op, Phase, TrialSpec, Window, WindowDirection,
    };

    use super::*;

    /// A host that reads evenly for a second: so many requests, of so many nanoseconds.
    fn part(rank: u32, from_ns: u64, offset_ns: i64, ios: u64, latency_ns: u64) -> Part {
        let mut histogram = Histogram::new();
        (0..ios).for_each(|_| histogram.record(latency_ns));
        let read = Direction {
            ios,
            bytes: ios * 4096,
            errors: 0,
            short: 0,
            iops: ios as f64,
            bytes_per_s: ios as f64 * 4096.0,
            latency_ns: LatencySummary::of(&histogram),
            histogram,
        };
        let lane = WindowDirection { ios: ios / 10, bytes: ios / 10 * 4096, ..WindowDirection::default() };
        let window = |at: u32| Window {
            start_s: f64::from(at) / 10.0,
            length_s: 0.1,
            read: Some(lane.clone()),
            ..Window::default()
        };
        let witnesses = Witnesses {
            issued_read_bytes: ios * 4096,
            block_layer_read_bytes: Some(3_000 * 4096),
            ..Witnesses::default()
        };
        let trial = Trial {
            elapsed_s: 1.0,
            measured_s: 1.0,
            read: Some(read),
            windows: (0..10).map(window).collect(),
            witnesses,
            ..Trial::blank(TrialSpec::default(), Phase::Measure)
        };
        let active_ns = (from_ns, from_ns + 1_000_000_000);
        let finished = FinishedTrial { trial, notes: Vec::new(), active_ns };
        Part { rank, finished, clock_offset_ns: offset_ns, round_trip_ns: 20_000, counts_machine: rank == 0 }
    }

    #[test]
    fn counts_add_up_and_percentiles_come_from_all_requests() {
        // 1,000 requests of 100 us and 2,000 of 400 us: the median of all is 400 us, the mean of medians 250 us.
        let parts = vec![part(0, 5_000, 0, 1_000, 100_000), part(1, 5_000, 0, 2_000, 400_000)];
        let trial = merged(parts, 5_000, 1_000_000_000).trial;
        let read = trial.read.unwrap();
        assert_eq!((read.ios, read.histogram.total(), read.bytes), (3_000, 3_000, 3_000 * 4096));
        assert!((read.iops - 3_000.0).abs() < 1e-9);
        assert!((read.latency_ns.p50.unwrap() - 400_000.0).abs() < 4_000.0, "{:?}", read.latency_ns.p50);
        assert_eq!(trial.witnesses.issued_read_bytes, 3_000 * 4096);
        assert_eq!(trial.witnesses.block_layer_read_bytes, Some(3_000 * 4096), "one machine, one counter");
        assert_eq!(trial.hosts.len(), 2);
        assert_eq!(trial.hosts[1].read.as_ref().unwrap().ios, 2_000);
    }

    #[test]
    fn lateness_is_told_on_the_clock_of_rank_0() {
        // Host 1 began at 7.05 ms of its own clock, which is 2 ms ahead: 50 us after the announced moment of 5 ms.
        let parts = vec![part(0, 5_010_000, 0, 1_000, 1), part(1, 7_050_000, 2_000_000, 1_000, 1)];
        let trial = merged(parts, 5_000_000, 1_000_000_000).trial;
        let together = trial.witnesses.hosts.unwrap();
        assert_eq!(
            (together.start_skew_ns, together.slowest_rank, together.slowest_late_ns),
            (40_000, 1, 50_000)
        );
        assert_eq!(together.clock_error_ns, 10_000);
        // Until 1.005 s, when the time was up, both were there from 5.05 ms on, and one from 5.01 ms on.
        let share = 999_950_000.0 / 999_990_000.0;
        assert!((together.overlap_share - share).abs() < 1e-9, "{}", together.overlap_share);
        assert_eq!([trial.hosts[0].late_ns, trial.hosts[1].late_ns], [10_000, 50_000]);
    }

    #[test]
    fn rates_are_taken_over_the_time_that_all_measured() {
        // Half a second apart: only half of each host's second is common to both.
        let parts = vec![part(0, 0, 0, 1_000, 1), part(1, 500_000_000, 0, 1_000, 1)];
        let trial = merged(parts, 0, 1_000_000_000).trial;
        let read = trial.read.unwrap();
        assert_eq!(read.ios, 2_000);
        assert!((read.iops - 2_000.0).abs() < 1.0, "{}", read.iops);
        assert!((trial.witnesses.hosts.unwrap().overlap_share - 0.5).abs() < 1e-9);
        assert!((trial.windows.iter().map(|window| window.length_s).sum::<f64>() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_reading_that_one_host_lacks_is_lacking() {
        let mut parts = vec![part(0, 0, 0, 10, 1), part(1, 0, 0, 10, 1)];
        parts[1].counts_machine = true;
        parts[1].finished.trial.witnesses.block_layer_read_bytes = None;
        assert_eq!(merged(parts, 0, 1_000_000_000).trial.witnesses.block_layer_read_bytes, None);
    }

    #[test]
    fn directions_are_of_both_kinds() {
        let share = HostShare::of(3, &part(3, 0, 0, 10, 1).finished.trial);
        assert_eq!(share.direction(Op::Read).map(|read| read.ios), Some(10));
        assert_eq!(share.direction(Op::Write), None);
    }
}
