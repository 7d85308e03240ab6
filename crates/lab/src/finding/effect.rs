//! What one parameter changes, everything else equal: its levels against the first, as ratios.
//!
//! Each level is compared with the lowest one. With k comparisons each interval is made for an error of α/k
//! (Bonferroni), so that all of them hold together; whichever is then named, for being the largest, its interval
//! still covers. "No effect" is said only where every interval lies within 5 % of 1: an interval that contains 1
//! and reaches far is no evidence of anything.

use iosonde_model::{Conditions, Estimate, Finding, Op, TrialSpec};

use super::group::{Writer, workload};
use crate::evidence::{Evidence, LogEstimate, student_t};

/// To either side of 1: what `quick` can resolve, and less than anybody plans for.
pub(super) const MARGIN: f64 = 0.05;

/// What the levels show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// All ratios lie within the margin.
    NoEffect,
    /// The named ratio surely is not 1.
    Changes,
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

/// The level that departs most from the reference: of those that surely do, or of all.
pub(super) fn extreme(reference: LogEstimate, others: &[LogEstimate], confidence: f64) -> Option<Extreme> {
    let ratios: Vec<Estimate> =
        others.iter().map(|&other| ratio(other, reference, confidence, others.len())).collect();
    let ends = |ratio: &Estimate| (ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY));
    let within = |ratio: &Estimate| ends(ratio).0 >= 1.0 / (1.0 + MARGIN) && ends(ratio).1 <= 1.0 + MARGIN;
    let surely = |ratio: &Estimate| ends(ratio).0 > 1.0 || ends(ratio).1 < 1.0;
    let answer = match () {
        () if ratios.iter().all(within) => Answer::NoEffect,
        () if ratios.iter().any(|ratio| surely(ratio) && !within(ratio)) => Answer::Changes,
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
    let figures: Result<Vec<_>, _> = members.iter().map(|evidence| (question.of)(evidence, op)).collect();
    let figures = match figures {
        Ok(figures) => figures,
        Err(why) => return writer.refused(&conditions, &members, &cannot, &why),
    };
    let Some(extreme) = extreme(figures[0], &figures[1..], writer.confidence) else {
        return writer.refused(&conditions, &members, &cannot, "nothing was measured");
    };
    let (first, last) = (level(&members[0]), level(&members[members.len() - 1]));
    let (named, figure) = ((question.words)(level(&members[1 + extreme.place])), question.figure);
    let (first, last) = ((question.words)(first), (question.words)(last));
    let sentence = match extreme.answer {
        Answer::Changes => format!("{what}: with {named}, {figure} is {{}} of that with {first}."),
        Answer::NoEffect => format!(
            "{what}: {subject} does not matter. From {first} to {last}, {figure} stays within 5 %; the largest ratio \
             is {{}}, with {named}."
        ),
        Answer::CannotTell => format!(
            "whether {subject} matters to {what} cannot be told from this run: {figure} with {named} is {{}} of that \
             with {first}."
        ),
    };
    let why = format!(
        "The largest of {} ratios to {first}, with an interval that holds for all of them together.",
        figures.len() - 1
    );
    writer.found(&conditions, &members, extreme.ratio, &sentence, why)
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
    fn many_comparisons_make_each_interval_wider() {
        let one = ratio(estimate(100.0, 0.01), estimate(100.0, 0.0), 0.95, 1);
        let ten = ratio(estimate(100.0, 0.01), estimate(100.0, 0.0), 0.95, 10);
        // z(0.975) = 1.960, z(0.9975) = 2.807.
        assert!((one.high.unwrap().ln() - 0.019_60).abs() < 1e-4, "{one:?}");
        assert!((ten.high.unwrap().ln() - 0.028_07).abs() < 1e-4, "{ten:?}");
    }
}
