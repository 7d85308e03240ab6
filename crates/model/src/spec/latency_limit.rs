//! The latency that a load must keep: `p99=1ms`, `mean=200us`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::as_text::as_text;
use crate::{Histogram, histogram::requests_beyond, units};

/// A figure of the latency and the most that it may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LatencyLimit {
    /// Percentile as a share: 0.99; `None` for the mean.
    pub quantile: Option<f64>,
    /// The most that it may be.
    pub ns: u64,
}

impl LatencyLimit {
    /// The figure that is limited, of a trial's latencies. `None` where too few were counted for it: a percentile
    /// wants ten values beyond it (p99 needs 1,000 requests).
    pub fn figure_ns(&self, latencies: &Histogram) -> Option<f64> {
        match self.quantile {
            None => latencies.mean_ns(),
            Some(_) if latencies.total() < self.requests_needed() => None,
            Some(q) => latencies.quantile_ns(q),
        }
    }

    /// `p99`, `p99.9`, `mean`.
    pub fn name(&self) -> String {
        self.quantile.map_or_else(|| "mean".into(), |q| format!("p{}", (q * 1e6).round() / 1e4))
    }

    /// Requests that a trial must complete for the figure to mean anything.
    pub fn requests_needed(&self) -> u64 {
        self.quantile.map_or(100, requests_beyond)
    }

    /// `p99 under 1 ms`, for people.
    pub fn describe(&self) -> String {
        format!("{} under {}", self.name(), units::time(self.ns as f64))
    }
}

impl fmt::Display for LatencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}ns", self.name(), self.ns)
    }
}

impl FromStr for LatencyLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is no limit; write for example p99=1ms, p99.9=5ms or mean=200us");
        let (name, time) = text.split_once('=').ok_or_else(fail)?;
        let ns = units::parse_time_with_unit(time).ok().filter(|&ns| ns > 0).ok_or_else(fail)?;
        let quantile = match name.trim() {
            "mean" => None,
            name => {
                let percent: f64 =
                    name.strip_prefix('p').and_then(|number| number.parse().ok()).ok_or_else(fail)?;
                // Beyond p99.99 a trial of a second has no ten requests.
                if !(50.0..=99.99).contains(&percent) {
                    return Err(format!("`{text}`: percentiles from p50 to p99.99 can be kept"));
                }
                Some(percent / 100.0)
            }
        };
        Ok(Self { quantile, ns })
    }
}

as_text!(LatencyLimit);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_read_back_and_say_what_they_need() {
        for (text, words, needed) in [
            ("p99=1ms", "p99 under 1.00 ms", 1000),
            ("p99.9=5ms", "p99.9 under 5.00 ms", 10_000),
            ("mean=200us", "mean under 200 µs", 100),
        ] {
            let limit: LatencyLimit = text.parse().unwrap();
            assert_eq!(limit.describe(), words);
            assert_eq!(limit.requests_needed(), needed);
            assert_eq!(limit.to_string().parse::<LatencyLimit>().unwrap(), limit);
        }
        for text in ["p99", "p99=", "p101=1ms", "p12=1ms", "x=1ms", "p99=0"] {
            assert!(text.parse::<LatencyLimit>().unwrap_err().contains(text), "{text}");
        }
    }

    #[test]
    fn a_percentile_of_too_few_is_none() {
        let limit: LatencyLimit = "p99=1ms".parse().unwrap();
        let mut latencies = Histogram::new();
        (0..999).for_each(|_| latencies.record(5000));
        assert_eq!(limit.figure_ns(&latencies), None);
        (0..2).for_each(|_| latencies.record(5000));
        assert!(limit.figure_ns(&latencies).is_some());
    }
}
