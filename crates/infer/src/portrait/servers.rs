//! Servers behind one line.
//!
//! With c servers of time S and a way of time o, one request takes o + S and at most c / S are served a second. The
//! most requests a second times what one takes alone is c (1 + o / S): c is the whole number below it, S = c over the
//! highest rate, and o what is left.

use iosonde_model::{FindingName, Op, Trait};

use super::facts::{Facts, Place};

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<String>) {
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
    let why = "the highest rate times the time of one alone, in whole servers";
    // Whole servers are chosen, and what each takes with them: no interval says how far off that may be.
    traits.push(Place { key: "queue.servers", label: "servers", unit: "1" }.chosen(servers, &both, why));
    let why = "so many servers over the highest rate";
    traits.push(
        Place { key: "queue.service.fixed", label: "service", unit: "ns" }.chosen(service_ns, &both, why),
    );
    if most.is_a_bound() {
        untold.push(
            "The rate was still rising with the most in flight that stand: there may be more servers."
                .to_owned(),
        );
    }
    (traits, untold)
}

/// The link: whatever every request takes beside the medium, and what a second carries each way.
pub(super) fn link(facts: &Facts, way_ns: f64, traits: &mut Vec<Trait>, untold: &mut Vec<String>) {
    let place = |key, label, unit| Place { key, label, unit };
    let alone: Vec<_> = facts.alone(Op::Read).into_iter().collect();
    let why = "what one request takes alone, less the medium's part";
    traits.push(place("link.latency", "the way there and back", "ns").from(way_ns, &alone, why));
    for (op, key) in [(Op::Read, "link.bandwidth.read"), (Op::Write, "link.bandwidth.write")] {
        let label = if op == Op::Read { "link, reads" } else { "link, writes" };
        let line = facts.one_at_a_time(op).filter(|(rate, _)| {
            // More than the most was not seen to be moved.
            facts.of_op(FindingName::DeviceBandwidth, op).is_none_or(|most| *rate > most.value())
        });
        if let Some((rate, both)) = line {
            let why = "the slope of the time of single requests over their size";
            traits.push(place(key, label, "B/s").from(rate, &both, why));
        } else if let Some(rate) = facts.of_op(FindingName::DeviceBandwidth, op) {
            let why = "the most that large requests moved: link and medium cannot be told apart there";
            traits.push(place(key, label, "B/s").is(&rate, why));
        } else {
            untold.push(format!(
                "How fast large {op}s are was not found; `iosonde run quick TARGET` would tell. The link has no limit."
            ));
        }
    }
}
