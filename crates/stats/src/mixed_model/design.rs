//! Design matrix and normal equations of [`super::MixedModel`]: levels, a slope, and a random walk between knots.
//!
//! The walk's roughness is the one with the highest restricted likelihood among eight; S. N. Wood, *Fast
//! stable restricted maximum likelihood and marginal likelihood estimation of semiparametric generalized
//! linear models* (J. R. Stat. Soc. B 73, 2011), in its simplest case.

use super::row::Row;
use crate::matrix::Cholesky;

/// The trend's steps between knots over the whole time, in units of one row's noise: none, and to 25-fold.
const ROUGHNESS: [f64; 8] = [0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 12.0, 25.0];
/// Knots beyond the first: a trend of ten pieces follows what lasts longer than a tenth of the run.
const KNOTS: usize = 10;

/// Scatter that is the clock's and the arithmetic's, as a share: it says nothing of correlation, and nothing of a
/// trend.
pub(super) const CLOCK: f64 = 1e-6;
/// Fewest rows of a group that may show that it does not follow the trend of the others.
const FEWEST_APART: usize = 5;
/// Likelihood of a group's rows without the trend over that with it, from which on it does not follow: one group in a
/// thousand at most that does follow.
const LIKELIER: f64 = 1000.0;

/// A row of the design: its group, its place on the trend's straight line, and its two nearest knots.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) group: usize,
    pub(super) value: f64,
    /// (column, factor); a knot that is pinned has factor 0.
    pub(super) entries: [(usize, f64); 4],
    /// Place on the whole time, from 0 to 1.
    pub(super) place: f64,
}

impl Line {
    pub(super) fn times(&self, parameters: &[f64]) -> f64 {
        self.entries.iter().map(|(column, factor)| factor * parameters[*column]).sum()
    }
}

/// The whole time, from the first row's start to the last one's end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    first_s: f64,
    length_s: f64,
}

impl Time {
    /// Returns the place of a row's middle, from 0 to 1.
    pub(super) fn place(&self, row: &Row) -> f64 {
        ((row.start_s + row.end_s) / 2.0 - self.first_s) / self.length_s
    }
}

#[derive(Debug, Clone)]
pub(super) struct Design {
    /// Rows in the order of time.
    pub(super) rows: Vec<Line>,
    pub(super) time: Time,
    /// Index of each row among those given.
    pub(super) order: Vec<usize>,
    /// Rows of each group, in the order of time.
    pub(super) members: Vec<Vec<usize>>,
    pub(super) groups: usize,
    /// Whether each group follows the common trend.
    pub(super) follows: Vec<bool>,
    /// Knots beyond the first, which is pinned at zero.
    pub(super) knots: usize,
    pub(super) columns: usize,
    /// Taken from the values of each group beforehand, for the digits.
    pub(super) offset: Vec<f64>,
}

/// A fit for given weights.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    pub(super) parameters: Vec<f64>,
    pub(super) factored: Cholesky,
    pub(super) inverse: Vec<Vec<f64>>,
    pub(super) roughness: f64,
    /// Weight of each group, relative to `scale`.
    pub(super) weight: Vec<f64>,
    /// The variance of a row of weight 1.
    pub(super) scale: f64,
}

impl Design {
    pub(super) fn new(given: &[Row], order: Vec<usize>, groups: usize) -> Option<Self> {
        let first_s = given[*order.first()?].start_s;
        let last_s = given.iter().map(|row| row.end_s).fold(first_s, f64::max);
        let time = Time { first_s, length_s: (last_s - first_s).max(1e-9) };
        let mut members = vec![Vec::new(); groups];
        let mut offset = vec![0.0; groups];
        for (place, &i) in order.iter().enumerate() {
            if members[given[i].group].is_empty() {
                offset[given[i].group] = given[i].log_value;
            }
            members[given[i].group].push(place);
        }
        let present = members.iter().filter(|m| !m.is_empty()).count();
        // At least two rows a group for each piece of the trend, and thirty in all: a trend that may bend
        // more often follows the noise of a small study, and hides how much its rows resemble each other.
        let knots = (order.len() / present.max(15) / 2).min(KNOTS);
        let rows = order
            .iter()
            .map(|&i| {
                let at = time.place(&given[i]);
                let group = given[i].group;
                let place = at * knots as f64;
                let left = (place.floor() as usize).min(knots.saturating_sub(1));
                let part = place - left as f64;
                // Column of knot k (1 ..) is groups + k; the pinned knot 0 borrows the slope's column with
                // factor 0.
                let knot = |k: usize, factor: f64| {
                    if k == 0 || knots == 0 { (groups, 0.0) } else { (groups + k, factor) }
                };
                let entries =
                    [(group, 1.0), (groups, at - 0.5), knot(left, 1.0 - part), knot(left + 1, part)];
                Line { group, value: given[i].log_value - offset[group], entries, place: at }
            })
            .collect();
        Some(Self {
            rows,
            time,
            order,
            members,
            groups,
            knots,
            columns: groups + 1 + knots,
            offset,
            follows: vec![true; groups],
        })
    }

    /// Takes the groups from the trend that do not follow it, and returns whether there were any.
    ///
    /// A trend that some groups have and others lack fits the others worse than no trend does: reads that a page cache
    /// makes faster by half are measured among reads that the processor limits and that repeat to the last digit.
    /// Pooled, the latter had intervals of ±43 %.
    pub(super) fn part_from_trend(&mut self, solution: &Solution) -> bool {
        let residuals = self.residuals(solution);
        let squares = |members: &[usize], of: &dyn Fn(usize) -> f64| {
            let mean = members.iter().map(|&i| of(i)).sum::<f64>() / members.len() as f64;
            members.iter().map(|&i| (of(i) - mean).powi(2)).sum::<f64>()
        };
        let independent = self.independent_share(&residuals);
        let parts = |group: &usize| {
            let members = &self.members[*group];
            let rows = members.len() as f64;
            let (with, without) =
                (squares(members, &|i| residuals[i]), squares(members, &|i| self.rows[i].value));
            let likelier = independent * rows / 2.0 * (with / without.max(rows * CLOCK * CLOCK)).ln();
            self.follows[*group] && members.len() >= FEWEST_APART && likelier > LIKELIER.ln()
        };
        let apart: Vec<usize> = (0..self.groups).filter(parts).collect();
        for &group in &apart {
            self.follows[group] = false;
            for &row in &self.members[group] {
                self.rows[row].entries[1..].iter_mut().for_each(|(_, factor)| *factor = 0.0);
            }
        }
        !apart.is_empty()
    }

    /// Independent rows over rows, by the correlation from row to row within the groups: at 0.6, a quarter. Noise that
    /// wanders looks like a trend of its own, or like the lack of one.
    fn independent_share(&self, residuals: &[f64]) -> f64 {
        let pairs = || self.members.iter().flat_map(|members| members.windows(2));
        let products: f64 = pairs().map(|pair| residuals[pair[0]] * residuals[pair[1]]).sum();
        let squares: f64 =
            pairs().map(|pair| (residuals[pair[0]].powi(2) + residuals[pair[1]].powi(2)) / 2.0).sum();
        let correlation = if squares > 0.0 { (products / squares).clamp(0.0, 0.95) } else { 0.0 };
        (1.0 - correlation) / (1.0 + correlation)
    }

    /// Least squares with the roughness that fits best, or a given one.
    pub(super) fn solve(&self, kept: &[bool], weight: &[f64], roughness: Option<f64>) -> Option<Solution> {
        let size = self.columns;
        let (mut equations, mut right, mut squares, mut rows) =
            (vec![0.0; size * size], vec![0.0; size], 0.0, 0.0);
        for (row, _) in self.rows.iter().zip(kept).filter(|(_, kept)| **kept) {
            let w = weight[row.group];
            for &(i, a) in &row.entries {
                right[i] += w * a * row.value;
                row.entries.iter().for_each(|&(j, b)| equations[i * size + j] += w * a * b);
            }
            squares += w * row.value * row.value;
            rows += 1.0;
        }
        let mut present = 0.0;
        for group in 0..self.groups {
            if equations[group * size + group] == 0.0 {
                equations[group * size + group] = 1.0;
            } else {
                present += 1.0;
            }
        }
        // A slope that nothing determines (every group once) is zero: 1e-6 of a row.
        equations[self.groups * size + self.groups] += 1e-6;
        let spare: f64 = rows - present - 1.0;
        let one = roughness.map(|r| [r]);
        let candidates: &[f64] = match &one {
            Some(one) => one,
            None if self.knots > 0 && spare > 4.0 => &ROUGHNESS,
            None => &ROUGHNESS[..1],
        };
        let best = candidates
            .iter()
            .filter_map(|&r| self.penalised(&equations, &right, squares, spare, r))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        let (_, roughness, factored, parameters, scale) = best;
        let inverse = factored.inverse();
        Some(Solution { parameters, factored, inverse, roughness, weight: weight.to_vec(), scale })
    }

    /// Twice the negative restricted log likelihood of a roughness, and its fit.
    fn penalised(
        &self,
        equations: &[f64],
        right: &[f64],
        squares: f64,
        spare: f64,
        roughness: f64,
    ) -> Option<(f64, f64, Cholesky, Vec<f64>, f64)> {
        let size = self.columns;
        let mut matrix = equations.to_vec();
        // Roughness 0 pins every knot: a penalty so large that nothing is left of them.
        let penalty = if roughness > 0.0 { self.knots as f64 / roughness.powi(2) } else { 1e9 };
        for k in 1..=self.knots {
            let here = self.groups + k;
            matrix[here * size + here] += penalty;
            if k > 1 {
                matrix[(here - 1) * size + here - 1] += penalty;
                matrix[here * size + here - 1] -= penalty;
                matrix[(here - 1) * size + here] -= penalty;
            }
        }
        let factored = Cholesky::factor(matrix, size)?;
        let parameters = factored.solve(right);
        let explained: f64 = parameters.iter().zip(right).map(|(p, r)| p * r).sum();
        // 1e-12: identical values have no variance at all, and a logarithm is taken.
        let left = (squares - explained).max(1e-12);
        let likelihood =
            spare.max(1.0) * left.ln() + factored.log_determinant() - self.knots as f64 * penalty.ln();
        Some((likelihood, roughness, factored, parameters, left / spare.max(1.0)))
    }

    /// `p' Penalty p` of the random walk, for a roughness of 1.
    pub(super) fn walk_energy(&self, parameters: &[f64]) -> f64 {
        let knot = |k: usize| if k == 0 { 0.0 } else { parameters[self.groups + k] };
        (1..=self.knots).map(|k| (knot(k) - knot(k - 1)).powi(2)).sum::<f64>() * self.knots as f64
    }

    /// The trend at 64 even places, with the columns that make it.
    fn places(&self) -> impl Iterator<Item = [(usize, f64); 3]> + '_ {
        (0..64).map(|i| {
            let at = (f64::from(i) + 0.5) / 64.0;
            let place = at * self.knots as f64;
            let left = (place.floor() as usize).min(self.knots.saturating_sub(1));
            let part = place - left as f64;
            let knot = |k: usize, factor: f64| if k == 0 || self.knots == 0 { (0, 0.0) } else { (k, factor) };
            [(0, at - 0.5), knot(left, 1.0 - part), knot(left + 1, part)]
        })
    }

    fn trend(&self, parameters: &[f64]) -> Vec<f64> {
        let of =
            |entries: [(usize, f64); 3]| entries.iter().map(|(c, f)| f * parameters[self.groups + c]).sum();
        self.places().map(of).collect()
    }

    /// ln of the mean of exp(sign × trend).
    pub(super) fn log_mean_of_trend(&self, parameters: &[f64], sign: f64) -> f64 {
        (self.trend(parameters).iter().map(|s| (sign * s).exp()).sum::<f64>() / 64.0).ln()
    }

    /// The derivative of that, by slope and knots.
    pub(super) fn mean_of_trend(&self, parameters: &[f64], sign: f64) -> Vec<f64> {
        let heights: Vec<f64> = self.trend(parameters).iter().map(|s| (sign * s).exp()).collect();
        let total: f64 = heights.iter().sum();
        let mut out = vec![0.0; 1 + self.knots];
        for (entries, height) in self.places().zip(heights) {
            entries.iter().for_each(|(column, factor)| out[*column] += factor * height / total);
        }
        out
    }

    pub(super) fn residuals(&self, solution: &Solution) -> Vec<f64> {
        self.rows.iter().map(|row| row.value - row.times(&solution.parameters)).collect()
    }

    /// The share of a row's own noise in its fitted value.
    pub(super) fn leverage(&self, solution: &Solution, row: usize) -> f64 {
        let line = &self.rows[row];
        let mut own = 0.0;
        for &(i, a) in &line.entries {
            line.entries.iter().for_each(|&(j, b)| own += a * b * solution.inverse[i][j]);
        }
        // 0.95: a row that makes its own level has no residual to scale.
        (solution.weight[line.group] * own).clamp(0.0, 0.95)
    }
}
