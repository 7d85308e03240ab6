//! How many accelerators this storage keeps busy with training data.
//!
//! What it is: the largest number of accelerators for which records are read as fast as all of them need them. An
//! accelerator needs its published batch in its published computing time, times the share of its time that it must be
//! busy (`iosonde experiments dataset` names the source).
//!
//! How it is worked out: the throughput at the readers of 1, 2, 4, .. accelerators, over what so many need. The number
//! at which the ratio is 1 is interpolated between two measured ones, both on logarithmic scales. Throughput that no
//! longer rises with more readers is taken as the most for any larger number. The lower end of the interval takes the
//! lower ends of all throughputs. The upper end takes the upper ends, and assumes between two measured numbers the
//! throughput of the larger one.
//!
//! A value below 1 is the share of one accelerator's need that its own readers get. Where throughput still rises at the
//! largest number, the value is a lower limit.
//!
//! Assumes: records are read ahead while an accelerator computes, and nothing of them is in memory. Loaders that wait
//! feed fewer.
//!
//! Traps: reads that the page cache answers are invalid here, although a training set that fits in memory is read that
//! way from its second pass on.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Op, Unit,
    detail::{Lack, TrainingFed},
    training::TrainingModel,
};
use iosonde_stats::LogEstimate;

use super::{
    FindingKind, Proof, ScreenLine,
    effect::MARGIN,
    group::{self, Group, Writer},
};

pub(crate) struct AcceleratorsFed;

impl FindingKind for AcceleratorsFed {
    fn id(&self) -> FindingName {
        FindingName::AcceleratorsFed
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Dataset]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::each("training")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Accelerators, confidence };
        let groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            let of_records = op == Op::Read && TrainingModel::of_piece(spec.block_size_bytes).is_some();
            of_records.then(|| Conditions {
                op: Some(op),
                random: Some(spec.rw.is_random()),
                block_size_bytes: Some(spec.block_size_bytes),
                ..Conditions::default()
            })
        });
        groups.iter().filter_map(|group| concluded(&writer, group)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Records)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "link"
summary = "reads of 2 GB/s, whatever their size"
capacity = "64GiB"
[link]
bandwidth = "2GB/s"
latency = "20us"
[queue]
servers = 64
service = { fixed = "60us" }
[noise]
rate_cv_100ms = 0.02
"#,
            study: r#"
name = "training"
question = "How many accelerators?"
time = "60s"
[[experiment]]
kind = "dataset"
"#,
            truths: &[
                (
                    Some(10.850_7),
                    "2 GB/s / 114,688 B = 17,438.6 records/s; one accelerator: 0.9 x 400 / 0.224 s = 1,607.1 records/s",
                ),
                (
                    Some(0.699_16),
                    "2 GB/s / 4,190,208 B = 477.3 pieces/s; one: 0.9 x 7 x 35 / 0.323 s = 682.7 pieces/s",
                ),
                (
                    Some(3.533_1),
                    "2 GB/s / 2,830,336 B = 706.6 records/s; one accelerator: 0.7 / 0.0035 s = 200 records/s",
                ),
            ],
            widest: 0.1,
        }
    }
}

/// Reads at the readers of so many accelerators.
#[derive(Clone, Copy)]
struct Reads {
    accelerators: f64,
    iops: LogEstimate,
}

fn concluded(writer: &Writer, group: &Group) -> Option<Finding> {
    let model = TrainingModel::of_piece(group.conditions.block_size_bytes?)?;
    let of_point = |evidence: &&Evidence| {
        let readers = evidence.point.spec.asked_in_flight() as f64;
        let iops = group::valid_rate(evidence, group.op, &[])?;
        Ok(Reads { accelerators: readers / f64::from(model.readers()), iops })
    };
    let reads: Result<Vec<Reads>, Inconclusive> = group.points.iter().map(of_point).collect();
    let mut reads = match reads {
        Ok(reads) => reads,
        Err(why) => return Some(writer.inconclusive(&group.conditions, &group.points, why)),
    };
    reads.sort_by(|a, b| a.accelerators.total_cmp(&b.accelerators));
    let top = *reads.last()?;
    let need = model.iops_of_one();
    let at = |sign: f64| -> Vec<(f64, f64)> {
        let iops = |one: &Reads| (one.iops.log_mean + sign * one.iops.half_width(writer.confidence)).exp();
        reads.iter().map(|one| (one.accelerators, iops(one) / need)).collect()
    };
    let (low, value, high) = (fed(&at(-1.0)), fed(&at(0.0)), fed_at_most(&at(1.0)));
    let estimate = Estimate { value, low: Some(low.min(value)), high: Some(high.max(value)) };
    let facts = TrainingFed {
        model,
        most_tried: top.accelerators.round() as u32,
        bytes_per_s: value * need * model.piece_bytes() as f64,
    };
    let finding = writer.concluded(&group.conditions, &group.points, estimate, Detail::TrainingFed(facts));
    Some(Finding { at_least: value > top.accelerators && rises(&reads, writer.confidence), ..finding })
}

/// Accelerators that are fed, of (accelerators, accelerators that their reads are enough for), rising.
fn fed(reads: &[(f64, f64)]) -> f64 {
    let spare = |(accelerators, enough_for): (f64, f64)| (enough_for / accelerators).ln();
    let Some(first) = reads.iter().position(|one| spare(*one) < 0.0) else {
        return reads.last().map_or(0.0, |(_, enough_for)| *enough_for);
    };
    let Some(before) = first.checked_sub(1) else { return reads[0].1 };
    let (from, to) = (spare(reads[before]), spare(reads[first]));
    let (few, many) = (reads[before].0.ln(), reads[first].0.ln());
    (few + from / (from - to) * (many - few)).exp()
}

/// The same, where all that more readers add comes with the first of them.
fn fed_at_most(reads: &[(f64, f64)]) -> f64 {
    let first = reads.iter().find(|(accelerators, enough_for)| enough_for < accelerators);
    first.or(reads.last()).map_or(0.0, |(_, enough_for)| *enough_for)
}

/// Whether the largest number of readers still gets more than the one before.
fn rises(reads: &[Reads], confidence: f64) -> bool {
    let [.., before, last] = reads else { return true };
    let ratio = last.iops.over(before.iops);
    ratio.log_mean + ratio.half_width(confidence) > (1.0 + MARGIN).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crossing_lies_between_two_numbers_or_beyond_them() {
        // Enough for 6 at any number: 4 are fed with some to spare, 8 are not.
        let level = [(1.0, 6.0), (2.0, 6.0), (4.0, 6.0), (8.0, 6.0)];
        assert!((fed(&level) - 6.0).abs() < 1e-9);
        assert!((fed_at_most(&level) - 6.0).abs() < 1e-9);
        // One reader's worth each: each accelerator's readers get what it needs and a tenth more, up to 7.
        let rising = [(1.0, 1.1), (2.0, 2.2), (4.0, 4.4), (8.0, 7.0)];
        let value = fed(&rising);
        assert!((4.0..7.0).contains(&value), "{value}");
        assert_eq!(fed_at_most(&rising), 7.0);
        assert_eq!(fed(&[(1.0, 0.4), (2.0, 0.5)]), 0.4, "a share of one");
        assert_eq!(fed(&[(1.0, 30.0), (2.0, 40.0)]), 40.0, "more than were tried");
    }
}
