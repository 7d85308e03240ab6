//! Mixes of reads and writes at a limit that holds both directions at the same value: only there is it seen whether
//! they share it.

use iosonde_model::{
    Detail, Finding, Point, Run, Rw, Status, TrialSpec,
    detail::ConstantLimit::{self, Held},
};

/// Half reads, half writes: a limit of each direction alone then lets the mix have the most.
const READ_PERCENT: f64 = 50.0;

/// A mix for each limit of which no mix was measured, in the experiment that shows mixes.
pub(super) fn mixes(run: &Run) -> Vec<(String, TrialSpec)> {
    let Some(mix) = run.points.iter().find(|point| point.spec.rw.is_mixed()) else { return Vec::new() };
    let untested = run.findings.iter().filter(|finding| is_untested(finding));
    untested.filter_map(|limit| Some((mix.experiment.clone(), spec(limit, run)?))).collect()
}

fn is_untested(finding: &Finding) -> bool {
    let is_open = |facts: &ConstantLimit| matches!(facts, Held { shared: None, .. });
    finding.status == Status::Found
        && finding.conditions.op.is_none()
        && matches!(&finding.detail, Detail::ConstantLimit(facts) if is_open(facts))
}

/// A mix of the requests that are deepest in the limit: the most at once, and of these the smallest.
fn spec(limit: &Finding, run: &Run) -> Option<TrialSpec> {
    let is_of = |point: &&Point| {
        run.trials.iter().any(|trial| trial.point == Some(point.id) && limit.trials.contains(&trial.id))
    };
    let deepest = run.points.iter().filter(is_of).max_by_key(|point| {
        let spec = &point.spec;
        (spec.asked_in_flight(), std::cmp::Reverse(spec.block_size_bytes), spec.rw.is_random())
    })?;
    let rw = if deepest.spec.rw.is_random() { Rw::RandRw } else { Rw::Rw };
    Some(TrialSpec { rw, read_percent: Some(READ_PERCENT), ..deepest.spec.clone() })
}
