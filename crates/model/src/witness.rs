//! What others than our own loop saw of a trial.

use serde::{Deserialize, Serialize};

/// Readings taken before and after a trial, from before the first submission to after the last completion,
/// warm-up included. What could not be read is `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Witnesses {
    /// When the readings before were taken, in seconds from the trial's first submission (negative).
    pub from_s: f64,
    /// When the readings after were taken.
    pub to_s: f64,
    /// Bytes that completed reads of ours moved, warm-up and drain included.
    pub issued_read_bytes: u64,
    /// Bytes that completed writes of ours moved, warm-up and drain included.
    pub issued_write_bytes: u64,
    /// Bytes that completed trims of ours covered, warm-up and drain included.
    #[serde(default)]
    pub issued_trim_bytes: u64,
    /// Requests of ours that completed, warm-up and drain included.
    pub issued_ios: u64,
    /// The block device whose counters were read: `vda`, `nvme0n1`.
    pub block_layer_device: Option<String>,
    /// Bytes that this device read, for anybody.
    pub block_layer_read_bytes: Option<u64>,
    /// Bytes that this device wrote, for anybody.
    pub block_layer_write_bytes: Option<u64>,
    /// Requests in flight at this device, time-weighted mean over the readings (after merging and splitting).
    pub block_layer_in_flight_mean: Option<f64>,
    /// Bytes of the addressed span in the page cache before.
    pub resident_before_bytes: Option<u64>,
    /// Bytes of the addressed span in the page cache after.
    pub resident_after_bytes: Option<u64>,
    /// `/proc/self/io` read_bytes: what this process caused the storage layer to fetch.
    pub process_read_bytes: Option<u64>,
    /// `/proc/self/io` write_bytes.
    pub process_write_bytes: Option<u64>,
    /// Share of the time in which some task waited for I/O (PSI), over the readings.
    pub pressure_io_some_share: Option<f64>,
    /// Share of the time in which some task waited for a processor (PSI), over the readings.
    pub pressure_cpu_some_share: Option<f64>,
    /// Share of all processors' time that the hypervisor took (steal).
    pub steal_share: Option<f64>,
    /// Share of all processors' time spent busy, by anybody.
    pub machine_busy_share: Option<f64>,
    /// Why a reading is missing: one sentence for each.
    pub absent: Vec<String>,
}
