//! The fit of closed-loop curves against curves whose knee is known, of the family and not of it.

use iosonde_model::{Detail, Finding, Status};
use proptest::prelude::*;

use super::*;
use crate::{
    finding::{DepthFor95Percent, MaxIops, QueueDepthKnee},
    testing::{Conclusions, Pretend, coverage},
};

const DEPTHS: &str =
    "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"\ndepth = \"1..128*2\"";

/// Why a finding is inconclusive.
fn problem(finding: &Finding) -> &QueueDepthProblem {
    match &finding.detail {
        Detail::Inconclusive(Inconclusive::QueueDepth(problem)) => problem,
        _ => panic!("{finding:?}"),
    }
}

/// A curve without noise whose points claim this error.
fn exact(rates: impl Iterator<Item = (f64, f64)>, standard_error: f64) -> Vec<Depth> {
    rates.map(|(in_flight, rate)| Depth { in_flight, log_rate: rate.ln(), standard_error }).collect()
}

fn powers() -> impl Iterator<Item = f64> {
    (0..8).map(|power| f64::from(1 << power))
}

#[test]
fn ends_and_knee_of_the_curve_are_its_parameters() {
    for k in [1.0, 2.0, 64.0] {
        // X(1) = 1/R₀ whatever the knee; X(∞) = N*/R₀.
        assert!((log_rate(0.0, 8f64.ln(), k, 1.0)).abs() < 1e-12);
        assert!((log_rate(0.0, 8f64.ln(), k, 1e12).exp() - 8.0).abs() < 1e-6);
    }
    // k = 1 is the balanced exponential network of M stations: X(N) = N / (N + M − 1) · M / R₀. N = M = 8:
    // 64/15.
    assert!((log_rate(0.0, 8f64.ln(), 1.0, 8.0).exp() - 64.0 / 15.0).abs() < 1e-12);
    // A knee at 1: one request keeps it busy, and the rate never rises.
    assert!((log_rate(0.0, 0.0, 3.0, 128.0)).abs() < 1e-12);
}

#[test]
fn a_curve_of_the_family_is_found_without_bias() {
    for (k, knee) in [(1.0, 8.0), (2.0, 16.0), (3.0, 5.0), (1000.0, 30.0)] {
        let curve = powers().map(|n| (n, log_rate(80e-6f64.ln(), f64::ln(knee), k, n).exp()));
        let fit = fit(&exact(curve, 0.01), 0.95).unwrap();
        let found = fit.knee();
        assert!((found.value / knee - 1.0).abs() < 0.005, "k {k}: {found:?}");
        let truth = reaches(0.95, 128.0, k, f64::ln(knee)).ceil();
        let depth = fit.depth_for(0.95);
        assert!(depth.low <= Some(truth) && Some(truth) <= depth.high, "k {k}: {truth} {depth:?}");
    }
}

#[test]
fn units_that_random_addresses_choose_blindly_are_not_of_the_family_and_are_covered() {
    // Closed network of 8 queues with fixed service and random routing, simulated for a million requests;
    // its knee is 8, it gives 62 % there, and 46 is the first queue depth with 95 % of X(128).
    let rates = [1.0, 1.8762, 3.2659, 4.9496, 6.3167, 7.1349, 7.5531, 7.7651];
    let fit = fit(&exact(powers().zip(rates), 0.015), 0.95).unwrap();
    let (knee, depth) = (fit.knee(), fit.depth_for(0.95));
    assert!(knee.low.unwrap() <= 8.0 && 8.0 <= knee.high.unwrap(), "{knee:?}");
    assert!(depth.low.unwrap() <= 46.0 && 46.0 <= depth.high.unwrap(), "{depth:?}");
}

#[test]
fn intervals_cover_the_knee_and_stay_narrow() {
    // 80,000 a second × 104.096 µs.
    let (covered, width) = coverage(&Pretend::usual().conclusions(&QueueDepthKnee, DEPTHS, 200), 8.327_68);
    assert!(covered >= 0.93 && width < 0.10, "{covered} {width}");
    // QD 8 gives 96 % of the highest throughput, QD 7 84 %.
    let (covered, width) = coverage(&Pretend::usual().conclusions(&DepthFor95Percent, DEPTHS, 200), 8.0);
    assert!(covered >= 0.93 && width < 0.30, "{covered} {width}");
    let noisy = Pretend { cv: 0.08, ..Pretend::usual() };
    let (covered, width) = coverage(&noisy.conclusions(&QueueDepthKnee, DEPTHS, 200), 8.327_68);
    assert!(covered >= 0.93 && width < 0.20, "{covered} {width}");
}

#[test]
fn intervals_cover_the_highest_rate_though_it_was_chosen() {
    for cv in [0.03, 0.08] {
        let pretend = Pretend { cv, ..Pretend::usual() };
        let (covered, width) = coverage(&pretend.conclusions(&MaxIops, DEPTHS, 400), 80_000.0);
        assert!(covered >= 0.93 && width < 3.0 * cv, "{cv}: {covered} {width}");
    }
}

#[test]
fn a_plateau_that_was_not_seen_is_no_knee() {
    // 500,000 × 100 µs = 50, four times that is 200.
    let far = Pretend { iops_max: 500_000.0, bytes_per_s: 1e12, ..Pretend::usual() };
    let finding = &far.conclusions(&QueueDepthKnee, DEPTHS, 1)[0][0];
    assert!(
        matches!(problem(finding), QueueDepthProblem::PlateauUnseen { times_needed: 4.0, deepest: 128, .. }),
        "{finding:?}"
    );
    let most = &far.conclusions(&MaxIops, DEPTHS, 1)[0][0];
    assert_eq!(most.status, Status::Found);
    let further = Pretend { iops_max: 5e6, ..far };
    let most = &further.conclusions(&MaxIops, DEPTHS, 1)[0][0];
    assert!(most.at_least, "{most:?}");
}

#[test]
fn a_curve_that_falls_again_is_refused_or_its_interval_stretched() {
    // Half the throughput from QD 64 on: no closed loop does that by itself.
    let curve = powers().map(|n| (n, n.min(8.0) * if n >= 64.0 { 0.5 } else { 1.0 }));
    let refusal = fit(&exact(curve, 0.01), 0.95).err().unwrap();
    assert!(matches!(refusal, QueueDepthProblem::NoCurve(miss) if miss.queue_depth >= 32), "{refusal:?}");
    // 5 % less at the deepest: stretched, and said.
    let curve = powers().map(|n| (n, n.min(8.0) * if n >= 128.0 { 0.93 } else { 1.0 }));
    let bent = fit(&exact(curve, 0.005), 0.95).unwrap();
    assert_eq!(bent.widened_for.map(|miss| miss.queue_depth), Some(128), "{:?}", bent.widened_for);
    assert!(bent.knee().relative_half_width().unwrap() > 0.03);
}

#[test]
fn a_large_deviation_within_its_error_is_no_misfit() {
    // 25 % off at a queue depth that is known to 30 %: chi-squared rejects nothing.
    let mut depths = exact(powers().map(|n| (n, n.min(8.0))), 0.01);
    (depths[5].standard_error, depths[5].log_rate) = (0.3, depths[5].log_rate - 0.25);
    let curve = fit(&depths, 0.95).unwrap();
    assert_eq!(curve.widened_for, None);
}

#[test]
fn one_in_flight_is_needed_and_four_numbers() {
    let refusal = fit(&exact(powers().skip(1).map(|n| (n, n.min(8.0))), 0.01), 0.95).err().unwrap();
    assert_eq!(refusal, QueueDepthProblem::TooFewDepths { depths: 7, needed: 4, smallest: 2 });
    assert!(fit(&exact(powers().take(3).map(|n| (n, n.min(8.0))), 0.01), 0.95).is_err());
}

#[test]
fn one_in_flight_that_is_enough_lies_in_its_interval() {
    // One server without a link: nothing is gained beyond 1, where the curve has no left side.
    let curve = [(1.0, 1.0), (4.0, 1.02), (16.0, 0.99), (128.0, 1.0)];
    let found = fit(&exact(curve.into_iter(), 0.02), 0.95).unwrap().depth_for(0.95);
    assert_eq!((found.value, found.low), (1.0, Some(1.0)), "{found:?}");
    assert!(found.high <= Some(4.0), "{found:?}");
}

#[test]
fn a_point_that_is_hardly_known_makes_no_other_wider() {
    let curve = || powers().map(|n| (n, n.min(8.0)));
    let known = fit(&exact(curve(), 0.01), 0.95).unwrap().knee();
    let mut wide = exact(curve(), 0.01);
    wide[5].standard_error = 0.6;
    let found = fit(&wide, 0.95).unwrap().knee();
    assert!(
        found.relative_half_width() < Some(1.1 * known.relative_half_width().unwrap()),
        "{found:?} {known:?}"
    );
}

#[test]
fn a_knee_that_may_lie_beyond_what_was_seen_is_refused() {
    // A knee at 8 by its likeliest curve; what the deeper ones give is hardly known.
    let mut wide = exact(powers().map(|n| (n, n.min(8.0))), 0.01);
    wide[4..].iter_mut().for_each(|depth| depth.standard_error = 1.5);
    let refusal = fit(&wide, 0.95).err().unwrap();
    // The likeliest knee was seen well beyond; the upper end of its interval was not.
    let QueueDepthProblem::PlateauUnseen { knee, times_needed, deepest: 128 } = refusal else {
        panic!("{refusal:?}")
    };
    assert!(times_needed * knee.value <= 128.0 && times_needed * knee.high.unwrap() > 128.0, "{knee:?}");
}

#[test]
fn a_highest_below_95_percent_of_what_deeper_queues_give_is_a_least() {
    // 4 units met at random: N / (N + 3) of the highest, which is 91 % at 32 and 98 % at 128.
    let of_units = |deepest: f64| {
        let depths = powers().filter(move |n| *n <= deepest);
        fit(&exact(depths.map(|n| (n, n / (n + 3.0))), 0.001), 0.95).ok().unwrap()
    };
    assert!(of_units(32.0).still_rises());
    assert!(!of_units(128.0).still_rises());
    // A coarse grid whose last step is large, and whose corner is sharp.
    let coarse = exact([1.0, 4.0, 16.0, 128.0].into_iter().map(|n: f64| (n, n.min(18.0))), 0.001);
    assert!(!fit(&coarse, 0.95).ok().unwrap().still_rises());
}

proptest! {
    #[test]
    fn every_value_lies_in_its_interval(
        k in 1.0f64..30.0,
        log_knee in 0.0f64..3.4,
        noise in prop::collection::vec(-2.5f64..2.5, 8),
        error in 0.001f64..0.15,
        coarse in any::<bool>(),
    ) {
        let curve = powers().map(|n| (n, log_rate(0.0, log_knee, k, n).exp()));
        let mut depths = exact(curve, error);
        depths.iter_mut().zip(noise).for_each(|(depth, noise)| depth.log_rate += error * noise);
        if coarse {
            // 1, 4, 16, 128: what `quick` has of writes.
            depths = [0, 2, 4, 7].map(|i| depths[i]).into();
        }
        if let Ok(curve) = fit(&depths, 0.95) {
            for found in [curve.knee(), curve.depth_for(0.95), curve.depth_for(0.5)] {
                prop_assert!(found.low <= Some(found.value) && Some(found.value) <= found.high, "{:?}", found);
                prop_assert!(found.low >= Some(1.0), "{:?}", found);
            }
        }
    }
}
