//! Write buffers: what a run knows of one, and which of its warnings are its effect.

use std::collections::{BTreeMap, BTreeSet};

use iosonde_judge::settling::must_hold;
use iosonde_model::{Cause, Finding, FindingName, Op, Outcome, Point, Run, Status, Trial, cause::NotSteady};
use iosonde_stats::robust::median;

use super::fact::{BufferedWrites, Circumstance, WeighedFact};
use crate::finding::lookup::found;

/// Two rates of a point are a buffer found empty and found full where their difference over a trial is the buffer,
/// within a fifth: what drains meanwhile is in both rates.
const IS_THE_BUFFER: std::ops::RangeInclusive<f64> = 0.8..=1.2;

/// A write buffer whose size a long write showed. Where that write also showed what lasts, advice says so, and this is
/// a warning only about points that have two rates. Else it is one about the other writes, unless the buffer is too
/// small beside what a trial writes to change a mean by more than the requested precision.
pub(super) fn write_buffer(run: &Run) -> Option<WeighedFact> {
    match buffered_writes(run)? {
        BufferedWrites::Fit { buffer_bytes } => {
            let two_rates = with_two_rates(run).len();
            let lasting = found(run, FindingName::SustainedRate, Op::Write);
            let unknown =
                lasting.is_none() && buffer_bytes as f64 > run.info.precision * usual_write_bytes(run);
            let matters = two_rates > 0 || unknown;
            Some(WeighedFact::doubt_if(matters, Circumstance::WriteBuffer { buffer_bytes, two_rates }))
        }
        BufferedWrites::MayFit { .. } => None,
    }
}

/// Points that have two rates since some trials found the buffer empty and others found it full.
pub(super) fn with_two_rates(run: &Run) -> BTreeSet<usize> {
    let Some(BufferedWrites::Fit { buffer_bytes }) = buffered_writes(run) else { return BTreeSet::new() };
    let of_point = |id: usize| run.points.iter().find(|point| point.id == id);
    let warnings = run.verdicts.iter().filter(|judgement| judgement.verdict == Outcome::Warning);
    let two_rates = warnings.filter_map(|judgement| match judgement.cause.as_ref().map(Cause::itself) {
        Some(Cause::NotSteady(NotSteady::Levels { low_iops, high_iops, .. })) => {
            let point = of_point(judgement.point?)?;
            let apart_bytes = (high_iops - low_iops) * bytes_per_rate(run, point)?;
            IS_THE_BUFFER.contains(&(apart_bytes / buffer_bytes as f64)).then_some(point.id)
        }
        _ => None,
    });
    two_rates.collect()
}

/// Bytes that a trial of a point that only writes moves at one request a second.
fn bytes_per_rate(run: &Run, point: &Point) -> Option<f64> {
    let writes = |trial: &Trial| {
        let own = trial.direction(Op::Write).filter(|_| trial.direction(Op::Read).is_none())?;
        (own.ios > 0).then(|| own.bytes as f64 / own.ios as f64 * trial.elapsed_s)
    };
    let trials = point.trial_ids.iter().filter_map(|id| run.trial(*id));
    median(&trials.filter_map(writes).collect::<Vec<_>>())
}

/// Median bytes of a trial, warm-up included, of the point that writes most where no trial is long on purpose.
fn usual_write_bytes(run: &Run) -> f64 {
    let mut of_point: BTreeMap<Option<usize>, Vec<f64>> = BTreeMap::new();
    for trial in run.trials.iter().filter(|trial| must_hold(trial)) {
        of_point.entry(trial.point).or_default().push(trial.witnesses.issued_write_bytes as f64);
    }
    of_point.values().filter_map(|bytes| median(bytes)).fold(0.0, f64::max)
}

/// What is known of a buffer that the writes may fit into. No burst shows how large a write buffer is; a long write
/// that was measured does. `None` where nothing was written, or the storage was brought into a steady state.
pub fn buffered_writes(run: &Run) -> Option<BufferedWrites> {
    let measures_writes = run.points.iter().any(|point| point.spec.rw.writes() && point.write.is_some());
    let settled = run.info.device.state.as_deref() == Some("steady");
    if !measures_writes || settled || run.info.is_imported() {
        return None;
    }
    let told = |finding: &&Finding| {
        finding.name == FindingName::WriteBufferBytes && finding.status != Status::Inconclusive
    };
    if let Some(buffer) = run.findings.iter().find(told) {
        let other =
            run.points.iter().any(|point| point.spec.rw.writes() && point.experiment != buffer.experiment);
        let size = buffer.value.filter(|_| other)?;
        return Some(BufferedWrites::Fit { buffer_bytes: size as u64 });
    }
    let written_bytes = run.trials.iter().map(|trial| trial.witnesses.issued_write_bytes).sum();
    let area_bytes = run.info.device.working_set_bytes;
    Some(BufferedWrites::MayFit { written_bytes, area_bytes })
}

#[cfg(test)]
mod tests {
    use iosonde_model::{About, CheckName, Judgement, LevelCondition, Reason, Verdict};
    use iosonde_testkit::{
        pretend::{Pretend, QUICK},
        specimen,
    };

    use super::*;
    use crate::validity::{Fact, Weight, validity};

    const BUFFER_BYTES: u64 = 64 << 20;

    /// A run whose first point that writes has two rates, apart by this share of the buffer over a trial.
    fn run_with(apart: f64) -> Run {
        let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
        crate::conclude::conclude(&mut run, None).unwrap();
        run.findings.push(specimen::write_buffer(Status::Found, BUFFER_BYTES));
        let point = run.points.iter().find(|point| bytes_per_rate(&run, point).is_some()).expect("it writes");
        let apart_iops = apart * BUFFER_BYTES as f64 / bytes_per_rate(&run, point).unwrap();
        let levels = NotSteady::Levels {
            low_iops: 1e4,
            low_trials: 4,
            low_condition: LevelCondition::AfterRandomWrites,
            high_iops: 1e4 + apart_iops,
            high_trials: 4,
            high_condition: LevelCondition::AfterRandomWrites,
        };
        let reason = Reason::new(About::Rate, Cause::from(levels).at_point(&point.spec));
        let verdict = Verdict::Warning(reason);
        let judgement = Judgement::new(CheckName::NotSteady, "point", None, Some(point.id), verdict);
        run.verdicts.push(judgement);
        run
    }

    #[test]
    fn two_rates_that_are_the_buffer_are_its_warning_and_no_second_one() {
        let of = |apart: f64| {
            let lines = validity(&run_with(apart)).lines;
            let two = lines.iter().any(|line| {
                matches!(&line.fact, Fact::Warnings { example, .. } if example.check == CheckName::NotSteady)
            });
            let buffer = lines.iter().find_map(|line| match line.fact {
                Fact::Circumstance(Circumstance::WriteBuffer { two_rates, .. }) => {
                    Some((line.mark, two_rates))
                }
                _ => None,
            });
            (two, buffer)
        };
        for apart in [0.85, 1.0, 1.15] {
            assert_eq!(of(apart), (false, Some((Weight::Doubt, 1))), "{apart}");
        }
        for apart in [0.3, 1.5] {
            let (two, buffer) = of(apart);
            assert!(two && buffer.is_some_and(|(_, two_rates)| two_rates == 0), "{apart}: {buffer:?}");
        }
    }
}
