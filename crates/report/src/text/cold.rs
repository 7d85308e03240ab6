//! Words of first and second reads: the answer, and what it rests on.

use iosonde_model::{Cold, ColdVerdict, Estimate, FirstAndAgain, Unit, units};

use super::{
    number::{Figure, Style, figure, percent},
    table::{Cell, ResultRow, ResultTable},
};

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
    let (alone, streamed) = (&cold.latency_ns.slowdown, &cold.bytes_per_s.slowdown);
    let slower = if alone.value > streamed.value { alone } else { streamed };
    match cold.verdict {
        ColdVerdict::Cold => {
            let Figure { value, interval } = factor(slower);
            format!("{target}: first reads are {value} times slower than second reads ({interval})")
        }
        ColdVerdict::Warm => {
            let most =
                [alone, streamed].into_iter().filter_map(|slowdown| slowdown.high).fold(1.001, f64::max);
            format!(
                "{target}: first reads are at most {} slower than second reads",
                units::percent(most - 1.0)
            )
        }
        ColdVerdict::Inconclusive => format!(
            "{target}: the ratio of first to second reads varies too much; test the device or a larger file, on a \
             quiet machine (these places are warm now)"
        ),
    }
}

fn factor(slowdown: &Estimate) -> Figure {
    figure(Unit::None, slowdown)
}

/// Both ways of reading: for the first time, again, and how many times slower.
pub fn table(cold: &Cold) -> ResultTable {
    let row = |label: String, unit: Unit, both: &FirstAndAgain| {
        let [first, again] = [&both.first, &both.again].map(|value| figure(Style::from(unit), value));
        let cells = [first, again, factor(&both.slowdown)].map(|figure| Some(Cell::from(figure)));
        ResultRow { label, indented: false, cells: cells.into() }
    };
    let single = format!("{} reads, QD 1", units::size(cold.block_bytes));
    let large = format!("{} areas, QD {}", units::size(cold.area_bytes), cold.depth);
    let rows = vec![row(single, Unit::Time, &cold.latency_ns), row(large, Unit::Rate, &cold.bytes_per_s)];
    ResultTable { corner: "", heads: vec!["first", "again", "times slower"], rows }
}

/// What the answer means and what it rests on, in labelled lines.
pub fn lines(cold: &Cold) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let distance = units::decimal_bytes(cold.distance_bytes);
    if cold.verdict == ColdVerdict::Cold {
        lines.push(("cold", format!("{} of the places", percent(&cold.slow_share))));
        let Estimate { value, low, high } = cold.read_all_s;
        let interval = low.zip(high).map_or_else(String::new, |(low, high)| {
            format!(" ({}–{})", units::duration(low), units::duration(high))
        });
        let (size, time) = (units::decimal_bytes(cold.size_bytes), units::duration(value));
        lines.push(("to warm it", format!("read it once: {time}{interval} for {size}")));
        lines.push((
            "or a cache",
            format!("a cache that still holds what was read {distance} ago gives the same figures"),
        ));
    }
    let places = units::count(cold.single_reads as f64);
    lines.push((
        "tested",
        format!(
            "{places} places, again after {distance} of other reads; nothing was written; 95 % confidence intervals"
        ),
    ));
    let (took, read) = (units::duration(cold.elapsed_s), units::decimal_bytes(cold.read_bytes));
    lines.push(("took", format!("{took}; {read} read")));
    lines
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Circumstances, Histogram};

    use super::*;
    use crate::{Answer, Paint};

    fn estimate(value: f64) -> Estimate {
        Estimate { value, low: Some(value * 0.96), high: Some(value * 1.04) }
    }

    fn cold(verdict: ColdVerdict) -> Cold {
        let both = |first: f64, again: f64, slowdown: f64| {
            let [first, again, slowdown] = [first, again, slowdown].map(estimate);
            FirstAndAgain { first, again, slowdown }
        };
        Cold {
            target: "/dev/sdx".into(),
            size_bytes: 100_000_000_000,
            latency_ns: both(14.5e6, 712e3, 20.4),
            bytes_per_s: both(79e6, 250e6, 3.16),
            slow_share: estimate(0.74),
            read_all_s: estimate(1265.0),
            single_reads: 1732,
            read_bytes: 4_678_000_000,
            distance_bytes: 454_000_000,
            block_bytes: 4096,
            area_bytes: 4 << 20,
            depth: 32,
            single_ns: [Histogram::new(), Histogram::new()],
            elapsed_s: 65.0,
            verdict,
            circumstances: Circumstances::default(),
        }
    }

    #[test]
    fn each_verdict_has_its_words() {
        let told = |verdict| {
            let cold = cold(verdict);
            cold.screen(Paint { color: false, width: 100 })
        };
        let verdicts = [ColdVerdict::Cold, ColdVerdict::Warm, ColdVerdict::Inconclusive];
        insta::assert_snapshot!(verdicts.map(told).join("\n\n"));
    }
}
