//! A host that is slower or faster than the others.
//!
//! Looks at: in each valid trial of several hosts, each host's throughput over the median of the others' in the same
//! trial, so that what disturbed all of them is in none of the ratios, and one bad host is in no other's reference.
//!
//! Rule: a warning where the interval of a host's ratio lies beyond 2 %. The ratio is the geometric mean over the
//! points, and its error counts the points as wholly alike. With n hosts each statement has the n-th part of what may
//! be wrong (Bonferroni): the chance of naming any host of a run in which all are alike is at most 5 %. With many
//! hosts and few rounds the intervals are wide; more rounds narrow them.
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

use iosonde_model::{About, CheckName, Op, Phase, Reason, Run, Scope, Trial, Verdict, cause};
#[cfg(test)]
use iosonde_model::{HostDirection, HostShare};
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
    HostShare { rank, read: Some(HostDirection { iops, ..HostDirection::default() }), ..HostShare::default() }
}

/// Logarithm of each host's throughput over the median of the others'; `None` where one of them did nothing.
fn log_ratios(trial: &Trial) -> Option<Vec<f64>> {
    let iops = |host: &iosonde_model::HostShare| {
        Op::DIRECTIONS.into_iter().filter_map(|op| host.direction(op)).map(|own| own.iops).sum::<f64>()
    };
    let logs: Vec<f64> = trial.hosts.iter().map(|host| iops(host).ln()).collect();
    if !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let mut sorted = logs.clone();
    sorted.sort_by(f64::total_cmp);
    let ratio = |own: &f64| {
        // The median of the others, without sorting anew for each of a thousand hosts.
        let place = sorted.partition_point(|log| log < own);
        let at = |n: usize| sorted[if n < place { n } else { n + 1 }];
        let others = sorted.len() - 1;
        let middle = [at((others - 1) / 2), at(others / 2)];
        own - median(&middle).unwrap_or(*own)
    };
    Some(logs.iter().map(ratio).collect())
}

fn verdict(run: &Run, standing: &TrialStanding) -> Verdict {
    let hosts = run.trials.iter().map(|trial| trial.hosts.len()).max().unwrap_or(0);
    let reason = |facts: cause::OddHost| Reason::new(About::Rate, facts);
    if hosts < HOSTS_MIN {
        return Verdict::NotChecked(reason(cause::OddHost::TooFewHosts { hosts, needed: HOSTS_MIN }));
    }
    let mut points: BTreeMap<usize, Vec<Vec<f64>>> = BTreeMap::new();
    for trial in &run.trials {
        let counts = trial.phase == Phase::Measure && standing.is_valid_for(trial, About::Rate);
        let whole = trial.hosts.len() == hosts;
        if let Some((point, ratios)) = trial.point.filter(|_| counts && whole).zip(log_ratios(trial)) {
            points.entry(point).or_default().push(ratios);
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
fn ratio(host: usize, points: &BTreeMap<usize, Vec<Vec<f64>>>, confidence: f64) -> Option<(f64, f64, f64)> {
    let of_point = |rounds: &Vec<Vec<f64>>| {
        LogEstimate::mean_of(&rounds.iter().map(|ratios| ratios[host]).collect::<Vec<f64>>())
    };
    let told: Vec<LogEstimate> = points.values().filter_map(of_point).collect();
    let mean = |of: &dyn Fn(&LogEstimate) -> f64| told.iter().map(of).sum::<f64>() / told.len() as f64;
    let (log, half) = (mean(&|one| one.log_mean), mean(&|one| one.half_width(confidence)));
    (!told.is_empty()).then(|| (log.exp(), (log - half).exp(), (log + half).exp()))
}
