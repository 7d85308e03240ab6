//! Words of comparisons: the answer for two sides, why workloads have no ratio, and what else differs.

use iosonde_infer::compare::{NothingToCompare, Side};
use iosonde_model::{
    About, BandwidthOfSmall, Compared, ComparedFigure, ComparedPair, ComparedSide, ComparedUnit, Comparison,
    Estimate, GeometricMean, Incomparable, Likeness, NoFigure, PropertyValue, RateLimit, RunProperty,
    ServedBy, Unit, WorkloadGroup, units,
};

use crate::quantity::Quantity;
use crate::text::{
    case::capitalised,
    finding::constant_limit,
    layout,
    number::{figure, with_interval},
};

/// From this factor on a difference is given as a factor, below it in percent: `6.5 times`, `12 %`.
const IN_TIMES: f64 = 1.5;
/// Highest over lowest ratio from which on both are given.
const APART: f64 = 1.05;
/// High over low of an interval that has no content: only its low end is given.
const WIDE: f64 = 5.0;

/// Why sides cannot be compared at all.
pub fn nothing(why: &NothingToCompare) -> String {
    match why {
        NothingToCompare::NoSide => "there is nothing to compare".to_owned(),
        NothingToCompare::OneSide { name } => {
            format!("{name} alone cannot be compared; name two runs or more")
        }
        NothingToCompare::SameName { name } => format!("{name} is named twice; name two different runs"),
    }
}

/// The answer for two sides, with its figures.
pub fn answer(pair: &ComparedPair) -> String {
    let ComparedPair { a, b, .. } = pair;
    let Some(mean) = pair.geometric_means.first() else {
        let why = match pair.not_compared {
            0 => match pair.differences.iter().find(|one| one.what == RunProperty::Hosts) {
                Some(one) => {
                    let (a_name, b_name) = (a, b);
                    let [a, b] = [&one.a, &one.b].map(|value| property_value(one.what, value.as_ref()));
                    return format!(
                        "No workload of {a_name} and {b_name} has the same number of hosts ({a} and {b}), so none is \
                         compared; run the same number, or the experiment `host-scaling`."
                    );
                }
                None => "they have no workload in common".to_owned(),
            },
            1 => "their common workload is not valid on both sides".to_owned(),
            count => format!("none of {count} common workloads is valid on both sides"),
        };
        return format!("{b} and {a} cannot be compared: {why}.");
    };
    let estimate = Estimate { value: mean.ratio, low: mean.low, high: mean.high };
    let what = in_what(pair.figure);
    let (said, interval) = match mean.verdict {
        Likeness::Faster | Likeness::Slower => {
            let Amount { text, interval } = amount(&estimate, is_in_times(mean.ratio));
            (format!("{b} is {text} {} than {a}{what}", mean.verdict), interval)
        }
        Likeness::Same => {
            (format!("{b} is as fast as {a} within {}{what}", units::percent(pair.margin)), None)
        }
        Likeness::CannotTell | Likeness::NotComparable => {
            (format!("Inconclusive whether {b} is faster or slower than {a}{what}"), ratio(&estimate))
        }
    };
    // Of one run a side, the trials tell how many digits are known, and nothing of the storage.
    let interval = interval
        .filter(|_| pair.unit == ComparedUnit::Repeat)
        .map_or_else(String::new, |interval| format!("{} CI {interval}; ", units::percent(pair.confidence)));
    // A mix of reads and writes is one workload and has two.
    let of = match mean.points {
        1 => "1 workload".to_owned(),
        count => {
            let of = if pair.figure == ComparedFigure::Iops { "throughput" } else { "latency" };
            format!("geometric mean of {count} {of} ratios")
        }
    };
    let rests = format!("{of}{}", in_turn(pair));
    let (rests, open) = match repeats(pair) {
        // More runs would not make it one of the storage.
        Repeats::Missing(_) if pair.about != ServedBy::Storage => (rests, String::new()),
        Repeats::Known(runs) => (format!("{rests}; {runs}"), String::new()),
        Repeats::Missing(what) => (rests, format!(" {what}")),
    };
    let parts = by_direction(pair).into_iter().chain(single(pair)).chain(small_reach_all(pair));
    let parts: String = parts.map(|part| format!(" {}.", capitalised(&part))).collect();
    let limits: String = limited(pair).iter().map(|part| format!(" {part}.")).collect();
    format!("{}{said} ({interval}{rests}).{limits}{parts}{open}{}", of_what(pair.about), left_out(pair))
}

/// A ratio as it is shown: one run a side knows nothing of the variation between runs, so that the interval over its
/// trials is none for the storage.
pub fn for_the_storage(pair: &ComparedPair, ratio: Estimate) -> Estimate {
    match pair.unit {
        ComparedUnit::Repeat => ratio,
        ComparedUnit::Run => Estimate { low: None, high: None, ..ratio },
    }
}

/// The low end of a ratio whose interval says no more than the direction.
pub fn least(pair: &ComparedPair, ratio: Estimate, verdict: Likeness) -> Option<f64> {
    let is_told = matches!(verdict, Likeness::Faster | Likeness::Slower) && ratio.is_vague();
    ratio.low.filter(|low| pair.unit == ComparedUnit::Run && is_told && *low > 1.0)
}

/// A ratio in a table, of sides that differ, do not, or where that is unknown.
pub fn ratio_text(pair: &ComparedPair, ratio: Estimate, verdict: Likeness) -> String {
    // Of a run a side, both figures stand beside it, and no interval does.
    if pair.unit == ComparedUnit::Run && verdict == Likeness::Same {
        return String::new();
    }
    if let Some(low) = least(pair, ratio, verdict) {
        return format!("≥ {}×", number(low, 0.0)(low));
    }
    match pair.unit {
        ComparedUnit::Run if !ratio.is_vague() => format!("{}×", number(ratio.value, 0.0)(ratio.value)),
        // 1.27× (0.00–791) would claim to know the middle of what is not known.
        ComparedUnit::Run => {
            let told = figure(Unit::Ratio, &ratio);
            if told.is_unknown() { told.value } else { told.whole() }
        }
        ComparedUnit::Repeat => with_interval(Unit::Ratio, &ratio),
    }
}

fn in_what(figure: ComparedFigure) -> String {
    match figure {
        ComparedFigure::Iops => String::new(),
        _ => format!(" in {}", figure_name(figure)),
    }
}

/// What is compared.
pub fn figure_name(figure: ComparedFigure) -> &'static str {
    match figure {
        ComparedFigure::Iops => "IOPS",
        ComparedFigure::LatencyMean => "mean latency",
        ComparedFigure::LatencyP50 => "median latency",
        ComparedFigure::LatencyP99 => "p99 latency",
    }
}

/// How far reads and writes are apart, where there are both, each with its number of ratios:
/// `reads: 3.33 times slower (16 ratios); writes: 1.20 times faster (12)`.
fn by_direction(pair: &ComparedPair) -> Option<String> {
    let of = |group: WorkloadGroup| pair.geometric_means.iter().find(|mean| mean.of == group);
    let (reads, writes) = (of(WorkloadGroup::AllReads)?, of(WorkloadGroup::AllWrites)?);
    // In one unit, that of the whole where it is the larger one: "2.43 times, 25 %" would be read as a quarter.
    let in_times = pair.geometric_means.iter().any(|mean| is_in_times(mean.ratio));
    let told = |what: &str, mean: &GeometricMean, unit: &str| {
        let ratio = Estimate { value: mean.ratio, low: mean.low, high: mean.high };
        let said = match mean.verdict {
            Likeness::Same => "the same".to_owned(),
            Likeness::CannotTell | Likeness::NotComparable => "inconclusive".to_owned(),
            verdict => format!("{} {verdict}", difference(&for_the_storage(pair, ratio), in_times)),
        };
        format!("{what}: {said} ({}{unit})", mean.points)
    };
    Some(format!("{}; {}", told("reads", reads, " ratios"), told("writes", writes, "")))
}

/// Rate limits of a side, or of both where they have the same.
fn limited(pair: &ComparedPair) -> Vec<String> {
    let (a, b) = (limits_of(pair, &pair.a), limits_of(pair, &pair.b));
    let like = |one: &RateLimit, other: &RateLimit| {
        (one.unit, one.op, one.shared, one.chunk_bytes)
            == (other.unit, other.op, other.shared, other.chunk_bytes)
            && (one.value / other.value - 1.0).abs() <= pair.margin
    };
    let is_in = |limit: &RateLimit, others: &[RateLimit]| others.iter().any(|other| like(limit, other));
    if !a.is_empty() && a.len() == b.len() && a.iter().all(|limit| is_in(limit, &b)) {
        return vec![format!("Both are limited to {}", constant_limit::together(a.into_iter()))];
    }
    [(&pair.a, a), (&pair.b, b)].into_iter().filter_map(|(side, limits)| is_limited(side, &limits)).collect()
}

fn limits_of(pair: &ComparedPair, side: &str) -> Vec<RateLimit> {
    pair.limits.iter().filter(|own| own.side == side).map(|own| own.limit).collect()
}

fn is_limited(side: &str, limits: &[RateLimit]) -> Option<String> {
    let told = || format!("{side} is limited to {}", constant_limit::together(limits.iter().copied()));
    (!limits.is_empty()).then(told)
}

/// What one side reaches with small requests already.
fn small_reach_all(pair: &ComparedPair) -> impl Iterator<Item = String> + '_ {
    // A limit of bytes, which is told, is why.
    let is_limited = |own: &&BandwidthOfSmall| {
        pair.limits.iter().any(|one| one.side == own.side && one.limit.unit == Unit::Rate)
    };
    pair.bandwidth_of_small.iter().filter(move |own| !is_limited(own)).map(|own| {
        format!(
            "{}s of {} reach at most {}; {} requests reach that already",
            own.op,
            own.side,
            Quantity::BytesPerSecond.text(own.bytes_per_s),
            units::size(own.block_size_bytes)
        )
    })
}

/// How far single workloads lie apart, where it is more than 5 % or some contradict the mean:
/// `single workloads: 1.5 to 7.6 times slower`.
fn single(pair: &ComparedPair) -> Option<String> {
    let [low, high] = pair.extremes.filter(|[low, high]| *high > APART * low || pair.opposite > 0)?;
    let times = |ratio: f64| {
        let factor = if ratio < 1.0 { 1.0 / ratio } else { ratio };
        number(factor, 0.0)(factor)
    };
    // More throughput is faster, and more latency is slower.
    let [less, more] = match pair.figure {
        ComparedFigure::Iops => ["slower", "faster"],
        _ => ["faster", "slower"],
    };
    let range = match (low < 1.0, high > 1.0) {
        (true, true) => format!("from {} times {less} to {} times {more}", times(low), times(high)),
        (true, false) => format!("{} to {} times {less}", times(high), times(low)),
        (false, _) => format!("{} to {} times {more}", times(low), times(high)),
    };
    Some(format!("single workloads: {range}"))
}

fn workloads(count: usize) -> String {
    if count == 1 { "1 workload".to_owned() } else { format!("{count} workloads") }
}

fn in_turn(pair: &ComparedPair) -> &'static str {
    if pair.in_turn { " in alternating trials" } else { "" }
}

/// Source of the run-to-run variation, or the command that measures it.
fn repeats(pair: &ComparedPair) -> Repeats {
    match (pair.unit, pair.repeats) {
        (ComparedUnit::Run, [1, 1]) => Repeats::Missing(
            "With one run of each, the ratios have no confidence interval; run both with `--repeats 5`."
                .to_owned(),
        ),
        (ComparedUnit::Run, [a_runs, _]) => {
            let alone = if a_runs == 1 { &pair.a } else { &pair.b };
            Repeats::Missing(format!(
                "The ratios have no confidence interval: one run of {alone}; `--repeats 5` gives one."
            ))
        }
        (ComparedUnit::Repeat, [1, _] | [_, 1]) => {
            Repeats::Known("run-to-run variation as in earlier runs of the same study and target".to_owned())
        }
        (ComparedUnit::Repeat, [a, b]) if a == b => Repeats::Known(format!("each side ran {a} times")),
        (ComparedUnit::Repeat, [a, b]) => Repeats::Known(format!("{a} and {b} repeats")),
    }
}

/// The run-to-run variation, or the sentence that says how to get it.
enum Repeats {
    Known(String),
    Missing(String),
}

/// What is compared where it is not the storage. It comes first: a ratio is read as one of the storage.
fn of_what(about: ServedBy) -> &'static str {
    match about {
        ServedBy::Storage => "",
        ServedBy::Memory => "This compares memory, not the storage: memory served both sides. ",
        ServedBy::Program => {
            "This compares the program, not the storage: iosonde was CPU-bound on both sides. "
        }
        ServedBy::MemoryOrProgram => {
            "This compares memory or the program, not the storage: they were the limit on both sides. "
        }
    }
}

/// Workloads that are not in the mean.
fn left_out(pair: &ComparedPair) -> String {
    let are = if pair.without_interval == 1 { "is" } else { "are" };
    match pair.without_interval {
        0 => String::new(),
        count => format!(" {} more {are} inconclusive and not in the mean.", workloads(count)),
    }
}

/// How much faster or slower, with its interval: `18 % (15–21 %)`.
pub(super) fn difference(ratio: &Estimate, in_times: bool) -> String {
    let Amount { text, interval } = amount(ratio, in_times);
    interval.map_or_else(|| text.clone(), |interval| format!("{text} ({interval})"))
}

/// How much faster or slower.
struct Amount {
    /// `3.3 times`, `12 %`.
    text: String,
    /// Its interval in the same unit; `None` where it has no content.
    interval: Option<String>,
}

/// Interval of a ratio without a direction; `None` where it has no content.
fn ratio(estimate: &Estimate) -> Option<String> {
    let (low, high) = estimate.low.zip(estimate.high).filter(|(low, high)| *high <= WIDE * low)?;
    let number = number(estimate.value, (high - low) / 2.0);
    Some(format!("of the ratio {}–{}", number(low), number(high)))
}

/// Whether a ratio is given as a factor.
pub(super) fn is_in_times(ratio: f64) -> bool {
    ratio.max(1.0 / ratio) >= IN_TIMES
}

fn amount(estimate: &Estimate, in_times: bool) -> Amount {
    let times = |ratio: f64| if estimate.value < 1.0 { 1.0 / ratio } else { ratio };
    let percent = |ratio: f64| (ratio - 1.0).abs() * 100.0;
    let scale = |ratio: f64| if in_times { times(ratio) } else { percent(ratio) };
    let (unit, sign) = if in_times { (" times", "") } else { (" %", " %") };
    let ends = estimate.low.zip(estimate.high).map(|(low, high)| {
        let (a, b) = (scale(low), scale(high));
        (a.min(b), a.max(b))
    });
    let value = scale(estimate.value);
    let number = number(value, ends.map_or(0.0, |(low, high)| (high - low) / 2.0));
    match ends {
        Some((low, high)) if in_times && high > WIDE * low => {
            Amount { text: format!("at least {}{unit}", number(low)), interval: None }
        }
        Some((low, high)) => {
            let [low, high] = [low, high].map(&number);
            // Ends of one spelling would claim a width of zero.
            let interval = match ends {
                Some((least, most)) if low == high => {
                    format!("±{}", units::percent(((most - least) / 2.0 / value).max(0.001)))
                }
                _ => format!("{low}–{high}{sign}"),
            };
            Amount { text: format!("{}{unit}", number(value)), interval: Some(interval) }
        }
        None => Amount { text: format!("{}{unit}", number(value)), interval: None },
    }
}

/// Writes numbers with three significant digits of `value`, or two where the interval is wide.
fn number(value: f64, half_width: f64) -> impl Fn(f64) -> String {
    // Half of 6.6 − 6.4 is 0.0999…96 in binary, and has its first digit where 0.1 has it.
    let place = |value: f64| (value.abs().max(1e-3) * (1.0 + 1e-9)).log10().floor() as i32;
    let three = (2 - place(value)).max(0);
    let earned = if half_width > 0.0 { -place(half_width) } else { three };
    // Below 10 one decimal stays, whatever the interval: 3.3 times.
    let digits = earned.clamp((three - 1).clamp(0, 1), three) as usize;
    move |number| format!("{number:.digits$}")
}

/// Why a workload has no ratio, or what limits it; empty where nothing does.
pub fn limits(line: &Comparison) -> String {
    let limit = |limit: &Incomparable| match limit {
        Incomparable::FixedRate => {
            "its rate was fixed; `--figure latency_ns_mean` compares latency".to_owned()
        }
        Incomparable::Side { side, repeat, cause } => {
            let repeat = repeat.map_or_else(String::new, |repeat| format!(" (repeat {repeat})"));
            format!("{}{repeat}: {}", line.between[*side], no_figure(line.figure, cause))
        }
    };
    line.limits.iter().map(limit).collect::<Vec<_>>().join("; ")
}

fn no_figure(figure: ComparedFigure, cause: &NoFigure) -> String {
    let is_percentile = matches!(figure, ComparedFigure::LatencyP50 | ComparedFigure::LatencyP99);
    match cause {
        NoFigure::NoSuchFigure if is_percentile => "too few requests".to_owned(),
        NoFigure::NotMeasured => "not measured".to_owned(),
        NoFigure::NoSuchFigure => "no such figure".to_owned(),
        NoFigure::Invalid(judged) => {
            let about = match judged.about {
                About::All => "",
                About::Rate => " for throughput",
                About::Latency => " for latency",
                About::Depth => " for queue depth",
                About::Device => " for the storage",
            };
            format!("invalid{about}: {}", super::why(judged))
        }
    }
}

/// Which of a side's repeats its answer is of, with the first one's numbers, and how many are judged otherwise.
pub fn of_all_repeats(side: &Side) -> String {
    let kind = |run: &iosonde_model::Run| {
        let facts = iosonde_infer::validity::validity(run);
        (facts.mark, facts.fatal.as_ref().map(std::mem::discriminant))
    };
    let kinds: Vec<_> = side.runs.iter().map(kind).collect();
    match kinds.iter().filter(|kind| **kind != kinds[0]).count() {
        0 => format!("The first of {} repeats; the others have the same answer.", kinds.len()),
        others => format!("The first of {} repeats; {others} of them have another answer.", kinds.len()),
    }
}

/// Meaning of the verdicts in a table, of those that it shows, and of `≥` where a ratio has it.
pub fn verdicts(pair: &ComparedPair, shown: &[Likeness], has_bounds: bool) -> String {
    let margin = units::percent(pair.margin);
    let differs = shown.iter().any(|verdict| [Likeness::Faster, Likeness::Slower].contains(verdict));
    let same = shown
        .contains(&Likeness::Same)
        .then(|| format!("Differences up to {margin} count as same (`--margin`)."));
    let surely = (differs && pair.unit == ComparedUnit::Repeat).then(|| {
        format!("Each \"faster\" and \"slower\" holds with {} confidence.", units::percent(pair.confidence))
    });
    let open = shown
        .contains(&Likeness::CannotTell)
        .then(|| "Maybe: trials within a run are too few or scatter too much to be sure.".to_owned());
    let bounds = has_bounds.then(|| {
        "≥: at least that; what limited a side, or the scatter of its trials, allows more.".to_owned()
    });
    [same, surely, open, bounds].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What a highest rate is, where a workload has more than it.
pub fn above_highest(is_above: bool) -> String {
    let told = "A highest rate is the mean of the workloads that reach it; one of them may be higher.";
    if is_above { told.to_owned() } else { String::new() }
}

/// Verdict on a ratio of a figure, as tables show it: `faster`, of latency `better`; inconclusive: `maybe faster`.
pub fn likeness(margin: f64, figure: ComparedFigure, ratio: f64, verdict: Likeness) -> &'static str {
    let is_latency = figure != ComparedFigure::Iops;
    match verdict {
        Likeness::CannotTell if (1.0 / (1.0 + margin)..1.0 + margin).contains(&ratio) => "maybe same",
        Likeness::CannotTell if is_latency => ["maybe better", "maybe worse"][usize::from(ratio > 1.0)],
        Likeness::CannotTell => ["maybe slower", "maybe faster"][usize::from(ratio > 1.0)],
        Likeness::Faster if is_latency => "better",
        Likeness::Slower if is_latency => "worse",
        Likeness::Same => "same",
        Likeness::Faster => "faster",
        Likeness::Slower => "slower",
        Likeness::NotComparable => "not comparable",
    }
}

/// How an order from fastest to slowest is made, and commands for the pairs without lines of their own.
pub fn ranking(compared: &Compared) -> String {
    let [first, others @ ..] = compared.sides.as_slice() else { return String::new() };
    let margin = compared.pairs.first().map_or_else(String::new, |pair| units::percent(pair.margin));
    let another = others.windows(2).next().map_or_else(String::new, |pair| {
        format!("; for another pair: `iosonde compare {} {}`", as_typed(&pair[0]), as_typed(&pair[1]))
    });
    let has_tie = compared.ranking.iter().any(|place| place.len() > 1);
    let tie = match has_tie {
        true => format!(" Sides share a place where no difference above {margin} is sure."),
        false => String::new(),
    };
    let order = match compared.is_ranked() {
        true => format!("Ordered by geometric mean against {}.{tie} ", first.name),
        false => String::new(),
    };
    format!("{order}Workloads are compared with {} only{another}.", first.name)
}

/// Whether a ranking says of a pair what its answer does: the sides have a ratio, and it is one of the storage.
pub fn is_plain(pair: &ComparedPair) -> bool {
    !pair.geometric_means.is_empty() && pair.about == ServedBy::Storage
}

/// What a ranking does not show of pairs that have no sentence: limits, and what is left out of its means.
pub fn beside_ranking(compared: &Compared) -> Vec<String> {
    let plain: Vec<&ComparedPair> = compared.pairs.iter().filter(|pair| is_plain(pair)).collect();
    let limit = |side: &ComparedSide| {
        let known = plain.iter().map(|pair| limits_of(pair, &side.name)).find(|limits| !limits.is_empty())?;
        is_limited(&side.name, &known)
    };
    let mut lines: Vec<String> =
        compared.sides.iter().filter_map(limit).map(|told| format!("{told}.")).collect();
    for pair in plain.iter().filter(|pair| pair.not_compared > 0) {
        let left_out = match pair.not_compared {
            1 => "1 workload is not valid on both sides, and left out".to_owned(),
            count => format!("{count} workloads are not valid on both sides, and left out"),
        };
        lines.push(format!("{} against {}: {left_out}.", pair.b, pair.a));
    }
    for pair in plain.iter().filter(|pair| pair.without_interval > 0) {
        lines.push(format!("{}:{}", pair.b, left_out(pair)));
    }
    if plain.iter().any(|pair| matches!(repeats(pair), Repeats::Missing(_))) {
        lines.push(
            "Ratios of runs without repeats have no confidence interval; `--repeats 5` gives one.".to_owned(),
        );
    }
    lines
}

/// A side as `compare` takes it: the names of runs that took turns are their targets'.
fn as_typed(side: &ComparedSide) -> &str {
    match side.runs.as_slice() {
        [only] => &only.id,
        _ => &side.name,
    }
}

/// Name of a property that differs, as tables show it.
pub fn property(what: RunProperty) -> &'static str {
    match what {
        RunProperty::WorkingSetBytes => "working set",
        RunProperty::DirectIo => "I/O path",
        RunProperty::TargetKind => "target",
        RunProperty::OnBattery => "on battery",
        RunProperty::PowerSaving => "power saving",
        RunProperty::ProcessorCount => "CPUs",
        RunProperty::Processor => "CPU",
        RunProperty::Kernel => "kernel",
        RunProperty::State => "state of the run",
        _ => what.as_str(),
    }
}

/// In place of properties that only one side knows, on a screen without them.
pub fn known_of_one_side(count: usize) -> String {
    format!("{count} more with -v")
}

/// Whether a property is known. No virtual machine and no layout are answers too, and not a lack of one.
pub fn is_known(what: RunProperty, value: Option<&PropertyValue>) -> bool {
    value.is_some() || matches!(what, RunProperty::VirtualMachine | RunProperty::Layout)
}

/// Value of a property that differs.
pub fn property_value(what: RunProperty, value: Option<&PropertyValue>) -> String {
    match (what, value) {
        (RunProperty::VirtualMachine, None) => "none".to_owned(),
        (RunProperty::Layout, None) => "one host, one file".to_owned(),
        (_, None) => "not known".to_owned(),
        (RunProperty::DirectIo, Some(PropertyValue::Flag(direct))) => {
            if *direct { "direct" } else { "buffered" }.to_owned()
        }
        (_, Some(PropertyValue::Flag(flag))) => if *flag { "yes" } else { "no" }.to_owned(),
        (_, Some(PropertyValue::Text(text))) => text.clone(),
        (_, Some(PropertyValue::Bytes(bytes))) => units::size(*bytes),
        (_, Some(PropertyValue::Count(count))) => count.to_string(),
        (_, Some(PropertyValue::State(state))) => state.to_string(),
        (_, Some(&PropertyValue::Layout { layout, rotated })) => layout::layout(layout, rotated),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::LimitOfSide;

    use super::*;

    fn pair(ratio: f64, low: f64, high: f64, verdict: Likeness) -> ComparedPair {
        let mean = iosonde_model::GeometricMean {
            of: iosonde_model::WorkloadGroup::All,
            points: 28,
            ratio,
            low: Some(low),
            high: Some(high),
            verdict,
        };
        ComparedPair {
            a: "A".into(),
            b: "B".into(),
            figure: ComparedFigure::Iops,
            about: ServedBy::Storage,
            unit: ComparedUnit::Run,
            repeats: [1, 1],
            in_turn: false,
            margin: 0.02,
            confidence: 0.95,
            geometric_means: vec![mean],
            highest: Vec::new(),
            bandwidth_of_small: Vec::new(),
            limits: Vec::new(),
            p99_means: Vec::new(),
            not_compared: 0,
            without_interval: 0,
            opposite: 0,
            extremes: None,
            unmatched: 0,
            differences: Vec::new(),
            layer: None,
        }
    }

    #[test]
    fn the_limits_of_one_side_are_said_of_it_and_those_of_both_once() {
        let limit = |side: &str, unit, value| LimitOfSide {
            side: side.into(),
            limit: RateLimit {
                unit,
                value,
                low: Some(value * 0.99),
                high: Some(value * 1.01),
                op: None,
                shared: Some(true),
                chunk_bytes: None,
            },
        };
        let (bytes, iops) = ((Unit::Rate, 131e6), (Unit::Iops, 3000.0));
        let of = |sides: &[(&str, Unit, f64)]| ComparedPair {
            limits: sides.iter().map(|(side, unit, value)| limit(side, *unit, *value)).collect(),
            ..pair(1.0, 0.9, 1.1, Likeness::Same)
        };
        let one = of(&[("B", bytes.0, bytes.1), ("B", iops.0, iops.1)]);
        let said = "B is limited to 131 MB/s (±1 %) and 3.00 k IOPS (±1 %), shared by reads and writes";
        assert_eq!(limited(&one), [said]);
        let both = of(&[("A", bytes.0, bytes.1), ("B", bytes.0, bytes.1 * 1.01)]);
        assert_eq!(limited(&both), ["Both are limited to 131 MB/s (±1 %), shared by reads and writes"]);
        let apart = of(&[("A", bytes.0, bytes.1), ("B", bytes.0, bytes.1 * 1.1)]);
        assert_eq!(limited(&apart).len(), 2);
    }

    #[test]
    fn different_numbers_of_hosts_are_why_nothing_is_compared() {
        let hosts = |count| Some(PropertyValue::Count(count));
        let differences =
            vec![iosonde_model::Difference { what: RunProperty::Hosts, a: hosts(4), b: hosts(8) }];
        let apart =
            ComparedPair { geometric_means: Vec::new(), differences, ..pair(1.0, 0.9, 1.1, Likeness::Same) };
        let said = answer(&apart);
        assert!(said.contains("has the same number of hosts (4 and 8), so none is compared;"), "{said}");
    }

    #[test]
    fn an_answer_has_the_factor_first_and_says_what_would_tell_more() {
        let slower = pair(0.303, 0.286, 0.323, Likeness::Slower);
        assert_eq!(
            answer(&slower),
            "B is 3.3 times slower than A (geometric mean of 28 throughput ratios). With one run of each, the ratios \
             have no confidence interval; run both with `--repeats 5`."
        );
        let exact = Estimate { value: 4.584, low: Some(4.5839), high: Some(4.5841) };
        assert_eq!(ratio_text(&slower, exact, Likeness::Slower), "4.58×");
        let vague = Estimate { value: 6.0, low: Some(1.87), high: Some(19.3) };
        assert_eq!(ratio_text(&slower, vague, Likeness::Slower), "≥ 1.87×");
        assert_eq!(
            ratio_text(&slower, Estimate { low: Some(0.5), ..vague }, Likeness::CannotTell),
            "unknown"
        );
        assert_eq!(for_the_storage(&slower, exact).low, None);
        let repeated = ComparedPair {
            unit: ComparedUnit::Repeat,
            repeats: [5, 5],
            ..pair(1.1, 1.07, 1.13, Likeness::Faster)
        };
        assert_eq!(
            answer(&repeated),
            "B is 10 % faster than A (95 % CI 7–13 %; geometric mean of 28 throughput ratios; each side ran 5 times)."
        );
        let latency = ComparedPair { figure: ComparedFigure::LatencyP99, ..slower };
        let latency = ComparedPair {
            geometric_means: pair(6.5, 6.3, 6.7, Likeness::Slower).geometric_means,
            ..latency
        };
        assert!(answer(&latency).starts_with(
            "B is 6.5 times slower than A in p99 latency (geometric mean of 28 latency ratios). With one run of each"
        ));
    }

    #[test]
    fn more_latency_is_higher_and_slower() {
        let said = |figure, ratio| likeness(0.02, figure, ratio, Likeness::CannotTell);
        assert_eq!(said(ComparedFigure::LatencyP99, 1.3), "maybe worse");
        assert_eq!(said(ComparedFigure::LatencyP99, 0.7), "maybe better");
        assert_eq!(said(ComparedFigure::Iops, 1.3), "maybe faster");
        let of = |figure| {
            let extremes = Some([0.5, 4.0]);
            answer(&ComparedPair { figure, extremes, ..pair(2.0, 1.9, 2.1, Likeness::Slower) })
        };
        let told = of(ComparedFigure::LatencyMean);
        assert!(told.contains("from 2.00 times faster to 4.00 times slower"), "{told}");
        let told = of(ComparedFigure::Iops);
        assert!(told.contains("from 2.00 times slower to 4.00 times faster"), "{told}");
    }

    #[test]
    fn what_limits_an_answer_is_said_behind_it() {
        let mut memory = pair(2.0, 1.9, 2.1, Likeness::Faster);
        (memory.about, memory.opposite, memory.without_interval) = (ServedBy::Memory, 2, 1);
        memory.extremes = Some([0.8, 8.0]);
        let said = answer(&memory);
        assert!(
            said.ends_with(" 1 workload more is inconclusive and not in the mean.")
                && said.starts_with("This compares memory, not the storage: memory served both sides. "),
            "{said}"
        );
        assert!(
            said.contains(
                "throughput ratios). Single workloads: from 1.25 times slower to 8.00 times faster."
            ),
            "{said}"
        );
        let wide = answer(&pair(3.0, 1.1, 8.0, Likeness::Faster));
        assert!(
            wide.starts_with("B is at least 1.1 times faster than A (geometric mean of 28 throughput ratios"),
            "{wide}"
        );
        let refused = ComparedPair { geometric_means: Vec::new(), not_compared: 12, ..memory };
        assert_eq!(
            answer(&refused),
            "B and A cannot be compared: none of 12 common workloads is valid on both sides."
        );
    }
}
