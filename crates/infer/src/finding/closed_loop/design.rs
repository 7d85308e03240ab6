//! Which queue depths to visit further, so that the interval of the saturation point shrinks most: a c-optimal
//! design.
//!
//! By the delta method the variance of ln N* is an entry of the inverse of the information about (R₀, N*, 1/k).
//! Each visit adds to that information according to the curve's slopes at its queue depth. Visits are added one
//! after another where each makes the interval narrowest, as the mean for the sharpest and the softest curve that
//! still fit. At the softest a visit to the corner seems to gain nothing; at the sharpest any depth on the plateau
//! is as good as the deepest. The interval contains the family's share, which becomes less where the corner is
//! known to be sharp. A visit right at the saturation point shows that, and the two asymptotes show the rest.
//!
//! Source: V. V. Fedorov, Theory of Optimal Experiments (1972), the sequential algorithm; the criterion is G.
//! Elfving's, Optimum allocation in linear regression theory (Ann. Math. Statist. 23, 1952).

use iosonde_model::Estimate;
use iosonde_stats::{matrix::Cholesky, normal};

use super::{Depth, SHARP, Shape, fit, least_family, log_rate};

/// A level nearer than this to the knee tells as much of the corner as one right at it.
const NEAR: f64 = 0.1;
/// One visit in so many goes to the corner at least, where it may be sharp: what the first rounds say of it is luck.
const LOOKS: usize = 8;
/// What is known of 1/k before anything is measured, as a variance: it lies between 0 and 1.
const CORNER_VARIANCE: f64 = 0.25;
/// Steps for slopes: of ln N*, and of 1/k.
const STEPS: (f64, f64) = (0.01, 0.02);

/// What is known of one queue depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub(crate) in_flight: u32,
    /// Its rate.
    pub(crate) iops: Estimate,
    /// Trials behind it.
    pub(crate) visits: f64,
}

/// How many of `more` visits go to which queue depth; one between the levels may be among them. `None` where no
/// curve fits yet.
pub(crate) fn design(levels: &[Level], more: usize, confidence: f64) -> Option<Vec<(u32, usize)>> {
    let depths: Option<Vec<Depth>> = levels.iter().map(|level| depth(level, confidence)).collect();
    let mut depths = depths?;
    depths.sort_by(|a, b| a.in_flight.total_cmp(&b.in_flight));
    let curve = fit(&depths, confidence).ok()?;
    let by_corner = |a: &&Shape, b: &&Shape| a.k.total_cmp(&b.k);
    let (sharpest, softest) =
        (curve.shapes.iter().max_by(by_corner)?, curve.shapes.iter().min_by(by_corner)?);
    let numbers = numbers(levels, sharpest.log_knee.exp().round() as u32);
    let mut known = [sharpest, softest].map(|shape| Known::of(&depths, Curve::of(shape)));
    let visit_variance = usual_variance(levels, &depths);
    let mut counts = vec![0; numbers.len()];
    for _ in 0..more {
        let half = |number: u32| {
            let halves = known.iter().map(|one| one.and(number, visit_variance).half_width(confidence));
            halves.sum::<f64>()
        };
        let halves = numbers.iter().map(|&number| half(number));
        let (place, _) = halves.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        known = known.map(|one| one.and(numbers[place], visit_variance));
        counts[place] += 1;
    }
    if sharpest.k >= SHARP {
        let at_knee = |&place: &usize| is_near(numbers[place], sharpest.log_knee.exp());
        let place = (0..numbers.len()).find(at_knee);
        place.into_iter().for_each(|place| counts[place] = counts[place].max(more / LOOKS));
    }
    Some(numbers.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect())
}

fn is_near(number: u32, knee: f64) -> bool {
    (f64::from(number) / knee).ln().abs() < NEAR
}

/// The levels, and the knee where none of them is near and it lies between them.
fn numbers(levels: &[Level], knee: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = levels.iter().map(|level| level.in_flight).collect();
    let lies_between = numbers.iter().any(|&number| number < knee) && numbers.iter().any(|&n| n > knee);
    if lies_between && !numbers.iter().any(|&number| is_near(number, f64::from(knee))) {
        numbers.push(knee);
    }
    numbers
}

fn depth(level: &Level, confidence: f64) -> Option<Depth> {
    let Estimate { value, low: Some(low), high: Some(high) } = level.iops else { return None };
    Some(Depth {
        in_flight: f64::from(level.in_flight),
        log_rate: value.ln(),
        standard_error: (high / low).ln() / 2.0 / normal(confidence),
    })
}

/// Variance of the logarithm of one visit's throughput: the geometric mean over the levels, since each level's own is
/// poorly known.
fn usual_variance(levels: &[Level], depths: &[Depth]) -> f64 {
    let visits = levels.iter().map(|level| level.visits.ln()).sum::<f64>();
    let errors = depths.iter().map(|depth| 2.0 * depth.standard_error.ln()).sum::<f64>();
    ((errors + visits) / depths.len() as f64).exp()
}

/// The curve at which slopes are taken; `corner` is 1/k.
#[derive(Debug, Clone, Copy)]
struct Curve {
    log_knee: f64,
    corner: f64,
}

impl Curve {
    fn of(shape: &Shape) -> Self {
        Self { log_knee: shape.log_knee, corner: 1.0 / shape.k }
    }

    fn log_rate(self, ln_knee: f64, corner: f64, in_flight: f64) -> f64 {
        log_rate(0.0, self.log_knee + ln_knee, 1.0 / corner, in_flight)
    }

    /// Derivatives of ln X by ln R₀, ln N* and 1/k.
    fn slopes(self, in_flight: f64) -> [f64; 3] {
        let (step, bend) = STEPS;
        let by_knee =
            self.log_rate(step, self.corner, in_flight) - self.log_rate(-step, self.corner, in_flight);
        // No corner is sharper than the sharpest, or softer than 1.
        let (low, high) = ((self.corner - bend).max(1.0 / 1024.0), (self.corner + bend).min(1.0));
        let by_corner = self.log_rate(0.0, high, in_flight) - self.log_rate(0.0, low, in_flight);
        [-1.0, by_knee / (2.0 * step), by_corner / (high - low)]
    }
}

/// What is known of ln R₀, ln N* and 1/k if this is the curve: the information's matrix.
#[derive(Debug, Clone, Copy)]
struct Known {
    curve: Curve,
    matrix: [f64; 9],
}

impl Known {
    fn of(depths: &[Depth], curve: Curve) -> Self {
        let mut matrix = [0.0; 9];
        matrix[8] = 1.0 / CORNER_VARIANCE;
        let told = |known: Self, depth: &Depth| known.with(depth.in_flight, depth.standard_error.powi(2));
        depths.iter().fold(Self { curve, matrix }, told)
    }

    /// With one more visit.
    fn and(self, number: u32, variance: f64) -> Self {
        self.with(f64::from(number), variance)
    }

    fn with(mut self, in_flight: f64, variance: f64) -> Self {
        let slopes = self.curve.slopes(in_flight);
        for (row, a) in slopes.iter().enumerate() {
            for (column, b) in slopes.iter().enumerate() {
                self.matrix[3 * row + column] += a * b / variance;
            }
        }
        self
    }

    /// Half-width of the interval of ln N*, with the family's share; infinite where the visits do not determine all
    /// three.
    fn half_width(&self, confidence: f64) -> f64 {
        let Some(factored) = Cholesky::factor(self.matrix.into(), 3) else { return f64::INFINITY };
        let (knee, bend) = (factored.solve(&[0.0, 1.0, 0.0])[1], factored.solve(&[0.0, 0.0, 1.0])[2]);
        let softest = (self.curve.corner + normal(confidence) * bend.sqrt()).min(1.0);
        (normal(confidence) * knee.sqrt()).hypot(least_family(1.0 / softest))
    }
}

#[cfg(test)]
mod tests {
    use iosonde_stats::robust::median;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A curve with levels known to 2 %, after five visits each.
    fn levels(knee: f64, k: f64) -> Vec<Level> {
        let level = |in_flight: u32| {
            let value = log_rate(80e-6f64.ln(), knee.ln(), k, f64::from(in_flight)).exp();
            let iops = Estimate { value, low: Some(value / 1.02), high: Some(value * 1.02) };
            Level { in_flight, iops, visits: 5.0 }
        };
        [1, 4, 16, 64, 256].map(level).into()
    }

    fn shares(knee: f64, k: f64) -> Vec<(u32, usize)> {
        design(&levels(knee, k), 60, 0.95).unwrap()
    }

    fn of(design: &[(u32, usize)], wanted: impl Fn(u32) -> bool) -> usize {
        design.iter().filter(|(number, _)| wanted(*number)).map(|(_, count)| count).sum()
    }

    #[test]
    fn a_sharp_corner_is_known_from_both_asymptotes_and_a_little_from_the_corner() {
        let sharp = shares(8.0, 1000.0);
        // 60, and what a look at the corner takes beyond.
        assert!((60..68).contains(&of(&sharp, |_| true)));
        let (below, at, beyond) = (of(&sharp, |n| n <= 4), of(&sharp, |n| n == 8), of(&sharp, |n| n >= 16));
        assert!((18..=36).contains(&below) && (18..=36).contains(&beyond), "{sharp:?}");
        assert!((2..=15).contains(&at), "{sharp:?}");
    }

    #[test]
    fn a_soft_corner_is_known_from_the_ends_alone() {
        // The exponential network: the family's share stays, whatever is measured at the knee.
        let soft = shares(8.0, 1.0);
        assert_eq!(of(&soft, |n| n == 8 || n == 16), 0, "{soft:?}");
        assert!(of(&soft, |n| n == 256) > 15, "{soft:?}");
    }

    #[test]
    fn a_level_near_the_knee_stands_for_it_and_a_curve_that_does_not_fit_gives_none() {
        assert!(shares(17.0, 1000.0).iter().all(|(number, _)| *number != 17));
        let mut odd = levels(8.0, 2.0);
        odd.remove(0);
        assert_eq!(design(&odd, 10, 0.95), None);
    }

    /// What visits say of a curve: the mean of so many with noise of 2 %, from the draws of the first five on.
    fn seen(
        knee: f64,
        (in_flight, visits): (u32, usize),
        first: f64,
        random: &mut Xoshiro256PlusPlus,
    ) -> Depth {
        let truth = log_rate(80e-6f64.ln(), knee.ln(), 1000.0, f64::from(in_flight));
        let more: f64 = (0..visits).map(|_| random.sample::<f64, _>(StandardNormal)).sum();
        let count = visits as f64 + if first == 0.0 { 0.0 } else { 5.0 };
        let log_rate = truth + 0.02 * (first + more) / count;
        Depth { in_flight: f64::from(in_flight), log_rate, standard_error: 0.02 / count.sqrt() }
    }

    /// ln(high / low) of the knee from 60 visits more, and whether it holds the truth: as designed from the first five
    /// of each level, and spread evenly.
    fn refitted(knee: f64, random: &mut Xoshiro256PlusPlus) -> [(f64, bool); 2] {
        let grid = [1, 4, 16, 64, 256];
        let sums = grid.map(|_| (0..5).map(|_| random.sample::<f64, _>(StandardNormal)).sum::<f64>());
        let level = |(&in_flight, &sum): (&u32, &f64)| {
            let depth = seen(knee, (in_flight, 0), sum, &mut Xoshiro256PlusPlus::seed_from_u64(0));
            let value = depth.log_rate.exp();
            let off = (normal(0.95) * depth.standard_error).exp();
            let iops = Estimate { value, low: Some(value / off), high: Some(value * off) };
            Level { in_flight, iops, visits: 5.0 }
        };
        let levels: Vec<Level> = grid.iter().zip(&sums).map(level).collect();
        let designed = design(&levels, 60, 0.95).expect("a curve fits");
        [designed, grid.map(|number| (number, 12)).into()].map(|visits| {
            let of =
                |number| visits.iter().find(|(other, _)| *other == number).map_or(0, |(_, count)| *count);
            let mut depths: Vec<Depth> = grid
                .iter()
                .zip(&sums)
                .map(|(&number, &sum)| seen(knee, (number, of(number)), sum, random))
                .collect();
            let between = visits.iter().filter(|(number, _)| !grid.contains(number));
            depths.extend(between.map(|&visit| seen(knee, visit, 0.0, random)));
            depths.sort_by(|a, b| a.in_flight.total_cmp(&b.in_flight));
            let found = fit(&depths, 0.95).expect("a curve fits").knee();
            let (low, high) = (found.low.unwrap(), found.high.unwrap());
            ((high / low).ln(), low <= knee && knee <= high)
        })
    }

    /// Not judged by what the search itself makes least: the points are drawn, and the whole fit is made anew.
    #[test]
    fn visits_that_are_designed_make_the_knee_of_simulated_points_narrower_than_even_ones() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for (knee, share) in [(8.0, 0.6), (20.0, 0.8)] {
            let runs: Vec<_> = (0..40).map(|_| refitted(knee, &mut random)).collect();
            let ratios: Vec<f64> = runs.iter().map(|[designed, even]| designed.0 / even.0).collect();
            let ratio = median(&ratios).unwrap();
            assert!(ratio < share, "{knee}: {ratio}");
            let held = |place: usize| runs.iter().filter(|run| run[place].1).count();
            assert!(held(0) >= 37 && held(1) >= 37, "{knee}: {} and {} of 40", held(0), held(1));
        }
    }
}
