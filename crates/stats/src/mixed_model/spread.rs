//! Noise of [`super::MixedModel`]: variance of each group, correlations, and outliers.

use super::design::{CLOCK, Design, Solution};
use crate::{
    empirical_bayes::Prior,
    robust::{SIGMA_PER_MAD, median, median_absolute_deviation},
    series::{Series, variance_of_mean},
    student_t,
};

/// Share of normal noise inside the outlier limit: 4.5 median absolute deviations or 3.04 σ where σ is well known,
/// more where it is not.
const LIMIT_SHARE: f64 = 0.9976;
/// Smallest residual of an outlier, as a share: a simulation may repeat itself to the last digit, and then any
/// deviation would be an outlier.
const NEAR: f64 = 1e-3;
/// Share of normal noise's variance inside that limit.
const VARIANCE_WITHIN: f64 = 0.976;
/// A second mode has one in at least this many rows.
const MODE_SHARE: usize = 8;
/// Largest width of a second mode, as a share of its distance. Of two rows slowed to between 0.3 and 0.8 of their value
/// at random, one pair in four is as close as that.
const MODE_WIDTH: f64 = 0.2;
/// Largest weight of the prior in degrees of freedom: twice that of a group of eight rows.
const PRIOR_CAP: f64 = 16.0;

/// Standard errors at which a group's own rows exclude a correlation that the others share.
const OWN_BOUND: f64 = 2.0;

/// Correlation of the noise.
#[derive(Debug, Clone)]
pub(super) struct Correlations {
    /// Between neighbours in time: likeliest value and upper bound.
    pub(super) time: (f64, f64),
    /// Between successive rows of one group, shared by the groups.
    pub(super) group: (f64, f64),
    /// Largest correlation that each group's own rows allow.
    pub(super) own: Vec<f64>,
}

impl Correlations {
    /// Returns the correlation within each group for a shared one.
    pub(super) fn within(&self, shared: f64) -> Vec<f64> {
        self.own.iter().map(|own| shared.min(*own)).collect()
    }
}

/// Standard errors by which the upper bound of a correlation lies above the likeliest value: two for ten rows, 0.8 for
/// 250. Few rows need more caution.
pub(super) fn caution(rows: f64) -> f64 {
    0.45 + 6.0 / rows.max(1.0).sqrt()
}

/// Noise of each group.
pub(super) struct Spread {
    /// Variance and degrees of freedom of each group by its own rows.
    pub(super) own: Vec<(f64, f64)>,
    /// Posterior variance and degrees of freedom of each group.
    pub(super) drawn: Vec<(f64, f64)>,
    /// Common variance.
    pub(super) common: f64,
    pub(super) residuals: Vec<f64>,
    /// Degrees of freedom of the trend.
    pub(super) trend_degrees: f64,
}

impl Spread {
    pub(super) fn of(design: &Design, solution: &Solution, kept: &[bool]) -> Self {
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

    /// Sets the weights to the inverse variances and returns the largest change, as a share.
    pub(super) fn reweight(&self, weight: &mut [f64]) -> f64 {
        let mut change = 0.0f64;
        for (weight, (variance, _)) in weight.iter_mut().zip(&self.drawn) {
            let next = if self.common > 0.0 { (self.common / variance).clamp(1e-8, 1e8) } else { 1.0 };
            change = change.max((next / *weight - 1.0).abs());
            *weight = next;
        }
        change
    }

    /// Returns the robust scatter (from the median absolute deviation) as a share of the groups' standard deviations.
    pub(super) fn typical(&self, design: &Design, solution: &Solution, kept: &[bool]) -> f64 {
        let scaled = |i: usize| {
            let variance = self.drawn[design.rows[i].group].0 * (1.0 - design.leverage(solution, i));
            // A row that is its group's only one lies at its level.
            (variance > 1e-12).then(|| self.residuals[i] / variance.sqrt())
        };
        let all: Vec<f64> = (0..kept.len()).filter(|&i| kept[i]).filter_map(scaled).collect();
        median_absolute_deviation(&all).map_or(1.0, |distance| (SIGMA_PER_MAD * distance).min(1.0))
    }

    /// Returns the correlations in time and within groups.
    pub(super) fn correlations(&self, design: &Design, kept: &[bool]) -> Correlations {
        let scaled = |i: usize| {
            let sigma = self.drawn[design.rows[i].group].0.sqrt();
            if sigma > 0.0 { self.residuals[i] / sigma } else { 0.0 }
        };
        let (mut in_time, mut in_group) = (Series::default(), Series::default());
        let is_noise = |group: usize| self.drawn[group].0 > CLOCK * CLOCK;
        let counts = |&i: &usize| kept[i] && is_noise(design.rows[i].group);
        let all: Vec<f64> = (0..kept.len()).filter(counts).map(scaled).collect();
        // The trend took a level from about so many rows at a time: as many series.
        let piece = (all.len() as f64 / self.trend_degrees).ceil() as usize;
        for part in all.chunks(piece.max(3)) {
            in_time.add(part);
        }
        let mut add = |members: &Vec<usize>| {
            let of: Vec<f64> = members.iter().copied().filter(|&i| kept[i]).map(scaled).collect();
            members.first().is_some_and(|&i| is_noise(design.rows[i].group)) && in_group.add(&of)
        };
        let counted: Vec<bool> = design.members.iter().map(&mut add).collect();
        let mut bounds = in_group.own_bounds(OWN_BOUND).into_iter();
        let own = counted.into_iter().map(|counted| if counted { bounds.next().unwrap_or(1.0) } else { 1.0 });
        let own = own.collect();
        let of = |series: Series| series.correlation(caution(series.members())).unwrap_or((0.0, 0.0));
        Correlations { time: of(in_time), group: of(in_group), own }
    }

    /// Returns the noise corrected for correlation: a fitted level follows correlated residuals, which therefore
    /// underestimate the variance.
    pub(super) fn with_correlation(
        &self,
        design: &Design,
        kept: &[bool],
        along_time: f64,
        along_group: &[f64],
    ) -> Spread {
        let rows = kept.iter().filter(|kept| **kept).count() as f64;
        let hidden = |length: f64, correlation: f64| {
            let left = (1.0 - variance_of_mean(length, correlation)) / (1.0 - 1.0 / length);
            if length >= 2.0 { left } else { 1.0 }
        };
        let in_time = hidden(rows / self.trend_degrees, along_time);
        let own = self.own.iter().zip(&design.members).zip(along_group);
        let own = own.map(|((&(variance, degrees), members), &along_group)| {
            let length = members.iter().filter(|&&i| kept[i]).count() as f64;
            // Correlated rows have fewer effective degrees of freedom for the variance.
            let fewer = (1.0 - along_group.powi(2)) / (1.0 + along_group.powi(2));
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

/// Shrinks each group's variance towards the common one, which comes second.
fn draw(own: &[(f64, f64)]) -> (Vec<(f64, f64)>, f64) {
    match Prior::of(own, PRIOR_CAP) {
        Some(prior) => (own.iter().map(|&(v, d)| prior.posterior(v, d)).collect(), prior.typical),
        // No group varies at all: a simulation without noise.
        None => (own.iter().map(|&(_, d)| (0.0, d)).collect(), 0.0),
    }
}

/// Marks the rows within the outlier limit, and those of a second mode, which `in_mode` collects over the passes of a
/// fit. The limit comes from median absolute deviations, which outliers hardly affect.
pub(super) fn within_limit(
    design: &Design,
    solution: &Solution,
    kept: &[bool],
    in_mode: &mut [bool],
) -> Vec<bool> {
    let mut residuals = design.residuals(solution);
    for members in &design.members {
        // From the group's median: one outlier in ten rows moves the mean by as much as the others scatter.
        let middle = median(&members.iter().map(|&i| residuals[i]).collect::<Vec<_>>()).unwrap_or(0.0);
        members.iter().for_each(|&i| residuals[i] -= middle);
    }
    let leverage = |i: usize| if kept[i] { design.leverage(solution, i) } else { 0.0 };
    let scaled: Vec<f64> = (0..residuals.len()).map(|i| residuals[i] / (1.0 - leverage(i)).sqrt()).collect();
    let robust = |rows: &Vec<usize>| {
        let of: Vec<f64> = rows.iter().map(|&i| scaled[i]).collect();
        let sigma = SIGMA_PER_MAD * median_absolute_deviation(&of).unwrap_or(0.0);
        // Fewer than four rows: any of them may be the outlier, and the fit follows it. A median absolute deviation
        // has an efficiency of 0.37 relative to a standard deviation.
        let degrees = if of.len() >= 4 { 0.37 * (of.len() - 1) as f64 } else { 0.0 };
        (sigma * sigma, degrees)
    };
    let own: Vec<(f64, f64)> = design.members.iter().map(robust).collect();
    let prior = Prior::of(&own, PRIOR_CAP);
    let limit = |&(variance, degrees): &(f64, f64)| match &prior {
        Some(prior) => {
            let (variance, degrees) = prior.posterior(variance, degrees);
            (student_t(LIMIT_SHARE, degrees) * variance.sqrt()).max(NEAR)
        }
        // Most rows of every group repeat to the last digit: any deviation is an outlier.
        None if degrees > 0.0 => NEAR,
        None => f64::INFINITY,
    };
    let limits: Vec<f64> = own.iter().map(limit).collect();
    let mut within: Vec<bool> =
        (0..scaled.len()).map(|i| scaled[i].abs() <= limits[design.rows[i].group]).collect();
    for members in &design.members {
        // More than a third are no outliers: the group has two modes, and its interval includes both.
        if members.iter().filter(|&&i| !within[i]).count() * 3 > members.len() {
            members.iter().for_each(|&i| within[i] = true);
        }
        for side in [-1.0, 1.0] {
            let of = |i: &&usize| !within[**i] && side * scaled[**i] > 0.0;
            let beyond: Vec<usize> = members.iter().filter(of).copied().collect();
            if is_mode(&beyond.iter().map(|&i| scaled[i].abs()).collect::<Vec<_>>(), members.len()) {
                beyond.iter().for_each(|&i| in_mode[i] = true);
            }
        }
    }
    within.iter().zip(in_mode).map(|(within, in_mode)| *within || *in_mode).collect()
}

/// Returns true where the rows beyond the limit on one side are a second mode of a group with `rows` rows: there are
/// two or more of them, an eighth of all, and they agree. Disturbed rows do not.
///
/// [`crate::two_groups`] is not the cut here: the limit already separates the rows, and what is asked is whether those
/// beyond it agree.
fn is_mode(distances: &[f64], rows: usize) -> bool {
    let (count, least, most) = distances
        .iter()
        .fold((0, f64::INFINITY, 0.0f64), |(count, least, most), &d| (count + 1, d.min(least), d.max(most)));
    count >= 2 && count * MODE_SHARE >= rows && most - least <= MODE_WIDTH * least
}
