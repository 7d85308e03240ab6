//! In what way a series changed, if it did: a drift, a step, a cycle, or nothing that shows.
//!
//! Four models of the logarithms of a series, all with AR(1) noise: a level; a level with a straight slope; with
//! one step; with one sine wave. The likeliest is named where its likelihood beats the level's by more than
//! noise alone would give, and the runner-up's too. A step is looked for at every place that leaves three
//! members on either side, a cycle at every period from four members to two thirds of the series, so that chance
//! has many tries: the thresholds were found by simulation (`cargo run -p iosonde-infer --example steady --
//! --thresholds`), for a chance of 3 in 1,000 under the worst of ρ = 0, 0.3, 0.6.
//!
//! Assumed: one kind of change. A step with a cycle on top is named by whichever weighs more.

use std::f64::consts::TAU;

use super::autoregression::Autoregressive;

/// Members at the least on either side of a step.
const SIDE: usize = 3;
/// Shortest series that is looked at.
pub const SHORTEST: usize = 10;
/// Of cycles: four members a period are the fewest that show its shape.
const SHORTEST_PERIOD: f64 = 4.0;

/// How a series changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Nothing that shows.
    None,
    /// By the same share at every step.
    Drift {
        /// ln of the ratio of one member to the one before.
        per_step: f64,
    },
    /// From one level to another.
    Step {
        /// The place of the first member of the later level.
        at: usize,
        /// ln(later / earlier).
        height: f64,
    },
    /// Up and down.
    Cycle {
        /// Members a period.
        period: f64,
        /// ln of the highest over the middle.
        amplitude: f64,
    },
}

/// How much likelier than a level each kind of change is at its best: twice the logarithm, corrected for short
/// series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// A straight slope.
    pub drift: f64,
    /// A step at its likeliest place.
    pub step: f64,
    /// A cycle of its likeliest period.
    pub cycle: f64,
}

/// What noise alone exceeds in 3 of 1,000 series; see the manual above.
pub const THRESHOLDS: Scores = Scores { drift: 15.0, step: 20.0, cycle: 23.0 };

/// Every kind of change at its likeliest.
#[derive(Debug, Clone, Copy)]
pub struct Likeliest {
    /// How likely each is.
    pub scores: Scores,
    drift: Change,
    step: Change,
    cycle: Change,
}

impl Likeliest {
    /// Of the logarithms of a series. `None` with fewer than [`SHORTEST`] members.
    pub fn of(logs: &[f64]) -> Option<Self> {
        Self::within(logs, 1.0)
    }

    /// The same where noise is known to resemble the member before by `correlation_most` at the most. Without such a
    /// bound, noise that wanders explains a step nearly as well as a step does: one of 20 % in a trial of 15 s was
    /// found in 62 % of trials, against 9x % with it (see docs/checks.md).
    pub fn within(logs: &[f64], correlation_most: f64) -> Option<Self> {
        let length = logs.len();
        if length < SHORTEST {
            return None;
        }
        let fitted = |design: &[Vec<f64>]| Autoregressive::fit_within(logs, design, 0, correlation_most);
        let level = fitted(&[vec![1.0; length]])?.likelihood();
        // Bartlett's correction to first order: each parameter takes half a member's worth of likelihood.
        let score = |fit: &Autoregressive, parameters: f64| {
            (fit.likelihood() - level) * (1.0 - (2.0 + parameters) / length as f64).max(0.0)
        };
        let fit = |more: Vec<Vec<f64>>| {
            let design: Vec<_> = std::iter::once(vec![1.0; length]).chain(more).collect();
            fitted(&design)
        };
        let slope = fit(vec![(0..length).map(|i| i as f64).collect()])?;
        let drift = (score(&slope, 1.0), Change::Drift { per_step: slope.coefficient(1) });
        let steps = (SIDE..=length - SIDE).filter_map(|at| {
            let step = fit(vec![(0..length).map(|i| f64::from(u8::from(i >= at))).collect()])?;
            Some((score(&step, 1.0), Change::Step { at, height: step.coefficient(1) }))
        });
        let cycles = periods(length).filter_map(|period| {
            let wave = |phase: f64| (0..length).map(|i| (TAU * i as f64 / period + phase).sin()).collect();
            let cycle = fit(vec![wave(0.0), wave(TAU / 4.0)])?;
            let amplitude = cycle.coefficient(1).hypot(cycle.coefficient(2));
            Some((score(&cycle, 2.0), Change::Cycle { period, amplitude }))
        });
        let best = |all: &mut dyn Iterator<Item = (f64, Change)>| {
            all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NEG_INFINITY, Change::None))
        };
        let (step, cycle) = (best(&mut { steps }), best(&mut { cycles }));
        let scores = Scores { drift: drift.0, step: step.0, cycle: cycle.0 };
        Some(Self { scores, drift: drift.1, step: step.1, cycle: cycle.1 })
    }

    /// The kind of change that the series shows, if any: the likeliest of those beyond their thresholds, where each
    /// is first charged what chance gives it.
    pub fn change(&self) -> Change {
        self.change_among(1)
    }

    /// The same for one of `series` series of which none shall be called changed by chance: a score exceeds x
    /// with a probability that falls like exp(−x/2), so that each must score 2 ln(series) more.
    pub fn change_among(&self, series: usize) -> Change {
        let more = 2.0 * (series.max(1) as f64).ln();
        let over = [
            (self.scores.drift - THRESHOLDS.drift, self.drift),
            (self.scores.step - THRESHOLDS.step, self.step),
            (self.scores.cycle - THRESHOLDS.cycle, self.cycle),
        ];
        let best = over.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are three");
        if best.0 > more { best.1 } else { Change::None }
    }
}

/// Periods in equal steps of frequency, a third of a cycle over the series apart: nothing falls between.
fn periods(length: usize) -> impl Iterator<Item = f64> {
    let length = length as f64;
    (0..)
        .map(move |i| 1.5 + f64::from(i) / 3.0)
        .map(move |cycles| length / cycles)
        .take_while(|p| *p >= SHORTEST_PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small noise by a rule: no two neighbours alike, no slope.
    fn with(length: usize, change: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..length).map(|i| 9.0 + change(i) + 0.01 * ((i * i * 7 + i) % 13) as f64 / 13.0).collect()
    }

    fn of(logs: &[f64]) -> Change {
        Likeliest::of(logs).expect("long enough").change()
    }

    #[test]
    fn each_kind_of_change_is_named_with_its_size() {
        assert_eq!(of(&with(24, |_| 0.0)), Change::None);
        let Change::Drift { per_step } = of(&with(24, |i| -0.02 * i as f64)) else { panic!("a drift") };
        assert!((per_step + 0.02).abs() < 0.001, "{per_step}");
        let Change::Step { at, height } = of(&with(24, |i| if i < 9 { 0.0 } else { -0.3 })) else {
            panic!("a step")
        };
        assert_eq!(at, 9);
        assert!((height + 0.3).abs() < 0.01, "{height}");
        let wave = with(36, |i| 0.1 * (TAU * i as f64 / 12.0).sin());
        let Change::Cycle { period, amplitude } = of(&wave) else { panic!("a cycle") };
        assert!((period - 12.0).abs() < 1.0 && (amplitude - 0.1).abs() < 0.02, "{period} {amplitude}");
    }

    #[test]
    fn a_short_series_is_not_looked_at_and_many_series_need_more() {
        assert!(Likeliest::of(&[1.0; 9]).is_none());
        let mut found = Likeliest::of(&with(24, |_| 0.0)).unwrap();
        found.scores.step = THRESHOLDS.step + 1.0;
        assert_ne!(found.change(), Change::None);
        assert_eq!(found.change_among(27), Change::None, "2 ln 27 = 6.6");
    }
}
