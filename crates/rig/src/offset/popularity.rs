//! `zipf:θ` and `pareto:h`: ranks by popularity, drawn exactly and in constant time, however many there are.
//!
//! Zipf: the k-th most popular place in proportion to k^-θ. Pareto: a share h of the places gets a share 1 -
//! h of the requests, and so on within that share, the self-similar distribution of Gray et al. 1994
//! ("Quickly generating billion-record synthetic databases").
//!
//! Either popularity falls from rank to rank. A staircase lies over it: the first [`SINGLES`] ranks are steps
//! of their own, later steps are wider and as high as their first rank. A step is drawn by its area, a rank
//! in it evenly, and kept with the rank's popularity over the step's; otherwise all is drawn again
//! (rejection). Steps that widen by 1/16 reject 3 % in the mean, and only where a rank is not kept for sure
//! is its popularity computed at all. A draw takes 5..12 ns, against 20..35 ns for inverting the integral
//! (Hörmann and Derflinger 1996); 2^40 ranks need 390 steps.

use rand::Rng;

use super::{alias::Alias, random::Random};

/// Ranks up to here are steps of one rank; beyond, a step is as wide as a 16th of its first rank.
const SINGLES: u64 = 32;
const WIDENING: u64 = 16;

/// Ranks from 0 on.
#[derive(Debug, Clone)]
pub(super) struct Popularity {
    law: Law,
    steps: Alias<Step>,
    /// Ranks are kept for sure below this share of their step's height, in units of 2^-64.
    surely_below: u64,
}

/// Popularity of a rank.
#[derive(Debug, Clone, Copy)]
enum Law {
    Zipf {
        theta: f64,
    },
    /// The power to which the share of the ranks is raised to give the share of the requests.
    Pareto {
        power: f64,
    },
}

/// Ranks `from..from + width`, counted from 1.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: u64,
    width: u64,
}

impl Law {
    /// In any unit, never growing with the rank.
    fn weight(self, rank: u64) -> f64 {
        let rank = rank as f64;
        match self {
            Self::Zipf { theta } => rank.powf(-theta),
            // rank^power - (rank - 1)^power, without the loss of digits.
            Self::Pareto { power } => rank.powf(power) * -(power * (-1.0 / rank).ln_1p()).exp_m1(),
        }
    }
}

impl Popularity {
    pub(super) fn zipf(ranks: u64, theta: f64) -> Self {
        Self::new(ranks, Law::Zipf { theta })
    }

    pub(super) fn pareto(ranks: u64, share: f64) -> Self {
        // h^power = 1 - h.
        Self::new(ranks, Law::Pareto { power: (-share).ln_1p() / share.ln() })
    }

    fn new(ranks: u64, law: Law) -> Self {
        let (mut steps, mut least) = (Vec::new(), 1.0f64);
        let mut from = 1;
        while from <= ranks {
            let width = if from <= SINGLES { 1 } else { (from / WIDENING).min(ranks - from + 1) };
            let height = law.weight(from);
            steps.push((Step { from, width }, height * width as f64));
            least = least.min(law.weight(from + width - 1) / height);
            from += width;
        }
        // A little less, so that rounding keeps no value with certainty.
        let surely_below = (least * (1.0 - 1e-9) * 2f64.powi(64)) as u64;
        Self { law, steps: Alias::new(&steps), surely_below }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let step = self.steps.draw(random);
            // The whole part of the product gives the rank, the fraction tells whether to keep it.
            let wide = u128::from(random.next_u64()) * u128::from(step.width);
            let (rank, fraction) = (step.from + (wide >> 64) as u64, wide as u64);
            if step.width == 1 || fraction < self.surely_below || self.keeps(rank, step.from, fraction) {
                return rank - 1;
            }
        }
    }

    #[cold]
    fn keeps(&self, rank: u64, first: u64, fraction: u64) -> bool {
        (fraction as f64) < self.law.weight(rank) / self.law.weight(first) * 2f64.powi(64)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::*, *};

    fn counts(popularity: &Popularity, ranks: u64) -> Vec<u64> {
        let (mut random, mut counts) = (random(ranks), vec![0u64; ranks as usize]);
        (0..500_000).for_each(|_| counts[popularity.draw(&mut random) as usize] += 1);
        counts
    }

    #[test]
    fn zipf_is_exact() {
        for (ranks, theta) in [
            (1000, 0.01),
            (1000, 0.5),
            (1000, 0.99),
            (1000, 1.0),
            (1000, 1.0 + 1e-12),
            (1000, 1.1),
            (50_000, 1.2),
            (1000, 2.0),
            (10, 3.0),
            (1000, 9.9),
            (2, 0.7),
        ] {
            let weight = |rank: u64| (rank as f64).powf(-theta);
            let sum: f64 = (1..=ranks).map(weight).sum();
            let shares = (1..=ranks).map(|rank| weight(rank) / sum);
            assert_fits(&format!("zipf:{theta}"), &counts(&Popularity::zipf(ranks, theta), ranks), shares);
        }
    }

    #[test]
    fn pareto_is_exact() {
        for (ranks, share) in
            [(1000, 0.2), (1000, 0.01), (777, 0.1), (100_000, 0.4), (50, 0.499), (2, 0.3f64)]
        {
            // The distribution function that the definition gives: x^(ln(1 - h) / ln h).
            let power = (1.0 - share).ln() / share.ln();
            let below = |rank: u64| (rank as f64 / ranks as f64).powf(power);
            let shares = (0..ranks).map(|rank| below(rank + 1) - below(rank));
            assert_fits(
                &format!("pareto:{share}"),
                &counts(&Popularity::pareto(ranks, share), ranks),
                shares,
            );
        }
    }

    #[test]
    fn a_share_of_the_ranks_gets_the_rest_of_the_requests_again_and_again() {
        let (pareto, mut random) = (Popularity::pareto(1 << 40, 0.2), random(1));
        let ranks: Vec<u64> = (0..100_000).map(|_| pareto.draw(&mut random)).collect();
        for (among, share) in [(0.2, 0.8), (0.04, 0.64), (0.008, 0.512), (0.2f64.powi(10), 0.8f64.powi(10))] {
            let among = (2f64.powi(40) * among) as u64;
            let seen = ranks.iter().filter(|&&rank| rank < among).count() as f64 / 1e5;
            // Standard deviation at most 0.0016.
            assert!((seen - share).abs() < 0.007, "{seen} of the requests to {among}");
        }
    }

    /// Where no sum over the ranks can be made: the shares of ranges, from the integral (Euler-Maclaurin to
    /// the second term is good to 1e-9 from rank 1,000 on).
    #[test]
    fn zipf_over_a_large_span_is_exact() {
        let ranks = 1u64 << 40;
        for theta in [0.2f64, 0.8, 1.0, 1.3] {
            let below = |end: u64| {
                let (first, x) = (1000.0f64, end as f64);
                let head: f64 = (1..1000).map(|rank| f64::from(rank).powf(-theta)).sum();
                let integral = if theta == 1.0 {
                    (x / first).ln()
                } else {
                    (x.powf(1.0 - theta) - first.powf(1.0 - theta)) / (1.0 - theta)
                };
                head + integral + (first.powf(-theta) + x.powf(-theta)) / 2.0
            };
            let ends: Vec<u64> = (10..=40).step_by(2).map(|power| 1 << power).collect();
            let (zipf, mut random) = (Popularity::zipf(ranks, theta), random(3));
            let mut counts = vec![0u64; ends.len()];
            for _ in 0..500_000 {
                let rank = zipf.draw(&mut random) + 1;
                counts[ends.iter().position(|&end| rank <= end).unwrap()] += 1;
            }
            let share = |n: usize| {
                let before = if n > 0 { below(ends[n - 1]) } else { 0.0 };
                (below(ends[n]) - before) / below(ranks)
            };
            assert_fits(&format!("zipf:{theta} of 2^40"), &counts, (0..ends.len()).map(share));
        }
    }

    #[test]
    fn few_ranks_are_all_drawn_and_none_beyond() {
        for ranks in 1..200 {
            let (zipf, mut random) = (Popularity::zipf(ranks, 0.5), random(ranks));
            let seen: std::collections::BTreeSet<u64> = (0..20_000).map(|_| zipf.draw(&mut random)).collect();
            assert!(seen.into_iter().eq(0..ranks), "of {ranks}");
        }
    }
}
