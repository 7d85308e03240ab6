//! How fast a full write buffer empties while nothing is written.
//!
//! What it is: the bytes that a buffer accepts again after a shorter pause, divided by the length of that pause. It
//! says how long a drive must be idle before a burst of writes is fast again.
//!
//! How it is computed: with `gap`, `sustained-write` writes once more in each round, after a shorter pause than the
//! one that empties the buffer. The freed space is what is then written beyond the sustained throughput, within as
//! many windows as a whole burst takes. Where there are two buffers in series, it is the second one's, after
//! subtracting the first one's. The value is the geometric mean over trials, with Student's interval.
//!
//! Less space may have become free than the sustained throughput would have emptied. Then the buffer empties only
//! at rest, and contains all bytes that were written until the throughput fell (see `write_buffer_bytes`): then
//! those are counted.
//!
//! Inconclusive where the whole buffer had drained within the pause (a shorter pause would answer), and where
//! nothing had.
//!
//! Assumes: that it empties evenly. For a drive that waits before it begins, the figure is the mean over this
//! pause. The few reads in the pause may delay the beginning (`rest`).

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Unit,
    detail::{Drain, LongWrite, LongWriteProblem, Pause},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::Writer,
    long_write::{self, Drained, Fall, Long, Shown},
};

pub(crate) struct BufferDrainRate;

impl FindingKind for BufferDrainRate {
    fn id(&self) -> FindingName {
        FindingName::BufferDrainRate
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::SustainedWrite]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("drain")
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
    let points: Vec<&Evidence> = [Some(long.evidence), long.after_gap].into_iter().flatten().collect();
    match drain(long, writer.confidence) {
        Ok((rate, pause)) => {
            writer.concluded(&conditions, &points, rate, Detail::LongWrite(LongWrite::Drains(pause)))
        }
        Err(why) => writer.inconclusive(&conditions, &points, why),
    }
}

fn drain(long: &Long, confidence: f64) -> Result<(Estimate, Pause), Inconclusive> {
    let Shown::Falls(falls) = long_write::shown(long)? else { return Err(LongWriteProblem::NoBuffer.into()) };
    let Drained { pause, back } = long.drained(&falls, confidence).ok_or(LongWriteProblem::FewAfterPause)?;
    let gap_s = pause.gap_s;
    match pause.drain {
        Drain::Everything => return Err(LongWriteProblem::AllDrained { gap_s }.into()),
        Drain::Nothing => return Err(LongWriteProblem::NothingDrained { gap_s }.into()),
        Drain::WhileFilled | Drain::OnlyIdle | Drain::Unknown => {}
    }
    // What was beyond the lasting rate, or all that was written until it fell.
    let last: Vec<&Fall> = falls.iter().filter_map(|falls| falls.last()).collect();
    let count = last.len() as f64;
    let all_over_beyond = last.iter().map(|fall| fall.stock() / fall.buffered).sum::<f64>() / count;
    let each = if pause.drain.holds_all() { all_over_beyond } else { 1.0 } / gap_s;
    let times = |end: Option<f64>| end.map(|end| end * each);
    Ok((Estimate { value: back.value * each, low: times(back.low), high: times(back.high) }, pause))
}
