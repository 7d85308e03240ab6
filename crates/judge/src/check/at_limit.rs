//! Whether a trial reached a control group's limit.

use iosonde_model::{IoLimit, Trial};

/// Share of a limit from which on it decides: the kernel keeps a rate to 0.3 %.
const AT_LIMIT: f64 = 0.97;
/// Linux lets a limit's budget pass in slices of this length (`DFL_THROTL_SLICE` in block/blk-throttle.c).
const SLICE_S: f64 = 0.1;
/// Requests that waited for a slice.
const STALLS_MIN: u64 = 2;
/// Least share of a limit in a trial as short as a slice.
const SHARE_MIN: f64 = 0.7;

/// The limits that the trial reached, each with the trial's rate over it and only the figure that was reached.
///
/// A short trial begins and ends within a slice and may lack half of one; then requests that waited for the next slice
/// tell that the limit held it. One may be a slow request of the storage.
pub fn reached(trial: &Trial) -> impl Iterator<Item = (f64, IoLimit)> {
    trial.witnesses.io_limits.iter().flatten().filter_map(|limit| at(trial, limit))
}

fn at(trial: &Trial, limit: &IoLimit) -> Option<(f64, IoLimit)> {
    let direction = trial.direction(limit.op)?;
    let waited_ns = SLICE_S / 2.0 * 1e9;
    let waited = direction.histogram.buckets().filter(|(middle_ns, ..)| *middle_ns >= waited_ns);
    let stalled = waited.map(|(.., count)| count).sum::<u64>() >= STALLS_MIN;
    let short = (1.0 - SLICE_S / 2.0 / trial.measured_s.max(SLICE_S)) * AT_LIMIT;
    let enough = if stalled { short.max(SHARE_MIN) } else { AT_LIMIT };
    let share = |reached: f64, allowed: Option<f64>| {
        Some(reached / allowed.filter(|allowed| *allowed > 0.0)?).filter(|share| *share >= enough)
    };
    let of_requests = share(direction.iops, limit.iops);
    let of_bytes = share(direction.bytes_per_s, limit.bytes_per_s);
    match (of_requests, of_bytes) {
        (Some(share), _) => Some((share, IoLimit { bytes_per_s: None, ..limit.clone() })),
        (None, Some(share)) => Some((share, IoLimit { iops: None, ..limit.clone() })),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::specimen;

    #[test]
    fn a_short_trial_may_lack_half_a_slice_if_a_request_waited_for_one() {
        let mut trial = specimen::usual();
        trial.witnesses.io_limits = Some(vec![IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".into(),
            device: "vda".into(),
            op: iosonde_model::Op::Read,
            iops: Some(120_000.0),
            bytes_per_s: None,
        }]);
        trial.measured_s = 0.2;
        // 100,000 of 120,000, and 0.97 × (1 - 0.05 / 0.2) = 0.7275 is needed.
        assert_eq!(reached(&trial).next(), None);
        // One slow request is the storage's; two waited for a slice each.
        trial.read.as_mut().unwrap().histogram.record(80_000_000);
        assert_eq!(reached(&trial).next(), None);
        trial.read.as_mut().unwrap().histogram.record(80_000_000);
        assert!(reached(&trial).next().is_some_and(|(share, _)| (share - 0.8333).abs() < 1e-3));
        trial.measured_s = 2.0;
        assert_eq!(reached(&trial).next(), None);
    }
}
