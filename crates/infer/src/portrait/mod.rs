//! The fitted model of the storage: its parts by a run's findings, as one paragraph and as the file of a simulated
//! device, so that the model can be run against what was measured.
//!
//! Findings go in, and for flash the rates of the reads that they rest on. Each part of the device is a trait that
//! names the findings it follows from, with their interval; what no finding tells is assumed, and said to be.
//!
//! There are three kinds of build, since requests queue differently in each:
//! * a *disk*: something turns, or a random read takes milliseconds where reads in sequence do not wait;
//! * *units*, each with a line of its own, to which addresses send requests: strides meet fewer of them, or 95 % of the
//!   rate need more than twice the knee (`units`), or writes are taken by a buffer;
//! * *servers* behind one line, where reads and writes are alike and nothing of that shows.

mod array;
mod compliance;
mod disk;
mod facts;
mod fit;
mod servers;
mod units;

use iosonde_model::{Build, FindingName, NoPortrait, Op, Portrait, Run, Unidentified};

pub use compliance::{AGREES, is_comparable, rests_on, why_not};
use facts::Facts;

/// A random read that takes longer than this is an arm's, where reads in sequence go at a disk's rate.
const ARM_NS: f64 = 1.5e6;
/// No disk reads faster than this: the outer edge of the fastest ones that are sold, and a bit.
const PLATTER_BYTES_PER_S: f64 = 600e6;
/// One line for all reaches 95 % of its rate at 0.95 to 1.3 times the knee, a line for each unit at 4 and more.
const LINES_RATIO: f64 = 2.0;
/// Within this, reads and writes cost the same.
const ALIKE: f64 = 0.25;

/// Fits a device to a run.
///
/// # Errors
/// The finding that is lacking.
pub fn portrait(run: &Run) -> Result<Portrait, NoPortrait> {
    let facts = Facts::of(run);
    let needed =
        [(facts.alone(Op::Read), FindingName::BaseLatency), (facts.most(Op::Read), FindingName::MaxIops)];
    if let Some((_, lacks)) = needed.into_iter().find(|(known, _)| known.is_none()) {
        let inconclusive = facts.inconclusive(lacks, Op::Read).cloned().map(Box::new);
        return Err(NoPortrait { lacks, inconclusive });
    }
    let build = build(&facts);
    let (traits, mut unidentified) = match build {
        Build::Disk => disk::draw(&facts),
        Build::Units => units::draw(&facts),
        Build::Servers => servers::draw(&facts),
    };
    unidentified.push(Unidentified::Noise);
    Ok(Portrait { build, traits, unidentified, capacity_bytes: facts.capacity_bytes() as u64 })
}

fn build(facts: &Facts) -> Build {
    if is_disk(facts) {
        return Build::Disk;
    }
    let own_lines =
        facts.any(FindingName::Parallelism).is_some() || facts.lines_ratio().is_some_and(|r| r > LINES_RATIO);
    let writes_differ = match (facts.alone(Op::Read), facts.alone(Op::Write)) {
        (Some(read), Some(write)) => (write.value() / read.value() - 1.0).abs() > ALIKE,
        _ => false,
    };
    if own_lines || writes_differ || facts.any(FindingName::WriteBufferBytes).is_some() {
        Build::Units
    } else {
        Build::Servers
    }
}

fn is_disk(facts: &Facts) -> bool {
    let slow = facts.alone(Op::Read).is_some_and(|alone| alone.value() > ARM_NS);
    if facts.any(FindingName::RotationPeriod).is_some() || (slow && facts.rotates() == Some(true)) {
        return true;
    }
    let bandwidth = facts.of_op(FindingName::DeviceBandwidth, Op::Read).map(|fact| fact.value());
    // A network answers late too, but then reads in sequence are as late.
    let order =
        facts.of_op(FindingName::RandomVsSequential, Op::Read).is_some_and(|ratio| ratio.value() < 0.9);
    slow && order && bandwidth.is_some_and(|rate| rate < PLATTER_BYTES_PER_S)
}

#[cfg(test)]
mod tests;
