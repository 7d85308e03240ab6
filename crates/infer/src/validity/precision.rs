//! Points that are less precise than was asked, and how many of them are so because rates changed over the run.

use std::collections::BTreeMap;

use iosonde_judge::{drift, validity::TrialStanding};
use iosonde_model::{About, Cause, Closed, Outcome, Point, Run, cause::Drift};
use iosonde_stats::trend::Levels;

use super::{
    fact::{Fact, WeighedFact},
    trials::half_width,
};

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
    let wide: Vec<_> = half_widths.iter().filter(|(_, half)| half.is_none_or(|half| half > asked)).collect();
    if wide.is_empty() {
        return None;
    }
    let without_change = half_widths_without_change(run);
    let by_change = |id: usize| without_change.get(&id).is_some_and(|half| half.exp_m1() <= asked);
    let changed = wide.iter().filter(|(id, half)| half.is_some() && by_change(*id)).count();
    let (points, wide, missing) =
        (run.points.len(), wide.len(), half_widths.iter().filter(|(_, half)| half.is_none()).count());
    let time_up = run.points.iter().any(|point| point.closed == Some(Closed::Budget));
    let fact = Fact::Imprecise { time_up, points, wide, changed, missing, asked };
    Some(WeighedFact::doubt_if((wide - changed) as f64 > WIDE_SHARE * points as f64, fact))
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
