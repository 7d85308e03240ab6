//! The closed forms: what the parts' laws say together.
//!
//! A request that is alone takes the sum of all parts' times; the rate of deep queues is the smallest of
//! all parts' limits (Lazowska et al., Quantitative System Performance, 1984, chapter 5: asymptotic bounds).

use iosonde_model::{Conditions, FindingName, Op, units};

use super::{
    stated::{LARGE_BYTES, SMALL_BYTES, Stated, Truth, conditions, grouped},
    undefined::{STAIRCASE, why_not},
};
use crate::{
    file::DeviceFile,
    part::{Burst, IdleLatency, Law, Limit, Load, Side},
};

/// The laws of a device's parts, put together.
pub(crate) struct Laws<'a> {
    pub(super) file: &'a DeviceFile,
    stretch: f64,
}

impl<'a> Laws<'a> {
    pub(crate) fn of(file: &'a DeviceFile) -> Self {
        Self { file, stretch: file.settings().map(|part| part.stretch_mean()).product() }
    }

    pub(super) fn load(&self, op: Op, block_size_bytes: u64, random: bool) -> Load {
        let host_cost_ns = self.file.settings().map(|part| part.host_cost_ns(op) as f64).sum();
        Load { op, block_size_bytes, random, stretch: self.stretch, host_cost_ns }
    }

    /// The time of a request that is alone: all parts' times added.
    pub(super) fn idle(&self, op: Op) -> IdleLatency {
        self.idle_of(&self.load(op, SMALL_BYTES, true))
    }

    /// Latency of a request that is alone, for any load.
    pub(crate) fn idle_of(&self, load: &Load) -> IdleLatency {
        let terms: Vec<IdleLatency> = self.file.settings().filter_map(|part| part.idle(load)).collect();
        IdleLatency {
            fixed_ns: terms.iter().map(|term| term.fixed_ns).sum(),
            ns_per_byte: terms.iter().map(|term| term.ns_per_byte).sum(),
            linear: terms.iter().all(|term| term.linear) && !self.waits_for_the_slowest_piece(),
            words: terms.iter().map(|term| term.words.as_str()).collect::<Vec<_>>().join(" + "),
        }
    }

    /// Returns true if large requests go down in pieces that take unequal times.
    fn waits_for_the_slowest_piece(&self) -> bool {
        self.file.settings().any(|part| part.split_bytes().is_some_and(|most| most < LARGE_BYTES))
            && self.file.settings().any(|part| part.scatters())
    }

    /// The most requests a second in the long run.
    pub(crate) fn most(&self, load: &Load) -> Result<Limit, String> {
        self.tightest(load, None)
    }

    /// The tightest limit, with the words of all; during a burst the medium's own is the burst's.
    fn tightest(&self, load: &Load, burst: Option<&Burst>) -> Result<Limit, String> {
        if let Some(why) = self.file.settings().find_map(|part| part.no_closed_form(load, Law::Most)) {
            return Err(why.to_owned());
        }
        let mut limits = Vec::new();
        let mut below = Below { load: *load, pieces: 1 };
        for (place, part) in self.file.settings().enumerate() {
            let limit = match burst.filter(|_| part.side() == Side::Medium) {
                Some(burst) => burst.limit.clone(),
                None => part.limit(&below.load),
            };
            limits.extend(limit.map(|limit| below.of_whole_requests(limit)));
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
        let terms: Vec<IdleLatency> = parts().filter_map(|part| part.idle(&below.load)).collect();
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

    pub(super) fn truths_of(&self, finding: FindingName) -> Vec<Truth> {
        let (law, state): (Law, fn(&Self, Op) -> Stated) = match finding {
            FindingName::BaseLatency => (Law::Alone, Self::base_latency),
            FindingName::PerRequestCost => (Law::Alone, Self::per_request_cost),
            FindingName::HalfSize => (Law::Alone, Self::half_size),
            FindingName::PlateauBlockSize => (Law::Alone, Self::plateau_block_size),
            FindingName::MaxIops => (Law::Most, Self::max_iops),
            FindingName::DeviceBandwidth => (Law::Most, Self::device_bandwidth),
            FindingName::QueueDepthKnee => (Law::Most, Self::queue_depth_knee),
            FindingName::DepthFor95Percent => (Law::Most, Self::depth_for_95_percent),
            FindingName::BurstRate => return self.burst_rates(),
            FindingName::FlushLatency => return vec![self.flush_latency().named(finding)],
            FindingName::LogWritesPerS => return vec![self.log_write(true).named(finding)],
            FindingName::CommitLatency => return vec![self.log_write(false).named(finding)],
            FindingName::ProcessorShare => (Law::Alone, Self::processor_share),
            FindingName::JobsEffect => return vec![self.jobs_effect().named(finding)],
            FindingName::NetworkRoundTrip
            | FindingName::HostSaturation
            | FindingName::EffectiveDepth
            | FindingName::RandomVsSequential
            | FindingName::IopsAtLatency
            | FindingName::MixInterference
            | FindingName::StrideEffect
            | FindingName::AlignmentEffect
            | FindingName::FastestSync
            | FindingName::AcceleratorsFed
            | FindingName::CheckpointTime
            | FindingName::ProgramPlateau
            | FindingName::Shape
            | FindingName::Crossover
            | FindingName::CacheBytes
            | FindingName::CacheLatency
            | FindingName::ReadaheadBytes
            | FindingName::SustainedRate
            | FindingName::WriteBufferBytes
            | FindingName::BufferDrainRate
            | FindingName::ThrottleRate
            | FindingName::ConstantLimit
            | FindingName::BurstCreditBytes
            | FindingName::Drift
            | FindingName::OrderEffect
            | FindingName::Parallelism
            | FindingName::StripeBytes
            | FindingName::MappingUnitBytes
            | FindingName::RotationPeriod
            | FindingName::SeekTimeAverage
            | FindingName::ZoneRatio => return self.facts_of(finding),
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

    /// Truths that one part determines alone; otherwise the reason why none does.
    fn facts_of(&self, finding: FindingName) -> Vec<Truth> {
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

    /// Why requests at queue depth 1 take longer than one that is alone: a limit holds them back.
    pub(super) fn held_back(&self, load: &Load, idle: &IdleLatency) -> Option<String> {
        let alone_per_s = 1e9 / (idle.fixed_ns + idle.ns_per_byte * load.block_size_bytes as f64);
        let most = self.most(load).ok()?;
        // A thousandth: a limit that equals the line does not cut it.
        (most.per_s < alone_per_s * 0.999).then(|| format!("even QD 1 is limited by {}", most.words))
    }

    /// Why the line of times over sizes at QD 1 is not what a program sees: a limit cuts it off.
    fn cut_off(&self, op: Op, idle: &IdleLatency) -> Option<String> {
        if let Some(why) = self.held_back(&self.load(op, SMALL_BYTES, false), idle) {
            return Some(why);
        }
        let large = self.most(&self.load(op, LARGE_BYTES, false)).ok()?;
        let cuts = large.per_s * LARGE_BYTES as f64 * idle.ns_per_byte < 1e9 * 0.999;
        cuts.then(|| format!("the line is cut off by {}", large.words))
    }

    pub(super) fn base_latency(&self, op: Op) -> Stated {
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
        let mut conditions = conditions(op, SMALL_BYTES, None);
        if op == Op::Read && self.file.settings().any(|part| part.lays_out()) {
            // Addresses spread evenly, which random ones are not.
            conditions.random = None;
        }
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
            "at QD 1, 95 % of the bandwidth is reached at 19 times half size, {} B: the next larger \
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
            return Stated::none(conditions, "even QD 1 is limited, so there is no saturation point".into());
        }
        let derivation = format!("{} IOPS x {} = QD {knee:.2}", grouped(iops), units::time(ns));
        Stated::some(conditions, knee, "requests", derivation)
    }

    fn burst_rates(&self) -> Vec<Truth> {
        let name = FindingName::BurstRate;
        let load = self.load(Op::Write, LARGE_BYTES, false);
        let conditions = Conditions { random: Some(false), ..conditions(Op::Write, LARGE_BYTES, None) };
        let rate = |burst: &Burst| match self.tightest(&load, Some(burst)) {
            Ok(limit) => {
                let bytes_per_s = limit.per_s * LARGE_BYTES as f64;
                let words = format!("{}; {} requests a second", burst.words, limit.words);
                Stated::some(conditions.clone(), bytes_per_s, "B/s", words)
            }
            Err(why) => Stated::none(conditions.clone(), why),
        };
        let bursts: Vec<Burst> = self.file.settings().flat_map(|part| part.bursts(&load)).collect();
        if bursts.is_empty() {
            return vec![Stated::none(conditions, why_not(name)).named(name)];
        }
        bursts.iter().map(|burst| rate(burst).named(name)).collect()
    }

    /// A flush after one small write, with nothing else under way.
    fn flush_latency(&self) -> Stated {
        let conditions = Conditions { queue_depth: Some(1), ..Conditions::default() };
        let conditions = Conditions { op: Some(Op::Flush), ..conditions };
        let load = self.load(Op::Flush, SMALL_BYTES, false);
        if let Some(why) = self.file.settings().find_map(|part| part.no_closed_form(&load, Law::Alone)) {
            return Stated::none(conditions, why.into());
        }
        let idle = self.idle_of(&load);
        // It moves no bytes: the words of a link's transfer do not count.
        let words =
            format!("after one 4 KiB write: {} with b = 0: {}", idle.words, units::time(idle.fixed_ns));
        Stated::some(conditions, idle.fixed_ns, "ns", words)
    }

    /// Appends of 4 KiB at QD 1, each with its flush: their rate, or the time of one.
    fn log_write(&self, rate: bool) -> Stated {
        let conditions = Conditions { random: Some(false), ..conditions(Op::Write, SMALL_BYTES, Some(1)) };
        let load = self.load(Op::Write, SMALL_BYTES, false);
        let why = self.file.settings().find_map(|part| part.no_closed_form(&load, Law::Alone));
        let flush = self.flush_latency();
        let (None, Some(flush_ns)) = (why, flush.value) else {
            let why = why.map_or(flush.derivation.replace("not defined: ", ""), str::to_owned);
            return Stated::none(conditions, why);
        };
        let write = self.idle_of(&load);
        let write_ns = write.fixed_ns + write.ns_per_byte * SMALL_BYTES as f64;
        let (write, flush) = (units::time(write_ns), units::time(flush_ns));
        let words = format!("a write of {write} + a flush of {flush}");
        match rate {
            true => Stated::some(conditions, 1e9 / (write_ns + flush_ns), "1/s", format!("1 / ({words})")),
            false => Stated::some(conditions, write_ns + flush_ns, "ns", words),
        }
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
