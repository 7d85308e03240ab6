//! `hot:A%/B%`: A % of the requests go to the first B % of the span, the others to the rest; uniform in each.

use rand::Rng;

use super::random::{Random, below};

/// A hot and a cold range of places.
#[derive(Debug, Clone)]
pub(super) struct Hot {
    hot_places: u64,
    cold_places: u64,
    /// Random numbers below this go to the hot range.
    hot_below: u64,
}

impl Hot {
    /// Whole places, at least one in each range where there are two.
    pub(super) fn new(places: u64, requests: f64, span: f64) -> Self {
        let hot_places = ((places as f64 * span).round() as u64).clamp(1, places.max(2) - 1);
        // The conversion saturates: 1 becomes 2^64 - 1, off by 5e-20.
        let hot_below = (requests * 2f64.powi(64)) as u64;
        Self { hot_places, cold_places: places - hot_places, hot_below }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let is_hot = random.next_u64() < self.hot_below || self.cold_places == 0;
        // One multiplication with either bound: a branch here would be mispredicted at every change of range.
        let (from, places) = if is_hot { (0, self.hot_places) } else { (self.hot_places, self.cold_places) };
        from + below(random, places)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::*, *};

    #[test]
    fn shares_are_exact() {
        for (places, requests, span) in [(1000, 0.8, 0.2), (300, 0.5, 0.01), (64, 0.1, 0.75), (5, 0.999, 0.4)]
        {
            let (hot, mut random) = (Hot::new(places, requests, span), random(places));
            let mut counts = vec![0u64; places as usize];
            (0..300_000).for_each(|_| counts[hot.draw(&mut random) as usize] += 1);
            let hot_places = (places as f64 * span).round();
            let share = |place: u64| {
                if (place as f64) < hot_places {
                    requests / hot_places
                } else {
                    (1.0 - requests) / (places as f64 - hot_places)
                }
            };
            assert_fits(&format!("hot:{requests}/{span}"), &counts, (0..places).map(share));
        }
    }

    #[test]
    fn a_range_too_small_for_a_place_gets_one_where_there_are_two() {
        for (places, hot_places, cold_places) in [(1, 1, 0), (2, 1, 1), (3, 1, 2)] {
            let hot = Hot::new(places, 0.5, 0.01);
            assert_eq!((hot.hot_places, hot.cold_places), (hot_places, cold_places));
            let mut random = random(1);
            assert!((0..100).all(|_| hot.draw(&mut random) < places));
        }
    }
}
