//! `normal:σ`: around the middle of the span; what falls outside is drawn again.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::random::Random;

/// Places around the middle.
#[derive(Debug, Clone)]
pub(super) struct Normal {
    places: f64,
    deviation: f64,
}

impl Normal {
    /// `deviation` is a share of the span: at 100 %, 38 % of what is drawn falls inside.
    pub(super) fn new(places: u64, deviation: f64) -> Self {
        Self { places: places as f64, deviation: deviation * places as f64 }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let place = 0.5 * self.places + self.deviation * random.sample::<f64, _>(StandardNormal);
            if place >= 0.0 && place < self.places {
                return place as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::*, *};

    /// The normal distribution function, by adding up the density (Simpson): statistics live in another
    /// crate.
    fn below(z: f64) -> f64 {
        let (steps, density) = (2000, |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt());
        let width = z / f64::from(steps);
        let weight = |n: i32| {
            if n == 0 || n == steps {
                1.0
            } else if n % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        0.5 + width / 3.0 * (0..=steps).map(|n| weight(n) * density(f64::from(n) * width)).sum::<f64>()
    }

    #[test]
    fn shares_are_exact() {
        for (places, deviation) in [(1000, 0.1), (1000, 0.02), (101, 0.3), (64, 0.99), (1000, 0.0007)] {
            let (normal, mut random) = (Normal::new(places, deviation), random(places));
            let mut counts = vec![0u64; places as usize];
            (0..300_000).for_each(|_| counts[normal.draw(&mut random) as usize] += 1);
            let at = |place: u64| below((place as f64 / places as f64 - 0.5) / deviation);
            let inside = at(places) - at(0);
            let shares = (0..places).map(|place| (at(place + 1) - at(place)) / inside);
            assert_fits(&format!("normal:{deviation}"), &counts, shares);
        }
    }
}
