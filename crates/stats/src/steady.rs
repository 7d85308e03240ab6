//! Equivalence test for a steady state: the series holds its level within a stated bound.
//!
//! Method: two one-sided tests, after D. J. Schuirmann (J. Pharmacokinet. Biopharm. 15, 1987). A window is steady
//! where its drift lies inside ±1 % per member with 98 % confidence (90 % from member 48 on). A test for drift
//! would accept any series that is noisy enough; this test requires evidence that drift is absent.
//!
//! [`first`] tests after members 10, 12, 15, 19, 24, 30, 38, 48 and 60, each about a quarter later than the one
//! before: a test after every member would give chance five times as many tries. Windows start at 0, ¼ and ½ of
//! the members so far and hold at least ten, so that an early step spoils only the first window. The drift is the
//! slope of the logarithms with AR(1) noise (see [`super::autoregression`]). A window with a step or a cycle is
//! rejected even where its slope is small (see [`super::change_point`]).
//!
//! Error rates by drift and correlation: run `bench/steady-state`; its table is in docs/checks.md.

use super::{
    autoregression::Autoregressive,
    change_point::{Change, Likeliest, SHORTEST},
};

/// Numbers of members after which [`first`] tests.
pub const LOOKS: [usize; 9] = [10, 12, 15, 19, 24, 30, 38, 48, 60];
/// Confidence of each test but the last two.
pub const CONFIDENCE: f64 = 0.98;
/// Confidence of the last two tests. They are for steady series with much scatter, of which 95 % are to be accepted by
/// member 60. At this confidence throughout, more series that lose 1 % per member would be accepted.
pub const LATE_CONFIDENCE: f64 = 0.9;
/// Number of members from which on [`LATE_CONFIDENCE`] applies.
const LATE: usize = LOOKS[7];
/// Score of a cycle (see [`super::change_point`]) that rejects a window before the last test. One series in twenty
/// reaches it by chance and is accepted later. The threshold itself, 23, would be too late: a cycle of ±10 % at a CV of
/// 5 % reaches it only after three or four periods, and a window before then would be accepted.
const SUSPECTED: f64 = 14.0;
/// Largest drift per member that counts as steady, as a share.
pub const BOUND: f64 = 0.01;

/// Window in which a series holds its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Index of the first member.
    pub from: usize,
    /// Index after the last member.
    pub to: usize,
    /// Slope of the logarithm per member, with its confidence interval.
    pub slope: Slope,
}

impl Steady {
    /// Returns an upper bound of the change over the whole window, as a share: the interval end further from zero,
    /// times the number of members.
    pub fn cumulative_bound(&self) -> f64 {
        self.slope.furthest() * (self.to - self.from) as f64
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
    /// Fits a line with AR(1) noise to a series of logarithms. `None` with fewer than five members.
    pub fn of(logs: &[f64], confidence: f64) -> Option<Self> {
        let fit = line(logs)?;
        let (low, high) = fit.interval(1, confidence);
        Some(Self { value: fit.coefficient(1), low, high })
    }

    /// Returns the larger absolute value of the interval's ends.
    pub fn furthest(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// Fits a straight line over the centred indices.
fn line(logs: &[f64]) -> Option<Autoregressive> {
    let middle = (logs.len() as f64 - 1.0) / 2.0;
    let places = (0..logs.len()).map(|i| i as f64 - middle).collect();
    Autoregressive::fit(logs, &[vec![1.0; logs.len()], places])
}

/// Returns the first of the three windows (from 0, ¼ and ½ of the members) that holds its level within `bound` per
/// member, as a share.
pub fn window(logs: &[f64], bound: f64) -> Option<Steady> {
    [0, logs.len() / 4, logs.len() / 2].into_iter().find_map(|from| window_from(logs, from, bound))
}

/// Returns the window of all members from index `from` on, if it holds its level within `bound` per member.
pub fn window_from(logs: &[f64], from: usize, bound: f64) -> Option<Steady> {
    let confidence = if logs.len() >= LATE { LATE_CONFIDENCE } else { CONFIDENCE };
    let members = &logs[from..];
    let fit = line(members).filter(|_| members.len() >= SHORTEST)?;
    let tail = (1.0 - confidence) / 2.0;
    let inside = fit.below(1, -bound) <= tail && 1.0 - fit.below(1, bound) <= tail;
    // Two periods in a window may not show what four in all of them do.
    let early = logs.len() < LOOKS[LOOKS.len() - 1];
    let suspected = |found: &Likeliest| early && found.scores.cycle > SUSPECTED;
    // A step looks like a cycle too, less than like a step.
    let rather = |found: &Likeliest| found.scores.cycle > found.scores.step.max(found.scores.drift);
    let swings = Likeliest::of(logs).is_some_and(|found| {
        matches!(found.change(), Change::Cycle { .. }) || suspected(&found) && rather(&found)
    });
    let level = |found: Likeliest| found.change() == Change::None && !suspected(&found);
    let whole = inside && !swings && Likeliest::of(members).is_some_and(level);
    let (low, high) = fit.interval(1, confidence);
    whole.then(|| Steady { from, to: logs.len(), slope: Slope { value: fit.coefficient(1), low, high } })
}

/// Returns true where the drift exceeds `bound` per member: the interval of this confidence lies outside ±`bound`.
pub fn surely_drifts(logs: &[f64], bound: f64, confidence: f64) -> bool {
    let tail = (1.0 - confidence) / 2.0;
    line(logs).is_some_and(|fit| fit.below(1, bound) < tail || fit.below(1, -bound) > 1.0 - tail)
}

/// Returns true where the drift of all members lies within ±`bound` per member; steps and cycles are not tested.
pub fn holds(logs: &[f64], bound: f64) -> bool {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    line(logs).is_some_and(|fit| fit.below(1, -bound) <= tail && 1.0 - fit.below(1, bound) <= tail)
}

/// Returns the first window accepted when members arrive one by one and [`LOOKS`] says when to test.
pub fn first(logs: &[f64], bound: f64) -> Option<Steady> {
    LOOKS.into_iter().take_while(|&look| look <= logs.len()).find_map(|look| window(&logs[..look], bound))
}

/// Returns the number of rounds after which SNIA's *Performance Test Specification* calls a series steady, for
/// comparison. Its rule: the range of five rounds is at most 20 % of their mean, and a fitted line changes by at
/// most 10 % of the mean from the first to the fifth. `None` where no five rounds comply.
pub fn snia(rates: &[f64]) -> Option<usize> {
    let content = |five: &[f64]| {
        let mean = five.iter().sum::<f64>() / 5.0;
        let (low, high) = five.iter().fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
        let slope: f64 = five.iter().zip(-2i32..).map(|(r, x)| r * f64::from(x)).sum::<f64>() / 10.0;
        high - low <= 0.2 * mean && (4.0 * slope).abs() <= 0.1 * mean
    };
    rates.windows(5).position(content).map(|from| from + 5)
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

    /// Number of accepted series of 60.
    fn accepted(cv: f64, correlation: f64, change: impl Fn(usize) -> f64 + Copy) -> usize {
        (0..60).filter(|&seed| first(&rounds(seed, cv, correlation, change), BOUND).is_some()).count()
    }

    /// The full table is printed by bench/steady-state; these are its corners, with room for 60 draws.
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
        let window = first(&logs, BOUND).expect("it holds its rate from round 8 on");
        assert!(window.from >= 8, "{window:?}");
        // ±1 % a round over the window's rounds at the most.
        assert!(window.cumulative_bound() <= BOUND * (window.to - window.from) as f64);
    }

    #[test]
    fn the_industrys_rule_is_content_with_a_steady_loss() {
        let losing: Vec<f64> = (0..10).map(|i| 1000.0 * 0.98f64.powi(i)).collect();
        // Five rounds of -2 % span 7.8 % of their mean, and so does their line.
        assert_eq!(snia(&losing), Some(5));
        let halving: Vec<f64> = (0..10).map(|i| 1000.0 * 0.5f64.powi(i)).collect();
        assert_eq!(snia(&halving), None);
    }
}
