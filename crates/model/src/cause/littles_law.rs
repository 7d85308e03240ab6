//! Facts of the check `littles-law`.

use serde::Serialize;

/// Product of throughput and mean latency, against the queue depth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LittlesLaw {
    /// With a rate, latency counts from the due moment and the queue depth from the sending.
    Paced,
    /// With flushes the depth is a limit, and nothing counted the outstanding requests.
    Uncounted,
    /// The file of another tool does not state the queue depth.
    Unstated,
    /// The engine sends one request at a time, whatever depth was requested.
    Blocking {
        /// Name of the engine.
        #[serde(skip)]
        engine: String,
        /// Workers.
        jobs: u64,
        /// Requested queue depth of all workers.
        asked: u64,
    },
    /// No mean latency is given.
    NoLatency,
    /// One request took more than half of the measured time.
    LongRequests {
        /// Longest latency.
        longest_ns: f64,
        /// Measured time.
        measured_s: f64,
    },
    /// Too few requests completed to know whether some were never served.
    TooFewRequests {
        /// Requests that completed.
        requests: u64,
        /// Mean number of outstanding requests, as counted.
        counted: f64,
    },
    /// At queue depth 1, no request was outstanding for part of the time.
    Idle {
        /// Queue depth by the law.
        in_flight: f64,
        /// Requested queue depth.
        expected: f64,
        /// Summands of the product.
        #[serde(skip)]
        terms: Vec<Term>,
    },
    /// The product is not the queue depth.
    Missed {
        /// Queue depth by the law.
        in_flight: f64,
        /// Queue depth as counted, or as requested.
        expected: f64,
        /// Power of a thousand by which a latency looks misread, where the law is missed by about that.
        #[serde(skip_serializing_if = "Option::is_none")]
        misread_thousands: Option<i32>,
        /// Whether a rate, pauses or flushes that the file does not state may explain it.
        may_wait: bool,
        /// Summands of the product.
        #[serde(skip)]
        terms: Vec<Term>,
    },
}

/// One kind of request: its rate and its mean latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Term {
    /// Completions a second.
    pub iops: f64,
    /// Mean latency.
    pub latency_ns_mean: f64,
}
