//! Median and median absolute deviation: estimates that a few outliers do not move.
//!
//! Assumed: less than half of the values are outliers. Nothing here says which values they are.

/// Returns the median, or the mean of the two middle values for an even count. `None` for no values. NaN sorts last.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0)
}

/// Returns the median of the residuals' absolute values (MAD): 0.6745 σ for a normal distribution. Residuals must
/// already be centred. `None` for no values.
pub fn median_absolute_deviation(residuals: &[f64]) -> Option<f64> {
    median(&residuals.iter().map(|r| r.abs()).collect::<Vec<_>>())
}

/// Standard deviation of a normal distribution whose median absolute deviation is 1: 1 / Φ⁻¹(3/4).
pub const SIGMA_PER_MAD: f64 = 1.482_602_218_505_602;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn medians_of_few() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median_absolute_deviation(&[-3.0, 1.0, 2.0]), Some(2.0));
    }

    proptest! {
        #[test]
        fn a_wild_value_moves_the_median_no_further_than_its_neighbours(
            mut values in prop::collection::vec(-1.0f64..1.0, 3..40),
            wild in -1e9f64..1e9,
        ) {
            values[0] = wild;
            let tame = &values[1..];
            let low = tame.iter().copied().fold(1.0, f64::min);
            let high = tame.iter().copied().fold(-1.0, f64::max);
            let got = median(&values).unwrap();
            prop_assert!(got >= low && got <= high);
        }
    }
}
