//! Lines: the points that both sides were asked for, with the figures of each side's repeats.

use iosonde_model::{
    About as VerdictAbout, CheckName, Estimate, Judgement, Op, Outcome, Planned, Point, PointDirection, Run,
    Rw, TrialSpec,
};
use iosonde_stats::{LogEstimate, normal};

use super::{
    Side,
    in_turn::{self, Paired},
    partner::{partner, same_point},
};

/// A workload and direction that both sides were asked for.
#[derive(Debug)]
pub(super) struct Line {
    /// As the first side ran it.
    pub spec: TrialSpec,
    /// Which of its requests.
    pub op: Op,
    /// Geometric mean over the repeats.
    pub a: Option<f64>,
    /// Of the other side.
    pub b: Option<f64>,
    /// Why there is no pair, or what limits it.
    pub why: String,
    /// What statistics need, where both sides have figures about the same.
    pub pair: Option<LinePair>,
    /// What the pair is about.
    pub about: About,
}

/// What a ratio speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The storage served both sides.
    Storage,
    /// Memory served both sides: what a program gets here, no word of the storage.
    Memory,
    /// The program itself was the limit on both sides.
    Program,
    /// The one or the other.
    Either,
}

impl About {
    /// As it stands in the data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Memory | Self::Program | Self::Either => "program",
        }
    }

    /// What both of two are about.
    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Either }
    }
}

/// Lines whose ratios are about one thing: the storage where any line is, else what programs get.
pub(super) fn about_one_thing(lines: Vec<Line>) -> (Vec<Line>, About) {
    let paired = || lines.iter().filter(|line| line.pair.is_some()).map(|line| line.about);
    let about = if paired().any(|about| about == About::Storage) {
        About::Storage
    } else {
        paired().reduce(About::and).unwrap_or(About::Storage)
    };
    let is_storage = |about: About| about == About::Storage;
    let refuse = |line: Line| match is_storage(line.about) == is_storage(about) {
        true => line,
        false => Line { a: None, b: None, pair: None, ..line },
    };
    (lines.into_iter().map(refuse).collect(), about)
}

/// The logarithms of both sides' figures.
#[derive(Debug, Clone)]
pub(super) struct LinePair {
    pub rw: Rw,
    pub op: Op,
    pub a: Sample,
    pub b: Sample,
    /// What pairs of trials say of the ratio's logarithm, where the two runs took turns: its error is taken from them.
    pub in_turn: Option<LogEstimate>,
}

impl LinePair {
    pub fn log_ratio(&self) -> f64 {
        mean(&self.b.repeats) - mean(&self.a.repeats)
    }
}

/// One side's figure for one line.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    /// ln(figure) of each repeat.
    pub repeats: Vec<f64>,
    /// What the trials of the only repeat say of its error; `None` where there are several or it has no interval.
    pub within: Option<f64>,
    /// ln(figure) in each run of the history.
    pub history: Vec<f64>,
    /// Why it says nothing of the storage, if it does not, and what it is about instead.
    pub not_of_the_storage: Option<(About, String)>,
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The lines of two sides, in the order of the first one's plan, and how many points only one side has.
pub(super) fn lines(a: &Side, b: &Side, figure: &str) -> (Vec<Line>, usize) {
    let mut taken = vec![false; b.runs[0].points.len()];
    let mut lines: Vec<Line> = Vec::new();
    let mut asked = Vec::new();
    let mut alone = 0;
    for point in &a.runs[0].points {
        let Some(other) = partner(&a.runs[0], point, &b.runs[0]).filter(|&other| !taken[other]) else {
            // Where points were added follows from what was measured: those are not missed.
            alone += usize::from(point.planned == Planned::Grid);
            continue;
        };
        taken[other] = true;
        for op in Op::TRANSFERS.into_iter().filter(|&op| point.spec.rw.has(op)) {
            asked.push(Paired { points: [point.id, b.runs[0].points[other].id], op });
            lines.push(line(point, &b.runs[0].points[other], op, [a, b], figure));
        }
    }
    if let (true, [run_a], [run_b]) = (figure == "iops", &a.runs[..], &b.runs[..]) {
        let pairs = in_turn::log_ratios(run_a, run_b, &asked);
        for (line, ratio) in lines.iter_mut().zip(pairs) {
            line.pair.iter_mut().for_each(|pair| pair.in_turn = ratio);
        }
    }
    let others = taken.iter().zip(&b.runs[0].points);
    (lines, alone + others.filter(|(taken, point)| !**taken && point.planned == Planned::Grid).count())
}

/// Why a rate that was asked for is not compared.
const ASKED: &str =
    "its rate is the one that was asked for; `--figure latency_ns_mean` compares how long its requests wait";

fn line(a: &Point, b: &Point, op: Op, sides: [&Side; 2], figure: &str) -> Line {
    let samples = [sample(a, op, sides[0], figure), sample(b, op, sides[1], figure)];
    let reason = |side: usize| match &samples[side] {
        Err(why) => Some(why.clone()),
        Ok(sample) => sample.not_of_the_storage.as_ref().map(|(_, why)| why.clone()),
    };
    let about = |side: usize| match &samples[side] {
        Ok(Sample { not_of_the_storage: Some((about, _)), .. }) => *about,
        _ => About::Storage,
    };
    let about = about(0).and(about(1));
    let reasons: Vec<String> = [0, 1].into_iter().filter_map(reason).collect();
    let why = reasons.join("; ");
    let spec = a.spec.clone();
    if spec.rate_iops.is_some() && figure == "iops" {
        // Both were asked for the same rate: a ratio of 1 says that they were asked, not that they are alike.
        let told = |sample: &Result<Sample, String>| sample.as_ref().ok().map(|s| mean(&s.repeats).exp());
        let why =
            [ASKED].into_iter().chain(reasons.iter().map(String::as_str)).collect::<Vec<_>>().join("; ");
        let [a, b] = [told(&samples[0]), told(&samples[1])];
        return Line { a, b, about: About::Storage, pair: None, why, spec, op };
    }
    match samples {
        [Ok(a), Ok(b)] if reasons.len() != 1 => Line {
            a: Some(mean(&a.repeats).exp()),
            b: Some(mean(&b.repeats).exp()),
            about,
            pair: Some(LinePair { rw: spec.rw, op, a, b, in_turn: None }),
            why,
            spec,
            op,
        },
        // What memory served on one side and the storage on the other are two different things.
        [a, b] => {
            let told = |sample: Result<Sample, String>| {
                sample.ok().filter(|s| s.not_of_the_storage.is_none()).map(|s| mean(&s.repeats).exp())
            };
            Line { a: told(a), b: told(b), about: About::Storage, pair: None, why, spec, op }
        }
    }
}

/// One side's figures; the reason where a repeat has none.
fn sample(point: &Point, op: Op, side: &Side, figure: &str) -> Result<Sample, String> {
    let mut repeats = Vec::new();
    let (mut within, mut not_of_the_storage) = (None, None);
    for (number, run) in side.runs.iter().enumerate() {
        let which = if side.runs.len() > 1 { format!(" (repeat {})", number + 1) } else { String::new() };
        let same = same_point(&side.runs[0], point, run)
            .ok_or_else(|| format!("{} did not measure it{which}", side.name))?;
        let found = estimate(same, op, figure);
        let found = found.ok_or_else(|| format!("{}{which}: {}", side.name, why_absent(run, same)))?;
        if let Some(why) = mostly_void(run, same, VerdictAbout::Depth) {
            // Whoever has fewer in flight than it asked for was not asked the same.
            return Err(format!("{}{which}: void as a depth figure: {why}", side.name));
        }
        if let Some((about, why)) = self::not_of_the_storage(run, same) {
            let why = format!("{}{which}: void: {why}", side.name);
            // Void for another reason, a limit of the machine or holes in the file: about nothing that can be compared.
            let about = about.ok_or_else(|| why.clone())?;
            not_of_the_storage.get_or_insert((about, why));
        }
        repeats.push(found.value.ln());
        within = found.low.zip(found.high).map(|(low, high)| {
            (high.ln() - low.ln())
                / 2.0
                / normal(if run.info.confidence > 0.0 { run.info.confidence } else { 0.95 })
        });
    }
    let history = if repeats.len() == 1 { history(side, point, op, figure) } else { Vec::new() };
    Ok(Sample { within: within.filter(|_| repeats.len() == 1), repeats, history, not_of_the_storage })
}

fn history(side: &Side, point: &Point, op: Op, figure: &str) -> Vec<f64> {
    let found = side.history.iter().map(|run| {
        let same = same_point(&side.runs[0], point, run)?;
        estimate(same, op, figure).map(|estimate| estimate.value.ln())
    });
    // A line that some of the runs lack has no history: spreads are taken over whole runs.
    found.collect::<Option<Vec<f64>>>().unwrap_or_default()
}

/// The figure of one direction, if it is a number above zero.
fn estimate(point: &Point, op: Op, figure: &str) -> Option<Estimate> {
    let of = |direction: &PointDirection| match figure {
        "iops" => Some(direction.iops),
        "latency_ns_mean" => direction.latency_ns_mean,
        "latency_ns_p50" => direction.latency_ns_p50,
        "latency_ns_p99" => direction.latency_ns_p99,
        _ => None,
    };
    point.direction(op).and_then(of).filter(|estimate| estimate.value.is_finite() && estimate.value > 0.0)
}

/// Checks that say that memory served a trial, by name.
const MEMORY: [CheckName; 3] = [CheckName::CacheServed, CheckName::DirectIgnored, CheckName::WriteBack];
/// The check that says that the program was the limit.
const PROGRAM: CheckName = CheckName::GeneratorBound;

/// Why a point's figures say nothing of the storage, and what they are about instead: memory, or the program; `None`
/// there where they are void for something else.
fn not_of_the_storage<'a>(run: &'a Run, point: &Point) -> Option<(Option<About>, &'a str)> {
    let voids = voids(run, point, VerdictAbout::Device);
    let first = voids.first().filter(|_| are_most(&voids, point))?;
    let by = |checks: &[CheckName]| voids.iter().find(|void| checks.contains(&void.check));
    Some(match (by(&MEMORY), by(&[PROGRAM])) {
        (Some(void), _) => (Some(About::Memory), void.why()),
        (None, Some(void)) => (Some(About::Program), void.why()),
        (None, None) => (None, first.why()),
    })
}

/// Why most of a point's trials are void as figures about this.
fn mostly_void<'a>(run: &'a Run, point: &Point, about: VerdictAbout) -> Option<&'a str> {
    let voids = voids(run, point, about);
    voids.first().filter(|_| are_most(&voids, point)).map(|void| void.why())
}

fn voids<'a>(run: &'a Run, point: &Point, about: VerdictAbout) -> Vec<&'a Judgement> {
    let is_it = |judged: &&Judgement| {
        let own = judged.trial.is_some_and(|id| point.trial_ids.contains(&id));
        judged.verdict == Outcome::Invalid && judged.about == about && own
    };
    run.verdicts.iter().filter(is_it).collect()
}

fn are_most(voids: &[&Judgement], point: &Point) -> bool {
    2 * (voids.len() as u32) >= point.trials.max(1)
}

/// Why a point has no figure: what voided its trials, if something did.
fn why_absent(run: &Run, point: &Point) -> String {
    let about = |judged: &&Judgement| {
        judged.verdict == Outcome::Invalid && judged.trial.is_some_and(|id| point.trial_ids.contains(&id))
    };
    match run.verdicts.iter().find(about) {
        Some(void) => format!("void: {}", void.why()),
        None if point.trials == 0 => "not measured".to_owned(),
        None => "no such figure".to_owned(),
    }
}
