//! Medians and their relatives: estimates that a few wild values do not move.
//!
//! Assumed: more than half of the values are tame. Nothing here says which half.

use super::least_squares::{Fit, NoFit, linear_least_squares};

/// The median; the middle of the two middle ones for an even count. `None` for nothing. NaN sorts last.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    (n > 0).then(|| (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0)
}

/// The median distance from zero: of residuals, their MAD. 0.6745 σ for a normal distribution.
pub fn median_distance(residuals: &[f64]) -> Option<f64> {
    median(&residuals.iter().map(|r| r.abs()).collect::<Vec<_>>())
}

/// σ of a normal distribution whose median distance is 1: 1 / Φ⁻¹(3/4).
pub const SIGMA_PER_MEDIAN_DISTANCE: f64 = 1.482_602_218_505_602;

/// Weighted linear regression that sets aside what lies further than `limit` median distances from the fit,
/// and fits again until nothing changes. Gives the fit and the indices that were set aside, ascending.
///
/// # Errors
/// As [`linear_least_squares`], of what is left.
pub fn robust_linear(
    rows: &[Vec<f64>],
    observed: &[f64],
    standard_errors: &[f64],
    limit: f64,
) -> Result<(Fit, Vec<usize>), NoFit> {
    let mut aside: Vec<usize> = Vec::new();
    let mut fit = without(rows, observed, standard_errors, &aside)?;
    // 12: each pass usually finds one layer more; a cycle between two sets ends here with the last of them.
    for _ in 0..12 {
        let predicted = |row: &Vec<f64>| row.iter().zip(&fit.parameters).map(|(a, p)| a * p).sum::<f64>();
        let residuals: Vec<f64> =
            (0..rows.len()).map(|i| (observed[i] - predicted(&rows[i])) / standard_errors[i]).collect();
        let scale = median_distance(&residuals).unwrap_or(0.0);
        let far = |&i: &usize| scale > 0.0 && residuals[i].abs() > limit * scale;
        let now: Vec<usize> = (0..rows.len()).filter(far).collect();
        if now == aside {
            break;
        }
        aside = now;
        fit = without(rows, observed, standard_errors, &aside)?;
    }
    Ok((fit, aside))
}

fn without(rows: &[Vec<f64>], observed: &[f64], errors: &[f64], aside: &[usize]) -> Result<Fit, NoFit> {
    let keep: Vec<usize> = (0..rows.len()).filter(|i| !aside.contains(i)).collect();
    let of = |values: &[f64]| keep.iter().map(|&i| values[i]).collect::<Vec<_>>();
    let kept: Vec<Vec<f64>> = keep.iter().map(|&i| rows[i].clone()).collect();
    linear_least_squares(&kept, &of(observed), &of(errors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians_of_few() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median_distance(&[-3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn one_wild_value_is_set_aside_and_the_line_is_the_others() {
        // y = 1 + 2x with noise of ±0.1, and one value 50 off.
        let rows: Vec<Vec<f64>> = (0..10).map(|i| vec![1.0, f64::from(i)]).collect();
        let mut observed: Vec<f64> =
            (0..10).map(|i| 1.0 + 2.0 * f64::from(i) + 0.1 * f64::from(i % 2)).collect();
        observed[4] -= 50.0;
        let (fit, aside) = robust_linear(&rows, &observed, &[1.0; 10], 4.5).unwrap();
        assert_eq!(aside, [4]);
        assert!((fit.parameters[1] - 2.0).abs() < 0.02, "{fit:?}");
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
