//! Several hosts of one run beside each other: who gets how much of the workload with the highest throughput that all
//! of them made.
//!
//! One workload and not a mean over all: hosts differ in what they are limited by, and the check `odd-host` compares
//! them over every workload.

use iosonde_judge::{
    estimate::FEWEST_TRIALS,
    host_rates::{HostRates, all_hosts},
    validity::TrialStanding,
};
use iosonde_model::{
    About, Estimate, HostDirection, HostShare, Medium, Op, Phase, Point, Run, Togetherness, Trial, TrialSpec,
    cause::{Cause, HostSlowed, OddHost, OddOne, SlowedHost},
};
use iosonde_stats::robust::median;

use crate::finding::over_trials;

/// The hosts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct HostTable {
    /// Point of the workload that all of them made.
    pub point: usize,
    /// The workload.
    pub spec: TrialSpec,
    /// Valid trials of it.
    pub trials: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// A row for each host, in the order of their ranks.
    pub rows: Vec<HostRow>,
    /// Echoes between its machines, where they are several.
    pub echo: Option<Echo>,
    /// How well they began together; `None` of simulated hosts, which begin at one moment.
    pub starts: Option<Starts>,
    /// Whether all are processes on one machine.
    pub on_one_machine: bool,
}

/// How well hosts were together, over all measured trials of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Starts {
    /// Median time from the first host's first request to the last host's, in nanoseconds.
    pub skew_ns_median: f64,
    /// The longest.
    pub skew_ns_most: f64,
    /// Least share of a trial's time that all of them measured.
    pub overlap_share_least: f64,
    /// Largest error of the comparison of clocks, in nanoseconds.
    pub clock_error_ns: u64,
}

/// Those of a run's measured trials of several hosts.
fn starts(run: &Run) -> Option<Starts> {
    let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let all: Vec<&Togetherness> =
        measured.filter_map(|trial| trial.witnesses.hosts.as_ref()).filter(|all| all.hosts > 1).collect();
    let skews: Vec<f64> = all.iter().map(|together| together.start_skew_ns as f64).collect();
    let skew_ns_most = skews.iter().copied().fold(0.0, f64::max);
    (skew_ns_most > 0.0).then(|| Starts {
        skew_ns_median: median(&skews).unwrap_or(0.0),
        skew_ns_most,
        overlap_share_least: all.iter().map(|together| together.overlap_share).fold(1.0, f64::min),
        clock_error_ns: all.iter().map(|together| together.clock_error_ns).max().unwrap_or(0),
    })
}

/// Whether all hosts of a run have one machine's memory: the same start of the same system.
fn on_one_machine(run: &Run) -> bool {
    let boots: Vec<Option<&str>> = run.info.hosts.iter().map(|host| host.boot.as_deref()).collect();
    boots.len() > 1 && boots[0].is_some() && boots.iter().all(|boot| *boot == boots[0])
}

/// A message from host 0 to a host on another machine and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Echo {
    /// Shortest time to the nearest and to the farthest host, in nanoseconds.
    pub shortest_ns: [f64; 2],
    /// The longer of them over the median latency of the table's requests, where that is known.
    pub share: Option<f64>,
}

/// One host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    /// Its number among the hosts.
    pub rank: u32,
    /// Name of the machine.
    pub name: String,
    /// Its requests a second; without an interval where there are fewer than five valid trials.
    pub iops: Estimate,
    /// Its part of the throughput of all.
    pub share: f64,
    /// Median over the trials of its median latency, in nanoseconds.
    pub latency_ns_p50: Option<f64>,
    /// Median over the trials of its 99th percentile, in nanoseconds.
    pub latency_ns_p99: Option<f64>,
    /// Median over the trials of its first request after the announced moment, in nanoseconds.
    pub late_ns: f64,
    /// How it differs from the others, where the check `odd-host` names it.
    pub odd: Option<OddOne>,
    /// Whether it was slow for a while, by the check `host-slowed`.
    pub slowed: bool,
}

/// The hosts of a run beside each other; `None` where one host measured, or where no trial of all hosts is valid.
pub fn host_table(run: &Run) -> Option<HostTable> {
    let (point, spec, trials) = lead(run)?;
    let rates: Vec<HostRates> = trials.iter().filter_map(|trial| HostRates::of(trial)).collect();
    let hosts = trials.first()?.hosts.len();
    let confidence = iosonde_judge::standing::confidence(run);
    let of_host = |at: usize| {
        let own: Vec<f64> = rates.iter().map(|rates| rates.logs[at].exp()).collect();
        let turns = rates.iter().map(|rates| rates.one_turn / 2.0).sum::<f64>() / own.len().max(1) as f64;
        let iops = match over_trials::mean(&own, confidence) {
            Some(mean) => over_trials::widened(mean, turns),
            None => Estimate { value: median(&own)?, low: None, high: None },
        };
        let shares: Vec<&HostShare> = trials.iter().map(|trial| &trial.hosts[at]).collect();
        let rank = shares.first()?.rank;
        let latency = |pick: fn(&HostDirection) -> Option<f64>| {
            let own: Vec<f64> = shares.iter().filter_map(|share| pick(only_direction(share)?)).collect();
            median(&own)
        };
        let late: Vec<f64> = shares.iter().map(|share| share.late_ns as f64).collect();
        Some(HostRow {
            rank,
            name: run.info.hosts.iter().find(|host| host.rank == rank)?.name.clone(),
            iops,
            share: 0.0,
            latency_ns_p50: latency(|direction| direction.latency_ns_p50),
            latency_ns_p99: latency(|direction| direction.latency_ns_p99),
            late_ns: median(&late)?,
            odd: odd(run).find(|one| one.rank == rank).cloned(),
            slowed: slowed(run).any(|one| one.rank == rank),
        })
    };
    let mut rows: Vec<HostRow> = (0..hosts).map(of_host).collect::<Option<_>>()?;
    let all: f64 = rows.iter().map(|row| row.iops.value).sum();
    rows.iter_mut().for_each(|row| row.share = row.iops.value / all);
    let echo = echo(run, &trials, &rows);
    Some(HostTable {
        point,
        spec: spec.clone(),
        trials: trials.len(),
        confidence,
        rows,
        echo,
        starts: starts(run),
        on_one_machine: run.info.device.medium != Medium::Simulated && on_one_machine(run),
    })
}

/// Echoes between machines; within one there is no network.
fn echo(run: &Run, trials: &[&Trial], rows: &[HostRow]) -> Option<Echo> {
    let boot = |rank: u32| run.info.hosts.iter().find(|host| host.rank == rank)?.boot.as_deref();
    let first = boot(0)?;
    let elsewhere = rows.iter().filter(|row| boot(row.rank).is_some_and(|own| own != first));
    let shortest = |row: &HostRow| {
        let own = trials.iter().flat_map(|trial| &trial.hosts).filter(|share| share.rank == row.rank);
        own.map(|share| share.round_trip_ns as f64).filter(|ns| *ns > 0.0).min_by(f64::total_cmp)
    };
    let all: Vec<f64> = elsewhere.filter_map(shortest).collect();
    let nearest = all.iter().copied().min_by(f64::total_cmp)?;
    let farthest = all.iter().copied().max_by(f64::total_cmp)?;
    let medians: Vec<f64> = rows.iter().filter_map(|row| row.latency_ns_p50).collect();
    Some(Echo { shortest_ns: [nearest, farthest], share: median(&medians).map(|ns| farthest / ns) })
}

/// The point of all hosts with the highest throughput, with its valid trials; one with enough trials for an interval
/// goes before one with fewer.
fn lead(run: &Run) -> Option<(usize, &TrialSpec, Vec<&Trial>)> {
    let hosts = Some(all_hosts(run)).filter(|&hosts| hosts > 1)?;
    let standing = TrialStanding::of(run);
    let valid = |trial: &&Trial| standing.is_valid_for(trial, About::Rate) && HostRates::of(trial).is_some();
    if run.points.is_empty() {
        // A single workload given by hand.
        let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
        let last = measured.filter(|trial| trial.hosts.len() == hosts).rfind(valid)?;
        return Some((0, &last.spec, vec![last]));
    }
    let trials_of = |point: &Point| -> Vec<&Trial> {
        let own = |trial: &&Trial| {
            trial.phase == Phase::Measure && trial.point == Some(point.id) && trial.hosts.len() == hosts
        };
        run.trials.iter().filter(own).filter(valid).collect()
    };
    let all = run.points.iter().map(|point| (point, trials_of(point)));
    let measured = all.filter(|(_, trials)| !trials.is_empty());
    let bytes_per_s =
        |trials: &[&Trial]| trials.iter().map(|trial| trial.bytes_per_s()).sum::<f64>() / trials.len() as f64;
    let best = measured.max_by(|(_, a), (_, b)| {
        let enough = |trials: &[&Trial]| trials.len() >= FEWEST_TRIALS;
        enough(a).cmp(&enough(b)).then(bytes_per_s(a).total_cmp(&bytes_per_s(b)))
    })?;
    Some((best.0.id, &best.0.spec, best.1))
}

/// Reads where there are any, otherwise writes, otherwise trims: one histogram.
fn only_direction(share: &HostShare) -> Option<&HostDirection> {
    Op::DIRECTIONS.into_iter().find_map(|op| share.direction(op).filter(|own| own.ios > 0))
}

/// The hosts that a check names.
fn odd(run: &Run) -> impl Iterator<Item = &OddOne> {
    run.verdicts.iter().filter_map(|judgement| judgement.cause.as_ref()).flat_map(|cause| match cause {
        Cause::OddHost(OddHost::Odd { odd, .. }) => odd.as_slice(),
        _ => &[],
    })
}

fn slowed(run: &Run) -> impl Iterator<Item = &SlowedHost> {
    run.verdicts.iter().filter_map(|judgement| judgement.cause.as_ref()).flat_map(|cause| match cause {
        Cause::HostSlowed(HostSlowed::Slowed { slowed, .. }) => slowed.as_slice(),
        _ => &[],
    })
}
