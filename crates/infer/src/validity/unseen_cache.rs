//! A cache that nothing on this side sees: that of a virtual machine's host, of a file server or of a volume.

use iosonde_model::{About, FindingName, Medium, Op, Phase, Run, RunInfo};

use super::fact::{Fact, Touched, WeighedFact};
use crate::finding::lookup::found;

/// Whether writes are faster than reads where something stands between: storage without a cache seldom writes faster
/// than it reads.
pub fn has_unseen_cache(run: &Run) -> bool {
    let bandwidth = |op: Op| found(run, FindingName::DeviceBandwidth, op);
    let writes_are_faster = bandwidth(Op::Write)
        .zip(bandwidth(Op::Read))
        .is_some_and(|(write, read)| read.high.is_some() && write.low > read.high);
    !run.info.device.unseen.is_empty() && writes_are_faster
}

/// Whether the run was made in a virtual machine, as far as it shows.
pub fn is_of_guest(info: &RunInfo) -> bool {
    info.host.virtualization.is_some() || info.device.medium == Medium::Virtual
}

/// The warning about it, which is about every write.
pub(super) fn unseen_cache(run: &Run) -> Option<WeighedFact> {
    let writes = run.trials.iter().filter(|trial| trial.phase == Phase::Measure && trial.spec.has(Op::Write));
    has_unseen_cache(run).then(|| {
        let trials = writes.map(|trial| trial.id).collect();
        WeighedFact::doubt(Fact::UnseenCache {
            of_host: is_of_guest(&run.info),
            touched: Touched { lines: vec![(About::All, trials)], percentiles: true },
        })
    })
}
