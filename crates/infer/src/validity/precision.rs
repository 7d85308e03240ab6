//! Points that are less precise than was asked, and how many of them are so because rates changed over the run.

use std::collections::BTreeMap;

use iosonde_judge::{drift, validity::TrialStanding};
use iosonde_model::{
    About, Cause, Closed, Estimate, Finding, FindingName, Op, Outcome, Point, Run, Status, cause::Drift,
};
use iosonde_stats::{robust::median, trend::Levels};

use super::{
    fact::{Fact, WeighedFact},
    trials::half_width,
};
use crate::finding::lookup::estimate;

/// Share of points with wide intervals up to which that is a note: every figure carries its own interval.
const WIDE_SHARE: f64 = 0.25;

/// Points whose intervals are wider than was asked, or missing. Those that a change of rates made so are counted, and
/// are no second warning beside that of the change: more time would only see more of it.
pub(super) fn imprecise(run: &Run) -> Option<WeighedFact> {
    let asked = run.info.precision;
    if asked <= 0.0 || run.info.study_source.is_empty() || run.points.is_empty() {
        return None;
    }
    let half_widths: Vec<_> = run.points.iter().map(|point| (point.id, half_width(run, point))).collect();
    // On two levels more time narrows nothing, and the check `not-steady` has said so.
    let on_levels = |id: usize| run.points.iter().any(|point| point.id == id && is_on_two_levels(point));
    let is_wide =
        |(id, half): &&(usize, Option<f64>)| half.is_none_or(|half| half > asked) && !on_levels(*id);
    let wide: Vec<_> = half_widths.iter().filter(is_wide).collect();
    if wide.is_empty() {
        return None;
    }
    let without_change = half_widths_without_change(run);
    let by_change = |id: usize| without_change.get(&id).is_some_and(|half| half.exp_m1() <= asked);
    let growth: BTreeMap<usize, f64> = run
        .points
        .iter()
        .zip(&half_widths)
        .filter_map(|(point, (id, half))| {
            let growth = growth(point.trial_ids.len(), (*half)? / asked);
            Some((*id, if by_change(*id) || on_levels(*id) { 1.0 } else { growth }))
        })
        .collect();
    let width = |&&(_, half): &&(usize, Option<f64>)| half.unwrap_or(f64::INFINITY);
    let &&(worst, worst_half) = wide.iter().max_by(|a, b| width(a).total_cmp(&width(b)))?;
    let worst_half =
        worst_half.filter(|half| widest_of_the_highest(run).is_none_or(|widest| *half >= widest));
    let worst = Box::new(run.points.iter().find(|point| point.id == worst)?.spec.clone());
    let changed = wide.iter().filter(|(id, half)| half.is_some() && by_change(*id)).count();
    let (points, wide, missing) =
        (run.points.len(), wide.len(), half_widths.iter().filter(|(_, half)| half.is_none()).count());
    let time_up = run.points.iter().any(|point| point.closed == Some(Closed::Budget));
    let needed_s = if time_up { needed_s(run, &growth) } else { None };
    let fact =
        Fact::Imprecise { time_up, points, wide, changed, missing, worst, worst_half, asked, needed_s };
    Some(WeighedFact::doubt_if((wide - changed) as f64 > WIDE_SHARE * points as f64, fact))
}

fn is_on_two_levels(point: &Point) -> bool {
    Op::DIRECTIONS.into_iter().filter_map(|op| point.direction(op)).any(|own| !own.levels.is_empty())
}

/// The widest half-width among the highest rates, as a share. It allows for several points that may be the highest, and
/// may therefore exceed that of each.
fn widest_of_the_highest(run: &Run) -> Option<f64> {
    let is_highest = |name| matches!(name, FindingName::DeviceBandwidth | FindingName::MaxIops);
    let highest = run.findings.iter().filter(|one| is_highest(one.name) && one.status == Status::Found);
    // The larger side, as reports tell it.
    let larger_side = |finding: &Finding| {
        let Estimate { value, low, high } = estimate(finding);
        Some((high? - value).max(value - low?) / value)
    };
    highest.filter_map(larger_side).max_by(f64::total_cmp)
}

/// How many times as long a point is to be measured that is so many times as wide as was asked. A half-width falls with
/// the square root of the time, and is itself known from `trials` to one part in √(2 (n − 1)), its standard error: a
/// point that was narrow by chance is given that much more.
fn growth(trials: usize, times_as_wide: f64) -> f64 {
    if times_as_wide <= 1.0 {
        return 1.0;
    }
    let error = 1.0 / (2.0 * trials.saturating_sub(1).max(1) as f64).sqrt();
    (times_as_wide * (1.0 + error)).powi(2)
}

/// The time budget with which every point would be as precise as was asked, in seconds; points that are precise need no
/// more. `None` where most points have no interval or the run has no budget.
fn needed_s(run: &Run, growth: &BTreeMap<usize, f64>) -> Option<f64> {
    if 2 * growth.len() < run.points.len() {
        return None;
    }
    let spent_s = |point: &Point| -> f64 {
        point.trial_ids.iter().filter_map(|id| run.trial(*id)).map(|trial| trial.elapsed_s).sum()
    };
    // A point without an interval is treated like most.
    let usual = median(&growth.values().copied().collect::<Vec<_>>())?;
    let [mut spent, mut needed] = [0.0; 2];
    for point in &run.points {
        let own_s = spent_s(point);
        spent += own_s;
        needed += own_s * growth.get(&point.id).copied().unwrap_or(usual);
    }
    Some(run.info.budget_s? * needed / spent).filter(|needed_s| needed_s.is_finite())
}

/// Half-widths of the points' intervals, as logarithms, from the differences of successive trials; none where there is
/// no warning that rates changed.
fn half_widths_without_change(run: &Run) -> BTreeMap<usize, f64> {
    let changed = run.verdicts.iter().any(|judgement| {
        judgement.verdict == Outcome::Warning
            && matches!(judgement.cause, Some(Cause::Drift(Drift::Changed { .. } | Drift::Unlike { .. })))
    });
    if !changed {
        return BTreeMap::new();
    }
    let standing = TrialStanding::of(run);
    let of_point = |point: &Point| {
        let trials = point.trial_ids.iter().filter_map(|id| run.trial(*id));
        let valid = trials.filter(|trial| standing.is_valid_for(trial, About::Rate));
        valid.filter_map(|trial| drift::visit(point.id, trial)).collect::<Vec<_>>()
    };
    let mut visits: Vec<_> = run.points.iter().flat_map(of_point).collect();
    visits.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    Levels::of(&visits).half_widths_without_trend(run.info.confidence)
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::pretend::{Pretend, QUICK};

    use super::*;
    use crate::validity::Weight;

    #[test]
    fn the_time_needed_grows_with_the_square_of_the_width() {
        assert_eq!(growth(9, 0.7), 1.0);
        // 9 trials: the width is known to a quarter.
        assert!((growth(9, 2.0) - 6.25).abs() < 1e-9, "{}", growth(9, 2.0));
        let mut run = Pretend { cv: 0.25, rounds: 12, ..Pretend::usual() }.run(QUICK, 1);
        (run.info.precision, run.info.budget_s) = (0.05, Some(90.0));
        crate::conclude::conclude(&mut run, None).unwrap();
        let needed = |run: &Run| {
            let growth = run.points.iter().map(|point| (point.id, 4.0)).collect();
            needed_s(run, &growth)
        };
        assert_eq!(needed(&run), Some(360.0));
        // Most points are not known.
        let few = run.points.iter().take(1).map(|point| (point.id, 4.0)).collect();
        assert_eq!(needed_s(&run, &few), None);
        run.info.budget_s = None;
        assert_eq!(needed(&run), None);
    }

    /// The fact of a run whose rates scatter by `cv`, and those of every second point change by so much.
    fn of(cv: f64, change: f64) -> (usize, usize, usize, Weight) {
        let mut run = Pretend { cv, change, rounds: 12, ..Pretend::usual() }.run(QUICK, 1);
        run.info.precision = 0.05;
        crate::conclude::conclude(&mut run, None).unwrap();
        let WeighedFact { mark, fact } = imprecise(&run).expect("some points are wide");
        let Fact::Imprecise { points, wide, changed, .. } = fact else { panic!("{fact:?}") };
        (points, wide, changed, mark)
    }

    #[test]
    fn what_a_change_made_wide_is_told_from_what_noise_made_wide() {
        // 12 trials with noise of 25 %: 16 %. A fall by half scatters by 20 %: 13 %, and noise of 2 % alone is 1.3 %.
        let (points, wide, changed, weight) = of(0.25, 0.0);
        assert!(
            4 * wide > points && changed == 0 && weight == Weight::Doubt,
            "{wide} of {points}, {changed}"
        );
        let (points, wide, changed, weight) = of(0.02, -0.5);
        assert!(
            4 * wide > points && changed == wide && weight == Weight::Note,
            "{wide} of {points}, {changed}"
        );
        // Both at once: noise alone would be too much.
        let (points, wide, changed, weight) = of(0.25, -0.5);
        assert!(
            4 * wide > points && 4 * changed < wide && weight == Weight::Doubt,
            "{wide} of {points}, {changed}"
        );
    }
}
