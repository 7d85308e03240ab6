//! How fast a full buffer for writes empties while nothing is written.
//!
//! What it is: what a buffer takes again after a shorter pause, over the length of that pause. It says how long a
//! drive must be left alone before a burst of writes is fast again.
//!
//! How it is worked out: with `gap`, `sustained-write` writes once more in each round, a shorter pause after a
//! write that left the buffer full. What is written then beyond the lasting rate, within as many windows as a
//! whole burst takes, is what had become free; where two buffers lie one behind the other, it is the second
//! one's, and the first one's is taken off. Where less became free than the lasting rate would have emptied, the
//! buffer empties only at rest, and holds all that is written until the rate falls (see `write_buffer_bytes`):
//! then that is counted. The geometric mean over trials, with Student's interval.
//!
//! Refused where all had drained within the pause (a shorter one would tell), and where nothing had.
//!
//! Assumes: that it empties evenly. A drive that waits for a while before it begins is told of by its mean over this
//! pause; the few reads in the pause may keep it from beginning (`rest`).

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{Estimate, Finding, units};

use super::{
    FindingKind, Proof, Told,
    group::{Writer, workload},
    long_write::{self, Fall, Long, Manner, Shown},
};
use crate::words::Unit;

pub(crate) struct BufferDrainRate;

impl FindingKind for BufferDrainRate {
    fn id(&self) -> FindingName {
        FindingName::BufferDrainRate
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::SustainedWrite]
    }

    fn told(&self) -> Told {
        Told::alone("drain")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Rate, confidence };
        let long = Long::of(points);
        long.iter().filter(|long| long.after_gap.is_some()).map(|long| one(&writer, long)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            study: r#"
name = "long-writes"
question = "How fast does a buffer empty?"
time = "4m"
[[experiment]]
kind = "sustained-write"
gap = "2s"
"#,
            truths: &[(Some(2e7), "drain of the buffer: 20 MB/s, whether it is written to or not")],
            ..long_write::PROOF
        }
    }
}

fn one(writer: &Writer, long: &Long) -> Finding {
    let conditions = long.conditions();
    let what = workload(&conditions);
    let points: Vec<&Evidence> = [Some(long.evidence), long.after_gap].into_iter().flatten().collect();
    let about = format!("How fast the buffer for {what} empties");
    let refused = |why: &str| writer.refused(&conditions, &points, &about, why);
    let falls = match shown_falls(long) {
        Ok(falls) => falls,
        Err(why) => return refused(&why),
    };
    let Some(drained) = long.drained(&falls, writer.confidence) else {
        return refused("too few writes after a shorter pause stand");
    };
    let gap = units::duration(drained.gap_s);
    match drained.manner {
        Manner::AllBack => {
            return refused(&format!("it is empty again after {gap}; a shorter `gap` would tell"));
        }
        Manner::NothingYet => {
            return refused(&format!("nothing has drained after {gap}; a longer `gap` would tell"));
        }
        Manner::WhileFilled | Manner::OnlyAtRest | Manner::Unknown => {}
    }
    // What was beyond the lasting rate, or all that was written until it fell.
    let last: Vec<&Fall> = falls.iter().filter_map(|falls| falls.last()).collect();
    let count = last.len() as f64;
    let all_over_beyond = last.iter().map(|fall| fall.stock() / fall.buffered).sum::<f64>() / count;
    let each = if drained.manner.is_stock() { all_over_beyond } else { 1.0 } / drained.gap_s;
    let times = |end: Option<f64>| end.map(|end| end * each);
    let rate = Estimate {
        value: drained.back.value * each,
        low: times(drained.back.low),
        high: times(drained.back.high),
    };
    let why = match drained.manner {
        Manner::OnlyAtRest => {
            "That is less than it would empty at its lasting rate: it empties only at rest."
        }
        Manner::WhileFilled => "That is its lasting rate: it empties while it is filled, too.",
        _ => "Whether it empties while it is filled cannot be told.",
    };
    let sentence = format!("within a pause of {gap}, the buffer for {what} empties at {{}}.");
    writer.found(&conditions, &points, rate, &sentence, why)
}

fn shown_falls(long: &Long) -> Result<Vec<Vec<Fall>>, String> {
    match long_write::shown(long) {
        Shown::Falls(falls) => Ok(falls),
        Shown::Unsure(why) => Err(why),
        Shown::Level { .. } => Err("no buffer fills up within a trial".to_owned()),
    }
}
