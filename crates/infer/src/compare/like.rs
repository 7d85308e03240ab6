//! Lines: the points that both sides measured, with the figures of each side's repeats.

use iosonde_model::{
    About, CheckName, ComparedFigure, Estimate, Incomparable, Judgement, NoFigure, Op, Outcome, Planned,
    Point, PointDirection, Run, Rw, ServedBy, TrialSpec,
};
use iosonde_stats::{LogEstimate, normal};

use super::{
    in_turn::{self, Paired},
    partner::{partner, same_point},
    side::Side,
};

/// A workload and direction that both sides measured.
#[derive(Debug)]
pub(super) struct Line {
    /// As the first side ran it.
    pub spec: TrialSpec,
    /// The point's id in each side's first run.
    pub points: [usize; 2],
    /// Which of its requests.
    pub op: Op,
    /// Geometric mean over the repeats.
    pub a: Option<f64>,
    /// Value of the other side.
    pub b: Option<f64>,
    /// Why there is no pair, or what limits it.
    pub limits: Vec<Incomparable>,
    /// What statistics need, where both sides have figures about the same.
    pub pair: Option<LinePair>,
    /// What the pair is about.
    pub about: ServedBy,
}

/// What both of two are about.
fn both(a: ServedBy, b: ServedBy) -> ServedBy {
    if a == b { a } else { ServedBy::MemoryOrProgram }
}

/// Lines whose ratios are about one thing: the storage where any line is, else what programs get.
pub(super) fn about_one_thing(lines: Vec<Line>) -> (Vec<Line>, ServedBy) {
    let paired = || lines.iter().filter(|line| line.pair.is_some()).map(|line| line.about);
    let about = if paired().any(|about| about == ServedBy::Storage) {
        ServedBy::Storage
    } else {
        paired().reduce(both).unwrap_or(ServedBy::Storage)
    };
    let is_storage = |about: ServedBy| about == ServedBy::Storage;
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
    pub not_of_the_storage: Option<(ServedBy, Incomparable)>,
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The lines of two sides, in the order of the first one's plan, and how many points only one side has.
pub(super) fn lines(a: &Side, b: &Side, figure: ComparedFigure) -> (Vec<Line>, usize) {
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
    if let (true, [run_a], [run_b]) = (figure == ComparedFigure::Iops, &a.runs[..], &b.runs[..]) {
        let pairs = in_turn::log_ratios(run_a, run_b, &asked);
        for (line, ratio) in lines.iter_mut().zip(pairs) {
            line.pair.iter_mut().for_each(|pair| pair.in_turn = ratio);
        }
    }
    let others = taken.iter().zip(&b.runs[0].points);
    (lines, alone + others.filter(|(taken, point)| !**taken && point.planned == Planned::Grid).count())
}

fn line(a: &Point, b: &Point, op: Op, sides: [&Side; 2], figure: ComparedFigure) -> Line {
    let sample = |place: usize, point: &Point| sample(place, point, op, sides[place], figure);
    let samples = [sample(0, a), sample(1, b)];
    let limit = |sample: &Result<Sample, Incomparable>| match sample {
        Err(limit) => Some(limit.clone()),
        Ok(sample) => sample.not_of_the_storage.as_ref().map(|(_, limit)| limit.clone()),
    };
    let about = |sample: &Result<Sample, Incomparable>| match sample {
        Ok(Sample { not_of_the_storage: Some((about, _)), .. }) => *about,
        _ => ServedBy::Storage,
    };
    let about = both(about(&samples[0]), about(&samples[1]));
    let limits: Vec<Incomparable> = samples.iter().filter_map(limit).collect();
    let (spec, points) = (a.spec.clone(), [a.id, b.id]);
    if spec.rate_iops.is_some() && figure == ComparedFigure::Iops {
        // Both have the same requested rate: a ratio of 1 follows from the request, not from the storage.
        let told = |sample: &Result<Sample, _>| sample.as_ref().ok().map(|s| mean(&s.repeats).exp());
        let limits = [vec![Incomparable::FixedRate], limits].concat();
        let [a, b] = [told(&samples[0]), told(&samples[1])];
        return Line { a, b, about: ServedBy::Storage, pair: None, limits, spec, points, op };
    }
    match samples {
        [Ok(a), Ok(b)] if limits.len() != 1 => Line {
            a: Some(mean(&a.repeats).exp()),
            b: Some(mean(&b.repeats).exp()),
            about,
            pair: Some(LinePair { rw: spec.rw, op, a, b, in_turn: None }),
            limits,
            spec,
            points,
            op,
        },
        // What memory served on one side and the storage on the other are two different things.
        [a, b] => {
            let told = |sample: Result<Sample, _>| {
                sample.ok().filter(|s| s.not_of_the_storage.is_none()).map(|s| mean(&s.repeats).exp())
            };
            Line { a: told(a), b: told(b), about: ServedBy::Storage, pair: None, limits, spec, points, op }
        }
    }
}

/// One side's figures; the reason where a repeat has none.
fn sample(
    place: usize,
    point: &Point,
    op: Op,
    side: &Side,
    figure: ComparedFigure,
) -> Result<Sample, Incomparable> {
    let mut repeats = Vec::new();
    let (mut within, mut not_of_the_storage) = (None, None);
    for (number, run) in side.runs.iter().enumerate() {
        let repeat = (side.runs.len() > 1).then_some(number + 1);
        let limit = |cause: NoFigure| Incomparable::Side { side: place, repeat, cause };
        let same = same_point(&side.runs[0], point, run).ok_or_else(|| limit(NoFigure::NotMeasured))?;
        let found = estimate(same, op, figure).ok_or_else(|| limit(why_absent(run, same)))?;
        if let Some(void) = mostly_void(run, same, About::Depth) {
            // A point with a lower depth than requested is another workload.
            return Err(limit(invalid(void)));
        }
        if let Some((about, void)) = self::not_of_the_storage(run, same) {
            // Invalid for another reason, a limit of the machine or holes in the file: nothing that can be compared.
            let about = about.ok_or_else(|| limit(invalid(void)))?;
            not_of_the_storage.get_or_insert_with(|| (about, limit(invalid(void))));
        }
        repeats.push(found.value.ln());
        within = standard_error(&found, run.info.confidence);
    }
    let history = if repeats.len() == 1 { history(side, point, op, figure) } else { Vec::new() };
    Ok(Sample { within: within.filter(|_| repeats.len() == 1), repeats, history, not_of_the_storage })
}

/// The standard error of a figure's logarithm that its interval tells.
pub(super) fn standard_error(found: &Estimate, confidence: f64) -> Option<f64> {
    let (low, high) = found.low.zip(found.high)?;
    Some((high.ln() - low.ln()) / 2.0 / normal(if confidence > 0.0 { confidence } else { 0.95 }))
}

fn invalid(judged: &Judgement) -> NoFigure {
    NoFigure::Invalid(Box::new(judged.clone()))
}

fn history(side: &Side, point: &Point, op: Op, figure: ComparedFigure) -> Vec<f64> {
    let found = side.history.iter().map(|run| {
        let same = same_point(&side.runs[0], point, run)?;
        estimate(same, op, figure).map(|estimate| estimate.value.ln())
    });
    // A line that some of the runs lack has no history: spreads are taken over whole runs.
    found.collect::<Option<Vec<f64>>>().unwrap_or_default()
}

/// The figure of one direction, if it is a number above zero. A write that is flushed takes as long as its commit.
fn estimate(point: &Point, op: Op, figure: ComparedFigure) -> Option<Estimate> {
    if let Some(commit) = point.commit.as_ref().filter(|_| op == Op::Write && figure != ComparedFigure::Iops)
    {
        return match figure {
            ComparedFigure::Iops => None,
            ComparedFigure::LatencyMean => commit.latency_ns_mean,
            ComparedFigure::LatencyP50 => commit.latency_ns_p50,
            ComparedFigure::LatencyP99 => commit.latency_ns_p99,
        };
    }
    let of = |direction: &PointDirection| match figure {
        ComparedFigure::Iops => Some(direction.iops),
        ComparedFigure::LatencyMean => direction.latency_ns_mean,
        ComparedFigure::LatencyP50 => direction.latency_ns_p50,
        ComparedFigure::LatencyP99 => direction.latency_ns_p99,
    };
    point.direction(op).and_then(of).filter(|estimate| estimate.value.is_finite() && estimate.value > 0.0)
}

/// Checks that say that memory served a trial, by name.
pub(super) const MEMORY: [CheckName; 3] =
    [CheckName::CacheServed, CheckName::DirectIgnored, CheckName::WriteBack];
/// The check that says that the program was the limit.
const PROGRAM: CheckName = CheckName::GeneratorBound;

/// What answered instead of the storage in most of a point's trials.
pub(crate) fn served_by(run: &Run, point: &Point) -> Option<ServedBy> {
    not_of_the_storage(run, point)?.0
}

/// The verdict by which a point's figures say nothing of the storage, and what they are about instead: memory, or the
/// program; `None` there where they are invalid for something else.
fn not_of_the_storage<'a>(run: &'a Run, point: &Point) -> Option<(Option<ServedBy>, &'a Judgement)> {
    let voids = voids(run, point, About::Device);
    let first = voids.first().filter(|_| are_most(&voids, point))?;
    let by = |checks: &[CheckName]| voids.iter().find(|void| checks.contains(&void.check));
    Some(match (by(&MEMORY), by(&[PROGRAM])) {
        (Some(void), _) => (Some(ServedBy::Memory), void),
        (None, Some(void)) => (Some(ServedBy::Program), void),
        (None, None) => (None, first),
    })
}

/// The first verdict that makes most of a point's trials invalid for these figures.
fn mostly_void<'a>(run: &'a Run, point: &Point, about: About) -> Option<&'a Judgement> {
    let voids = voids(run, point, about);
    voids.first().copied().filter(|_| are_most(&voids, point))
}

fn voids<'a>(run: &'a Run, point: &Point, about: About) -> Vec<&'a Judgement> {
    let is_it = |judged: &&Judgement| {
        let own = judged.trial.is_some_and(|id| point.trial_ids.contains(&id));
        judged.verdict == Outcome::Invalid && judged.about == about && own
    };
    run.verdicts.iter().filter(is_it).collect()
}

fn are_most(voids: &[&Judgement], point: &Point) -> bool {
    2 * (voids.len() as u32) >= point.trials.max(1)
}

/// Why a point has no figure: the check that made its trials invalid, if one did.
fn why_absent(run: &Run, point: &Point) -> NoFigure {
    let about = |judged: &&Judgement| {
        judged.verdict == Outcome::Invalid && judged.trial.is_some_and(|id| point.trial_ids.contains(&id))
    };
    match run.verdicts.iter().find(about) {
        Some(void) => invalid(void),
        None if point.trials == 0 => NoFigure::NotMeasured,
        None => NoFigure::NoSuchFigure,
    }
}
