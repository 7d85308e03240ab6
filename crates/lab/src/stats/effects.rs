//! What each group's level is when all groups share a drift: log value = level of the group + trend in time.
//!
//! The model, in logarithms: a level for each group, one trend that all groups share (a straight line plus a
//! random walk between knots, as rough as the data say by restricted likelihood), and noise whose size may
//! differ from group to group (each borrows from all, see [`super::shrink`]). A row that lies more than 4.5
//! median distances away is set aside, and said to be. The trend stands in the place of round effects: it costs
//! next to nothing where there is no drift, and rounds of one or two groups still tell something.
//!
//! Standard errors allow for two kinds of correlation, each measured from the residuals: between neighbours in
//! time, whatever their group, and between neighbours of one group. The fit is the one for independent noise;
//! its errors are those that it has under the correlated kind.
//!
//! The estimand is the mean over the time from the first row's start to the last one's end: of the value itself,
//! not of its logarithm (see [`Average`]).
//!
//! Assumed: the trend multiplies all groups alike; each group's rows are spread over the time at random. A group
//! that stopped early is carried on by the others' trend.

use super::matrix::Cholesky;
use super::robust::{SIGMA_PER_MEDIAN_DISTANCE, median_distance};
use super::series::{Series, variance_of_mean};
use super::shrink::Prior;
use crate::evidence::{LogEstimate, student_t};

/// One measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Which group it is of: 0, 1, ..
    pub group: usize,
    /// When it began.
    pub start_s: f64,
    /// When it ended.
    pub end_s: f64,
    /// The natural logarithm of the value.
    pub log_value: f64,
}

/// What the mean is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// Every second counts alike: right for rates, whose mean times the duration is the work done.
    OverTime,
    /// Every request counts alike, and slow seconds hold fewer of them: right for times, and the reason why
    /// rate × time stays what was in flight.
    OverRequests,
}

impl Average {
    fn sign(self) -> f64 {
        match self {
            Self::OverTime => 1.0,
            Self::OverRequests => -1.0,
        }
    }
}

/// Rows are set aside beyond the limit that holds this share of normal noise: 4.5 median distances or 3.04 σ
/// where σ is well known, and more where it is not.
const LIMIT_SHARE: f64 = 0.9976;
/// What is left of normal noise's variance inside that limit.
const VARIANCE_WITHIN: f64 = 0.976;
/// What a group may borrow from all: twice what eight trials tell of themselves at most.
const PRIOR_CAP: f64 = 16.0;
/// The trend's steps between knots over the whole time, in units of one row's noise: none, and to 25-fold.
const ROUGHNESS: [f64; 8] = [0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 12.0, 25.0];
/// Knots beyond the first: a trend of ten pieces follows what lasts longer than a tenth of the run.
const KNOTS: usize = 10;

/// The levels of all groups, fitted together.
#[derive(Debug, Clone)]
pub struct Effects {
    average: Average,
    design: Design,
    kept: Vec<bool>,
    sigma: Vec<f64>,
    degrees: Vec<f64>,
    solution: Solution,
    along_time: f64,
    along_group: f64,
}

impl Effects {
    /// Fits `groups` groups. `None` where there are no rows. Groups without rows are allowed.
    pub fn fit(rows: &[Row], groups: usize, average: Average) -> Option<Self> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| rows[a].start_s.total_cmp(&rows[b].start_s));
        let design = Design::new(rows, order, groups)?;
        let mut kept = vec![true; rows.len()];
        let mut weight = vec![1.0; groups];
        let mut solution = design.solve(&kept, &weight, None)?;
        let mut spread = Spread::of(&design, &solution, &kept);
        // 10: two or three passes settle it; two sets of rows that alternate end here with the last.
        for pass in 0..10 {
            let next = design.within_limit(&solution, &kept);
            let drift = spread.reweight(&mut weight);
            if next == kept && drift < 0.02 && pass > 0 {
                break;
            }
            kept = next;
            // The roughness of the first passes may still be that of rows that are now set aside.
            let roughness = (pass > 2).then_some(solution.roughness);
            solution = design.solve(&kept, &weight, roughness)?;
            spread = Spread::of(&design, &solution, &kept);
        }
        let ((likely_time, along_time), (likely_group, along_group)) = spread.correlations(&design, &kept);
        let noise = spread.with_correlation(&design, &kept, likely_time, likely_group).drawn;
        let sigma = noise.iter().map(|(variance, _)| variance.sqrt()).collect();
        let degrees = noise.iter().map(|(_, degrees)| *degrees).collect();
        Some(Self { average, design, kept, sigma, degrees, solution, along_time, along_group })
    }

    /// The mean of one group, with its standard error. `None` where no row of it was kept, or where no group
    /// has more rows than it has unknowns.
    pub fn estimate(&self, group: usize) -> Option<LogEstimate> {
        Some(LogEstimate {
            log_mean: self.level(group),
            standard_error: self.variance(&[(group, 1.0)])?.sqrt(),
            degrees_of_freedom: self.degrees[group],
        })
    }

    /// The ratio of two groups' means: narrower than from two single estimates, since they share the trend.
    pub fn ratio(&self, numerator: usize, denominator: usize) -> Option<LogEstimate> {
        let both = self.variance(&[(numerator, 1.0), (denominator, -1.0)])?;
        let (a, b) = (self.variance(&[(numerator, 1.0)])?, self.variance(&[(denominator, 1.0)])?);
        // Satterthwaite's degrees of freedom of a sum of two variances.
        let shares = a * a / self.degrees[numerator] + b * b / self.degrees[denominator];
        let degrees = if shares > 0.0 { (a + b).powi(2) / shares } else { self.degrees[numerator] };
        Some(LogEstimate {
            log_mean: self.level(numerator) - self.level(denominator),
            standard_error: both.sqrt(),
            degrees_of_freedom: degrees,
        })
    }

    /// The indices of the rows that were set aside, ascending.
    pub fn set_aside(&self) -> Vec<usize> {
        let mut aside: Vec<usize> =
            (0..self.kept.len()).filter(|&i| !self.kept[i]).map(|i| self.design.order[i]).collect();
        aside.sort_unstable();
        aside
    }

    /// How many rows of a group were kept.
    pub fn kept(&self, group: usize) -> usize {
        self.design.rows.iter().zip(&self.kept).filter(|(row, kept)| row.group == group && **kept).count()
    }

    /// The standard deviation of one row of a group, as a share of the value.
    pub fn spread(&self, group: usize) -> f64 {
        self.sigma[group]
    }

    /// The correlation of neighbours in time, and of neighbours of one group.
    pub fn correlations(&self) -> (f64, f64) {
        (self.along_time, self.along_group)
    }

    fn level(&self, group: usize) -> f64 {
        let sign = self.average.sign();
        // Of noise that multiplies: the mean lies half a variance above the mean logarithm's exponential.
        self.design.offset[group]
            + self.solution.parameters[group]
            + sign * self.design.log_mean_of_trend(&self.solution.parameters, sign)
            + sign * self.sigma[group].powi(2) / 2.0
    }

    /// The variance of a combination of group means.
    fn variance(&self, combination: &[(usize, f64)]) -> Option<f64> {
        let (design, solution) = (&self.design, &self.solution);
        let mut aim = vec![0.0; design.columns];
        let trend: f64 = combination.iter().map(|(_, factor)| factor).sum();
        for (column, share) in
            design.mean_of_trend(&solution.parameters, self.average.sign()).iter().enumerate()
        {
            aim[design.groups + column] = trend * share;
        }
        for &(group, factor) in combination {
            aim[group] += factor;
            if self.kept(group) == 0 || self.degrees[group] < 0.5 {
                return None;
            }
        }
        let pull = solution.factored.solve(&aim);
        // Each kept row's weight in the answer, times its noise.
        let shares: Vec<f64> = (0..design.rows.len())
            .map(|i| {
                let row = &design.rows[i];
                let weight = f64::from(u8::from(self.kept[i])) * solution.weight[row.group];
                weight * row.times(&pull) * self.sigma[row.group]
            })
            .collect();
        let noise = along_time(&shares, self.along_time) + self.along_groups(&shares);
        // What the penalty kept the trend from following.
        let missed = if solution.roughness > 0.0 {
            design.walk_energy(&pull) * solution.scale / solution.roughness.powi(2)
        } else {
            0.0
        };
        Some(noise + missed)
    }

    /// What correlation inside groups adds to what correlation in time already has.
    fn along_groups(&self, shares: &[f64]) -> f64 {
        if self.along_group <= 0.0 {
            return 0.0;
        }
        let (in_time, in_group) = (powers(self.along_time), powers(self.along_group));
        let mut sum = 0.0;
        for members in &self.design.members {
            let members: Vec<usize> = members.iter().copied().filter(|&i| self.kept[i]).collect();
            for (place, &i) in members.iter().enumerate() {
                for (&j, own) in members[place + 1..].iter().zip(&in_group) {
                    let known = in_time.get(j - i - 1).copied().unwrap_or(0.0);
                    sum += 2.0 * shares[i] * shares[j] * (own - known).max(0.0);
                }
            }
        }
        sum
    }
}

/// ρ, ρ², .. down to 0.001: what is further apart adds nothing that shows.
fn powers(correlation: f64) -> Vec<f64> {
    std::iter::successors(Some(correlation), |power| Some(power * correlation))
        .take_while(|power| *power >= 1e-3)
        .collect()
}

/// Σ_ij x_i x_j ρ^|i − j|, in one pass.
fn along_time(shares: &[f64], correlation: f64) -> f64 {
    let (mut sum, mut before) = (0.0, 0.0);
    for &share in shares {
        sum += share * share + 2.0 * share * before;
        before = correlation * (before + share);
    }
    sum
}

/// A row of the design: its group, its place on the trend's straight line, and its two nearest knots.
#[derive(Debug, Clone)]
struct Line {
    group: usize,
    value: f64,
    /// (column, factor); a knot that is pinned has factor 0.
    entries: [(usize, f64); 4],
}

impl Line {
    fn times(&self, parameters: &[f64]) -> f64 {
        self.entries.iter().map(|(column, factor)| factor * parameters[*column]).sum()
    }
}

#[derive(Debug, Clone)]
struct Design {
    /// In the order of time.
    rows: Vec<Line>,
    /// Where each row of `rows` stood among those given.
    order: Vec<usize>,
    /// Rows of each group, in the order of time.
    members: Vec<Vec<usize>>,
    groups: usize,
    /// Knots beyond the first, which is pinned at zero.
    knots: usize,
    columns: usize,
    /// Taken from the values of each group beforehand, for the digits.
    offset: Vec<f64>,
}

/// A fit for given weights.
#[derive(Debug, Clone)]
struct Solution {
    parameters: Vec<f64>,
    factored: Cholesky,
    inverse: Vec<Vec<f64>>,
    roughness: f64,
    /// Of each group, relative to `scale`.
    weight: Vec<f64>,
    /// The variance of a row of weight 1.
    scale: f64,
}

impl Design {
    fn new(given: &[Row], order: Vec<usize>, groups: usize) -> Option<Self> {
        let first_s = given[*order.first()?].start_s;
        let last_s = given.iter().map(|row| row.end_s).fold(first_s, f64::max);
        let length_s = (last_s - first_s).max(1e-9);
        let mut members = vec![Vec::new(); groups];
        let mut offset = vec![0.0; groups];
        for (place, &i) in order.iter().enumerate() {
            if members[given[i].group].is_empty() {
                offset[given[i].group] = given[i].log_value;
            }
            members[given[i].group].push(place);
        }
        let present = members.iter().filter(|m| !m.is_empty()).count();
        // Two rows a group for each piece of the trend at the least, and thirty in all: a trend that may bend
        // more often follows the noise of a small study, and hides how much its rows resemble each other.
        let knots = (order.len() / present.max(15) / 2).min(KNOTS);
        let rows = order
            .iter()
            .map(|&i| {
                let at = ((given[i].start_s + given[i].end_s) / 2.0 - first_s) / length_s;
                let group = given[i].group;
                let place = at * knots as f64;
                let left = (place.floor() as usize).min(knots.saturating_sub(1));
                let part = place - left as f64;
                // Column of knot k (1 ..) is groups + k; the pinned knot 0 borrows the slope's column with factor 0.
                let knot = |k: usize, factor: f64| {
                    if k == 0 || knots == 0 { (groups, 0.0) } else { (groups + k, factor) }
                };
                let entries =
                    [(group, 1.0), (groups, at - 0.5), knot(left, 1.0 - part), knot(left + 1, part)];
                Line { group, value: given[i].log_value - offset[group], entries }
            })
            .collect();
        Some(Self { rows, order, members, groups, knots, columns: groups + 1 + knots, offset })
    }

    /// Least squares with the roughness that fits best, or a given one.
    fn solve(&self, kept: &[bool], weight: &[f64], roughness: Option<f64>) -> Option<Solution> {
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
    fn walk_energy(&self, parameters: &[f64]) -> f64 {
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
    fn log_mean_of_trend(&self, parameters: &[f64], sign: f64) -> f64 {
        (self.trend(parameters).iter().map(|s| (sign * s).exp()).sum::<f64>() / 64.0).ln()
    }

    /// The derivative of that, by slope and knots.
    fn mean_of_trend(&self, parameters: &[f64], sign: f64) -> Vec<f64> {
        let heights: Vec<f64> = self.trend(parameters).iter().map(|s| (sign * s).exp()).collect();
        let total: f64 = heights.iter().sum();
        let mut out = vec![0.0; 1 + self.knots];
        for (entries, height) in self.places().zip(heights) {
            entries.iter().for_each(|(column, factor)| out[*column] += factor * height / total);
        }
        out
    }

    fn residuals(&self, solution: &Solution) -> Vec<f64> {
        self.rows.iter().map(|row| row.value - row.times(&solution.parameters)).collect()
    }

    /// Which rows lie within the limit, measured by median distances, which the rows beyond it do not move.
    fn within_limit(&self, solution: &Solution, kept: &[bool]) -> Vec<bool> {
        let residuals = self.residuals(solution);
        let scaled: Vec<f64> = (0..residuals.len())
            .map(|i| residuals[i] / (1.0 - f64::from(u8::from(kept[i])) * self.leverage(solution, i)).sqrt())
            .collect();
        let robust = |rows: &Vec<usize>| {
            let of: Vec<f64> = rows.iter().map(|&i| scaled[i]).collect();
            let sigma = SIGMA_PER_MEDIAN_DISTANCE * median_distance(&of).unwrap_or(0.0);
            // Fewer than four rows: one of them may be the wild one, and the others follow it. A median distance
            // tells 0.37 of what a standard deviation does.
            let degrees = if of.len() >= 4 { 0.37 * (of.len() - 1) as f64 } else { 0.0 };
            (sigma * sigma, degrees)
        };
        let own: Vec<(f64, f64)> = self.members.iter().map(robust).collect();
        let Some(prior) = Prior::of(&own, PRIOR_CAP) else { return vec![true; self.rows.len()] };
        let limit = |&(variance, degrees): &(f64, f64)| {
            let (variance, degrees) = prior.posterior(variance, degrees);
            student_t(LIMIT_SHARE, degrees) * variance.sqrt()
        };
        let limits: Vec<f64> = own.iter().map(limit).collect();
        let mut within: Vec<bool> =
            (0..scaled.len()).map(|i| scaled[i].abs() <= limits[self.rows[i].group]).collect();
        for members in &self.members {
            // Beyond a third they are no exceptions: the group has two ways of being, and its interval says so.
            if members.iter().filter(|&&i| !within[i]).count() * 3 > members.len() {
                members.iter().for_each(|&i| within[i] = true);
            }
        }
        within
    }

    /// The share of a row's own noise in its fitted value.
    fn leverage(&self, solution: &Solution, row: usize) -> f64 {
        let line = &self.rows[row];
        let mut own = 0.0;
        for &(i, a) in &line.entries {
            line.entries.iter().for_each(|&(j, b)| own += a * b * solution.inverse[i][j]);
        }
        // 0.95: a row that makes its own level has no residual to scale.
        (solution.weight[line.group] * own).clamp(0.0, 0.95)
    }
}

/// The noise of each group.
struct Spread {
    /// Variance and degrees of freedom of each group by its own rows.
    own: Vec<(f64, f64)>,
    /// The same with what it borrows.
    drawn: Vec<(f64, f64)>,
    /// What they have in common.
    common: f64,
    residuals: Vec<f64>,
    /// Unknowns that the trend used up.
    trend_degrees: f64,
}

impl Spread {
    fn of(design: &Design, solution: &Solution, kept: &[bool]) -> Self {
        let residuals = design.residuals(solution);
        let mut own = vec![(0.0, 0.0); design.groups];
        let (mut rows, mut present) = (0.0, 0.0);
        for (group, members) in design.members.iter().enumerate() {
            let of: Vec<usize> = members.iter().copied().filter(|&i| kept[i]).collect();
            let squares: f64 = of.iter().map(|&i| residuals[i].powi(2)).sum();
            let degrees: f64 = of.iter().map(|&i| 1.0 - design.leverage(solution, i)).sum();
            // One row has no spread; what rounding leaves of it is none either.
            own[group] = if of.len() > 1 { (squares / degrees, degrees) } else { (0.0, 0.0) };
            rows += of.len() as f64;
            present += f64::from(u8::from(!of.is_empty()));
        }
        let spare: f64 = own.iter().map(|(_, d)| d).sum();
        let (drawn, common) = draw(&own);
        Self { own, drawn, common, residuals, trend_degrees: (rows - present - spare).max(1.0) }
    }

    /// Sets the weights that fit this noise; gives the largest change, as a share.
    fn reweight(&self, weight: &mut [f64]) -> f64 {
        let mut change = 0.0f64;
        for (weight, (variance, _)) in weight.iter_mut().zip(&self.drawn) {
            let next = if *variance > 0.0 && self.common > 0.0 {
                // A group 10 times as quiet as the rest may count 100-fold: beyond that it would be the trend.
                (self.common / variance).clamp(0.01, 100.0)
            } else {
                1.0
            };
            change = change.max((next / *weight - 1.0).abs());
            *weight = next;
        }
        change
    }

    /// The correlation of neighbours in time and of neighbours of one group: likely and feared.
    fn correlations(&self, design: &Design, kept: &[bool]) -> ((f64, f64), (f64, f64)) {
        let scaled = |i: usize| {
            let sigma = self.drawn[design.rows[i].group].0.sqrt();
            if sigma > 0.0 { self.residuals[i] / sigma } else { 0.0 }
        };
        let (mut in_time, mut in_group) = (Series::default(), Series::default());
        let all: Vec<f64> = (0..kept.len()).filter(|&i| kept[i]).map(scaled).collect();
        // The trend took a level from about so many rows at a time: as many series.
        let piece = (all.len() as f64 / self.trend_degrees).ceil() as usize;
        all.chunks(piece.max(3)).for_each(|part| in_time.add(part));
        for members in &design.members {
            let of: Vec<f64> = members.iter().copied().filter(|&i| kept[i]).map(scaled).collect();
            in_group.add(&of);
        }
        // Two standard errors for ten rows, two thirds of one for 250: what is little known is feared more.
        let fear = |series: &Series| 0.3 + 6.0 / series.members().max(1.0).sqrt();
        let of = |series: Series| series.correlation(fear(&series)).unwrap_or((0.0, 0.0));
        (of(in_time), of(in_group))
    }

    /// The standard deviation of a row of each group and its degrees of freedom, with what correlated residuals
    /// hide: their level was taken from them, and it wanders with them.
    fn with_correlation(&self, design: &Design, kept: &[bool], along_time: f64, along_group: f64) -> Spread {
        let rows = kept.iter().filter(|kept| **kept).count() as f64;
        let hidden = |length: f64, correlation: f64| {
            let left = (1.0 - variance_of_mean(length, correlation)) / (1.0 - 1.0 / length);
            if length >= 2.0 { left } else { 1.0 }
        };
        let in_time = hidden(rows / self.trend_degrees, along_time);
        // Var of a variance: correlated rows tell less of it.
        let fewer = (1.0 - along_group.powi(2)) / (1.0 + along_group.powi(2));
        let own = self.own.iter().zip(&design.members).map(|(&(variance, degrees), members)| {
            let length = members.iter().filter(|&&i| kept[i]).count() as f64;
            (
                variance / hidden(length, along_group) / in_time / VARIANCE_WITHIN,
                (degrees * fewer).max(degrees.min(1.0)),
            )
        });
        let own: Vec<(f64, f64)> = own.collect();
        let (drawn, common) = draw(&own);
        Spread { own, drawn, common, residuals: Vec::new(), trend_degrees: self.trend_degrees }
    }
}

/// Draws each group's variance towards the common one, which comes second.
fn draw(own: &[(f64, f64)]) -> (Vec<(f64, f64)>, f64) {
    match Prior::of(own, PRIOR_CAP) {
        Some(prior) => (own.iter().map(|&(v, d)| prior.posterior(v, d)).collect(), prior.variance),
        // No group varies at all: a simulated device without noise.
        None => (own.iter().map(|&(_, d)| (0.0, d)).collect(), 0.0),
    }
}
