//! The cut that parts values best into two groups.

/// Returns the place between two neighbouring values at which the variance between both sides is largest (Otsu, A
/// threshold selection method from gray-level histograms, 1979). `counted` holds ascending values with their counts.
///
/// Every scatter has such a place: whether there are two groups, the caller must decide. `None` where all values are
/// one.
pub fn two_groups(counted: &[(f64, f64)]) -> Option<f64> {
    let (count, sum) =
        counted.iter().fold((0.0, 0.0), |(count, sum), (value, n)| (count + n, sum + value * n));
    let (mut left, mut left_sum) = (0.0, 0.0);
    let mut best = (0.0, 0.0);
    for pair in counted.windows(2) {
        left += pair[0].1;
        left_sum += pair[0].0 * pair[0].1;
        let right = count - left;
        let between = left * right * (left_sum / left - (sum - left_sum) / right).powi(2);
        if between > best.0 {
            best = (between, (pair[0].0 + pair[1].0) / 2.0);
        }
    }
    (best.0 > 0.0).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_cut_lies_in_the_gap() {
        assert_eq!(two_groups(&[(1.0, 5.0), (2.0, 3.0), (8.0, 1.0), (9.0, 2.0)]), Some(5.0));
        assert_eq!(two_groups(&[(3.0, 7.0)]), None);
        assert_eq!(two_groups(&[]), None);
    }

    proptest! {
        #[test]
        fn no_other_cut_leaves_less_scatter_within_the_sides(
            mut counted in prop::collection::vec((-10.0f64..10.0, 1.0f64..100.0), 2..20),
        ) {
            counted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let scatter = |side: &[(f64, f64)]| {
                let count: f64 = side.iter().map(|(_, n)| n).sum();
                let mean = side.iter().map(|(value, n)| value * n).sum::<f64>() / count;
                side.iter().map(|(value, n)| n * (value - mean).powi(2)).sum::<f64>()
            };
            let within = |place: usize| scatter(&counted[..place]) + scatter(&counted[place..]);
            let cut = two_groups(&counted).unwrap();
            let place = counted.partition_point(|(value, _)| *value < cut);
            let least = (1..counted.len()).map(within).fold(f64::INFINITY, f64::min);
            prop_assert!(within(place) <= least * (1.0 + 1e-9) + 1e-9);
        }
    }
}
