//! Words of `accelerators_fed` and `checkpoint_time`.

use iosonde_model::{
    Finding, Op, Unit,
    detail::{CheckpointSaved, TrainingFed},
    training::{CHECKPOINTS, Checkpoint},
    units,
};

use super::value::value;
use crate::text::number::{Style, alone, at_least, with_interval};
use iosonde_infer::finding::lookup::estimate;

/// One sentence with its full stop.
pub(super) fn fed(finding: &Finding, facts: &TrainingFed) -> String {
    let busy = units::percent(facts.model.utilisation());
    let (unit, own) = (Style::bare(finding.unit), estimate(finding));
    let figure = if finding.at_least { at_least(unit, &own) } else { with_interval(unit, &own) };
    let rate = alone(Unit::Rate, facts.bytes_per_s);
    format!(
        "Reads are fast enough for {figure} H100 accelerators that train {}, each busy for {busy} of its time \
         ({rate}).",
        facts.model.label()
    )
}

/// Assumptions.
pub(super) fn why_fed(facts: &TrainingFed) -> String {
    format!(
        "Batch, records and time of one NVIDIA H100 as in MLPerf Storage v2.0 (June 2025); up to {} accelerators read \
         at the same time; records are read ahead, and none is in memory.",
        facts.most_tried
    )
}

/// One sentence with its full stop.
pub(super) fn checkpoint(finding: &Finding, facts: &CheckpointSaved) -> String {
    let Checkpoint { model, bytes, .. } = facts.of;
    let does = if finding.conditions.op == Some(Op::Write) { "save" } else { "read back" };
    let rate = alone(Unit::Rate, facts.bytes_per_s);
    format!(
        "A checkpoint of {model} ({}) takes {} to {does} ({rate}).",
        units::decimal_bytes(bytes),
        value(finding)
    )
}

/// Assumptions.
pub(super) fn why_checkpoint(facts: &CheckpointSaved) -> String {
    let larger = CHECKPOINTS
        .iter()
        .skip(1)
        .map(|larger| format!("{} {:.3} times", larger.model, larger.bytes as f64 / facts.of.bytes as f64));
    format!(
        "Computed from {} files of {} in all, over {} trials; a write buffer may hold them, larger ones need `--size`. \
         {} as long.",
        facts.writers,
        units::size(facts.measured_bytes),
        facts.trials,
        larger.collect::<Vec<_>>().join(", ")
    )
}

/// A clause without its full stop.
pub(super) fn cut_short(bytes: u64) -> String {
    format!("no trial came to the end of its files, {} in all; use a smaller `--size`", units::size(bytes))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, training::TrainingModel};

    use super::*;
    use crate::text::finding::{example, sentence, why_of};

    #[test]
    fn accelerators_and_checkpoints_are_told_with_their_rates() {
        let facts = TrainingFed { model: TrainingModel::ResNet50, most_tried: 16, bytes_per_s: 3.5e9 };
        let mut fed = example::found(
            FindingName::AcceleratorsFed,
            Op::Read,
            (19.0, Unit::Accelerators),
            Detail::TrainingFed(facts),
        );
        assert_eq!(
            sentence(&fed),
            "Reads are fast enough for 19.0 (±2 %) H100 accelerators that train ResNet-50, each busy for \
             90 % of its time (3.50 GB/s)."
        );
        fed.at_least = true;
        assert!(
            sentence(&fed).starts_with("Reads are fast enough for at least 19.0 (±2 %) H100 accelerators")
        );
        let facts = CheckpointSaved {
            of: CHECKPOINTS[0],
            writers: 8,
            measured_bytes: 1 << 30,
            bytes_per_s: 480e6,
            trials: 12,
        };
        let saved = example::found(
            FindingName::CheckpointTime,
            Op::Write,
            (219e9, Unit::Time),
            Detail::CheckpointSaved(facts),
        );
        assert_eq!(
            sentence(&saved),
            "A checkpoint of Llama 3 8B (105 GB) takes 219 s (±2 %) to save (480 MB/s)."
        );
        let why = why_of(&saved).expect("it has one");
        assert!(
            why.contains("8 files of 1 GiB in all, over 12 trials") && why.contains("70B 8.686 times"),
            "{why}"
        );
    }
}
