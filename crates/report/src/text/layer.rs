//! Words of layers: what one costs above what lies below it, and what is odd about it.

use iosonde_model::{
    ComparedPair, Estimate, Layer, LayerCost, LayerLine, LayerSign, Op, TrialSpec, Unit, units,
};

use super::{compare_table::throughput, number::with_interval};
use crate::quantity::{Quantity, Scale};

/// A workload in a table of a layer's cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerRow {
    /// `4 KiB random reads, QD 1`.
    pub label: String,
    /// Below the layer: time per request at QD 1, else throughput.
    pub base: String,
    /// Through the layer.
    pub through: String,
    /// `+12.3 µs (12.1–12.5)`, `97 % (96–98)`.
    pub cost: String,
}

/// One row for each workload.
pub fn rows(layer: &Layer) -> Vec<LayerRow> {
    layer.lines.iter().map(row).collect()
}

fn row(line: &LayerLine) -> LayerRow {
    let both = if line.spec.read_percent.is_some() { format!(": {}s", line.op) } else { String::new() };
    let label = format!("{}{both}", line.spec.describe());
    let figure = |iops: f64| match line.cost {
        LayerCost::AddedNs(_) => Quantity::Nanoseconds.text(1e9 / iops),
        LayerCost::Share(_) => throughput(&line.spec, iops),
    };
    let cost = match &line.cost {
        LayerCost::AddedNs(added) => signed_time(added, "+"),
        LayerCost::Share(share) if share.is_vague() => share_of(share),
        LayerCost::Share(share) => format!("{} left", share_of(share)),
    };
    LayerRow { label, base: figure(line.base_iops), through: figure(line.through_iops), cost }
}

/// A time that may be below zero, with its interval in the same unit; `plus` stands before one that is not.
fn signed_time(added: &Estimate, plus: &str) -> String {
    let ends = added.low.zip(added.high);
    let largest = ends.map_or(added.value.abs(), |(low, high)| low.abs().max(high.abs()));
    let Scale { factor, unit } = Quantity::Nanoseconds.scale(largest);
    let half = ends.map_or(added.value.abs() / 10.0, |(low, high)| (high - low) / 2.0) / factor;
    // Two digits of the error, and three of the largest figure.
    let place = |value: f64| value.max(1e-9).log10().floor();
    let digits = (1.0 - place(half)).min(2.0 - place(largest / factor)).clamp(0.0, 2.0) as usize;
    let places = 10f64.powi(digits as i32);
    let number = |value: f64, plus: &str| {
        let rounded = (value / factor * places).round() / places;
        let sign = if rounded < 0.0 { "−" } else { plus };
        format!("{sign}{:.digits$}", rounded.abs())
    };
    let to = if ends.is_some_and(|(low, _)| low < 0.0) { " to " } else { "–" };
    let interval = ends
        .map_or_else(String::new, |(low, high)| format!(" ({}{to}{})", number(low, ""), number(high, "")));
    format!("{} {unit}{interval}", number(added.value, plus))
}

fn share_of(share: &Estimate) -> String {
    if share.is_vague() {
        return "unknown".to_owned();
    }
    let percent = |value: f64| 100.0 * value;
    let half = share.low.zip(share.high).map_or(1.0, |(low, high)| percent(high - low) / 2.0);
    let digits = usize::from(half < 0.95);
    let number = |value: f64| {
        let text = format!("{:.digits$}", percent(value));
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    let interval = share.low.zip(share.high);
    let interval =
        interval.map_or_else(String::new, |(low, high)| format!(" ({}–{})", number(low), number(high)));
    format!("{} %{interval}", number(share.value))
}

/// The answer in two sentences: what is added to a request, and what is left of the throughput.
pub fn answer(pair: &ComparedPair, layer: &Layer) -> String {
    let ComparedPair { a, b, .. } = pair;
    let is_faster =
        |sign: &LayerSign| matches!(sign, LayerSign::ReadsFaster { .. } | LayerSign::WritesFaster { .. });
    if layer.signs.iter().any(is_faster) {
        return format!("{b} is faster than {a}. A layer that only passes requests on cannot be.");
    }
    let smallest = |op: Op, is_commit: bool| {
        let is_such = |line: &&LayerLine| {
            line.op == op && is_flushed(&line.spec) == is_commit && !line.spec.rw.is_mixed()
        };
        let single = layer.lines.iter().filter(is_such).filter_map(|line| match &line.cost {
            LayerCost::AddedNs(added) => Some((line, added)),
            LayerCost::Share(_) => None,
        });
        single.min_by_key(|(line, _)| line.spec.block_size_bytes)
    };
    let named = |(line, added): (&LayerLine, &Estimate), what: &str| {
        // A cost whose interval holds zero is not shown to be one.
        let cost = match added.low.zip(added.high) {
            Some((low, high)) if low <= 0.0 && high > 0.0 => {
                format!("at most {}", Quantity::Nanoseconds.text(high))
            }
            _ => signed_time(added, ""),
        };
        format!("{cost} to a {} {what}", units::size(line.spec.block_size_bytes))
    };
    let added: Vec<String> = [
        smallest(Op::Read, false).map(|found| named(found, "read")),
        smallest(Op::Write, false).map(|found| named(found, "write")),
        smallest(Op::Write, true).map(|found| named(found, "commit")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let first = match added.as_slice() {
        [] => String::new(),
        [one] => format!("{b} adds {one} at QD 1."),
        [most @ .., last] => format!("{b} adds {} and {last} at QD 1.", most.join(", ")),
    };
    let shares = layer.lines.iter().filter_map(|line| match &line.cost {
        LayerCost::Share(share) if !share.is_vague() => Some(share.value),
        _ => None,
    });
    let ends = shares.fold(None, |ends: Option<(f64, f64)>, share| {
        let (low, high) = ends.unwrap_or((share, share));
        Some((low.min(share), high.max(share)))
    });
    let second = ends.map_or_else(String::new, |(low, high)| {
        let (low, high) = (format!("{:.0}", 100.0 * low), format!("{:.0}", 100.0 * high));
        let range = if low == high { low } else { format!("{low} to {high}") };
        format!(" With deeper queues, {range} % of the throughput of {a} is left.")
    });
    if first.is_empty() && second.is_empty() {
        return format!("What {b} costs above {a} is unknown: no workload has valid figures on both sides.");
    }
    let confidence = units::percent(layer.confidence);
    let has_interval = |line: &LayerLine| match &line.cost {
        LayerCost::AddedNs(cost) | LayerCost::Share(cost) => cost.low.is_some(),
    };
    let method = match (pair.in_turn, layer.lines.iter().any(has_interval)) {
        (true, _) => format!(" Intervals: {confidence} CI over alternating trials of one run each."),
        (false, true) => format!(" Intervals: {confidence} CI."),
        (false, false) => " No intervals: too few valid trials in the same rounds.".to_owned(),
    };
    format!("{first}{second}{method}").trim_start().to_owned()
}

/// What the figures of the table are.
pub const LEGEND: &str = "QD 1: mean time of a request, and what the layer adds. Deeper: throughput, and what is \
                          left of it. With fdatasync a request is a commit: the write and its flush.";

/// Whether each write is flushed: a commit.
fn is_flushed(spec: &TrialSpec) -> bool {
    spec.sync != iosonde_model::Sync::None
}

/// What is odd about the layer, one sentence each.
pub fn signs(pair: &ComparedPair, layer: &Layer) -> Vec<String> {
    layer.signs.iter().map(|sign| self::sign(pair, sign)).collect()
}

fn sign(ComparedPair { a, b, .. }: &ComparedPair, sign: &LayerSign) -> String {
    let times = |factor: &Estimate| with_interval(Unit::Ratio, factor);
    match sign {
        LayerSign::ReadsFaster { spec, factor } => format!(
            "{b} reads faster than {a}, up to {} ({}): it caches what it reads, or has other storage below it, too; \
             or base and layer are swapped.",
            times(factor),
            spec.describe()
        ),
        LayerSign::WritesFaster { spec, factor } => format!(
            "{b} writes faster than {a}, up to {} ({}): it holds writes back, so a power loss may lose them, or it has \
             other storage below it, too; or base and layer are swapped.",
            times(factor),
            spec.describe()
        ),
        LayerSign::FromMemory { op, workloads } => {
            let workloads =
                if *workloads == 1 { "1 workload".to_owned() } else { format!("{workloads} workloads") };
            format!(
                "Memory served the {op}s of {workloads} through {b}: it caches them. They are not in the table."
            )
        }
        LayerSign::NotAbove { base, through } => format!(
            "{b} ({}) does not lie above {a} ({}): they share no block device, so their difference is not the cost of \
             a layer.",
            lies_on(through),
            lies_on(base)
        ),
    }
}

/// Block devices, one on the other. Only what lies in memory has none here.
fn lies_on(chain: &[String]) -> String {
    if chain.is_empty() { "in memory".to_owned() } else { chain.join(" on ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_has_its_sign_and_no_more_digits_than_its_interval() {
        let added = |value, low, high| Estimate { value, low: Some(low), high: Some(high) };
        assert_eq!(signed_time(&added(11_980.0, 11_910.0, 12_050.0), "+"), "+12.0 µs (11.9–12.1)");
        assert_eq!(signed_time(&added(-900.0, -2_100.0, 300.0), "+"), "−0.9 µs (−2.1 to 0.3)");
        assert_eq!(signed_time(&added(0.0, -4_000.0, 4_000.0), "+"), "+0.0 µs (−4.0 to 4.0)");
        let share = |low, high| share_of(&Estimate { value: 0.855, low: Some(low), high: Some(high) });
        assert_eq!(
            (share(0.853, 0.857).as_str(), share(0.2, 2.0).as_str()),
            ("85.5 % (85.3–85.7)", "unknown")
        );
    }
}
