//! Draws by weight in constant time: an alias table (Walker 1977).
//!
//! Each of as many columns as there are values holds an equal share of the probability and at most two
//! values, so that one random number gives both the column and the value in it. Made once, never changed.

use rand::Rng;

use super::random::Random;

/// Values with their weights.
#[derive(Debug, Clone)]
pub(super) struct Alias<T> {
    columns: Box<[Column<T>]>,
}

#[derive(Debug, Clone)]
struct Column<T> {
    own: T,
    other: T,
    /// The share of the column that is its own, in units of 2^-64.
    own_below: u64,
}

impl<T: Copy> Alias<T> {
    /// At least one value, and weights above 0. Columns that want are filled from those with more than they
    /// hold.
    pub(super) fn new(weighted: &[(T, f64)]) -> Self {
        let per_column = weighted.iter().map(|(_, weight)| weight).sum::<f64>() / weighted.len() as f64;
        let mut left: Vec<f64> = weighted.iter().map(|(_, weight)| weight / per_column).collect();
        let whole = |&(own, _): &(T, f64)| Column { own, other: own, own_below: u64::MAX };
        let mut columns: Box<[Column<T>]> = weighted.iter().map(whole).collect();
        let (mut want, mut have): (Vec<usize>, Vec<usize>) = (0..left.len()).partition(|&n| left[n] < 1.0);
        while let (Some(&rich), Some(poor)) = (have.last(), want.pop()) {
            columns[poor].other = weighted[rich].0;
            columns[poor].own_below = (left[poor] * 2f64.powi(64)) as u64;
            left[rich] -= 1.0 - left[poor];
            if left[rich] < 1.0 {
                have.pop();
                want.push(rich);
            }
        }
        Self { columns }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> T {
        let wide = u128::from(random.next_u64()) * self.columns.len() as u128;
        let column = &self.columns[(wide >> 64) as usize];
        if (wide as u64) < column.own_below { column.own } else { column.other }
    }

    /// All values, some more than once.
    pub(super) fn values(&self) -> impl Iterator<Item = T> {
        self.columns.iter().map(|column| column.own)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::testing::*, *};

    proptest! {
        #[test]
        fn columns_hold_the_weights(weights in prop::collection::vec(1e-9f64..1000.0, 1..400)) {
            let weighted: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
            let Alias { columns } = Alias::new(&weighted);
            let mut shares = vec![0.0; weights.len()];
            for column in &columns {
                let own = column.own_below as f64 / 2f64.powi(64);
                shares[column.own] += own / columns.len() as f64;
                shares[column.other] += (1.0 - own) / columns.len() as f64;
            }
            let sum: f64 = weights.iter().sum();
            for (share, weight) in shares.iter().zip(&weights) {
                prop_assert!((share - weight / sum).abs() < 1e-12, "{} instead of {}", share, weight / sum);
            }
        }
    }

    #[test]
    fn shares_are_as_weighted() {
        for weights in [vec![60.0, 40.0], vec![1.0, 2.0, 4.0, 1000.0], vec![1.0; 7], vec![0.1, 99.9]] {
            let weighted: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
            let (alias, mut random) = (Alias::new(&weighted), random(7));
            let mut counts = vec![0u64; weights.len()];
            (0..300_000).for_each(|_| counts[alias.draw(&mut random)] += 1);
            let sum: f64 = weights.iter().sum();
            assert_fits(&format!("{weights:?}"), &counts, weights.iter().map(|weight| weight / sum));
        }
    }
}
