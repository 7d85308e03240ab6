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
//! Verdict: invalid about everything. The trial is repeated within the round, longer where it had too few turns and the
//! time allows it. A trial of one host is not looked at.
//!
//! Example: elbencho assumes that the hosts' clocks agree, and fio's server has no barrier between workloads: neither
//! says how long the hosts were together.
//!
//! What to do: look at the slowest host in the report (`hosts` of the trial in the JSON). One that is always late is
//! busy with other work; where all are late by turns, there are more processes than processors.

use iosonde_model::{About, CheckName, Reason, Run, Scope, Trial, Verdict, cause};
#[cfg(test)]
use iosonde_model::{HostShare, Togetherness};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::host_turns::{FewTurns, TURNS_MIN, few_turns};

/// Time of all over the time of any.
const OVERLAP_MIN: f64 = 0.98;

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
    if let Some(FewTurns { few, wanted_s }) = few_turns(trial) {
        let (hosts, elapsed_s, turns_needed) = (trial.hosts.len() as u32, trial.elapsed_s, TURNS_MIN);
        let facts = cause::HostsApart::FewTurns { hosts, few, turns_needed, elapsed_s, wanted_s };
        return Some(Verdict::Invalid(Reason::new(About::All, facts)));
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
