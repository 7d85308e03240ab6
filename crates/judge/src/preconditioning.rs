//! Rounds of random writes that bring storage to its steady state: when they have done so, and what was reached.

use iosonde_model::{Preconditioning, Trial};
use iosonde_stats::steady::{self, LOOKS, Terms};

use crate::check::course;

/// Rounds in which the whole prepared area is written once on average. The earliest judgement then comes after one
/// pass.
pub const ROUNDS_PER_PASS: u64 = LOOKS[0] as u64;
/// Rounds after which storage that still changes is given up.
pub const ROUNDS_MAX: usize = LOOKS[LOOKS.len() - 1];

/// Rounds that were judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// True if the rate holds, by the rule of the check `not-steady`.
    pub is_steady: bool,
    /// What was reached.
    pub reached: Preconditioning,
}

/// Judges the rounds so far, after as many of them as the rule's error rates are known for. `None` in between.
pub fn judged(rounds: &[Trial], span_bytes: u64) -> Option<Judged> {
    LOOKS.contains(&rounds.len()).then(|| so_far(rounds, span_bytes))?
}

/// Judges rounds of whatever number; `None` if they are too few.
pub fn so_far(rounds: &[Trial], span_bytes: u64) -> Option<Judged> {
    let logs: Vec<f64> = rounds.iter().map(|round| course::log(round.iops())).collect();
    let terms = Terms::of_rounds(1);
    let course = steady::course(&logs, &terms)?;
    let held = course.held(&logs, &terms);
    let (from, slope) = held.map_or((0, course.slope), |held| (held.from, held.slope));
    let (own, written) = (&rounds[from..], |round: &Trial| round.witnesses.issued_write_bytes);
    // A round without a figure is no round with 0.
    let mean = |value: fn(&Trial) -> Option<f64>| {
        let values: Vec<f64> = own.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let reached = Preconditioning {
        rounds: rounds.len() as u32,
        from_round: from as u32 + 1,
        slope_per_round: slope.value.exp_m1(),
        low: slope.low.exp_m1(),
        high: slope.high.exp_m1(),
        confidence: steady::confidence(logs.len()),
        bound_share: steady::BOUND,
        passes: rounds.iter().map(written).sum::<u64>() as f64 / span_bytes.max(1) as f64,
        elapsed_s: rounds.iter().map(|round| round.elapsed_s).sum(),
        iops: mean(|round| Some(round.iops())).unwrap_or(0.0),
        latency_ns: mean(|round| round.write.as_ref()?.latency_ns.mean),
    };
    Some(Judged { is_steady: held.is_some(), reached })
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;
    use iosonde_testkit::specimen;

    use super::*;

    /// Rounds of 102 blocks, ten of which write 1020 blocks.
    fn rounds(count: usize, iops: impl Fn(usize) -> f64) -> Vec<Trial> {
        let round = |i: usize| {
            let mut trial = specimen::healthy(Rw::RandWrite, 4096, 32, iops(i) as u64);
            trial.witnesses.issued_write_bytes = 102 * 4096;
            trial
        };
        (0..count).map(round).collect()
    }

    /// Five rounds within 10 % of their mean were called steady, and so was a loss of 4 % a round.
    #[test]
    fn a_loss_of_four_per_cent_a_round_is_not_steady() {
        let noise = |i: usize| 1.0 + 0.01 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let losing = rounds(10, |i| 1e5 * 0.96f64.powi(i as i32) * noise(i));
        let judged_losing = judged(&losing, 1020 * 4096).unwrap();
        assert!(!judged_losing.is_steady, "{judged_losing:?}");
        assert!(judged_losing.reached.high < -0.03, "{judged_losing:?}");
        let level = judged(&rounds(10, |i| 1e5 * noise(i)), 1020 * 4096).unwrap();
        assert!(level.is_steady && level.reached.rounds == 10 && level.reached.from_round == 1, "{level:?}");
        assert!((level.reached.passes - 1.0).abs() < 1e-9 && (level.reached.iops / 1e5 - 1.0).abs() < 0.01);
        assert!(level.reached.low < 0.0 && level.reached.high > 0.0 && level.reached.latency_ns > Some(0.0));
        assert!(level.reached.elapsed_s > 0.0);
    }

    /// Absent latencies were averaged as 0.
    #[test]
    fn a_round_without_a_latency_does_not_lower_the_mean() {
        let mut some = rounds(10, |_| 1e5);
        let whole = judged(&some, 1 << 20).unwrap().reached.latency_ns;
        for round in &mut some[..5] {
            round.write.as_mut().unwrap().latency_ns.mean = None;
        }
        let of_half = judged(&some, 1 << 20).unwrap().reached.latency_ns;
        assert!((of_half.unwrap() / whole.unwrap() - 1.0).abs() < 1e-9, "{of_half:?} {whole:?}");
        some.iter_mut().for_each(|round| round.write.as_mut().unwrap().latency_ns.mean = None);
        assert_eq!(judged(&some, 1 << 20).unwrap().reached.latency_ns, None);
    }

    #[test]
    fn rounds_are_judged_at_the_numbers_whose_error_rates_are_known() {
        let of = |count| judged(&rounds(count, |_| 1e5), 1 << 20);
        assert!(of(9).is_none() && of(11).is_none() && of(12).is_some());
        assert!(
            so_far(&rounds(11, |_| 1e5), 1 << 20).is_some() && so_far(&rounds(9, |_| 1e5), 1 << 20).is_none()
        );
    }

    #[test]
    fn the_window_after_an_early_fall_is_what_was_reached() {
        let falls = rounds(24, |i| if i < 5 { 4e5 } else { 1e5 + (i * 7 % 5) as f64 * 200.0 });
        let judged = judged(&falls, 1020 * 4096).unwrap();
        assert!(judged.is_steady && judged.reached.from_round == 7, "{judged:?}");
        assert!((judged.reached.iops / 1e5 - 1.0).abs() < 0.01 && judged.reached.passes > 2.3);
    }
}
