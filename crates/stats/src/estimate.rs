//! Estimates on the log scale, and the quantiles that make intervals of them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Estimate of the natural logarithm of a positive quantity, with its standard error.
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
    /// Returns the value itself, exp(`log_mean`).
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

/// Returns the two-sided quantile of Student's t distribution: 0.95 and 10 degrees of freedom give 2.23.
pub fn student_t(confidence: f64, degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom.max(1.0)).expect("degrees of freedom are positive");
    t.inverse_cdf(0.5 + confidence / 2.0)
}

/// Returns the two-sided quantile of the normal distribution: 0.95 gives 1.96.
pub fn normal(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}
