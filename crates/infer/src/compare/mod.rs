//! Comparing: the same workload on two machines, two devices or two settings, point by point.
//!
//! Only like points are compared: the same pattern, block size, number in flight, mix and so on. A mean over unlike
//! points says nothing (a ratio of means over a grid of block sizes is mostly the ratio of its largest blocks), so
//! what stands for all of them is the geometric mean of their ratios.
//!
//! **Memory is not the storage**: what memory or the program itself served is void as a statement about the storage,
//! and is left out. Where that is all there is, on both sides, the same figures still say what programs get on either
//! machine: the ratios are then about that, and the sentence says so. What is void for another reason, a limit set on
//! the machine or holes in the file, is about nothing, and is not compared.
//!
//! **A rate that was asked for is not compared**: both sides give it by design. Its latency is.
//!
//! **The unit is the repeat**: a fresh file, a fresh fill, a fresh process. Trials inside one run cannot see how runs
//! differ; with a run effect of 1 % they call half of all equal pairs different. So the spread comes from the repeats
//! of each side; with one repeat, from older runs of the same study on the same storage; and where there are none,
//! the sentence is about these two runs and not about the storage.
//!
//! **In turn**: where two runs took turns (`run STUDY A B`), each ratio's error comes from pairs of trials side by
//! side, so that what disturbed both alike is not in it. How much repeats differ they cannot tell either.
//!
//! **Many lines**: the geometric mean is asked first, with four fifths of what may be wrong. Where it lies beyond the
//! margin the lines share all of it, otherwise the last fifth, each line its equal part (Bonferroni); so that the
//! interval that is shown is the one that decides, and at most one family of statements in twenty says anything
//! false.

mod differences;
mod in_turn;
mod like;
mod partner;
mod ranking;
mod spread;

#[cfg(test)]
mod tests;

use iosonde_model::{
    Compared, ComparedPair, ComparedSide, Comparison, Estimate, GeometricMean, Likeness, Op, RUN_SCHEMA, Run,
    Rw, units,
};

use self::{
    like::{About, Line, LinePair},
    spread::{Spread, Spreads, Unit},
};
use crate::words;

/// Of what may be wrong, the part that the geometric mean of all lines has.
const FIRST_SHARE: f64 = 0.8;

/// The figures that can be compared: its name, and what is better.
pub const FIGURES: [(&str, Better); 4] = [
    ("iops", Better::More),
    ("latency_ns_mean", Better::Less),
    ("latency_ns_p50", Better::Less),
    ("latency_ns_p99", Better::Less),
];

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Rates.
    More,
    /// Times.
    Less,
}

/// One side as it was loaded.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its label, else its id.
    pub name: String,
    /// Its repeats, concluded.
    pub runs: Vec<Run>,
    /// Older runs of the same study on the same storage, concluded; looked at where there is one repeat.
    pub history: Vec<Run>,
}

/// How to compare.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// Which of [`FIGURES`].
    pub figure: usize,
    /// Ratios within this share of 1 count as the same.
    pub margin: f64,
    /// Of the whole family of statements.
    pub confidence: f64,
}

/// Compares every side with the first.
///
/// # Errors
/// A sentence where nothing can be compared: fewer than two sides, or two with the same name.
pub fn compare(sides: &[Side], question: &Question) -> Result<Compared, String> {
    let [first, others @ ..] = sides else { return Err("there is nothing to compare".into()) };
    if others.is_empty() {
        return Err(format!("{} alone cannot be compared; name two runs or more", first.name));
    }
    if let Some(twice) =
        sides.iter().enumerate().find(|(i, side)| sides[..*i].iter().any(|s| s.name == side.name))
    {
        return Err(format!("{} is named twice: a run is as fast as itself", twice.1.name));
    }
    let compared: Vec<(ComparedPair, Vec<Comparison>)> =
        others.iter().map(|other| pair(first, other, question)).collect();
    let side = |side: &Side| ComparedSide {
        name: side.name.clone(),
        runs: side.runs.iter().map(|run| run.info.clone()).collect(),
        history: if side.runs.len() == 1 { side.history.len() } else { 0 },
    };
    let (pairs, lines): (Vec<_>, Vec<_>) = compared.into_iter().unzip();
    Ok(Compared {
        iosonde: env!("CARGO_PKG_VERSION").to_owned(),
        schema: RUN_SCHEMA,
        sides: sides.iter().map(side).collect(),
        comparisons: lines.concat(),
        pairs,
        ranking: if others.len() > 1 { ranking::ranking(sides, question) } else { Vec::new() },
    })
}

/// How far the repeats of one side lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scattered {
    /// How many there are.
    pub repeats: usize,
    /// Standard deviation of what a repeat adds to all points alike, as a share.
    pub run: f64,
    /// Standard deviation of one point's rate from repeat to repeat, as a share; the root mean square over points.
    pub point: f64,
}

/// How far the rates of one side's repeats lie apart; `None` where there is one, or where they share no points.
pub fn scatter(side: &Side) -> Option<Scattered> {
    let (lines, _) = like::about_one_thing(like::lines(side, side, FIGURES[0].0).0);
    let told: Vec<&LinePair> = lines.iter().filter_map(|line| line.pair.as_ref()).collect();
    let (run, point) = spread::scatter(&told)?;
    Some(Scattered { repeats: side.runs.len(), run, point })
}

/// Two sides.
fn pair(a: &Side, b: &Side, question: &Question) -> (ComparedPair, Vec<Comparison>) {
    let figure = FIGURES[question.figure].0;
    let (lines, unmatched) = like::lines(a, b, figure);
    let (lines, about) = like::about_one_thing(lines);
    let told: Vec<&LinePair> = lines.iter().filter_map(|line| line.pair.as_ref()).collect();
    let spreads = Spreads::of(&told);
    let judge =
        |log_ratio: f64, spread: Option<Spread>, wrong: f64| Ratio::new(log_ratio, spread, wrong, question);
    let wrong = 1.0 - question.confidence;
    let all = with_errors(&spreads, told.len());
    let overall = (!told.is_empty()).then(|| {
        let part = judge(mean_log_ratio(&told, &all), spreads.of_mean(&all), wrong * FIRST_SHARE);
        part.geometric_mean("all", all.len())
    });
    let open =
        overall.as_ref().is_some_and(|mean| matches!(mean.verdict, Likeness::Faster | Likeness::Slower));
    // Groups and lines share what is left to them.
    let left = if open { wrong } else { wrong * (1.0 - FIRST_SHARE) } / 2.0;
    let groups = groups(&told, &all);
    let means = groups.iter().map(|(name, members)| {
        let part =
            judge(mean_log_ratio(&told, members), spreads.of_mean(members), left / groups.len() as f64);
        part.geometric_mean(name, members.len())
    });
    let geometric_means: Vec<GeometricMean> =
        overall.iter().cloned().chain(means.filter(|_| groups.len() > 1)).collect();
    let ratios: Vec<Ratio> = (0..told.len())
        .map(|line| judge(told[line].log_ratio(), spreads.of_line(line), left / told.len() as f64))
        .collect();
    let unit = spreads.unit;
    let beside = !told.is_empty() && all.iter().all(|&line| told[line].in_turn.is_some());
    let shown = Shown {
        unit,
        beside,
        refused: lines.len() - ratios.len(),
        without_error: told.len() - all.len(),
        against: overall.as_ref().map_or(0, |mean| against(mean.verdict, &ratios)),
        about,
    };
    let sentence = sentence([a, b], overall.as_ref(), shown, question);
    let mut ratios = ratios.into_iter();
    let comparisons = lines
        .into_iter()
        .map(|line| {
            let ratio = line
                .pair
                .is_some()
                .then(|| ratios.next().expect("a ratio for each line that has two figures"));
            comparison(line, ratio, [&a.name, &b.name], figure)
        })
        .collect();
    let pair = ComparedPair {
        a: a.name.clone(),
        b: b.name.clone(),
        sentence,
        about: about.name().to_owned(),
        unit: unit.name().to_owned(),
        margin: question.margin,
        confidence: question.confidence,
        geometric_means,
        unmatched,
        differences: differences::differences(&a.runs[0], &b.runs[0]),
    };
    (pair, comparisons)
}

/// The lines whose error is known: a mean over others, too, would have none. All, where none is known.
fn with_errors(spreads: &Spreads, lines: usize) -> Vec<usize> {
    let known: Vec<usize> = (0..lines).filter(|&line| spreads.of_line(line).is_some()).collect();
    if known.is_empty() { (0..lines).collect() } else { known }
}

/// How many lines say the opposite of the mean, with certainty.
fn against(verdict: Likeness, ratios: &[Ratio]) -> usize {
    let opposite = match verdict {
        Likeness::Faster => Likeness::Slower,
        Likeness::Slower => Likeness::Faster,
        _ => return 0,
    };
    ratios.iter().filter(|ratio| ratio.verdict == opposite).count()
}

fn mean_log_ratio(lines: &[&LinePair], members: &[usize]) -> f64 {
    members.iter().map(|&line| lines[line].log_ratio()).sum::<f64>() / members.len() as f64
}

fn comparison(line: Line, ratio: Option<Ratio>, between: [&String; 2], figure: &str) -> Comparison {
    Comparison {
        between: between.map(Clone::clone),
        a: line.a,
        b: line.b,
        ratio: ratio.as_ref().map(|r| r.value),
        low: ratio.as_ref().and_then(|r| r.low),
        high: ratio.as_ref().and_then(|r| r.high),
        verdict: ratio.as_ref().map_or(Likeness::NotComparable, |r| r.verdict),
        why: line.why,
        spec: line.spec,
        op: line.op,
        figure: figure.to_owned(),
    }
}

/// A ratio with its interval and what it says.
#[derive(Debug, Clone)]
struct Ratio {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    verdict: Likeness,
}

impl Ratio {
    /// `wrong` is the chance that its interval may miss.
    fn new(log_ratio: f64, spread: Option<Spread>, wrong: f64, question: &Question) -> Self {
        let Some(spread) = spread else {
            return Self { value: log_ratio.exp(), low: None, high: None, verdict: Likeness::CannotTell };
        };
        let half = spread.half_width(1.0 - wrong);
        let (low, high) = ((log_ratio - half).exp(), (log_ratio + half).exp());
        let edge = 1.0 + question.margin;
        let (more, less) = match FIGURES[question.figure].1 {
            Better::More => (Likeness::Faster, Likeness::Slower),
            Better::Less => (Likeness::Slower, Likeness::Faster),
        };
        let verdict = match () {
            () if low > edge => more,
            () if high < 1.0 / edge => less,
            () if low >= 1.0 / edge && high <= edge => Likeness::Same,
            () => Likeness::CannotTell,
        };
        Self { value: log_ratio.exp(), low: Some(low), high: Some(high), verdict }
    }

    fn geometric_mean(self, of: &str, points: usize) -> GeometricMean {
        let Self { value: ratio, low, high, verdict } = self;
        GeometricMean { of: of.to_owned(), points, ratio, low, high, verdict }
    }
}

/// Some of the lines by direction, where one has several patterns, and by pattern.
fn groups(lines: &[&LinePair], of_these: &[usize]) -> Vec<(&'static str, Vec<usize>)> {
    let patterns = patterns(lines, of_these);
    let of = |op: Op, name: &'static str| {
        let own = |(_, members): &&(&str, Vec<usize>)| members.iter().all(|&line| lines[line].op == op);
        let several = patterns.iter().filter(own).count() > 1;
        let members = of_these.iter().copied().filter(|&line| lines[line].op == op).collect();
        several.then_some((name, members))
    };
    let directions = [of(Op::Read, "all reads"), of(Op::Write, "all writes")];
    directions.into_iter().flatten().chain(patterns.iter().cloned()).collect()
}

fn patterns(lines: &[&LinePair], of_these: &[usize]) -> Vec<(&'static str, Vec<usize>)> {
    let name = |line: &LinePair| match (line.rw, line.op) {
        (Rw::Rw | Rw::RandRw, Op::Read) => "reads in a mix",
        (Rw::Rw | Rw::RandRw, _) => "writes in a mix",
        (Rw::Read, _) => "sequential reads",
        (Rw::RandRead, _) => "random reads",
        (Rw::Write, _) => "sequential writes",
        (Rw::RandWrite, _) => "random writes",
        (Rw::Trim | Rw::RandTrim, _) => "trims",
    };
    let mut groups: Vec<(&'static str, Vec<usize>)> = Vec::new();
    for &place in of_these {
        let name = name(lines[place]);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(place),
            None => groups.push((name, vec![place])),
        }
    }
    groups
}

/// What a sentence must say beside its figures.
struct Shown {
    unit: Unit,
    /// Whether all ratios come from trials that took turns.
    beside: bool,
    /// Lines without a ratio.
    refused: usize,
    /// Lines with a ratio whose error is not known; they are in no mean.
    without_error: usize,
    /// Lines that say the opposite of the mean.
    against: usize,
    /// What the ratios speak of.
    about: About,
}

/// How a sentence about something else ends.
const NOT_THE_STORAGE: &str = "says nothing about the storage of either";

/// The answer, in one sentence with its numbers.
fn sentence(
    [a, b]: [&Side; 2],
    overall: Option<&GeometricMean>,
    shown: Shown,
    question: &Question,
) -> String {
    let Shown { unit, beside, refused, without_error, against, about: of_what } = shown;
    let (figure, _) = FIGURES[question.figure];
    let Some(mean) = overall else {
        return if refused > 0 {
            format!(
                "{} and {} cannot be compared: none of {refused} like points has figures that stand on both sides",
                b.name, a.name
            )
        } else {
            format!("{} and {} cannot be compared: they have no like points", b.name, a.name)
        };
    };
    let estimate = Estimate { value: mean.ratio, low: mean.low, high: mean.high };
    let ratio = words::with_interval(words::Unit::Ratio, &estimate);
    let margin = units::percent(question.margin);
    let what = if figure == "iops" { "rate" } else { "latency" };
    let like = if mean.points == 1 { "like point" } else { "like points" };
    let over = format!(
        "geometric mean over {} {like}{}{}",
        mean.points,
        if without_error > 0 {
            format!(" ({without_error} more without an interval)")
        } else {
            String::new()
        },
        if beside { ", taken in turn" } else { "" }
    );
    let (subject, about) = match unit {
        Unit::Repeat => (format!("{} ", b.name), unit.of(a, b)),
        Unit::Run => ("of these two runs, ".to_owned() + &b.name + " ", unit.of(a, b)),
    };
    // Figures that memory served are a statement about the machine: said before anybody takes them for the storage's.
    let of_what = match of_what {
        About::Storage => String::new(),
        About::Memory => format!("; this is what programs get from memory here, and {NOT_THE_STORAGE}"),
        About::Program => format!("; the program itself was the limit here, so that it {NOT_THE_STORAGE}"),
        About::Either => {
            format!("; memory served it or the program itself was the limit, so that it {NOT_THE_STORAGE}")
        }
    };
    let said = match mean.verdict {
        Likeness::Faster | Likeness::Slower => {
            let opposite = if mean.verdict == Likeness::Faster { "slower" } else { "faster" };
            let but = if against > 0 {
                format!(", though surely {opposite} at {against} of the points")
            } else {
                String::new()
            };
            format!("{subject}is {} than {}: {ratio} its {what}{but}", mean.verdict, a.name)
        }
        Likeness::Same => format!("{subject}is as fast as {} within {margin}: {ratio} its {what}", a.name),
        Likeness::CannotTell | Likeness::NotComparable => {
            format!("cannot tell whether {} is faster or slower than {}: {ratio} its {what}", b.name, a.name)
        }
    };
    format!("{said}, {over}{about}{of_what}")
}
