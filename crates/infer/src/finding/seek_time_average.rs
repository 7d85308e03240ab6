//! Average seek time: how long the arm of a disk takes to reach a random address.
//!
//! What it is: the mean time of a seek between two random addresses of the span, without rotational delay.
//!
//! How it is computed: random reads over the span take a seek, half a rotation on average and the fixed cost of
//! every request. Half of the rotation period is subtracted (see `rotation_period`), and the time of small
//! sequential reads, which the disk's cache answers without arm or platter. Latencies beyond four times the median
//! are left out of the means: no arm takes that long. The interval adds the three errors as squares.
//!
//! Assumes: that a sequential read costs what any read costs beside seek and rotation. A disk without a cache of
//! its own makes it wait for a rotation, and then the finding is inconclusive. Holds for the span that was
//! measured: within a file, seeks are shorter than over the whole disk.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{
    Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, Op, Unit,
    detail::{Lack, PlatterProblem},
};
use iosonde_stats::Estimated;

use super::{
    FindingKind, Proof, ScreenLine, cached,
    group::Writer,
    platter::{self, Sweep, Turn},
    pooled,
};

pub(crate) struct SeekTimeAverage;

impl FindingKind for SeekTimeAverage {
    fn id(&self) -> FindingName {
        FindingName::SeekTimeAverage
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Disk]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("seek")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        Sweep::of(points).map(|sweep| one(&writer, &sweep)).into_iter().collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::NarrowAndWide)
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(Some(8_500_000.0), "as set, over the whole disk")],
            widest: 0.08,
            ..super::disk_proof()
        }
    }
}

fn one(writer: &Writer, sweep: &Sweep) -> Finding {
    let wide = sweep.wide.unwrap_or(sweep.narrow);
    let spec = &wide.point.spec;
    let conditions = Conditions {
        op: Some(Op::Read),
        random: Some(true),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(1),
        span_bytes: Some(spec.span_bytes),
        ..Conditions::default()
    };
    let points: Vec<&Evidence> =
        [Some(sweep.narrow), sweep.wide, sweep.in_turn].into_iter().flatten().collect();
    match seek(sweep, writer.confidence) {
        Ok(Some(seek)) => {
            writer.concluded(&conditions, &points, seek.estimate(writer.confidence), Detail::Plain)
        }
        Ok(None) => writer.absent(&conditions, &points, Detail::Plain),
        Err(why) => writer.inconclusive(&conditions, &points, why),
    }
}

/// `None` where nothing rotates.
fn seek(sweep: &Sweep, confidence: f64) -> Result<Option<Estimated>, Inconclusive> {
    let wide = sweep.wide.unwrap_or(sweep.narrow);
    let whole = pooled::merged(pooled::latencies(wide, Op::Read).iter().copied());
    // Reads that a memory answers travel nowhere.
    if let Some(kinds) = cached::kinds(&whole) {
        return Err(PlatterProblem::SomeFromMemory { share: kinds.fast }.into());
    }
    let Turn::Found(turn) = sweep.turn()? else { return Ok(None) };
    let (Some(wide), Some(in_turn)) = (sweep.wide, sweep.in_turn) else {
        return Err(Lack::SequentialAndWide.into());
    };
    let (wide, base) = (platter::mean(wide)?, platter::mean(in_turn)?);
    if base.value > turn.value / 2.0 {
        return Err(PlatterProblem::SequentialReadsWait { latency_ns: base.value }.into());
    }
    let seek = wide.plus(-0.5, turn).plus(-1.0, base);
    if seek.value <= seek.half_width(confidence) {
        return Err(PlatterProblem::Scatter.into());
    }
    Ok(Some(seek))
}
