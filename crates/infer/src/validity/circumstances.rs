//! Circumstances that the figures of a run hold under.

use iosonde_model::{CheckName, FindingName, Judgement, Op, Outcome, Phase, Run, RunState, Trial};

use super::fact::{Circumstance, Fact, WeighedFact, Weight};
use crate::{
    finding::lookup::found,
    slow::{self, Slow},
};

/// Share of a rotating disk from which its arm travels nearly as it does over all of it: over a third, an average
/// seek takes three quarters of one over the whole (a + b·√d).
const STROKE_SHARE: f64 = 0.5;
/// Share of the addressed span from which shared blocks are worth a word: the resolution of `quick`'s means.
const SHARED_SHARE: f64 = 0.05;
/// A disk reads 4 MiB in 20 ms and seeks for 8: below this, jumps take a quarter of the time and more.
const PIECE_BYTES: u64 = 4 << 20;

pub(super) fn unfinished(run: &Run) -> Option<WeighedFact> {
    match run.info.state {
        RunState::Interrupted => Some(WeighedFact::doubt(Fact::Interrupted)),
        RunState::Failed => Some(WeighedFact::doubt(Fact::Failed)),
        RunState::Done | RunState::Running => None,
    }
}

/// Circumstances of the machine and of the target.
pub(super) fn surroundings(run: &Run) -> Vec<WeighedFact> {
    let (info, device) = (&run.info, &run.info.device);
    let measured_bytes = device.working_set_bytes;
    let told = |judgement: &Judgement| {
        judgement.check == CheckName::WorkingSet
            && judgement.verdict == Outcome::Warning
            && judgement.scope == "run"
    };
    let page_cache = (!device.direct && !run.verdicts.iter().any(told)).then(|| Circumstance::PageCache {
        working_set_bytes: measured_bytes,
        fits_memory_bytes: info.host.memory_bytes.filter(|&memory_bytes| measured_bytes < memory_bytes),
    });
    let health = device.health.as_ref().filter(|health| !health.warnings.is_empty());
    let asked = device.asked_size_bytes.filter(|&bytes| bytes > measured_bytes);
    [
        page_cache,
        health.map(|health| Circumstance::DriveWarnings(health.warnings.clone())),
        (info.host.on_battery == Some(true)).then_some(Circumstance::OnBattery),
        asked.map(|asked_bytes| Circumstance::SmallerThanAsked { measured_bytes, asked_bytes }),
    ]
    .into_iter()
    .flatten()
    .map(WeighedFact::doubt)
    .collect()
}

/// Causes of slowness that no other line names. What all of this kind of storage has is none: a guest's host, a queue.
pub(super) fn slow(run: &Run) -> Vec<WeighedFact> {
    let has_own_line = |cause: &Slow| match cause {
        Slow::Generator { .. } | Slow::CacheBelow { .. } | Slow::Host => true,
        Slow::PowerSaving { settings } => settings.is_none(),
        _ => false,
    };
    let causes = slow::causes(run).into_iter().filter(|cause| !has_own_line(cause));
    // Writes of such a disk become slower than the figures say.
    let weight = |cause: &Slow| match cause {
        Slow::Shingled { .. } | Slow::WritesMovedLater { .. } => Weight::Doubt,
        _ => Weight::Note,
    };
    causes.map(|cause| WeighedFact { mark: weight(&cause), fact: Fact::Slow(cause) }).collect()
}

/// A disk's arm travels less over a part of it than over the whole.
pub(super) fn short_strokes(run: &Run) -> Option<WeighedFact> {
    let device = &run.info.device;
    let random = run.points.iter().any(|point| point.spec.rw.is_random());
    let (span_bytes, disk_bytes) = (device.working_set_bytes, device.size_bytes?);
    let share = span_bytes as f64 / disk_bytes as f64;
    if device.rotates() != Some(true) || !random || run.info.is_imported() || share >= STROKE_SHARE {
        return None;
    }
    Some(WeighedFact::doubt(Circumstance::ShortStrokes { span_bytes, disk_bytes }))
}

/// A file in many pieces is not read in sequence, whatever the requests are.
pub(super) fn fragmented(run: &Run) -> Option<WeighedFact> {
    let sequential = run.points.iter().any(|point| !point.spec.rw.is_random());
    if run.info.device.rotates() != Some(true) || !sequential {
        return None;
    }
    let latest = run.trials.iter().rev().find(|trial| trial.witnesses.pieces.is_some())?;
    let pieces = latest.witnesses.pieces.filter(|&pieces| pieces > 1)?;
    let piece_bytes = latest.spec.span_bytes / pieces;
    (piece_bytes < PIECE_BYTES).then(|| WeighedFact::doubt(Circumstance::Fragmented { pieces, piece_bytes }))
}

/// What a copy or a snapshot shares is not written over: the first write to each place finds a new one.
pub(super) fn shared_blocks(run: &Run) -> Option<WeighedFact> {
    let wrote = |trial: &&Trial| trial.phase == Phase::Measure && trial.spec.changes();
    let part = |trial: &Trial| {
        let (shared_bytes, span_bytes) = (trial.witnesses.shared_bytes?, trial.spec.span_bytes);
        let enough = shared_bytes as f64 >= SHARED_SHARE * span_bytes as f64 && shared_bytes > 0;
        enough.then_some(Circumstance::SharedBlocks { shared_bytes, span_bytes })
    };
    run.trials.iter().filter(wrote).find_map(part).map(WeighedFact::doubt)
}

/// A volume that is sold with credit for bursts is fast until that is spent. How long that takes depends on the load:
/// half an hour at full rate (Amazon's gp2: 5.4 million requests at 3,000 a second), hours below it.
pub(super) fn burst_credit(run: &Run) -> Option<WeighedFact> {
    let throttled = run
        .verdicts
        .iter()
        .any(|line| line.check == CheckName::Throttled && line.verdict >= Outcome::Warning);
    let spent =
        throttled || Op::TRANSFERS.iter().any(|op| found(run, FindingName::ThrottleRate, *op).is_some());
    if spent || run.info.device.burst_credit != Some(true) {
        return None;
    }
    Some(WeighedFact::doubt(Circumstance::BurstCredit { elapsed_s: run.info.elapsed_s }))
}
