//! A host that is slower or faster than the others.
//!
//! Looks at: in each valid trial of several hosts, each host's throughput over the median of the others' in the same
//! trial, so that what disturbed all of them is in none of the ratios, and one bad host is in no other's reference.
//!
//! Rule: a warning where the interval of a host's ratio lies beyond 2 %. The ratio is the geometric mean over the
//! points, and its error counts the points as wholly alike. With n hosts each statement has the n-th part of what may
//! be wrong (Bonferroni), and is wider by one turn of each side (what a host has outstanding): the chance of naming
//! any host of a run in which all are alike is at most 5 %. With many hosts and few rounds the intervals are wide;
//! more rounds narrow them.
//!
//! Not checked with fewer than three hosts (two differ from each other), or fewer than five valid rounds of a point.
//!
//! Verdict: a warning about the throughput. The sum over all hosts stays as it is: it is what they had together.
//!
//! Measured: see docs/many-hosts.md.
//!
//! What to do: look for what differs on that host: its link (speed, errors), mount options, kernel, processor clock, or
//! other work on it. Exchange it for another one; where the place stays slow, it is the network.

use std::collections::BTreeMap;

use iosonde_model::{
    About, CheckName, HostDirection, HostShare, Op, Phase, Reason, Run, Scope, Trial, Verdict, cause,
};
use iosonde_stats::{LogEstimate, robust::median};

use super::{Check, TrialStanding};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::estimate::FEWEST_TRIALS;

/// Of all statements together.
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

/// The hosts of one round.
struct Round {
    /// Logarithm of each host's throughput over the median of the others'.
    log_ratios: Vec<f64>,
    /// What one turn more or less on both sides of a ratio changes it by. Hosts that take turns at a queue complete all
    /// that they have outstanding in each, and the same hosts are ahead in each round.
    one_turn: f64,
}

/// A trial as a round; `None` where a host did nothing.
fn round(trial: &Trial) -> Option<Round> {
    let sides = |host: &HostShare, of: fn(&HostDirection) -> f64| -> f64 {
        Op::DIRECTIONS.into_iter().filter_map(|op| host.direction(op)).map(of).sum()
    };
    let least = trial.hosts.iter().map(|host| sides(host, |own| own.ios as f64)).reduce(f64::min)?;
    let logs: Vec<f64> = trial.hosts.iter().map(|host| sides(host, |own| own.iops).ln()).collect();
    let outstanding = trial.spec.asked_in_flight() as f64 / trial.hosts.len() as f64;
    let has_done = least > 0.0 && logs.iter().all(|log| log.is_finite());
    has_done
        .then(|| Round { log_ratios: log_ratios(&logs), one_turn: 2.0 * (1.0 + outstanding / least).ln() })
}

fn log_ratios(logs: &[f64]) -> Vec<f64> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ratio = |own: &f64| {
        // The median of the others, without sorting anew for each of a thousand hosts.
        let place = sorted.partition_point(|log| log < own);
        let at = |n: usize| sorted[if n < place { n } else { n + 1 }];
        let others = sorted.len() - 1;
        let middle = [at((others - 1) / 2), at(others / 2)];
        own - median(&middle).unwrap_or(*own)
    };
    logs.iter().map(ratio).collect()
}

fn verdict(run: &Run, standing: &TrialStanding) -> Verdict {
    let hosts = run.trials.iter().map(|trial| trial.hosts.len()).max().unwrap_or(0);
    let reason = |facts: cause::OddHost| Reason::new(About::Rate, facts);
    if hosts < HOSTS_MIN {
        return Verdict::NotChecked(reason(cause::OddHost::TooFewHosts { hosts, needed: HOSTS_MIN }));
    }
    let mut points: BTreeMap<usize, Vec<Round>> = BTreeMap::new();
    for trial in &run.trials {
        let counts = trial.phase == Phase::Measure && standing.is_valid_for(trial, About::Rate);
        let whole = trial.hosts.len() == hosts;
        if let Some((point, round)) = trial.point.filter(|_| counts && whole).zip(round(trial)) {
            points.entry(point).or_default().push(round);
        }
    }
    points.retain(|_, rounds| rounds.len() >= FEWEST_TRIALS);
    if points.is_empty() {
        return Verdict::NotChecked(reason(cause::OddHost::TooFewRounds { needed: FEWEST_TRIALS }));
    }
    let confidence = 1.0 - (1.0 - CONFIDENCE) / hosts as f64;
    let told = (0..hosts).filter_map(|host| Some((host, ratio(host, &points, confidence)?)));
    let odd: Vec<cause::OddOne> = told
        .filter(|(_, (_, low, high))| *low > 1.0 + MARGIN || *high < 1.0 / (1.0 + MARGIN))
        .map(|(host, (ratio, low, high))| {
            let name = run.info.hosts.get(host).map(|host| host.name.clone()).unwrap_or_default();
            cause::OddOne { rank: host as u32, name, ratio, low, high }
        })
        .collect();
    if odd.is_empty() {
        return Verdict::Pass;
    }
    Verdict::Warning(reason(cause::OddHost::Odd { hosts, family_wise_confidence: CONFIDENCE, odd }))
}

/// A host's ratio with its interval.
fn ratio(host: usize, points: &BTreeMap<usize, Vec<Round>>, confidence: f64) -> Option<(f64, f64, f64)> {
    let of_point = |rounds: &Vec<Round>| {
        let logs: Vec<f64> = rounds.iter().map(|round| round.log_ratios[host]).collect();
        let one_turn = rounds.iter().map(|round| round.one_turn).sum::<f64>() / rounds.len() as f64;
        LogEstimate::mean_of(&logs).map(|mean| (mean.log_mean, mean.half_width(confidence) + one_turn))
    };
    let told: Vec<(f64, f64)> = points.values().filter_map(of_point).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| told.iter().map(of).sum::<f64>() / told.len() as f64;
    let (log, half) = (mean(|one| one.0), mean(|one| one.1));
    (!told.is_empty()).then(|| (log.exp(), (log - half).exp(), (log + half).exp()))
}
