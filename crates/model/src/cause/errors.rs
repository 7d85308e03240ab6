//! Facts of the check `errors`.

use serde::Serialize;

use crate::RequestError;

/// Requests that failed, hung or moved too few bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Errors {
    /// Counts of the requests that went wrong; at least one is above 0.
    Failed {
        /// Requests that were made, with those that went wrong.
        requests: u64,
        /// Requests that returned an error.
        errors: u64,
        /// Requests that had not returned when the wait for them ended.
        hung: u64,
        /// Requests that moved fewer bytes than requested.
        short: u64,
        /// First error.
        example: Option<RequestError>,
    },
    /// Another tool ended the job before its time, at a limit of its own.
    EndedEarly {
        /// Duration until then.
        ended_after_s: f64,
        /// Which limit: `too-slow` or `too-low-rate`.
        limit: RequestError,
    },
    /// No request completed.
    NothingCompleted {
        /// Duration of the measurement.
        measured_s: f64,
        /// Why, where an error ended it.
        #[serde(skip_serializing_if = "Option::is_none")]
        example: Option<RequestError>,
    },
    /// Published rates without counts.
    NotCounted,
}
