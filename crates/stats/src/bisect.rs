//! Bisection.

/// Bisects the range from `low` to `high` and returns the remaining range: `is_low` is true at its first end and false
/// at its second.
///
/// `is_low` must change once within the range, from true to false; `low` may be the larger end. The remaining range is
/// `2^-halvings` of the original, or two neighbouring numbers: 60 halvings reach these from any range of one sign.
pub fn bisect(
    (mut low, mut high): (f64, f64),
    halvings: u32,
    mut is_low: impl FnMut(f64) -> bool,
) -> (f64, f64) {
    for _ in 0..halvings {
        let middle = (low + high) / 2.0;
        if is_low(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_change_lies_in_what_is_left(
            low in -1e6f64..1e6, width in 1e-3f64..1e6, share in 0.0f64..1.0, halvings in 0u32..80
        ) {
            let root = low + share * width;
            let (left, right) = bisect((low, low + width), halvings, |at| at < root);
            prop_assert!(left <= root && root <= right);
            let narrowest = 1e-15 * (low.abs() + width);
            prop_assert!(right - left <= width * 0.5f64.powi(halvings as i32) + narrowest);
            // The other way round.
            let (right, left) = bisect((low + width, low), halvings, |at| at > root);
            prop_assert!(left <= root && root <= right);
        }
    }
}
