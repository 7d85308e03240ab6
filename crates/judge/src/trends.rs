//! Which points share a trend, and the fits that follow.
//!
//! A fit carries a trend over from one point to another, so that all of its points must go the same way in time. Those
//! that only read and those that read while they write do not: a drive whose fast cache fills loses a third of what a
//! mixture of both reads, and nothing of what reads get alone. Where there are enough of each, they are fitted apart.
//!
//! What is sent at an offered rate comes back at that rate, whatever the storage does: it has nearly no noise and no
//! drift, pins the trend that others follow to nothing, and what is then left of theirs looks like correlation. Such
//! points are always fitted apart: 20 of them made the intervals of four others 11 to 38 times as wide.

use iosonde_model::{Op, TrialSpec};
use iosonde_stats::{
    LogEstimate,
    mixed_model::{Average, Beside, MixedModel, Outlook, Row},
};

/// Minimum number of points of either kind that make a fit of their own: eight trials of ten points.
const FEWEST_APART: usize = 10;

/// Group of points whose rates share one trend over the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendGroup {
    /// One direction at a time, as fast as it goes.
    Alone,
    /// Reads and writes at once.
    Mixture,
    /// At an offered rate.
    Offered,
}

impl TrendGroup {
    /// Group of one direction of a workload.
    pub fn of(spec: &TrialSpec, op: Op) -> Self {
        let has = |op: Op| spec.streams().any(|stream| stream.rw.has(op));
        if spec.streams().any(|stream| stream.rw.has(op) && stream.rate_iops.is_some()) {
            Self::Offered
        } else if has(Op::Read) && has(Op::Write) {
            Self::Mixture
        } else {
            Self::Alone
        }
    }
}

/// The levels of all points, in up to three fits.
#[derive(Debug)]
pub struct Trends {
    fits: [Option<Fit>; 3],
    /// Index of each group's fit.
    of: Vec<usize>,
}

#[derive(Debug)]
struct Fit {
    effects: MixedModel,
    /// The place of each group among this fit's.
    groups: Vec<Option<usize>>,
    /// The row of each of this fit's rows among all.
    rows: Vec<usize>,
}

impl Fit {
    fn of(
        beside: Beside<'_>,
        rows: &[Row],
        own: impl Fn(usize) -> bool,
        groups: usize,
        average: Average,
    ) -> Option<Self> {
        let present = |group: usize| own(group) && rows.iter().any(|row| row.group == group);
        let mut count = 0..;
        let places: Vec<Option<usize>> =
            (0..groups).map(|group| if present(group) { count.next() } else { None }).collect();
        let chosen: Vec<usize> = (0..rows.len()).filter(|&i| places[rows[i].group].is_some()).collect();
        let row = |&i: &usize| Some(Row { group: places[rows[i].group]?, ..rows[i] });
        let own: Vec<Row> = chosen.iter().filter_map(row).collect();
        let kept: Vec<Option<bool>> =
            chosen.iter().map(|&row| beside.kept.get(row).copied().flatten()).collect();
        let beside = Beside { kept: &kept, ..beside };
        let effects = MixedModel::fit_with(beside, &own, places.iter().flatten().count(), average)?;
        Some(Self { effects, groups: places, rows: chosen })
    }
}

impl Trends {
    /// Fits rows of as many groups as there are kinds. `None` where there are no rows. The reference beside them has
    /// the rows of a canary of the other direction, which is in no group here.
    pub fn fit(beside: Beside<'_>, rows: &[Row], kinds: &[TrendGroup], average: Average) -> Option<Self> {
        let groups = kinds.len();
        let enough = |kind: TrendGroup| {
            let present = |group: &usize| kinds[*group] == kind && rows.iter().any(|row| row.group == *group);
            (0..groups).filter(present).count() >= FEWEST_APART
        };
        let apart = enough(TrendGroup::Mixture) && enough(TrendGroup::Alone);
        let place = |kind: &TrendGroup| match kind {
            TrendGroup::Alone => 0,
            TrendGroup::Mixture => usize::from(apart),
            TrendGroup::Offered => 2,
        };
        let of: Vec<usize> = kinds.iter().map(place).collect();
        let fits = [0, 1, 2].map(|fit| Fit::of(beside, rows, |group| of[group] == fit, groups, average));
        fits.iter().any(Option::is_some).then_some(Self { fits, of })
    }

    fn at(&self, group: usize) -> Option<(&MixedModel, usize)> {
        let fit = self.fits[self.of[group]].as_ref()?;
        Some((&fit.effects, fit.groups[group]?))
    }

    /// As [`MixedModel::estimate`].
    pub fn estimate(&self, group: usize) -> Option<LogEstimate> {
        let (effects, group) = self.at(group)?;
        effects.estimate(group)
    }

    /// As [`MixedModel::outlook`].
    pub fn outlook(&self, group: usize, times: f64, outlook: Outlook) -> Option<LogEstimate> {
        let (effects, group) = self.at(group)?;
        effects.outlook(group, times, outlook)
    }

    /// As [`MixedModel::typical`], of the fit that the group is in.
    pub fn typical(&self, group: usize) -> Option<f64> {
        self.at(group).map(|(effects, _)| effects.typical())
    }

    /// As [`MixedModel::shared_errors`], for each group of its fit.
    pub fn shared_errors(&self) -> Vec<f64> {
        let of_fit = self.fits.each_ref().map(|fit| fit.as_ref().map(|fit| fit.effects.shared_errors()));
        let of_group = |(group, &fit): (usize, &usize)| {
            let place = self.fits[fit].as_ref()?.groups[group]?;
            of_fit[fit].as_ref()?.get(place).copied()
        };
        self.of.iter().enumerate().map(|group| of_group(group).unwrap_or(0.0)).collect()
    }

    /// How many rows of a group were kept.
    pub fn kept(&self, group: usize) -> usize {
        self.at(group).map_or(0, |(effects, group)| effects.kept(group))
    }

    /// Outlier rows, ascending, with ln(value / expected value) and their group's scatter.
    pub fn set_aside(&self) -> Vec<(usize, f64, f64)> {
        self.rows(|effects| {
            let told = |place: usize| {
                let (distance, group) = effects.distance(place)?;
                Some((place, distance, effects.spread(group)))
            };
            effects.outliers().into_iter().filter_map(told).collect()
        })
    }

    /// Rows that are a second mode of their group and count, as [`MixedModel::second_modes`].
    pub fn second_modes(&self) -> Vec<(usize, f64, f64)> {
        self.rows(MixedModel::second_modes)
    }

    /// Rows of all fits by their number among all, ascending.
    fn rows(&self, of: impl Fn(&MixedModel) -> Vec<(usize, f64, f64)>) -> Vec<(usize, f64, f64)> {
        let numbered = |fit: &Fit| -> Vec<(usize, f64, f64)> {
            of(&fit.effects)
                .into_iter()
                .map(|(row, distance, scatter)| (fit.rows[row], distance, scatter))
                .collect()
        };
        let mut all: Vec<_> = self.fits.iter().flatten().flat_map(numbered).collect();
        all.sort_by_key(|(row, ..)| *row);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten rounds of 24 groups: the first twelve hold their rate, the others lose two thirds after the fourth round.
    fn filling() -> Vec<Row> {
        let row = |n: usize| {
            let (group, round, start_s) = (n * 7 % 24, n / 24, n as f64);
            // A scatter of 1 %.
            let noise = 0.01 * ((n as f64 * 12.9898).sin() * 43758.5453).fract();
            let lost = if group >= 12 && round >= 4 { -1.1 } else { 0.0 };
            Row { group, start_s, end_s: start_s + 1.0, log_value: group as f64 / 10.0 + lost + noise }
        };
        (0..240).map(row).collect()
    }

    fn half_mixed() -> Vec<TrendGroup> {
        (0..24).map(|group| if group >= 12 { TrendGroup::Mixture } else { TrendGroup::Alone }).collect()
    }

    #[test]
    fn what_writes_change_for_mixtures_is_no_trend_of_reads() {
        let rows = filling();
        let apart = Trends::fit(Beside::default(), &rows, &half_mixed(), Average::OverTime).unwrap();
        for group in 0..12 {
            let estimate = apart.estimate(group).unwrap();
            assert!((estimate.log_mean - group as f64 / 10.0).abs() < 0.02, "{group}: {estimate:?}");
            assert!(estimate.half_width(0.95) < 0.02, "{group}: {estimate:?}");
        }
        let aside = apart.set_aside();
        assert!(aside.iter().all(|(row, ..)| rows[*row].group >= 12), "{aside:?}");
        // 0.4 of the time at 1, 0.6 of it at a third: of a step within one round a trend of ten pieces knows that much.
        let want = 1.2 + (0.4 + 0.6 * (-1.1f64).exp()).ln();
        let got = apart.estimate(12).unwrap();
        assert!((got.log_mean - want).abs() < 0.08, "{got:?} for {want}");
        // Together they once made each other's intervals useless (±10 % and more). The reads keep theirs now.
        let together =
            Trends::fit(Beside::default(), &rows, &[TrendGroup::Alone; 24], Average::OverTime).unwrap();
        let wide = together.estimate(3).unwrap().half_width(0.95);
        assert!(wide < 0.02, "{wide}");
    }

    #[test]
    fn few_mixtures_stay_with_the_others() {
        let rows: Vec<Row> = filling().into_iter().filter(|row| row.group < 16).collect();
        let fits = Trends::fit(Beside::default(), &rows, &half_mixed(), Average::OverTime).unwrap().fits;
        assert_eq!(fits.iter().flatten().count(), 1);
        assert!(Trends::fit(Beside::default(), &[], &half_mixed(), Average::OverTime).is_none());
    }

    #[test]
    fn rates_that_were_asked_for_say_nothing_of_the_others_trend_or_scatter() {
        // Four groups that lose a third and scatter by 10 %, and four that do what they are told.
        let row = |n: usize| {
            let (group, start_s) = (n * 3 % 8, n as f64);
            let noise = 0.17 * ((n as f64 * 12.9898).sin() * 43758.5453).fract();
            let own = if group < 4 { noise - n as f64 / 400.0 } else { 1e-5 * noise };
            Row { group, start_s, end_s: start_s + 1.0, log_value: group as f64 + own }
        };
        let rows: Vec<Row> = (0..160).map(row).collect();
        let kinds: Vec<TrendGroup> =
            (0..8).map(|group| if group < 4 { TrendGroup::Alone } else { TrendGroup::Offered }).collect();
        let few: Vec<Row> = rows.iter().copied().filter(|row| row.group < 4).collect();
        let of = |rows: &[Row], kinds: &[TrendGroup]| {
            let trends = Trends::fit(Beside::default(), rows, kinds, Average::OverTime).unwrap();
            trends.estimate(1).unwrap().half_width(0.95)
        };
        let (beside, alone) = (of(&rows, &kinds), of(&few, &kinds[..4]));
        assert!((beside / alone - 1.0).abs() < 1e-9, "{beside} {alone}");
        let offered =
            Trends::fit(Beside::default(), &rows, &kinds, Average::OverTime).unwrap().estimate(6).unwrap();
        assert!(offered.half_width(0.95) < 1e-4, "{offered:?}");
    }

    #[test]
    fn a_row_that_is_set_aside_keeps_its_number() {
        let mut rows = filling();
        let low = rows.iter().position(|row| row.group == 2).unwrap() + 24 * 5;
        assert_eq!(rows[low].group, 2);
        rows[low].log_value -= 0.5;
        let aside =
            Trends::fit(Beside::default(), &rows, &half_mixed(), Average::OverTime).unwrap().set_aside();
        // Around the step the mixtures' trend is too smooth; of reads only that one is odd.
        let of_reads: Vec<_> = aside.iter().filter(|(row, ..)| rows[*row].group < 12).collect();
        assert_eq!(of_reads.iter().map(|(row, ..)| *row).collect::<Vec<_>>(), [low], "{aside:?}");
        assert!((of_reads[0].1 + 0.5).abs() < 0.05, "{aside:?}");
    }
}
