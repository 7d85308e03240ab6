//! Bootstrap standard errors of any statistic.
//!
//! B. Efron, *Bootstrap methods: another look at the jackknife* (Ann. Stat. 7, 1979). Whole units (runs,
//! repeats) are drawn with replacement, never the observations inside them, so that correlation within a unit
//! is kept. Assumed: the units are exchangeable. The plain bootstrap is too narrow for few units: the standard
//! errors here are stretched by √(n/(n − 1)). Use Student's t with n − 1 degrees of freedom around them.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Returns the standard errors of `N` statistics over `draws` resamples of `units` units. `statistics` receives how
/// often each unit was drawn. 200 draws give a standard error to within 5 %. `None` with fewer than two units or
/// draws. `seed` makes the draws reproducible.
pub fn standard_errors<const N: usize>(
    units: usize,
    draws: u32,
    seed: u64,
    mut statistics: impl FnMut(&[u64]) -> [f64; N],
) -> Option<[f64; N]> {
    if units < 2 || draws < 2 {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut times = vec![0u64; units];
    let (mut means, mut squares) = ([0.0; N], [0.0; N]);
    for draw in 1..=draws {
        times.fill(0);
        (0..units).for_each(|_| times[random.random_range(0..units)] += 1);
        // Welford's update: squares of deviations without the cancellation.
        for (i, value) in statistics(&times).into_iter().enumerate() {
            let before = value - means[i];
            means[i] += before / f64::from(draw);
            squares[i] += before * (value - means[i]);
        }
    }
    let stretch = units as f64 / (units - 1) as f64;
    Some(squares.map(|square| (square / f64::from(draws - 1) * stretch).sqrt()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mean(values: &[f64], times: &[u64]) -> f64 {
        let sum: f64 = values.iter().zip(times).map(|(value, times)| value * *times as f64).sum();
        sum / times.iter().sum::<u64>() as f64
    }

    #[test]
    fn the_mean_of_five_has_the_textbook_standard_error() {
        // 1 .. 5: s² = 2.5, so that the mean's standard error is √(2.5 / 5) = 0.7071. 10,000 draws: to 0.7 %.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let [got] = standard_errors(5, 10_000, 1, |times| [mean(&values, times)]).unwrap();
        assert!((got / 0.5f64.sqrt() - 1.0).abs() < 0.03, "{got}");
    }

    #[test]
    fn one_unit_says_nothing_of_others() {
        assert_eq!(standard_errors(1, 200, 1, |_| [1.0]), None);
        assert_eq!(standard_errors(4, 200, 1, |_| [1.0]), Some([0.0]));
    }

    proptest! {
        #[test]
        fn every_draw_has_as_many_units_and_a_seed_repeats(units in 2usize..20, seed in any::<u64>()) {
            let weigh = |times: &[u64]| {
                assert_eq!(times.iter().sum::<u64>(), units as u64);
                [times[0] as f64]
            };
            prop_assert_eq!(standard_errors(units, 50, seed, weigh), standard_errors(units, 50, seed, weigh));
        }
    }
}
