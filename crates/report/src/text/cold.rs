//! Words of first and second reads: the answer, and what it rests on.

use iosonde_model::{Cold, ColdVerdict, Estimate, FirstAndAgain, Unit, units};

use super::number;

/// The verdict's name.
pub fn verdict(verdict: ColdVerdict) -> &'static str {
    match verdict {
        ColdVerdict::Cold => "cold",
        ColdVerdict::Warm => "warm",
        ColdVerdict::Inconclusive => "inconclusive",
    }
}

/// The answer in a sentence.
pub fn answer(cold: &Cold) -> String {
    let target = &cold.target;
    let slowdowns = [&cold.latency_ns.slowdown, &cold.bytes_per_s.slowdown];
    match cold.verdict {
        ColdVerdict::Cold => {
            let (more, reads) = if slowdowns[0].value > slowdowns[1].value {
                (slowdowns[0], "single reads")
            } else {
                (slowdowns[1], "large reads")
            };
            format!("{target}: {reads} are {} slower for the first time", times(more))
        }
        ColdVerdict::Warm => format!("{target}: first reads are as fast as second ones"),
        ColdVerdict::Inconclusive => {
            let [alone, streamed] = slowdowns.map(times);
            format!(
                "{target}: first reads may be as fast as second ones (single reads are {alone} slower, large reads \
                 {streamed})"
            )
        }
    }
}

fn times(slowdown: &Estimate) -> String {
    number::with_interval(Unit::Ratio, slowdown)
}

/// What the answer rests on and what it means, in labelled lines.
pub fn lines(cold: &Cold) -> Vec<(&'static str, String)> {
    let [first_p99, again_p99] = cold.p99_ns.map(units::time);
    let FirstAndAgain { first, again, .. } = &cold.latency_ns;
    let single = format!(
        "first {}, p99 {first_p99}; again {}, p99 {again_p99} ({} reads, one at a time)",
        number::with_interval(Unit::Time, first),
        number::with_interval(Unit::Time, again),
        units::size(cold.block_bytes),
    );
    let FirstAndAgain { first, again, .. } = &cold.bytes_per_s;
    let large = format!(
        "first {}, again {} ({} at a time, {} requests)",
        number::with_interval(Unit::Rate, first),
        number::with_interval(Unit::Rate, again),
        units::size(cold.area_bytes),
        cold.depth,
    );
    let mut lines = vec![("single reads", single), ("large reads", large)];
    if cold.verdict == ColdVerdict::Cold {
        lines.push(("slow places", format!("{} of them", number::percent(&cold.slow_share))));
        let (low, high) = (cold.read_all_s.low, cold.read_all_s.high);
        let interval = low.zip(high).map_or_else(String::new, |(low, high)| {
            format!(" [{}, {}]", units::duration(low), units::duration(high))
        });
        lines.push((
            "to warm it",
            format!(
                "read it once: {}{interval} for {}",
                units::duration(cold.read_all_s.value),
                units::decimal_bytes(cold.size_bytes)
            ),
        ));
    }
    lines.push((
        "tested",
        format!(
            "{} places, each again after {} of other reads; nothing was written",
            units::count(cold.single_reads as f64),
            units::decimal_bytes(cold.distance_bytes)
        ),
    ));
    lines.push((
        "took",
        format!("{}; {} read", units::duration(cold.elapsed_s), units::decimal_bytes(cold.read_bytes)),
    ));
    lines
}
