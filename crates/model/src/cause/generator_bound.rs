//! Facts of the check `generator-bound`.

use serde::Serialize;

/// How busy the program was that made the requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GeneratorBound {
    /// Nothing measured the processor time.
    Unmeasured,
    /// The file does not state whether a rate was set, for which programs spin, and few requests were outstanding.
    RateUnstated {
        /// Mean queue depth by throughput and latency.
        in_flight: f64,
    },
    /// The program could make no more requests.
    Saturated(Busy),
    /// The storage may have waited for the program now and then.
    Near {
        /// How busy the program was.
        #[serde(flatten)]
        busy: Busy,
        /// Share of the requested depth that was not at the device, which bounds the loss of throughput; `None` without
        /// the device's count.
        #[serde(skip_serializing_if = "Option::is_none")]
        kept_back_share: Option<f64>,
    },
    /// The program was ready to run, and other processes had the processor.
    Preempted {
        /// Share of the time in which the workers were busy or ready to run.
        busy_share: f64,
        /// Share of the time in which the worker had a processor.
        cpu_share: f64,
        /// Completions a second.
        iops: f64,
    },
}

/// A program that was busy most of the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Busy {
    /// Share of the time in which the workers were busy.
    pub busy_share: f64,
    /// Completions a second.
    pub iops: f64,
    /// Requests a second that one worker of this machine makes from memory, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_iops: Option<f64>,
    /// Whether it was another program, whose result was read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_another: bool,
    /// Whether further jobs would share the processors of these: there are no more, or the program is simulated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_spare_cpu: bool,
}
