//! Two levels on which the trials of a point lie: before and after a step in time, or by what was written before.
//!
//! No mean describes either. A step in time is the one that `not-steady` finds; other levels are groups of trials with
//! a gap between them that chance does not make (`two_levels`). Groups that follow one another are a step, too. Where
//! the last trial that wrote did so in random order before all trials of one group, and sequentially before all of the
//! other, that is the condition.

use iosonde_model::{LevelCondition, Trial};
use iosonde_stats::{
    steady::{self, Terms, Whole},
    two_levels,
};

/// Least height of a step that a reader would notice, as a share: as of steps in time.
pub const HEIGHT_MIN: f64 = 0.05;

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
    Some(match split(logs, points)? {
        Split::Step { at } => in_time((0..at).collect(), (at..logs.len()).collect()),
        Split::Groups { lower, higher } => of_groups(trials, lower, higher, all),
    })
}

/// The place from which on logarithms of rates, in the order of time, lie on another level. `points`: how many series
/// are asked the same.
pub fn step(logs: &[f64], points: usize) -> Option<usize> {
    match split(logs, points)? {
        Split::Step { at } => Some(at),
        Split::Groups { .. } => None,
    }
}

/// How a series lies on two levels.
enum Split {
    /// The second one begins here.
    Step { at: usize },
    /// Each has members between those of the other.
    Groups { lower: Vec<usize>, higher: Vec<usize> },
}

fn split(logs: &[f64], points: usize) -> Option<Split> {
    let (low, high) = logs.iter().fold((f64::MAX, f64::MIN), |(l, h), log| (l.min(*log), h.max(*log)));
    if high - low < HEIGHT_MIN.ln_1p() {
        return None;
    }
    if let Some(cut) = two_levels(logs) {
        let (lower, higher): (Vec<usize>, Vec<usize>) = (0..logs.len()).partition(|&place| logs[place] < cut);
        let precedes = |one: &[usize], other: &[usize]| one.last() < other.first();
        return Some(match () {
            () if precedes(&higher, &lower) => Split::Step { at: higher.len() },
            () if precedes(&lower, &higher) => Split::Step { at: lower.len() },
            () => Split::Groups { lower, higher },
        });
    }
    match steady::course(logs, &Terms::of_rounds(points))?.whole {
        Whole::Step(step) => Some(Split::Step { at: step.at }),
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
    // What was written before the first write of a run is not known, and speaks for neither.
    let after = |places: &[usize]| {
        let mut kinds = places.iter().filter_map(|&place| last_write_is_random(trials[place], all));
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
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

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;
    use iosonde_testkit::specimen;

    use super::*;

    /// Trials of a point with these rates, each after a trial that writes in this order.
    fn found(rates: &[(f64, Rw)]) -> Option<[(LevelCondition, Vec<usize>); 2]> {
        let mut all = Vec::new();
        for (place, &(_, written)) in rates.iter().enumerate() {
            for (rw, at_s) in [(written, 2 * place), (Rw::RandRead, 2 * place + 1)] {
                let mut trial = specimen::healthy(rw, 4096, 1, 1000);
                trial.started_s = at_s as f64;
                all.push(trial);
            }
        }
        let own: Vec<&Trial> = all.iter().skip(1).step_by(2).collect();
        let logs: Vec<f64> = rates.iter().map(|(rate, _)| rate.ln()).collect();
        levels(&own, &logs, &all, 1).map(|two| two.map(|level| (level.condition, level.places)))
    }

    fn quiet(place: usize) -> f64 {
        1.0 + 0.001 * (place * place % 7) as f64
    }

    #[test]
    fn levels_that_follow_what_was_written_name_it() {
        let random = |place: usize| [1, 2, 3, 7, 8, 9].contains(&place);
        let rate = |place: usize| if random(place) { 13_800.0 } else { 26_700.0 } * quiet(place);
        let after = |place: usize| if random(place) { Rw::RandWrite } else { Rw::Write };
        let rates: Vec<(f64, Rw)> = (0..11).map(|place| (rate(place), after(place))).collect();
        let (low, high) = (vec![1, 2, 3, 7, 8, 9], vec![0, 4, 5, 6, 10]);
        assert_eq!(
            found(&rates),
            Some([
                (LevelCondition::AfterRandomWrites, low.clone()),
                (LevelCondition::AfterSequentialWrites, high.clone())
            ])
        );
        // One trial of the other kind, and the cause is unknown.
        let mut mixed = rates;
        mixed[2].1 = Rw::Write;
        assert_eq!(found(&mixed), Some([(LevelCondition::Lower, low), (LevelCondition::Higher, high)]));
    }

    #[test]
    fn levels_one_after_the_other_are_a_step() {
        let rates: Vec<(f64, Rw)> = (0..11)
            .map(|place| (if place < 3 { 16_800.0 } else { 5280.0 } * quiet(place), Rw::Write))
            .collect();
        let expected = [
            (LevelCondition::BeforeStep, (0..3).collect()),
            (LevelCondition::AfterStep, (3..11).collect::<Vec<_>>()),
        ];
        assert_eq!(found(&rates), Some(expected));
    }

    #[test]
    fn one_level_is_none() {
        let level = |place: usize| (1e4 * quiet(place), Rw::Write);
        assert_eq!(found(&(0..11).map(level).collect::<Vec<_>>()), None);
        // Nor is a loss.
        let falls = |place: usize| (1e4 * 0.97f64.powi(place as i32), Rw::Write);
        assert_eq!(found(&(0..11).map(falls).collect::<Vec<_>>()), None);
    }
}
