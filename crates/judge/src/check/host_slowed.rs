//! A host that was slow for a while, when the others were not.
//!
//! Looks at: how many requests of each host completed in each window of a trial (100 ms), over the median of the other
//! hosts in the same window. What all hosts share cancels: another user of the storage, its network, the storage's own
//! work. That is left to `interference`, which looks at the sum.
//!
//! Rule: that of `interference` for slow periods: stretches of two windows and more, in three places or more and for
//! 0.5 % of the time or more, that are both 5 standard deviations and 20 % below what is usual between these hosts. One
//! window is enough where the host has less than half of that. It is told whether the others gained most of what this
//! host lost, as they do where the storage is saturated, or the throughput of all fell.
//!
//! Not checked with fewer than three hosts, of more than 64 (their windows are not kept), or where no point has 20
//! windows in each of which a host usually completes 30 requests.
//!
//! Verdict: a warning about the throughput. The sum over all hosts stays as it is: it is what they had together.
//!
//! Measured: see docs/many-hosts.md, over drawn clusters.
//!
//! What to do: look for other work on that host, for a limit of its virtual machine, and for errors of its link. Where
//! the others gain what it loses, measure with fewer hosts (`iosonde run host-scaling`): the storage is saturated, and
//! does not share itself out evenly.

use iosonde_model::{About, CheckName, Reason, Run, Scope, Trial, Verdict, cause};
use iosonde_stats::robust::median;

use super::{
    Check, TrialStanding,
    host_windows::{self, HOSTS_MIN, HostWindow},
    slow_periods::{Found, Observed, REQUESTS_MIN, Slice, SlowPeriods, WINDOWS_MIN},
};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::host_rates::all_hosts;

/// One window counts where a host has less than this share of what is usual: what the storage does by itself strikes
/// all of them, and many trials have no two windows in which all hosts measured.
const LONE_SHARE: f64 = 0.5;

pub(super) struct HostSlowed;

impl Check for HostSlowed {
    fn id(&self) -> CheckName {
        CheckName::HostSlowed
    }

    fn after(&self, scope: Scope, run: &Run, _: &TrialStanding) -> Option<Verdict> {
        let several = || run.trials.iter().any(|trial| trial.hosts.len() > 1);
        (scope == Scope::Run && several()).then(|| verdict(run))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let of = |hosts: u32, factor: fn(usize, usize, u32) -> f64| {
            let mut run = specimen::rounds(40, |i| 1e5 + 100.0 * (i % 7) as f64);
            for (round, trial) in run.trials.iter_mut().enumerate() {
                let windows = trial.windows.len();
                let ios = |window: usize, rank| {
                    (1000.0 * factor(round, window, rank)) as u64
                        + (window as u64 * 7 + u64::from(rank) * 3) % 13
                };
                trial.hosts = (0..hosts)
                    .map(|rank| iosonde_model::HostShare {
                        rank,
                        window_ios: (0..windows).map(|window| ios(window, rank)).collect(),
                        ..iosonde_model::HostShare::default()
                    })
                    .collect();
            }
            run
        };
        let mut not_kept = of(4, |_, _, _| 1.0);
        not_kept
            .trials
            .iter_mut()
            .flat_map(|trial| &mut trial.hosts)
            .for_each(|host| host.window_ios.clear());
        Specimens {
            pass: vec![
                of(4, |_, _, _| 1.0),
                // All at once: another user.
                of(4, |round, window, _| if round % 8 == 3 && window / 4 == 1 { 0.4 } else { 1.0 }),
                // One is slow all the time: that is `odd-host`.
                of(4, |_, _, rank| if rank == 2 { 0.5 } else { 1.0 }),
            ],
            warning: vec![of(
                4,
                |round, window, rank| {
                    if rank == 2 && round % 8 == 3 && window / 4 == 1 { 0.4 } else { 1.0 }
                },
            )],
            not_checked: vec![
                of(2, |_, _, _| 1.0),
                not_kept,
                // Ten requests in a window scatter by a third of themselves.
                of(4, |_, _, _| 0.01),
            ],
            ..Specimens::default()
        }
    }
}

fn verdict(run: &Run) -> Verdict {
    let reason = |facts: cause::HostSlowed| Reason::new(About::Rate, facts);
    let hosts = all_hosts(run);
    if hosts < HOSTS_MIN {
        return Verdict::NotChecked(reason(cause::HostSlowed::TooFewHosts { hosts, needed: HOSTS_MIN }));
    }
    if !run.trials.iter().any(|trial| !host_windows::of(trial).is_empty()) {
        return Verdict::NotChecked(reason(cause::HostSlowed::NoWindows { hosts }));
    }
    let observed = Observed::of(run);
    let (mut slowed, mut seen) = (Vec::new(), false);
    for rank in 0..hosts as u32 {
        match observed.slow_periods(Some(LONE_SHARE), |trial| beside_others(trial, rank)) {
            Found::TooFewWindows => {}
            Found::Even => seen = true,
            Found::Slow(slow) => {
                seen = true;
                slowed.push(host(run, rank, &slow));
            }
        }
    }
    if !seen {
        let (windows_needed, requests_needed) = (WINDOWS_MIN, REQUESTS_MIN);
        let too_few = cause::HostSlowed::TooFewWindows { windows_needed, requests_needed };
        return Verdict::NotChecked(reason(too_few));
    }
    if slowed.is_empty() {
        return Verdict::Pass;
    }
    slowed.sort_by(|a: &cause::SlowedHost, b| b.time_share.total_cmp(&a.time_share));
    Verdict::Warning(reason(cause::HostSlowed::Slowed { hosts, slowed }))
}

fn host(run: &Run, rank: u32, slow: &SlowPeriods) -> cause::SlowedHost {
    let (loss_share, all_share) = (slow.loss_share(), slow.all_share(run));
    // Alike, each has one part of the sum of those that took part in these trials.
    let took_part =
        |id: u64| run.trials.iter().find(|trial| trial.id == id).map(|trial| trial.hosts.len() as f64);
    let hosts: Vec<f64> = slow.windows().filter_map(|(id, _)| took_part(id)).collect();
    let alone_share = loss_share / median(&hosts).unwrap_or(1.0);
    cause::SlowedHost {
        rank,
        name: run.info.hosts.get(rank as usize).map(|host| host.name.clone()).unwrap_or_default(),
        periods: slow.count(),
        length_s: slow.length_s(),
        loss_share,
        time_share: slow.time_share,
        period_s: slow.period_s(),
        all_share,
        made_up_share: (1.0 - (1.0 - all_share) / alone_share).clamp(0.0, 1.0),
    }
}

/// A host's throughput over the median of the others', window by window; nothing in trials without it, or with too few
/// others.
fn beside_others(trial: &Trial, rank: u32) -> Vec<Slice> {
    let Some(at) = trial.hosts.iter().position(|host| host.rank == rank) else { return Vec::new() };
    if trial.hosts.len() < HOSTS_MIN {
        return Vec::new();
    }
    let slice = |HostWindow { window, requests, mut logs }: HostWindow| {
        let own = logs.swap_remove(at);
        Slice { window, requests: requests[at], log: own - median(&logs).unwrap_or(own) }
    };
    host_windows::of(trial).into_iter().map(slice).collect()
}
