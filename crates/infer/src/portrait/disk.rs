//! One arm over a turning platter.
//!
//! A random read takes the way, a seek, half a turn on average and its bytes. What is known of the turn is taken off;
//! the rest is the seek within the span that was addressed, and a seek grows with the square root of the distance
//! (`iosonde explain hdd-7200`, the part `disk`), which says what it is over the whole disk. Large random requests
//! that are slower at QD 1 than in sequence show the link, which their bytes pass after the medium.

use iosonde_model::{Derivation, FindingName, Op, Trait, TraitKey, Unidentified};

use super::facts::{self, Fact, Facts, Setting};

/// What a request takes beside arm and platter: system call, controller, cable.
const WAY_NS: f64 = 30e3;
/// Where nothing tells how fast it turns.
const USUAL_RPM: f64 = 7200.0;
/// Maximum share of a random seek that the next track takes.
const TRACK_SHARE: f64 = 0.3;
/// Single large requests that reach this share of the rate in sequence wait for no link.
const SAME_RATE: f64 = 0.95;
/// Gain of a random load over QD 1 from which on it is served out of order.
const REORDERED: f64 = 1.3;

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<Unidentified>) {
    let (mut traits, mut untold) = (Vec::new(), Vec::new());
    traits.push(Setting(TraitKey::LinkLatency).assumed(WAY_NS, Derivation::FarBelowOneTurn));
    let turn = turn(facts, &mut untold);
    let turn_ns = 60e9 / turn.estimate.value;
    traits.push(turn);
    rates(facts, &mut traits, &mut untold);
    let link_ns = link(facts, &mut traits);
    arm(facts, turn_ns, link_ns, &mut traits, &mut untold);
    traits.push(Setting(TraitKey::DiskCache).assumed((64u64 << 20) as f64, Derivation::ReadAheadSeen));
    writes(facts, &mut traits);
    order(facts, &mut traits);
    (traits, untold)
}

fn turn(facts: &Facts, untold: &mut Vec<Unidentified>) -> Trait {
    let place = Setting(TraitKey::DiskRpm);
    if let Some(period) = facts.any(FindingName::RotationPeriod) {
        return place.from(60e9 / period.value(), &[period], Derivation::RotationPeriod);
    }
    // A log writer whose writes follow each other waits a whole turn for each, if it waits for the platter at all.
    let log = facts.any(FindingName::LogWritesPerS).filter(|log| (60.0..260.0).contains(&log.value()));
    if let Some(log) = log {
        return place.from(60.0 * log.value(), &[log], Derivation::LogWriteWaitsOneTurn);
    }
    untold.push(Unidentified::Rotation);
    place.assumed(USUAL_RPM, Derivation::Default)
}

fn rates(facts: &Facts, traits: &mut Vec<Trait>, untold: &mut Vec<Unidentified>) {
    let rate = facts
        .of_op(FindingName::DeviceBandwidth, Op::Read)
        .or(facts.of_op(FindingName::DeviceBandwidth, Op::Write));
    let outer = Setting(TraitKey::DiskOuter);
    let inner = Setting(TraitKey::DiskInner);
    let Some(rate) = rate else {
        untold.push(Unidentified::DiskBandwidth);
        traits.push(outer.assumed(200e6, Derivation::Default));
        traits.push(inner.assumed(100e6, Derivation::HalfOfOuter));
        return;
    };
    traits.push(outer.is(&rate, Derivation::SequentialAtStart));
    match facts.any(FindingName::ZoneRatio) {
        Some(ratio) => {
            let reached = share(&ratio, facts).max(0.05);
            // The rate falls with the address in a straight line, a bit more slowly than the address grows.
            let fall = ((1.0 - 1.0 / ratio.value()) / reached).clamp(0.0, 0.7);
            traits.push(inner.from(rate.value() * (1.0 - fall), &[rate, ratio], Derivation::LinearZones));
        }
        None => traits.push(inner.assumed(rate.value() / 2.0, Derivation::HalfOfOuter)),
    }
}

/// The part of the disk that a finding's trials addressed, along the arm's way.
fn share(fact: &Fact, facts: &Facts) -> f64 {
    let bytes = fact.span_bytes().unwrap_or_else(|| facts.capacity_bytes());
    let addresses = (bytes / facts.capacity_bytes()).clamp(1e-6, 1.0);
    // Outer tracks hold more: three quarters of the mean distance at the beginning, all of it in the end.
    addresses * (0.75 + 0.25 * addresses)
}

/// The link's rate, where single large requests are slower than those in sequence; gives its time for a byte.
fn link(facts: &Facts, traits: &mut Vec<Trait>) -> f64 {
    let Some(outer) = facts::find(traits, TraitKey::DiskOuter).map(|outer| outer.estimate.value) else {
        return 0.0;
    };
    let Some((alone, [cost, half])) = facts.one_at_a_time(Op::Read) else { return 0.0 };
    // Closer than that is the error of the two rates.
    if alone > SAME_RATE * outer {
        return 0.0;
    }
    let rate = 1.0 / (1.0 / alone - 1.0 / outer);
    for key in [TraitKey::LinkRead, TraitKey::LinkWrite] {
        traits.push(Setting(key).from(rate, &[cost, half], Derivation::MediumThenLink));
    }
    1e9 / rate
}

fn arm(facts: &Facts, turn_ns: f64, link_ns: f64, traits: &mut Vec<Trait>, untold: &mut Vec<Unidentified>) {
    let Some(alone) = facts.alone(Op::Read) else { return };
    let outer = facts::find(traits, TraitKey::DiskOuter).map_or(200e6, |outer| outer.estimate.value);
    let track = Setting(TraitKey::DiskSeekTrack);
    let average = Setting(TraitKey::DiskSeekAverage);
    let (seek_ns, fact) = match facts.any(FindingName::SeekTimeAverage) {
        Some(seek) => (seek.value(), seek),
        None => {
            let bytes_ns = alone.block_bytes() * (1e9 / outer + link_ns);
            ((alone.value() - turn_ns / 2.0 - WAY_NS - bytes_ns).max(0.02 * turn_ns), alone)
        }
    };
    // The usual 0.6 ms, or less where all seeks that were measured are shorter.
    let track_ns = 0.6e6_f64.min(seek_ns * TRACK_SHARE.max(1.0 - share(&fact, facts).sqrt()));
    let over_all_ns = track_ns + (seek_ns - track_ns) / share(&fact, facts).sqrt();
    traits.push(track.assumed(track_ns, Derivation::ShortSeeks));
    let how = Derivation::SeekBeyondHalfTurn;
    let turns = facts::find(traits, TraitKey::DiskRpm).is_some_and(|turn| !turn.is_assumed());
    // Where little was addressed most of it is the law's, and the interval has no part of that.
    traits.push(if !turns && facts.any(FindingName::SeekTimeAverage).is_none() {
        average.assumed(over_all_ns, Derivation::SeekBeyondDefaultTurn)
    } else if share(&fact, facts) < 0.5 {
        average.chosen(over_all_ns, &[fact], how)
    } else {
        average.from(over_all_ns, &[fact], how)
    });
    if share(&fact, facts) < 0.5 {
        untold.push(Unidentified::LongSeeks);
    }
}

/// Writes that are done before an arm could have moved are in a cache.
fn writes(facts: &Facts, traits: &mut Vec<Trait>) {
    let (Some(read), Some(write)) = (facts.alone(Op::Read), facts.alone(Op::Write)) else { return };
    if write.value() > read.value() / 4.0 {
        return;
    }
    let place = Setting(TraitKey::DiskWriteCache);
    traits.push(match facts.any(FindingName::WriteBufferBytes) {
        Some(size) => place.is(&size, Derivation::BytesBeforeSlower),
        None => place.assumed((32u64 << 20) as f64, Derivation::WritesSkipArm),
    });
}

fn order(facts: &Facts, traits: &mut Vec<Trait>) {
    let (Some(alone), Some(most)) = (facts.alone(Op::Read), facts.most(Op::Read)) else { return };
    if most.value() * alone.value() / 1e9 > REORDERED {
        traits.push(Setting(TraitKey::DiskQueueSlots).assumed(32.0, Derivation::SataSlots));
    }
}
