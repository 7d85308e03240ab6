//! Words of `throttle_rate` and `burst_credit_bytes`.

use crate::text::{case::capitalised, workload::workload};
use iosonde_model::{
    Finding, FindingName, IoLimit,
    detail::{Limit, LimitProblem},
    units,
};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: &Limit) -> String {
    let (what, figure) = (workload(&finding.conditions), value(finding));
    let credit = finding.name == FindingName::BurstCreditBytes;
    let text = match facts {
        Limit::Set { .. } if credit => {
            format!("{what} have no burst credit: a limit holds from the first trial.")
        }
        Limit::Set { limit, .. } => {
            format!("{what} are limited to {figure}; {} allows {}.", limit.set_by, allowed(limit))
        }
        Limit::Fell { .. } if credit => {
            let requests =
                finding.value.unwrap_or(0.0) / finding.conditions.block_size_bytes.unwrap_or(1) as f64;
            let requests = units::count(requests);
            format!("{what} had a burst credit of {figure} ({requests} requests) when the run began.")
        }
        Limit::Fell { .. } => format!("{what} are limited to {figure} once the burst credit is spent."),
        Limit::Level { .. } if credit => {
            format!("no burst credit of {what} found: throughput does not fall.")
        }
        Limit::Level { .. } => format!("no rate limit of {what} found: throughput does not fall."),
    };
    capitalised(&text)
}

fn allowed(limit: &IoLimit) -> String {
    match (limit.iops, limit.bytes_per_s) {
        (Some(iops), _) => format!("{} IOPS", units::count(iops)),
        (None, rate) => units::rate(rate.unwrap_or(0.0)),
    }
}

/// Assumptions, or why there is no limit.
pub(super) fn why(finding: &Finding, facts: &Limit) -> String {
    let credit = finding.name == FindingName::BurstCreditBytes;
    match facts {
        Limit::Set { limit, .. } if credit => format!("{} sets it.", limit.set_by),
        Limit::Set { trials, .. } => format!("Mean over {trials} trials at the limit."),
        Limit::Fell { before_iops, lasted_s } if credit => {
            format!("It lasted {} at {} IOPS.", units::duration(*lasted_s), units::count(*before_iops))
        }
        Limit::Fell { before_iops, lasted_s } => format!(
            "Throughput fell from {} IOPS after {}, and then stays within 1 %.",
            units::count(*before_iops),
            units::duration(*lasted_s)
        ),
        Limit::Level { load_s } if credit => {
            format!(
                "Under load for {}; a larger credit lasts longer (use a longer `--time`).",
                units::duration(*load_s)
            )
        }
        Limit::Level { load_s } => format!(
            "Under load for {}; a limit from the first second, or after a longer credit, does not show.",
            units::duration(*load_s)
        ),
    }
}

/// A clause without its full stop.
pub(super) fn problem(problem: LimitProblem) -> String {
    match problem {
        LimitProblem::FewWindows { windows } => format!("the load has only {windows} windows"),
        LimitProblem::WritesFell => {
            "writes became slower, as they do when a write buffer is full; use reads".to_owned()
        }
        LimitProblem::FewAfterFall { trials } => {
            format!("throughput fell, but trials after it number only {trials}; use a longer `--time`")
        }
        LimitProblem::Scatter { deviation } => format!(
            "throughput fell, but then scatters by {}: a slower medium, not a limit",
            units::percent(deviation)
        ),
        LimitProblem::OtherWorkloads => {
            "other workloads spent an unknown part of the credit before the fall".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Op, Unit};

    use super::*;
    use crate::text::finding::{example, sentence, why_of};

    #[test]
    fn a_control_group_is_named_with_its_limit() {
        let limit = IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".to_owned(),
            device: "vda".to_owned(),
            op: Op::Read,
            iops: Some(5000.0),
            bytes_per_s: None,
        };
        let set = Detail::Limit(Limit::Set { limit, trials: 6 });
        let finding = example::found(FindingName::ThrottleRate, Op::Read, (5000.0, Unit::Iops), set);
        assert_eq!(
            sentence(&finding),
            "4 KiB random reads are limited to 5.00 k IOPS (±2 %); /sys/fs/cgroup/box/io.max allows 5 k IOPS."
        );
        assert_eq!(why_of(&finding).as_deref(), Some("Mean over 6 trials at the limit."));
    }

    #[test]
    fn a_credit_is_told_in_requests_too() {
        let fell = Detail::Limit(Limit::Fell { before_iops: 5000.0, lasted_s: 20.0 });
        let figure = (80_000.0 * 4096.0, Unit::Bytes);
        let said = sentence(&example::found(FindingName::BurstCreditBytes, Op::Read, figure, fell));
        assert!(said.contains("burst credit of") && said.contains("(80 k requests)"), "{said}");
        let scatter = LimitProblem::Scatter { deviation: 0.05 };
        let said = example::unknown(FindingName::ThrottleRate, Op::Read, scatter);
        assert!(said.ends_with("then scatters by 5.0 %: a slower medium, not a limit."), "{said}");
    }
}
