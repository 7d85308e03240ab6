//! The vantage point of a run: a guest, or a system behind a network, sees the storage through what stands between.

use iosonde_infer::finding::lookup::found;
use iosonde_model::{FindingName, Op, Run, RunInfo};

const GUEST: &str = "as this guest sees it";

/// `as this guest sees it` in a virtual machine, `as this system sees it` behind a network or a file system
/// in user space; `None` where nothing is known to stand between.
pub fn as_seen(info: &RunInfo) -> Option<&'static str> {
    if info.device.unseen.is_empty() {
        return None;
    }
    let guest = info.host.virtualization.is_some() || info.device.medium == iosonde_model::Medium::Virtual;
    Some(if guest { GUEST } else { "as this system sees it" })
}

/// What may have answered in place of the storage, where the figures show it and nothing on this side can: storage
/// without a cache seldom writes faster than it reads. `None` where nothing is known to stand between. (Said of every
/// virtual disk, it left readers with nothing that they could do; the report's facts have what is not visible.)
pub fn unseen_cache(run: &Run) -> Option<String> {
    let guest = as_seen(&run.info)? == GUEST;
    let place = if guest { "a host cache" } else { "a cache behind this volume" };
    has_unseen_cache(run).then(|| {
        format!("{place} may have taken the writes, whose bandwidth is above that of reads (try a larger `--size`)")
    })
}

/// Whether writes are faster than reads where something stands between.
pub fn has_unseen_cache(run: &Run) -> bool {
    let bandwidth = |op: Op| found(run, FindingName::DeviceBandwidth, op);
    let writes_are_faster = bandwidth(Op::Write)
        .zip(bandwidth(Op::Read))
        .is_some_and(|(write, read)| read.high.is_some() && write.low > read.high);
    !run.info.device.unseen.is_empty() && writes_are_faster
}
