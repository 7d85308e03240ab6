//! A comparison as one table: workload, what each side gives, ratio and verdict.

use iosonde_model::{
    Compared, ComparedFigure, ComparedHighest, ComparedPair, Comparison, Estimate, GeometricMean, Likeness,
    Op, ReachedAt, TrialSpec, Unit, WorkloadGroup, units,
};

use super::compare::{least, likeness, ratio_text};
use crate::{
    quantity::Quantity,
    text::{
        point_table::is_large,
        result_table::{ENOUGH_DEPTH, depth_that_is_enough},
    },
};

/// Maximum number of rows on a screen, highest rates and p99 lines among them: with these, two runs of `quick` have 40
/// lines. The other workloads are counted.
const ROWS_MAX: usize = 20;
/// Distance of a workload from a highest rate, as a share of it, up to which three digits hardly show it.
const NEARLY_HIGHEST: f64 = 0.01;

/// Two sides in rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareTable {
    /// Groups of workloads, without figures of the sides, then highest rates, then single workloads.
    pub rows: Vec<CompareRow>,
    /// Workloads that were left out.
    pub more: usize,
    /// Workloads of reads and writes with one row for their two ratios.
    pub mixes: usize,
    /// Whether a workload gave more than the highest rate of its kind, which is the mean over those that reach it.
    pub is_above_highest: bool,
}

impl CompareTable {
    /// Whether a ratio is given by its low end.
    pub fn has_bounds(&self) -> bool {
        self.rows.iter().any(|row| row.is_bound)
    }
}

/// A workload or a group of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRow {
    /// `4 KiB random reads, QD 1`; `all reads, 16 workloads`.
    pub label: String,
    /// Whether it says more of the row above.
    pub is_indented: bool,
    /// What the first side gives; empty for a group.
    pub a: String,
    /// What the second side gives.
    pub b: String,
    /// How many times apart the two are.
    pub ratio: String,
    /// Result of the comparison; `None` where neither is better.
    pub verdict: Option<Likeness>,
    /// The same in a word.
    pub said: &'static str,
    /// Whether the ratio is the low end of its interval.
    pub is_bound: bool,
}

impl CompareRow {
    /// Result with its factor: `3.45× slower`, `maybe faster, 1.11×`. In a column of its own, a factor above 1 beside
    /// "slower" was read as its opposite.
    pub fn ratio_in_words(&self) -> String {
        match self.verdict {
            _ if self.ratio.is_empty() => self.said.to_owned(),
            Some(Likeness::Faster | Likeness::Slower) => format!("{} {}", self.ratio, self.said),
            _ => format!("{}, {}", self.said, self.ratio),
        }
    }
}

/// The table of a pair: everything, or what a screen has room for.
pub fn table(compared: &Compared, pair: &ComparedPair, everything: bool) -> CompareTable {
    let groups = groups(pair, everything);
    let has_ratio = |line: &&Comparison| line.ratio.is_some();
    let p99: Vec<&Comparison> = compared
        .p99_lines(pair)
        .filter(has_ratio)
        .filter(|line| everything || (is_tail(compared, pair, line) && !is_unknown(line)))
        .collect();
    let mut lines: Vec<&Comparison> = compared.lines(pair).filter(has_ratio).collect();
    lines.sort_by_key(|line| place(line));
    let all = lines.clone();
    if !everything {
        lines.retain(|line| !is_told_by_reads(line, &all));
    }
    let (told, mixes) = (lines.len(), all.len() - lines.len());
    if !everything {
        lines.retain(|line| !pair.highest.iter().any(|highest| is_told_by_highest(line, highest)));
    }
    let highest: Vec<CompareRow> = pair.highest.iter().flat_map(|one| highest(pair, one)).collect();
    let room = if everything { lines.len() } else { ROWS_MAX.saturating_sub(p99.len() + highest.len()) };
    while lines.len() > room {
        let place = least_surprising(&lines).unwrap_or(lines.len() - 1);
        lines.remove(place);
    }
    let more = told - lines.len();
    let total = |line: &&&Comparison| mix_total(compared, pair, line).filter(|_| !everything);
    let above = |line: &&Comparison| pair.highest.iter().any(|highest| is_above_highest(line, highest));
    let is_above_highest = lines.iter().any(above);
    let rows = lines.iter().map(|line| match total(&line) {
        Some(both) => CompareRow { label: what_both(line), ..row(pair, &both) },
        None => row(pair, line),
    });
    let rows = rows.chain(p99.iter().map(|line| row(pair, line)));
    let rows = groups.into_iter().chain(highest).chain(rows).collect();
    CompareTable { rows, more, mixes, is_above_highest }
}

/// Order of workloads: reads and writes of one request at a time by their size, then deeper queues, then mixes. Points
/// that a run added by itself come last in its plan, and stood far from their like.
fn place(line: &Comparison) -> (bool, bool, bool, bool, u64, u64) {
    let (spec, depth) = (&line.spec, line.spec.asked_in_flight());
    let writes = line.op != Op::Read;
    (spec.rw.is_mixed(), depth > 1, writes, !spec.rw.is_random(), spec.block_size_bytes, depth)
}

/// The highest rate of both sides in its unit: `≥ 164 k IOPS` where it is a lower limit.
pub(super) fn highest_rates(own: &ComparedHighest) -> [String; 2] {
    let rate = |value: f64, at_least: bool| {
        let text = match own.unit {
            Unit::Rate => Quantity::BytesPerSecond.text(value),
            _ => Quantity::Iops.text(value),
        };
        if at_least { format!("≥ {text}") } else { text }
    };
    [rate(own.a, own.at_least[0]), rate(own.b, own.at_least[1])]
}

/// The ratio of two highest rates; a bound where one of them is, and nothing where that says nothing.
fn ratio_of_highest(pair: &ComparedPair, own: &ComparedHighest) -> String {
    let ratio = factor(Estimate { value: own.ratio, low: own.low, high: own.high });
    let text = ratio_text(pair, ratio, own.verdict);
    match (own.at_least.contains(&true), own.verdict) {
        (true, Likeness::CannotTell) => String::new(),
        (true, _) if least(pair, ratio, own.verdict).is_none() => format!("≥ {text}"),
        _ => text,
    }
}

/// A highest rate, and the queue depth that is enough for it.
fn highest(pair: &ComparedPair, own: &ComparedHighest) -> Vec<CompareRow> {
    let label = match own.block_size_bytes.map(units::size) {
        Some(size) => {
            let order = own.random.map_or("", |random| if random { " random" } else { " sequential" });
            format!("highest {size}{order} {}s", own.op)
        }
        None => format!("highest bandwidth, {}s", own.op),
    };
    let ratio = Estimate { value: own.ratio, low: own.low, high: own.high };
    let [a, b] = highest_rates(own);
    let rate = CompareRow {
        label,
        is_indented: false,
        a,
        b,
        ratio: ratio_of_highest(pair, own),
        verdict: Some(own.verdict),
        said: likeness(pair.margin, pair.figure, own.ratio, own.verdict),
        is_bound: own.at_least.contains(&true) || least(pair, factor(ratio), own.verdict).is_some(),
    };
    let depth = |reached: Option<ReachedAt>| reached.map_or_else(|| "–".to_owned(), depth_that_is_enough);
    let [a, b] = own.reached.map(depth);
    let depths = own.reached.iter().any(Option::is_some).then(|| CompareRow {
        label: ENOUGH_DEPTH.to_owned(),
        is_indented: true,
        a,
        b,
        ratio: String::new(),
        verdict: None,
        said: "",
        is_bound: false,
    });
    std::iter::once(rate).chain(depths).collect()
}

/// Whether a line is the writes of a mix whose reads have a line: at one share of reads, both have one ratio.
fn is_told_by_reads(line: &Comparison, all: &[&Comparison]) -> bool {
    let is_mix = line.op == Op::Write && line.figure == ComparedFigure::Iops && line.spec.rw.is_mixed();
    is_mix && all.iter().any(|other| other.op == Op::Read && other.spec == line.spec)
}

/// Reads and writes of a mix together.
fn mix_total(compared: &Compared, pair: &ComparedPair, reads: &Comparison) -> Option<Comparison> {
    let is_other = |line: &&Comparison| is_told_by_reads(line, &[reads]);
    let writes = compared.lines(pair).find(is_other)?;
    let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    Some(Comparison { a: sum(reads.a, writes.a), b: sum(reads.b, writes.b), ..reads.clone() })
}

/// Whether both sides reach their highest rate with a line, so that its row would say the same again.
fn is_told_by_highest(line: &Comparison, highest: &ComparedHighest) -> bool {
    shares_of_highest(line, highest).is_some_and(|shares| {
        shares.iter().all(|share| share.is_some_and(|share| (share - 1.0).abs() < NEARLY_HIGHEST))
    })
}

/// Whether a side gives visibly more with a line than its highest rate.
fn is_above_highest(line: &Comparison, highest: &ComparedHighest) -> bool {
    let shares = shares_of_highest(line, highest).unwrap_or_default();
    shares.into_iter().flatten().any(|share| share >= 1.0 + NEARLY_HIGHEST)
}

/// What each side gives with a line, as a share of its highest rate; `None` for a line of another kind.
fn shares_of_highest(line: &Comparison, highest: &ComparedHighest) -> Option<[Option<f64>; 2]> {
    let per_request = match highest.unit {
        Unit::Rate => line.spec.block_size_bytes as f64,
        _ => 1.0,
    };
    let is_like = line.op == highest.op
        && !line.spec.rw.is_mixed()
        && highest.block_size_bytes.is_none_or(|bytes| bytes == line.spec.block_size_bytes)
        && highest.random.is_none_or(|random| random == line.spec.rw.is_random());
    let share = |own: Option<f64>, most: f64| own.map(|own| own * per_request / most);
    is_like.then(|| [share(line.a, highest.a), share(line.b, highest.b)])
}

/// The line whose ratio its two neighbours tell best, where all three differ in their size or their queue depth alone.
fn least_surprising(lines: &[&Comparison]) -> Option<usize> {
    let surprise = |at: usize| -> Option<f64> {
        let [before, own, after] = [lines[at - 1], lines[at], lines[at + 1]];
        let [low, middle, high] = [before, own, after].map(|line| line.ratio.map(f64::ln));
        let is_between = one_series(before, own) && one_series(own, after) && one_series(before, after);
        is_between.then_some(())?;
        Some((middle? - (low? + high?) / 2.0).abs())
    };
    let inner = (1..lines.len().saturating_sub(1)).filter_map(|at| Some((at, surprise(at)?)));
    inner.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
}

/// Whether two lines differ in their size or their queue depth alone.
fn one_series(one: &Comparison, other: &Comparison) -> bool {
    let (own, like) = (&one.spec, &other.spec);
    let same_size = own.block_size_bytes == like.block_size_bytes;
    let same_depth = own.asked_in_flight() == like.asked_in_flight();
    one.op == other.op
        && own.rw == like.rw
        && own.read_percent == like.read_percent
        && (same_size || same_depth)
}

/// Groups of workloads: the answer gives the means of all, of reads and of writes; with `everything`, each pattern has
/// its own and p99 latency too.
fn groups(pair: &ComparedPair, everything: bool) -> Vec<CompareRow> {
    let shown = |mean: &&GeometricMean| match mean.of {
        WorkloadGroup::All => false,
        WorkloadGroup::AllReads | WorkloadGroup::AllWrites => everything,
        _ => everything && mean.points > 1,
    };
    let row = |what: &str, figure: ComparedFigure, mean: &GeometricMean| CompareRow {
        label: format!("{what}{}, geomean of {}", mean.of, mean.points),
        ..mean_row(pair, figure, mean)
    };
    let throughput = pair.geometric_means.iter().filter(shown).map(|mean| row("", pair.figure, mean));
    let p99 = pair.p99_means.iter().filter(|_| everything).filter(shown);
    let p99 = p99.map(|mean| row("p99 of ", ComparedFigure::LatencyP99, mean));
    throughput.chain(p99).collect()
}

/// A mean over workloads, without a label.
pub(super) fn mean_row(pair: &ComparedPair, figure: ComparedFigure, mean: &GeometricMean) -> CompareRow {
    let ratio = factor(Estimate { value: mean.ratio, low: mean.low, high: mean.high });
    CompareRow {
        label: String::new(),
        is_indented: false,
        a: String::new(),
        b: String::new(),
        ratio: ratio_text(pair, ratio, mean.verdict),
        verdict: Some(mean.verdict),
        said: likeness(pair.margin, figure, mean.ratio, mean.verdict),
        is_bound: false,
    }
}

/// Whether a line is the p99 latency of the smallest requests of a direction alone at QD 1: what a database
/// waits for.
pub(super) fn is_tail(compared: &Compared, pair: &ComparedPair, line: &Comparison) -> bool {
    let is_plain = |spec: &TrialSpec| spec.asked_in_flight() == 1 && !spec.rw.is_mixed();
    let same = |other: &&Comparison| is_plain(&other.spec) && other.op == line.op;
    let first = compared.p99_lines(pair).filter(same).min_by_key(|other| other.spec.block_size_bytes);
    line.ratio.is_some() && first.is_some_and(|first| first == line)
}

/// Whether nothing is known of a ratio.
fn is_unknown(line: &Comparison) -> bool {
    line.verdict == Likeness::CannotTell && ratio_of(line).is_vague()
}

fn ratio_of(line: &Comparison) -> Estimate {
    Estimate { value: line.ratio.unwrap_or(f64::NAN), low: line.low, high: line.high }
}

/// How many times apart: never below 1, as in the answer above the table.
fn factor(ratio: Estimate) -> Estimate {
    let inverse = |of: f64| 1.0 / of;
    match ratio.value < 1.0 {
        true => Estimate {
            value: inverse(ratio.value),
            low: ratio.high.map(inverse),
            high: ratio.low.map(inverse),
        },
        false => ratio,
    }
}

fn row(pair: &ComparedPair, line: &Comparison) -> CompareRow {
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| figure(line, value));
    let ratio = ratio_of(line);
    CompareRow {
        label: what(line),
        is_indented: false,
        a: figure(line.a),
        b: figure(line.b),
        ratio: ratio_text(pair, factor(ratio), line.verdict),
        verdict: Some(line.verdict),
        said: match line.verdict {
            // Of what is unknown there is no direction either.
            Likeness::CannotTell if is_unknown(line) => "inconclusive",
            verdict => likeness(pair.margin, line.figure, ratio.value, verdict),
        },
        is_bound: least(pair, factor(ratio), line.verdict).is_some(),
    }
}

pub(super) fn figure(line: &Comparison, value: f64) -> String {
    match line.figure {
        ComparedFigure::Iops => throughput(&line.spec, value),
        _ => Quantity::Nanoseconds.text(value),
    }
}

/// Throughput of a workload: of large requests in bytes per second, of small ones in IOPS.
pub(super) fn throughput(spec: &TrialSpec, iops: f64) -> String {
    match is_large(spec) {
        true => Quantity::BytesPerSecond.text(iops * spec.block_size_bytes as f64),
        false => Quantity::Iops.text(iops),
    }
}

/// What a line is about: the workload, its direction where it has two, and the figure where it is no throughput.
pub fn what(line: &Comparison) -> String {
    match mix(line) {
        Some(mix) => format!("{}{mix}, {}s", figure_prefix(line), line.op),
        None => what_both(line),
    }
}

/// A mix, shorter than "4 KiB random, 70 % reads, QD 32", so that a line has room for a direction and its figures:
/// `4 KiB random 70/30, QD 32`.
fn mix(line: &Comparison) -> Option<String> {
    match line.spec.parts().as_slice() {
        [pattern, _, rest @ ..] if line.spec.rw.is_mixed() && line.spec.and.is_empty() => {
            let reads = line.spec.read_percent.unwrap_or(50.0);
            let mix = format!("{pattern} {reads}/{}", 100.0 - reads);
            Some(std::iter::once(mix).chain(rest.to_vec()).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

/// The workload of a line and its figure, without the direction.
pub fn what_both(line: &Comparison) -> String {
    format!("{}{}", figure_prefix(line), line.spec.describe())
}

fn figure_prefix(line: &Comparison) -> &'static str {
    match line.figure {
        ComparedFigure::Iops => "",
        ComparedFigure::LatencyMean => "mean latency, ",
        ComparedFigure::LatencyP50 => "p50, ",
        ComparedFigure::LatencyP99 => "p99, ",
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;

    use super::*;

    fn line(block_size_bytes: u64, ratio: f64) -> Comparison {
        Comparison {
            between: ["A".to_owned(), "B".to_owned()],
            spec: TrialSpec { rw: Rw::RandRead, block_size_bytes, ..TrialSpec::default() },
            op: Op::Read,
            figure: ComparedFigure::Iops,
            a: Some(1.0),
            b: Some(ratio),
            ratio: Some(ratio),
            low: None,
            high: None,
            verdict: Likeness::Faster,
            limits: Vec::new(),
        }
    }

    #[test]
    fn the_line_that_its_neighbours_tell_best_is_left_out_first() {
        // 4 is the geometric mean of 2 and 8; 8 is not that of 4 and 4.
        let lines = [line(1, 2.0), line(2, 4.0), line(4, 8.0), line(8, 4.0)];
        assert_eq!(least_surprising(&lines.iter().collect::<Vec<_>>()), Some(1));
        // The ends of a series have one neighbour.
        assert_eq!(least_surprising(&lines.iter().take(2).collect::<Vec<_>>()), None);
        let mut writes = lines.clone();
        writes[1].op = Op::Write;
        assert_eq!(least_surprising(&writes.iter().take(3).collect::<Vec<_>>()), None);
    }

    #[test]
    fn a_line_at_the_highest_rate_of_both_sides_is_told_by_it() {
        let highest = ComparedHighest {
            finding: iosonde_model::FindingName::DeviceBandwidth,
            op: Op::Read,
            block_size_bytes: None,
            random: None,
            unit: Unit::Rate,
            a: 4096.0,
            b: 8192.0,
            at_least: [false, false],
            reached: [None, None],
            ratio: 2.0,
            low: None,
            high: None,
            verdict: Likeness::Faster,
        };
        assert!(is_told_by_highest(&line(4096, 2.005), &highest));
        assert!(!is_told_by_highest(&line(4096, 1.9), &highest));
        let iops =
            ComparedHighest { unit: Unit::Iops, block_size_bytes: Some(4096), a: 1.0, b: 2.0, ..highest };
        assert!(is_told_by_highest(&line(4096, 2.0), &iops));
        assert!(!is_told_by_highest(&line(8192, 2.0), &iops));
    }

    #[test]
    fn the_writes_of_a_mix_are_told_by_its_reads() {
        let mut reads = line(4096, 2.0);
        (reads.spec.rw, reads.spec.read_percent) = (Rw::RandRw, Some(70.0));
        let writes = Comparison { op: Op::Write, ..reads.clone() };
        assert!(is_told_by_reads(&writes, &[&reads]) && !is_told_by_reads(&reads, &[&writes]));
        assert!(!is_told_by_reads(&writes, &[&line(4096, 2.0)]));
    }
}
