//! How much longer than usual a point's next trial is: its warm-up, and what it measures.

use iosonde_judge::{
    estimate::{FEWEST_TRIALS, Visit},
    host_turns,
    settling::{self, Settling, WarmedUp},
    silence,
};
use iosonde_model::Trial;

use super::{LONGEST_TRIAL_S, Schedule, Slot};

/// Share of a point's trials that have to be left, or still to come, where a longer warm-up replaces the others.
const KEPT_SHARE: f64 = 0.5;
/// Rounds that longer trials leave: as many as an interval needs, and one to spare.
const ROUNDS_OF_LONGER: u32 = FEWEST_TRIALS as u32 + 1;

impl Schedule {
    /// Returns the additional warm-up of a point's next trial. It is 0 where the order of visits matters,
    /// since the beginning of a trial is then what is measured. It stays unchanged where the time no longer allows
    /// enough trials for an interval.
    pub(super) fn settling(
        &self,
        slot: Slot,
        trials: &[Trial],
        visits: &[Visit],
        elapsed_s: f64,
    ) -> Settling {
        let manner = self.visiting.manner(slot.point);
        if slot.point.is_none() || manner.from_the_start || manner.in_order {
            return Settling::default();
        }
        let own = |trial: &&Trial| trial.point == slot.point && settling::must_hold(trial);
        let own: Vec<&Trial> = trials.iter().filter(own).collect();
        // The time that converged points save goes to this one: at the end of a study of 128 points, 1.5 rounds of all
        // of them are 50 rounds of the four that are open.
        let state = self.state_before(visits, slot.round);
        let open = (0..self.points.len()).filter(|&point| !self.converged(&state, point)).map(Some);
        let overhead_s = self.overhead_s(visits, elapsed_s);
        let round_s: f64 = open.chain([None]).map(|point| self.length_s(point) + overhead_s).sum();
        let left_s = self.terms.budget_s - elapsed_s;
        let rounds_left = |warm_up_s: f64| {
            let by_time = left_s / (round_s + warm_up_s);
            self.terms.rounds.map_or(by_time, |asked| by_time.min(f64::from(asked) - f64::from(slot.round)))
        };
        // What was measured is not given up for a few trials at the end.
        let wanted = (KEPT_SHARE * own.len() as f64).max(FEWEST_TRIALS as f64);
        let enough = |stay: usize, warm_up_s: f64| stay as f64 + rounds_left(warm_up_s) >= wanted;
        let points = self.points.len();
        WarmedUp::of(own, trials, points).next(trials, self.length_s(slot.point), points, enough)
    }

    /// Returns the time by which a point's next trial is longer than usual, in seconds, because the storage falls
    /// silent in it again and again, or did not come round to all hosts. The rounds that are left for an interval stay
    /// possible.
    pub(super) fn longer_s(&self, slot: Slot, trials: &[Trial], elapsed_s: f64) -> f64 {
        let manner = self.visiting.manner(slot.point);
        if slot.point.is_none() || manner.from_the_start || manner.in_order {
            return 0.0;
        }
        let own: Vec<&Trial> = trials.iter().filter(|trial| trial.point == slot.point).collect();
        let wanted = silence::wanted_s(&own, trials).into_iter().chain(host_turns::wanted_s(&own));
        let Some(wanted_s) = wanted.reduce(f64::max) else { return 0.0 };
        let rounds = self.terms.rounds.unwrap_or(ROUNDS_OF_LONGER);
        let to_come = f64::from(rounds.saturating_sub(slot.round - 1).max(1));
        let left_s = self.terms.budget_s - elapsed_s;
        let most_s = left_s / (to_come * (self.points.len() + 1) as f64) - self.terms.overhead_s;
        (wanted_s.min(most_s).min(LONGEST_TRIAL_S) - self.length_s(slot.point)).max(0.0)
    }
}
