//! A host that is slower or faster than the others.
//!
//! Looks at: each host's throughput in each valid trial of several hosts, over the median of the others in the same
//! trial. Interference that all hosts share cancels. The throughput is mean queue depth over mean latency (Little's
//! law), because a count of requests is off by up to one turn of the queue. Nine hosts with 20 requests each took turns
//! at two servers: the counts of one host were 26 % low in every trial, and Little's law was off by 0.1 %. Counts are
//! used where the law does not hold: with flushes, or where both differ by more than one turn at each end.
//!
//! Rule: a warning where the interval of a host's ratio lies beyond 2 %. The host that differs most is named first. It
//! leaves the reference, and the others are compared again, until two are left. Without that, one host of three at 0.8
//! would make each of the others 12 % faster than its median. The ratio is the geometric mean over the points; their
//! errors count as fully correlated. Each of n hosts has the n-th part of the error rate (Bonferroni): at most 5 % of
//! runs with equal hosts name one. Counts widen the interval by one turn of each side. More rounds narrow it. Where
//! half of the hosts differ from the other half, one half is named, and either may be the odd one.
//!
//! Not checked with fewer than three hosts (two differ from each other), or fewer than five valid rounds of a point.
//!
//! Verdict: a warning about the throughput. The sum over all hosts stays as it is: it is what they had together.
//!
//! Measured: see docs/many-hosts.md, over drawn clusters of six kinds.
//!
//! What to do: look for what differs on that host: its link (speed, errors), mount options, kernel, processor clock, or
//! other work on it. Exchange it for another one; where the place stays slow, it is the network.

use std::collections::BTreeMap;

use iosonde_model::{About, CheckName, Phase, Reason, Run, Scope, Verdict, cause};
#[cfg(test)]
use iosonde_model::{HostDirection, HostShare};
use iosonde_stats::{LogEstimate, robust::median};

use super::{Check, TrialStanding};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::{
    estimate::FEWEST_TRIALS,
    host_rates::{HostRates, all_hosts},
};

/// Family-wise confidence of the statements about all hosts.
const CONFIDENCE: f64 = 0.95;
/// A smaller difference is no reason to look.
const MARGIN: f64 = 0.02;
/// Two hosts differ from each other; from three on one of them may differ from the others.
const HOSTS_MIN: usize = 3;

pub(super) struct OddHost;

impl Check for OddHost {
    fn id(&self) -> CheckName {
        CheckName::OddHost
    }

    fn after(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        let several = || run.trials.iter().any(|trial| trial.hosts.len() > 1);
        (scope == Scope::Run && several()).then(|| verdict(run, standing))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let quiet = |i: usize, host: u32| {
            1.0 + 0.01 * (((i * i * 7 + i * (host as usize + 3)) % 13) as f64 / 6.5 - 1.0)
        };
        let of = |rounds: usize, hosts: u32, law: fn(u32) -> f64| {
            let mut run = specimen::rounds(rounds, |_| 1e5);
            for (i, trial) in run.trials.iter_mut().enumerate() {
                trial.hosts = (0..hosts).map(|host| share(host, 1e5 * law(host) * quiet(i, host))).collect();
            }
            run
        };
        Specimens {
            pass: vec![of(12, 8, |_| 1.0), of(12, 3, |host| 1.0 + 0.004 * f64::from(host))],
            warning: vec![
                of(12, 8, |host| if host == 5 { 0.8 } else { 1.0 }),
                of(12, 3, |host| if host == 0 { 1.25 } else { 1.0 }),
            ],
            not_checked: vec![of(12, 2, |_| 1.0), of(3, 8, |_| 1.0)],
            ..Specimens::default()
        }
    }
}

#[cfg(test)]
fn share(rank: u32, iops: f64) -> HostShare {
    let read = HostDirection { ios: iops as u64, iops, ..HostDirection::default() };
    HostShare { rank, read: Some(read), ..HostShare::default() }
}

/// Logarithm of each host's throughput over the median of the like hosts but itself.
fn log_ratios(logs: &[f64], like: &[bool]) -> Vec<f64> {
    let mut sorted: Vec<f64> =
        logs.iter().zip(like).filter(|(_, like)| **like).map(|(log, _)| *log).collect();
    sorted.sort_by(f64::total_cmp);
    let ratio = |(own, like): (&f64, &bool)| {
        // The median of the others, without sorting anew for each of a thousand hosts.
        let place = if *like { sorted.partition_point(|log| log < own) } else { sorted.len() };
        let at = |n: usize| sorted[if n < place { n } else { n + 1 }];
        let others = sorted.len() - usize::from(*like);
        let middle = [at((others - 1) / 2), at(others / 2)];
        own - median(&middle).unwrap_or(*own)
    };
    logs.iter().zip(like).map(ratio).collect()
}

fn verdict(run: &Run, standing: &TrialStanding) -> Verdict {
    let hosts = all_hosts(run);
    let reason = |facts: cause::OddHost| Reason::new(About::Rate, facts);
    if hosts < HOSTS_MIN {
        return Verdict::NotChecked(reason(cause::OddHost::TooFewHosts { hosts, needed: HOSTS_MIN }));
    }
    let mut points: BTreeMap<usize, Vec<HostRates>> = BTreeMap::new();
    for trial in &run.trials {
        let counts = trial.phase == Phase::Measure && standing.is_valid_for(trial, About::Rate);
        let whole = trial.hosts.len() == hosts;
        if let Some((point, round)) = trial.point.filter(|_| counts && whole).zip(HostRates::of(trial)) {
            points.entry(point).or_default().push(round);
        }
    }
    points.retain(|_, rounds| rounds.len() >= FEWEST_TRIALS);
    if points.is_empty() {
        return Verdict::NotChecked(reason(cause::OddHost::TooFewRounds { needed: FEWEST_TRIALS }));
    }
    let odd: Vec<cause::OddOne> = stepped_down(hosts, &points)
        .into_iter()
        .map(|(host, Ratio { log, half })| {
            let name = run.info.hosts.get(host).map(|host| host.name.clone()).unwrap_or_default();
            let (ratio, low, high) = (log.exp(), (log - half).exp(), (log + half).exp());
            cause::OddOne { rank: host as u32, name, ratio, low, high }
        })
        .collect();
    if odd.is_empty() {
        return Verdict::Pass;
    }
    Verdict::Warning(reason(cause::OddHost::Odd { hosts, family_wise_confidence: CONFIDENCE, odd }))
}

/// Hosts that differ from those that are left, the one that differs most first.
fn stepped_down(hosts: usize, points: &BTreeMap<usize, Vec<HostRates>>) -> Vec<(usize, Ratio)> {
    let confidence = 1.0 - (1.0 - CONFIDENCE) / hosts as f64;
    let mut like = vec![true; hosts];
    let mut left = hosts;
    while left >= HOSTS_MIN {
        let odd = ratios(points, &like, confidence)
            .into_iter()
            .filter(|(host, ratio)| like[*host] && ratio.is_odd());
        let Some((host, _)) = odd.max_by(|(_, a), (_, b)| a.log.abs().total_cmp(&b.log.abs())) else { break };
        like[host] = false;
        left -= 1;
    }
    // Again, as the reference of the first ones held the later ones.
    let named = ratios(points, &like, confidence).into_iter();
    named.filter(|(host, ratio)| !like[*host] && ratio.is_odd()).collect()
}

/// Logarithm of a host's ratio, with half of the width of its interval.
#[derive(Clone, Copy)]
struct Ratio {
    log: f64,
    half: f64,
}

impl Ratio {
    fn is_odd(self) -> bool {
        self.log.abs() - self.half > (1.0 + MARGIN).ln()
    }
}

/// Each host's ratio to those that are like, itself excluded: the geometric mean over the points.
fn ratios(points: &BTreeMap<usize, Vec<HostRates>>, like: &[bool], confidence: f64) -> Vec<(usize, Ratio)> {
    let of_host = |host: usize, rounds: &[(Vec<f64>, f64)]| {
        let logs: Vec<f64> = rounds.iter().map(|(logs, _)| logs[host]).collect();
        let one_turn = rounds.iter().map(|(_, one_turn)| one_turn).sum::<f64>() / rounds.len() as f64;
        LogEstimate::mean_of(&logs).map(|mean| (mean.log_mean, mean.half_width(confidence) + one_turn))
    };
    let mut sums = vec![(0.0, 0.0, 0.0); like.len()];
    for rounds in points.values() {
        let compared = |round: &HostRates| (log_ratios(&round.logs, like), round.one_turn);
        let rounds: Vec<(Vec<f64>, f64)> = rounds.iter().map(compared).collect();
        for (host, (log, half, count)) in sums.iter_mut().enumerate() {
            if let Some((own_log, own_half)) = of_host(host, &rounds) {
                (*log, *half, *count) = (*log + own_log, *half + own_half, *count + 1.0);
            }
        }
    }
    let told = sums.into_iter().enumerate().filter(|(_, (_, _, count))| *count > 0.0);
    told.map(|(host, (log, half, count))| (host, Ratio { log: log / count, half: half / count })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hosts that are named in twelve rounds, with their ratios. `host` tells a host's part of a round.
    fn named(hosts: u32, host: impl Fn(usize, u32) -> HostShare) -> Vec<(u32, f64)> {
        let mut run = specimen::rounds(12, |_| 1e5);
        for (round, trial) in run.trials.iter_mut().enumerate() {
            trial.hosts = (0..hosts).map(|rank| host(round, rank)).collect();
        }
        match verdict(&run, &TrialStanding::default()) {
            Verdict::Pass => Vec::new(),
            Verdict::Warning(reason) => match reason.cause {
                cause::Cause::OddHost(cause::OddHost::Odd { odd, .. }) => {
                    odd.iter().map(|one| (one.rank, (one.ratio * 1e3).round() / 1e3)).collect()
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// Hosts that scatter by 0.5 % and have these throughputs.
    fn of(rates: &[f64]) -> Vec<(u32, f64)> {
        named(rates.len() as u32, |round, rank| {
            let scatter = if (round + rank as usize).is_multiple_of(2) { 1.005 } else { 1.0 / 1.005 };
            share(rank, 1e5 * rates[rank as usize] * scatter)
        })
    }

    fn ranks(named: &[(u32, f64)]) -> Vec<u32> {
        named.iter().map(|(rank, _)| *rank).collect()
    }

    /// The median of 0.8 and 1 is 0.89: each of the others is 12 % above it.
    #[test]
    fn of_three_or_four_hosts_the_odd_one_alone_is_named() {
        assert_eq!(ranks(&of(&[1.0, 0.8, 1.0])), [1]);
        assert_eq!(ranks(&of(&[1.25, 1.0, 1.0, 1.0])), [0]);
        assert_eq!(ranks(&of(&[1.0, 1.0, 1.0, 0.8])), [3]);
        assert_eq!(of(&[1.0, 1.0, 1.0]), []);
    }

    /// For three hosts without 0.8 the reference of 0.6 would be 0.89.
    #[test]
    fn ratios_are_to_the_hosts_that_are_not_named() {
        let two = of(&[1.0, 0.6, 1.0, 0.8, 1.0]);
        assert_eq!(ranks(&two), [1, 3]);
        for ((_, ratio), truth) in two.into_iter().zip([0.6, 0.8]) {
            assert!((ratio / truth - 1.0).abs() < 0.015, "{ratio} for {truth}");
        }
    }

    /// Two hosts that differ from each other tell nothing, and one half of four is as odd as the other.
    #[test]
    fn two_hosts_are_always_left() {
        assert_eq!(of(&[0.5, 0.8, 1.0]).len(), 1);
        assert_eq!(of(&[0.8, 0.8, 1.0, 1.0]).len(), 2);
    }

    /// Ten requests a host, served in turns: 4 turns or 5 end within the trial, in each round the same hosts' fifth.
    fn in_turns(depths: [f64; 4], latency_ns: impl Fn(u32) -> f64) -> impl Fn(usize, u32) -> HostShare {
        move |round, rank| {
            let depth = depths[rank as usize];
            let turns = if rank < 2 { 5.0 } else { 4.0 };
            let mut host = share(rank, depth * turns);
            host.in_flight_mean = Some(depth);
            // 222 ms a turn, 4.5 of them a second.
            host.read.as_mut().unwrap().latency_ns_mean =
                Some(latency_ns(rank) * (1.0 + 1e-4 * (round % 3) as f64));
            host
        }
    }

    #[test]
    fn a_turn_more_is_no_difference_and_hides_none() {
        let turn_ns = |_| 1e9 / 4.5;
        assert_eq!(named(4, in_turns([10.0; 4], turn_ns)), []);
        // By the counts its ratio is 50 / 50 or 40 / 40.
        assert_eq!(named(4, in_turns([10.0, 8.0, 10.0, 10.0], turn_ns)), [(1, 0.8)]);
        assert_eq!(named(4, in_turns([10.0, 10.0, 8.0, 10.0], turn_ns)), [(2, 0.8)]);
    }

    #[test]
    fn counts_are_used_where_latency_is_unknown_or_belongs_to_other_requests() {
        let turn_ns = |_| 1e9 / 4.5;
        let without_depth = |round, rank| HostShare {
            in_flight_mean: None,
            ..in_turns([10.0, 8.0, 10.0, 10.0], turn_ns)(round, rank)
        };
        assert_eq!(
            named(4, without_depth),
            [],
            "50 and 40 of 10 at a time do not differ by more than a turn"
        );
        // A host that sends late and counts from the moment that was due: 1,000 times a turn.
        let late_ns = |rank| if rank == 3 { 1e12 } else { 1e9 / 4.5 };
        assert_eq!(named(4, in_turns([10.0; 4], late_ns)), []);
    }

    /// A thousand hosts are compared in a step each, not sorted anew for each other.
    #[test]
    fn the_median_of_the_others_is_that_of_a_sorted_copy() {
        let logs = [0.3, 0.1, 0.2, 0.9, 0.1];
        let like = [true, true, false, true, true];
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let ratios = log_ratios(&logs, &like);
        // Others of the first: 0.1, 0.9, 0.1. The third is not like, and is not one of the four that are.
        assert!(close(ratios[0], 0.3 - 0.1) && close(ratios[1], 0.1 - 0.3), "{ratios:?}");
        assert!(close(ratios[2], 0.2 - 0.2) && close(ratios[3], 0.9 - 0.1), "{ratios:?}");
    }
}
