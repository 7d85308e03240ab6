//! Where a drawn device does as the storage did, and why not where it does not.

use iosonde_model::{Build, FindingName, Misfit, Op, Portrait, Run, TraitKey, TraitSource, TrialSpec};

use super::facts::is_plain_read;

/// Model and measurement agree within this.
pub const AGREES: f64 = 0.1;

/// Whether a fitted model uses a point: a finding that it uses was concluded from the point's trials.
pub fn rests_on(portrait: &Portrait, run: &Run, trial_ids: &[u64]) -> bool {
    let uses = |source: TraitSource| portrait.traits.iter().any(|one| one.sources.contains(&source));
    let point = run.points.iter().find(|point| point.trial_ids == trial_ids);
    if point.is_some_and(|point| is_plain_read(&point.spec)) && uses(TraitSource::Points) {
        return true;
    }
    let used = |name: FindingName| uses(TraitSource::Finding(name));
    let findings = run.findings.iter().filter(|finding| used(finding.name));
    findings.flat_map(|finding| &finding.trials).any(|trial| trial_ids.contains(trial))
}

/// Whether a workload is one that the device's file can run and that says something of the device.
pub fn is_comparable(spec: &TrialSpec) -> bool {
    spec.direct
        && spec.and.is_empty()
        && spec.rate_iops.is_none()
        && spec.latency_limit.is_none()
        && !spec.rw.trims()
}

/// Why the model fails at a workload, as far as what was assumed tells.
pub fn why_not(portrait: &Portrait, spec: &TrialSpec, op: Op) -> Misfit {
    let assumed = |key: TraitKey| portrait.find(key).is_none_or(|one| one.is_assumed());
    let units = portrait.build == Build::Units;
    let page_bytes = portrait.find(TraitKey::FlashPage).map_or(u64::MAX, |page| page.estimate.value as u64);
    match () {
        () if spec.rw.is_mixed() => Misfit::Mix,
        () if units && op == Op::Write && assumed(TraitKey::BufferSize) => Misfit::BufferSize,
        () if units && op == Op::Write && assumed(TraitKey::FlashProgram) => Misfit::Program,
        () if units && !spec.rw.is_random() && assumed(TraitKey::FlashStripe) => Misfit::Stripe,
        () if units && spec.block_size_bytes > page_bytes && assumed(TraitKey::FlashPage) => {
            Misfit::Page { page_bytes }
        }
        () if portrait.build == Build::Disk && spec.asked_in_flight() > 1 && spec.rw.is_random() => {
            Misfit::DiskOrder
        }
        () if portrait.build == Build::Servers && op == Op::Write => Misfit::WritesAsReads,
        () => Misfit::Structure,
    }
}
