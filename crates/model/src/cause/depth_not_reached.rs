//! Facts of the check `depth-not-reached`.

use serde::Serialize;

/// Queue depth that was kept, and how much of it reached the device.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DepthNotReached {
    /// With a rate or with flushes, the depth is a limit, not a target.
    DepthIsLimit,
    /// Nothing counted the outstanding requests.
    Uncounted,
    /// Fewer requests were outstanding than requested.
    Short {
        /// Mean number of outstanding requests.
        in_flight_mean: f64,
        /// Requested queue depth.
        asked: f64,
    },
    /// The trial ended after so few requests that its end made the queue shorter.
    TooFew {
        /// Requests that completed in the measured time.
        requests: u64,
        /// Requested queue depth.
        asked: f64,
    },
    /// No block-layer counter shows how many requests reached the device.
    DeviceUnseen {
        /// Requested queue depth.
        asked: f64,
    },
    /// Less than half of the outstanding requests reached the device.
    ShortAtDevice {
        /// Mean queue depth by the program's count.
        in_flight_mean: f64,
        /// Mean queue depth by the block layer's count.
        device_in_flight_mean: f64,
        /// Requested queue depth.
        asked: f64,
    },
}
