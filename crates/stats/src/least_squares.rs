//! Weighted nonlinear least squares by the Levenberg–Marquardt method.
//!
//! Assumed: errors are independent, have mean zero, and their sizes are known up to a factor. The covariance
//! uses `standard_errors` as given. [`Fit::widened`] scales it by the residuals, for errors of which only the
//! ratios are known, or a model that is only approximate. Correlated errors make every interval here too narrow.
//!
//! Damping follows K. Madsen, H. B. Nielsen and O. Tingleff, *Methods for non-linear least squares problems*
//! (2004), with Marquardt's scaling by the diagonal, so that parameters of unlike sizes may stand side by
//! side; still, give logarithms of what must be positive.

use super::matrix::Cholesky;

/// Fitted parameters with their covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Fitted parameters, in the order of `start`.
    pub parameters: Vec<f64>,
    /// Covariance matrix of `parameters`, with `standard_errors` used as given.
    pub covariance: Vec<Vec<f64>>,
    /// Sum of squared residuals, each in units of its standard error: about `degrees_of_freedom` if the model and the
    /// errors are right.
    pub chi_square: f64,
    /// Number of observations minus number of parameters.
    pub degrees_of_freedom: f64,
}

impl Fit {
    /// Returns the standard error of one parameter.
    pub fn standard_error(&self, parameter: usize) -> f64 {
        self.covariance[parameter][parameter].sqrt()
    }

    /// Scales the covariance by chi² / degrees of freedom where that exceeds 1: such residuals are larger than the
    /// standard errors explain.
    #[must_use]
    pub fn widened(mut self) -> Self {
        let factor = self.chi_square / self.degrees_of_freedom;
        if self.degrees_of_freedom > 0.0 && factor > 1.0 {
            self.covariance.iter_mut().flatten().for_each(|value| *value *= factor);
        }
        self
    }
}

/// Reason why a fit failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoFit {
    /// Fewer observations than parameters.
    #[error("{observations} observations are too few for {parameters} parameters")]
    TooFew {
        /// Number of observations.
        observations: usize,
        /// Number of parameters.
        parameters: usize,
    },
    /// Some parameter, or a combination of parameters, has no effect on the observations.
    #[error("the observations do not determine every parameter")]
    Undetermined,
    /// A model value, an observation or a standard error is not finite, or a standard error is not positive.
    #[error("the curve or the observations are not numbers")]
    NotANumber,
    /// No convergence within this number of steps.
    #[error("the fit did not converge within {0} steps")]
    NotConverged(u32),
}

/// 200: a fit from a sensible start converges in 5 to 30 steps.
const STEPS: u32 = 200;

/// Fits `model` to `observed`. `model` maps parameters to one value for each observation. `standard_errors` has one
/// standard error for each observation. `start` should have the right order of magnitude.
///
/// # Errors
/// Returns [`NoFit`] if there are fewer observations than parameters, if they do not determine the parameters, or if
/// no minimum was found. The minimum may be local: start from several places if in doubt.
pub fn least_squares(
    model: impl Fn(&[f64]) -> Vec<f64>,
    observed: &[f64],
    standard_errors: &[f64],
    start: &[f64],
) -> Result<Fit, NoFit> {
    assert_eq!(observed.len(), standard_errors.len(), "a standard error for each observation");
    if observed.len() < start.len() || start.is_empty() {
        return Err(NoFit::TooFew { observations: observed.len(), parameters: start.len() });
    }
    if !standard_errors.iter().all(|s| *s > 0.0 && s.is_finite()) {
        return Err(NoFit::NotANumber);
    }
    let residuals = |at: &[f64]| -> Option<Vec<f64>> {
        let values = model(at);
        assert_eq!(values.len(), observed.len(), "the model gives a value for each observation");
        let scaled = observed.iter().zip(values).zip(standard_errors).map(|((o, v), s)| (o - v) / s);
        let scaled: Vec<f64> = scaled.collect();
        scaled.iter().all(|r| r.is_finite()).then_some(scaled)
    };
    let mut at = start.to_vec();
    let mut left = residuals(&at).ok_or(NoFit::NotANumber)?;
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let normal = Normal::at(&residuals, &at, &left).ok_or(NoFit::NotANumber)?;
        match normal.improve(&residuals, &at, &left, &mut damping)? {
            Some((next, residuals_there)) => (at, left) = (next, residuals_there),
            None => return normal.fit(at, &left),
        }
    }
    Err(NoFit::NotConverged(STEPS))
}

/// The normal equations of a linearised fit: `equations · step = gradient`.
struct Normal {
    size: usize,
    equations: Vec<f64>,
    gradient: Vec<f64>,
}

impl Normal {
    fn at(residuals: &impl Fn(&[f64]) -> Option<Vec<f64>>, at: &[f64], left: &[f64]) -> Option<Self> {
        let size = at.len();
        let mut slopes = Vec::with_capacity(size);
        for i in 0..size {
            let step = step_of(at[i]);
            let mut moved = at.to_vec();
            moved[i] = at[i] + step;
            let above = residuals(&moved)?;
            moved[i] = at[i] - step;
            let below = residuals(&moved)?;
            // Of the model, hence the sign: residuals are observed less model.
            slopes.push(above.iter().zip(below).map(|(a, b)| (b - a) / (2.0 * step)).collect::<Vec<_>>());
        }
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let equations = (0..size * size).map(|i| product(&slopes[i / size], &slopes[i % size])).collect();
        let gradient = slopes.iter().map(|slope| product(slope, left)).collect();
        Some(Self { size, equations, gradient })
    }

    /// A step that lowers the sum of squares, or `None` at a minimum: where only steps of rounding's size are
    /// left.
    #[allow(clippy::type_complexity)]
    fn improve(
        &self,
        residuals: &impl Fn(&[f64]) -> Option<Vec<f64>>,
        at: &[f64],
        left: &[f64],
        damping: &mut f64,
    ) -> Result<Option<(Vec<f64>, Vec<f64>)>, NoFit> {
        let sum_now = sum_of_squares(left);
        // 1e16: a step that small changes no digit of a parameter.
        while *damping < 1e16 {
            let mut damped = self.equations.clone();
            (0..self.size).for_each(|i| damped[i * self.size + i] *= 1.0 + *damping);
            let step = Cholesky::factor(damped, self.size).ok_or(NoFit::Undetermined)?.solve(&self.gradient);
            let next: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a + s).collect();
            let small = at.iter().zip(&step).all(|(a, s)| s.abs() <= 1e-10 * (a.abs() + 1e-10));
            if let Some(there) = residuals(&next)
                && sum_of_squares(&there) < sum_now
            {
                *damping = (*damping / 10.0).max(1e-12);
                return Ok((!small).then_some((next, there)));
            }
            if small {
                return Ok(None);
            }
            *damping *= 10.0;
        }
        Ok(None)
    }

    fn fit(self, parameters: Vec<f64>, left: &[f64]) -> Result<Fit, NoFit> {
        let factored = Cholesky::factor(self.equations, self.size).ok_or(NoFit::Undetermined)?;
        Ok(Fit {
            degrees_of_freedom: (left.len() - parameters.len()) as f64,
            parameters,
            covariance: factored.inverse(),
            chi_square: sum_of_squares(left),
        })
    }
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}

/// The cube root of a double's precision, relative: where rounding and curvature err alike in a central
/// difference.
fn step_of(parameter: f64) -> f64 {
    6e-6 * parameter.abs().max(1e-3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mean_has_the_textbook_standard_error() {
        // The mean of 1, 2, 3 with errors of 1: 2 ± 1/√3; chi² = 1 + 0 + 1.
        let fit = least_squares(|p| vec![p[0]; 3], &[1.0, 2.0, 3.0], &[1.0; 3], &[10.0]).unwrap();
        assert!((fit.parameters[0] - 2.0).abs() < 1e-9);
        assert!((fit.standard_error(0) - 3f64.sqrt().recip()).abs() < 1e-9);
        assert!((fit.chi_square - 2.0).abs() < 1e-9);
        assert_eq!(fit.degrees_of_freedom, 2.0);
    }

    #[test]
    fn a_line_done_by_hand() {
        // y = 1, 3, 4 at x = 0, 1, 2: slope 3/2, intercept 7/6, residuals -1/6, 1/3, -1/6, chi² = 1/6.
        // Var(slope) = 1 / Σ(x - 1)² = 1/2; Var(intercept) = 1/3 + 1/2 = 5/6.
        let line = |p: &[f64]| (0..3).map(|x| p[0] + p[1] * f64::from(x)).collect();
        let fit = least_squares(line, &[1.0, 3.0, 4.0], &[1.0; 3], &[0.0, 1.0]).unwrap();
        let want = [fit.parameters[0] - 7.0 / 6.0, fit.parameters[1] - 1.5, fit.chi_square - 1.0 / 6.0];
        assert!(want.iter().all(|d| d.abs() < 1e-8), "{fit:?}");
        assert!((fit.covariance[1][1] - 0.5).abs() < 1e-8 && (fit.covariance[0][0] - 5.0 / 6.0).abs() < 1e-8);
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        let one = least_squares(|p| vec![p[0] + p[1]], &[1.0], &[1.0], &[0.0, 0.0]);
        assert_eq!(one, Err(NoFit::TooFew { observations: 1, parameters: 2 }));
        let sum = least_squares(|p| vec![p[0] + p[1]; 3], &[1.0, 2.0, 3.0], &[1.0; 3], &[0.0, 0.0]);
        // Two parameters of which only the sum shows: the undamped equations have no inverse.
        assert_eq!(sum, Err(NoFit::Undetermined));
        let nan = least_squares(|p| vec![p[0].ln()], &[1.0], &[1.0], &[-1.0]);
        assert_eq!(nan, Err(NoFit::NotANumber));
        assert_eq!(least_squares(|p| vec![p[0]], &[1.0], &[0.0], &[1.0]), Err(NoFit::NotANumber));
    }

    #[test]
    fn residuals_larger_than_their_errors_widen_the_fit() {
        // chi² = 2 / 0.1² = 200 over 2 degrees: the covariance grows 100-fold.
        let fit = least_squares(|p| vec![p[0]; 3], &[1.0, 2.0, 3.0], &[0.1; 3], &[1.0]).unwrap();
        let ratio = fit.clone().widened().covariance[0][0] / fit.covariance[0][0];
        assert!((ratio - 100.0).abs() < 1e-6, "{ratio}");
    }

    proptest! {
        #[test]
        fn hockneys_two_parameters_come_back(ln_cost in -12.0f64..-4.0, ln_bandwidth in 15.0f64..24.0) {
            // Time = cost + size / bandwidth; exact data, 11 sizes from 2^12 to 2^22.
            let sizes: Vec<f64> = (0..11).map(|i| 4096.0 * 2f64.powi(i)).collect();
            let times = |p: &[f64]| sizes.iter().map(|s| (p[0].exp() + s / p[1].exp()).ln()).collect::<Vec<_>>();
            let truth = [ln_cost, ln_bandwidth];
            let ends = times(&truth);
            // A start as a caller would take it: the time of the smallest size, the speed of the largest.
            let start = [ends[0], sizes[10].ln() - ends[10]];
            let fit = least_squares(times, &ends, &[0.03; 11], &start).unwrap();
            // Where one of the two hides below 1 in 10^6 of the other nothing determines it.
            let share = ln_cost.exp() / (4096.0 / ln_bandwidth.exp());
            prop_assume!(share > 1e-4 && share < 1e4 * 1024.0);
            prop_assert!((fit.parameters[0] - ln_cost).abs() < 1e-3, "{:?} for {:?}", fit.parameters, truth);
            prop_assert!((fit.parameters[1] - ln_bandwidth).abs() < 1e-3, "{:?} for {:?}", fit.parameters, truth);
        }
    }
}
