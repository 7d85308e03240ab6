//! What trials cannot tell: they count whole requests, by a clock that counts whole nanoseconds.
//!
//! A device without noise, or a limit, repeats its figures to the last digit. An interval of trials that agree by
//! chance or by construction would then be narrower than the counting itself.
//!
//! Measured time begins and ends at a completion, so a count is off by a request only where the storage was at another
//! place of its cycle at the end than at the beginning. Little's law tells that from one trial: throughput times
//! latency then differs from the queue depth that was counted (see [`edge_share`]). Ten writes of 1 MiB in
//! 0.3 s at QD 8, each in 240 ms, are 33.4 per second and not 33.4 ± 10 %. At QD 1 the law tells nothing, and the floor
//! stays: it also stands for slow requests that few requests do not show (without it, 90 % of the intervals of
//! `per_request_cost` contained the truth in `bench/blind`, with it 94 %). The mean latency of a closed loop is the
//! queue depth over the throughput, and has the same floor: 45.4 IOPS ±2.6 % beside 87.2 ms ±0.1 % (`usb-stick`, QD 4)
//! were two answers to one question.

use iosonde_model::{Direction, Trial};
use iosonde_stats::LogEstimate;

use crate::mean_depth::edge_share;

/// No mean is known better than to one part in ten thousand: a simulated device without noise repeats itself.
pub(super) const EXACT: f64 = 1e-4;

/// Resolution of the clock.
const TICK_NS: f64 = 1.0;

/// Standard deviation of a count whose trial begins and ends within a request: the difference of two uniform parts.
const PART_OF_A_REQUEST: f64 = 0.408;
/// Trials whose counts differ by no more count the same requests: one more or less, and lengths that differ by a part
/// of one.
const SAME_COUNT: f64 = 1.5;

/// How exact a throughput is that several trials counted together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting {
    /// Requests of all trials.
    requests: u64,
    /// Requests by which the ends of the trials may be off, each trial by its share.
    at_edges: f64,
    /// Least and highest throughput of a trial, in requests a second.
    iops: [f64; 2],
    /// Measured time of the shortest trial, in seconds.
    shortest_s: f64,
}

impl Default for Counting {
    fn default() -> Self {
        Self { requests: 0, at_edges: 0.0, iops: [f64::INFINITY, 0.0], shortest_s: f64::INFINITY }
    }
}

impl Counting {
    /// Adds the requests of a trial in one direction.
    pub(super) fn add(&mut self, trial: &Trial, direction: &Direction) {
        self.requests += direction.ios;
        self.at_edges += direction.ios as f64 * edge_share(trial).unwrap_or(1.0).max(EXACT);
        self.iops = [self.iops[0].min(direction.iops), self.iops[1].max(direction.iops)];
        self.shortest_s = self.shortest_s.min(trial.measured_s);
    }

    /// Share of the throughput by which the counting may be off; nothing of trials without a count, as in an imported
    /// table.
    ///
    /// Trials that count the same requests, give or take one, may all be off by the same part of a request: each begins
    /// and ends at the same place of the storage's cycle, and that they agree says nothing. Others are off by one
    /// request in all. Either is less where the trials' own latencies say so.
    pub(super) fn share(self) -> f64 {
        if self.requests == 0 {
            return 0.0;
        }
        let [least, most] = self.iops;
        let in_shortest = most * self.shortest_s;
        let count_the_same = (most - least) * self.shortest_s <= SAME_COUNT && in_shortest >= 1.0;
        let by_count =
            if count_the_same { PART_OF_A_REQUEST / in_shortest } else { 1.0 / self.requests as f64 };
        by_count.min(self.at_edges / self.requests as f64)
    }
}

/// Share of a latency that one tick of the clock is.
pub(super) fn of_clock(latency_ns: f64) -> f64 {
    TICK_NS / latency_ns
}

/// Degrees of freedom of an error that is no scatter: a count is off by at most one request, and has no tail.
const NO_TAIL: f64 = 1000.0;

/// Estimate that is known no better than to this share.
pub(super) fn no_finer(estimate: LogEstimate, share: f64) -> LogEstimate {
    if estimate.standard_error >= share {
        return estimate;
    }
    LogEstimate { standard_error: share, degrees_of_freedom: NO_TAIL, ..estimate }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial at QD 8 in which each request took so long.
    fn trial(requests: u64, measured_s: f64, latency_ms: f64) -> Trial {
        let mut trial = iosonde_testkit::specimen::usual();
        let read = trial.read.as_mut().unwrap();
        (read.ios, read.iops, read.latency_ns.mean) =
            (requests, requests as f64 / measured_s, Some(latency_ms * 1e6));
        trial.spec.queue_depth = 8;
        Trial { measured_s, in_flight_mean: Some(8.0), ..trial }
    }

    fn share(trials: &[Trial]) -> f64 {
        let mut counting = Counting::default();
        trials.iter().for_each(|trial| counting.add(trial, trial.read.as_ref().unwrap()));
        counting.share()
    }

    #[test]
    fn a_count_is_as_exact_as_the_ends_of_its_trials() {
        // 10 requests in 0.3 s at 240 ms are a queue depth of 8: whole cycles, and nothing is missing.
        let whole = vec![trial(10, 0.3, 240.0); 5];
        assert!((share(&whole) - EXACT).abs() < 1e-12);
        // In 0.303 s they are 1 % less than the counted depth: half a request of fifty.
        let late = vec![trial(10, 0.303, 240.0); 5];
        assert!((share(&late) - 0.01).abs() < 2e-4, "{}", share(&late));
        // A tenth off each time: what their latencies say is no more exact than that each is off by a part of one.
        let apart = vec![trial(10, 0.333, 240.0); 5];
        assert!((share(&apart) - 0.0408).abs() < 1e-12);
        // Trials that count anything from 10 to 14 are off by one request of sixty.
        let unlike: Vec<Trial> = (10..15).map(|requests| trial(requests, 0.333, 240.0)).collect();
        assert!((share(&unlike) - 1.0 / 60.0).abs() < 1e-12);
        // Where no depth was counted, the count of requests is what is known.
        let imported: Vec<Trial> =
            whole.into_iter().map(|trial| Trial { in_flight_mean: None, ..trial }).collect();
        assert!((share(&imported) - 0.0408).abs() < 1e-12);
        assert_eq!(share(&[]), 0.0);
    }

    #[test]
    fn trials_that_agree_to_the_last_digit_know_their_figures_to_one_request_and_one_tick() {
        let exact =
            |value: f64| LogEstimate { log_mean: value.ln(), standard_error: 0.0, degrees_of_freedom: 10.0 };
        let rate = no_finer(exact(1000.0), 1.0 / 5000.0);
        assert!((rate.standard_error - 2e-4).abs() < 1e-12, "{rate:?}");
        // Eight trials of one request each: 1.96 requests of eight, and not what Student's t of a few degrees says.
        let few = LogEstimate { degrees_of_freedom: 1.2, ..exact(5.0) };
        assert!((no_finer(few, 1.0 / 8.0).half_width(0.95) - 1.96 / 8.0).abs() < 1e-3);
        let latency = no_finer(exact(1e6), of_clock(1e6));
        assert!((latency.standard_error - 1e-6).abs() < 1e-12, "{latency:?}");
        // What scatters more stays as it is.
        let rough = LogEstimate { standard_error: 0.1, ..exact(1000.0) };
        assert_eq!(no_finer(rough, 1.0 / 5000.0), rough);
    }
}
