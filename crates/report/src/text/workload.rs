//! Workloads by the conditions of a finding.

use iosonde_model::{Conditions, Op, units};

/// `4 KiB random reads`, `random writes`, `reads`: as much as the conditions tell.
pub fn workload(conditions: &Conditions) -> String {
    let size = conditions.block_size_bytes.map(units::size);
    let order = conditions.random.map(|random| if random { "random" } else { "sequential" }.to_owned());
    let ops = conditions.op.map_or("requests", |op| match op {
        Op::Read => "reads",
        Op::Write => "writes",
        Op::Trim => "trims",
        Op::Flush => "flushes",
    });
    size.into_iter().chain(order).chain([ops.to_owned()]).collect::<Vec<_>>().join(" ")
}

/// Workload with its queue depth: `4 KiB random reads at QD 32`.
pub fn workload_at(conditions: &Conditions) -> String {
    format!("{}{}", workload(conditions), at_depth(conditions))
}

/// Both directions of a workload: `4 KiB random reads and writes at QD 32`.
pub fn reads_and_writes(conditions: &Conditions) -> String {
    let reads = workload(&Conditions { op: Some(Op::Read), ..conditions.clone() });
    format!("{reads} and writes{}", at_depth(conditions))
}

fn at_depth(conditions: &Conditions) -> String {
    conditions.queue_depth.map_or_else(String::new, |depth| format!(" at QD {depth}"))
}
