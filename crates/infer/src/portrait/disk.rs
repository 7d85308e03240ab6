//! One arm over a turning platter.
//!
//! A random read takes the way, a seek, half a turn on average and its bytes. What is known of the turn is taken off;
//! the rest is the seek within the span that was addressed, and a seek grows with the square root of the distance
//! (`iosonde explain hdd-7200`, the part `disk`), which says what it is over the whole disk. Large random requests
//! that are slower one at a time than in sequence tell the link, which their bytes pass after the medium.

use iosonde_model::{FindingName, Op, Trait};

use super::facts::{Fact, Facts, Place};

/// What a request takes beside arm and platter: system call, controller, cable.
const WAY_NS: f64 = 30e3;
/// Where nothing tells how fast it turns.
const USUAL_RPM: f64 = 7200.0;
/// The share of a seek to a random place that the next track takes, at the most.
const TRACK_SHARE: f64 = 0.3;
/// Single large requests that reach this share of the rate in sequence wait for no link.
const SAME_RATE: f64 = 0.95;
/// A random load that is served by so much more than one at a time is served out of order.
const REORDERED: f64 = 1.3;

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<String>) {
    let place = |key, label, unit| Place { key, label, unit };
    let (mut traits, mut untold) = (Vec::new(), Vec::new());
    traits.push(place("link.latency", "the way there and back", "ns").assumed(WAY_NS, "far below a turn"));
    let turn = turn(facts, &mut untold);
    let turn_ns = 60e9 / turn.estimate.value;
    traits.push(turn);
    rates(facts, &mut traits, &mut untold);
    let link_ns = link(facts, &mut traits);
    arm(facts, turn_ns, link_ns, &mut traits, &mut untold);
    let cache = place("disk.cache", "cache", "B");
    traits.push(
        cache.assumed((64u64 << 20) as f64, "reads in sequence did not wait for a turn: some cache reads on"),
    );
    writes(facts, &mut traits);
    order(facts, &mut traits);
    (traits, untold)
}

fn turn(facts: &Facts, untold: &mut Vec<String>) -> Trait {
    let place = Place { key: "disk.rpm", label: "turns a minute", unit: "1" };
    if let Some(period) = facts.any(FindingName::RotationPeriod) {
        return place.from(60e9 / period.value(), &[period], "60 s over the period of a turn");
    }
    // A log writer whose writes follow each other waits a whole turn for each, if it waits for the platter at all.
    let log = facts.any(FindingName::LogWritesPerS).filter(|log| (60.0..260.0).contains(&log.value()));
    if let Some(log) = log {
        return place.from(
            60.0 * log.value(),
            &[log],
            "each durable write of a log waits one turn for its place",
        );
    }
    untold.push(
        "How fast it turns was not found (`rotation_period`); 7,200 turns a minute are assumed, and the seek is \
         what they leave."
            .to_owned(),
    );
    place.assumed(USUAL_RPM, "the usual speed")
}

fn rates(facts: &Facts, traits: &mut Vec<Trait>, untold: &mut Vec<String>) {
    let rate = facts
        .of_op(FindingName::DeviceBandwidth, Op::Read)
        .or(facts.of_op(FindingName::DeviceBandwidth, Op::Write));
    let outer = Place { key: "disk.outer", label: "at the outer edge", unit: "B/s" };
    let inner = Place { key: "disk.inner", label: "at the inner edge", unit: "B/s" };
    let Some(rate) = rate else {
        untold.push(
            "How fast large requests are was not found; `iosonde run quick TARGET` would tell.".to_owned(),
        );
        traits.push(outer.assumed(200e6, "a disk of today"));
        traits.push(inner.assumed(100e6, "half of it"));
        return;
    };
    traits.push(outer.is(&rate, "large requests in sequence at the first addresses"));
    match facts.any(FindingName::ZoneRatio) {
        Some(ratio) => {
            let reached = share(&ratio, facts).max(0.05);
            // The rate falls with the address in a straight line, a bit more slowly than the address grows.
            let fall = ((1.0 - 1.0 / ratio.value()) / reached).clamp(0.0, 0.7);
            traits.push(inner.from(
                rate.value() * (1.0 - fall),
                &[rate, ratio],
                "a straight line through the zones",
            ));
        }
        None => traits.push(inner.assumed(rate.value() / 2.0, "half of it, as on most disks")),
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
    let Some(outer) = super::find(traits, "disk.outer").map(|outer| outer.estimate.value) else { return 0.0 };
    let Some((alone, [cost, half])) = facts.one_at_a_time(Op::Read) else { return 0.0 };
    // Closer than that is the error of the two rates.
    if alone > SAME_RATE * outer {
        return 0.0;
    }
    let rate = 1.0 / (1.0 / alone - 1.0 / outer);
    let why = "single large reads pass the medium and then the link, those in sequence both at once";
    for (key, label) in [("link.bandwidth.read", "link, reads"), ("link.bandwidth.write", "link, writes")] {
        traits.push(Place { key, label, unit: "B/s" }.from(rate, &[cost, half], why));
    }
    1e9 / rate
}

fn arm(facts: &Facts, turn_ns: f64, link_ns: f64, traits: &mut Vec<Trait>, untold: &mut Vec<String>) {
    let Some(alone) = facts.alone(Op::Read) else { return };
    let outer = super::find(traits, "disk.outer").map_or(200e6, |outer| outer.estimate.value);
    let track = Place { key: "disk.seek.track", label: "seek to the next track", unit: "ns" };
    let average = Place { key: "disk.seek.average", label: "seek, on average", unit: "ns" };
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
    traits.push(track.assumed(track_ns, "0.6 ms, or what short seeks leave room for"));
    let why = "what a random read takes beyond half a turn, stretched from the addressed part to the whole disk by \
               the law of the square root";
    let turns = super::find(traits, "disk.rpm").is_some_and(|turn| !turn.is_assumed());
    // Where little was addressed most of it is the law's, and the interval has no part of that.
    traits.push(if !turns && facts.any(FindingName::SeekTimeAverage).is_none() {
        average.assumed(over_all_ns, "what a random read takes beyond half of a turn that nobody measured")
    } else if share(&fact, facts) < 0.5 {
        average.chosen(over_all_ns, &[fact], why)
    } else {
        average.from(over_all_ns, &[fact], why)
    });
    if share(&fact, facts) < 0.5 {
        untold.push(
            "Only a part of the disk was addressed: seeks over all of it are the law's, not measured."
                .to_owned(),
        );
    }
}

/// Writes that are done before an arm could have moved are in a cache.
fn writes(facts: &Facts, traits: &mut Vec<Trait>) {
    let (Some(read), Some(write)) = (facts.alone(Op::Read), facts.alone(Op::Write)) else { return };
    if write.value() > read.value() / 4.0 {
        return;
    }
    let place = Place { key: "disk.write_cache", label: "write cache", unit: "B" };
    traits.push(match facts.any(FindingName::WriteBufferBytes) {
        Some(size) => place.is(&size, "what is written before it becomes slower"),
        None => place.assumed((32u64 << 20) as f64, "writes wait for no arm; how much is held was not found"),
    });
}

fn order(facts: &Facts, traits: &mut Vec<Trait>) {
    let (Some(alone), Some(most)) = (facts.alone(Op::Read), facts.most(Op::Read)) else { return };
    if most.value() * alone.value() / 1e9 > REORDERED {
        let place = Place { key: "disk.queue.slots", label: "requests that it sorts", unit: "1" };
        traits.push(
            place.assumed(
                32.0,
                "many in flight are served faster than one after another; 32 is SATA's number",
            ),
        );
    }
}
