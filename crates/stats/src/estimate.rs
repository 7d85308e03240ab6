//! Estimates on the log scale, and the quantiles that make intervals of them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// An estimate on the log scale: the natural logarithm of a rate or of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogEstimate {
    /// Of ln(value).
    pub log_mean: f64,
    /// Of `log_mean`; correlation and the stopping rule are already in it.
    pub standard_error: f64,
    /// Of the residual variance behind the standard error.
    pub degrees_of_freedom: f64,
}

impl LogEstimate {
    /// The value itself.
    pub fn value(&self) -> f64 {
        self.log_mean.exp()
    }

    /// The half-width of the interval of `log_mean`.
    pub fn half_width(&self, confidence: f64) -> f64 {
        student_t(confidence, self.degrees_of_freedom) * self.standard_error
    }

    /// The standard error of a normal deviate with the same interval. A curve through several estimates takes each
    /// as far as it is known: one that rests on two degrees of freedom pulls little and makes no other wider.
    pub fn normal_error(&self, confidence: f64) -> f64 {
        self.half_width(confidence) / normal(confidence)
    }

    /// Lower and upper end of the interval of the value.
    pub fn ends(&self, confidence: f64) -> (f64, f64) {
        let half = self.half_width(confidence);
        ((self.log_mean - half).exp(), (self.log_mean + half).exp())
    }
}

/// The two-sided quantile of Student's t: 95 % and 10 degrees give 2.23.
pub fn student_t(confidence: f64, degrees_of_freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom.max(1.0)).expect("degrees of freedom are positive");
    t.inverse_cdf(0.5 + confidence / 2.0)
}

/// The two-sided quantile of the normal distribution: 95 % gives 1.96.
pub fn normal(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}
