//! Schedule of a run: the next trial, and when to stop. Pure: the next trial follows from the stored trials, the time
//! spent and the terms, so that a killed run is resumed as if nothing had happened.
//!
//! Each round visits every open point once, in a new random order, with a canary among them: drift then affects all
//! points equally. A point has converged when eight of its trials are valid and every interval of its rate is as narrow
//! as requested. Convergence is tested at the beginning of every round, from all trials before it: a point whose
//! interval grew, because others showed more noise, is visited again. The time saved on converged points goes to the
//! others; when it no longer suffices for a round, the points with the widest intervals go first.
//!
//! Where the rate changes within the trials of a point, its next trials have a longer warm-up: see
//! [`iosonde_judge::settling`]. Where the storage falls silent in them again and again, they are longer themselves: see
//! [`iosonde_judge::silence`].
//!
//! An invalid trial is repeated once, at the end of its round. A point with six trials and no valid one is visited once
//! a round and does not prolong the run.
//!
//! All other trials have one length: a round of all points and the canary takes a tenth of the budget, or 1/n of it
//! where n rounds are requested. Fewer than 80 trials determine the correlation between trials poorly. Small studies
//! therefore get more and shorter rounds, and none of their points converges before. A trial takes at least 0.15 s, or
//! start and warm-up would outweigh measuring, and at most 10 s, since more rounds then say more than longer trials.

pub mod chance;
mod emphasis;
mod lengths;
mod slot;
mod state;
mod time_left;

use std::sync::Mutex;

use emphasis::Emphasis;
use iosonde_judge::{
    estimate::{Visit, Voids, visits},
    evidence::WithInterval,
};
use iosonde_model::{Closed, Op, Phase, Point, Rw, Trial, TrialSpec};
use iosonde_stats::{mixed_model::Outlook, robust::median};

use crate::experiment::Manner;
pub use slot::Slot;
use state::{FEWEST_TRIALS_IN_ALL, Memory, PointStates, SlotGroup};
pub use time_left::TimeLeft;

/// Fewest rounds: noise and drift cannot be separated in two.
pub const FEWEST_COMPLETE_ROUNDS: u32 = 3;
/// Rounds that a budget is cut into: eight before any point may close, and two to spare.
const ROUNDS_AIMED_AT: u32 = 10;
/// Shortest trial.
pub const SHORTEST_TRIAL_S: f64 = 0.15;
/// Longest trial.
pub const LONGEST_TRIAL_S: f64 = 10.0;
/// Share of the budget that is planned: actual overheads differ from the estimate.
const PLANNED_SHARE: f64 = 0.97;
/// Attempts at a point in one round.
const ATTEMPTS: u32 = 2;
/// Points that a canary is worth: with fewer open it is not asked in every round.
const POINTS_PER_CANARY: u32 = 4;

/// Settings of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Seed of the random number generator.
    pub seed: u64,
    /// Half an interval's width as a share of the value, at which a point is converged.
    pub precision: f64,
    /// Confidence of the intervals, as a share: 0.95.
    pub confidence: f64,
    /// Left for measuring when measuring begins.
    pub budget_s: f64,
    /// Exactly so many rounds, whatever the intervals; the budget still ends the run.
    pub rounds: Option<u32>,
    /// Time between two trials in seconds, as measured; about 0.01 where unknown.
    pub overhead_s: f64,
}

/// Reason why no schedule fits.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unplannable {
    /// The study has no points.
    #[error("there is nothing to measure: the study has no points that this target allows")]
    Nothing,
    /// The budget does not hold so many complete rounds of the shortest trials.
    #[error(
        "{budget_s:.1} s for measuring are too short: {points} points in {rounds} rounds of at least \
         {trial} s a trial take {needed_s:.1} s, and {fit} of them would fit",
        trial = (.trial_s * 100.0).round() / 100.0,
        fit = if *.fit == 0 { "none".to_owned() } else { .fit.to_string() }
    )]
    TooShort {
        /// Time available for measuring, in seconds.
        budget_s: f64,
        /// Time needed, in seconds.
        needed_s: f64,
        /// The mean of the shortest that its points allow.
        trial_s: f64,
        /// Number of points in the plan.
        points: usize,
        /// Number of points that fit into the available time.
        fit: usize,
        /// Fewest rounds.
        rounds: u32,
    },
}

/// A trial to run.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduledTrial {
    /// The workload.
    pub spec: TrialSpec,
    /// Measure or canary.
    pub phase: Phase,
    /// Round, from 1.
    pub round: u32,
    /// The point; `None` for a canary.
    pub point: Option<usize>,
    /// Experiment that first requested the point; for a canary, that of the point it repeats.
    pub experiment: String,
    /// Time from the first submission to the last, warm-up included, in nanoseconds.
    pub duration_ns: u64,
    /// True if everything counts from the first request on, without warm-up.
    pub from_the_start: bool,
    /// Part of the duration: warm-up beyond the usual length, in nanoseconds.
    pub settling_ns: u64,
    /// Extra warm-up that is needed, of which trials right before took the rest, in nanoseconds.
    pub settling_needed_ns: u64,
    /// True if the span is read once before the trial.
    pub pass_first: bool,
    /// True if the trial ends after one pass over the span, and not before.
    pub one_pass: bool,
    /// Seed of the trial's offsets and payload.
    pub seed: u64,
}

impl ScheduledTrial {
    /// Returns the part of the duration that is warm-up, in nanoseconds.
    pub fn warm_up_ns(&self) -> u64 {
        let usual_ns = match self.from_the_start {
            true => 0,
            false => Trial::usual_warm_up_ns(self.duration_ns - self.settling_ns),
        };
        usual_ns + self.settling_ns
    }

    /// Writes down in a trial that was run for this what it was run for.
    pub fn mark(&self, trial: &mut Trial) {
        (trial.round, trial.point, trial.experiment) = (self.round, self.point, self.experiment.clone());
        trial.settling_s = self.settling_ns as f64 / 1e9;
        trial.settling_needed_s = self.settling_needed_ns as f64 / 1e9;
    }
}

/// Progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The round under way, from 1.
    pub round: u32,
    /// Rounds of which nothing remains.
    pub rounds_done: u32,
    /// Points whose intervals are not narrow enough yet.
    pub open: usize,
    /// Points whose intervals are.
    pub converged: usize,
    /// Points in all.
    pub of: usize,
    /// Time until the budget is spent, the requested rounds are done, or (estimated) every point has converged.
    pub left: TimeLeft,
    /// The point that was measured last, and the rate of its first direction as far as it is known.
    pub latest: Option<Latest>,
    /// Progress of each experiment, in the order of the plan.
    pub experiments: Vec<ExperimentProgress>,
}

/// Progress of one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentProgress {
    /// Name in the study.
    pub name: String,
    /// Number of its points whose intervals are narrow enough.
    pub converged: usize,
    /// Number of its points.
    pub of: usize,
    /// The one that was measured last.
    pub latest: Option<Latest>,
}

/// Latest result: the point that was measured last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latest {
    /// The point's id.
    pub point: usize,
    /// Reads where it reads, else writes.
    pub op: Op,
    /// Completions per second: the estimate, or the last trial's value with fewer than five trials.
    pub iops: f64,
    /// Half the interval's width as a share of the value; `None` with fewer than five trials.
    pub half_width: Option<f64>,
}

/// Expected course of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Points.
    pub points: usize,
    /// Length of each trial.
    pub trial_s: f64,
    /// Rounds of all points that the budget holds.
    pub rounds_expected: u32,
    /// Time for them.
    pub expected_s: f64,
    /// Expected bytes written; always `None` here, since the speed of the storage is unknown. The caller may fill it
    /// in.
    pub bytes_written_expected: Option<u64>,
}

/// Rules for visiting points within a round, beyond random order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Visiting {
    /// Rules for each point, by its id; points beyond the end have none.
    pub manners: Vec<Manner>,
    /// Points that write come after those that only read: writes change what follows.
    pub reads_first: bool,
}

impl Visiting {
    fn manner(&self, point: Option<usize>) -> Manner {
        point.and_then(|point| self.manners.get(point)).copied().unwrap_or_default()
    }

    /// Returns the shortest trial of each point and of the canary, in seconds; 0 without a limit.
    fn shortest_s(&self, points: usize) -> impl Iterator<Item = f64> {
        (0..points).map(|point| self.manner(Some(point)).trial_s_min).chain([0.0])
    }
}

/// Checks that the budget holds `rounds` rounds of all points, or as many as the terms request.
///
/// # Errors
/// Returns [`Unplannable`] where it does not.
pub fn fits(points: usize, visiting: &Visiting, terms: &Terms, rounds: u32) -> Result<(), Unplannable> {
    let rounds = terms.rounds.unwrap_or(rounds).max(FEWEST_COMPLETE_ROUNDS);
    let trials_s = visiting.shortest_s(points).map(|min_s| min_s.max(SHORTEST_TRIAL_S) + terms.overhead_s);
    let shortest_s: f64 = trials_s.sum();
    let needed_s = f64::from(rounds) * shortest_s;
    if terms.budget_s >= needed_s {
        return Ok(());
    }
    let budget_s = terms.budget_s.max(0.0);
    let trial_s = shortest_s / (points + 1) as f64 - terms.overhead_s;
    // The canary's place is taken off.
    let slots = budget_s / needed_s * (points + 1) as f64;
    let fit = (slots as usize).saturating_sub(1);
    Err(Unplannable::TooShort { budget_s, needed_s, trial_s, points, fit, rounds })
}

/// Length of the trials of a round that takes so long, where some have to be longer and the others share what is left.
fn even_s(mut mins_s: Vec<f64>, round_s: f64) -> f64 {
    mins_s.sort_by(|a, b| b.total_cmp(a));
    let (mut left_s, mut left) = (round_s, mins_s.len());
    for min_s in mins_s {
        if min_s <= left_s / left as f64 {
            break;
        }
        (left_s, left) = (left_s - min_s, left - 1);
    }
    left_s / left.max(1) as f64
}

/// Schedule of a run: it returns the next trial, and says when to stop.
#[derive(Debug)]
pub struct Schedule {
    points: Vec<Point>,
    visiting: Visiting,
    terms: Terms,
    canary: usize,
    trial_s: f64,
    /// True if points that write are left out from now on, because the allowed bytes are written.
    reads_only: bool,
    emphasis: Emphasis,
    memory: Mutex<Memory>,
}

impl Schedule {
    /// A schedule for these points, whose ids are 0, 1, .. in order.
    ///
    /// # Errors
    /// Returns [`Unplannable`] where three rounds do not fit.
    pub fn new(points: Vec<Point>, terms: Terms) -> Result<Self, Unplannable> {
        Self::visiting(points, Visiting::default(), terms)
    }

    /// Makes a schedule whose points have rules of their own for order or length.
    ///
    /// # Errors
    /// Returns [`Unplannable`] where three rounds do not fit.
    pub fn visiting(points: Vec<Point>, visiting: Visiting, terms: Terms) -> Result<Self, Unplannable> {
        assert!(
            points.iter().enumerate().all(|(place, point)| point.id == place),
            "ids are places in the plan"
        );
        if points.is_empty() {
            return Err(Unplannable::Nothing);
        }
        fits(points.len(), &visiting, &terms, FEWEST_COMPLETE_ROUNDS)?;
        let small = FEWEST_TRIALS_IN_ALL.div_ceil(points.len() as u32 + 1);
        let aim = f64::from(terms.rounds.unwrap_or(ROUNDS_AIMED_AT.max(small)).max(1));
        let round_s = PLANNED_SHARE * terms.budget_s / aim - terms.overhead_s * (points.len() + 1) as f64;
        let trial_s = even_s(visiting.shortest_s(points.len()).collect(), round_s)
            .clamp(SHORTEST_TRIAL_S, LONGEST_TRIAL_S);
        let is_canary = |spec: &TrialSpec| {
            let small = spec.rw == Rw::RandRead && spec.block_size_bytes == 4096;
            small && spec.asked_in_flight() == 1 && spec.rate_iops.is_none()
        };
        // A pass that is cut short is another workload: of writes it leaves files without their flush.
        let is_whole = |point: &Point| !visiting.manner(Some(point.id)).one_pass;
        let canary = points.iter().position(|point| is_canary(&point.spec));
        let canary = canary.or_else(|| points.iter().position(is_whole));
        let canary = canary.or_else(|| points.iter().position(|point| !point.spec.changes())).unwrap_or(0);
        let emphasis = Emphasis::default();
        let memory = Mutex::default();
        Ok(Self { points, visiting, terms, canary, trial_s, reads_only: false, emphasis, memory })
    }

    /// Returns a schedule of the same points and trial length on other terms: more rounds of a finished run.
    pub fn going_on(&self, terms: Terms) -> Self {
        let Self { points, visiting, canary, trial_s, .. } = self;
        let (points, visiting) = (points.clone(), visiting.clone());
        let (canary, trial_s, reads_only) = (*canary, *trial_s, false);
        let emphasis = Emphasis::default();
        Self { points, visiting, terms, canary, trial_s, reads_only, emphasis, memory: Mutex::default() }
    }

    /// Returns the schedule without further visits to points that write.
    pub fn reading_on(&self) -> Self {
        let emphasis = self.emphasis.clone();
        Self { reads_only: true, emphasis, ..self.going_on(self.terms.clone()) }
    }

    /// Returns the schedule with further points, whose ids follow the present ones. Trials keep their length.
    pub fn with_points(&self, added: Vec<Point>) -> Self {
        let mut more = self.going_on(self.terms.clone());
        more.points.extend(added);
        assert!(more.points.iter().enumerate().all(|(place, point)| point.id == place), "ids are places");
        more
    }

    /// The schedule with trials of a given length instead of its own.
    pub fn with_trial_s(mut self, trial_s: f64) -> Self {
        self.trial_s = trial_s;
        self
    }

    /// Returns the schedule with each point visited in its share of the rounds after the first `after` ones.
    pub fn with_emphasis(&self, after: u32, shares: Vec<f64>) -> Self {
        Self { emphasis: Emphasis { after, shares }, ..self.going_on(self.terms.clone()) }
    }

    /// Returns the rounds that fit into the remaining time, if it is less than half of the time that the precision
    /// needs. `None` where points may still converge, where no estimate is possible, and where a number of rounds is
    /// requested.
    pub fn rounds_short(&self, trials: &[Trial], voids: &Voids) -> Option<f64> {
        if self.terms.rounds.is_some() {
            return None;
        }
        let visits = visits(trials, voids);
        // The clock of the visits: what a run that was resumed spent in between is not in it.
        let elapsed_s = visits.last()?.end_s;
        let left_s = self.terms.budget_s - elapsed_s;
        let needed_s = self.guessed_s(
            &visits,
            &self.state_before(&visits, u32::MAX),
            elapsed_s,
            (1.0, Outlook::Likely),
        )?;
        let rounds = left_s / self.round_s(&visits, elapsed_s);
        (needed_s > 2.0 * left_s && rounds > 1.0).then_some(rounds)
    }

    /// Time of a round of all points, in seconds.
    fn round_s(&self, visits: &[Visit], elapsed_s: f64) -> f64 {
        (self.points.len() + 1) as f64 * self.cycle_s(visits, elapsed_s)
    }

    /// Returns how many rounds of all points fit into the remaining time, or are still to begin where their number is
    /// requested.
    pub fn rounds_left(&self, trials: &[Trial], voids: &Voids) -> f64 {
        if let Some(rounds) = self.rounds_to_come(trials) {
            return f64::from(rounds);
        }
        let visits = visits(trials, voids);
        let elapsed_s = visits.last().map_or(0.0, |visit| visit.end_s);
        (self.terms.budget_s - elapsed_s) / self.round_s(&visits, elapsed_s)
    }

    /// Returns the number of rounds still to begin, where a number of rounds is requested.
    pub fn rounds_to_come(&self, trials: &[Trial]) -> Option<u32> {
        let begun = trials.iter().map(|trial| trial.round).max().unwrap_or(0);
        self.terms.rounds.map(|asked| asked.saturating_sub(begun))
    }

    /// The points, in the order of the plan.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the expected course if no point converges early.
    pub fn forecast(&self) -> Forecast {
        let slots = (0..self.points.len()).map(Some).chain([None]);
        let round_s: f64 = slots.map(|point| self.length_s(point) + self.terms.overhead_s).sum();
        let fit = (self.terms.budget_s / round_s).floor() as u32;
        let rounds_expected = self.terms.rounds.map_or(fit, |asked| asked.min(fit));
        Forecast {
            points: self.points.len(),
            trial_s: self.trial_s,
            rounds_expected,
            expected_s: (f64::from(rounds_expected) * round_s).min(self.terms.budget_s),
            bytes_written_expected: None,
        }
    }

    /// The trial to run now, `elapsed_s` after measuring began; `None` when the run is finished.
    pub fn next(&self, trials: &[Trial], voids: &Voids, elapsed_s: f64) -> Option<ScheduledTrial> {
        let visits = visits(trials, voids);
        let slot = self.next_slot(&visits, elapsed_s)?;
        let source = &self.points[slot.point.unwrap_or(self.canary)];
        let settling = self.settling(slot, trials, &visits, elapsed_s);
        let length_s = self.length_s(slot.point) + self.longer_s(slot, trials, elapsed_s);
        Some(ScheduledTrial {
            spec: source.spec.clone(),
            phase: if slot.point.is_some() { Phase::Measure } else { Phase::Canary },
            round: slot.round,
            point: slot.point,
            experiment: source.experiment.clone(),
            duration_ns: ((length_s + settling.own_s) * 1e9).round() as u64,
            from_the_start: self.visiting.manner(slot.point).from_the_start,
            settling_ns: (settling.own_s * 1e9).round() as u64,
            settling_needed_ns: (settling.needed_s * 1e9).round() as u64,
            pass_first: self.visiting.manner(slot.point).pass_first,
            one_pass: self.visiting.manner(slot.point).one_pass,
            seed: chance::draw(&[
                self.terms.seed,
                u64::from(slot.round),
                place_of(slot.point),
                u64::from(slot.attempt),
            ]),
        })
    }

    /// Returns the length of a point's trials in seconds, or of the canary's for `None`.
    pub fn length_s(&self, point: Option<usize>) -> f64 {
        self.trial_s.max(self.visiting.manner(point).trial_s_min)
    }

    /// [`Schedule::next`] for trials that have been boiled down to what it looks at.
    pub fn next_slot(&self, visits: &[Visit], elapsed_s: f64) -> Option<Slot> {
        let round = visits.iter().map(|visit| visit.round).max().unwrap_or(0).max(1);
        let (left_s, overhead_s) = (self.terms.budget_s - elapsed_s, self.overhead_s(visits, elapsed_s));
        // The next one where nothing of this one is left, or nothing that the time still holds.
        [round, round + 1].into_iter().find_map(|round| {
            let state = self.state_before(visits, round);
            let mut remaining = self.remaining(visits, round, &state);
            let units = self.units(&remaining, overhead_s);
            let all_s: f64 = units.iter().map(|unit| unit.cost_s).sum();
            if self.terms.rounds.is_none() && round > FEWEST_COMPLETE_ROUNDS && all_s > left_s {
                state.keep_widest(&mut remaining, &units, left_s);
            } else {
                let fits = |place: usize| {
                    units.iter().any(|unit| unit.places.contains(&place) && unit.cost_s <= left_s)
                };
                remaining = (0..remaining.len()).filter(|&at| fits(at)).map(|at| remaining[at]).collect();
            }
            // A canary is for the points of its round. Where their trials took 10 s and the time left was less, 38
            // rounds had nothing but canaries, and the drift could not be told from the points any more.
            let mut of_round = visits.iter().filter(|visit| visit.round == round).map(|visit| visit.point);
            let has_point =
                of_round.any(|point| point.is_some()) || remaining.iter().any(|slot| slot.point.is_some());
            remaining.first().copied().filter(|_| has_point)
        })
    }

    /// The slots of a round by what is nothing without each other: a pause and the long write after it, and every other
    /// slot by itself.
    fn units(&self, slots: &[Slot], overhead_s: f64) -> Vec<SlotGroup> {
        let together = |slot: &Slot| {
            let manner = self.visiting.manner(slot.point);
            let point = slot.point.filter(|_| manner.in_order && manner.from_the_start)?;
            Some(self.points[point].experiment.as_str())
        };
        let mut units: Vec<(Option<&str>, SlotGroup)> = Vec::new();
        for (place, slot) in slots.iter().enumerate() {
            let cost_s = self.length_s(slot.point) + overhead_s;
            let name = together(slot);
            match units.iter_mut().find(|(of, _)| of.is_some() && *of == name) {
                Some((_, unit)) => {
                    unit.places.push(place);
                    unit.cost_s += cost_s;
                }
                None => units.push((name, SlotGroup { places: vec![place], cost_s })),
            }
        }
        units.into_iter().map(|(_, unit)| unit).collect()
    }

    /// Returns the reason why each point is closed; `None` while it is open.
    pub fn closed(&self, trials: &[Trial], voids: &Voids, elapsed_s: f64) -> Vec<Option<Closed>> {
        self.closed_after(&visits(trials, voids), elapsed_s)
    }

    /// [`Schedule::closed`] for trials that have been boiled down.
    pub fn closed_after(&self, visits: &[Visit], elapsed_s: f64) -> Vec<Option<Closed>> {
        let finished = self.next_slot(visits, elapsed_s).is_none();
        if let Some(asked) = self.terms.rounds {
            let done = self.rounds_done(visits) >= asked;
            let closed = finished.then_some(if done { Closed::Rounds } else { Closed::Budget });
            return vec![closed; self.points.len()];
        }
        let state = self.state_before(visits, u32::MAX);
        (0..self.points.len())
            .map(|point| match self.converged(&state, point) {
                true => Some(Closed::Precision),
                false => finished.then_some(Closed::Budget),
            })
            .collect()
    }

    /// Rounds of which nothing remains.
    pub fn rounds(&self, trials: &[Trial], voids: &Voids) -> u32 {
        self.rounds_done(&visits(trials, voids))
    }

    /// Returns the progress of the run. It computes every interval: call it only for display.
    pub fn progress(&self, trials: &[Trial], voids: &Voids, elapsed_s: f64) -> Progress {
        let visits = visits(trials, voids);
        let state = self.state_before(&visits, u32::MAX);
        let rounds_done = self.rounds_done(&visits);
        let converged = (0..self.points.len()).filter(|&point| self.converged(&state, point)).count();
        let left = self.left(&visits, &state, elapsed_s);
        Progress {
            round: visits.iter().map(|visit| visit.round).max().unwrap_or(1).max(1),
            rounds_done,
            open: self.points.len() - converged,
            converged,
            of: self.points.len(),
            left,
            latest: self.latest_of(&visits, &state, |_| true),
            experiments: self.experiments(&visits, &state),
        }
    }

    /// The time left after these visits.
    pub fn time_left(&self, visits: &[Visit], now_s: f64) -> TimeLeft {
        self.left(visits, &self.state_before(visits, u32::MAX), now_s)
    }

    /// Time until the run ends, as far as can be guessed.
    fn left(&self, visits: &[Visit], state: &PointStates, elapsed_s: f64) -> TimeLeft {
        let left_s = (self.terms.budget_s - elapsed_s).max(0.0);
        if let Some(asked) = self.terms.rounds {
            let slots = f64::from(asked) * (self.points.len() + 1) as f64 - visits.len() as f64;
            return TimeLeft::known((slots.max(0.0) * self.cycle_s(visits, elapsed_s)).min(left_s));
        }
        if (0..self.points.len()).any(|point| self.to_the_end(point) && !state.hopeless(point)) {
            return TimeLeft::known(left_s);
        }
        let guessed = |by| self.guessed_s(visits, state, elapsed_s, by).map_or(left_s, |s| s.min(left_s));
        let doubt = state.doubt();
        let least_s = guessed((1.0 / doubt, Outlook::Hopeful));
        // Where the least is beyond the budget, nothing else is asked.
        if least_s >= left_s {
            return TimeLeft::known(left_s);
        }
        let likely_s = guessed((1.0, Outlook::Likely)).max(least_s);
        TimeLeft { least_s, likely_s, most_s: guessed((doubt, Outlook::Likely)).max(likely_s) }
    }

    /// Returns the latest result of the visited point.
    fn latest(&self, visit: &Visit, state: &PointStates) -> Option<Latest> {
        let point = visit.point?;
        let op = if self.points[point].spec.rw.reads() { Op::Read } else { Op::Write };
        let estimate = state.iops(point, op).map(|log| log.estimate(self.terms.confidence));
        let iops = estimate.map_or(visit.log_iops(op)?.exp(), |estimate| estimate.value);
        Some(Latest { point, op, iops, half_width: estimate.and_then(|e| e.relative_half_width()) })
    }

    /// Returns the result of the last visit to any of these points.
    fn latest_of(
        &self,
        visits: &[Visit],
        state: &PointStates,
        own: impl Fn(usize) -> bool,
    ) -> Option<Latest> {
        let mut visited = visits.iter().rev().filter(|visit| visit.point.is_some_and(&own));
        visited.find_map(|visit| self.latest(visit, state))
    }

    fn experiments(&self, visits: &[Visit], state: &PointStates) -> Vec<ExperimentProgress> {
        let mut names: Vec<&str> = Vec::new();
        for point in &self.points {
            if !names.contains(&point.experiment.as_str()) {
                names.push(&point.experiment);
            }
        }
        let one = |name: &str| {
            let own = |point: usize| self.points[point].belongs_to(name);
            let ids = || (0..self.points.len()).filter(|&point| own(point));
            ExperimentProgress {
                name: name.to_owned(),
                converged: ids().filter(|&point| self.converged(state, point)).count(),
                of: ids().count(),
                latest: self.latest_of(visits, state, own),
            }
        };
        names.into_iter().map(one).collect()
    }

    /// Time until every interval is narrow enough, if widths go on shrinking as they should, from ones that are so many
    /// times as wide as it seems.
    fn guessed_s(
        &self,
        visits: &[Visit],
        state: &PointStates,
        elapsed_s: f64,
        (wider, outlook): (f64, Outlook),
    ) -> Option<f64> {
        let open = (0..self.points.len()).filter(|&point| !state.hopeless(point));
        let open: Vec<usize> = open.collect();
        let told: Vec<Option<f64>> =
            open.iter().map(|&point| state.trials_needed(point, wider, outlook)).collect();
        // A point that is not yet known, since one of its two trials was excluded, is treated like most.
        let usual = median(&told.iter().copied().flatten().collect::<Vec<_>>())?;
        if 2 * told.iter().flatten().count() < told.len() {
            return None;
        }
        let needed: Vec<f64> = told.into_iter().map(|one| one.unwrap_or(usual)).collect();
        // A canary goes with every round, and there are as many rounds as the widest point needs.
        let rounds = needed.iter().copied().fold(0.0, f64::max);
        let overhead_s = self.overhead_s(visits, elapsed_s);
        let cost_s = |point: Option<usize>| self.length_s(point) + overhead_s;
        let own_s = open.iter().zip(&needed).map(|(&point, trials)| trials * cost_s(Some(point)));
        let trials_s = own_s.sum::<f64>() + rounds * cost_s(None);
        let all = FEWEST_TRIALS_IN_ALL as f64 - visits.len() as f64;
        let least = all.min(rounds * (self.points.len() + 1) as f64);
        Some(trials_s.max(least * self.cycle_s(visits, elapsed_s)))
    }

    /// Returns true if the point needs no more trials.
    fn converged(&self, state: &PointStates, point: usize) -> bool {
        !self.to_the_end(point) && state.converged(point)
    }

    fn to_the_end(&self, point: usize) -> bool {
        self.visiting.manner(Some(point)).to_the_end
    }

    fn rounds_done(&self, visits: &[Visit]) -> u32 {
        let Some(last) = visits.iter().map(|visit| visit.round).max() else { return 0 };
        let state = self.state_before(visits, last);
        if self.remaining(visits, last, &state).is_empty() { last } else { last - 1 }
    }

    /// Returns the state that follows from the trials before a round.
    fn state_before(&self, visits: &[Visit], round: u32) -> PointStates {
        // A panic while the lock is held can only come from our own mistake; what is stored is whole anyway.
        let mut memory = self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let terms = &self.terms;
        memory.state(visits, round, |told| {
            PointStates::new(&self.points, self.canary, told, terms.precision, terms.confidence)
        })
    }

    /// Returns the remaining visits of a round in their order; points with an invalid trial come last.
    fn remaining(&self, visits: &[Visit], round: u32, state: &PointStates) -> Vec<Slot> {
        if self.terms.rounds.is_some_and(|asked| round > asked) {
            return Vec::new();
        }
        let may = |point: usize| !(self.reads_only && self.points[point].spec.changes());
        let open: Vec<usize> = (0..self.points.len())
            .filter(|&point| may(point) && (self.terms.rounds.is_some() || !self.converged(state, point)))
            .collect();
        if open.is_empty() {
            return Vec::new();
        }
        let hopeless = |points: &[usize]| points.iter().all(|&point| state.hopeless(point));
        if self.terms.rounds.is_none() && hopeless(&open) {
            return Vec::new();
        }
        let due = self.emphasis.due(open.clone(), round);
        // A round of those alone that nobody waits for would end the run.
        let due = if hopeless(&due) { open } else { due };
        let open: Vec<usize> = self.with_pauses(&due).filter(|&point| may(point)).collect();
        // When most points are converged, with two open, the canary comes every second round, with one every
        // fourth.
        let every = POINTS_PER_CANARY.div_ceil(open.len() as u32);
        // Where visits are given out, the canary's own point is as good, unless the canary has another task.
        let given_out = self.emphasis.is_on(round) && !self.visiting.reads_first;
        let stands_in = given_out && open.contains(&self.canary);
        let in_turn = open.len() == self.points.len() || round.is_multiple_of(every);
        // After writes it says nothing of reads (see `leftovers`), and where nothing reads it shields no point.
        let changes = |point: usize| self.points[point].spec.changes();
        let idle = !changes(self.canary) && open.iter().all(|&point| changes(point));
        // Beside a load that is nothing without its course, it would be a break in that.
        let course = open.iter().all(|&point| self.to_the_end(point));
        let canary = may(self.canary) && in_turn && !stands_in && !idle && !course;
        let wanted = open.into_iter().map(Some).chain(canary.then_some(None));
        let mut slots: Vec<(Slot, u64)> = wanted
            .filter_map(|point| {
                let tries = visits.iter().filter(|visit| visit.round == round && visit.point == point);
                let (attempt, stands) = tries.fold((0, false), |(n, stands), v| (n + 1, stands || v.stands));
                let limit = if point.is_none_or(|p| state.hopeless(p)) { 1 } else { ATTEMPTS };
                let key = chance::draw(&[self.terms.seed, u64::from(round), place_of(point)]);
                (!stands && attempt < limit).then_some((Slot { round, point, attempt }, key))
            })
            .collect();
        let writes = |slot: &Slot| slot.point.is_some_and(changes);
        let late = |slot: &Slot| self.visiting.reads_first && writes(slot);
        // The canary takes what the writes of the round before left behind, so that no point of the study does.
        let first = |slot: &Slot| self.visiting.reads_first && slot.point.is_none();
        slots.sort_by_key(|(slot, key)| (slot.attempt, late(slot), !first(slot), *key));
        let mut slots: Vec<Slot> = slots.into_iter().map(|(slot, _)| slot).collect();
        self.in_order(&mut slots);
        slots
    }

    /// Points of an experiment whose history matters take the places that chance gave them, in their own order.
    fn in_order(&self, slots: &mut Vec<Slot>) {
        let ordered = |slot: &Slot| {
            let point = slot.point.filter(|_| self.visiting.manner(slot.point).in_order)?;
            Some(self.points[point].experiment.as_str())
        };
        let mut names: Vec<&str> = slots.iter().filter_map(ordered).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let places: Vec<usize> =
                (0..slots.len()).filter(|&place| ordered(&slots[place]) == Some(name)).collect();
            let mut members: Vec<Slot> = places.iter().map(|&place| slots[place]).collect();
            members.sort_by_key(|slot| slot.point);
            match places.last() {
                // What a pause let drain must not be filled by others: such points follow right upon each other.
                Some(&last) if self.visiting.manner(members[0].point).from_the_start => {
                    let later = slots.split_off(last + 1);
                    slots.retain(|slot| ordered(slot) != Some(name));
                    slots.extend(members.into_iter().chain(later));
                }
                _ => places.into_iter().zip(members).for_each(|(place, slot)| slots[place] = slot),
            }
        }
    }

    /// These points, and the others of those experiments whose points follow right upon each other: a long write is
    /// nothing without the pause before it, however well that is known.
    fn with_pauses<'s>(&'s self, open: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        let together = |point: usize| {
            let manner = self.visiting.manner(Some(point));
            manner.in_order && manner.from_the_start
        };
        let wanted = move |point: usize| {
            let name = self.points[point].experiment.as_str();
            open.iter().any(|&other| together(other) && self.points[other].experiment == name)
        };
        let all = 0..self.points.len();
        all.filter(move |&point| open.contains(&point) || (together(point) && wanted(point)))
    }

    /// Time from one trial's start to the next one's, in the mean over a round of all points.
    fn cycle_s(&self, visits: &[Visit], elapsed_s: f64) -> f64 {
        let slots = (0..self.points.len()).map(Some).chain([None]);
        let lengths_s: f64 = slots.map(|point| self.length_s(point)).sum();
        lengths_s / (self.points.len() + 1) as f64 + self.overhead_s(visits, elapsed_s)
    }

    /// Returns the time of a trial beyond its planned length, in seconds.
    fn overhead_s(&self, visits: &[Visit], elapsed_s: f64) -> f64 {
        // Five: the first trial of a run pays for what later ones find ready.
        if visits.len() < 5 {
            return self.terms.overhead_s;
        }
        let planned_s: f64 = visits.iter().map(|visit| self.length_s(visit.point)).sum();
        ((elapsed_s - planned_s) / visits.len() as f64).max(0.0)
    }
}

/// A number for each place of a round: 0 for the canary.
fn place_of(point: Option<usize>) -> u64 {
    point.map_or(0, |point| point as u64 + 1)
}

#[cfg(test)]
mod tests;
