//! How latency depends on the offered load, whether or not the storage keeps up.
//!
//! Requests become due at a rate, as those of independent clients do, and latency counts from the moment when each
//! was due. The same workload is offered at several rates, each being a point.
//!
//! Parameters: `rw` (patterns), `mix` (share of reads in percent, for mixed patterns), `block_size`, `rate` (requests
//! per second, a list), `depth` (the maximum of outstanding requests), `arrivals` (`fixed` or `poisson`), `limit` (a
//! latency limit, such as `p99=1ms`; the finding `iops_at_latency` gives the highest load within it, of a mix that of
//! its reads).
//!
//! Trials are at least so long that the limited percentile can be told (p99 needs 1,000 requests, p95 200), and that a
//! load 5 % above what the storage takes exceeds the limit.
//!
//! How to read it: latency is flat while the storage has capacity left, bends, and then grows without bound where
//! the offered load exceeds it. Higher rates are not lowered: requests that were never sent are counted, and the
//! check `missed-rate` says so.
//!
//! Traps:
//! - A closed loop (a constant queue depth) cannot show this: it stops sending when the storage stalls, and leaves
//!   out the requests that would have waited longest.
//! - An engine whose calls block keeps one request outstanding: its late requests are the storage's delay.

use iosonde_model::{ExperimentName, TrialSpec};

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};
use crate::schedule::LONGEST_TRIAL_S;

pub(super) struct OpenLoop;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randread\""),
    grid::block_size("\"4k\""),
    grid::rate("\"1000..16000*2\""),
    grid::depth("128"),
    grid::mix(""),
    grid::arrivals("\"poisson\""),
    grid::limit("\"p99=1ms\""),
];

impl Experiment for OpenLoop {
    fn id(&self) -> ExperimentName {
        ExperimentName::OpenLoop
    }

    fn question(&self) -> &'static str {
        "How much load can this storage take before latency suffers?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn manner_of(&self, _: &Parameters, spec: &TrialSpec) -> Result<Manner, ParameterError> {
        let trial_s_min = percentile_s(spec).max(overload_s(spec)).min(LONGEST_TRIAL_S);
        Ok(Manner { trial_s_min, ..Manner::default() })
    }
}

/// Requests over those that a percentile needs: a tenth of the trial is its warm-up, and chance sends fewer than asked.
const TO_SPARE: f64 = 1.3;

/// Time in which the offered load makes as many requests as the limited percentile needs.
fn percentile_s(spec: &TrialSpec) -> f64 {
    let share = if spec.rw.is_mixed() { spec.read_percent.unwrap_or(50.0) / 100.0 } else { 1.0 };
    let per_s = spec.rate_iops.map(|rate_iops| rate_iops * f64::from(spec.jobs) * share);
    let needed = spec.latency_limit.map(|limit| TO_SPARE * limit.requests_needed() as f64);
    needed.zip(per_s).map_or(0.0, |(needed, per_s)| needed / per_s)
}

/// Overload that a trial shows.
const OVERLOAD: f64 = 0.05;

/// Time after which what waits under an overload waits longer than the limit: it grows by the overload's share of the
/// time. Trials of 0.15 s at 1.5 times the capacity kept p95 under 50 ms.
fn overload_s(spec: &TrialSpec) -> f64 {
    spec.latency_limit.map_or(0.0, |limit| limit.ns as f64 / 1e9 / OVERLOAD)
}

#[cfg(test)]
mod tests {
    use iosonde_model::Device;

    use super::*;

    #[test]
    fn slow_loads_have_trials_that_tell_their_percentile() {
        let text = "rw = \"randrw\"\nmix = 80\nrate = [10, 100, 10000]\nlimit = \"p95=50ms\"";
        let given = Parameters::check("open-loop", &toml::from_str(text).unwrap(), PARAMETERS).unwrap();
        let specs = OpenLoop.grid(&given, &Device::unknown("file", 1 << 30)).unwrap();
        let lengths = specs.iter().map(|spec| OpenLoop.manner_of(&given, spec).unwrap().trial_s_min);
        // 200 reads, 30 % to spare, of 80 reads a second; never longer than the longest trial, nor shorter than 20
        // times the limit.
        assert_eq!(lengths.collect::<Vec<_>>(), [LONGEST_TRIAL_S, 3.25, 1.0]);
    }
}
