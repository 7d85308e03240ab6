//! Single requests of which few are so slow that the mean is above p99, as below a limit that lets requests pass in
//! bursts: both figures are right, and together they look wrong.

use iosonde_infer::{enough_depth::points_like, finding::lookup::found};
use iosonde_model::{FindingName, Op, Run};

use super::storage_line::{StorageLine, line};

/// The line that says so; `None` where no direction of the table of results is like that.
pub(super) fn mean_above_p99(run: &Run) -> Option<StorageLine> {
    let is_above = |op: &Op| {
        let base = found(run, FindingName::BaseLatency, *op)?;
        let alone =
            points_like(run, &base.conditions, *op).find(|point| point.spec.asked_in_flight() == 1)?;
        let own = alone.direction(*op)?;
        (own.latency_ns_p99?.high? < own.latency_ns_mean?.value).then_some(())
    };
    let ops: Vec<String> =
        Op::TRANSFERS.into_iter().filter(|op| is_above(op).is_some()).map(|op| format!("{op}s")).collect();
    let text = format!(
        "the mean at QD 1 is above p99: under 1 % of {} take so long that they set the mean",
        ops.join(" and ")
    );
    (!ops.is_empty()).then(|| line("latency", text))
}
