//! Linear regression with AR(1) errors.
//!
//! Model: y = X β + e, where e is AR(1) with unknown lag-1 correlation ρ. The result averages over ρ: ten values
//! hardly separate 0 from 0.6, and an interval at the likeliest ρ is too narrow by a third. Each ρ of a grid is
//! fitted by itself (the transformation of S. J. Prais and C. B. Winsten, *Trend estimators and serial
//! correlation*, 1954) and weighted by its restricted likelihood (D. A. Harville, J. Am. Stat. Assoc. 72, 1977). A
//! coefficient then has a mixture of Student's t distributions.
//!
//! Assumed: equal steps, normal errors of one size, a uniform prior on 0 ≤ ρ ≤ 0.95. Negative ρ is excluded, since
//! few data would otherwise make intervals narrower.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::matrix::Cholesky;

/// Number of grid values of ρ: 0, 0.05, .., 0.95. A finer grid changes no digit that is shown.
const STEPS: usize = 20;

/// Fit at one ρ.
#[derive(Debug, Clone)]
struct At {
    /// Posterior weight; all weights sum to 1.
    weight: f64,
    coefficients: Vec<f64>,
    standard_errors: Vec<f64>,
    /// Twice the profile log likelihood.
    likelihood: f64,
    correlation: f64,
}

/// Regression averaged over the unknown correlation.
#[derive(Debug, Clone)]
pub struct Autoregressive {
    fits: Vec<At>,
    degrees_of_freedom: f64,
}

impl Autoregressive {
    /// Fits `values` by the columns of `design`. `None` with fewer than three values more than columns, or where the
    /// columns are collinear.
    pub fn fit(values: &[f64], design: &[Vec<f64>]) -> Option<Self> {
        Self::fit_centred(values, design, 0)
    }

    /// Fits values and columns from which `taken` means were subtracted beforehand; each costs a degree of freedom.
    /// `None` as for [`Autoregressive::fit`].
    pub fn fit_centred(values: &[f64], design: &[Vec<f64>], taken: usize) -> Option<Self> {
        Self::fit_within(values, design, taken, 1.0)
    }

    /// Fits like [`Autoregressive::fit_centred`] with ρ limited to `most`.
    pub fn fit_within(values: &[f64], design: &[Vec<f64>], taken: usize, most: f64) -> Option<Self> {
        let (length, columns) = (values.len(), design.len());
        if length < columns + taken + 3 {
            return None;
        }
        let spare = (length - columns - taken) as f64;
        let mut fits = Vec::with_capacity(STEPS);
        let mut restricted = Vec::with_capacity(STEPS);
        let correlations = (0..STEPS).map(|step| step as f64 / STEPS as f64);
        for correlation in correlations.take_while(|&correlation| correlation <= most) {
            let y = whitened(values, correlation);
            let x: Vec<Vec<f64>> = design.iter().map(|column| whitened(column, correlation)).collect();
            let normal = (0..columns * columns).map(|i| dot(&x[i / columns], &x[i % columns])).collect();
            let factored = Cholesky::factor(normal, columns)?;
            let right: Vec<f64> = x.iter().map(|column| dot(column, &y)).collect();
            let coefficients = factored.solve(&right);
            // 1e-12 of the values' own squares: an exact line has no scatter, and its logarithm no end.
            let least = 1e-12 * dot(values, values).max(1e-12);
            let squares = (dot(&y, &y) - dot(&right, &coefficients)).max(least);
            let variance = squares / spare;
            let inverse = factored.inverse();
            let standard_errors = (0..columns).map(|i| (variance * inverse[i][i]).sqrt()).collect();
            // ln |R| of AR(1) errors with unit innovations is −ln(1 − ρ²).
            let innovation = (1.0 - correlation * correlation).ln();
            restricted.push(0.5 * (innovation - spare * squares.ln() - factored.log_determinant()));
            let likelihood = innovation - length as f64 * squares.ln();
            fits.push(At { weight: 0.0, coefficients, standard_errors, likelihood, correlation });
        }
        let most = restricted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = restricted.iter().map(|r| (r - most).exp()).sum();
        for (fit, restricted) in fits.iter_mut().zip(&restricted) {
            fit.weight = (restricted - most).exp() / total;
        }
        Some(Self { fits, degrees_of_freedom: spare })
    }

    /// Returns the posterior mean of the coefficient of a column.
    pub fn coefficient(&self, column: usize) -> f64 {
        self.fits.iter().map(|fit| fit.weight * fit.coefficients[column]).sum()
    }

    /// Returns the posterior probability that the coefficient of a column lies below `bound`.
    pub fn below(&self, column: usize, bound: f64) -> f64 {
        let law = StudentsT::new(0.0, 1.0, self.degrees_of_freedom).expect("degrees are positive");
        let of =
            |fit: &At| fit.weight * law.cdf((bound - fit.coefficients[column]) / fit.standard_errors[column]);
        self.fits.iter().filter(|fit| fit.weight > 1e-6).map(of).sum()
    }

    /// Returns the interval of a coefficient with equal tails; `confidence` is a share such as 0.95.
    pub fn interval(&self, column: usize, confidence: f64) -> (f64, f64) {
        let tail = (1.0 - confidence) / 2.0;
        (self.quantile(column, tail), self.quantile(column, 1.0 - tail))
    }

    /// Solves `below(x) = share` by the Illinois method (M. Dowell and P. Jarratt, BIT 11, 1971): about ten evaluations
    /// in place of sixty bisections, each of which costs a beta function for every ρ.
    fn quantile(&self, column: usize, share: f64) -> f64 {
        let believed = || self.fits.iter().filter(|fit| fit.weight > 1e-6);
        let widest = believed().map(|fit| fit.standard_errors[column]).fold(0.0, f64::max);
        let centre = self.coefficient(column);
        // Logits of the shares: nearly straight lines over the tails, where the shares themselves bend most.
        let logit = |at: f64| {
            let below = self.below(column, at).clamp(1e-300, 1.0 - 1e-16);
            (below / (1.0 - below)).ln() - (share / (1.0 - share)).ln()
        };
        let mut reach = 3.0 * widest;
        let (mut low, mut high) = (centre - reach, centre + reach);
        let (mut at_low, mut at_high) = (logit(low), logit(high));
        // 3 x 2^9 standard errors: beyond them lies nothing that anybody asks for.
        for _ in 0..9 {
            if at_low <= 0.0 && at_high >= 0.0 {
                break;
            }
            reach *= 2.0;
            (low, high) = (centre - reach, centre + reach);
            (at_low, at_high) = (logit(low), logit(high));
        }
        let mut side = 0;
        for _ in 0..60 {
            let span = at_high - at_low;
            let place =
                if span > 0.0 { low - at_low * (high - low) / span } else { f64::midpoint(low, high) };
            let value = logit(place);
            if value.abs() < 1e-10 || high - low <= 1e-12 * widest {
                return place;
            }
            let below = value < 0.0;
            if below {
                (low, at_low) = (place, value)
            } else {
                (high, at_high) = (place, value)
            }
            match (below, side) {
                (true, -1) => at_high /= 2.0,
                (false, 1) => at_low /= 2.0,
                _ => {}
            }
            side = if below { -1 } else { 1 };
        }
        f64::midpoint(low, high)
    }

    /// Returns twice the largest log likelihood, for comparing models of the same values.
    pub fn likelihood(&self) -> f64 {
        self.fits.iter().map(|fit| fit.likelihood).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the posterior mean of the lag-1 correlation ρ.
    pub fn correlation(&self) -> f64 {
        self.fits.iter().map(|fit| fit.weight * fit.correlation).sum()
    }
}

/// Transforms a column so that AR(1) errors become independent (Prais and Winsten).
fn whitened(column: &[f64], correlation: f64) -> Vec<f64> {
    let first = column.first().map(|value| value * (1.0 - correlation * correlation).sqrt());
    first.into_iter().chain(column.windows(2).map(|pair| pair[1] - correlation * pair[0])).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn line(length: usize) -> Vec<Vec<f64>> {
        vec![vec![1.0; length], (0..length).map(|i| i as f64).collect()]
    }

    fn noise(random: &mut Xoshiro256PlusPlus, length: usize, correlation: f64) -> Vec<f64> {
        let mut now: f64 = random.sample(StandardNormal);
        let mut next = || {
            let fresh: f64 = random.sample(StandardNormal);
            now = correlation * now + (1.0 - correlation * correlation).sqrt() * fresh;
            now
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn a_line_without_noise_is_found_exactly() {
        let values: Vec<f64> = (0..12).map(|i| 3.0 - 0.02 * f64::from(i)).collect();
        let fit = Autoregressive::fit(&values, &line(12)).unwrap();
        assert!((fit.coefficient(1) + 0.02).abs() < 1e-9);
        assert!(fit.below(1, -0.019) > 0.999 && fit.below(1, -0.021) < 0.001);
    }

    #[test]
    fn an_interval_ends_where_its_shares_lie() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for (length, correlation) in [(6, 0.0), (10, 0.6), (60, 0.3), (200, 0.9)] {
            let fit = Autoregressive::fit(&noise(&mut random, length, correlation), &line(length)).unwrap();
            for confidence in [0.5, 0.9, 0.98, 0.9999] {
                let (low, high) = fit.interval(1, confidence);
                let tail = (1.0 - confidence) / 2.0;
                assert!((fit.below(1, low) / tail - 1.0).abs() < 1e-6, "{length} {confidence}: {low}");
                assert!(
                    ((1.0 - fit.below(1, high)) / tail - 1.0).abs() < 1e-6,
                    "{length} {confidence}: {high}"
                );
            }
        }
    }

    #[test]
    fn too_few_values_and_columns_that_say_the_same_have_no_fit() {
        assert!(Autoregressive::fit(&[1.0, 2.0, 3.0, 4.0], &line(4)).is_none());
        assert!(Autoregressive::fit(&[1.0; 9], &[vec![1.0; 9], vec![2.0; 9]]).is_none());
    }

    /// 95 % intervals of a slope that is zero must cover it in about 95 of 100, whatever the correlation.
    #[test]
    fn intervals_of_a_slope_cover_it_under_correlation() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        for (length, correlation) in [(10, 0.0), (10, 0.6), (30, 0.0), (30, 0.3), (30, 0.6)] {
            let covered = (0..400).filter(|_| {
                let fit = Autoregressive::fit(&noise(&mut random, length, correlation), &line(length));
                let (low, high) = fit.unwrap().interval(1, 0.95);
                low <= 0.0 && 0.0 <= high
            });
            let covered = covered.count();
            // 400 draws at 95 %: 380 ± 13 (three standard deviations); caution may cover more.
            assert!(covered >= 362, "{covered} of 400 at length {length}, correlation {correlation}");
        }
    }

    proptest! {
        #[test]
        fn level_and_scale_do_not_matter(seed in any::<u64>(), level in -9.0f64..9.0, scale in 0.1f64..10.0) {
            let values = noise(&mut Xoshiro256PlusPlus::seed_from_u64(seed), 15, 0.4);
            let moved: Vec<f64> = values.iter().map(|v| level + scale * v).collect();
            let of = |values: &[f64]| Autoregressive::fit(values, &line(15)).unwrap();
            let (a, b) = (of(&values), of(&moved));
            prop_assert!((a.coefficient(1) * scale - b.coefficient(1)).abs() < 1e-6 * scale);
            prop_assert!((a.below(1, 0.01) - b.below(1, 0.01 * scale)).abs() < 1e-6);
        }
    }
}
