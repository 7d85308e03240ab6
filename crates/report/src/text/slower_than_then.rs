//! Words of a run beside an earlier one of the same storage: what to try where it has become slower.

use iosonde_model::{Compared, Likeness, Medium, Op, Run, RunInfo, WorkloadGroup};

/// What the two runs do not share where they are not of one storage.
pub fn other_storage(then: &RunInfo, now: &RunInfo) -> Option<String> {
    let storage = |info: &RunInfo| (info.device.name.clone(), info.device.model.clone());
    let named = |info: &RunInfo| {
        let on = info.device.name.as_ref().filter(|name| !info.target.ends_with(*name));
        on.map_or_else(|| info.target.clone(), |name| format!("{} on {name}", info.target))
    };
    (storage(then) != storage(now)).then(|| {
        format!(
            "The earlier run measured {}, and this one {}: the difference is that of two places, and not of time.",
            named(then),
            named(now)
        )
    })
}

/// What to try; `None` where nothing has become slower, or nothing is known that helps.
pub fn remedy(now: &Run, compared: &Compared) -> Option<String> {
    let pair = compared.pairs.first()?;
    let slower = |verdict| verdict == Likeness::Slower;
    let is_write =
        |of| matches!(of, WorkloadGroup::All | WorkloadGroup::AllWrites | WorkloadGroup::RandomWrites);
    let writes = pair.geometric_means.iter().any(|mean| is_write(mean.of) && slower(mean.verdict))
        || compared.lines(pair).any(|line| line.op == Op::Write && slower(line.verdict));
    let device = &now.info.device;
    // A guest's disk may lie on flash, and passes TRIM on where its host lets it.
    let may_trim = matches!(device.medium, Medium::Flash | Medium::Virtual);
    (writes && may_trim).then(|| {
        format!(
            "Flash slows down where it does not know which blocks are free. Run `fstrim -av` as root, wait some \
             minutes, and measure again: `iosonde run {} --against {}`.",
            now.info.target,
            now.info.against.as_deref().unwrap_or(&now.info.id)
        )
    })
}
