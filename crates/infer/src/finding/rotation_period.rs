//! The rotation period of the storage, if it rotates.
//!
//! What it is: the time of one rotation of a disk's platter; 8.33 ms are 7,200 rotations a minute.
//!
//! How it is computed: requests to random addresses within a narrow part wait between zero and one rotation,
//! uniformly distributed. The quantiles of their latencies therefore lie on a straight line that rises by one
//! rotation. The interval is a jackknife over trials. Where latencies are closer together than a rotation would
//! allow, nothing rotates; where they are spread, but not evenly, the finding is inconclusive.
//!
//! Assumes: that each request waits for the medium (a write that a cache takes does not), and that the narrow part
//! is at least some ten tracks wide and needs hardly any seek: 64 MiB are 30 tracks of a large disk.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{
    Conditions, Detail, ExperimentName, Finding, FindingName, Unit,
    detail::{Lack, Platter},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Writer},
    platter::{Sweep, Turn},
};

pub(crate) struct RotationPeriod;

impl FindingKind for RotationPeriod {
    fn id(&self) -> FindingName {
        FindingName::RotationPeriod
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Disk]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("rotation")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        Sweep::of(points).map(|sweep| one(&writer, &sweep)).into_iter().collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::NarrowAndWide)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(8_333_333.333), "60 s / 7,200")], widest: 0.05, ..super::disk_proof() }
    }
}

fn one(writer: &Writer, sweep: &Sweep) -> Finding {
    let spec = &sweep.narrow.point.spec;
    let conditions = Conditions {
        op: group::only_direction(spec.rw),
        random: Some(true),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(1),
        span_bytes: Some(spec.span_bytes),
        ..Conditions::default()
    };
    let points = [sweep.narrow];
    match sweep.turn() {
        Ok(Turn::Found(turn)) => {
            writer.concluded(&conditions, &points, turn.estimate(writer.confidence), Detail::Plain)
        }
        Ok(Turn::Still { spread }) => {
            writer.absent(&conditions, &points, Detail::Platter(Platter::Still { spread }))
        }
        Err(why) => writer.inconclusive(&conditions, &points, why),
    }
}
