//! Linear trend over time that all groups share.
//!
//! Model: log value = level of the group + slope × time, with AR(1) noise ([`Autoregressive`]). Each group is weighted
//! by its own scatter. The regressor is time and not the index, since observations need not be evenly spaced.
//! Assumed: the observations of each group are spread over the time; [`Levels::share_of_time_between`] measures it.

use std::collections::BTreeMap;

use super::{autoregression::Autoregressive, robust, student_t};

/// Residuals are clamped at this many standard deviations, so that outliers have limited weight.
const FAR: f64 = 3.0;
/// Fewest observations from which a group's own slope is computed.
const OWN_TRIALS_MIN: usize = 4;
/// Standard errors by which a group's own slope differs significantly, with room for correlated noise.
const SURE: f64 = 6.0;
/// Degrees of freedom that a group's variance borrows from the common variance.
const BORROWED: f64 = 8.0;

/// Observation of a group.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// Number of the group; any numbers, not necessarily consecutive.
    pub group: usize,
    /// Time of the observation in seconds: the middle, where it took a while.
    pub at_s: f64,
    /// Natural logarithm of the value.
    pub log: f64,
}

/// Number of groups by the direction of their own trend, where they do not share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heterogeneity {
    /// Groups that rose significantly.
    pub rose: usize,
    /// Groups that fell significantly.
    pub fell: usize,
    /// Groups without a significant trend.
    pub held: usize,
}

/// Mean and scatter of each group.
#[derive(Debug)]
pub struct Levels {
    /// Index into the fields below, for each observation.
    place: Vec<usize>,
    /// Mean of time and mean of the logarithm, for each group.
    means: Vec<(f64, f64)>,
    scatter: Vec<f64>,
    /// Numbers of the groups, with their observations.
    groups: Vec<(usize, usize)>,
}

impl Levels {
    /// Computes the means and scatters of observations in the order of time.
    pub fn of(rows: &[Observation]) -> Self {
        let mut names: Vec<usize> = rows.iter().map(|row| row.group).collect();
        names.sort_unstable();
        names.dedup();
        let place: Vec<usize> =
            rows.iter().map(|row| names.binary_search(&row.group).expect("it is listed")).collect();
        let members: Vec<Vec<&Observation>> = (0..names.len())
            .map(|group| rows.iter().zip(&place).filter(|(_, p)| **p == group).map(|(row, _)| row).collect())
            .collect();
        let mean = |rows: &[&Observation], of: fn(&Observation) -> f64| {
            rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
        };
        let means =
            members.iter().map(|rows| (mean(rows, |row| row.at_s), mean(rows, |row| row.log))).collect();
        let groups = names.into_iter().zip(members.iter().map(Vec::len)).collect();
        Self { scatter: scatters(&members), place, means, groups }
    }

    /// Returns half of the interval that the mean logarithm of each group would have if there were no trend, by the
    /// group's number: successive observations differ by noise, and by a trend only where that is as steep.
    pub fn half_widths_without_trend(&self, confidence: f64) -> BTreeMap<usize, f64> {
        let half = |(&(group, count), scatter): (&(usize, usize), &f64)| {
            let count = count as f64;
            (group, student_t(confidence, count - 1.0 + BORROWED) * scatter / count.sqrt())
        };
        self.groups.iter().zip(&self.scatter).map(half).collect()
    }

    /// Returns the number of groups.
    pub fn count(&self) -> usize {
        self.means.len()
    }

    /// Returns the share of the variance of time that lies between groups: 1 where each group was observed at one time
    /// only, so that trend and level are confounded.
    pub fn share_of_time_between(&self, rows: &[Observation]) -> f64 {
        let mean = rows.iter().map(|row| row.at_s).sum::<f64>() / rows.len() as f64;
        let all: f64 = rows.iter().map(|row| (row.at_s - mean).powi(2)).sum();
        let between: f64 = self.place.iter().map(|&place| (self.means[place].0 - mean).powi(2)).sum();
        if all > 0.0 { between / all } else { 1.0 }
    }

    /// Tests whether the groups share the slope `common`. Returns counts by direction where more than a third of the
    /// groups have a slope that differs from `common` by six standard errors and by `change_min` (a share of the value)
    /// over `duration_s`; otherwise `None`.
    pub fn heterogeneity(
        &self,
        rows: &[Observation],
        common: f64,
        duration_s: f64,
        change_min: f64,
    ) -> Option<Heterogeneity> {
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
        Some(Heterogeneity { rose, fell, held: all - rose - fell })
    }

    /// Fits the common slope of the logarithm per second: coefficient 0 of the result. `None` with too few
    /// observations.
    pub fn slope(&self, rows: &[Observation]) -> Option<Autoregressive> {
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

/// Returns a robust start value: the median of the slopes between each observation of a group and the one half the
/// group later (after H. Theil and P. K. Sen).
fn robust_slope(rows: &[Observation], levels: &Levels) -> f64 {
    let mut slopes = Vec::new();
    for group in 0..levels.means.len() {
        let own: Vec<&Observation> =
            rows.iter().zip(&levels.place).filter(|(_, p)| **p == group).map(|(row, _)| row).collect();
        let half = own.len().div_ceil(2);
        for (a, b) in own.iter().zip(&own[half..]) {
            slopes.push((b.log - a.log) / (b.at_s - a.at_s).max(1e-9));
        }
    }
    robust::median(&slopes).unwrap_or(0.0)
}

/// Returns each group's scatter, from differences of successive observations (hardly affected by a drift), shrunk
/// towards the common scatter.
fn scatters(members: &[Vec<&Observation>]) -> Vec<f64> {
    let steps = |rows: &Vec<&Observation>| -> Vec<f64> {
        rows.windows(2).map(|pair| (pair[1].log - pair[0].log) / std::f64::consts::SQRT_2).collect()
    };
    let variance =
        |steps: &[f64]| robust::median_absolute_deviation(steps).map(|d| (d * robust::SIGMA_PER_MAD).powi(2));
    let all: Vec<f64> = members.iter().flat_map(steps).collect();
    // A millionth: a simulation without noise has no scatter, and a division by zero must not happen.
    let common = variance(&all).unwrap_or(0.0).max(1e-12);
    let of = |rows: &Vec<&Observation>| {
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
    fn visits(seed: u64) -> Vec<Observation> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        let of = |i: usize| {
            let at_s = i as f64 * 1.2;
            Observation { group: i % 4, at_s, log: (i % 4) as f64 + 0.03 * noise() - 0.001 * at_s }
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

    #[test]
    fn a_trend_hardly_widens_an_interval_that_is_without_it() {
        // 3 % of noise and 15 visits: 2.07 x 3 % / sqrt(15) = 1.6 %. Steps of -1.4 and -2.9 % add to the noise of a
        // step: sqrt(1 + 1.4^2 / 18) = 1.05, sqrt(1 + 2.9^2 / 18) = 1.21.
        let mean = |slope: f64| {
            let of = |seed| {
                let mut visits = visits(seed);
                visits.iter_mut().for_each(|visit| visit.log += (slope + 0.001) * visit.at_s);
                Levels::of(&visits).half_widths_without_trend(0.95)[&2]
            };
            (0..200).map(of).sum::<f64>() / 200.0
        };
        for (slope, factor) in [(0.0, 1.0), (-0.003, 1.05), (-0.006, 1.21)] {
            let found = mean(slope) / 0.0160;
            assert!((found / factor - 1.0).abs() < 0.1, "{slope}: {found}");
        }
    }
}
