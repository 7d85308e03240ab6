//! Several hosts that measure one storage at the same time: each one's part of a trial, and how well they were
//! together.

use serde::{Deserialize, Serialize};

use crate::Op;

/// One of the hosts of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHost {
    /// Its number among the hosts of the run, from 0; the one of 0 plans and judges.
    pub rank: u32,
    /// Name of the machine.
    pub name: String,
    /// Operating system and kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// File system of its target; `None` on a bare device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// Block device of its target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Identity of this boot of the machine: hosts with the same one share its counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Bytes that it may prepare.
    pub room_bytes: u64,
}

/// What one host did of one direction of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostDirection {
    /// Requests completed without error.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Completions per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency, in nanoseconds.
    pub latency_ns_mean: Option<f64>,
    /// Median latency, in nanoseconds.
    #[serde(default)]
    pub latency_ns_p50: Option<f64>,
    /// 99th percentile of latency, in nanoseconds.
    pub latency_ns_p99: Option<f64>,
}

/// One host's part of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostShare {
    /// Its number among the hosts.
    pub rank: u32,
    /// Its reads, where the workload has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<HostDirection>,
    /// Its writes, where the workload has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<HostDirection>,
    /// Its trims, where the workload has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<HostDirection>,
    /// Bytes of all of its reads, warm-up and drain included.
    pub issued_read_bytes: u64,
    /// Bytes of all of its writes, warm-up and drain included.
    pub issued_write_bytes: u64,
    /// Its first request after the announced moment, in nanoseconds on the clock of rank 0; negative if before.
    pub late_ns: i64,
    /// Time from its first request to the end of its last, in seconds.
    pub elapsed_s: f64,
    /// Its clock less that of rank 0, in nanoseconds.
    pub clock_offset_ns: i64,
    /// Shortest round trip of the messages that told the offset, in nanoseconds: the offset is known to half of it.
    pub round_trip_ns: u64,
    /// Its requests outstanding, averaged over its measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// Share of the time that its busiest worker was busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// Its requests that completed in each of the trial's windows; empty where more than 64 hosts took part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub window_ios: Vec<u64>,
}

impl HostShare {
    /// Returns its part of one direction.
    pub fn direction(&self, op: Op) -> Option<&HostDirection> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
            Op::Trim => self.trim.as_ref(),
            Op::Flush => None,
        }
    }
}

/// How well the hosts of a trial were together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Togetherness {
    /// Hosts that took part.
    pub hosts: u32,
    /// Last host's first request after the first host's, in nanoseconds.
    pub start_skew_ns: u64,
    /// The host that began last.
    pub slowest_rank: u32,
    /// Its first request after the announced moment, in nanoseconds.
    pub slowest_late_ns: i64,
    /// Time in which all hosts had requests, over the time in which any had.
    pub overlap_share: f64,
    /// Half of the longest of the hosts' shortest round trips, in nanoseconds: clocks are compared to within this.
    pub clock_error_ns: u64,
    /// Time of the trial beside measuring, on rank 0, in nanoseconds: announcing, waiting for all, gathering.
    pub coordination_ns: u64,
}
