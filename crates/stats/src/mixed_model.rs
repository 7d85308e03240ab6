//! Mixed model of groups that share a trend in time: log value = level of the group + trend + noise.
//!
//! Levels are fixed effects. The trend, a straight line plus a random walk between knots, is shared by all groups;
//! restricted likelihood chooses its roughness. The noise variance may differ by group and is shrunk towards the
//! common one (see [`super::empirical_bayes`]). Rows more than 4.5 median absolute deviations away are outliers:
//! they are excluded and listed by [`MixedModel::outliers`]. The trend takes the place of block effects: it costs
//! almost nothing where there is no drift, and incomplete blocks still contribute.
//!
//! Standard errors include two kinds of correlation, both measured from the residuals: between neighbours in time
//! and between successive rows of one group. The fit is that for independent noise; its standard errors are those
//! under correlated noise.
//!
//! The estimand is the mean of the value itself, not of its logarithm, over the time from the first row's start to
//! the last row's end (see [`Average`]).
//!
//! Assumed: the trend multiplies all groups by the same factor, but for groups that it fits worse than no trend does
//! (these have none), and each group's rows are spread over the time at random. After a group's last row, the trend of
//! the other groups extrapolates it.

mod design;
mod row;
mod spread;

use design::{Design, Solution};
pub use row::Row;
use spread::{Correlations, Spread, caution, within_limit};

use crate::{LogEstimate, series::variance_of_mean, student_t};

/// Fewest rows whose minimum and maximum limit the mean: with five, the mean lies outside once in 16 times, and then
/// close to them.
const FEWEST_IN_RANGE: usize = 5;
/// How many times a group's farthest row its interval may reach.
const BEYOND_ROWS: f64 = 2.0;
/// Fewest rows per group from which [`Outlook::Hopeful`] uses the correlation within groups.
const FEWEST_ALIKE: usize = 5;

/// What is known beside the rows of a fit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Series that belongs to no group. It limits the drift after a group's last row to what the reference saw.
    pub reference: &'a [Row],
    /// For each row, whether it is kept, where a fit of another figure of the same measurement has decided that: two
    /// figures that are one by Little's law would contradict it as means over different rows. Empty: nothing is
    /// decided.
    pub kept: &'a [Option<bool>],
}

/// Weighting of the mean over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// Equal weight for every second: right for rates, whose mean times the duration is the total.
    OverTime,
    /// Equal weight for every event, of which slow seconds hold fewer: right for durations. Little's law then holds for
    /// the means: rate × duration is the concurrency.
    OverEvents,
}

impl Average {
    fn sign(self) -> f64 {
        match self {
            Self::OverTime => 1.0,
            Self::OverEvents => -1.0,
        }
    }
}

/// Levels of all groups, fitted together with their common trend.
#[derive(Debug, Clone)]
pub struct MixedModel {
    average: Average,
    design: Design,
    kept: Vec<bool>,
    /// Rows of a second mode of their group.
    in_mode: Vec<bool>,
    sigma: Vec<f64>,
    degrees: Vec<f64>,
    /// Logarithm of the mean minus mean of the logarithm, for each group.
    excess: Vec<f64>,
    solution: Solution,
    /// Standard errors use the upper bounds.
    correlations: Correlations,
    hoped: Hoped,
    /// Robust scatter of the rows as a share of their standard deviation.
    typical: f64,
    /// Reference rows that are in no group: place on the time from 0 to 1, and logarithm.
    witness: Vec<(f64, f64)>,
}

/// Noise at the lower bounds of the correlations.
#[derive(Debug, Clone)]
struct Hoped {
    sigma: Vec<f64>,
    degrees: Vec<f64>,
    /// Correlation in time and within groups.
    correlations: (f64, f64),
}

impl Hoped {
    fn of(spread: &Spread, design: &Design, kept: &[bool], found: &Correlations) -> Self {
        // The lower bound is as far below the likeliest as the upper bound is above it.
        let least = |(likely, feared): (f64, f64)| (2.0 * likely - feared).max(0.0);
        let rows = kept.iter().filter(|kept| **kept).count();
        let present = design.members.iter().filter(|members| !members.is_empty()).count();
        // Two or three rows of a group determine no correlation.
        let in_group = if rows < FEWEST_ALIKE * present { 0.0 } else { least(found.group) };
        let correlations = (least(found.time), in_group);
        let noise = spread.with_correlation(design, kept, correlations.0, &found.within(in_group)).drawn;
        let sigma = noise.iter().map(|(variance, _)| variance.sqrt()).collect();
        Self { sigma, degrees: noise.iter().map(|(_, degrees)| *degrees).collect(), correlations }
    }
}

/// Assumption about the correlation of further rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// Likeliest correlation, with an upper bound that falls as rows are added.
    Likely,
    /// Lower bound of the correlation.
    Hopeful,
}

impl MixedModel {
    /// Fits `groups` groups. `None` where there are no rows. Groups without rows are allowed.
    pub fn fit(rows: &[Row], groups: usize, average: Average) -> Option<Self> {
        Self::fit_with(Beside::default(), rows, groups, average)
    }

    /// Fits with what is known beside the rows.
    pub fn fit_with(beside: Beside<'_>, rows: &[Row], groups: usize, average: Average) -> Option<Self> {
        let Beside { reference, kept: decided } = beside;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| rows[a].start_s.total_cmp(&rows[b].start_s));
        let mut design = Design::new(rows, order, groups)?;
        let decided: Vec<Option<bool>> =
            design.order.iter().map(|&row| decided.get(row).copied().flatten()).collect();
        let mut kept: Vec<bool> = decided.iter().map(|decided| decided.unwrap_or(true)).collect();
        let mut in_mode = vec![false; rows.len()];
        let mut weight = vec![1.0; groups];
        let mut solution = design.solve(&kept, &weight, None)?;
        let mut spread = Spread::of(&design, &solution, &kept);
        // 10: two or three passes converge. Rows of a mode stay kept: a step of all groups would else be the trend in
        // one pass and a second mode in the next, and two fits of the same rows would end with different ones.
        for pass in 0..10 {
            // Weights that fit first: with equal ones, a trend follows the noise of what scatters most.
            let parted = pass > 1 && design.part_from_trend(&solution);
            let found = within_limit(&design, &solution, &kept, &mut in_mode);
            let next = decided.iter().zip(found).map(|(decided, found)| decided.unwrap_or(found)).collect();
            let drift = spread.reweight(&mut weight);
            if next == kept && drift < 0.02 && pass > 1 && !parted {
                break;
            }
            kept = next;
            // The roughness of the first passes may still be due to rows that are outliers now.
            let roughness = (pass > 2 && !parted).then_some(solution.roughness);
            solution = design.solve(&kept, &weight, roughness)?;
            spread = Spread::of(&design, &solution, &kept);
        }
        let correlations = spread.correlations(&design, &kept);
        let along_group = correlations.within(correlations.group.0);
        let noise = spread.with_correlation(&design, &kept, correlations.time.0, &along_group).drawn;
        let sigma = noise.iter().map(|(variance, _)| variance.sqrt()).collect();
        let degrees = noise.iter().map(|(_, degrees)| *degrees).collect();
        let excess = excess(&design, &spread.residuals, &kept, average.sign());
        let hoped = Hoped::of(&spread, &design, &kept, &correlations);
        let typical = spread.typical(&design, &solution, &kept);
        Some(Self {
            average,
            kept,
            in_mode,
            sigma,
            degrees,
            excess,
            solution,
            correlations,
            hoped,
            typical,
            witness: reference.iter().map(|row| (design.time.place(row), row.log_value)).collect(),
            design,
        })
    }

    /// Returns the mean of one group, with its standard error. `None` where all its rows are excluded, or where no
    /// group has more rows than unknowns.
    ///
    /// A mean over the time of the rows lies near them: the 95 % interval ends at twice the farthest row.
    pub fn estimate(&self, group: usize) -> Option<LogEstimate> {
        let (log_mean, degrees_of_freedom) = (self.level(group), self.degrees[group]);
        let farthest =
            |[least, most]: [f64; 2]| f64::max(most - log_mean, log_mean - least) + BEYOND_ROWS.ln();
        let most = self.range(group).map(|range| farthest(range) / student_t(0.95, degrees_of_freedom));
        let standard_error = self.variance(&[(group, 1.0)])?.sqrt().min(most.unwrap_or(f64::INFINITY));
        Some(LogEstimate { log_mean, standard_error, degrees_of_freedom })
    }

    /// Predicts [`MixedModel::estimate`] with `times` as many rows of all groups. More rows also narrow the bounds of
    /// the correlations.
    pub fn outlook(&self, group: usize, times: f64, outlook: Outlook) -> Option<LogEstimate> {
        let rows = self.kept.iter().filter(|kept| **kept).count() as f64;
        let groups = self.design.members.iter().filter(|members| !members.is_empty()).count() as f64;
        // One row of each group determines its level.
        let (told, then) = ((rows - groups).max(1.0), (rows * times - groups).max(1.0));
        // As in [`Spread::correlations`], in standard errors, which themselves shrink.
        let feared = |rows: f64| caution(rows) / rows.sqrt();
        let less = feared(then) / feared(told);
        let at = |likely: f64, feared: f64| likely + (feared - likely) * less.min(1.0);
        let (sigma, degrees, (time, own)) = match outlook {
            Outlook::Likely => (
                &self.sigma,
                &self.degrees,
                (
                    at(self.correlations.time.0, self.correlations.time.1),
                    at(self.correlations.group.0, self.correlations.group.1),
                ),
            ),
            Outlook::Hopeful => (&self.hoped.sigma, &self.hoped.degrees, self.hoped.correlations),
        };
        let length = self.kept(group) as f64;
        let own = own.min(self.correlations.own[group]);
        let shrunk = variance_of_mean(length * times, own) / variance_of_mean(length, own);
        Some(LogEstimate {
            log_mean: self.level(group),
            standard_error: (self.variance_at(&[(group, 1.0)], sigma, time, own)? * shrunk).sqrt(),
            degrees_of_freedom: degrees[group] + length * (times - 1.0),
        })
    }

    /// Returns the ratio of two groups' means. Its interval is narrower than from two separate estimates, since the
    /// groups share the trend.
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

    /// Returns the indices of the rows excluded as outliers, ascending.
    pub fn outliers(&self) -> Vec<usize> {
        let mut aside: Vec<usize> =
            (0..self.kept.len()).filter(|&i| !self.kept[i]).map(|i| self.design.order[i]).collect();
        aside.sort_unstable();
        aside
    }

    /// Returns the rows that are a second mode of their group and therefore kept, with ln(value / level of the group's
    /// other rows) and the standard deviation of those. Ascending.
    pub fn second_modes(&self) -> Vec<(usize, f64, f64)> {
        let residual = |&i: &usize| {
            let row = &self.design.rows[i];
            row.value - row.times(&self.solution.parameters)
        };
        let of = |members: &Vec<usize>| {
            let (apart, others): (Vec<usize>, Vec<usize>) =
                members.iter().filter(|&&i| self.kept[i]).partition(|&&i| self.in_mode[i]);
            let others: Vec<f64> = others.iter().map(residual).collect();
            let level = LogEstimate::mean_of(&others).filter(|_| !apart.is_empty())?;
            let scatter = level.standard_error * (others.len() as f64).sqrt();
            let row = |i: usize| (self.design.order[i], residual(&i) - level.log_mean, scatter);
            Some(apart.into_iter().map(row).collect::<Vec<_>>())
        };
        let mut all: Vec<_> = self.design.members.iter().filter_map(of).flatten().collect();
        all.sort_by_key(|(row, ..)| *row);
        all
    }

    /// Returns the residual of a row, ln(value / fitted value), and the index of its group.
    pub fn distance(&self, row: usize) -> Option<(f64, usize)> {
        let line = &self.design.rows[self.design.order.iter().position(|&i| i == row)?];
        Some((line.value - line.times(&self.solution.parameters), line.group))
    }

    /// Returns the number of rows of a group without outliers.
    pub fn kept(&self, group: usize) -> usize {
        self.design.rows.iter().zip(&self.kept).filter(|(row, kept)| row.group == group && **kept).count()
    }

    /// Returns the standard deviation of one row of a group, as a share of the value.
    pub fn spread(&self, group: usize) -> f64 {
        self.sigma[group]
    }

    /// Returns the robust scatter over the standard deviation: below 1 where rare rows lie far out and the groups have
    /// too few rows to exclude them. [`MixedModel::spread`] is too large by at most this factor.
    pub fn typical(&self) -> f64 {
        self.typical
    }

    /// Returns the correlation of neighbours in time and of successive rows of one group (upper bounds).
    pub fn correlations(&self) -> (f64, f64) {
        (self.correlations.time.1, self.correlations.group.1)
    }

    fn level(&self, group: usize) -> f64 {
        let sign = self.average.sign();
        let trend = match self.design.follows[group] {
            true => self.design.log_mean_of_trend(&self.solution.parameters, sign),
            false => 0.0,
        };
        let fitted =
            self.design.offset[group] + self.solution.parameters[group] + sign * (trend + self.excess[group]);
        match self.own_range(group) {
            Some([least, most]) => fitted.clamp(least, most),
            None => fitted,
        }
    }

    /// Returns the range that a group's mean may have. A group observed over the whole time keeps within its own
    /// values, outliers included: a trend that only other groups follow would move the mean out of them. A group that
    /// ended early may have followed the trend since then, within [`MixedModel::moved_since`].
    fn own_range(&self, group: usize) -> Option<[f64; 2]> {
        let [least, most] = self.range(group)?;
        let moved = if self.is_spread_out(group) { 0.0 } else { self.moved_since(group) };
        Some([least - moved, most + moved])
    }

    /// Returns how far the level may have moved since a group's last row: no further than the steadiest of the groups
    /// observed to the end and the reference series. A single group may have moved for reasons of its own. So may all
    /// of them where the reference has no rows after that time: the remaining groups influence each other, and fewer
    /// of them are left to do so.
    fn moved_since(&self, group: usize) -> f64 {
        let last = self.design.members[group].iter().map(|&i| self.design.rows[i].place).fold(0.0, f64::max);
        if !self.witness.is_empty() && self.witness.iter().all(|(place, _)| *place <= last) {
            return 0.0;
        }
        let others = (0..self.design.groups).filter(|&other| other != group && self.is_spread_out(other));
        let ranges =
            others.filter_map(|other| self.range(other)).chain(range_of(self.witness.iter().map(|w| w.1)));
        let (count, least) = ranges
            .fold((0, f64::INFINITY), |(count, moved), [least, most]| (count + 1, (most - least).min(moved)));
        if count > 1 { least } else { 0.0 }
    }

    fn range(&self, group: usize) -> Option<[f64; 2]> {
        let own = self.design.members[group].iter();
        range_of(own.map(|&i| self.design.offset[group] + self.design.rows[i].value))
    }

    fn is_spread_out(&self, group: usize) -> bool {
        let (own, all) = (&self.design.members[group], self.design.rows.len());
        let ends = own.iter().min().zip(own.iter().max());
        ends.is_some_and(|(first, last)| *first <= all / 4 && last + all / 4 + 1 >= all)
    }

    /// Returns, for each group, the standard error of that part of its mean's error which all groups share: the trend
    /// is one for all, and neighbours in time resemble each other, so that means of many groups are wrong together.
    /// What is computed from several groups has this error whatever their number. 0 where it is unknown.
    ///
    /// One correlation ρ stands for all pairs: of G errors scaled to a variance of 1, the sum has G + G (G − 1) ρ.
    pub fn shared_errors(&self) -> Vec<f64> {
        let own: Vec<Option<f64>> = (0..self.design.groups)
            .map(|group| self.variance(&[(group, 1.0)]).filter(|variance| *variance > 0.0))
            .map(|variance| variance.map(f64::sqrt))
            .collect();
        let scaled: Vec<(usize, f64)> =
            own.iter().enumerate().filter_map(|(group, error)| Some((group, 1.0 / (*error)?))).collect();
        let groups = scaled.len() as f64;
        let sum = if scaled.len() > 1 { self.variance(&scaled).unwrap_or(groups) } else { groups };
        let correlation = ((sum - groups) / (groups * (groups - 1.0)).max(1.0)).clamp(0.0, 1.0);
        own.into_iter().map(|error| error.unwrap_or(0.0) * correlation.sqrt()).collect()
    }

    /// Returns the variance of a linear combination of group means.
    fn variance(&self, combination: &[(usize, f64)]) -> Option<f64> {
        self.variance_at(combination, &self.sigma, self.correlations.time.1, self.correlations.group.1)
    }

    /// Returns the variance of a linear combination of group means for a given noise.
    fn variance_at(
        &self,
        combination: &[(usize, f64)],
        sigma: &[f64],
        in_time: f64,
        in_group: f64,
    ) -> Option<f64> {
        let (design, solution) = (&self.design, &self.solution);
        let mut aim = vec![0.0; design.columns];
        let follows = |(group, _): &&(usize, f64)| design.follows[*group];
        let trend: f64 = combination.iter().filter(follows).map(|(_, factor)| factor).sum();
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
                weight * row.times(&pull) * sigma[row.group]
            })
            .collect();
        let noise = along_time(&shares, in_time) + self.along_groups(&shares, in_time, in_group);
        // Variance of the trend that the penalty suppressed.
        let missed = if solution.roughness > 0.0 {
            design.walk_energy(&pull) * solution.scale / solution.roughness.powi(2)
        } else {
            0.0
        };
        Some(noise + missed)
    }

    /// Returns the variance that correlation within groups adds to correlation in time.
    fn along_groups(&self, shares: &[f64], in_time: f64, in_group: f64) -> f64 {
        if in_group <= 0.0 {
            return 0.0;
        }
        let in_time = powers(in_time);
        let mut sum = 0.0;
        for (members, own) in self.design.members.iter().zip(self.correlations.within(in_group)) {
            let members: Vec<usize> = members.iter().copied().filter(|&i| self.kept[i]).collect();
            let in_group = powers(own);
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

/// Returns ln of the mean of exp(sign × residual) for each group. With it, a group's estimate is the mean of its
/// values without the trend (N. Duan, *Smearing estimate*, J. Am. Stat. Assoc. 78, 1983). Half the variance would
/// suffice for normal noise; skewed noise, with more slow outliers than fast ones, would be overestimated.
fn excess(design: &Design, residuals: &[f64], kept: &[bool], sign: f64) -> Vec<f64> {
    let of = |members: &Vec<usize>| {
        let own: Vec<f64> =
            members.iter().filter(|&&i| kept[i]).map(|&i| (sign * residuals[i]).exp()).collect();
        if own.is_empty() { 0.0 } else { (own.iter().sum::<f64>() / own.len() as f64).ln() }
    };
    design.members.iter().map(of).collect()
}

/// Returns ρ, ρ², .. down to 0.001: larger lags add nothing that shows.
fn powers(correlation: f64) -> Vec<f64> {
    std::iter::successors(Some(correlation), |power| Some(power * correlation))
        .take_while(|power| *power >= 1e-3)
        .collect()
}

/// Returns Σ_ij x_i x_j ρ^|i − j|, in one pass.
fn along_time(shares: &[f64], correlation: f64) -> f64 {
    let (mut sum, mut before) = (0.0, 0.0);
    for &share in shares {
        sum += share * share + 2.0 * share * before;
        before = correlation * (before + share);
    }
    sum
}

/// Returns minimum and maximum. `None` with fewer than [`FEWEST_IN_RANGE`] values.
fn range_of(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let (mut count, mut least, mut most) = (0, f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        (count, least, most) = (count + 1, value.min(least), value.max(most));
    }
    (count >= FEWEST_IN_RANGE).then_some([least, most])
}

#[cfg(test)]
mod tests;
