//! fio's search for the deepest queue at which enough requests are answered within a latency.
//!
//! fio starts at depth 1 and doubles it after each window in which the share was kept, up to `iodepth`; after one in
//! which it was not, it halves the interval between the two. It ends with a window at the depth that it found.

use iosonde_model::{Histogram, Trial};

use super::{
    given::Options,
    refusal::{Refusal, Why},
};

/// Values of `latency_target` and of the options beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTarget {
    /// Latency that is kept, in nanoseconds.
    pub ns: u64,
    /// Share of the requests that must keep it.
    pub share: f64,
    /// Time at each depth, in nanoseconds.
    pub window_ns: u64,
    /// True if the rest of the runtime is measured at the depth that was found, and not only a window.
    pub goes_on: bool,
}

impl LatencyTarget {
    pub(super) fn of(options: &Options) -> Result<Option<Self>, Refusal> {
        let window_ns = options.short_time_ns("latency_window")?;
        let share = match options.text("latency_percentile").map(|word| word.trim().parse::<f64>()) {
            None => 1.0,
            Some(Ok(percent)) if percent > 0.0 && percent <= 100.0 => percent / 100.0,
            Some(_) => return Err(options.misread("latency_percentile", "it lies above 0 and up to 100")),
        };
        let goes_on = options.yes("latency_run")?.unwrap_or(false);
        let Some(ns) = options.short_time_ns("latency_target")? else { return Ok(None) };
        let Some(window_ns) = window_ns else {
            let why = "latency_target needs the time at each depth: latency_window=5s";
            return Err(Why::Contradiction(why.to_owned()).at(options.place("latency_target")));
        };
        Ok(Some(Self { ns, share, window_ns, goes_on }))
    }

    /// The latency within which the share of a trial's requests was answered; `None` if it has none.
    pub fn figure_ns(&self, trial: &Trial) -> Option<f64> {
        let mut latencies = Histogram::new();
        trial.directions().for_each(|(_, direction)| latencies.merge(&direction.histogram));
        self.figure_of(&latencies)
    }

    /// Returns true if enough of a trial's requests were answered within the latency.
    pub fn is_kept(&self, trial: &Trial) -> bool {
        self.is_within(self.figure_ns(trial))
    }

    fn figure_of(&self, latencies: &Histogram) -> Option<f64> {
        let slowest_ns = latencies.max_ns().map(|ns| ns as f64);
        if self.share < 1.0 { latencies.quantile_ns(self.share) } else { slowest_ns }
    }

    fn is_within(&self, figure_ns: Option<f64>) -> bool {
        figure_ns.is_some_and(|ns| ns <= self.ns as f64)
    }
}

/// Search for the deepest queue that keeps a latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthSearch {
    /// Deepest queue that kept it; 0 before any did.
    kept: u32,
    /// Shallowest queue that did not, where one was tried.
    broken: Option<u32>,
    /// Deepest queue that is tried.
    deepest: u32,
}

impl DepthSearch {
    /// A search up to this depth.
    pub fn up_to(deepest: u32) -> Self {
        Self { kept: 0, broken: None, deepest }
    }

    /// The depth to try next; `None` once it is found.
    pub fn next_depth(&self) -> Option<u32> {
        let next = match self.broken {
            None => self.kept.saturating_mul(2).clamp(1, self.deepest),
            Some(broken) => self.kept + (broken - self.kept) / 2,
        };
        (next > self.kept).then_some(next)
    }

    /// Notes how a depth went.
    pub fn tried(&mut self, depth: u32, is_kept: bool) {
        if is_kept { self.kept = depth } else { self.broken = Some(depth) }
    }

    /// The deepest queue that kept the latency; `None` if not even one request at a time does.
    pub fn found(&self) -> Option<u32> {
        (self.kept > 0).then_some(self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_deepest_queue_and_tries_few() {
        for deepest in 1..=300 {
            for limit in 0..=deepest + 1 {
                let mut search = DepthSearch::up_to(deepest);
                let mut tried = Vec::new();
                while let Some(depth) = search.next_depth() {
                    assert!(
                        depth <= deepest && !tried.contains(&depth),
                        "{deepest} {limit}: {depth} {tried:?}"
                    );
                    tried.push(depth);
                    search.tried(depth, depth <= limit);
                }
                let found = Some(limit.min(deepest)).filter(|depth| *depth > 0);
                assert_eq!(search.found(), found, "{deepest} {limit}");
                assert!(tried.len() <= 2 + 2 * deepest.ilog2() as usize, "{deepest} {limit}: {tried:?}");
            }
        }
    }

    #[test]
    fn a_share_of_the_requests_keeps_the_latency() {
        let mut latencies = Histogram::new();
        (0..999).for_each(|_| latencies.record(100_000));
        latencies.record(5_000_000);
        let kept = |share, ns, latencies: &Histogram| {
            let target = LatencyTarget { ns, share, window_ns: 1, goes_on: false };
            target.is_within(target.figure_of(latencies))
        };
        for (share, ns) in [(0.999, 101_000), (1.0, 5_000_000)] {
            assert!(kept(share, ns, &latencies), "{share} {ns}");
        }
        for (share, ns) in [(1.0, 101_000), (0.5, 99_000), (1.0, 4_999_999)] {
            assert!(!kept(share, ns, &latencies), "{share} {ns}");
        }
        assert!(!kept(0.5, 1, &Histogram::new()));
    }
}
