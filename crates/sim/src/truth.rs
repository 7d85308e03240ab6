//! What is true of a simulated device: for each finding a value in closed form with its derivation in words,
//! or why there is none.
//!
//! The parts state their own laws (`Settings::idle`, `Settings::limit`); here they are put together. A
//! request that is alone takes the sum of all parts' times; the rate with enough in flight is the smallest of
//! all parts' limits (Lazowska et al., Quantitative System Performance, 1984, chapter 5: asymptotic bounds).

use iosonde_model::{Conditions, Op, units};
use serde::Serialize;

use crate::{
    file::DeviceFile,
    part::{Idle, Law, Limit, Load},
};

/// Names of findings that a truth is stated for, each at least once.
pub const FINDING_NAMES: [&str; 33] = [
    "device_bandwidth",
    "per_request_cost",
    "half_size",
    "plateau_block_size",
    "max_iops",
    "base_latency",
    "queue_depth_knee",
    "depth_for_95_percent",
    "parallelism",
    "effective_depth",
    "random_vs_sequential",
    "stride_effect",
    "stripe_bytes",
    "mix_interference",
    "mapping_unit_bytes",
    "write_buffer_bytes",
    "burst_rate",
    "sustained_rate",
    "cache_bytes",
    "cache_latency",
    "readahead_bytes",
    "throttle_rate",
    "burst_credit_bytes",
    "drift",
    "order_effect",
    "rotation_period",
    "seek_time_average",
    "zone_ratio",
    "flush_latency",
    "log_writes_per_s",
    "iops_at_latency",
    "crossover",
    "shape",
];

/// The small request of which rates and latencies are stated.
const SMALL_BYTES: u64 = 4 << 10;
/// The large request of which bandwidths are stated.
const LARGE_BYTES: u64 = 1 << 20;

/// Why Hockney's line has no parameters here.
const STAIRCASE: &str = "the medium's time is no straight line in the size: it goes by whole pages, or waits for the \
    slowest of several pieces";

/// What is true of a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// The finding's name.
    pub finding: &'static str,
    /// Under which conditions it holds.
    pub conditions: Conditions,
    /// The value, in `unit`; `None` where it is not defined.
    pub value: Option<f64>,
    /// `B/s`, `IOPS`, `ns`, `B`, `requests`, `ratio`, `1/h`; empty where it is not defined.
    pub unit: &'static str,
    /// How the value follows from the device's parameters, or why there is none.
    pub derivation: String,
}

/// Every finding's truth, in the order of [`FINDING_NAMES`]; reads before writes.
pub fn truths(file: &DeviceFile) -> Vec<Truth> {
    let laws = Laws::of(file);
    FINDING_NAMES.iter().flat_map(|name| laws.truths_of(name)).collect()
}

/// The laws of a device's parts, put together.
struct Laws<'a> {
    file: &'a DeviceFile,
    stretch: f64,
}

impl<'a> Laws<'a> {
    fn of(file: &'a DeviceFile) -> Self {
        Self { file, stretch: file.settings().map(|part| part.stretch_mean()).product() }
    }

    fn load(&self, op: Op, block_size_bytes: u64, random: bool) -> Load {
        let host_cost_ns = self.file.settings().map(|part| part.host_cost_ns(op) as f64).sum();
        Load { op, block_size_bytes, random, stretch: self.stretch, host_cost_ns }
    }

    /// The time of a request that is alone: all parts' times added.
    fn idle(&self, op: Op) -> Idle {
        let load = self.load(op, SMALL_BYTES, true);
        let terms: Vec<Idle> = self.file.settings().filter_map(|part| part.idle(&load)).collect();
        Idle {
            fixed_ns: terms.iter().map(|term| term.fixed_ns).sum(),
            ns_per_byte: terms.iter().map(|term| term.ns_per_byte).sum(),
            linear: terms.iter().all(|term| term.linear) && !self.waits_for_the_slowest_piece(),
            words: terms.iter().map(|term| term.words.as_str()).collect::<Vec<_>>().join(" + "),
        }
    }

    /// Whether large requests go down in pieces that take unequal times.
    fn waits_for_the_slowest_piece(&self) -> bool {
        self.file.settings().any(|part| part.split_bytes().is_some_and(|most| most < LARGE_BYTES))
            && self.file.settings().any(|part| part.scatters())
    }

    /// The most requests a second: the tightest limit, with the words of all.
    fn most(&self, load: &Load) -> Result<Limit, String> {
        if let Some(why) = self.file.settings().find_map(|part| part.no_closed_form(load, Law::Most)) {
            return Err(why.to_owned());
        }
        let mut limits = Vec::new();
        let mut below = Below { load: *load, pieces: 1 };
        for (place, part) in self.file.settings().enumerate() {
            limits.extend(part.limit(&below.load).map(|limit| below.of_whole_requests(limit)));
            if let Some(slots) = part.slots() {
                limits.extend(self.held_by_slots(slots, place, &below)?);
            }
            below.split(part.split_bytes());
        }
        limits.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
        let words: Vec<_> =
            limits.iter().map(|limit| format!("{} = {}", limit.words, grouped(limit.per_s))).collect();
        let rest = if words.len() > 1 {
            format!(" (more than that: {})", words[1..].join("; "))
        } else {
            String::new()
        };
        let first = limits.first().ok_or("no part limits the rate")?;
        Ok(Limit { per_s: first.per_s, words: format!("{}{rest}", words[0]) })
    }

    /// The rate at which slots turn over. An error where that has no closed form: several slots over a medium
    /// whose times vary reach a rate between this one and the medium's own.
    fn held_by_slots(&self, slots: u32, place: usize, below: &Below) -> Result<Option<Limit>, String> {
        let parts = || self.file.settings().skip(place);
        let terms: Vec<Idle> = parts().filter_map(|part| part.idle(&below.load)).collect();
        let held_ns: f64 = terms
            .iter()
            .map(|term| term.fixed_ns + term.ns_per_byte * below.load.block_size_bytes as f64)
            .sum();
        if held_ns <= 0.0 {
            return Ok(None);
        }
        let per_s = f64::from(slots) * 1e9 / held_ns;
        let medium = parts().filter_map(|part| part.limit(&below.load)).map(|limit| limit.per_s);
        let medium = medium.fold(f64::INFINITY, f64::min);
        if slots > 1 && per_s < medium && parts().any(|part| part.scatters()) {
            return Err(format!(
                "{slots} slots are fewer than keep the medium busy, and its times vary from request to request"
            ));
        }
        let words = format!("{slots} slot{} / {}", if slots == 1 { "" } else { "s" }, units::time(held_ns));
        Ok(Some(below.of_whole_requests(Limit { per_s, words })))
    }

    fn truths_of(&self, finding: &'static str) -> Vec<Truth> {
        let (law, state): (Law, fn(&Self, Op) -> Stated) = match finding {
            "base_latency" => (Law::Alone, Self::base_latency),
            "per_request_cost" => (Law::Alone, Self::per_request_cost),
            "half_size" => (Law::Alone, Self::half_size),
            "plateau_block_size" => (Law::Alone, Self::plateau_block_size),
            "max_iops" => (Law::Most, Self::max_iops),
            "device_bandwidth" => (Law::Most, Self::device_bandwidth),
            "queue_depth_knee" => (Law::Most, Self::queue_depth_knee),
            "depth_for_95_percent" => (Law::Most, Self::depth_for_95_percent),
            _ => return self.facts_of(finding),
        };
        let truth = |op| {
            let mut stated = state(self, op);
            if stated.value.is_some() {
                stated.derivation += &self.caveats(op, law);
            }
            stated.named(finding)
        };
        Op::TRANSFERS.map(truth).to_vec()
    }

    fn caveats(&self, op: Op, law: Law) -> String {
        let load = self.load(op, SMALL_BYTES, true);
        let caveats: Vec<_> = self.file.settings().filter_map(|part| part.caveat(&load, law)).collect();
        if caveats.is_empty() { String::new() } else { format!(" ({})", caveats.join("; ")) }
    }

    /// What single parts decide; or why no part does.
    fn facts_of(&self, finding: &'static str) -> Vec<Truth> {
        let load = self.load(Op::Read, SMALL_BYTES, true);
        let facts =
            self.file.settings().flat_map(|part| part.facts(&load)).filter(|fact| fact.finding == finding);
        let stated = facts.map(|fact| {
            let conditions = Conditions { op: fact.op, ..Conditions::default() };
            Stated::some(conditions, fact.value, fact.unit, fact.derivation).named(finding)
        });
        let stated: Vec<_> = stated.collect();
        if !stated.is_empty() {
            return stated;
        }
        vec![Stated::none(Conditions::default(), why_not(finding)).named(finding)]
    }

    /// Why the line of times over sizes, one at a time, is not what a program sees: a limit cuts it off.
    fn cut_off(&self, op: Op, idle: &Idle) -> Option<String> {
        let alone_per_s = 1e9 / (idle.fixed_ns + idle.ns_per_byte * SMALL_BYTES as f64);
        let small = self.most(&self.load(op, SMALL_BYTES, false)).ok()?;
        // A thousandth: a limit that equals the line does not cut it.
        if small.per_s < alone_per_s * 0.999 {
            return Some(format!("even one at a time is held back by {}", small.words));
        }
        let large = self.most(&self.load(op, LARGE_BYTES, false)).ok()?;
        let cuts = large.per_s * LARGE_BYTES as f64 * idle.ns_per_byte < 1e9 * 0.999;
        cuts.then(|| format!("the line is cut off by {}", large.words))
    }

    fn base_latency(&self, op: Op) -> Stated {
        let load = self.load(op, SMALL_BYTES, true);
        if let Some(why) = self.file.settings().find_map(|part| part.no_closed_form(&load, Law::Alone)) {
            return Stated::none(conditions(op, SMALL_BYTES, Some(1)), why.into());
        }
        let idle = self.idle(op);
        let ns = idle.fixed_ns + idle.ns_per_byte * SMALL_BYTES as f64;
        let derivation = format!("{} = {} for {}", idle.words, units::time(ns), units::size(SMALL_BYTES));
        Stated::some(conditions(op, SMALL_BYTES, Some(1)), ns, "ns", derivation)
    }

    fn max_iops(&self, op: Op) -> Stated {
        let conditions = conditions(op, SMALL_BYTES, None);
        match self.most(&self.load(op, SMALL_BYTES, true)) {
            Ok(limit) => Stated::some(conditions, limit.per_s, "IOPS", limit.words),
            Err(why) => Stated::none(conditions, why),
        }
    }

    fn device_bandwidth(&self, op: Op) -> Stated {
        let conditions = Conditions { random: Some(false), ..conditions(op, LARGE_BYTES, None) };
        let limit = match self.most(&self.load(op, LARGE_BYTES, false)) {
            Ok(limit) => limit,
            Err(why) => return Stated::none(conditions, why),
        };
        let bytes_per_s = limit.per_s * LARGE_BYTES as f64;
        let size = units::size(LARGE_BYTES);
        let derivation =
            format!("{} requests a second, times {size} = {}", limit.words, units::rate(bytes_per_s));
        Stated::some(conditions, bytes_per_s, "B/s", derivation)
    }

    fn per_request_cost(&self, op: Op) -> Stated {
        let idle = self.idle(op);
        let conditions = Conditions { block_size_bytes: None, ..conditions(op, SMALL_BYTES, Some(1)) };
        if !idle.linear {
            return Stated::none(conditions, STAIRCASE.into());
        }
        if let Some(why) = self.cut_off(op, &idle) {
            return Stated::none(conditions, why);
        }
        let derivation = format!("{}, for b = 0: {}", idle.words, units::time(idle.fixed_ns));
        Stated::some(conditions, idle.fixed_ns, "ns", derivation)
    }

    fn half_size(&self, op: Op) -> Stated {
        let idle = self.idle(op);
        let conditions = Conditions { block_size_bytes: None, ..conditions(op, SMALL_BYTES, Some(1)) };
        if !idle.linear {
            return Stated::none(conditions, STAIRCASE.into());
        }
        if let Some(why) = self.cut_off(op, &idle) {
            return Stated::none(conditions, why);
        }
        if idle.ns_per_byte == 0.0 {
            let why = "the time of a request does not depend on its size, so no size gives half of a limit";
            return Stated::none(conditions, why.into());
        }
        let bytes = idle.fixed_ns / idle.ns_per_byte;
        let derivation = format!(
            "{}: the part without b, {}, times {} = {} B",
            idle.words,
            units::time(idle.fixed_ns),
            units::rate(1e9 / idle.ns_per_byte),
            grouped(bytes)
        );
        Stated::some(conditions, bytes, "B", derivation)
    }

    fn plateau_block_size(&self, op: Op) -> Stated {
        let half = self.half_size(op);
        let Some(bytes) = half.value else { return half };
        // b / (b + n) = 0.95 at b = 19 n.
        let derivation = format!(
            "one at a time, 95 % of the bandwidth is reached at 19 times half size, {} B: the next larger \
             size measured",
            grouped(19.0 * bytes)
        );
        Stated::some(half.conditions, 19.0 * bytes, "B", derivation)
    }

    fn depth_for_95_percent(&self, op: Op) -> Stated {
        let knee = self.queue_depth_knee(op);
        let Some(in_flight) = knee.value else { return knee };
        if self.file.settings().any(|part| part.scatters()) {
            let why =
                "times vary from request to request, so that the corner between N / R and the top is round";
            return Stated::none(knee.conditions, why.into());
        }
        let depth = (0.95 * in_flight).ceil();
        let derivation = format!(
            "X(N) = N / R up to the knee at {in_flight:.2}; the least whole N from 95 % of it on is {depth}"
        );
        Stated::some(knee.conditions, depth, "requests", derivation)
    }

    fn queue_depth_knee(&self, op: Op) -> Stated {
        let (latency, rate) = (self.base_latency(op), self.max_iops(op));
        let conditions = conditions(op, SMALL_BYTES, None);
        let (Some(ns), Some(iops)) = (latency.value, rate.value) else {
            return Stated::none(
                conditions,
                "it is the highest rate times the base latency, and one is missing".into(),
            );
        };
        let knee = iops * ns / 1e9;
        if knee < 1.0 {
            return Stated::none(conditions, "even one in flight is held back, so there is no knee".into());
        }
        let derivation = format!("{} IOPS x {} = {knee:.2} in flight", grouped(iops), units::time(ns));
        Stated::some(conditions, knee, "requests", derivation)
    }
}

/// The load that a part sees, below one that splits.
struct Below {
    load: Load,
    /// For each request of the program.
    pieces: u64,
}

impl Below {
    fn split(&mut self, most_bytes: Option<u64>) {
        let pieces = most_bytes.map_or(1, |most| self.load.block_size_bytes.div_ceil(most).max(1));
        self.pieces *= pieces;
        // Pieces of one size: the last may be shorter, and what counts is their mean.
        self.load.block_size_bytes /= pieces;
    }

    fn of_whole_requests(&self, limit: Limit) -> Limit {
        if self.pieces == 1 {
            return limit;
        }
        let words = format!("{} / {} pieces", limit.words, self.pieces);
        Limit { per_s: limit.per_s / self.pieces as f64, words }
    }
}

/// A truth before it has its finding's name.
struct Stated {
    conditions: Conditions,
    value: Option<f64>,
    unit: &'static str,
    derivation: String,
}

impl Stated {
    fn some(conditions: Conditions, value: f64, unit: &'static str, derivation: String) -> Self {
        Self { conditions, value: Some(value), unit, derivation }
    }

    fn named(self, finding: &'static str) -> Truth {
        let Self { conditions, value, unit, derivation } = self;
        Truth { finding, conditions, value, unit, derivation }
    }

    fn none(conditions: Conditions, why: String) -> Self {
        Self { conditions, value: None, unit: "", derivation: format!("not defined: {why}") }
    }
}

fn conditions(op: Op, block_size_bytes: u64, queue_depth: Option<u32>) -> Conditions {
    Conditions {
        op: Some(op),
        random: Some(true),
        block_size_bytes: Some(block_size_bytes),
        queue_depth,
        span_bytes: None,
    }
}

/// Why no law of the present parts gives a value.
fn why_not(finding: &str) -> String {
    let why = match finding {
        "random_vs_sequential" | "stride_effect" => {
            "it depends on how many are in flight and on the span, and has no closed form here"
        }
        "stripe_bytes" | "mapping_unit_bytes" => "no part of this device lays addresses out",
        "mix_interference" | "crossover" => "no part states how reads and writes disturb each other",
        "write_buffer_bytes" => "the device has no write buffer",
        "burst_rate" => "a burst goes as fast as whatever stands before the write buffer, if there is one",
        "sustained_rate" => "no part slows writes that last, or only in a way that has no closed form",
        "flush_latency" | "log_writes_per_s" => "flushes are not simulated",
        "cache_bytes" => "the device has no cache",
        "cache_latency" | "readahead_bytes" => "the host has no page cache",
        "throttle_rate" | "burst_credit_bytes" => "nothing throttles the device",
        "rotation_period" | "seek_time_average" | "zone_ratio" => "nothing rotates",
        "drift" => "nothing drifts",
        "order_effect" | "shape" => "it belongs to a run, not to the device",
        "parallelism" | "effective_depth" | "iops_at_latency" => {
            "it depends on the whole law of all times and has no closed form here"
        }
        _ => "no law of this device's parts gives it",
    };
    why.to_owned()
}

/// A rate or size in full, its digits in groups of three: 533,333.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    fn truth(device: &str, finding: &str, op: Op) -> Truth {
        let file = DeviceFile::parse(builtin(device).unwrap(), device).unwrap();
        truths(&file).into_iter().find(|t| t.finding == finding && t.conditions.op == Some(op)).unwrap()
    }

    #[test]
    fn every_finding_has_its_truth_or_its_reason() {
        let file = DeviceFile::parse(builtin("plain-nvme").unwrap(), "x").unwrap();
        let all = truths(&file);
        for name in FINDING_NAMES {
            let mut of_name = all.iter().filter(|truth| truth.finding == name).peekable();
            assert!(of_name.peek().is_some(), "{name}");
            assert!(
                of_name.all(|t| t.value.is_some() != t.derivation.starts_with("not defined: ")),
                "{name}"
            );
        }
    }

    #[test]
    fn the_ideal_device() {
        // 4 / 80 us; one alone 80 us; 50,000 x 80 us = 4 in flight.
        let iops = truth("ideal", "max_iops", Op::Read);
        assert_eq!((iops.value, iops.unit), (Some(50_000.0), "IOPS"));
        assert_eq!(iops.derivation, "4 servers / 80.0 µs = 50,000");
        assert_eq!(truth("ideal", "base_latency", Op::Write).value, Some(80_000.0));
        assert_eq!(truth("ideal", "queue_depth_knee", Op::Read).value, Some(4.0));
        assert_eq!(truth("ideal", "half_size", Op::Read).value, None);
        // 95 % of 50,000 needs 3.8, so 4.
        assert_eq!(truth("ideal", "depth_for_95_percent", Op::Read).value, Some(4.0));
    }

    #[test]
    fn the_plain_nvme_derives_in_words() {
        // 1.5 + 5 + 60 us, and 4,096 B / 3.5 GB/s = 1.170 us.
        let latency = truth("plain-nvme", "base_latency", Op::Read);
        assert!((latency.value.unwrap() - 67_670.286).abs() < 0.001);
        assert_eq!(
            latency.derivation,
            "program 1.50 µs + link 5.00 µs + b / 3.50 GB/s + service 60.0 µs = 67.7 µs for 4 KiB"
        );
        assert_eq!(
            truth("plain-nvme", "max_iops", Op::Read).derivation,
            "32 servers / 60.0 µs = 533,333 (more than that: the program, 1 / 1.50 µs = 666,667; \
             the link, 3.50 GB/s / 4 KiB = 854,492)"
        );
        // 66.5 us x 3.5 GB/s = 232,750 B.
        assert!((truth("plain-nvme", "half_size", Op::Read).value.unwrap() - 232_750.0).abs() < 1e-6);
        // 19 times that.
        assert!(
            (truth("plain-nvme", "plateau_block_size", Op::Read).value.unwrap() - 4_422_250.0).abs() < 1e-5
        );
        assert_eq!(truth("plain-nvme", "depth_for_95_percent", Op::Read).value, None);
        assert!((truth("plain-nvme", "device_bandwidth", Op::Write).value.unwrap() - 3.5e9).abs() < 1.0);
    }

    #[test]
    fn a_throttled_device_has_no_line_and_no_knee() {
        // 300 a second once the credit is spent: 3.3 ms apart, though one alone takes half a millisecond.
        let iops = truth("cloud-volume", "max_iops", Op::Read);
        assert_eq!(iops.value, Some(300.0));
        assert!(iops.derivation.ends_with(
            "(once the burst credit of 5,400,000 requests is spent; until then up to 3,000 a second)"
        ));
        for finding in ["half_size", "per_request_cost", "plateau_block_size", "queue_depth_knee"] {
            assert_eq!(truth("cloud-volume", finding, Op::Read).value, None, "{finding}");
        }
    }

    #[test]
    fn a_drifting_device_says_that_its_truth_is_that_of_its_start() {
        let iops = truth("noisy-virtual-disk", "max_iops", Op::Read);
        assert!((iops.value.unwrap() - 83_333.333).abs() < 0.001);
        assert!(iops.derivation.ends_with("(at the start of the device's life, falling by 60 % an hour)"));
        let file = DeviceFile::parse(builtin("noisy-virtual-disk").unwrap(), "x").unwrap();
        let drift = truths(&file).into_iter().find(|truth| truth.finding == "drift").unwrap();
        assert_eq!((drift.value, drift.unit), (Some(-0.6), "1/h"));
    }
}
