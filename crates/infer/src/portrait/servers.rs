//! Servers behind one line.
//!
//! With c servers of time S and a way of time o, one request takes o + S and at most c / S are served a second. The
//! most requests a second times what one takes alone is c (1 + o / S): c is the whole number below it, S = c over the
//! highest rate, and o what is left.

use iosonde_model::{Derivation, FindingName, Op, Trait, TraitKey, Unidentified};

use super::facts::{Facts, Setting};

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<Unidentified>) {
    let (Some(alone), Some(most)) = (facts.alone(Op::Read), facts.most(Op::Read)) else {
        return (Vec::new(), Vec::new());
    };
    let mut traits = Vec::new();
    let mut untold = Vec::new();
    let bandwidth = facts.of_op(FindingName::DeviceBandwidth, Op::Read);
    let moved_ns = bandwidth.map_or(0.0, |rate| alone.block_bytes() * 1e9 / rate.value());
    let alone_ns = (alone.value() - moved_ns).max(alone.value() * 0.05);
    let servers = (most.value() * alone_ns / 1e9 + 0.02).floor().max(1.0);
    let service_ns = (servers * 1e9 / most.value()).min(alone_ns);
    link(facts, (alone_ns - service_ns).max(0.0), &mut traits, &mut untold);
    let both = [most, alone];
    // Whole servers are chosen, and what each takes with them: no interval says how far off that may be.
    traits.push(Setting(TraitKey::QueueServers).chosen(servers, &both, Derivation::RateTimesLatency));
    traits.push(Setting(TraitKey::QueueService).chosen(service_ns, &both, Derivation::ServersOverRate));
    if most.is_a_bound() {
        untold.push(Unidentified::MoreServers);
    }
    (traits, untold)
}

/// The link: whatever every request takes beside the medium, and what a second carries each way.
pub(super) fn link(facts: &Facts, way_ns: f64, traits: &mut Vec<Trait>, untold: &mut Vec<Unidentified>) {
    let alone: Vec<_> = facts.alone(Op::Read).into_iter().collect();
    traits.push(Setting(TraitKey::LinkLatency).from(way_ns, &alone, Derivation::LatencyLessMedium));
    for (op, key) in [(Op::Read, TraitKey::LinkRead), (Op::Write, TraitKey::LinkWrite)] {
        let line = facts.one_at_a_time(op).filter(|(rate, _)| {
            // More than the most was not seen to be moved.
            facts.of_op(FindingName::DeviceBandwidth, op).is_none_or(|most| *rate > most.value())
        });
        if let Some((rate, both)) = line {
            traits.push(Setting(key).from(rate, &both, Derivation::SlopeOverSize));
        } else if let Some(rate) = facts.of_op(FindingName::DeviceBandwidth, op) {
            traits.push(Setting(key).is(&rate, Derivation::HighestBandwidth));
        } else {
            untold.push(Unidentified::Bandwidth(op));
        }
    }
}
