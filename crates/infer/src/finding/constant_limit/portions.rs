//! Limits that let their budget pass in portions: a control group of Linux does, in slices of 100 ms.
//!
//! A trial of two slices counts one portion more or less, by where it begins and ends. What passes between the ends of
//! two stalls is a whole number of portions. Their amount over their number times their period is the limit; the period
//! is known from all trials.
//!
//! Trials count whatever else used the device: others delay a request, and no portion grows or shrinks by it.

use iosonde_judge::{evidence::Evidence, silence::silences};
use iosonde_model::{Op, Stall, Trial};
use iosonde_stats::robust;

/// Deviation from the period up to which stalls count as regular. The kernel's timer ticks each 4 ms (10 ms at the
/// most), and a request of a loaded machine is as late again.
const REGULAR: f64 = 0.15;
/// Share of the times between stalls that must be regular, more than half: others are stalls of the storage, or of a
/// program that waits for a processor. Tuned: chosen after 75 % had missed limits on one busy machine with two
/// processors, and then measured there on fresh runs by `bench/hidden-limit`.
const REGULAR_SHARE: f64 = 0.5;
/// Slice of Linux's throttle (`DFL_THROTL_SLICE` in block/blk-throttle.c), and refill time of virtual machine monitors.
const SLICE_S: f64 = 0.1;
/// Deviation from it within which a measured period is that slice: on a machine with five processes for each processor,
/// periods were up to 3 % long.
const SLICE_WITHIN: f64 = 0.05;
/// Times between stalls that a period is known from.
const PERIODS_MIN: usize = 12;

/// Requests of a portion whose stalls end with it.
const REQUESTS_MIN: u64 = 20;

/// Portions that the storage lets pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Portions {
    /// Time between two of them.
    pub(super) period_s: f64,
}

/// What passed in a trial between the ends of its first and last stall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cycles {
    length_s: f64,
    stalled_s: f64,
    stalls: usize,
    read_bytes: u64,
    write_bytes: u64,
    block_size_bytes: u64,
}

impl Portions {
    /// The portions that these points show; `None` where stalls are few or come at no regular distance.
    pub(super) fn of(points: &[&Evidence]) -> Option<Self> {
        let trials = points.iter().flat_map(|evidence| &evidence.trials);
        let all: Vec<(f64, u64)> = trials.flat_map(|trial| periods(trial)).collect();
        // A large request may be late by its own time.
        let many: Vec<f64> = all.iter().filter(|(_, ios)| *ios >= REQUESTS_MIN).map(|(s, _)| *s).collect();
        let enough = |periods: &Vec<f64>| periods.len() >= PERIODS_MIN;
        let periods: Vec<f64> = all.iter().map(|(period_s, _)| *period_s).collect();
        let surest = Some(many).filter(enough).or_else(|| Some(periods.clone()).filter(enough))?;
        let period_s = robust::median(&surest)?;
        let is_regular = |one: &&f64| (*one / period_s - 1.0).abs() <= REGULAR;
        let regular = periods.iter().filter(is_regular).count();
        let is_slice = (period_s / SLICE_S - 1.0).abs() <= SLICE_WITHIN;
        let period_s = if is_slice { SLICE_S } else { period_s };
        (regular as f64 >= REGULAR_SHARE * periods.len() as f64).then_some(Self { period_s })
    }

    /// Whole portions of a trial, where its stalls lie a whole number of periods apart.
    pub(super) fn cycles(self, trial: &Trial) -> Option<Cycles> {
        let stalls: Vec<&Stall> = silences(trial).collect();
        let (first, last) = (stalls.first()?, stalls.last()?);
        let periods = ((last.end_s() - first.end_s()) / self.period_s).round();
        // A portion that no stall of 20 ms followed is a part of the next one. A stall between portions is a program's
        // that waited for a processor, or the storage's: the last one may be as well.
        let whole = |(gap_s, _): (f64, u64)| {
            let portions = gap_s / self.period_s;
            portions > 0.5 && (portions - portions.round()).abs() <= REGULAR
        };
        if periods < 1.0 || !self::periods(trial).all(whole) {
            return None;
        }
        Some(Cycles {
            // A stall may end a timer's tick late, or once a busy processor lets the program run; the portions do not.
            length_s: periods * self.period_s,
            stalled_s: stalls[1..].iter().map(|stall| stall.length_s).sum(),
            stalls: stalls.len() - 1,
            read_bytes: last.read_bytes - first.read_bytes,
            write_bytes: last.write_bytes - first.write_bytes,
            block_size_bytes: trial.spec.block_size_bytes,
        })
    }
}

/// Times between the ends of a trial's stalls, with the requests completed in each.
fn periods(trial: &Trial) -> impl Iterator<Item = (f64, u64)> {
    let bytes = |stall: &Stall| stall.read_bytes + stall.write_bytes;
    let block_size_bytes = trial.spec.block_size_bytes.max(1);
    silences(trial).zip(silences(trial).skip(1)).map(move |(before, stall)| {
        (stall.end_s() - before.end_s(), (bytes(stall) - bytes(before)) / block_size_bytes)
    })
}

impl Cycles {
    /// Length without the stalls, in seconds.
    pub(super) fn served_s(&self) -> f64 {
        self.length_s - self.stalled_s
    }

    /// Share of so many requests that the time without stalls must have served: what is outstanding in a stall may
    /// complete at its end. Large requests of a slow link were served at twice its rate without this.
    pub(super) fn served_share(&self, requests: f64, in_flight: u64) -> f64 {
        (1.0 - (self.stalls as u64 * in_flight) as f64 / requests).max(0.0)
    }

    /// Length, in seconds.
    pub(super) fn length_s(&self) -> f64 {
        self.length_s
    }

    /// Bytes of one direction.
    pub(super) fn bytes(&self, op: Op) -> f64 {
        match op {
            Op::Read => self.read_bytes as f64,
            Op::Write => self.write_bytes as f64,
            Op::Trim | Op::Flush => 0.0,
        }
    }

    /// Parts of requests of one direction.
    pub(super) fn parts(&self, op: Op, chunk_bytes: u64) -> f64 {
        self.requests(op) * self.block_size_bytes.div_ceil(chunk_bytes) as f64
    }

    /// Requests of one direction.
    pub(super) fn requests(&self, op: Op) -> f64 {
        self.bytes(op) / self.block_size_bytes.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;
    use iosonde_testkit::specimen;

    use super::*;

    /// Every second request of a slow link looks like a stall: nothing completes for the 20 ms that it takes.
    #[test]
    fn requests_that_take_long_one_by_one_are_no_portions() {
        let trial = |length_s: f64, each_s: f64, iops: u64| {
            let stall = |nth: u64| Stall {
                start_s: each_s * nth as f64 - length_s,
                length_s,
                read_bytes: ((iops as f64 * each_s) as u64 * nth) << 20,
                write_bytes: 0,
            };
            Trial { stalls: (1..5).map(stall).collect(), ..specimen::healthy(Rw::Read, 1 << 20, 1, iops) }
        };
        let portions = |period_s: f64| Portions { period_s };
        assert_eq!(portions(0.04).cycles(&trial(0.02, 0.04, 50)), None);
        let limited =
            portions(0.1).cycles(&trial(0.09, 0.1, 60)).expect("six requests in 10 ms of each portion");
        assert_eq!(limited.requests(Op::Read), 18.0);
        // Of six requests at QD 1, five are served between two stalls; at QD 8, all may be outstanding in them.
        let share = |in_flight: u64| limited.served_share(18.0, in_flight);
        assert!((share(1) - 5.0 / 6.0).abs() < 1e-12 && share(8) == 0.0, "{}", share(1));
    }
}
