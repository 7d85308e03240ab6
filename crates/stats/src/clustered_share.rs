//! Share of events that come in clusters, and quantiles of values that were counted block by block.
//!
//! A stall delays every outstanding request, and a slow second thousands of them. Requests are therefore no independent
//! trials of a coin, and the binomial interval of the share beyond a limit is too narrow. Here the unit is the block (a
//! trial of a run, for one). The variance of the share comes from how far the blocks' counts lie apart; over the
//! binomial variance it is the design effect D, and n values say as much as n / D independent ones. The interval is
//! Clopper and Pearson's for that effective size, with Student's t for the number of blocks: E. L. Korn and B. I.
//! Graubard, *Confidence intervals for proportions with small expected number of positive counts estimated from survey
//! data* (Survey Methodology 24, 1998). Unlike a normal interval it holds for no events at all.
//!
//! A quantile's interval is the inversion of the same: all values that the share beyond them does not exclude. "The
//! 99th percentile lies below 10 ms" and "less than 1 % lie above 10 ms" are then one statement with one answer.
//!
//! Assumed: blocks are exchangeable, or resemble their predecessor (AR(1)): from 20 blocks on the correlation is
//! estimated and included. Events that are rarer than the blocks together are long cannot be known.

use statrs::{
    distribution::{Beta, ContinuousCDF},
    function::beta::beta_reg,
};

use crate::{
    estimate::student_t,
    series::{Series, variance_of_mean},
};

/// Blocks from which on their correlation is estimated: that of fewer is known to ± 0.4, which would widen every
/// interval by half.
const CORRELATED_FROM: usize = 20;
/// Events from which on their clusters are seen in the counts.
const EVENTS_SEEN: u64 = 10;

/// One block of observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Observations that are events.
    pub events: u64,
    /// Observations.
    pub of: u64,
}

/// Share of events with the size of the independent sample that would know it as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteredShare {
    /// Share of events.
    pub value: f64,
    /// Observations in all.
    pub observations: f64,
    /// Variance of the share over that of independent observations; at least 1.
    pub design_effect: f64,
    /// Degrees of freedom of that variance: blocks less one.
    pub degrees_of_freedom: f64,
}

impl ClusteredShare {
    /// Share over blocks in the order of their time. `cluster` is the number of observations that one cause hits at
    /// least, where fewer than ten events cannot show it: outstanding requests. `None` below two blocks.
    pub fn of(blocks: &[Block], cluster: f64) -> Option<Self> {
        let observations: u64 = blocks.iter().map(|block| block.of).sum();
        let events: u64 = blocks.iter().map(|block| block.events).sum();
        if blocks.len() < 2 || observations < 2 {
            return None;
        }
        let (n, m) = (observations as f64, blocks.len() as f64);
        let value = events as f64 / n;
        let residuals: Vec<f64> =
            blocks.iter().map(|block| block.events as f64 - value * block.of as f64).collect();
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let binomial = n * value * (1.0 - value);
        // Of one event, the last block, the likelihood is flat over all correlations: 1 of 200 was 0.0 to 16 %.
        let (alike, least) = match events < EVENTS_SEEN {
            true => (1.0, cluster.max(1.0)),
            false => (correlation(&residuals), 1.0),
        };
        let seen = if binomial > 0.0 { squares * m / (m - 1.0) / binomial * alike } else { 1.0 };
        Some(Self { value, observations: n, design_effect: seen.max(least), degrees_of_freedom: m - 1.0 })
    }

    /// Size of the independent sample that has as wide an interval.
    pub fn effective(&self, confidence: f64) -> f64 {
        let t =
            student_t(confidence, self.observations - 1.0) / student_t(confidence, self.degrees_of_freedom);
        self.observations / self.design_effect * t * t
    }

    /// Lower and upper end of the interval.
    pub fn ends(&self, confidence: f64) -> (f64, f64) {
        let n = self.effective(confidence);
        let events = self.value * n;
        let tail = (1.0 - confidence) / 2.0;
        let quantile = |a: f64, b: f64, at: f64| {
            Beta::new(a, b).expect("both parameters are above zero").inverse_cdf(at)
        };
        let low = if events > 0.0 { quantile(events, n - events + 1.0, tail) } else { 0.0 };
        let high = if self.value < 1.0 { quantile(events + 1.0, n - events, 1.0 - tail) } else { 1.0 };
        (low, high)
    }

    /// Whether the whole interval lies above a share.
    pub fn is_above(&self, share: f64, confidence: f64) -> bool {
        let n = self.effective(confidence);
        let events = self.value * n;
        events > 0.0 && beta_reg(events, n - events + 1.0, share) < (1.0 - confidence) / 2.0
    }

    /// Whether the whole interval lies below a share.
    pub fn is_below(&self, share: f64, confidence: f64) -> bool {
        let n = self.effective(confidence);
        let events = self.value * n;
        self.value < 1.0 && beta_reg(events + 1.0, n - events, share) > 1.0 - (1.0 - confidence) / 2.0
    }
}

/// Factor by which blocks that resemble their predecessor raise the variance of a sum.
fn correlation(residuals: &[f64]) -> f64 {
    if residuals.len() < CORRELATED_FROM {
        return 1.0;
    }
    let mut series = Series::default();
    series.add(residuals);
    let (likely, _) = series.correlation(0.0).unwrap_or((0.0, 0.0));
    let length = residuals.len() as f64;
    variance_of_mean(length, likely) * length
}

/// Classes of values, in ascending order, between which a quantile lies. `None` where no class is excluded on that
/// side: the observations are too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantileClasses {
    /// First class that may hold the quantile.
    pub low: Option<usize>,
    /// Last class that may hold it.
    pub high: Option<usize>,
}

/// Interval of the quantile `q` of values that each block counted in classes: pairs of class and count, the classes
/// ascending. `cluster` is that of [`ClusteredShare::of`].
pub fn quantile_classes(
    blocks: &[Vec<(usize, u64)>],
    classes: usize,
    q: f64,
    confidence: f64,
    cluster: f64,
) -> QuantileClasses {
    let beyond = 1.0 - q;
    let totals: Vec<Vec<(usize, u64)>> = blocks.iter().map(|block| up_to(block)).collect();
    let share = |class: Option<usize>| {
        let blocks: Vec<Block> = totals.iter().map(|totals| beyond_class(totals, class)).collect();
        ClusteredShare::of(&blocks, cluster)
    };
    let is_above = |class| share(class).is_some_and(|share| share.is_above(beyond, confidence));
    let is_below = |class| share(class).is_some_and(|share| share.is_below(beyond, confidence));
    let all: Vec<usize> = (0..classes).collect();
    let first = |excluded: &dyn Fn(usize) -> bool| all.partition_point(|&class| excluded(class));
    let low = is_above(None).then(|| first(&|class| is_above(Some(class))));
    let high = first(&|class| !is_below(Some(class)));
    QuantileClasses {
        low: low.filter(|&class| class < classes),
        high: Some(high).filter(|&class| class < classes),
    }
}

/// Counts of all classes up to each.
fn up_to(block: &[(usize, u64)]) -> Vec<(usize, u64)> {
    let mut sum = 0;
    let total = |&(class, count): &(usize, u64)| {
        sum += count;
        (class, sum)
    };
    block.iter().map(total).collect()
}

/// What a block counted beyond a class; all of it without one.
fn beyond_class(totals: &[(usize, u64)], class: Option<usize>) -> Block {
    let of = totals.last().map_or(0, |(_, sum)| *sum);
    let below = class.map_or(0, |class| totals.partition_point(|(other, _)| *other <= class));
    let within = below.checked_sub(1).map_or(0, |last| totals[last].1);
    Block { events: of - within, of }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Gamma, Poisson};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn blocks(events: &[u64], of: u64) -> Vec<Block> {
        events.iter().map(|&events| Block { events, of }).collect()
    }

    #[test]
    fn even_blocks_have_the_exact_binomial_interval() {
        // 40 blocks of 1000 with 10 events each: D = 1. Clopper and Pearson of 400 in 40,000 x (1.96 / 2.0227)^2
        // = 37,556: 0.9019 % to 1.1057 %.
        let share = ClusteredShare::of(&blocks(&[10; 40], 1000), 1.0).unwrap();
        assert_eq!((share.value, share.design_effect, share.degrees_of_freedom), (0.01, 1.0, 39.0));
        assert!((share.effective(0.95) - 37_556.0).abs() < 20.0, "{}", share.effective(0.95));
        let (low, high) = share.ends(0.95);
        assert!((low - 0.009_018).abs() < 1e-5 && (high - 0.011_058).abs() < 1e-5, "{low} {high}");
    }

    #[test]
    fn one_stall_counts_as_one_event() {
        // 32 events in one block of 40: the blocks' sum has a variance of about 32^2, 32 times the binomial one.
        let mut stalled = [0; 40];
        stalled[7] = 32;
        let share = ClusteredShare::of(&blocks(&stalled, 1000), 1.0).unwrap();
        assert!((share.design_effect / 32.0 - 1.0).abs() < 0.02, "{}", share.design_effect);
        // One event in 40,000 / 32 = 1,250, or 0.94 in 1,174 for Student's t: Poisson's upper bound of one event at
        // 97.5 % is 5.572, of 0.94 events 5.48.
        let (_, high) = share.ends(0.95);
        assert!((high * share.effective(0.95) / 5.48 - 1.0).abs() < 0.01, "{high}");
    }

    #[test]
    fn the_place_of_one_event_does_not_matter() {
        // Clopper and Pearson of 1 in 200: 0.013 % to 2.754 %.
        for place in [0, 1, 100, 198, 199] {
            let mut one = [0; 200];
            one[place] = 1;
            let (low, high) = ClusteredShare::of(&blocks(&one, 1), 1.0).unwrap().ends(0.95);
            assert!(
                (high - 0.027_54).abs() < 1e-4 && (low - 0.000_127).abs() < 1e-5,
                "{place}: {low} {high}"
            );
        }
    }

    #[test]
    fn no_events_are_less_certain_where_a_cause_hits_many() {
        // Poisson's upper bound of none is 3.689; of clusters of 32 it is 32 times that.
        for cluster in [1.0, 32.0] {
            let share = ClusteredShare::of(&blocks(&[0; 40], 10_000), cluster).unwrap();
            let bound = share.ends(0.95).1 * share.effective(0.95);
            assert!((bound / 3.689 - 1.0).abs() < 0.01, "{bound}");
            assert_eq!(share.design_effect, cluster);
        }
        assert_eq!(ClusteredShare::of(&blocks(&[3], 100), 1.0), None);
    }

    /// Blocks whose level of events is drawn anew for each (gamma, with this variation) and has a memory.
    fn drawn(random: &mut Xoshiro256PlusPlus, share: f64, cv: f64, kept: f64) -> Vec<Block> {
        let shape = 1.0 / (cv * cv);
        let fresh = Gamma::new(shape, 1.0 / shape).unwrap();
        let mut level: f64 = fresh.sample(random);
        let block = |_| {
            if !random.random_bool(kept) {
                level = fresh.sample(random);
            }
            let events = Poisson::new(share * 500.0 * level).unwrap().sample(random) as u64;
            Block { events: events.min(500), of: 500 }
        };
        (0..40).map(block).collect()
    }

    #[test]
    fn intervals_of_clustered_events_cover() {
        // Independent, over-dispersed 6-fold, and these with blocks that keep their level with probability 0.4.
        for (cv, kept, widest) in [(0.05, 0.0, 0.0075), (1.0, 0.0, 0.013), (1.0, 0.4, 0.022)] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
            let (mut covered, mut width) = (0, 0.0);
            for _ in 0..1000 {
                let share = ClusteredShare::of(&drawn(&mut random, 0.01, cv, kept), 1.0).unwrap();
                let (low, high) = share.ends(0.95);
                covered += u32::from(low <= 0.01 && 0.01 <= high);
                width += (high - low) / 1000.0;
            }
            assert!(covered >= 925, "{cv} {kept}: {covered} of 1000");
            assert!(width < widest, "{cv} {kept}: {width}");
        }
    }

    #[test]
    fn a_quantile_lies_between_its_classes() {
        // 40 blocks of 0 .. 999, one class each: the share beyond 989 is 1 %. At 37,556 values 1.1 % beyond 988 have
        // an interval from 0.996 % on, and 0.9 % beyond 990 one up to 1.001 %; 1.2 % and 0.8 % exclude 1 %.
        let block: Vec<(usize, u64)> = (0..1000).map(|class| (class, 1)).collect();
        let found = quantile_classes(&vec![block.clone(); 40], 1000, 0.99, 0.95, 1.0);
        assert_eq!(found, QuantileClasses { low: Some(988), high: Some(991) });
        // 300 values, none beyond: the bound of the share beyond the last is 1.2 %.
        let few = vec![(0..60).map(|class| (class, 1)).collect::<Vec<_>>(); 5];
        assert_eq!(quantile_classes(&few, 60, 0.99, 0.95, 1.0).high, None);
        assert!(quantile_classes(&few, 60, 0.5, 0.95, 1.0).high.is_some());
        assert_eq!(quantile_classes(&[], 10, 0.5, 0.95, 1.0), QuantileClasses { low: None, high: None });
    }

    proptest! {
        #[test]
        fn the_ends_hold_the_share_and_say_the_same_as_the_tests(
            events in prop::collection::vec(0u64..60, 2..40), limit in 0.0005f64..0.3,
        ) {
            let share = ClusteredShare::of(&blocks(&events, 400), 2.0).unwrap();
            let (low, high) = share.ends(0.95);
            prop_assert!(low <= share.value && share.value <= high);
            prop_assume!((low / limit - 1.0).abs() > 1e-3 && (high / limit - 1.0).abs() > 1e-3);
            prop_assert_eq!(share.is_above(limit, 0.95), low > limit);
            prop_assert_eq!(share.is_below(limit, 0.95), high < limit);
        }
    }
}
