//! A slope over time that all points share.
//!
//! ln(rate) = level of the point + slope × time, each point weighted by its own scatter, with noise allowed for that
//! resembles the trial before ([`Autoregressive`]). Least squares on time and not on round numbers: rounds become
//! shorter when points close. Assumes that visits of each point are spread over the time, which
//! [`Levels::share_of_time_between`] tells.

use super::{autoregression::Autoregressive, robust};

/// Trials that lie further out than this many scatters pull no harder than those at it.
const FAR: f64 = 3.0;
/// Trials of a point, from which on it has a slope of its own.
const OWN_TRIALS_MIN: usize = 4;
/// Standard errors of such a slope that chance does not make, noise that resembles the trial before it included.
const SURE: f64 = 6.0;
/// Degrees of freedom that a point's own scatter borrows from all points'.
const BORROWED: f64 = 8.0;

/// One visit of a point.
#[derive(Debug, Clone, Copy)]
pub struct Visit {
    /// The point.
    pub group: usize,
    /// The middle of the visit.
    pub at_s: f64,
    /// ln(rate).
    pub log: f64,
}

/// How many points went which way, where they do not go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlike {
    /// Surely more at the end.
    pub rose: usize,
    /// Surely less at the end.
    pub fell: usize,
    /// All others.
    pub held: usize,
}

/// Each point's middle and scatter.
#[derive(Debug)]
pub struct Levels {
    /// Of each row: its place below.
    place: Vec<usize>,
    /// Mean of time and of the logarithm.
    means: Vec<(f64, f64)>,
    scatter: Vec<f64>,
}

impl Levels {
    /// Of visits in the order of time.
    pub fn of(rows: &[Visit]) -> Self {
        let mut names: Vec<usize> = rows.iter().map(|row| row.group).collect();
        names.sort_unstable();
        names.dedup();
        let place: Vec<usize> =
            rows.iter().map(|row| names.binary_search(&row.group).expect("it is listed")).collect();
        let members: Vec<Vec<&Visit>> = (0..names.len())
            .map(|group| rows.iter().zip(&place).filter(|(_, p)| **p == group).map(|(row, _)| row).collect())
            .collect();
        let mean = |rows: &[&Visit], of: fn(&Visit) -> f64| {
            rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
        };
        let means =
            members.iter().map(|rows| (mean(rows, |row| row.at_s), mean(rows, |row| row.log))).collect();
        Self { scatter: scatters(&members), place, means }
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.means.len()
    }

    /// Of all squares of time, those between points: 1 where each was visited at one time only.
    pub fn share_of_time_between(&self, rows: &[Visit]) -> f64 {
        let mean = rows.iter().map(|row| row.at_s).sum::<f64>() / rows.len() as f64;
        let all: f64 = rows.iter().map(|row| (row.at_s - mean).powi(2)).sum();
        let between: f64 = self.place.iter().map(|&place| (self.means[place].0 - mean).powi(2)).sum();
        if all > 0.0 { between / all } else { 1.0 }
    }

    /// Whether the points tell different stories: then one figure for all of them would be none's. More than a third
    /// have slopes of their own that the common one contradicts, by six standard errors and `change_min` of the rate
    /// over `duration_s`.
    pub fn unlike(&self, rows: &[Visit], common: f64, duration_s: f64, change_min: f64) -> Option<Unlike> {
        let own = |group: usize| {
            let times = || rows.iter().zip(&self.place).filter(move |(_, place)| **place == group);
            let (mean_s, mean) = self.means[group];
            let squares: f64 = times().map(|(row, _)| (row.at_s - mean_s).powi(2)).sum();
            let slope = times().map(|(row, _)| (row.at_s - mean_s) * (row.log - mean)).sum::<f64>() / squares;
            let known = times().count() >= OWN_TRIALS_MIN && squares > 0.0;
            known.then(|| (slope, self.scatter[group] / squares.sqrt()))
        };
        let slopes: Vec<(f64, f64)> = (0..self.means.len()).filter_map(own).collect();
        let matters = |slope: f64, error: f64| {
            slope.abs() > SURE * error && (slope * duration_s).exp_m1().abs() > change_min
        };
        let against = slopes.iter().filter(|(slope, error)| matters(slope - common, *error)).count();
        if 3 * against <= slopes.len() {
            return None;
        }
        let moved = |sign: f64| {
            let own = |found: &&(f64, f64)| sign * found.0 > 0.0 && matters(found.0, found.1);
            slopes.iter().filter(own).count()
        };
        let (rose, fell, all) = (moved(1.0), moved(-1.0), slopes.len());
        Some(Unlike { rose, fell, held: all - rose - fell })
    }

    /// The slope of the logarithm over seconds.
    pub fn slope(&self, rows: &[Visit]) -> Option<Autoregressive> {
        let weighted = |limit: Option<f64>| {
            let (mut times, mut logs) = (Vec::new(), Vec::new());
            for (row, &place) in rows.iter().zip(&self.place) {
                let (at_s, log) = (row.at_s - self.means[place].0, row.log - self.means[place].1);
                let expected = limit.map_or(0.0, |slope| slope * at_s);
                let scatter = self.scatter[place];
                let far = if limit.is_some() { FAR * scatter } else { f64::INFINITY };
                logs.push((expected + (log - expected).clamp(-far, far)) / scatter);
                times.push(at_s / scatter);
            }
            Autoregressive::fit_centred(&logs, &[times], self.means.len())
        };
        weighted(Some(robust_slope(rows, self)))
    }
}

/// A first guess that wild trials do not move: the median of the slopes between each trial of a point and the one
/// half a run later (after H. Theil and P. K. Sen).
fn robust_slope(rows: &[Visit], levels: &Levels) -> f64 {
    let mut slopes = Vec::new();
    for group in 0..levels.means.len() {
        let own: Vec<&Visit> =
            rows.iter().zip(&levels.place).filter(|(_, p)| **p == group).map(|(row, _)| row).collect();
        let half = own.len().div_ceil(2);
        for (a, b) in own.iter().zip(&own[half..]) {
            slopes.push((b.log - a.log) / (b.at_s - a.at_s).max(1e-9));
        }
    }
    robust::median(&slopes).unwrap_or(0.0)
}

/// Each point's scatter between neighbouring visits, which a drift hardly moves, drawn towards what all have.
fn scatters(members: &[Vec<&Visit>]) -> Vec<f64> {
    let steps = |rows: &Vec<&Visit>| -> Vec<f64> {
        rows.windows(2).map(|pair| (pair[1].log - pair[0].log) / std::f64::consts::SQRT_2).collect()
    };
    let variance = |steps: &[f64]| {
        robust::median_distance(steps).map(|d| (d * robust::SIGMA_PER_MEDIAN_DISTANCE).powi(2))
    };
    let all: Vec<f64> = members.iter().flat_map(steps).collect();
    // A millionth: a simulated device that repeats itself has no scatter, and nothing may be divided by that.
    let common = variance(&all).unwrap_or(0.0).max(1e-12);
    let of = |rows: &Vec<&Visit>| {
        let own = steps(rows);
        let degrees = own.len() as f64;
        ((variance(&own).unwrap_or(common) * degrees + common * BORROWED) / (degrees + BORROWED)).sqrt()
    };
    members.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Four points in turn, 3 % of noise, falling by 0.1 % a second.
    fn visits(seed: u64) -> Vec<Visit> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        let of = |i: usize| {
            let at_s = i as f64 * 1.2;
            Visit { group: i % 4, at_s, log: (i % 4) as f64 + 0.03 * noise() - 0.001 * at_s }
        };
        (0..60).map(of).collect()
    }

    #[test]
    fn its_interval_holds_the_slope_as_often_as_it_says() {
        let holds = |seed| {
            let visits = visits(seed);
            let fit = Levels::of(&visits).slope(&visits).unwrap();
            let (low, high) = fit.interval(0, 0.95);
            low <= -0.001 && -0.001 <= high
        };
        let held = (0..400).filter(|&seed| holds(seed)).count();
        assert!((372..=399).contains(&held), "{held} of 400");
    }

    #[test]
    fn visits_at_one_time_each_tell_nothing() {
        let mut visits = visits(1);
        for visit in &mut visits {
            visit.at_s = visit.group as f64;
        }
        assert!(Levels::of(&visits).share_of_time_between(&visits) > 0.99);
    }
}
