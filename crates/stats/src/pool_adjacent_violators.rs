//! Isotonic regression: the nearest sequence (weighted least squares) that never falls.
//!
//! Source: M. Ayer et al., An empirical distribution function for sampling with incomplete information, 1955.

/// Neighbouring values that share one level of the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// Weighted mean of the values: the level.
    pub mean: f64,
    /// Sum of their weights.
    pub weight: f64,
    /// Weighted sum of their squared distances from the mean.
    pub squares: f64,
    /// Number of values.
    pub count: usize,
}

/// Pools neighbours of which the first exceeds the second, until the levels never fall. Each value has a weight above
/// zero.
///
/// ```
/// use iosonde_stats::pool_adjacent_violators;
///
/// let pools = pool_adjacent_violators([1.0, 3.0, 2.0, 4.0].map(|value| (value, 1.0)));
/// let levels: Vec<f64> = pools.iter().map(|pool| pool.mean).collect();
/// assert_eq!(levels, [1.0, 2.5, 4.0]);
/// ```
pub fn pool_adjacent_violators(values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Pool> {
    let mut pools: Vec<Pool> = Vec::new();
    for (value, weight) in values {
        let mut pool = Pool { mean: value, weight, squares: 0.0, count: 1 };
        while let Some(last) = pools.pop_if(|last| last.mean > pool.mean) {
            let weight = last.weight + pool.weight;
            let between = last.weight * pool.weight / weight * (last.mean - pool.mean).powi(2);
            pool = Pool {
                mean: (last.mean * last.weight + pool.mean * pool.weight) / weight,
                weight,
                squares: last.squares + pool.squares + between,
                count: last.count + pool.count,
            };
        }
        pools.push(pool);
    }
    pools
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Levels of equally weighted values, one for each.
    fn levels(values: &[f64]) -> Vec<f64> {
        let pools = pool_adjacent_violators(values.iter().map(|&value| (value, 1.0)));
        pools.iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.count)).collect()
    }

    #[test]
    fn violators_are_pooled() {
        assert_eq!(levels(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(levels(&[3.0, 2.0, 1.0]), [2.0, 2.0, 2.0]);
        assert_eq!(levels(&[]), [0.0; 0]);
        // By hand: (4 * 1 + 1 * 3) / 4 = 1.75, and 1 * 2.25² + 3 * 0.75² = 6.75.
        let pools = pool_adjacent_violators([(4.0, 1.0), (1.0, 3.0)]);
        assert_eq!(pools, [Pool { mean: 1.75, weight: 4.0, squares: 6.75, count: 2 }]);
    }

    proptest! {
        #[test]
        fn levels_never_fall_and_are_nearer_than_the_mean_and_the_sorted_values(
            values in prop::collection::vec(-1.0f64..1.0, 1..12),
        ) {
            let fit = levels(&values);
            let miss = |fit: &[f64]| values.iter().zip(fit).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let pools = pool_adjacent_violators(values.iter().map(|&value| (value, 1.0)));
            let squares: f64 = pools.iter().map(|pool| pool.squares).sum();
            prop_assert!(fit.is_sorted());
            prop_assert!((squares - miss(&fit)).abs() < 1e-9);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(squares <= miss(&vec![mean; values.len()]) + 1e-9);
            prop_assert!(squares <= miss(&sorted) + 1e-9);
            prop_assert_eq!(levels(&sorted), sorted);
        }
    }
}
