//! Where a drawn device does as the storage did, and why not where it does not.

use iosonde_model::{Build, FindingName, Op, Portrait, Run, TrialSpec, units};

use super::{
    facts::{POINTS, is_plain_read},
    find,
};

/// Model and measurement agree within this.
pub const AGREES: f64 = 0.1;

/// Whether a portrait rests on a point: a finding that it uses was concluded from the point's trials.
pub fn rests_on(portrait: &Portrait, run: &Run, trial_ids: &[u64]) -> bool {
    let point = run.points.iter().find(|point| point.trial_ids == trial_ids);
    if point.is_some_and(|point| is_plain_read(&point.spec))
        && portrait.traits.iter().any(|one| one.findings.iter().any(|name| name == POINTS))
    {
        return true;
    }
    let used = |name: FindingName| {
        portrait.traits.iter().any(|one| one.findings.iter().any(|used| used == name.as_str()))
    };
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
pub fn why_not(portrait: &Portrait, spec: &TrialSpec, op: Op) -> String {
    let assumed = |key: &str| find(&portrait.traits, key).is_none_or(|one| one.is_assumed());
    let units = portrait.build == Build::Units;
    let page_bytes = find(&portrait.traits, "flash.page").map_or(u64::MAX, |page| page.estimate.value as u64);
    if spec.rw.is_mixed() {
        return "mixes are not drawn from: how reads and writes meet in the medium is the model's own"
            .to_owned();
    }
    if units && op == Op::Write && assumed("flash.write_buffer.size") {
        return "how much the buffer holds, or whether there is one, was not found".to_owned();
    }
    if units && op == Op::Write && assumed("flash.program") {
        return "what a program takes was not found".to_owned();
    }
    if units && !spec.rw.is_random() && assumed("flash.stripe") {
        return "how neighbouring addresses are spread over the units was not found".to_owned();
    }
    if units && spec.block_size_bytes > page_bytes && assumed("flash.page") {
        return format!("reads of several pages: the page of {} was assumed", units::size(page_bytes));
    }
    if portrait.build == Build::Disk && spec.asked_in_flight() > 1 && spec.rw.is_random() {
        return "in which order a disk serves many requests is the model's own".to_owned();
    }
    if portrait.build == Build::Servers && op == Op::Write {
        return "writes are drawn as reads".to_owned();
    }
    "nothing that was assumed explains it: the storage is not built as drawn".to_owned()
}
