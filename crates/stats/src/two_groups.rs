//! The cut that parts values best into two groups.

use crate::change_point::SHORTEST;

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

/// Fewest values of a group that is one.
const GROUP_MIN: usize = 3;
/// Gap between two groups over the wider one's range. Of ten values of one normal distribution, independent or with a
/// lag-1 correlation of 0.6, fewer than 1 in 10,000 draws show such a gap; of eight 1 in 1,000, and of six 5 in 1,000.
const GAP_MIN: f64 = 3.0;

/// Returns the cut of [`two_groups`] where it parts two groups that chance does not make: three values or more on
/// either side, and a gap of three times the wider group's range. `None` otherwise, and below ten values.
pub fn two_levels(values: &[f64]) -> Option<f64> {
    if values.len() < SHORTEST {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let counted: Vec<(f64, f64)> = sorted.iter().map(|value| (*value, 1.0)).collect();
    let cut = two_groups(&counted)?;
    let (low, high) = sorted.split_at(sorted.partition_point(|value| *value < cut));
    if low.len() < GROUP_MIN || high.len() < GROUP_MIN {
        return None;
    }
    let range = |group: &[f64]| group[group.len() - 1] - group[0];
    (high[0] - low[low.len() - 1] >= GAP_MIN * range(low).max(range(high))).then_some(cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn levels_are_groups_with_a_gap_that_chance_does_not_make() {
        let near = |level: f64, count: usize| (0..count).map(move |i| level + 0.01 * (i % 3) as f64);
        let of = |low: usize, high: usize, gap: f64| {
            two_levels(&near(0.0, low).chain(near(0.02 + gap, high)).collect::<Vec<_>>()).is_some()
        };
        // The range of either group is 0.02.
        assert!(of(7, 3, 0.061) && of(5, 5, 0.061));
        assert!(!of(5, 5, 0.059) && !of(8, 2, 1.0) && !of(6, 3, 1.0));
        assert_eq!(two_levels(&[1.0; 12]), None);
    }

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
