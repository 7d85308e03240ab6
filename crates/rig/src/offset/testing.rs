//! How well counts agree with what was to be expected: for the tests of the patterns.

use rand::SeedableRng;

use super::random::Random;

/// Generators for tests with many seeds.
pub(super) fn random(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

/// How far counts are from the expected shares, in standard deviations: chi-square, brought to a normal
/// distribution after Wilson and Hilferty 1931. Neighbours are merged until at least ten are expected.
pub(super) fn sigmas(counts: &[u64], shares: impl IntoIterator<Item = f64>) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let mut cells: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for (&count, share) in counts.iter().zip(shares) {
        let last = cells.last_mut().expect("there is one");
        if last.1 < 10.0 {
            (last.0, last.1) = (last.0 + count as f64, last.1 + share * total);
        } else {
            cells.push((count as f64, share * total));
        }
    }
    let expected: f64 = cells.iter().map(|cell| cell.1).sum();
    assert!((expected / total - 1.0).abs() < 1e-6, "the shares add up to {}", expected / total);
    // The rest of what is rare.
    if let Some((count, rare)) = cells.pop_if(|cell| cell.1 < 10.0)
        && let Some(last) = cells.last_mut()
    {
        *last = (last.0 + count, last.1 + rare);
    }
    assert!(cells.len() > 1, "{total} draws do not tell anything apart");
    let chi_square: f64 = cells.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum();
    let freedom = (cells.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    ((chi_square / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// Deviation of counts from equal shares, in standard deviations.
pub(super) fn sigmas_from_even(counts: &[u64]) -> f64 {
    sigmas(counts, std::iter::repeat_n(1.0 / counts.len() as f64, counts.len()))
}

/// Fails where counts are further from the shares than one in 30,000 fair ones.
pub(super) fn assert_fits(what: &str, counts: &[u64], shares: impl IntoIterator<Item = f64>) {
    let sigmas = sigmas(counts, shares);
    assert!(sigmas < 4.0, "{what}: {sigmas:.1} standard deviations from what was expected");
}

#[test]
fn a_small_bias_is_seen_and_none_is_not() {
    use crate::offset::random::below;
    let mut random = random(1);
    let mut counts = [0u64; 100];
    (0..100_000).for_each(|_| counts[below(&mut random, 100) as usize] += 1);
    assert!(sigmas_from_even(&counts).abs() < 3.0);
    // One cell in ten gets a fifth more.
    counts.iter_mut().step_by(10).for_each(|count| *count += *count / 5);
    assert!(sigmas_from_even(&counts) > 4.0);
}
