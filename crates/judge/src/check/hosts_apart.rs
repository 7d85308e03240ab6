//! Hosts that did not measure at the same time.
//!
//! Looks at: for each host of a trial, the moments of its first request and of its end, on the clock of rank 0 (clocks
//! are compared over the hosts' own messages, by the shortest of several round trips).
//!
//! Rule: a trial is invalid where the time in which all hosts had requests is less than 98 % of the time in which any
//! had, up to the end of the time that was asked: what comes back after it does not count. The throughput of all is
//! then the sum of what was not there at once: a host that is alone for 2 % of the time is given up to all of the
//! storage in it. The clocks' own error counts against it. A trial is invalid, too, where a host completed less than
//! three times what it had outstanding: it ended before the storage had come round to all hosts often enough, and the
//! sum depends on whose turn it was. Where a rate was asked, nothing is said of turns.
//!
//! Verdict: invalid about everything. The trial is repeated within the round. A trial of one host is not looked at.
//!
//! Example: elbencho assumes that the hosts' clocks agree, and fio's server has no barrier between workloads: neither
//! says how long the hosts were together.
//!
//! What to do: look at the slowest host in the report (`hosts` of the trial in the JSON). One that is always late is
//! busy with other work; where all are late by turns, there are more processes than processors.

#[cfg(test)]
use iosonde_model::Togetherness;
use iosonde_model::{About, CheckName, HostShare, Op, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Time of all over the time of any.
const OVERLAP_MIN: f64 = 0.98;

/// Requests of a host over those that it had outstanding. On a simulated queue of 1,024 hosts the sum was exact at 4
/// and 17 % too low at 2.
const TURNS_MIN: u64 = 3;

pub(super) struct HostsApart;

impl Check for HostsApart {
    fn id(&self) -> CheckName {
        CheckName::HostsApart
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).and_then(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |hosts: u32, overlap_share: f64, clock_error_ns: u64| {
            let mut trial = specimen::usual();
            let together = Togetherness { hosts, overlap_share, clock_error_ns, ..Togetherness::default() };
            trial.witnesses.hosts = (hosts > 0).then_some(together);
            trial.spec.hosts = hosts.max(1);
            specimen::run(trial)
        };
        Specimens {
            pass: vec![with(4, 0.9995, 10_000), with(1024, 0.98, 0)],
            invalid: vec![
                with(4, 0.979, 0),
                with(2, 0.0, 0),
                // The clocks may be off by 100 ms: the second of the trial is not known to a tenth.
                with(4, 0.999, 100_000_000),
                {
                    let mut run = with(2, 1.0, 0);
                    run.trials[0].hosts = vec![HostShare::of(0, &specimen::usual()), HostShare::default()];
                    run
                },
            ],
            // All of them measured, and nobody wrote down when.
            not_checked: vec![specimen::run({
                let mut trial = specimen::usual();
                trial.spec.hosts = 4;
                trial
            })],
            ..Specimens::default()
        }
    }
}

fn verdict(trial: &Trial) -> Option<Verdict> {
    let Some(together) = &trial.witnesses.hosts else {
        let unknown = || Reason::new(About::All, cause::HostsApart::Unknown { hosts: trial.spec.hosts });
        return (trial.spec.hosts > 1).then(|| Verdict::NotChecked(unknown()));
    };
    let turns = few_turns(trial);
    if turns.is_some() {
        return turns.map(|facts| Verdict::Invalid(Reason::new(About::All, facts)));
    }
    let doubt_share = together.clock_error_ns as f64 / 1e9 / trial.elapsed_s.max(1e-9);
    if together.overlap_share - doubt_share >= OVERLAP_MIN {
        return Some(Verdict::Pass);
    }
    let facts = cause::HostsApart::Apart {
        hosts: together.hosts,
        overlap_share: together.overlap_share,
        start_skew_ns: together.start_skew_ns,
        slowest_rank: together.slowest_rank,
        slowest_late_ns: together.slowest_late_ns,
        clock_error_ns: together.clock_error_ns,
    };
    Some(Verdict::Invalid(Reason::new(About::All, facts)))
}

/// Hosts to which the storage did not come round often enough; `None` if there are none.
fn few_turns(trial: &Trial) -> Option<cause::HostsApart> {
    if trial.spec.streams().any(|stream| stream.rate_iops.is_some()) {
        return None;
    }
    let hosts = trial.hosts.len() as u64;
    let needed = TURNS_MIN * trial.spec.asked_in_flight() / hosts.max(1);
    let done = |host: &HostShare| -> u64 {
        Op::DIRECTIONS.into_iter().filter_map(|op| host.direction(op)).map(|own| own.ios).sum()
    };
    let few = trial.hosts.iter().filter(|host| done(host) < needed).count() as u32;
    (few > 0).then_some(cause::HostsApart::FewTurns { hosts: hosts as u32, few, turns_needed: TURNS_MIN })
}
