//! A host's part of a trial, from the trial that it measured.

use crate::{Direction, HostDirection, HostShare, Trial};

impl HostDirection {
    fn of(direction: &Direction) -> Self {
        Self {
            ios: direction.ios,
            bytes: direction.bytes,
            errors: direction.errors,
            iops: direction.iops,
            bytes_per_s: direction.bytes_per_s,
            latency_ns_mean: direction.latency_ns.mean,
            latency_ns_p50: direction.latency_ns.p50,
            latency_ns_p99: direction.latency_ns.p99,
        }
    }
}

impl HostShare {
    /// The counts and rates of a host's own trial.
    pub fn of(rank: u32, trial: &Trial) -> Self {
        Self {
            rank,
            read: trial.read.as_ref().map(HostDirection::of),
            write: trial.write.as_ref().map(HostDirection::of),
            trim: trial.trim.as_ref().map(HostDirection::of),
            issued_read_bytes: trial.witnesses.issued_read_bytes,
            issued_write_bytes: trial.witnesses.issued_write_bytes,
            elapsed_s: trial.elapsed_s,
            in_flight_mean: trial.in_flight_mean,
            busy_share: trial.busy_share,
            ..Self::default()
        }
    }
}
