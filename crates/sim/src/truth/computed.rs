//! Truth by computation: the device itself under stated loads, where no formula holds.

use iosonde_model::{Conditions, Estimate, FindingName, Op, units};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use super::stated::{Known, LARGE_BYTES, SMALL_BYTES, Truth, grouped};
use crate::{
    file::DeviceFile,
    reference::{Reference, ReferenceLoad, log_writes, reference},
    start::StartState,
};

/// Depths at which random reads are told beside the closed form for even ones.
const DEPTHS: [u32; 3] = [32, 128, 256];
/// Deep enough for the most that a device gives: eight times as many as units, on the largest of ours.
const DEEPEST: u32 = 1024;

/// Load of a reference run: operation, random or not, block size in bytes, queue depth.
type Asked = (Op, bool, u64, u32);

/// A device's closed truths, and runs of it.
pub(super) struct Computed<'a> {
    closed: &'a [Truth],
    /// The device as its file begins: reads do not change it.
    file: &'a DeviceFile,
    /// The device as it is in the long run: a log in its steady state.
    lasting: DeviceFile,
    /// Why runs tell nothing.
    wanders: Option<&'static str>,
    seed: u64,
    runs: RefCell<HashMap<Asked, Option<Reference>>>,
    /// A run was given up, and others would be as well.
    given_up: Cell<bool>,
}

impl<'a> Computed<'a> {
    pub(super) fn of(file: &'a DeviceFile, closed: &'a [Truth], seed: u64) -> Self {
        let lasting = file.in_state(StartState::Steady).unwrap_or_else(|_| file.clone());
        let wanders = file.settings().find_map(|part| part.wanders());
        Self { closed, file, lasting, wanders, seed, runs: RefCell::default(), given_up: Cell::default() }
    }

    pub(super) fn truths_of(&self, finding: FindingName) -> Vec<Truth> {
        let closed = self.closed.iter().filter(|truth| truth.finding == finding).cloned();
        let mut truths: Vec<Truth> = closed.map(|truth| self.computed(truth)).collect();
        if finding == FindingName::MaxIops {
            truths.extend(self.random_reads());
        }
        truths
    }

    /// A run's answer in the place of none.
    fn computed(&self, truth: Truth) -> Truth {
        if truth.known != Known::NotDefined {
            return truth;
        }
        let op = truth.conditions.op;
        let found = match (truth.finding, op) {
            (FindingName::BaseLatency, Some(op)) => self.base_latency(op),
            (FindingName::MaxIops, Some(op)) => self.max_iops(op),
            (FindingName::DeviceBandwidth, Some(op)) => self.device_bandwidth(op),
            (FindingName::QueueDepthKnee, Some(op)) => self.knee(op),
            (FindingName::DepthFor95Percent, Some(op)) => self.depth_for_95_percent(op),
            (FindingName::RandomVsSequential, _) => self.random_vs_sequential(),
            (FindingName::MixInterference, _) => self.mix_interference(),
            (FindingName::FlushLatency, _) => self.log_write("ns", |flush_ns, _| flush_ns),
            (FindingName::LogWritesPerS, _) => self.log_write("1/s", |_, per_s| per_s),
            (FindingName::CommitLatency, _) => self.log_write("ns", |_, per_s| time_of_one(per_s)),
            _ => return truth,
        };
        match (found, self.wanders) {
            (_, Some(why)) => {
                Truth { derivation: format!("{}; and no run tells it: {why}", truth.derivation), ..truth }
            }
            (Some(found), None) => found.truth(&truth),
            (None, None) => truth,
        }
    }

    fn run(&self, op: Op, random: bool, block_size_bytes: u64, queue_depth: u32) -> Option<Reference> {
        if self.wanders.is_some() {
            return None;
        }
        let key = (op, random, block_size_bytes, queue_depth);
        if let Some(known) = self.runs.borrow().get(&key) {
            return *known;
        }
        let load = ReferenceLoad {
            op,
            read_share: None,
            random,
            block_size_bytes: block_size_bytes as u32,
            queue_depth,
            span_bytes: None,
            warm_up_requests: self.warm_up(op, block_size_bytes),
            batch_requests: 1_000,
        };
        let file = if op == Op::Read { self.file } else { &self.lasting };
        let run = if self.given_up.get() { None } else { reference(file, &load, self.seed) };
        self.given_up.set(run.is_none());
        self.runs.borrow_mut().insert(key, run);
        run
    }

    /// Enough to fill what takes writes at once, but no more than two seconds' work.
    fn warm_up(&self, op: Op, block_size_bytes: u64) -> u64 {
        let sizes = self.closed.iter().filter(|truth| truth.finding == FindingName::WriteBufferBytes);
        let bytes: f64 =
            sizes.filter_map(|truth| truth.value).sum::<f64>() / self.lasting.scale().unwrap_or(1.0);
        let requests = if op == Op::Read { 0.0 } else { 2.0 * bytes / block_size_bytes as f64 };
        (requests as u64).clamp(5_000, 1_000_000)
    }

    /// The closed form where there is one, else what a deep queue reaches.
    fn most(&self, op: Op) -> Option<Estimate> {
        let closed = self
            .closed
            .iter()
            .find(|truth| truth.finding == FindingName::MaxIops && truth.conditions.op == Some(op));
        match closed.and_then(|truth| truth.value) {
            Some(value) => Some(Estimate { value, low: Some(value), high: Some(value) }),
            None => Some(self.run(op, true, SMALL_BYTES, DEEPEST)?.iops),
        }
    }

    fn alone(&self, op: Op) -> Option<Estimate> {
        let closed =
            |truth: &&Truth| truth.finding == FindingName::BaseLatency && truth.conditions.op == Some(op);
        match self.closed.iter().find(closed).and_then(|truth| truth.value) {
            Some(value) => Some(Estimate { value, low: Some(value), high: Some(value) }),
            None => Some(self.run(op, true, SMALL_BYTES, 1)?.latency_ns_mean),
        }
    }

    fn base_latency(&self, op: Op) -> Option<Found> {
        let words = "random addresses, QD 1".to_owned();
        Some(Found { estimate: self.alone(op)?, unit: "ns", words, queue_depth: Some(1) })
    }

    fn max_iops(&self, op: Op) -> Option<Found> {
        let estimate = self.run(op, true, SMALL_BYTES, DEEPEST)?.iops;
        Some(Found { estimate, unit: "IOPS", words: format!("QD {DEEPEST}"), queue_depth: Some(DEEPEST) })
    }

    fn device_bandwidth(&self, op: Op) -> Option<Found> {
        let iops = self.run(op, false, LARGE_BYTES, 32)?.iops;
        let estimate = scaled(iops, LARGE_BYTES as f64);
        Some(Found { estimate, unit: "B/s", words: "QD 32, sequential".to_owned(), queue_depth: Some(32) })
    }

    /// The highest rate times the base latency; their relative errors add up.
    fn knee(&self, op: Op) -> Option<Found> {
        let (most, alone) = (self.most(op)?, self.alone(op)?);
        let estimate = Estimate {
            value: most.value * alone.value / 1e9,
            low: Some(most.low? * alone.low? / 1e9),
            high: Some(most.high? * alone.high? / 1e9),
        };
        if estimate.value < 1.0 {
            return None;
        }
        let words = format!("{} IOPS x {}", grouped(most.value), units::time(alone.value));
        Some(Found { estimate, unit: "requests", words, queue_depth: None })
    }

    /// The least depth at which 95 % of the most is reached; its interval is where the rate's is across that line.
    fn depth_for_95_percent(&self, op: Op) -> Option<Found> {
        let most = self.most(op)?.value;
        // Where QD 1 is limited there is no depth to look for.
        if most * self.alone(op)?.value < 1e9 {
            return None;
        }
        let line = 0.95 * most;
        let least = |reaches: &dyn Fn(&Estimate) -> Option<f64>| {
            let (mut below, mut at) = (0, DEEPEST);
            if reaches(&self.run(op, true, SMALL_BYTES, at)?.iops)? < line {
                return None;
            }
            while at - below > 1 {
                let middle = (at + below) / 2;
                let reached = reaches(&self.run(op, true, SMALL_BYTES, middle)?.iops)?;
                if reached >= line { at = middle } else { below = middle }
            }
            Some(f64::from(at))
        };
        let estimate = Estimate {
            value: least(&|iops| Some(iops.value))?,
            low: Some(least(&|iops| iops.high)?),
            high: Some(least(&|iops| iops.low)?),
        };
        let words = format!("the least depth whose rate is 95 % of {}, random addresses", grouped(most));
        Some(Found { estimate, unit: "requests", words, queue_depth: None })
    }

    fn random_vs_sequential(&self) -> Option<Found> {
        let random = self.run(Op::Read, true, SMALL_BYTES, 32)?.iops;
        let sequential = self.run(Op::Read, false, SMALL_BYTES, 32)?.iops;
        let words = "4 KiB reads, QD 32, random over sequential".to_owned();
        Some(Found { estimate: over(random, sequential)?, unit: "ratio", words, queue_depth: Some(32) })
    }

    /// A half-and-half mix against what it would be if every request cost what it costs among its like.
    fn mix_interference(&self) -> Option<Found> {
        let (reads, writes) = (
            self.run(Op::Read, true, SMALL_BYTES, 32)?.iops,
            self.run(Op::Write, true, SMALL_BYTES, 32)?.iops,
        );
        let load = ReferenceLoad {
            op: Op::Read,
            random: true,
            read_share: Some(0.5),
            block_size_bytes: SMALL_BYTES as u32,
            queue_depth: 32,
            span_bytes: None,
            warm_up_requests: self.warm_up(Op::Write, SMALL_BYTES),
            batch_requests: 1_000,
        };
        let mixed = reference(&self.lasting, &load, self.seed)?.iops;
        let both = |reads: f64, writes: f64| 2.0 / (1.0 / reads + 1.0 / writes);
        let expected = Estimate {
            value: both(reads.value, writes.value),
            low: Some(both(reads.low?, writes.low?)),
            high: Some(both(reads.high?, writes.high?)),
        };
        let words = "4 KiB, QD 32, half of each, over the expectation from each alone".to_owned();
        Some(Found { estimate: over(mixed, expected)?, unit: "ratio", words, queue_depth: Some(32) })
    }

    fn log_write(&self, unit: &'static str, figure: fn(Estimate, Estimate) -> Estimate) -> Option<Found> {
        if self.wanders.is_some() {
            return None;
        }
        let (flush_ns, per_s) = log_writes(&self.lasting, SMALL_BYTES as u32, self.seed)?;
        let words = "4 KiB appended and flushed, one after another".to_owned();
        Some(Found { estimate: figure(flush_ns, per_s), unit, words, queue_depth: Some(1) })
    }

    /// Random addresses beside the closed form for even ones.
    fn random_reads(&self) -> Vec<Truth> {
        let is_even = |truth: &&Truth| {
            truth.finding == FindingName::MaxIops
                && truth.conditions.op == Some(Op::Read)
                && truth.conditions.random.is_none()
                && truth.known == Known::ClosedForm
        };
        let Some(even) = self.closed.iter().find(is_even) else { return Vec::new() };
        let at = |depth: u32| {
            let iops = self.run(Op::Read, true, SMALL_BYTES, depth)?.iops;
            let share = iops.value / even.value?;
            let words = format!("random addresses, QD {depth}: {} of the closed form", units::percent(share));
            let mut truth =
                Found { estimate: iops, unit: "IOPS", words, queue_depth: Some(depth) }.truth(even);
            truth.conditions.random = Some(true);
            Some(truth)
        };
        DEPTHS.into_iter().filter_map(at).collect()
    }
}

/// Nanoseconds of one of so many a second.
fn time_of_one(per_s: Estimate) -> Estimate {
    let ns = |rate: f64| 1e9 / rate;
    Estimate { value: ns(per_s.value), low: per_s.high.map(ns), high: per_s.low.map(ns) }
}

/// Result of a reference run.
struct Found {
    estimate: Estimate,
    unit: &'static str,
    words: String,
    queue_depth: Option<u32>,
}

impl Found {
    /// In the place of another truth of the same finding.
    fn truth(self, instead: &Truth) -> Truth {
        let Estimate { value, low, high } = self.estimate;
        let depth = self.queue_depth.or(instead.conditions.queue_depth);
        Truth {
            finding: instead.finding,
            conditions: Conditions { queue_depth: depth, ..instead.conditions.clone() },
            known: Known::Reference,
            value: Some(value),
            low,
            high,
            unit: self.unit,
            derivation: format!("computed: {}", self.words),
        }
    }
}

fn scaled(estimate: Estimate, by: f64) -> Estimate {
    Estimate {
        value: estimate.value * by,
        low: estimate.low.map(|low| low * by),
        high: estimate.high.map(|high| high * by),
    }
}

/// A ratio of two independent estimates: their relative half-widths add up as squares do.
fn over(a: Estimate, b: Estimate) -> Option<Estimate> {
    let value = a.value / b.value;
    let width = a.relative_half_width()?.hypot(b.relative_half_width()?);
    Some(Estimate { value, low: Some(value * (1.0 - width)), high: Some(value * (1.0 + width)) })
}
