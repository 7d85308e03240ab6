//! Two levels on which the trials of a point lie: before and after a step in time, or by what was written before.
//!
//! No mean describes either. A step in time is the one that `not-steady` finds; other levels are groups of trials with a
//! gap between them that chance does not make (`two_levels`). Groups that follow one another are a step, too. Where the
//! last trial that wrote did so in random order before all trials of one group, and sequentially before all of the other,
//! that is the condition.

use iosonde_model::{LevelCondition, Trial};
use iosonde_stats::{
    steady::{self, Terms, Whole},
    two_levels,
};

/// Least height of a step that a reader would notice, as a share: as of steps in time.
const HEIGHT_MIN: f64 = 0.05;

/// Members of one of two levels, as places in the series, in order.
pub struct Level {
    /// What parts them from the others.
    pub condition: LevelCondition,
    /// Places of its members.
    pub places: Vec<usize>,
}

/// The levels of a point's trials, given in the order of time with the logarithms of their rates: first the earlier or
/// lower. `all`: the trials of the run; `points`: how many of them are asked the same.
pub fn levels(trials: &[&Trial], logs: &[f64], all: &[Trial], points: usize) -> Option<[Level; 2]> {
    let (low, high) = logs.iter().fold((f64::MAX, f64::MIN), |(l, h), log| (l.min(*log), h.max(*log)));
    if high - low < HEIGHT_MIN.ln_1p() {
        return None;
    }
    let groups = two_levels(logs).map(|cut| (0..logs.len()).partition(|&place| logs[place] < cut));
    if let Some((lower, higher)) = groups {
        return Some(of_groups(trials, lower, higher, all));
    }
    match steady::course(logs, &Terms::of_rounds(points))?.whole {
        Whole::Step(step) => Some(in_time((0..step.at).collect(), (step.at..logs.len()).collect())),
        Whole::Level | Whole::Cycle(_) | Whole::Trend | Whole::Unknown => None,
    }
}

fn in_time(before: Vec<usize>, after: Vec<usize>) -> [Level; 2] {
    [
        Level { condition: LevelCondition::BeforeStep, places: before },
        Level { condition: LevelCondition::AfterStep, places: after },
    ]
}

fn of_groups(trials: &[&Trial], lower: Vec<usize>, higher: Vec<usize>, all: &[Trial]) -> [Level; 2] {
    let precedes = |one: &[usize], other: &[usize]| one.last() < other.first();
    if precedes(&higher, &lower) {
        return in_time(higher, lower);
    }
    if precedes(&lower, &higher) {
        return in_time(lower, higher);
    }
    let after = |places: &[usize]| {
        let mut kinds = places.iter().map(|&place| last_write_is_random(trials[place], all));
        let first = kinds.next().flatten()?;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    };
    let named = |random: bool| match random {
        true => LevelCondition::AfterRandomWrites,
        false => LevelCondition::AfterSequentialWrites,
    };
    let (low, high) = match (after(&lower), after(&higher)) {
        (Some(low), Some(high)) if low != high => (named(low), named(high)),
        _ => (LevelCondition::Lower, LevelCondition::Higher),
    };
    [Level { condition: low, places: lower }, Level { condition: high, places: higher }]
}

/// Whether the last trial before this one that wrote anything, preparation included, did so in random order.
fn last_write_is_random(trial: &Trial, all: &[Trial]) -> Option<bool> {
    let before =
        |other: &&Trial| other.started_s < trial.started_s && other.spec.streams().any(|s| s.rw.writes());
    let last = all.iter().filter(before).max_by(|a, b| a.started_s.total_cmp(&b.started_s))?;
    Some(last.spec.streams().any(|stream| stream.rw.writes() && stream.rw.is_random()))
}
