//! Cholesky factorization of small symmetric systems: normal equations with at most a few hundred unknowns.

/// Cholesky factor L of a symmetric positive definite matrix L·Lᵀ, factored once and solved often.
#[derive(Debug, Clone)]
pub struct Cholesky {
    size: usize,
    /// L, row by row; what stands above the diagonal is not read.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors `matrix` (row by row, `size` × `size`; only its lower half is read). `None` where it is not positive
    /// definite: an unknown has no observations, or unknowns are collinear.
    pub fn factor(mut matrix: Vec<f64>, size: usize) -> Option<Self> {
        assert_eq!(matrix.len(), size * size, "the matrix must be square");
        for column in 0..size {
            let before = column * size;
            let diagonal = matrix[before + column];
            let pivot = diagonal - dot(&matrix[before..before + column], &matrix[before..before + column]);
            // 1e-12 of the diagonal: below it, what is left after the other unknowns is rounding.
            if !pivot.is_finite() || pivot <= diagonal.abs() * 1e-12 {
                return None;
            }
            let root = pivot.sqrt();
            matrix[before + column] = root;
            let (upper, below) = matrix.split_at_mut(before + size);
            let pivot_row = &upper[before..before + column];
            for row in below.chunks_exact_mut(size) {
                row[column] = (row[column] - dot(&row[..column], pivot_row)) / root;
            }
        }
        Some(Self { size, lower: matrix })
    }

    /// Returns the x that solves `matrix · x = right`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        assert_eq!(right.len(), self.size, "one right-hand value for each row");
        let mut x = right.to_vec();
        // A column of the inverse begins with zeros, and they stay.
        let first = x.iter().position(|value| *value != 0.0).unwrap_or(self.size);
        for row in first..self.size {
            let line = &self.lower[row * self.size..];
            x[row] = (x[row] - dot(&line[first..row], &x[first..row])) / line[row];
        }
        // What is known is taken from all before it, row by row as L lies in memory.
        for row in (0..self.size).rev() {
            let line = &self.lower[row * self.size..][..=row];
            x[row] /= line[row];
            let (before, known) = (&line[..row], x[row]);
            x[..row].iter_mut().zip(before).for_each(|(value, factor)| *value -= factor * known);
        }
        x
    }

    /// Returns the natural logarithm of the matrix's determinant.
    pub fn log_determinant(&self) -> f64 {
        (0..self.size).map(|i| 2.0 * self.lower[i * self.size + i].ln()).sum()
    }

    /// Returns the inverse as rows. For normal equations this is the covariance in units of the residual variance.
    pub fn inverse(&self) -> Vec<Vec<f64>> {
        let unit = |one: usize| (0..self.size).map(|i| f64::from(u8::from(i == one))).collect::<Vec<_>>();
        (0..self.size).map(|column| self.solve(&unit(column))).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_system_done_by_hand() {
        // [4 2; 2 3] x = [10; 9]: x = [1.5, 2], since 4*1.5 + 2*2 = 10 and 2*1.5 + 3*2 = 9.
        let x = Cholesky::factor(vec![4.0, 0.0, 2.0, 3.0], 2).unwrap().solve(&[10.0, 9.0]);
        assert!((x[0] - 1.5).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14, "{x:?}");
        // 4 * 3 - 2 * 2 = 8.
        let factored = Cholesky::factor(vec![4.0, 0.0, 2.0, 3.0], 2).unwrap();
        assert!((factored.log_determinant() - 8f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn what_is_not_determined_is_refused() {
        assert!(Cholesky::factor(vec![1.0, 1.0, 1.0, 1.0], 2).is_none());
        assert!(Cholesky::factor(vec![0.0], 1).is_none());
        assert!(Cholesky::factor(vec![f64::NAN], 1).is_none());
    }

    proptest! {
        #[test]
        fn the_inverse_times_the_matrix_is_one(values in prop::collection::vec(-1.0f64..1.0, 16)) {
            // B·Bᵀ + 1 is symmetric and positive definite for every B.
            let entry = |r: usize, c: usize| {
                let sum: f64 = (0..4).map(|k| values[4 * r + k] * values[4 * c + k]).sum();
                sum + f64::from(u8::from(r == c))
            };
            let matrix: Vec<f64> = (0..16).map(|i| entry(i / 4, i % 4)).collect();
            let inverse = Cholesky::factor(matrix.clone(), 4).unwrap().inverse();
            for (r, c) in (0..16).map(|i| (i / 4, i % 4)) {
                let product: f64 = inverse.iter().enumerate().map(|(k, row)| matrix[4 * r + k] * row[c]).sum();
                prop_assert!((product - f64::from(u8::from(r == c))).abs() < 1e-10);
            }
        }
    }
}
