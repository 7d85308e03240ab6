//! First-order correlation of short series, and what it does to a mean.
//!
//! Assumed: AR(1), that is a correlation of ρ^k at k steps, with one ρ for all series given. Residuals have had
//! a mean taken from them, which makes the plain lag-one correlation too small by about (1 + 4ρ)/n; here the
//! expected value of exactly that computation is inverted instead, so that series of eight will do if there are
//! enough of them. Missing members are skipped over, as if the neighbours had been adjacent.

/// The variance of the mean of `length` members of an AR(1) series, in units of one member's variance: 1/n
/// without correlation, about (1 + ρ)/(1 − ρ)/n in long series.
pub fn variance_of_mean(length: f64, correlation: f64) -> f64 {
    // Σ (n − k) ρ^k for k = 1 .. n − 1, summed.
    let rest = 1.0 - correlation;
    let pairs = correlation * (length * rest - (1.0 - correlation.powf(length))) / (rest * rest);
    (length + 2.0 * pairs) / (length * length)
}

/// Sums over series from which the mean was taken: products of neighbours, squares, and lengths.
#[derive(Debug, Clone, Default)]
pub struct LagOne {
    products: f64,
    squares: f64,
    /// Length, and how many series of that length.
    lengths: Vec<(f64, f64)>,
}

impl LagOne {
    /// Counts one series of residuals; fewer than three tell nothing.
    pub fn add(&mut self, residuals: &[f64]) {
        self.add_as(residuals, residuals.len() as f64, 1.0);
    }

    /// Counts a series from which a moving level was taken, as `parts` series of `length` from each of which its
    /// mean was taken.
    pub fn add_as(&mut self, residuals: &[f64], length: f64, parts: f64) {
        if length < 3.0 {
            return;
        }
        self.products += residuals.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        self.squares += residuals.iter().map(|r| r * r).sum::<f64>();
        self.lengths.push((length, parts));
    }

    /// How many members stand behind it.
    pub fn members(&self) -> f64 {
        self.lengths.iter().map(|(length, parts)| length * parts).sum()
    }

    /// The ρ whose expected sums have the ratio of those counted, between 0 and 0.95; `None` where nothing was
    /// counted. Below 0 is not believed: alternating noise would make intervals narrower on thin grounds.
    pub fn correlation(&self) -> Option<f64> {
        if self.squares <= 0.0 {
            return None;
        }
        let observed = self.products / self.squares;
        let (mut low, mut high) = (0.0, 0.95);
        if self.expected_ratio(low) >= observed {
            return Some(low);
        }
        // 20 halvings of 0.95: to 1e-6.
        for _ in 0..20 {
            let middle = (low + high) / 2.0;
            if self.expected_ratio(middle) < observed { low = middle } else { high = middle }
        }
        Some((low + high) / 2.0)
    }

    fn expected_ratio(&self, correlation: f64) -> f64 {
        let (mut products, mut squares) = (0.0, 0.0);
        for &(n, parts) in &self.lengths {
            let of_mean = variance_of_mean(n, correlation);
            // With ū the mean: Σ (u_i − ū)(u_{i+1} − ū) = Σ u_i u_{i+1} − (n + 1) ū² + ū (u_1 + u_n).
            let with_an_end = (1.0 - correlation.powf(n)) / (1.0 - correlation) / n;
            products += parts * ((n - 1.0) * correlation - (n + 1.0) * of_mean + 2.0 * with_an_end);
            squares += parts * (n - n * of_mean);
        }
        products / squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_mean_of_three_done_by_hand() {
        // Var of (a + b + c)/3 with ρ = 0.5: (3 + 2 (2 * 0.5 + 1 * 0.25)) / 9 = 5.5 / 9.
        assert!((variance_of_mean(3.0, 0.5) - 5.5 / 9.0).abs() < 1e-15);
        assert_eq!(variance_of_mean(4.0, 0.0), 0.25);
    }

    #[test]
    fn short_series_give_their_correlation_without_bias() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for truth in [0.0f64, 0.3, 0.6] {
            let mut sums = LagOne::default();
            // 4,000 series of 8: the standard error is about 1/√28,000 = 0.006.
            for _ in 0..4000 {
                let mut last: f64 = random.sample(StandardNormal);
                let mut series: Vec<f64> = (0..8)
                    .map(|_| {
                        let now = last;
                        let step: f64 = random.sample(StandardNormal);
                        last = truth * last + (1.0 - truth * truth).sqrt() * step;
                        now
                    })
                    .collect();
                let mean = series.iter().sum::<f64>() / 8.0;
                series.iter_mut().for_each(|v| *v -= mean);
                sums.add(&series);
            }
            let got = sums.correlation().unwrap();
            assert!((got - truth).abs() < 0.03, "{got} for {truth}");
        }
    }

    #[test]
    fn nothing_counted_is_none_and_alternation_is_none_of_ours() {
        assert_eq!(LagOne::default().correlation(), None);
        let mut sums = LagOne::default();
        sums.add(&[1.0, -1.0]);
        assert_eq!(sums.correlation(), None);
        sums.add(&[1.0, -1.0, 1.0, -1.0]);
        assert_eq!(sums.correlation(), Some(0.0));
    }

    proptest! {
        #[test]
        fn what_is_expected_is_found(truth in 0.0f64..0.9, lengths in prop::collection::vec(3u8..40, 1..6)) {
            let mut sums = LagOne::default();
            sums.lengths = lengths.iter().map(|&n| (f64::from(n), 1.0)).collect();
            sums.squares = 1.0;
            sums.products = sums.expected_ratio(truth);
            prop_assert!((sums.correlation().unwrap() - truth).abs() < 1e-4);
        }

        #[test]
        fn a_mean_varies_more_the_more_its_members_agree(n in 2u8..100, low in 0.0f64..0.9, more in 0.001f64..0.09) {
            let n = f64::from(n);
            prop_assert!(variance_of_mean(n, low + more) > variance_of_mean(n, low));
            prop_assert!(variance_of_mean(n, low) < 1.0 && variance_of_mean(n, low) >= 1.0 / n - 1e-12);
        }
    }
}
