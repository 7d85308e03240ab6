//! Lag-1 correlation of short series, and the variance of a correlated mean.
//!
//! Assumed: AR(1) with normal errors, that is a correlation of ρ^k at lag k. All series share ρ; each has its own
//! level and scale. The plain lag-1 correlation of eight residuals is biased low by half. Here ρ maximises the
//! restricted likelihood, which contains neither level nor scale, so that many short series are worth one long
//! series. Missing members are skipped, as if their neighbours were adjacent.

/// Returns the variance of the mean of `length` members of an AR(1) series, in units of one member's variance: 1/n
/// without correlation, about (1 + ρ)/(1 − ρ)/n in long series.
pub fn variance_of_mean(length: f64, correlation: f64) -> f64 {
    // Σ (n − k) ρ^k for k = 1 .. n − 1, summed.
    let rest = 1.0 - correlation;
    let pairs = correlation * (length * rest - (1.0 - correlation.powf(length))) / (rest * rest);
    (length + 2.0 * pairs) / (length * length)
}

/// Sums over one series from which its likelihood is computed.
#[derive(Debug, Clone, Copy)]
struct Sums {
    length: f64,
    squares: f64,
    neighbours: f64,
    ends: f64,
    end_squares: f64,
}

/// Grid of correlations, in hundredths: a tenth of the standard error from 250 members. A series with a higher one
/// is a trend, of which observations spread over the time have the mean.
const GRID: std::ops::RangeInclusive<usize> = 0..=80;
/// Correlation of a series that has a trend of its own.
const OF_A_TREND: f64 = 0.95;
/// Shares of series with a trend of their own that are tried.
const TRENDING: [f64; 7] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6];
/// Twice the log likelihood that such a share must add, or there is none: χ² with one degree of freedom at 95 %. A
/// series with a high ρ by chance would else be taken for a trend, and leave too low a ρ to the others.
const TREND_GAIN: f64 = 3.84;

impl Sums {
    /// Returns twice the restricted log likelihood of ρ, up to a constant.
    fn likelihood(&self, correlation: f64) -> f64 {
        let (r, one) = (correlation, 1.0 + correlation);
        // The inverse of the correlation matrix is tridiagonal: 1, −ρ and 1 + ρ² over 1 − ρ².
        let whole = ((1.0 + r * r) * self.squares - r * r * self.end_squares - 2.0 * r * self.neighbours)
            / (1.0 - r * r);
        // The members' sum is zero; of the level's weights only the ends' excess is left.
        let level = r * self.ends / one;
        let weight = ((1.0 - r) * self.length + 2.0 * r) / one;
        let spare = self.length - 1.0;
        let left = (whole - level * level / weight).max(1e-300);
        -spare * (1.0 - r * r).ln() - weight.ln() - spare * left.ln()
    }

    fn likelihoods(&self) -> Vec<f64> {
        GRID.map(|step| self.likelihood(step as f64 / 100.0)).collect()
    }
}

/// Returns the grid's ρ of the highest likelihood, and the highest within `errors` standard errors of it.
fn bounds(doubled: &[f64], errors: f64) -> (f64, f64) {
    let best = (0..doubled.len()).max_by(|&a, &b| doubled[a].total_cmp(&doubled[b])).unwrap_or(0);
    let near = |step: &usize| doubled[best] - doubled[*step] <= errors * errors;
    let cautious = (best..doubled.len()).take_while(near).last().unwrap_or(best);
    (best as f64 / 100.0, cautious as f64 / 100.0)
}

/// Collection of series that share one lag-1 correlation.
#[derive(Debug, Clone, Default)]
pub struct Series(Vec<Sums>);

impl Series {
    /// Adds one series, and says so. Constant series and series with fewer than three members are ignored.
    pub fn add(&mut self, members: &[f64]) -> bool {
        let (Some(first), Some(last)) = (members.first(), members.last()) else { return false };
        let length = members.len() as f64;
        let mean = members.iter().sum::<f64>() / length;
        let centred = || members.iter().map(|m| m - mean);
        let squares: f64 = centred().map(|m| m * m).sum();
        if members.len() < 3 || squares <= 0.0 {
            return false;
        }
        let neighbours = members.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        let (first, last) = (first - mean, last - mean);
        // The level is no part of the likelihood: taking the mean changes only the digits.
        let sums = Sums {
            length,
            squares,
            neighbours,
            ends: first + last,
            end_squares: first * first + last * last,
        };
        self.0.push(sums);
        true
    }

    /// Returns the most likely ρ, between 0 and 0.8, and an upper bound: the likelihood interval's end at `errors`
    /// standard errors. `None` where no series was added. Negative values are excluded: few data would otherwise
    /// make intervals narrower.
    ///
    /// Each series is either one of the common ρ, or one with a trend of its own, in a share that is fitted too: such a
    /// series looks like ρ = 0.95, and its likelihood would outweigh that of twenty others.
    pub fn correlation(&self, errors: f64) -> Option<(f64, f64)> {
        let all: Vec<(Vec<f64>, f64)> =
            self.0.iter().map(|sums| (sums.likelihoods(), sums.likelihood(OF_A_TREND))).collect();
        let mixed = |step: usize, trending: f64| -> f64 {
            let of = |(own, trend): &(Vec<f64>, f64)| {
                own[step] + 2.0 * (1.0 - trending + trending * ((trend - own[step]) / 2.0).exp()).ln()
            };
            all.iter().map(of).sum()
        };
        let shared = |step: usize| {
            let gain = |trending: f64| if trending > 0.0 { TREND_GAIN } else { 0.0 };
            let of = |&trending: &f64| mixed(step, trending) - gain(trending);
            TRENDING.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
        };
        (!all.is_empty()).then(|| bounds(&GRID.map(shared).collect::<Vec<_>>(), errors))
    }

    /// Returns the upper bound of each series' own ρ, at most 0.8, as if it were the only one.
    pub fn own_bounds(&self, errors: f64) -> Vec<f64> {
        self.0.iter().map(|sums| bounds(&sums.likelihoods(), errors).1).collect()
    }

    /// Returns the total number of members added.
    pub fn members(&self) -> f64 {
        self.0.iter().map(|sums| sums.length).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// An AR(1) series with standard deviation 1.
    fn series(random: &mut Xoshiro256PlusPlus, length: usize, correlation: f64) -> Vec<f64> {
        let mut now: f64 = random.sample(StandardNormal);
        let mut out = vec![now];
        for _ in 1..length {
            let step: f64 = random.sample(StandardNormal);
            now = correlation * now + (1.0 - correlation * correlation).sqrt() * step;
            out.push(now);
        }
        out
    }

    #[test]
    fn the_mean_of_three_done_by_hand() {
        // Var of (a + b + c)/3 with ρ = 0.5: (3 + 2 (2 * 0.5 + 1 * 0.25)) / 9 = 5.5 / 9.
        assert!((variance_of_mean(3.0, 0.5) - 5.5 / 9.0).abs() < 1e-15);
        assert_eq!(variance_of_mean(4.0, 0.0), 0.25);
    }

    #[test]
    fn short_series_of_unlike_scales_give_their_correlation_without_bias() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for truth in [0.0, 0.3, 0.6] {
            let mut all = Series::default();
            // 20,000 series of 8 tell ρ to about 0.003; the grid is 0.01.
            for i in 0..20_000 {
                let (level, scale) = (f64::from(i), 1.0 + f64::from(i % 10));
                let members = series(&mut random, 8, truth);
                all.add(&members.iter().map(|m| level + scale * m).collect::<Vec<_>>());
            }
            let (got, upper) = all.correlation(0.5).unwrap();
            assert!((got - truth).abs() < 0.0151, "{got} for {truth}");
            assert!(upper >= got && upper - got <= 0.02, "{upper} over {got}");
        }
    }

    #[test]
    fn one_short_series_leaves_much_open() {
        // A random walk's beginning may be correlated or may not: half a standard error is a tenth.
        let mut one = Series::default();
        one.add(&[0.1, -0.4, 0.3, 0.2, 0.9, 0.4, -0.2, 0.1]);
        let (best, upper) = one.correlation(0.5).unwrap();
        assert!(upper >= best + 0.1, "{best} to {upper}");
    }

    #[test]
    fn nothing_counted_is_none_and_alternation_is_not_believed() {
        assert_eq!(Series::default().correlation(0.5), None);
        let mut few = Series::default();
        few.add(&[1.0, -1.0]);
        few.add(&[2.0, 2.0, 2.0]);
        assert_eq!(few.correlation(0.5), None);
        few.add(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
        assert_eq!(few.correlation(0.5).unwrap().0, 0.0);
    }

    proptest! {
        #[test]
        fn level_and_scale_do_not_matter(seed in any::<u64>(), level in -1e3f64..1e3, scale in 0.1f64..10.0) {
            let members = series(&mut Xoshiro256PlusPlus::seed_from_u64(seed), 20, 0.5);
            let (mut plain, mut moved) = (Series::default(), Series::default());
            plain.add(&members);
            moved.add(&members.iter().map(|m| level + scale * m).collect::<Vec<_>>());
            prop_assert_eq!(plain.correlation(0.5), moved.correlation(0.5));
        }

        #[test]
        fn a_mean_varies_more_the_more_its_members_agree(
            n in 2u8..100,
            low in 0.0f64..0.9,
            more in 0.001f64..0.09,
        ) {
            let n = f64::from(n);
            prop_assert!(variance_of_mean(n, low + more) > variance_of_mean(n, low));
            prop_assert!(variance_of_mean(n, low) < 1.0 && variance_of_mean(n, low) >= 1.0 / n - 1e-12);
        }
    }
}
