//! Single requests of which few are so slow that the mean is above p99, as below a limit that lets requests pass in
//! bursts: both figures are right, and together they look wrong.

use iosonde_infer::{enough_depth::points_behind, finding::lookup::found};
use iosonde_model::{Detail, Finding, FindingName, Op, Run, Status, detail::Commit};

use super::storage_line::{StorageLine, line};

/// The line that says so; `None` where no direction of the table of results is like that.
pub(super) fn mean_above_p99(run: &Run) -> Option<StorageLine> {
    let is_above = |op: &Op| {
        let base = found(run, FindingName::BaseLatency, *op)?;
        let alone = points_behind(run, base, *op).find(|point| point.spec.asked_in_flight() == 1)?;
        let own = alone.direction(*op)?;
        (own.latency_ns_p99?.high? < own.latency_ns_mean?.value).then_some(())
    };
    let transfers = Op::TRANSFERS.into_iter().filter(|op| is_above(op).is_some()).map(|op| format!("{op}s"));
    let commits = run.findings.iter().any(is_commit_above).then(|| "commits".to_owned());
    let slow: Vec<String> = transfers.chain(commits).collect();
    let text = format!(
        "the mean at QD 1 is above p99: under 1 % of {} take so long that they set the mean",
        slow.join(" and ")
    );
    (!slow.is_empty()).then(|| line("latency", text))
}

/// Whether the mean of a commit is above its p99.
fn is_commit_above(finding: &Finding) -> bool {
    let Detail::Commit(Commit { p99_ns: Some(p99_ns), .. }) = &finding.detail else { return false };
    finding.status == Status::Found && finding.value.zip(p99_ns.high).is_some_and(|(mean, p99)| mean > p99)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::finding::example;
    use iosonde_infer::conclude::conclude;
    use iosonde_model::{Estimate, Unit};
    use iosonde_testkit::pretend::{Pretend, QUICK};

    #[test]
    fn only_a_mean_above_the_whole_interval_of_p99_is_told() {
        let mut run = Pretend::usual().run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let base = found(&run, FindingName::BaseLatency, Op::Read).unwrap();
        let id = points_behind(&run, base, Op::Read)
            .find(|point| point.spec.asked_in_flight() == 1)
            .map(|point| point.id)
            .unwrap();
        let mut with_mean_over_p99_high = |ratio: f64| {
            let point = run.points.iter_mut().find(|point| point.id == id).unwrap();
            let own = point.read.as_mut().unwrap();
            let high = own.latency_ns_p99.and_then(|p99| p99.high).unwrap();
            own.latency_ns_mean.as_mut().unwrap().value = ratio * high;
            mean_above_p99(&run).map(|line| line.text)
        };
        assert_eq!(with_mean_over_p99_high(0.99), None);
        assert_eq!(
            with_mean_over_p99_high(1.01).as_deref(),
            Some("the mean at QD 1 is above p99: under 1 % of reads take so long that they set the mean")
        );
    }

    #[test]
    fn of_commits_too() {
        let p99_ns = Estimate { value: 1e6, low: Some(0.9e6), high: Some(1.1e6) };
        let sync = "fdatasync:1".parse().unwrap();
        let detail = Commit { sync, flush_ns: None, p99_ns: Some(p99_ns), p99_9_ns: None, trials: 9 };
        let commit = |mean_ns: f64| {
            let detail = Detail::Commit(detail);
            example::found(FindingName::CommitLatency, Op::Write, (mean_ns, Unit::Time), detail)
        };
        assert!(!is_commit_above(&commit(1.05e6)));
        assert!(is_commit_above(&commit(1.2e6)));
    }
}
