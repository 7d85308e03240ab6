//! What a trial cannot tell: it counts whole requests, by a clock that counts whole nanoseconds.
//!
//! A device without noise, or a limit, repeats its figures to the last digit. An interval of trials that agree by
//! chance or by construction would then be narrower than the counting itself.

use iosonde_stats::LogEstimate;

/// Resolution of the clock.
const TICK_NS: f64 = 1.0;

/// Share of a throughput that one request is. An imported table may state throughputs alone, without a count.
pub(super) fn of_counting(requests: u64) -> f64 {
    if requests == 0 { 0.0 } else { 1.0 / requests as f64 }
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

    #[test]
    fn trials_that_agree_to_the_last_digit_know_their_figures_to_one_request_and_one_tick() {
        let exact =
            |value: f64| LogEstimate { log_mean: value.ln(), standard_error: 0.0, degrees_of_freedom: 10.0 };
        let rate = no_finer(exact(1000.0), of_counting(5000));
        assert!((rate.standard_error - 2e-4).abs() < 1e-12, "{rate:?}");
        // Eight trials of one request each: 1.96 requests of eight, and not what Student's t of a few degrees says.
        let few = LogEstimate { degrees_of_freedom: 1.2, ..exact(5.0) };
        assert!((no_finer(few, of_counting(8)).half_width(0.95) - 1.96 / 8.0).abs() < 1e-3);
        let latency = no_finer(exact(1e6), of_clock(1e6));
        assert!((latency.standard_error - 1e-6).abs() < 1e-12, "{latency:?}");
        assert_eq!(of_counting(0), 0.0);
        // What scatters more stays as it is.
        let rough = LogEstimate { standard_error: 0.1, ..exact(1000.0) };
        assert_eq!(no_finer(rough, of_counting(5000)), rough);
    }
}
