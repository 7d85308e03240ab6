//! What one parameter changes, everything else equal: its levels against the first, as ratios.
//!
//! Each level is compared with the lowest one; from four levels on, each with the mean of all others, which is known
//! far better than any one of them. With k comparisons each interval is made for an error of α/k
//! (Bonferroni), so that all of them hold together; whichever is then named, for being the largest, its interval
//! still covers. "No effect" is said only where every interval lies within 5 % of 1: an interval that contains 1
//! and reaches far is no evidence of anything.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{Conditions, Estimate, Finding, Op, TrialSpec};
use iosonde_stats::{LogEstimate, student_t};

use super::group::{Writer, workload};
use crate::words::is_vague;

/// To either side of 1: what `quick` can resolve, and less than anybody plans for.
pub(super) const MARGIN: f64 = 0.05;

/// Why no ratio is given where its interval spans more than a factor of three.
pub const TOO_ROUGH: &str = "the trials scatter so much that even a factor of 3 would not show";

/// What the levels show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// All ratios lie within the margin.
    NoEffect,
    /// The named ratio surely is not 1.
    Changes,
    /// No ratio surely differs from 1, and all lie within twice the margin.
    NoneSeen,
    /// Neither.
    CannotTell,
}

/// The level that departs most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extreme {
    /// Its place among the others.
    pub(super) place: usize,
    /// Its ratio to the reference.
    pub(super) ratio: Estimate,
    /// What all of them show.
    pub(super) answer: Answer,
}

/// The ratio of two levels, with an interval that holds together with `comparisons` of its kind.
pub(super) fn ratio(over: LogEstimate, under: LogEstimate, confidence: f64, comparisons: usize) -> Estimate {
    let strict = 1.0 - (1.0 - confidence) / comparisons.max(1) as f64;
    let log = over.log_mean - under.log_mean;
    let degrees = over.degrees_of_freedom.min(under.degrees_of_freedom);
    let half = student_t(strict, degrees) * over.standard_error.hypot(under.standard_error);
    Estimate { value: log.exp(), low: Some((log - half).exp()), high: Some((log + half).exp()) }
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

/// The level that departs most from the reference: of those that surely do, or of all.
pub(super) fn extreme(reference: LogEstimate, others: &[LogEstimate], confidence: f64) -> Option<Extreme> {
    let ratios = others.iter().map(|&other| ratio(other, reference, confidence, others.len()));
    most_extreme(&ratios.collect::<Vec<_>>())
}

fn most_extreme(ratios: &[Estimate]) -> Option<Extreme> {
    let ends = |ratio: &Estimate| (ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY));
    let inside = |ratio: &Estimate, margin: f64| {
        ends(ratio).0 >= 1.0 / (1.0 + margin) && ends(ratio).1 <= 1.0 + margin
    };
    let within = |ratio: &Estimate| inside(ratio, MARGIN);
    let surely = |ratio: &Estimate| ends(ratio).0 > 1.0 || ends(ratio).1 < 1.0;
    let answer = match () {
        () if ratios.iter().all(within) => Answer::NoEffect,
        () if ratios.iter().any(|ratio| surely(ratio) && !within(ratio)) => Answer::Changes,
        () if ratios.len() >= MANY && ratios.iter().all(|ratio| inside(ratio, 2.0 * MARGIN)) => {
            Answer::NoneSeen
        }
        () => Answer::CannotTell,
    };
    let named = |ratio: &Estimate| answer != Answer::Changes || surely(ratio);
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
    /// The parameter's value; `None` where a workload has none.
    pub(super) level: fn(&TrialSpec) -> Option<f64>,
    /// A level in words: `a stride of 64 KiB`.
    pub(super) words: fn(f64) -> String,
    /// The parameter: `stride`.
    pub(super) subject: &'static str,
    /// Whether each level is held against the first, however many there are.
    pub(super) against_first: bool,
    /// The figure that is compared: `the rate`.
    pub(super) figure: &'static str,
    /// The figure of a point.
    pub(super) of: fn(&Evidence, Op) -> Result<LogEstimate, String>,
    /// The direction that it is of; `None` leaves a point out.
    pub(super) op: fn(&TrialSpec) -> Option<Op>,
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

fn one(question: &Question, writer: &Writer, spec: &TrialSpec, op: Op, members: &[&Evidence]) -> Finding {
    let conditions = Conditions {
        op: Some(op),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        ..Conditions::default()
    };
    let what = match spec.asked_in_flight() {
        1 => format!("{}, one at a time", workload(&conditions)),
        depth => format!("{}, {depth} in flight", workload(&conditions)),
    };
    let level = |evidence: &&Evidence| (question.level)(&evidence.point.spec).unwrap_or(0.0);
    let mut members = members.to_vec();
    members.sort_by(|a, b| level(a).total_cmp(&level(b)));
    let subject = question.subject;
    let cannot = format!("Whether {subject} matters to {what}");
    let Standing { members, figures, left_out, unknown } = match standing(question, &members, op) {
        Ok(standing) => standing,
        Err(why) => return writer.refused(&conditions, &members, &cannot, &why),
    };
    let many = figures.len() >= MANY && !question.against_first;
    let extreme = match many {
        true => odd_one(&figures, writer.confidence),
        false => extreme(figures[0], &figures[1..], writer.confidence),
    };
    let Some(extreme) = extreme else {
        return writer.refused(&conditions, &members, &cannot, "nothing was measured");
    };
    if extreme.answer == Answer::CannotTell && is_vague(&extreme.ratio) {
        return writer.refused(&conditions, &members, &cannot, TOO_ROUGH);
    }
    let (first, last) = (level(&members[0]), level(&members[members.len() - 1]));
    let place = if many { extreme.place } else { 1 + extreme.place };
    let (named, figure) = ((question.words)(level(&members[place])), question.figure);
    let (first, last) = ((question.words)(first), (question.words)(last));
    let than =
        if many { format!("the mean over the other {subject}s") } else { format!("that with {first}") };
    let sentence = match extreme.answer {
        Answer::Changes => format!("{what}: with {named}, {figure} is {{}} of {than}."),
        Answer::NoEffect => format!(
            "{what}: {subject} does not matter. From {first} to {last}, {figure} stays within 5 %; the largest ratio \
             is {{}}, with {named}."
        ),
        Answer::NoneSeen => format!(
            "{what}: no effect of {subject} is seen. From {first} to {last}, the level furthest off is {named}: \
             {figure} is {{}} of {than}; less than that may have gone unseen."
        ),
        Answer::CannotTell => format!(
            "whether {subject} matters to {what} cannot be told from this run: {figure} with {named} is {{}} of {than}."
        ),
    };
    let sentence = sentence + &unknown;
    let (count, against) = match many {
        true => (figures.len(), "the mean of the others"),
        false => (figures.len() - 1, first.as_str()),
    };
    let why = format!(
        "The largest of {count} ratios to {against}, with an interval that holds for all of them together.{left_out}"
    );
    writer.found(&conditions, &members, extreme.ratio, &sentence, why)
}

/// The levels whose figures stand.
struct Standing<'e, 'a> {
    members: Vec<&'e Evidence<'a>>,
    figures: Vec<LogEstimate>,
    /// ` Left out: a stride of 64 KiB (0 of 8 trials stand).`; empty where all stand.
    left_out: String,
    /// The same in the sentence, without the reasons.
    unknown: String,
}

/// The levels that can be compared. One bad level leaves the others what they are, unless it is the one that all are
/// held against, or too few are left.
fn standing<'e, 'a>(
    question: &Question,
    members: &[&'e Evidence<'a>],
    op: Op,
) -> Result<Standing<'e, 'a>, String> {
    let words = |evidence: &Evidence| (question.words)((question.level)(&evidence.point.spec).unwrap_or(0.0));
    let (mut kept, mut figures) = (Vec::new(), Vec::new());
    let mut out: Vec<(String, String)> = Vec::new();
    for (place, &evidence) in members.iter().enumerate() {
        match (question.of)(evidence, op) {
            Ok(figure) => {
                kept.push(evidence);
                figures.push(figure);
            }
            // With few levels the first is the reference.
            Err(why) if place == 0 && (question.against_first || members.len() <= MANY) => return Err(why),
            Err(why) => out.push((words(evidence), why)),
        }
    }
    let Some((_, first_why)) = out.first() else {
        return Ok(Standing { members: kept, figures, left_out: String::new(), unknown: String::new() });
    };
    if kept.len() < 2 {
        return Err(first_why.clone());
    }
    let names: Vec<&str> = out.iter().map(|(name, _)| name.as_str()).collect();
    let whys: Vec<String> = out.iter().map(|(name, why)| format!("{name} ({why})")).collect();
    let unknown = format!(" What {} does is not known.", names.join(" or "));
    Ok(Standing { members: kept, figures, left_out: format!(" Left out: {}.", whys.join("; ")), unknown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, standard_error: f64) -> LogEstimate {
        LogEstimate { log_mean: value.ln(), standard_error, degrees_of_freedom: 1e6 }
    }

    fn answer(others: &[(f64, f64)]) -> (usize, Answer) {
        let others: Vec<_> = others.iter().map(|&(value, error)| estimate(value, error)).collect();
        let found = extreme(estimate(100.0, 0.005), &others, 0.95).unwrap();
        (found.place, found.answer)
    }

    #[test]
    fn no_effect_needs_every_interval_within_the_margin() {
        assert_eq!(answer(&[(101.0, 0.005), (99.5, 0.005)]), (0, Answer::NoEffect));
        assert_eq!(answer(&[(101.0, 0.005), (99.5, 0.1)]), (0, Answer::CannotTell));
        // Surely 2 % less, and surely not more than 5: a difference that does not matter.
        assert_eq!(answer(&[(98.0, 0.001)]), (0, Answer::NoEffect));
    }

    #[test]
    fn a_change_is_named_by_the_largest_that_is_sure() {
        assert_eq!(answer(&[(50.0, 0.01), (20.0, 2.0), (80.0, 0.01)]), (0, Answer::Changes));
        assert!(extreme(estimate(1.0, 0.1), &[], 0.95).is_none());
    }

    #[test]
    fn of_many_levels_the_odd_one_is_told_and_a_little_noise_is_no_effect() {
        let levels =
            |values: &[f64], error: f64| -> Vec<_> { values.iter().map(|v| estimate(*v, error)).collect() };
        let odd = odd_one(&levels(&[100.0, 101.0, 95.0, 99.0, 100.0, 100.0], 0.008), 0.95).unwrap();
        assert_eq!((odd.place, odd.answer), (2, Answer::Changes));
        // 95 against the mean of 100, 101, 99, 100 and 100.
        assert!((odd.ratio.value - 0.95).abs() < 1e-3, "{odd:?}");
        let even = odd_one(&levels(&[100.0, 101.0, 98.5, 99.0, 100.0, 100.0], 0.012), 0.95).unwrap();
        assert_eq!(even.answer, Answer::NoneSeen);
        let wide = odd_one(&levels(&[100.0, 101.0, 98.5, 99.0], 0.1), 0.95).unwrap();
        assert_eq!(wide.answer, Answer::CannotTell);
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
