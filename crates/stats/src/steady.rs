//! Whether a series of rates holds its level: the one rule of the check `not-steady` and of `--state steady`.
//!
//! Method: two one-sided tests, after D. J. Schuirmann (J. Pharmacokinet. Biopharm. 15, 1987). A window is steady
//! where its drift lies inside ±1 % per member with 98 % confidence (90 % from member 48 on). A test for drift
//! would accept any series that is noisy enough; this test requires evidence that drift is absent.
//!
//! A series that grows is judged after members 10, 12, 15, 19, 24, 30, 38, 48 and 60 ([`LOOKS`]), each about a quarter
//! later than the one before: a test after every member would give chance five times as many tries. Windows start at
//! 0, ¼ and ½ of the members so far and hold at least ten, so that an early step spoils only the first window. The
//! drift is the slope of the logarithms with AR(1) noise (see [`super::autoregression`]). A window with a step or a
//! cycle that a reader would notice is rejected even where its slope is small (see [`super::change_point`]).
//!
//! Error rates by drift and correlation: run `bench/steady-state`; its table is in docs/checks.md.

use super::{
    autoregression::Autoregressive,
    change_point::{Change, Cycle, Likeliest, Step},
};

/// Numbers of members after which a growing series is judged.
pub const LOOKS: [usize; 9] = [10, 12, 15, 19, 24, 30, 38, 48, 60];
/// Confidence of each test but the last two.
pub const CONFIDENCE: f64 = 0.98;
/// Confidence of the last two tests. They are for steady series with much scatter, of which 95 % are to be accepted by
/// member 60. At this confidence throughout, more series that lose 1 % per member would be accepted.
const LATE_CONFIDENCE: f64 = 0.9;
/// Number of members from which on [`LATE_CONFIDENCE`] applies.
const LATE: usize = LOOKS[7];
/// Score of a cycle (see [`super::change_point`]) that rejects a window before the last test. One series in twenty
/// reaches it by chance and is accepted later. The threshold itself, 23, would be too late: a cycle of ±10 % at a CV of
/// 5 % reaches it only after three or four periods, and a window before then would be accepted.
const SUSPECTED: f64 = 14.0;
/// Largest drift per member that counts as steady, as a share.
pub const BOUND: f64 = 0.01;
/// Smallest step that a reader notices, as a share.
const STEP_MIN: f64 = 0.05;
/// Smallest amplitude of a cycle that a reader notices.
const CYCLE_MIN: f64 = 0.03;
/// Error rate of a statement that a series drifts.
const DRIFT_ERROR: f64 = 0.003;

/// What a series is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Largest drift per member that counts as steady, as a share.
    pub bound: f64,
    /// Series that are judged together: the error rate of a change is divided among them.
    pub series: usize,
    /// Largest lag-1 correlation that noise can have.
    pub correlation_most: f64,
}

impl Terms {
    /// Terms of rounds, of which nothing is known about their noise.
    pub fn of_rounds(series: usize) -> Self {
        Self { bound: BOUND, series, correlation_most: 1.0 }
    }
}

/// Window in which a series holds its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Index of the first member; the last one is the last of the series.
    pub from: usize,
    /// Members of the window.
    pub members: usize,
    /// Slope of the logarithm per member, with its confidence interval.
    pub slope: Slope,
}

impl Held {
    /// Returns an upper bound of the change over the whole window, as a share: the interval end further from zero,
    /// times the number of members.
    pub fn cumulative_bound(&self) -> f64 {
        self.slope.furthest() * self.members as f64
    }
}

/// Slope of the logarithm per member.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Estimate.
    pub value: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
}

impl Slope {
    /// Returns the larger absolute value of the interval's ends.
    pub fn furthest(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// What a whole series does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Whole {
    /// It holds its level from the first member on.
    Level,
    /// One step that a reader notices.
    Step(Step),
    /// A cycle that a reader notices.
    Cycle(Cycle),
    /// A drift beyond the bound.
    Trend,
    /// Neither shown to hold its level nor to change.
    Unknown,
}

/// Judgement of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// What all of it does.
    pub whole: Whole,
    /// Slope of all of it.
    pub slope: Slope,
    /// It is a cycle, or may turn out to be one: no part of it is steady.
    swings: bool,
}

/// Judges the logarithms of a series of rates. `None` with fewer than ten members, or if they are no numbers.
pub fn course(logs: &[f64], terms: &Terms) -> Option<Course> {
    let found = Likeliest::within(logs, terms.correlation_most)?;
    let fit = line(logs)?;
    let confidence = confidence(logs.len());
    let slope = slope(&fit, confidence);
    let change = noticed(found.change_among(terms.series));
    let suspected = is_suspected(&found, logs.len());
    let tail = DRIFT_ERROR / (2.0 * terms.series.max(1) as f64);
    let drifts = fit.below(1, terms.bound) < tail || fit.below(1, -terms.bound) > 1.0 - tail;
    let whole = match change {
        Change::Step(step) => Whole::Step(step),
        Change::Cycle(cycle) => Whole::Cycle(cycle),
        _ if !suspected && is_inside(&fit, terms.bound, confidence) => Whole::Level,
        _ if drifts => Whole::Trend,
        _ => Whole::Unknown,
    };
    // Two periods in a window may not show what four in all of them do. A step looks like a cycle too, less than like
    // a step.
    let rather = found.scores.cycle > found.scores.step.max(found.scores.drift);
    Some(Course { whole, slope, swings: matches!(whole, Whole::Cycle(_)) || suspected && rather })
}

impl Course {
    /// Returns the longest of the three windows of the judged series that holds its level: all of it if it is
    /// [`Whole::Level`], its last three quarters or half otherwise. `None` while the series is not steady.
    pub fn held(&self, logs: &[f64], terms: &Terms) -> Option<Held> {
        if self.whole == Whole::Level {
            return Some(Held { from: 0, members: logs.len(), slope: self.slope });
        }
        let mut starts = [logs.len() / 4, logs.len() / 2].into_iter().filter(|_| !self.swings);
        starts.find_map(|from| held_from(logs, from, terms))
    }
}

/// The window of all members from index `from` on, if it holds its level.
fn held_from(logs: &[f64], from: usize, terms: &Terms) -> Option<Held> {
    let (members, confidence) = (&logs[from..], confidence(logs.len()));
    let found = Likeliest::within(members, terms.correlation_most)?;
    let fit = line(members)?;
    let is_level =
        noticed(found.change_among(terms.series)) == Change::None && !is_suspected(&found, logs.len());
    let holds = is_level && is_inside(&fit, terms.bound, confidence);
    holds.then(|| Held { from, members: members.len(), slope: slope(&fit, confidence) })
}

/// Returns the confidence of the interval of a slope in a series of so many members.
pub fn confidence(members: usize) -> f64 {
    if members >= LATE { LATE_CONFIDENCE } else { CONFIDENCE }
}

/// The change, if a reader would notice it. A drift is judged by its bound instead.
fn noticed(change: Change) -> Change {
    match change {
        Change::Step(step) if step.height.exp_m1().abs() >= STEP_MIN => change,
        Change::Cycle(cycle) if cycle.amplitude >= CYCLE_MIN => change,
        _ => Change::None,
    }
}

/// Whether a series of so many members so far may turn out to be a cycle that a reader notices.
fn is_suspected(found: &Likeliest, members: usize) -> bool {
    let early = members < LOOKS[LOOKS.len() - 1];
    early && found.scores.cycle > SUSPECTED && noticed(found.cycle) != Change::None
}

/// Fits a straight line with AR(1) noise over the centred indices.
fn line(logs: &[f64]) -> Option<Autoregressive> {
    let middle = (logs.len() as f64 - 1.0) / 2.0;
    let places = (0..logs.len()).map(|i| i as f64 - middle).collect();
    Autoregressive::fit(logs, &[vec![1.0; logs.len()], places])
}

fn slope(fit: &Autoregressive, confidence: f64) -> Slope {
    let (low, high) = fit.interval(1, confidence);
    Slope { value: fit.coefficient(1), low, high }
}

/// Whether the drift lies within ±`bound` per member.
fn is_inside(fit: &Autoregressive, bound: f64, confidence: f64) -> bool {
    let tail = (1.0 - confidence) / 2.0;
    fit.below(1, -bound) <= tail && 1.0 - fit.below(1, bound) <= tail
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn rounds(seed: u64, cv: f64, correlation: f64, change: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut state: f64 = random.sample(StandardNormal);
        let mut one = |round: usize| {
            let fresh: f64 = random.sample(StandardNormal);
            state = correlation * state + (1.0 - correlation * correlation).sqrt() * fresh;
            change(round) + (1.0 + cv * state).max(0.05).ln()
        };
        (0..60).map(&mut one).collect()
    }

    /// Judges a series as it grows; the first window that holds.
    fn first(logs: &[f64]) -> Option<Held> {
        let terms = Terms::of_rounds(1);
        LOOKS.into_iter().find_map(|look| course(&logs[..look], &terms)?.held(&logs[..look], &terms))
    }

    /// Number of accepted series of 60.
    fn accepted(cv: f64, correlation: f64, change: impl Fn(usize) -> f64 + Copy) -> usize {
        (0..60).filter(|&seed| first(&rounds(seed, cv, correlation, change)).is_some()).count()
    }

    /// The table of the program itself is printed by bench/steady-state; these are its corners, with room for 60 draws.
    #[test]
    fn what_loses_two_per_cent_a_round_is_refused_and_what_holds_is_accepted() {
        let losing = |round: usize| 0.98f64.ln() * round as f64;
        for correlation in [0.0, 0.3, 0.6] {
            assert!(accepted(0.05, correlation, losing) <= 2, "losing, correlation {correlation}");
            assert!(accepted(0.12, correlation, |_| 0.0) >= 54, "steady, correlation {correlation}");
        }
    }

    #[test]
    fn a_cycle_is_not_accepted_before_it_can_be_named() {
        for correlation in [0.0, 0.3, 0.6] {
            let cycle = |round: usize| 0.1 * (std::f64::consts::TAU * round as f64 / 12.0).sin();
            // Of 60; 9 to 15 of them before suspicion was enough.
            let count = accepted(0.05, correlation, cycle);
            assert!(count <= 8, "{count} at a correlation of {correlation}");
        }
    }

    #[test]
    fn after_a_step_the_later_part_is_accepted() {
        let logs = rounds(1, 0.03, 0.3, |round| if round < 8 { 0.0 } else { -0.4 });
        let window = first(&logs).expect("it holds its rate from round 8 on");
        assert!(window.from >= 8, "{window:?}");
        // At most ±1 % a round over the window's rounds.
        assert!(window.cumulative_bound() <= BOUND * window.members as f64);
        let all = course(&logs, &Terms::of_rounds(1)).unwrap();
        assert!(
            matches!(all.whole, Whole::Step(Step { at: 8, height }) if (height + 0.4).abs() < 0.05),
            "{all:?}"
        );
    }

    #[test]
    fn a_change_that_nobody_notices_is_a_level_and_a_loss_is_a_trend() {
        let judged = |change: &dyn Fn(usize) -> f64| {
            course(&rounds(3, 0.005, 0.0, change), &Terms::of_rounds(1)).unwrap().whole
        };
        assert_eq!(judged(&|round| if round < 30 { 0.0 } else { -0.02 }), Whole::Level);
        assert_eq!(judged(&|round| -0.02 * round as f64), Whole::Trend);
        assert_eq!(course(&[1.0; 9], &Terms::of_rounds(1)), None, "too short");
    }
}
