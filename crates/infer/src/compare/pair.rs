//! Two sides: the ratio of each line with its interval, and geometric means of them.

use iosonde_model::{
    ComparedFigure, ComparedPair, Comparison, GeometricMean, Likeness, Op, Rw, ServedBy, WorkloadGroup,
};
use iosonde_stats::ErrorVariance;

use super::{
    differences, highest, layer,
    like::{self, Line, LinePair},
    limits,
    ratio::Ratio,
    side::{Question, Side},
    spread::Spreads,
};

/// Share of the allowed error that the geometric mean of all lines has.
const FIRST_SHARE: f64 = 0.8;

/// Two sides.
pub(super) fn pair(a: &Side, b: &Side, question: &Question) -> (ComparedPair, Vec<Comparison>) {
    let (lines, unmatched) = like::lines(a, b, question.figure);
    let (lines, about) = like::about_one_thing(lines);
    let told: Vec<&LinePair> = lines.iter().filter_map(|line| line.pair.as_ref()).collect();
    let spreads = Spreads::of(&told);
    let judge = |log_ratio: f64, spread: Option<ErrorVariance>, wrong: f64| {
        Ratio::new(log_ratio, spread, wrong, question)
    };
    let wrong = 1.0 - question.confidence;
    let all = with_errors(&spreads, told.len());
    let overall = (!told.is_empty()).then(|| {
        let part = judge(mean_log_ratio(&told, &all), spreads.of_mean(&all), wrong * FIRST_SHARE);
        part.geometric_mean(WorkloadGroup::All, all.len())
    });
    let open =
        overall.as_ref().is_some_and(|mean| matches!(mean.verdict, Likeness::Faster | Likeness::Slower));
    // Groups and lines share what is left to them.
    let left = if open { wrong } else { wrong * (1.0 - FIRST_SHARE) } / 2.0;
    let groups = groups(&told, &all);
    let means = groups.iter().map(|(name, members)| {
        let part =
            judge(mean_log_ratio(&told, members), spreads.of_mean(members), left / groups.len() as f64);
        part.geometric_mean(*name, members.len())
    });
    let geometric_means: Vec<GeometricMean> =
        overall.iter().cloned().chain(means.filter(|_| groups.len() > 1)).collect();
    // Highest rates of memory or of the program are no findings.
    let is_asked = question.figure == ComparedFigure::Iops && about == ServedBy::Storage;
    let highest = if is_asked { highest::highest(a, b) } else { Vec::new() };
    let each = left / (told.len() + highest.len()) as f64;
    let ratios: Vec<Ratio> =
        (0..told.len()).map(|line| judge(told[line].log_ratio(), spreads.of_line(line), each)).collect();
    let layered = question.figure == ComparedFigure::Iops && lies_above(a, b, question);
    let layer = layered.then(|| layer::layer([a, b], &lines, &ratios, &spreads, question.confidence));
    let highest_rates = highest::compared(&highest, each, question);
    let pair = ComparedPair {
        a: a.name.clone(),
        b: b.name.clone(),
        figure: question.figure,
        about,
        unit: spreads.unit,
        repeats: [a.runs.len(), b.runs.len()],
        in_turn: !told.is_empty() && all.iter().all(|&line| told[line].in_turn.is_some()),
        margin: question.margin,
        confidence: question.confidence,
        geometric_means,
        bandwidth_of_small: highest::bandwidth_of_small([a, b], &highest_rates, question.margin),
        limits: if is_asked { limits::limits([a, b]) } else { Vec::new() },
        highest: highest_rates,
        p99_means: Vec::new(),
        not_compared: lines.len() - ratios.len(),
        without_interval: told.len() - all.len(),
        opposite: overall.as_ref().map_or(0, |mean| opposite(mean.verdict, &ratios)),
        extremes: extremes(&told, &all),
        unmatched,
        differences: differences::differences(&a.runs[0], &b.runs[0]),
        layer,
    };
    (pair, comparisons(lines, ratios, [&a.name, &b.name], question.figure))
}

/// All lines, each with its ratio where it has two figures.
fn comparisons(
    lines: Vec<Line>,
    ratios: Vec<Ratio>,
    between: [&String; 2],
    figure: ComparedFigure,
) -> Vec<Comparison> {
    let mut ratios = ratios.into_iter();
    let one = |line: Line| {
        let ratio =
            line.pair.is_some().then(|| ratios.next().expect("a ratio for each line that has two figures"));
        comparison(line, ratio, between, figure)
    };
    lines.into_iter().map(one).collect()
}

fn lies_above(a: &Side, b: &Side, question: &Question) -> bool {
    question.over || b.runs[0].info.over.as_ref().is_some_and(|base| *base == a.runs[0].info.id)
}

/// The lines whose error is known: a mean over others, too, would have none. All, where none is known.
fn with_errors(spreads: &Spreads, lines: usize) -> Vec<usize> {
    let known: Vec<usize> = (0..lines).filter(|&line| spreads.of_line(line).is_some()).collect();
    if known.is_empty() { (0..lines).collect() } else { known }
}

/// Number of lines that contradict the mean with certainty.
fn opposite(verdict: Likeness, ratios: &[Ratio]) -> usize {
    let opposite = match verdict {
        Likeness::Faster => Likeness::Slower,
        Likeness::Slower => Likeness::Faster,
        _ => return 0,
    };
    ratios.iter().filter(|ratio| ratio.verdict == opposite).count()
}

/// The lowest and the highest ratio of these lines.
fn extremes(lines: &[&LinePair], members: &[usize]) -> Option<[f64; 2]> {
    let ratios = || members.iter().map(|&line| lines[line].log_ratio().exp());
    Some([ratios().min_by(f64::total_cmp)?, ratios().max_by(f64::total_cmp)?])
}

fn mean_log_ratio(lines: &[&LinePair], members: &[usize]) -> f64 {
    members.iter().map(|&line| lines[line].log_ratio()).sum::<f64>() / members.len() as f64
}

fn comparison(line: Line, ratio: Option<Ratio>, between: [&String; 2], figure: ComparedFigure) -> Comparison {
    Comparison {
        between: between.map(Clone::clone),
        a: line.a,
        b: line.b,
        ratio: ratio.as_ref().map(|r| r.value),
        low: ratio.as_ref().and_then(|r| r.low),
        high: ratio.as_ref().and_then(|r| r.high),
        verdict: ratio.as_ref().map_or(Likeness::NotComparable, |r| r.verdict),
        limits: line.limits,
        spec: line.spec,
        op: line.op,
        figure,
    }
}

/// Some of the lines by direction, where one has several patterns, and by pattern.
fn groups(lines: &[&LinePair], of_these: &[usize]) -> Vec<(WorkloadGroup, Vec<usize>)> {
    let patterns = patterns(lines, of_these);
    let of = |op: Op, name: WorkloadGroup| {
        let own =
            |(_, members): &&(WorkloadGroup, Vec<usize>)| members.iter().all(|&line| lines[line].op == op);
        let several = patterns.iter().filter(own).count() > 1;
        let members = of_these.iter().copied().filter(|&line| lines[line].op == op).collect();
        several.then_some((name, members))
    };
    let directions = [of(Op::Read, WorkloadGroup::AllReads), of(Op::Write, WorkloadGroup::AllWrites)];
    directions.into_iter().flatten().chain(patterns.iter().cloned()).collect()
}

fn patterns(lines: &[&LinePair], of_these: &[usize]) -> Vec<(WorkloadGroup, Vec<usize>)> {
    let name = |line: &LinePair| match (line.rw, line.op) {
        (Rw::Rw | Rw::RandRw, Op::Read) => WorkloadGroup::ReadsInMix,
        (Rw::Rw | Rw::RandRw, _) => WorkloadGroup::WritesInMix,
        (Rw::Read, _) => WorkloadGroup::SequentialReads,
        (Rw::RandRead, _) => WorkloadGroup::RandomReads,
        (Rw::Write, _) => WorkloadGroup::SequentialWrites,
        (Rw::RandWrite, _) => WorkloadGroup::RandomWrites,
        (Rw::Trim | Rw::RandTrim, _) => WorkloadGroup::Trims,
    };
    let mut groups: Vec<(WorkloadGroup, Vec<usize>)> = Vec::new();
    for &place in of_these {
        let name = name(lines[place]);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(place),
            None => groups.push((name, vec![place])),
        }
    }
    groups
}
