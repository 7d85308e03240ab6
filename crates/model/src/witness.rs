//! What others than our own loop saw of a trial.

use serde::{Deserialize, Serialize};

use crate::{Absence, Op, ThermalPressure, Togetherness};

/// A ceiling that a control group of this process sets on its I/O to one device: one of `iops` and `bytes_per_s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IoLimit {
    /// The file that says so: `/sys/fs/cgroup/box/io.max`.
    pub set_by: String,
    /// The device as the kernel calls it: `vda`.
    pub device: String,
    /// Reads or writes.
    pub op: Op,
    /// Requests a second.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bytes_per_s: Option<f64>,
}

/// What the controller of a cloud volume counted over the readings (statistics page of AWS).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeStatistics {
    /// Time with more requests than the volume's limit of IOPS lets pass. `None` for an instance's own drive.
    pub volume_iops_exceeded_s: Option<f64>,
    /// Time with more bytes than the volume's limit of throughput lets pass. `None` for an instance's own drive.
    pub volume_throughput_exceeded_s: Option<f64>,
    /// Time with more requests than the instance's limit of IOPS lets pass.
    pub instance_iops_exceeded_s: f64,
    /// Time with more bytes than the instance's limit of throughput lets pass.
    pub instance_throughput_exceeded_s: f64,
    /// Mean latency of reads at the controller, without the host; `None` where none completed.
    pub read_latency_ns_mean: Option<f64>,
    /// Mean latency of writes at the controller; `None` where none completed.
    pub write_latency_ns_mean: Option<f64>,
}

/// Readings taken before and after a trial, from before the first submission to after the last completion,
/// warm-up included. What could not be read is `None`, never 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Witnesses {
    /// Time of the first readings, in seconds from the trial's first submission (negative).
    pub from_s: f64,
    /// Time of the last readings, in seconds from the trial's first submission.
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
    /// Bytes that this device read, for all processes.
    pub block_layer_read_bytes: Option<u64>,
    /// Bytes that this device wrote, for all processes.
    pub block_layer_write_bytes: Option<u64>,
    /// Bytes that the device read at most, by the counters of another tool's whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_most_bytes: Option<u64>,
    /// Bytes that the device wrote at most, by the counters of another tool's whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_most_bytes: Option<u64>,
    /// Queue depth at this device, time-weighted mean over the readings (after merging and splitting).
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
    /// Share of the time in which some task waited for memory (PSI), over the readings.
    #[serde(default)]
    pub pressure_memory_some_share: Option<f64>,
    /// Whether the operating system signalled, before or after, that memory was short (Windows, macOS). Linux tells the
    /// share of the time instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_short: Option<bool>,
    /// The machine's thermal pressure, the higher of before and after (macOS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal_pressure: Option<ThermalPressure>,
    /// Share of all processors' time that the hypervisor took (steal).
    pub steal_share: Option<f64>,
    /// Busy share of all processors' time, over all processes.
    pub machine_busy_share: Option<f64>,
    /// Share of all processors' time spent serving interrupts (softirq): where network storage and many a disk
    /// complete their requests.
    #[serde(default)]
    pub softirq_share: Option<f64>,
    /// Ceilings that control groups set on our I/O to the devices below, after; empty where there are none.
    #[serde(default)]
    pub io_limits: Option<Vec<IoLimit>>,
    /// The same before, where they were others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_limits_before: Option<Vec<IoLimit>>,
    /// What the controller of a cloud volume counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_statistics: Option<VolumeStatistics>,
    /// Bytes of the addressed span in holes, or in extents that were reserved and never written, before.
    #[serde(default)]
    pub unmapped_bytes: Option<u64>,
    /// Stretches of the device on which the addressed span lies, before.
    #[serde(default)]
    pub pieces: Option<u64>,
    /// Bytes of the addressed span that lie compressed, before.
    #[serde(default)]
    pub compressed_bytes: Option<u64>,
    /// Bytes of the addressed span on which another file lies too (a snapshot, a copy by reference), before.
    #[serde(default)]
    pub shared_bytes: Option<u64>,
    /// Bytes of the addressed span that were changed in the page cache and not yet on the device, after.
    #[serde(default)]
    pub dirty_after_bytes: Option<u64>,
    /// Step of the calendar clock between the readings, in seconds; backward is negative.
    #[serde(default)]
    pub calendar_step_s: Option<f64>,
    /// Time that the machine was suspended, or this process stopped, between the readings, in seconds.
    #[serde(default)]
    pub suspended_s: Option<f64>,
    /// Seconds of the clock that times requests for one second of the kernel's.
    #[serde(default)]
    pub clock_ratio: Option<f64>,
    /// The warmest sensor of the device, after.
    #[serde(default)]
    pub temperature_celsius: Option<f64>,
    /// Mean frequency of the processors, after.
    #[serde(default)]
    pub cpu_frequency_hz: Option<f64>,
    /// Bytes that the network file system fetched from its server, for all users of this mount.
    #[serde(default)]
    pub network_read_bytes: Option<u64>,
    /// Bytes that the network file system sent to its server, for all users of this mount.
    #[serde(default)]
    pub network_write_bytes: Option<u64>,
    /// Requests of the network file system that had to be sent again.
    #[serde(default)]
    pub network_retransmissions: Option<u64>,
    /// Mean time for which a read or write of the network file system waited in this machine before it was sent.
    #[serde(default)]
    pub network_queued_ns: Option<f64>,
    /// Mean time from sending a read or write to the server to its answer.
    #[serde(default)]
    pub network_round_trip_ns: Option<f64>,
    /// Mean time of a read or write of the network file system in all, waiting and handing over included.
    #[serde(default)]
    pub network_execution_ns: Option<f64>,
    /// How well several hosts were together; `None` where one measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Togetherness>,
    /// Faults that a simulated device injected, including those during read-back: verification should find them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected: Option<Injected>,
    /// Reasons for missing readings.
    pub absent: Vec<Absence>,
}

impl Witnesses {
    /// Notes that the process was stopped for so long, where the clocks told less.
    pub fn note_stop(&mut self, stopped_s: f64) {
        if stopped_s > 0.0 {
            self.suspended_s = Some(self.suspended_s.unwrap_or(0.0).max(stopped_s));
        }
    }
}

/// Requests whose bytes a simulated device put wrong in silence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injected {
    /// Writes of which nothing arrived.
    pub lost: u64,
    /// Writes of which only the beginning arrived.
    pub torn: u64,
    /// Writes that arrived at another write's place: two blocks are wrong then, that one and their own.
    pub misplaced: u64,
    /// Reads that were given an older version.
    pub stale: u64,
}
