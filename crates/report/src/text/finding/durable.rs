//! Words of `flush_latency` and `log_writes_per_s`.

use crate::text::workload::workload;
use iosonde_model::{Finding, detail::Durable, units};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Durable) -> String {
    let figure = value(finding);
    match facts {
        Durable::Flush { writes, .. } => {
            let size = units::size(finding.conditions.block_size_bytes.unwrap_or(0));
            let after = if writes == 1 {
                format!("one write of {size}")
            } else {
                format!("{writes} writes of {size}")
            };
            format!("A flush after {after} takes {figure}.")
        }
        Durable::Log(sync) => {
            let what = workload(&finding.conditions);
            format!("One log writer reaches {figure}: {what}, each durable before the next ({sync}).")
        }
    }
}

/// Assumptions.
pub(super) fn why(facts: Durable) -> String {
    match facts {
        Durable::Flush { trials, .. } => format!("Geometric mean over {trials} trials."),
        Durable::Log(_) => "One writer, without group commit.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Op, Sync, Unit};

    use super::*;
    use crate::text::finding::{example, sentence};

    #[test]
    fn a_flush_is_told_with_the_writes_before_it() {
        let flush = |writes| {
            let detail = Detail::Durable(Durable::Flush { writes, trials: 8 });
            sentence(&example::found(FindingName::FlushLatency, Op::Flush, (1.6e6, Unit::Time), detail))
        };
        assert_eq!(flush(1), "A flush after one write of 4 KiB takes 1.60 ms (±2 %).");
        assert!(flush(32).starts_with("A flush after 32 writes of 4 KiB takes"));
        let log = Detail::Durable(Durable::Log(Sync::Dsync));
        let log = example::found(FindingName::LogWritesPerS, Op::Write, (625.0, Unit::Iops), log);
        let said = sentence(&log);
        assert!(said.ends_with("4 KiB random writes, each durable before the next (dsync)."), "{said}");
    }
}
