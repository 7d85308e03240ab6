//! Words of `commit_latency`.

use crate::text::number::{alone, figure};
use iosonde_model::{Finding, Unit, detail::Commit, units};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Commit) -> String {
    let size = units::size(finding.conditions.block_size_bytes.unwrap_or(0));
    let of = match facts.sync.flush_every() {
        Some(1) | None => format!("a write of {size}"),
        Some(writes) => format!("{writes} writes of {size}"),
    };
    let flush = match facts.flush_ns {
        Some(ns) => format!("; {} of it is the flush", alone(Unit::Time, ns)),
        None => String::new(),
    };
    let p99 =
        facts.p99_ns.map_or_else(String::new, |p99| format!(", p99 {}", figure(Unit::Time, &p99).value));
    format!("A commit of {of} by {} takes {}{p99}{flush}.", facts.sync, value(finding))
}

/// Assumptions.
pub(super) fn why(facts: Commit) -> String {
    format!("Mean over {} trials; one client, without group commit.", facts.trials)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Estimate, FindingName, Op};

    use super::*;
    use crate::text::finding::{example, sentence};

    #[test]
    fn a_commit_is_told_with_its_flush() {
        let commit = |sync: &str, flush_ns: Option<f64>| {
            let p99_ns = flush_ns.map(|ns| Estimate { value: 3.0 * ns, low: None, high: None });
            let sync = sync.parse().unwrap();
            let detail = Detail::Commit(Commit { sync, flush_ns, p99_ns, p99_9_ns: None, trials: 8 });
            sentence(&example::found(FindingName::CommitLatency, Op::Write, (1.6e6, Unit::Time), detail))
        };
        assert_eq!(
            commit("fdatasync:1", Some(1.588e6)),
            "A commit of a write of 4 KiB by fdatasync:1 takes 1.60 ms (±2 %), p99 4.76 ms; 1.59 ms of it is the flush."
        );
        assert_eq!(commit("dsync", None), "A commit of a write of 4 KiB by dsync takes 1.60 ms (±2 %).");
        assert!(
            commit("fsync:32", Some(1e6)).starts_with("A commit of 32 writes of 4 KiB by fsync:32 takes")
        );
    }
}
