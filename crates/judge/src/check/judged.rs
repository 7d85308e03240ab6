//! The trials that a scope gives to a check of single trials.

use iosonde_model::{
    About, Op, Phase, Reason, Run, Scope, Trial, TrialSpec, Unstated, Verdict, cause::NoWitness,
};

/// The trial of a scope, whatever it was run for.
pub(super) fn any(scope: Scope, run: &Run) -> Option<&Trial> {
    match scope {
        Scope::Trial(place) => run.trials.get(place),
        Scope::Point(_) | Scope::Run => None,
    }
}

/// The trial of a scope, if it measured something: preparation (filling) is no figure of anything.
pub(super) fn measuring(scope: Scope, run: &Run) -> Option<&Trial> {
    any(scope, run).filter(|trial| trial.phase != Phase::Prepare)
}

/// The rest of a verdict on another tool's result: its file may have counters of the device; and of a buffered one
/// without, memory is as likely as storage, and "not checked" would let it pass.
pub(super) fn through_the_cache(verdict: Verdict, trial: &Trial, run: &Run, op: Op) -> Verdict {
    if !matches!(verdict, Verdict::NotChecked(_)) || !run.info.is_imported() {
        return verdict;
    }
    let reason = |why: NoWitness| Reason::new(About::Device, why);
    let buffered = buffered(trial);
    match shortfall(trial, op) {
        Some(why @ NoWitness::AtMost { .. }) => return Verdict::Invalid(reason(why)),
        // The head of an NVMe multipath set counts nothing, and direct I/O has no other doubt.
        Some(why) if buffered.is_some() => return Verdict::Warning(reason(why)),
        _ => {}
    }
    let Some(buffered) = buffered else { return verdict };
    let span_bytes = Some(buffered.span_bytes).filter(|&bytes| bytes > 0);
    let unstated = trial.unstated.contains(&Unstated::PageCache);
    Verdict::Warning(reason(if unstated {
        NoWitness::PageCacheUnstated
    } else {
        NoWitness::Imported { span_bytes }
    }))
}

/// Below this, what fio reads last of the device's counters is missing too much: of runs of 0.3 s, up to all.
const COUNTED_S_MIN: f64 = 2.0;
/// Share of its bytes below which a result was not served by the device: the last reading may be half a second old.
const COUNTED_SHARE_MAX: f64 = 0.5;

/// What another tool's counters of the device say against a result's bytes.
fn shortfall(trial: &Trial, op: Op) -> Option<NoWitness> {
    let witnesses = &trial.witnesses;
    let (read, write) = (witnesses.read_most_bytes?, witnesses.write_most_bytes?);
    let most_bytes = if op == Op::Read { read } else { write };
    let issued_bytes = trial.direction(op)?.bytes;
    let is_short =
        trial.measured_s >= COUNTED_S_MIN && (most_bytes as f64) < COUNTED_SHARE_MAX * issued_bytes as f64;
    let counts = read > 0 || write > 0;
    is_short.then_some(if counts {
        NoWitness::AtMost { op, direct: trial.spec.direct, issued_bytes, most_bytes }
    } else {
        NoWitness::CountersAtZero
    })
}

/// The first buffered stream of a trial.
pub(super) fn buffered(trial: &Trial) -> Option<&TrialSpec> {
    trial.spec.streams().find(|spec| !spec.direct)
}
