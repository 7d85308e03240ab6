//! Estimates on the log scale, and the quantiles that make intervals of them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// An estimate on its own scale, with the error of a normal deviate whose variance is itself estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimated {
    /// The value.
    pub value: f64,
    /// Standard error of the value.
    pub standard_error: f64,
    /// Degrees of freedom of the variance behind the standard error.
    pub degrees_of_freedom: f64,
}

impl Estimated {
    /// Mean of independent values. `None` below two.
    pub fn mean_of(values: &[f64]) -> Option<Self> {
        let (value, error) = ErrorVariance::of_mean(values)?;
        let standard_error = error.variance.sqrt();
        Some(Self { value, standard_error, degrees_of_freedom: error.degrees_of_freedom })
    }

    /// Half-width of the interval.
    pub fn half_width(&self, confidence: f64) -> f64 {
        student_t(confidence, self.degrees_of_freedom) * self.standard_error
    }

    /// The sum with `factor` times an independent estimate.
    ///
    /// The smaller of both degrees of freedom counts, which lies below Satterthwaite's ([`ErrorVariance::sum`]): two
    /// equal errors with 4 degrees each get the t of 4, 2.78, in place of that of 8, 2.31. These intervals are up to
    /// 20 % wider; sums of more than two parts would lose too much by it.
    pub fn plus(self, factor: f64, other: Self) -> Self {
        Self {
            value: self.value + factor * other.value,
            standard_error: self.standard_error.hypot(factor * other.standard_error),
            degrees_of_freedom: self.degrees_of_freedom.min(other.degrees_of_freedom),
        }
    }
}

/// Variance of an error, with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorVariance {
    /// Squared standard error.
    pub variance: f64,
    /// Degrees of freedom behind it.
    pub degrees_of_freedom: f64,
}

impl ErrorVariance {
    /// Mean of independent values and the variance of its error. `None` below two values.
    pub fn of_mean(values: &[f64]) -> Option<(f64, Self)> {
        let count = values.len() as f64;
        if values.len() < 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Some((mean, Self { variance: variance / count, degrees_of_freedom: count - 1.0 }))
    }

    /// Half-width of the interval.
    pub fn half_width(&self, confidence: f64) -> f64 {
        student_t(confidence, self.degrees_of_freedom) * self.variance.sqrt()
    }

    /// Variance of the sum of independent errors; degrees of freedom after Satterthwaite (Biometrics 2, 1946). A sum
    /// without variance is exact: a million degrees.
    pub fn sum(parts: &[Self]) -> Self {
        let variance: f64 = parts.iter().map(|part| part.variance).sum();
        let share = |part: &Self| part.variance.powi(2) / part.degrees_of_freedom.max(0.5);
        let below: f64 = parts.iter().map(share).sum();
        Self { variance, degrees_of_freedom: if below > 0.0 { variance.powi(2) / below } else { 1e6 } }
    }
}

/// An estimate on the log scale: the natural logarithm of a rate or of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogEstimate {
    /// Estimated mean of ln(value).
    pub log_mean: f64,
    /// Standard error of `log_mean`. Correlation and the stopping rule are already included.
    pub standard_error: f64,
    /// Degrees of freedom of the residual variance behind the standard error.
    pub degrees_of_freedom: f64,
}

impl LogEstimate {
    /// Mean of independent logarithms. `None` below two.
    pub fn mean_of(logs: &[f64]) -> Option<Self> {
        let Estimated { value: log_mean, standard_error, degrees_of_freedom } = Estimated::mean_of(logs)?;
        Some(Self { log_mean, standard_error, degrees_of_freedom })
    }

    /// Ratio to an independent estimate. The smaller of both degrees of freedom counts, as in [`Estimated::plus`].
    pub fn over(self, under: Self) -> Self {
        Self {
            log_mean: self.log_mean - under.log_mean,
            standard_error: self.standard_error.hypot(under.standard_error),
            degrees_of_freedom: self.degrees_of_freedom.min(under.degrees_of_freedom),
        }
    }

    /// The value itself.
    pub fn value(&self) -> f64 {
        self.log_mean.exp()
    }

    /// Returns half the width of the confidence interval of `log_mean`; `confidence` is a share such as 0.95.
    pub fn half_width(&self, confidence: f64) -> f64 {
        student_t(confidence, self.degrees_of_freedom) * self.standard_error
    }

    /// Returns the standard error of a normal distribution with an equally wide interval. It weights estimates with
    /// unequal degrees of freedom: one with two degrees counts little and does not widen the others.
    pub fn normal_error(&self, confidence: f64) -> f64 {
        self.half_width(confidence) / normal(confidence)
    }

    /// Returns the lower and upper end of the confidence interval of the value.
    pub fn ends(&self, confidence: f64) -> (f64, f64) {
        let half = self.half_width(confidence);
        ((self.log_mean - half).exp(), (self.log_mean + half).exp())
    }
}

/// Degrees of freedom from which on Student's quantile is expanded about the normal one. The next term,
/// (5z⁵ + 16z³ + 3z) / 96ν², is below 3e-6 there at 95 %. The library's search for the quantile does not end at some
/// degrees of freedom in the millions.
const EXPANDED_FROM: f64 = 1000.0;

/// Returns the two-sided quantile of Student's t distribution: 0.95 and 10 degrees of freedom give 2.23.
pub fn student_t(confidence: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom > EXPANDED_FROM {
        let z = normal(confidence);
        return z + (z.powi(3) + z) / (4.0 * degrees_of_freedom);
    }
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom.max(1.0)).expect("degrees of freedom are positive");
    t.inverse_cdf(0.5 + confidence / 2.0)
}

/// Returns the two-sided quantile of the normal distribution: 0.95 gives 1.96.
pub fn normal(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_t_quantile_falls_to_the_normal_one_at_any_degrees_of_freedom() {
        let degrees = (1..=2000).map(f64::from).chain([1e4, 1e5, 716_204.0, 6.3e6, 1e9]);
        let quantiles: Vec<f64> = degrees.map(|degrees| student_t(0.95, degrees)).collect();
        assert!(quantiles.is_sorted_by(|a, b| a > b && *b > normal(0.95) - 1e-12), "{quantiles:?}");
        // Tables: 2.2281 at 10, 1.9623 at 1,000.
        assert!((quantiles[9] - 2.228_14).abs() < 1e-5 && (quantiles[999] - 1.962_34).abs() < 1e-5);
        assert!((student_t(0.95, 1001.0) - student_t(0.95, 1000.0)).abs() < 1e-5);
    }

    #[test]
    fn a_mean_by_hand() {
        let found = Estimated::mean_of(&[100.0, 110.0, 90.0, 105.0, 95.0]).unwrap();
        // s² = 62.5, over 5: 3.5355; t(4) = 2.7764.
        assert!((found.value - 100.0).abs() < 1e-9 && (found.standard_error - 3.535_534).abs() < 1e-5);
        assert!((found.half_width(0.95) - 9.8162).abs() < 1e-3);
        assert_eq!(Estimated::mean_of(&[1.0]), None);
    }

    #[test]
    fn sums_of_figures_add_their_errors_as_squares() {
        let a = Estimated { value: 10.0, standard_error: 3.0, degrees_of_freedom: 9.0 };
        let b = Estimated { value: 2.0, standard_error: 8.0, degrees_of_freedom: 5.0 };
        let sum = Estimated { value: 9.0, standard_error: 5.0, degrees_of_freedom: 5.0 };
        assert_eq!(a.plus(-0.5, b), sum);
    }

    #[test]
    fn a_sum_without_variance_is_exact() {
        let none = ErrorVariance { variance: 0.0, degrees_of_freedom: 4.0 };
        assert_eq!(ErrorVariance::sum(&[none, none]).half_width(0.95), 0.0);
        assert_eq!(ErrorVariance::sum(&[]).half_width(0.95), 0.0);
    }

    proptest! {
        #[test]
        fn degrees_of_a_sum_lie_between_the_least_and_the_sum_of_all(
            parts in prop::collection::vec((1e-6f64..1.0, 1.0f64..50.0), 1..8)
        ) {
            let part = |&(variance, degrees_of_freedom)| ErrorVariance { variance, degrees_of_freedom };
            let parts: Vec<ErrorVariance> = parts.iter().map(part).collect();
            let degrees = || parts.iter().map(|part| part.degrees_of_freedom);
            let sum = ErrorVariance::sum(&parts);
            prop_assert!(sum.degrees_of_freedom >= degrees().fold(f64::INFINITY, f64::min) * (1.0 - 1e-9));
            prop_assert!(sum.degrees_of_freedom <= degrees().sum::<f64>() * (1.0 + 1e-9));
        }
    }
}
