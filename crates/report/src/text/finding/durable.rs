//! Words of `flush_latency` and `log_writes_per_s`.

use iosonde_infer::finding::group::workload;
use iosonde_model::{Finding, detail::Durable, units};

use super::value;

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
