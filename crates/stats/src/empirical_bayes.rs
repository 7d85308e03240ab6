//! Empirical Bayes estimates of the variances of many small groups.
//!
//! Eight observations give a variance to within a factor of two. Twenty-seven groups of eight with similar
//! variances give it well. How similar they are follows from the spread of the sample variances beyond the spread
//! expected by chance. It decides how far each variance is shrunk towards the common one. G. K. Smyth, *Linear models
//! and empirical Bayes methods* (Stat. Appl. Genet. Mol. Biol. 3, 2004), with a cap on the weight of the prior.
//!
//! Assumed: normal errors inside each group, and true variances that scatter like a scaled inverse χ².

use statrs::{
    distribution::{ContinuousCDF, FisherSnedecor},
    function::gamma::digamma,
};

use super::bisect;

/// Error rate of the test for a group that varies far more than the others.
const WILD: f64 = 0.01;
/// Error rate of the test for one that varies far less. Its own variance makes its interval narrow: of ten rows, one
/// with a quarter of the others' standard deviation does not pass.
const STILL: f64 = 1e-3;

/// Prior distribution of the groups' variances: scaled inverse χ².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Common variance.
    pub variance: f64,
    /// Weight of the common variance in degrees of freedom: large where the groups' variances are similar, near zero
    /// where they are not.
    pub degrees_of_freedom: f64,
    /// Degrees of freedom of all groups together, an upper limit of any posterior's.
    total: f64,
    /// Geometric mean of the groups' variances, which unlike groups have too.
    pub typical: f64,
}

impl Prior {
    /// Fits the prior to each group's variance and degrees of freedom; groups with less than half a degree are
    /// ignored. `cap` limits the prior's degrees of freedom. `None` where no group has a variance.
    pub fn of(groups: &[(f64, f64)], cap: f64) -> Option<Self> {
        let told: Vec<(f64, f64)> = groups.iter().copied().filter(|(v, d)| *d >= 0.5 && *v > 0.0).collect();
        let total: f64 = told.iter().map(|(_, d)| d).sum();
        if told.is_empty() {
            return None;
        }
        // The logarithm of a variance from d degrees lies below the truth's by ln(d/2) − ψ(d/2).
        let logs: Vec<f64> = told.iter().map(|(v, d)| v.ln() - digamma(d / 2.0) + (d / 2.0).ln()).collect();
        // Weighted, so that a group of one degree does not drown groups of ten.
        let mean = logs.iter().zip(&told).map(|(l, (_, d))| l * d).sum::<f64>() / total;
        let spread = logs.iter().zip(&told).map(|(l, (_, d))| d * (l - mean).powi(2)).sum::<f64>() / total;
        let count = told.len() as f64;
        let by_chance = told.iter().map(|(_, d)| d * trigamma(d / 2.0)).sum::<f64>() / total;
        let spread = spread * count / (count - 1.0).max(1.0);
        let beyond = spread - by_chance;
        // One standard error more: few groups that happen to agree are not thereby alike.
        let doubt = by_chance.max(spread) * (2.0 / (count - 1.0).max(1.0)).sqrt();
        let degrees = if count < 2.0 {
            0.0
        } else if beyond + doubt <= 0.0 {
            cap
        } else {
            (2.0 * trigamma_inverse(beyond + doubt)).min(cap)
        };
        let shift = if degrees > 0.0 { digamma(degrees / 2.0) - (degrees / 2.0).ln() } else { 0.0 };
        // With a cap, alike groups have no shift to make up for: their mean variance is the common one.
        let variance = if beyond <= 0.0 || count < 2.0 {
            told.iter().map(|(v, d)| v * d).sum::<f64>() / total
        } else {
            (mean + shift).exp()
        };
        Some(Self { variance, degrees_of_freedom: degrees, total, typical: mean.exp() })
    }

    /// Returns the posterior variance of a group and its degrees of freedom. A group whose variance is significantly
    /// larger or smaller than the common one is returned as it is: shrinkage would make its interval too narrow, or
    /// give values that repeat to the last digit the noise of the others.
    pub fn posterior(&self, variance: f64, degrees_of_freedom: f64) -> (f64, f64) {
        if self.is_outlier(variance, degrees_of_freedom) {
            return (variance, degrees_of_freedom);
        }
        let borrowed = self.borrowed(degrees_of_freedom);
        let sum = borrowed + degrees_of_freedom;
        if sum <= 0.0 {
            return (self.variance, 1.0);
        }
        let own = degrees_of_freedom * variance.max(0.0);
        ((borrowed * self.variance + own) / sum, sum.min(self.total.max(1.0)))
    }
}

impl Prior {
    /// Returns the weight of the common variance for a group with degrees of freedom of its own, less than the prior's:
    /// all of it where the groups are far more alike than one group can show, half of it where both weigh the same.
    /// Groups that differ by a factor of 5 in scatter have a prior of three degrees. It would narrow an interval of
    /// ten rows by 4 %, and the noisiest third of the groups would be covered in 92 % instead of 95.
    fn borrowed(&self, own: f64) -> f64 {
        let prior = self.degrees_of_freedom;
        if prior > 0.0 { prior * prior / (prior + own) } else { 0.0 }
    }

    /// Returns true where a variance is significantly larger or smaller than the common one (F test).
    fn is_outlier(&self, variance: f64, degrees_of_freedom: f64) -> bool {
        let ratio = variance / self.variance;
        // 2.5 and 0.25: chance alone goes further once in a hundred times, whatever the degrees of freedom here.
        let is_near = (0.25..2.5).contains(&ratio);
        if self.degrees_of_freedom < 0.5 || degrees_of_freedom < 0.5 || ratio.is_nan() || is_near {
            return false;
        }
        let law = FisherSnedecor::new(degrees_of_freedom, self.degrees_of_freedom);
        law.is_ok_and(|law| if ratio > 1.0 { law.sf(ratio) < WILD } else { law.cdf(ratio) < STILL })
    }
}

/// Returns the trigamma function, the derivative of digamma: the variance of ln χ² with 2x degrees of freedom.
pub fn trigamma(x: f64) -> f64 {
    // Recurrence up to 8, where the asymptotic series is good to 1e-10.
    let (mut at, mut sum) = (x, 0.0);
    while at < 8.0 {
        sum += at.powi(-2);
        at += 1.0;
    }
    let inverse = at.recip();
    let square = inverse * inverse;
    sum + inverse * (1.0 + inverse / 2.0 + square * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0)))
}

/// Returns the x whose trigamma is `y`, for positive `y`.
pub fn trigamma_inverse(y: f64) -> f64 {
    // trigamma falls from infinity to zero; looked for on the logarithm, from 1e-4 to 1e6.
    let (low, high) = bisect((1e-4f64.ln(), 1e6f64.ln()), 60, |log| trigamma(log.exp()) > y);
    ((low + high) / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn trigamma_has_its_known_values() {
        // ψ'(1) = π²/6, ψ'(1/2) = π²/2.
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-9);
        assert!((trigamma(0.5) - PI * PI / 2.0).abs() < 1e-9);
    }

    #[test]
    fn like_groups_share_and_unlike_ones_do_not() {
        // Variances within the factor that 7 degrees scatter by: borrow all that may be borrowed.
        let alike = Prior::of(&[(1.0, 7.0), (1.3, 7.0), (0.8, 7.0), (1.1, 7.0)], 8.0).unwrap();
        assert_eq!(alike.degrees_of_freedom, 8.0);
        assert!((alike.variance - 1.05).abs() < 1e-12, "(1 + 1.3 + 0.8 + 1.1) / 4");
        // A factor of 10,000 between them is no chance.
        let unlike = Prior::of(&[(0.01, 7.0), (100.0, 7.0), (0.01, 7.0), (100.0, 7.0)], 8.0).unwrap();
        assert!(unlike.degrees_of_freedom < 0.5, "{unlike:?}");
        let (variance, _) = unlike.posterior(100.0, 7.0);
        assert!(variance > 90.0, "{variance}");
    }

    #[test]
    fn a_wild_group_among_like_ones_keeps_its_own_scatter() {
        // 26 points that scatter alike and one eight times as much. What they have in common says nothing of it.
        let mut groups: Vec<(f64, f64)> = (0..26).map(|i| (0.7 + 0.6 * f64::from(i) / 25.0, 9.0)).collect();
        groups.push((64.0, 9.0));
        let prior = Prior::of(&groups, 16.0).unwrap();
        assert_eq!(prior.posterior(64.0, 9.0), (64.0, 9.0));
        let (tame, degrees) = prior.posterior(0.7, 9.0);
        assert!(tame > 0.7 && degrees > 9.0, "{tame} {degrees}");
    }

    #[test]
    fn one_group_borrows_nothing_from_itself() {
        let lone = Prior::of(&[(2.0, 7.0)], 8.0).unwrap();
        assert_eq!(lone.posterior(2.0, 7.0), (2.0, 7.0));
        assert_eq!(Prior::of(&[(2.0, 0.0)], 8.0), None);
    }

    proptest! {
        #[test]
        fn the_inverse_inverts(x in 0.01f64..1000.0) {
            prop_assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-6);
        }

        #[test]
        fn what_a_group_ends_with_lies_between_its_own_and_the_common(
            values in prop::collection::vec(0.01f64..10.0, 2..30),
        ) {
            let groups: Vec<(f64, f64)> = values.iter().map(|v| (*v, 6.0)).collect();
            let prior = Prior::of(&groups, 8.0).unwrap();
            for v in values {
                let (got, degrees) = prior.posterior(v, 6.0);
                prop_assert!(got >= v.min(prior.variance) - 1e-12 && got <= v.max(prior.variance) + 1e-12);
                prop_assert!((6.0..=14.0).contains(&degrees));
            }
        }
    }
}
