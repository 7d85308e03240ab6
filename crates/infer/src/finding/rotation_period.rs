//! How long the storage takes to turn once, if anything in it turns.
//!
//! What it is: the time of one turn of a disk's platter; 8.33 ms are 7,200 turns a minute.
//!
//! How it is worked out: requests to random addresses within a narrow part wait for anything between nothing and one
//! turn, each wait as likely as another, so that the quantiles of their latencies lie on a straight line whose rise
//! is one turn. The interval comes from leaving out one trial at a time. Where latencies lie closer together than a
//! turn would bring them, nothing rotates; where they are spread, but not evenly, it cannot be told.
//!
//! Assumes: that each request waits for the medium (a write that a cache takes does not), and that the narrow part is
//! at least some ten tracks wide and hardly any seek apart: 64 MiB are 30 tracks of a large disk.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::detail::Lack;
use iosonde_model::{Conditions, Detail, Estimate, Finding, Op, Status};

use super::{
    FindingKind, Proof, Told,
    group::{self, Writer},
    platter::{self, Sweep, Turn},
};
use crate::words::Unit;

pub(crate) struct RotationPeriod;

impl FindingKind for RotationPeriod {
    fn id(&self) -> FindingName {
        FindingName::RotationPeriod
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Disk]
    }

    fn told(&self) -> Told {
        Told::always("rotation")
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
            let estimate = turn.estimate(writer.confidence);
            let turns = turns_a_minute(&turn.estimate(writer.confidence));
            let sentence = format!("A platter turns here, once in {{}}: {turns} turns a minute.");
            let why = "Waits of requests within a narrow part are spread evenly over one turn; the interval comes from \
                       leaving out one trial at a time. Assumes that no cache answers.";
            writer.found(&conditions, &points, estimate, &sentence, why)
        }
        Ok(Turn::Still { spread }) => Finding {
            status: Status::Absent,
            detail: Detail::Said {
                sentence:
                    "Nothing that answers these requests turns: random addresses take nearly the same time."
                        .to_owned(),
                why: Some(format!(
                    "Three quarters of them lie within {:.0} % of the middle one; a turn would spread them evenly \
                     from nothing to a turn.",
                    spread * 100.0
                )),
            },
            ..writer.refused(&conditions, &points, "", "")
        },
        Err(why) => {
            let cached = match conditions.op {
                Some(Op::Write) => "; writes that a cache takes show none",
                _ => "; reads that a cache answers show none",
            };
            writer.refused(&conditions, &points, "Whether anything rotates", &format!("{why}{cached}"))
        }
    }
}

/// With as many digits as the interval earns: `7,190 [7,170, 7,220]`, without the commas.
fn turns_a_minute(turn: &Estimate) -> String {
    let minute = |ns: f64| 60e9 / ns;
    let value = minute(turn.value);
    let (Some(low), Some(high)) = (turn.high.map(minute), turn.low.map(minute)) else {
        return format!("{value:.0} (no interval)");
    };
    // The first digit of the half-width.
    let grain = 10f64.powf(((high - low) / 2.0).max(1.0).log10().floor());
    let whole = |number: f64| format!("{:.0}", (number / grain).round() * grain);
    format!("{} [{}, {}]", whole(value), whole(low), whole(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_have_as_many_digits_as_they_are_known_to() {
        let told = |ns: f64, half: f64| {
            turns_a_minute(&Estimate { value: ns, low: Some(ns - half), high: Some(ns + half) })
        };
        // 60 s / 8.3368 ms = 7,197; 0.05 ms of it are 43 turns.
        assert_eq!(told(8.3368e6, 0.05e6), "7200 [7150, 7240]");
        assert_eq!(told(8.3368e6, 0.5e6), "7200 [6800, 7700]");
        assert_eq!(told(8.3368e6, 1e3), "7197 [7196, 7198]");
    }
}
