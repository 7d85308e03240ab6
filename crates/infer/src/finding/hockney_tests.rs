//! The law t(b) = t₀ + b/B against curves that follow it, bend away from it, and do not rise.

use iosonde_model::{Detail, Finding};

use super::*;
use crate::{
    finding::{DeviceBandwidth, FindingKind, HalfSize, PerRequestCost, PlateauBlockSize},
    testing::{Conclusions, Pretend, coverage},
};

const SIZES: &str =
    "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"block-size\"\nrw = \"randread\"";
const LARGE: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"random-vs-sequential\"";

/// Why a finding is inconclusive.
fn problem(finding: &Finding) -> SizeLawProblem {
    match finding.detail {
        Detail::Inconclusive(Inconclusive::SizeLaw(problem)) => problem,
        _ => panic!("{finding:?}"),
    }
}

fn exact(time_ns: impl Fn(f64) -> f64, standard_error: f64) -> Vec<Size> {
    let size = |power: u32| {
        let bytes = 4096 << (2 * power);
        Size { bytes, log_time: time_ns(bytes as f64).ln(), standard_error, shared_error: 0.0 }
    };
    (0..6).map(size).collect()
}

#[test]
fn an_exact_law_gives_its_two_numbers() {
    // 100 µs + b / 1 GB/s: n½ = 100 µs × 1 GB/s = 100,000 B.
    let law = fit(&exact(|bytes| 100_000.0 + bytes, 0.01), 0.95).unwrap();
    assert!((law.t0_ns.value / 100_000.0 - 1.0).abs() < 1e-6, "{:?}", law.t0_ns);
    assert!((law.half_size_bytes.unwrap().value / 100_000.0 - 1.0).abs() < 1e-6);
    assert!(!law.fit.widened && law.fit.worst_miss_share < 1e-6, "{:?}", law.fit);
}

#[test]
fn intervals_cover_cost_and_half_size() {
    for (cv, widest) in [(0.03, 0.08), (0.08, 0.2)] {
        let pretend = Pretend { cv, ..Pretend::usual() };
        for (kind, truth) in [(&PerRequestCost as &dyn FindingKind, 100_000.0), (&HalfSize, 100_000.0)] {
            let (covered, width) = coverage(&pretend.conclusions(kind, SIZES, 400), truth);
            assert!(covered >= 0.93 && width < widest, "{} at {cv}: {covered} {width}", kind.id());
        }
    }
}

#[test]
fn a_cost_below_that_of_the_smallest_transfer_is_covered_too() {
    // n½ = 1,333 B, a third of the smallest block: t₀ is a quarter of what a 4 KiB request takes.
    let fast = Pretend { t0_ns: 1333.0, iops_max: 1e9, ..Pretend::usual() };
    let (covered, width) = coverage(&fast.conclusions(&PerRequestCost, SIZES, 400), 1333.0);
    assert!(covered >= 0.93 && width < 0.35, "{covered} {width}");
}

#[test]
fn intervals_cover_the_bandwidth_of_two_equal_points() {
    for cv in [0.03, 0.08] {
        let pretend = Pretend { cv, ..Pretend::usual() };
        let (covered, width) = coverage(&pretend.conclusions(&DeviceBandwidth, LARGE, 400), 1e9);
        assert!(covered >= 0.93 && width < 2.5 * cv, "{cv}: {covered} {width}");
    }
    // Unequal points: the higher one is the truth.
    let unequal = Pretend { random_ratio: 0.97, ..Pretend::usual() };
    let (covered, _) = coverage(&unequal.conclusions(&DeviceBandwidth, LARGE, 400), 1e9);
    assert!(covered >= 0.93, "{covered}");
}

#[test]
fn the_plateau_is_the_measured_size_that_reaches_95_percent() {
    // 19 × 100,000 B = 1.9 MB: the next of 4 KiB .. 4 MiB by fours is 4 MiB. With a twentieth of the cost:
    // 128 KiB.
    let (covered, _) = coverage(&Pretend::usual().conclusions(&PlateauBlockSize, SIZES, 100), 4_194_304.0);
    assert!(covered >= 0.93, "{covered}");
    let quick = Pretend { t0_ns: 5000.0, iops_max: 1e9, ..Pretend::usual() };
    let (covered, _) = coverage(&quick.conclusions(&PlateauBlockSize, SIZES, 100), 262_144.0);
    assert!(covered >= 0.93, "{covered}");
    let slow = Pretend { t0_ns: 1e6, ..Pretend::usual() };
    let finding = &slow.conclusions(&PlateauBlockSize, SIZES, 1)[0][0];
    // 19 × 1 MB.
    assert!(
        matches!(
            problem(finding),
            SizeLawProblem::StillRising {
                largest_bytes: 4_194_304,
                needed_bytes: Some(17_000_000..21_000_000)
            }
        ),
        "{finding:?}"
    );
}

#[test]
fn a_limit_that_cuts_the_curve_off_is_a_plateau_without_a_law() {
    // 100 µs whatever the size, then 1 GB/s at most: a corner at 100,000 B that no t₀ + b/B has.
    let sharp = exact(|bytes| f64::max(100_000.0, bytes), 0.005);
    let refusal = fit(&sharp, 0.95).err().unwrap();
    assert!(
        matches!(refusal, SizeLawProblem::NotLinear { miss_share, .. } if miss_share > MISS_MAX),
        "{refusal:?}"
    );
}

#[test]
fn a_time_that_does_not_rise_has_a_cost_and_no_half_size() {
    let law = fit(&exact(|_| 80_000.0, 0.01), 0.95).unwrap();
    assert!((law.t0_ns.value / 80_000.0 - 1.0).abs() < 1e-6);
    assert!(law.half_size_bytes.is_none());
    let flat = Pretend { bytes_per_s: 1e15, t0_ns: 80_000.0, ..Pretend::usual() };
    let finding = &flat.conclusions(&HalfSize, SIZES, 1)[0][0];
    assert_eq!(problem(finding), SizeLawProblem::Flat { largest_bytes: 4_194_304 });
    let plateau = &flat.conclusions(&PlateauBlockSize, SIZES, 1)[0][0];
    assert!(matches!(problem(plateau), SizeLawProblem::StillRising { .. }), "{plateau:?}");
}

#[test]
fn several_in_flight_have_no_cost_of_their_own() {
    let study = format!("{SIZES}\ndepth = 8");
    let finding = &Pretend::usual().conclusions(&PerRequestCost, &study, 1)[0][0];
    assert_eq!(problem(finding), SizeLawProblem::SeveralInFlight { queue_depth: 8 });
}
