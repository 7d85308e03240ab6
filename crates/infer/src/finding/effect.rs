//! Effect of one parameter, everything else equal: its levels against the first, as ratios.
//!
//! Each level is compared with the lowest one; from four levels on, each with the mean of all others, which is
//! known far better than any one of them. With k comparisons each interval is made for an error of α/k
//! (Bonferroni), so that all of them hold simultaneously. The interval of the largest effect therefore still covers
//! the truth. "No effect" needs every interval within 5 % of 1: a wide interval that contains 1 is no evidence.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{
    Conditions, Detail, Estimate, Finding, Inconclusive, Op, TrialSpec,
    detail::{ComparedFigure, ComparedWith, Effect, EffectAnswer, EffectProblem, Level, RatioAnswer},
};
use iosonde_stats::LogEstimate;

use super::group::{self, Writer};

/// To either side of 1: what `quick` can resolve, and less than anybody plans for.
pub const MARGIN: f64 = 0.05;

/// The level that departs most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extreme {
    /// Its place among the others.
    pub(super) place: usize,
    /// Its ratio to the reference.
    pub(super) ratio: Estimate,
    /// What all of them show.
    pub(super) answer: EffectAnswer,
}

/// The ratio of two levels, with an interval that holds together with `comparisons` of its kind.
pub(super) fn ratio(over: LogEstimate, under: LogEstimate, confidence: f64, comparisons: usize) -> Estimate {
    let strict = 1.0 - (1.0 - confidence) / comparisons.max(1) as f64;
    over.over(under).estimate(strict)
}

/// Levels from which on each is compared with the mean of the others: it takes three others to make a mean that one
/// odd level does not carry away.
const MANY: usize = 4;

/// The level that departs most from the mean of the others, by its place among all.
fn odd_one(levels: &[LogEstimate], confidence: f64) -> Option<Extreme> {
    let others = |place: usize| {
        let rest =
            || levels.iter().enumerate().filter(move |(other, _)| *other != place).map(|(_, level)| level);
        let count = (levels.len() - 1) as f64;
        LogEstimate {
            log_mean: rest().map(|level| level.log_mean).sum::<f64>() / count,
            standard_error: rest().map(|level| level.standard_error.powi(2)).sum::<f64>().sqrt() / count,
            degrees_of_freedom: rest().map(|level| level.degrees_of_freedom).fold(f64::INFINITY, f64::min),
        }
    };
    let ratios = (0..levels.len()).map(|place| ratio(levels[place], others(place), confidence, levels.len()));
    most_extreme(&ratios.collect::<Vec<_>>())
}

/// The level that differs most from the reference: of those that differ significantly, or of all.
pub(super) fn extreme(reference: LogEstimate, others: &[LogEstimate], confidence: f64) -> Option<Extreme> {
    let ratios = others.iter().map(|&other| ratio(other, reference, confidence, others.len()));
    most_extreme(&ratios.collect::<Vec<_>>())
}

/// Whether the whole interval lies within a margin around 1.
pub fn inside(ratio: &Estimate, margin: f64) -> bool {
    ratio.low.is_some_and(|low| low >= 1.0 / (1.0 + margin))
        && ratio.high.is_some_and(|high| high <= 1.0 + margin)
}

/// `Lower` or `Higher` where the interval excludes 1.
pub(super) fn leads(ratio: &Estimate) -> Option<RatioAnswer> {
    match (ratio.low, ratio.high) {
        (_, Some(high)) if high < 1.0 => Some(RatioAnswer::Lower),
        (Some(low), _) if low > 1.0 => Some(RatioAnswer::Higher),
        _ => None,
    }
}

/// The answer of one ratio.
pub(super) fn answer_of(ratio: &Estimate) -> RatioAnswer {
    if inside(ratio, MARGIN) {
        return RatioAnswer::Equal;
    }
    leads(ratio).unwrap_or(RatioAnswer::Undecided)
}

fn most_extreme(ratios: &[Estimate]) -> Option<Extreme> {
    let within = |ratio: &Estimate| inside(ratio, MARGIN);
    let surely = |ratio: &Estimate| leads(ratio).is_some();
    let answer = match () {
        () if ratios.iter().all(within) => EffectAnswer::NoEffect,
        () if ratios.iter().any(|ratio| surely(ratio) && !within(ratio)) => EffectAnswer::Changes,
        () if ratios.len() >= MANY && ratios.iter().all(|ratio| inside(ratio, 2.0 * MARGIN)) => {
            EffectAnswer::NoneSeen
        }
        () => EffectAnswer::Undecided,
    };
    let named = |ratio: &Estimate| answer != EffectAnswer::Changes || surely(ratio);
    let far = |ratio: &Estimate| ratio.value.ln().abs();
    let (place, ratio) = ratios
        .iter()
        .enumerate()
        .filter(|(_, ratio)| named(ratio))
        .max_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)))?;
    Some(Extreme { place, ratio: *ratio, answer })
}

/// A question about one parameter.
pub(super) struct Question {
    /// Makes workloads equal that differ in the parameter only.
    pub(super) blank: fn(&mut TrialSpec),
    /// The parameter's level; `None` where a workload has none.
    pub(super) level: fn(&TrialSpec) -> Option<Level>,
    /// Whether each level is held against the first, however many there are.
    pub(super) against_first: bool,
    /// The figure that is compared.
    pub(super) figure: ComparedFigure,
    /// The direction that it is of; `None` leaves a point out.
    pub(super) op: fn(&TrialSpec) -> Option<Op>,
}

impl Question {
    fn of(&self, evidence: &Evidence, op: Op) -> Result<LogEstimate, Inconclusive> {
        match self.figure {
            ComparedFigure::Throughput => group::valid_rate(evidence, op, &[]),
            ComparedFigure::MeanLatency => group::valid_latency(evidence, op),
        }
    }
}

/// One finding for each set of workloads that differ in the parameter only, where there are two levels or more.
pub(super) fn conclude(question: &Question, writer: &Writer, points: &[Evidence]) -> Vec<Finding> {
    let mut groups: Vec<(TrialSpec, Op, Vec<&Evidence>)> = Vec::new();
    for evidence in points {
        let spec = &evidence.point.spec;
        let (Some(op), Some(_)) = ((question.op)(spec), (question.level)(spec)) else { continue };
        let mut alike = spec.clone();
        (question.blank)(&mut alike);
        match groups.iter_mut().find(|(known, ..)| *known == alike) {
            Some((.., members)) => members.push(evidence),
            None => groups.push((alike, op, vec![evidence])),
        }
    }
    groups.retain(|(.., members)| members.len() > 1);
    groups.iter().map(|(spec, op, members)| one(question, writer, spec, *op, members)).collect()
}

fn one(question: &Question, writer: &Writer, spec: &TrialSpec, op: Op, all: &[&Evidence]) -> Finding {
    let conditions = Conditions {
        op: Some(op),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        ..Conditions::default()
    };
    let Valid { members, levels, figures, left_out } = match valid(question, all, op) {
        Ok(valid) => valid,
        Err(why) => return writer.inconclusive(&conditions, all, why),
    };
    let many = figures.len() >= MANY && !question.against_first;
    let extreme = match many {
        true => odd_one(&figures, writer.confidence),
        false => extreme(figures[0], &figures[1..], writer.confidence),
    };
    let Some(extreme) = extreme else {
        return writer.inconclusive(&conditions, &members, Inconclusive::EstimateNotANumber);
    };
    if extreme.answer == EffectAnswer::Undecided && extreme.ratio.is_vague() {
        return writer.inconclusive(&conditions, &members, Inconclusive::Effect(EffectProblem::TooRough));
    }
    let (place, reference, ratios) = match many {
        true => (extreme.place, ComparedWith::MeanOfOthers, figures.len()),
        false => (1 + extreme.place, ComparedWith::Level(levels[0]), figures.len() - 1),
    };
    let detail = Detail::Effect(Effect {
        answer: extreme.answer,
        figure: question.figure,
        level: levels[place],
        lowest: levels[0],
        highest: levels[levels.len() - 1],
        reference,
        ratios,
        left_out,
    });
    writer.concluded(&conditions, &members, extreme.ratio, detail)
}

/// The levels whose figures are valid, from the lowest.
struct Valid<'e, 'a> {
    members: Vec<&'e Evidence<'a>>,
    levels: Vec<Level>,
    figures: Vec<LogEstimate>,
    left_out: Vec<(Level, Inconclusive)>,
}

/// The levels that can be compared. One bad level leaves the others what they are, unless it is the one that all are
/// held against, or too few are left.
fn valid<'e, 'a>(
    question: &Question,
    all: &[&'e Evidence<'a>],
    op: Op,
) -> Result<Valid<'e, 'a>, Inconclusive> {
    let level = |evidence: &'e Evidence<'a>| Some(((question.level)(&evidence.point.spec)?, evidence));
    let mut members: Vec<(Level, &Evidence)> = all.iter().filter_map(|evidence| level(evidence)).collect();
    members.sort_by(|(a, _), (b, _)| a.value().total_cmp(&b.value()));
    let count = members.len();
    let mut valid = Valid { members: vec![], levels: vec![], figures: vec![], left_out: vec![] };
    for (place, (level, evidence)) in members.into_iter().enumerate() {
        match question.of(evidence, op) {
            Ok(figure) => {
                valid.members.push(evidence);
                valid.levels.push(level);
                valid.figures.push(figure);
            }
            // With few levels the first is the reference.
            Err(why) if place == 0 && (question.against_first || count <= MANY) => return Err(why),
            Err(why) => valid.left_out.push((level, why)),
        }
    }
    match valid.left_out.first() {
        Some((_, why)) if valid.members.len() < 2 => Err(why.clone()),
        _ => Ok(valid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, standard_error: f64) -> LogEstimate {
        LogEstimate { log_mean: value.ln(), standard_error, degrees_of_freedom: 1e6 }
    }

    fn answer(others: &[(f64, f64)]) -> (usize, EffectAnswer) {
        let others: Vec<_> = others.iter().map(|&(value, error)| estimate(value, error)).collect();
        let found = extreme(estimate(100.0, 0.005), &others, 0.95).unwrap();
        (found.place, found.answer)
    }

    #[test]
    fn no_effect_needs_every_interval_within_the_margin() {
        assert_eq!(answer(&[(101.0, 0.005), (99.5, 0.005)]), (0, EffectAnswer::NoEffect));
        assert_eq!(answer(&[(101.0, 0.005), (99.5, 0.1)]), (0, EffectAnswer::Undecided));
        // 2 % less with confidence, and not more than 5: a difference that does not matter.
        assert_eq!(answer(&[(98.0, 0.001)]), (0, EffectAnswer::NoEffect));
    }

    #[test]
    fn one_ratio_is_answered_by_its_interval_alone() {
        let of = |low, high| answer_of(&Estimate { value: 1.0, low: Some(low), high: Some(high) });
        assert_eq!([of(0.97, 1.04), of(0.96, 0.99)], [RatioAnswer::Equal; 2]);
        assert_eq!([of(0.90, 0.99), of(1.01, 1.20)], [RatioAnswer::Lower, RatioAnswer::Higher]);
        assert_eq!(of(0.90, 1.02), RatioAnswer::Undecided);
    }

    #[test]
    fn a_change_is_named_by_the_largest_that_is_sure() {
        assert_eq!(answer(&[(50.0, 0.01), (20.0, 2.0), (80.0, 0.01)]), (0, EffectAnswer::Changes));
        assert!(extreme(estimate(1.0, 0.1), &[], 0.95).is_none());
    }

    #[test]
    fn of_many_levels_the_odd_one_is_told_and_a_little_noise_is_no_effect() {
        let levels =
            |values: &[f64], error: f64| -> Vec<_> { values.iter().map(|v| estimate(*v, error)).collect() };
        let odd = odd_one(&levels(&[100.0, 101.0, 95.0, 99.0, 100.0, 100.0], 0.008), 0.95).unwrap();
        assert_eq!((odd.place, odd.answer), (2, EffectAnswer::Changes));
        // 95 against the mean of 100, 101, 99, 100 and 100.
        assert!((odd.ratio.value - 0.95).abs() < 1e-3, "{odd:?}");
        let even = odd_one(&levels(&[100.0, 101.0, 98.5, 99.0, 100.0, 100.0], 0.012), 0.95).unwrap();
        assert_eq!(even.answer, EffectAnswer::NoneSeen);
        let wide = odd_one(&levels(&[100.0, 101.0, 98.5, 99.0], 0.1), 0.95).unwrap();
        assert_eq!(wide.answer, EffectAnswer::Undecided);
    }

    #[test]
    fn many_comparisons_make_each_interval_wider() {
        let one = ratio(estimate(100.0, 0.01), estimate(100.0, 0.0), 0.95, 1);
        let ten = ratio(estimate(100.0, 0.01), estimate(100.0, 0.0), 0.95, 10);
        // z(0.975) = 1.960, z(0.9975) = 2.807.
        assert!((one.high.unwrap().ln() - 0.019_60).abs() < 1e-4, "{one:?}");
        assert!((ten.high.unwrap().ln() - 0.028_07).abs() < 1e-4, "{ten:?}");
    }
}
