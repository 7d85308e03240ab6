//! What each group's level is when all groups share a drift: log value = level of the group + trend in time.
//!
//! The model, in logarithms: a level for each group, one trend that all groups share (a straight line plus a
//! random walk between knots, as rough as the data say by restricted likelihood), and noise whose size may
//! differ from group to group (each borrows from all, see [`super::shrink`]). A row that lies more than 4.5
//! median distances away is set aside, and said to be. The trend stands in the place of round effects: it
//! costs next to nothing where there is no drift, and rounds of one or two groups still tell something.
//!
//! Standard errors allow for two kinds of correlation, each measured from the residuals: between neighbours
//! in time, whatever their group, and between neighbours of one group. The fit is the one for independent
//! noise; its errors are those that it has under the correlated kind.
//!
//! The estimand is the mean over the time from the first row's start to the last one's end: of the value
//! itself, not of its logarithm (see [`Average`]).
//!
//! Assumed: the trend multiplies all groups alike; each group's rows are spread over the time at random. A
//! group that stopped early is carried on by the others' trend.

mod design;
mod spread;

use design::{Design, Solution};
use spread::{Spread, within_limit};

use crate::{LogEstimate, series::variance_of_mean};

/// Rows whose least and greatest value enclose the mean: with five, chance puts it outside once in 16 times, and then
/// next to them.
const FEWEST_IN_RANGE: usize = 5;
/// Rows a group from which on how they resemble each other is believed, where the best is hoped for.
const FEWEST_ALIKE: usize = 5;

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

/// The levels of all groups, fitted together.
#[derive(Debug, Clone)]
pub struct Effects {
    average: Average,
    design: Design,
    kept: Vec<bool>,
    sigma: Vec<f64>,
    degrees: Vec<f64>,
    /// Of each group: what the logarithm of its mean lies above the mean of its logarithms.
    excess: Vec<f64>,
    solution: Solution,
    along_time: f64,
    along_group: f64,
    /// The likely correlations, in time and in groups, below those that errors are made for.
    likely: (f64, f64),
    hoped: Hoped,
    /// The scatter of most rows as a share of what is taken for the scatter of all.
    typical: f64,
    /// The rows that are in no group: where on the time from 0 to 1, and the value.
    witness: Vec<(f64, f64)>,
}

/// The noise if rows resemble each other as little as can still be believed.
#[derive(Debug, Clone)]
struct Hoped {
    sigma: Vec<f64>,
    degrees: Vec<f64>,
    /// In time and in groups.
    correlations: (f64, f64),
}

impl Hoped {
    fn of(spread: &Spread, design: &Design, kept: &[bool], time: (f64, f64), group: (f64, f64)) -> Self {
        // As far below what is likely as what is feared lies above it.
        let least = |(likely, feared): (f64, f64)| (2.0 * likely - feared).max(0.0);
        let rows = kept.iter().filter(|kept| **kept).count();
        let present = design.members.iter().filter(|members| !members.is_empty()).count();
        // Two or three rows of a group say nothing of how they resemble each other.
        let in_group = if rows < FEWEST_ALIKE * present { 0.0 } else { least(group) };
        let correlations = (least(time), in_group);
        let noise = spread.with_correlation(design, kept, correlations.0, correlations.1).drawn;
        let sigma = noise.iter().map(|(variance, _)| variance.sqrt()).collect();
        Self { sigma, degrees: noise.iter().map(|(_, degrees)| *degrees).collect(), correlations }
    }
}

/// Whether the future is to be as good as can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// As errors are made, and as more rows will show it.
    Likely,
    /// As little correlation as the rows allow.
    Hopeful,
}

impl Effects {
    /// Fits `groups` groups. `None` where there are no rows. Groups without rows are allowed.
    pub fn fit(rows: &[Row], groups: usize, average: Average) -> Option<Self> {
        Self::beside(&[], rows, groups, average)
    }

    /// The same with rows of a witness that is in no group, being of another kind (a canary that reads beside groups
    /// that write): a storage that drifts moves it, too.
    pub fn beside(witness: &[Row], rows: &[Row], groups: usize, average: Average) -> Option<Self> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| rows[a].start_s.total_cmp(&rows[b].start_s));
        let design = Design::new(rows, order, groups)?;
        let mut kept = vec![true; rows.len()];
        let mut weight = vec![1.0; groups];
        let mut solution = design.solve(&kept, &weight, None)?;
        let mut spread = Spread::of(&design, &solution, &kept);
        // 10: two or three passes settle it; two sets of rows that alternate end here with the last.
        for pass in 0..10 {
            let next = within_limit(&design, &solution, &kept);
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
        let excess = excess(&design, &spread.residuals, &kept, average.sign());
        let likely = (likely_time, likely_group);
        let hoped =
            Hoped::of(&spread, &design, &kept, (likely_time, along_time), (likely_group, along_group));
        let typical = spread.typical(&design, &solution, &kept);
        Some(Self {
            average,
            kept,
            sigma,
            degrees,
            excess,
            solution,
            along_time,
            along_group,
            likely,
            hoped,
            typical,
            witness: witness.iter().map(|row| (design.time.place(row), row.log_value)).collect(),
            design,
        })
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

    /// What [`Effects::estimate`] would say with so many times as many rows of all groups, if the noise goes on as it
    /// is likely to be: of correlations, less would have to be feared.
    pub fn outlook(&self, group: usize, times: f64, outlook: Outlook) -> Option<LogEstimate> {
        let rows = self.kept.iter().filter(|kept| **kept).count() as f64;
        let groups = self.design.members.iter().filter(|members| !members.is_empty()).count() as f64;
        // Of each group one row is its level.
        let (told, then) = ((rows - groups).max(1.0), (rows * times - groups).max(1.0));
        // As in [`Spread::correlations`], in standard errors, which themselves shrink.
        let feared = |rows: f64| (0.3 + 6.0 / rows.sqrt()) / rows.sqrt();
        let less = feared(then) / feared(told);
        let at = |likely: f64, feared: f64| likely + (feared - likely) * less.min(1.0);
        let (sigma, degrees, (time, own)) = match outlook {
            Outlook::Likely => (
                &self.sigma,
                &self.degrees,
                (at(self.likely.0, self.along_time), at(self.likely.1, self.along_group)),
            ),
            Outlook::Hopeful => (&self.hoped.sigma, &self.hoped.degrees, self.hoped.correlations),
        };
        let length = self.kept(group) as f64;
        let shrunk = variance_of_mean(length * times, own) / variance_of_mean(length, own);
        Some(LogEstimate {
            log_mean: self.level(group),
            standard_error: (self.variance_at(&[(group, 1.0)], sigma, time, own)? * shrunk).sqrt(),
            degrees_of_freedom: degrees[group] + length * (times - 1.0),
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

    /// How far a row lies from its group's level and the trend, ln(value / what was expected), and its group.
    pub fn distance(&self, row: usize) -> Option<(f64, usize)> {
        let line = &self.design.rows[self.design.order.iter().position(|&i| i == row)?];
        Some((line.value - line.times(&self.solution.parameters), line.group))
    }

    /// How many rows of a group were kept.
    pub fn kept(&self, group: usize) -> usize {
        self.design.rows.iter().zip(&self.kept).filter(|(row, kept)| row.group == group && **kept).count()
    }

    /// The standard deviation of one row of a group, as a share of the value.
    pub fn spread(&self, group: usize) -> f64 {
        self.sigma[group]
    }

    /// What [`Effects::spread`] is too large by, at most, where rare rows lie far out and there are too few to set them
    /// aside: the scatter of most rows over it.
    pub fn typical(&self) -> f64 {
        self.typical
    }

    /// The correlation of neighbours in time, and of neighbours of one group.
    pub fn correlations(&self) -> (f64, f64) {
        (self.along_time, self.along_group)
    }

    fn level(&self, group: usize) -> f64 {
        let sign = self.average.sign();
        let fitted = self.design.offset[group]
            + self.solution.parameters[group]
            + sign * (self.design.log_mean_of_trend(&self.solution.parameters, sign) + self.excess[group]);
        match self.own_range(group) {
            Some([least, most]) => fitted.clamp(least, most),
            None => fitted,
        }
    }

    /// The least and greatest value that a group's mean may have. Of rows that are spread over the whole time, their
    /// own: a trend that only others follow (a buffer that takes their writes until it is full) would move the mean out
    /// of them, and rows that were set aside for not following it count here. A group that was settled early may have
    /// gone with the trend since then, as far as [`Effects::moved_since`] lets it.
    fn own_range(&self, group: usize) -> Option<[f64; 2]> {
        let [least, most] = self.range(group)?;
        let moved = if self.is_spread_out(group) { 0.0 } else { self.moved_since(group) };
        Some([least - moved, most + moved])
    }

    /// How far the storage may have gone since a group's last row: no further than the steadiest of those that were
    /// visited to the end, the canary for one. What a single group says of that time may be its own doing, now that it
    /// is served alone; and so may what all of them say where a canary stands by and saw nothing of that time. (Rounds
    /// that only write what is still open leave a buffer more time to empty: the groups that write then rise, every
    /// canary follows a write and takes what that left behind, and the storage has not changed.)
    fn moved_since(&self, group: usize) -> f64 {
        let last =
            self.design.members[group].iter().map(|&i| self.design.rows[i].place()).fold(0.0, f64::max);
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

    /// The variance of a combination of group means.
    fn variance(&self, combination: &[(usize, f64)]) -> Option<f64> {
        self.variance_at(combination, &self.sigma, self.along_time, self.along_group)
    }

    /// The same with other noise.
    fn variance_at(
        &self,
        combination: &[(usize, f64)],
        sigma: &[f64],
        in_time: f64,
        in_group: f64,
    ) -> Option<f64> {
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
                weight * row.times(&pull) * sigma[row.group]
            })
            .collect();
        let noise = along_time(&shares, in_time) + self.along_groups(&shares, in_time, in_group);
        // What the penalty kept the trend from following.
        let missed = if solution.roughness > 0.0 {
            design.walk_energy(&pull) * solution.scale / solution.roughness.powi(2)
        } else {
            0.0
        };
        Some(noise + missed)
    }

    /// What correlation inside groups adds to what correlation in time already has.
    fn along_groups(&self, shares: &[f64], in_time: f64, in_group: f64) -> f64 {
        if in_group <= 0.0 {
            return 0.0;
        }
        let (in_time, in_group) = (powers(in_time), powers(in_group));
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

/// ln of the mean of exp(sign × residual), for each group: with it, a group's estimate is the mean of its
/// values (trend taken out), as N. Duan has it in *Smearing estimate* (J. Am. Stat. Assoc. 78, 1983). Half a
/// variance would do for normal noise; storage is slowed more often than sped up, and would look faster than
/// it ever was.
fn excess(design: &Design, residuals: &[f64], kept: &[bool], sign: f64) -> Vec<f64> {
    let of = |members: &Vec<usize>| {
        let own: Vec<f64> =
            members.iter().filter(|&&i| kept[i]).map(|&i| (sign * residuals[i]).exp()).collect();
        if own.is_empty() { 0.0 } else { (own.iter().sum::<f64>() / own.len() as f64).ln() }
    };
    design.members.iter().map(of).collect()
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

/// The least and the greatest. `None` where there are too few.
fn range_of(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let (mut count, mut least, mut most) = (0, f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        (count, least, most) = (count + 1, value.min(least), value.max(most));
    }
    (count >= FEWEST_IN_RANGE).then_some([least, most])
}

#[cfg(test)]
mod tests;
