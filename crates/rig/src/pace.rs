//! When requests of an open loop are due.
//!
//! An open loop asks whether or not the storage has answered, as independent clients do. Latency then counts from the
//! moment that a request was due, not from the moment that the generator got round to sending it: otherwise each stall
//! hides the requests that it delayed ("coordinated omission", Tene 2013).
//!
//! Moments are computed from the beginning of the trial, never by adding rounded distances, so that the rate does not
//! drift however long the trial.

use iosonde_model::Arrivals;
use rand::{RngExt, SeedableRng};
use rand_distr::{Exp1, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The moments at which requests of one job are due.
#[derive(Debug, Clone)]
pub struct Pace {
    between_ns: f64,
    arrivals: Arrivals,
    random: Xoshiro256PlusPlus,
    begun_ns: u64,
    /// Distance of the next request from the beginning, in units of the mean distance.
    next: f64,
    next_due_ns: u64,
}

impl Pace {
    /// Requests at `rate_iops`; nothing is due before [`Pace::begin`].
    pub fn new(rate_iops: f64, arrivals: Arrivals, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x9ace_9ace);
        Self { between_ns: 1e9 / rate_iops, arrivals, random, begun_ns: 0, next: 0.0, next_due_ns: u64::MAX }
    }

    /// The trial begins. The first request is due a distance later, drawn like the others: jobs that all began with a
    /// request at once would begin with a burst. Fixed paces begin at a random part of their distance.
    pub fn begin(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
        self.next = match self.arrivals {
            Arrivals::Fixed => self.random.random::<f64>(),
            Arrivals::Poisson => self.random.sample(Exp1),
        };
        self.settle();
    }

    /// The moment at which the next request is due.
    #[inline]
    pub fn next_due_ns(&self) -> u64 {
        self.next_due_ns
    }

    /// The next request has been taken.
    #[inline]
    pub fn advance(&mut self) {
        self.next += match self.arrivals {
            Arrivals::Fixed => 1.0,
            Arrivals::Poisson => self.random.sample::<f64, _>(Exp1),
        };
        self.settle();
    }

    /// f64 counts whole distances exactly up to 2^53, and a day's moments to the nanosecond.
    #[inline]
    fn settle(&mut self) {
        self.next_due_ns = self.begun_ns + (self.next * self.between_ns) as u64;
    }

    /// How many requests are due before a moment and were not taken; takes them. At once, however many: at 20 million
    /// a second ten minutes of hanging storage are 12 billion.
    pub fn skip_to(&mut self, end_ns: u64) -> u64 {
        if self.next_due_ns >= end_ns {
            return 0;
        }
        let end = (end_ns - self.begun_ns) as f64 / self.between_ns;
        let left = end - self.next;
        if self.arrivals == Arrivals::Poisson {
            // Behind one arrival that is known there are as many as in any other time of that length.
            let more = Poisson::new(left).map_or(0.0, |count| self.random.sample(count));
            self.next = end + self.random.sample::<f64, _>(Exp1);
            self.settle();
            return 1 + more as u64;
        }
        let whole = (left.floor() - 1.0).max(0.0);
        self.next += whole;
        self.settle();
        let mut skipped = whole as u64;
        // The last ones one by one: moments are rounded to the nanosecond.
        while self.next_due_ns < end_ns {
            self.advance();
            skipped += 1;
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_pace_keeps_its_rate_to_the_request() {
        // 3 a second does not divide a second into whole nanoseconds.
        let mut pace = Pace::new(3.0, Arrivals::Fixed, 1);
        pace.begin(500);
        assert_eq!(pace.skip_to(500 + 1_000_000_000_000), 3000);
        let at_ns = pace.next_due_ns();
        pace.advance();
        assert!((pace.next_due_ns() - at_ns).abs_diff(333_333_333) <= 1);
    }

    #[test]
    fn what_was_never_sent_is_counted_at_once_and_rightly() {
        // Twelve billion of them would take a minute one by one.
        let mut fixed = Pace::new(2e7, Arrivals::Fixed, 3);
        fixed.begin(0);
        assert_eq!(fixed.skip_to(600_000_000_000), 12_000_000_000);
        let counts: Vec<f64> = (0..2000)
            .map(|seed| {
                let mut pace = Pace::new(1000.0, Arrivals::Poisson, seed);
                pace.begin(0);
                let counted = pace.skip_to(100_000_000);
                assert!(pace.next_due_ns() >= 100_000_000 && pace.skip_to(100_000_000) == 0);
                counted as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / 2000.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 2000.0;
        // Mean and variance 100; standard errors 0.22 and 3.2.
        assert!((mean - 100.0).abs() < 1.1 && (variance - 100.0).abs() < 16.0, "{mean} {variance}");
    }

    #[test]
    fn poisson_distances_are_exponential() {
        let mut pace = Pace::new(1e6, Arrivals::Poisson, 2);
        pace.begin(0);
        let mut distances = Vec::new();
        for _ in 0..200_000 {
            let before_ns = pace.next_due_ns();
            pace.advance();
            distances.push((pace.next_due_ns() - before_ns) as f64);
        }
        let n = distances.len() as f64;
        let mean = distances.iter().sum::<f64>() / n;
        let above_mean = distances.iter().filter(|&&d| d > mean).count() as f64 / n;
        // Mean 1,000 ns with standard error 2.2; a share 1/e = 0.3679 lies above it, standard error 0.0011.
        assert!((mean - 1000.0).abs() < 12.0, "{mean}");
        assert!((above_mean - 0.3679).abs() < 0.006, "{above_mean}");
    }

    #[test]
    fn the_same_seed_gives_the_same_moments() {
        let moments = |seed| {
            let mut pace = Pace::new(1000.0, Arrivals::Poisson, seed);
            pace.begin(0);
            std::iter::repeat_with(|| (pace.advance(), pace.next_due_ns()).1).take(50).collect::<Vec<_>>()
        };
        assert_eq!(moments(7), moments(7));
        assert_ne!(moments(7), moments(8));
    }
}
