//! Whether a storage has come to a steady state: shown to hold its rate, not merely not shown to lose it.
//!
//! An equivalence test, after D. J. Schuirmann's two one-sided tests (J. Pharmacokinet. Biopharm. 15, 1987):
//! steady is a window whose drift lies inside ±1 % a round with 98 % confidence (90 % from round 48 on). A test
//! that asks for evidence of drift calls steady whatever is noisy enough; this one asks for evidence of its
//! absence.
//!
//! Looked at after rounds 10, 12, 15, 19, 24, 30, 38, 48 and 60, each about a quarter later than the one before:
//! a look after every round would give chance five times as many tries. Windows start at 0, ¼ and ½ of the
//! rounds so far and hold at least ten: a step early on (a write buffer that filled, a throttle that set in)
//! spoils the first window for ever and the later ones not. The drift is the slope of the logarithm of the rate
//! over rounds, with noise that resembles its neighbours allowed for (see [`super::autoregression`]). A window
//! in which a step or a cycle shows is not accepted, though its slope be small (see [`super::change`]).
//!
//! How often this accepts what it should not is printed by `bench/steady-state` and stands in docs/checks.md.

use super::{
    autoregression::Autoregressive,
    change::{Change, Likeliest, SHORTEST},
};

/// Rounds after which it is looked.
pub const LOOKS: [usize; 9] = [10, 12, 15, 19, 24, 30, 38, 48, 60];
/// Of each look but the last two.
pub const CONFIDENCE: f64 = 0.98;
/// Of the last two: what looks that late are for is storage that holds its rate and scatters much, and 95 % of it are
/// to be accepted by round 60. With so little throughout, more of what loses 1 % a round would be.
pub const LATE_CONFIDENCE: f64 = 0.9;
/// The first look of the last two.
const LATE: usize = LOOKS[7];
/// Score of a cycle (see [`super::change`]) that forbids a window before the last look. By chance one series in
/// twenty scores as much, and is accepted later; 23, from which on a cycle is named, is scored by one of ±10 % at a CV
/// of 5 % only once three or four of its periods have been seen, and a window before then would be accepted.
const SUSPECTED: f64 = 14.0;
/// Drift a round that still counts as steady, as a share.
pub const BOUND: f64 = 0.01;

/// A window that holds its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// The place of its first member.
    pub from: usize,
    /// The place after its last.
    pub to: usize,
    /// ln of the change from one member to the next, with its interval.
    pub slope: Slope,
}

impl Steady {
    /// What the window as a whole can have changed by at most, as a share: the further end of the interval, over
    /// all its rounds.
    pub fn cumulative_bound(&self) -> f64 {
        self.slope.furthest() * (self.to - self.from) as f64
    }
}

/// A change from one member to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The likeliest.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Slope {
    /// Of a series of logarithms. `None` with fewer than five.
    pub fn of(logs: &[f64], confidence: f64) -> Option<Self> {
        let fit = line(logs)?;
        let (low, high) = fit.interval(1, confidence);
        Some(Self { value: fit.coefficient(1), low, high })
    }

    /// The larger distance of the interval's ends from zero.
    pub fn furthest(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// A straight line over the members' places, centred.
fn line(logs: &[f64]) -> Option<Autoregressive> {
    let middle = (logs.len() as f64 - 1.0) / 2.0;
    let places = (0..logs.len()).map(|i| i as f64 - middle).collect();
    Autoregressive::fit(logs, &[vec![1.0; logs.len()], places])
}

/// The first of the three windows of the members so far that holds its rate within `bound` a member.
pub fn window(logs: &[f64], bound: f64) -> Option<Steady> {
    [0, logs.len() / 4, logs.len() / 2].into_iter().find_map(|from| window_from(logs, from, bound))
}

/// The window of all members from one on, if it holds its rate within `bound` a member.
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

/// Whether the rate surely changes by more than `bound` a member: the interval of this confidence lies beyond it.
pub fn surely_drifts(logs: &[f64], bound: f64, confidence: f64) -> bool {
    let tail = (1.0 - confidence) / 2.0;
    line(logs).is_some_and(|fit| fit.below(1, bound) < tail || fit.below(1, -bound) > 1.0 - tail)
}

/// Whether all members hold the rate within `bound` a member, whatever else they do.
pub fn holds(logs: &[f64], bound: f64) -> bool {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    line(logs).is_some_and(|fit| fit.below(1, -bound) <= tail && 1.0 - fit.below(1, bound) <= tail)
}

/// The window that is accepted first when rounds come one after the other.
pub fn first(logs: &[f64], bound: f64) -> Option<Steady> {
    LOOKS.into_iter().take_while(|&look| look <= logs.len()).find_map(|look| window(&logs[..look], bound))
}

/// The industry's rule, for comparison: the rounds after which it is content. Five rounds of which none lies
/// more than 10 % off their mean (a range of 20 %), and a fitted line that changes by no more than 10 % of the
/// mean from the first to the fifth. (SNIA, *Solid State Storage Performance Test Specification*, definition of
/// steady state.)
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

    /// How many of 60 are accepted.
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
