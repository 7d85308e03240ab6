//! Words of `host_saturation`.

use iosonde_model::{
    Finding,
    detail::{HostCurve, QueueDepthProblem},
    units,
};

use crate::text::{case::capitalised, number::figure, workload::workload_at};
use iosonde_infer::finding::lookup::estimate;

/// Upper end of an interval below which one host saturates the storage: the numbers begin at 1.
const ONE_MOST: f64 = 1.1;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding) -> String {
    let what = workload_at(&finding.conditions);
    let hosts = estimate(finding);
    if hosts.high.is_some_and(|high| high < ONE_MOST) {
        return format!("One host saturates the storage with {what}; more hosts only share it.");
    }
    let hosts = figure(finding.unit, &hosts).in_words();
    format!("{} of each host saturate the storage at {hosts}; more hosts only share it.", capitalised(&what))
}

/// Method, and where the interval was widened.
pub(super) fn why(facts: &HostCurve) -> String {
    let mut all =
        "Highest throughput over that of one host, by a curve fitted to throughput over hosts.".to_owned();
    if let Some(miss) = facts.widened_for {
        let (share, hosts) = (units::percent(miss.miss_share), miss.queue_depth);
        all += &format!(" It deviates by {share} at {hosts} hosts; the interval is wider for it.");
    }
    all
}

/// A clause without its full stop.
pub(super) fn problem(problem: &QueueDepthProblem) -> String {
    match problem {
        QueueDepthProblem::TooFewDepths { depths, needed, smallest } => {
            let one = if *smallest == 1 { "" } else { ", one host among them" };
            format!("{depths} numbers of hosts are usable; {needed} are needed{one}")
        }
        QueueDepthProblem::NoCurve(miss) => format!(
            "no saturation curve fits ({} hosts are {} off)",
            miss.queue_depth,
            units::percent(miss.miss_share)
        ),
        QueueDepthProblem::PlateauUnseen { knee, times_needed, deepest } => {
            let needed = times_needed * knee.value;
            match knee.low {
                Some(low) if needed <= *deepest as f64 => {
                    format!("above {low:.0} hosts; use more than {deepest} hosts, or more `--time`")
                }
                _ => format!(
                    "probably near {:.0} hosts, but {deepest} hosts are too few to be sure ({:.0} would do, or a \
                     deeper queue of each)",
                    knee.value,
                    needed.ceil()
                ),
            }
        }
        QueueDepthProblem::StillRising { deepest } => {
            format!("throughput still rises at {deepest} hosts; use more hosts, or a deeper queue of each")
        }
        QueueDepthProblem::OneDepth => "fewer than 2 numbers of hosts have valid trials".to_owned(),
        QueueDepthProblem::NotCounted => "too few trials counted their outstanding requests".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Estimate, FindingName, Unit};

    use super::super::{sentence, tests::reads, why_of};
    use super::*;

    #[test]
    fn a_saturation_point_is_a_number_of_hosts() {
        let facts = HostCurve { widened_for: None };
        let name = FindingName::HostSaturation;
        let mut found = reads(name, Unit::Hosts, [7.8, 7.1, 8.5], Detail::HostCurve(facts));
        found.conditions.queue_depth = Some(16);
        assert_eq!(
            sentence(&found),
            "4 KiB random reads at QD 16 of each host saturate the storage at 7.8 hosts (7.1–8.5); more hosts only \
             share it."
        );
        (found.value, found.low, found.high) = (Some(1.01), Some(1.0), Some(1.05));
        assert!(
            sentence(&found).starts_with("One host saturates the storage with 4 KiB random reads at QD 16")
        );
        assert!(why_of(&found).unwrap().starts_with("Highest throughput over that of one host"));
    }

    #[test]
    fn too_few_hosts_say_how_many_would_do() {
        let knee = Estimate { value: 9.0, low: Some(5.0), high: Some(20.0) };
        let said = problem(&QueueDepthProblem::PlateauUnseen { knee, times_needed: 4.0, deepest: 16 });
        assert_eq!(
            said,
            "probably near 9 hosts, but 16 hosts are too few to be sure (36 would do, or a deeper queue of each)"
        );
        let said = problem(&QueueDepthProblem::TooFewDepths { depths: 3, needed: 4, smallest: 1 });
        assert_eq!(said, "3 numbers of hosts are usable; 4 are needed");
    }
}
