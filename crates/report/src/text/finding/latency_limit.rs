//! Words of the load up to which a latency limit is kept.

use crate::text::{case::capitalised, workload::workload};
use iosonde_model::{
    Arrivals, Finding,
    detail::{LatencyLimitProblem, LatencyLimited},
    units,
};

use super::value::value;

pub(super) fn sentence(finding: &Finding, facts: &LatencyLimited) -> String {
    let what = capitalised(&workload(&finding.conditions));
    let beside = match facts.read_share {
        Some(share) => format!(", beside one write for every {} reads", units::count(share / (1.0 - share))),
        None => String::new(),
    };
    format!("{what} keep {} up to {}{beside}.", facts.limit.describe(), value(finding))
}

pub(super) fn why(facts: &LatencyLimited) -> String {
    let arrivals = match facts.arrivals {
        Arrivals::Fixed => "Evenly spaced",
        Arrivals::Poisson => "Poisson",
    };
    format!("{arrivals} arrivals; latency counts from the intended start. Mean over {} rounds.", facts.rounds)
}

/// A clause without its full stop.
pub(super) fn problem(problem: &LatencyLimitProblem) -> String {
    let load = |iops: &f64| format!("{} IOPS", units::count(*iops));
    match problem {
        LatencyLimitProblem::TooFewRequests { spec, needed } => {
            format!("the trials of {} have too few requests; the percentile needs {needed}", spec.describe())
        }
        LatencyLimitProblem::NoRounds => "no round has two loads with valid latency".to_owned(),
        LatencyLimitProblem::AllKeep { highest_iops } => {
            format!("kept at every load tried, up to {}; the limit was not found", load(highest_iops))
        }
        LatencyLimitProblem::NoneKeeps { lowest_iops } => {
            format!(
                "exceeded even at {}, the lowest load with enough trials; begin with a lower load: `--set rate=..`",
                load(lowest_iops)
            )
        }
        LatencyLimitProblem::NoneCanKeep { lowest_iops, over_share } => format!(
            "no load keeps it: at {}, the lowest load, {} of requests exceed it",
            load(lowest_iops),
            units::percent(*over_share)
        ),
        LatencyLimitProblem::TooFewRounds { rounds, needed } => {
            format!("{rounds} rounds have loads on both sides of the limit, {needed} are needed")
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Inconclusive, Unit};

    use super::super::{sentence, tests::reads};
    use super::*;

    #[test]
    fn the_limit_stands_in_the_sentence_whether_it_is_kept_or_not() {
        let limit = "p99=1ms".parse().unwrap();
        let facts = LatencyLimited { limit, arrivals: Arrivals::Poisson, read_share: None, rounds: 9 };
        let of = |detail| {
            sentence(&reads(FindingName::IopsAtLatency, Unit::Iops, [5400.0, 5300.0, 5500.0], detail))
        };
        assert_eq!(
            of(Detail::LatencyLimited(facts)),
            "4 KiB random reads keep p99 under 1.00 ms up to 5.40 k IOPS (±1.9 %)."
        );
        let problem = LatencyLimitProblem::NoneCanKeep { lowest_iops: 500.0, over_share: 1.0 };
        assert_eq!(
            of(Detail::Inconclusive(Inconclusive::LatencyLimit { limit, problem })),
            "IOPS with p99 under 1.00 ms of 4 KiB random reads: unknown; no load keeps it: at 500 IOPS, the lowest \
             load, 100 % of requests exceed it."
        );
    }
}
