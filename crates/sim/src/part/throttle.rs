//! A throttle as cloud volumes have it: token buckets for requests, for bytes, or for both.
//!
//! Laws. A bucket gains its rate in tokens a second and holds at most its credit (without `burst`: one request). A
//! request passes when the bucket holds what it costs, or is full, and takes that: one token of `iops` for each `chunk`
//! of its bytes or part of one (without `chunk`: one for any size), and a token of `bytes` for each byte. It must pass
//! all buckets, in order. So the rate in the long run is the smaller of `iops` / ceil(b / `chunk`) and `bytes` / b for
//! requests of b bytes, whatever the storage behind could do. (The generic cell rate algorithm, ITU-T I.371, annex A.)
//! * One value is one bucket that reads and writes share; `{ read = .., write = .. }` is one for each direction, and
//!   trims and flushes count as writes. Trims and flushes cost no bytes.
//! * However full a bucket is, no more than the `burst`'s own rate passes. From a full bucket, `burst.iops` therefore
//!   lasts for credit / (`burst.iops` - `iops`) seconds, after which `iops` is the rate for good; likewise
//!   `burst.bytes` for `credit_bytes` / (`burst.bytes` - `bytes`). A bucket fills again at `iops`, or `bytes`, while
//!   less is requested.
//! * With `refill`, tokens come in portions, those of that time at once, and a bucket holds a portion or more: a
//!   saturated load passes in bursts and waits until the next portion (blk-throttle of Linux: 100 ms). What is left of
//!   a portion while a request waits for the next one is not lost: 123.4 requests a portion are 123 or 124.
//!
//! ```toml
//! [throttle]
//! iops = 3000                 # or { read = 3000, write = 1500 }
//! bytes = "125MB/s"           # or { read = "125MB/s", write = "60MB/s" }
//! chunk = "256KiB"
//! refill = "100ms"
//! burst = { iops = 16000, credit = 5400000, bytes = "250MB/s", credit_bytes = "1TB" }
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, BytesPerSecond, SizeBytes, TimeNs},
};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    flow::{Flow, Id},
    part::{Fact, Law, Limit, Load, Part, PartKind, PartPosition, Settings, Step},
    random::whole_ns,
    rates::SharedOrEach,
    reader::Reader,
    truth::grouped,
};

/// Reads `[throttle]`.
pub(crate) struct Throttle;

impl Named for Throttle {
    fn name(&self) -> &'static str {
        "throttle"
    }
}

impl PartKind for Throttle {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("throttle.iops.read", "requests a second of reads"),
            ("throttle.iops.write", "requests a second of writes"),
            ("throttle.bytes.read", "the rate of reads"),
            ("throttle.bytes.write", "the rate of writes"),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(keys) = reader.section::<ThrottleKeys>("throttle")? else { return Ok(None) };
        let burst = keys.burst.unwrap_or_default();
        let requests = Sold {
            rate: keys.iops.map(|iops| iops.map(|iops| iops as f64)),
            burst: pair(reader, "iops", "credit", burst.iops, burst.credit)?,
        };
        let bytes = Sold {
            rate: keys.bytes.map(|bytes| bytes.map(|rate| rate.0 as f64)),
            burst: pair(
                reader,
                "bytes",
                "credit_bytes",
                burst.bytes.map(|rate| rate.0),
                burst.credit_bytes.map(|size| size.0),
            )?,
        };
        requests.check(reader, "iops")?;
        bytes.check(reader, "bytes")?;
        if requests.rate.is_none() && bytes.rate.is_none() {
            return Err(reader.missing("throttle.iops", "requests a second; or `bytes`"));
        }
        let chunk_bytes = keys.chunk.map(|chunk| chunk.0);
        if chunk_bytes == Some(0) {
            let rule = "a request has no parts of no size";
            return Err(reader.impossible("throttle.chunk", rule));
        }
        let refill_ns = keys.refill.map(|time| time.0).filter(|&ns| ns > 0);
        Ok(Some(Arc::new(ThrottleSettings { requests, bytes, chunk_bytes, refill_ns })))
    }
}

/// A burst's rate and its credit, which need each other.
fn pair(
    reader: &Reader,
    rate: &str,
    credit: &str,
    rate_per_s: Option<u64>,
    full: Option<u64>,
) -> Result<Option<Burst>, FileError> {
    let path = |key: &str| format!("throttle.burst.{key}");
    match (rate_per_s, full) {
        (None, None) => Ok(None),
        (Some(_), Some(0)) => Err(reader.impossible(&path(credit), "an empty bucket allows no burst")),
        (Some(rate_per_s), Some(credit)) => {
            Ok(Some(Burst { rate_per_s: rate_per_s as f64, credit: credit as f64 }))
        }
        (Some(_), None) => Err(reader.missing(&path(credit), "what a full bucket holds")),
        (None, Some(_)) => Err(reader.missing(&path(rate), "the rate in a burst")),
    }
}

#[derive(Deserialize)]
struct ThrottleKeys {
    iops: Option<SharedOrEach<u64>>,
    bytes: Option<SharedOrEach<BytesPerSecond>>,
    chunk: Option<SizeBytes>,
    refill: Option<TimeNs>,
    burst: Option<BurstKeys>,
}

#[derive(Default, Deserialize)]
struct BurstKeys {
    iops: Option<u64>,
    credit: Option<u64>,
    bytes: Option<BytesPerSecond>,
    credit_bytes: Option<SizeBytes>,
}

#[derive(Debug, Clone, Copy)]
struct Burst {
    rate_per_s: f64,
    credit: f64,
}

/// What is sold of one quantity: its rate, if it is limited, and what may pass beyond it.
#[derive(Debug, Clone, Copy)]
struct Sold {
    rate: Option<SharedOrEach<f64>>,
    burst: Option<Burst>,
}

impl Sold {
    fn check(&self, reader: &Reader, key: &str) -> Result<(), FileError> {
        let most = self.rate.map(|rate| rate.of(Op::Read).max(rate.of(Op::Write)));
        let least = self.rate.map(|rate| rate.of(Op::Read).min(rate.of(Op::Write)));
        let path = format!("throttle.{key}");
        if least == Some(0.0) {
            return Err(reader.impossible(&path, "a throttle that lets nothing pass never ends a request"));
        }
        match self.burst {
            Some(burst) if burst.rate_per_s <= most.unwrap_or(f64::INFINITY) => {
                let rule = format!("a burst is faster than the throttle's own `{key}`");
                Err(reader.impossible(&format!("throttle.burst.{key}"), rule))
            }
            _ => Ok(()),
        }
    }

    /// One bucket for both directions, or one for each.
    fn buckets(&self, alone: f64, refill_ns: Option<u64>) -> [Option<Bucket>; 2] {
        let bucket = |rate: f64| {
            let portion = refill_ns.map_or(0.0, |ns| rate * ns as f64 / 1e9);
            let depth = self.burst.map_or(alone, |burst| burst.credit).max(portion);
            Bucket {
                token_ns: 1e9 / rate,
                depth,
                refill_ns: refill_ns.map(|ns| ns as f64),
                spacing_ns: self.burst.map_or(0.0, |burst| 1e9 / burst.rate_per_s),
                full_at_ns: 0.0,
                spaced_ns: 0.0,
            }
        };
        match self.rate {
            None => [None, None],
            Some(SharedOrEach::Shared(rate)) => [Some(bucket(rate)), None],
            Some(SharedOrEach::Each(each)) => [Op::Read, Op::Write].map(|op| Some(bucket(each.of(op)))),
        }
    }

    fn is_each(&self) -> bool {
        matches!(self.rate, Some(SharedOrEach::Each(_)))
    }
}

#[derive(Debug, Clone, Copy)]
struct ThrottleSettings {
    requests: Sold,
    bytes: Sold,
    chunk_bytes: Option<u64>,
    refill_ns: Option<u64>,
}

impl ThrottleSettings {
    /// Tokens of `iops` that a request costs.
    fn cost(&self, length_bytes: u64) -> f64 {
        self.chunk_bytes.map_or(1, |chunk| length_bytes.div_ceil(chunk).max(1)) as f64
    }

    fn bursts(&self) -> bool {
        self.requests.burst.is_some() || self.bytes.burst.is_some()
    }

    /// What is sold of one quantity, as the finding about a limit states it: in a burst that goes on, its rate.
    fn sold(&self, sold: &Sold, unit: &'static str, words: &str) -> Vec<Fact> {
        let Some(rate) = sold.rate else { return Vec::new() };
        let (finding, burst) = (FindingName::ConstantLimit, sold.burst.map(|burst| burst.rate_per_s));
        let derivation = match burst {
            Some(_) => format!("{words}, in a burst, until its credit is spent"),
            None => words.to_owned(),
        };
        let fact = |op: Option<Op>, value| Fact {
            finding,
            op,
            value: burst.unwrap_or(value),
            unit,
            derivation: derivation.clone(),
        };
        match rate {
            SharedOrEach::Shared(value) => vec![fact(None, value)],
            SharedOrEach::Each(each) => Op::TRANSFERS.map(|op| fact(Some(op), each.of(op))).to_vec(),
        }
    }
}

impl Settings for ThrottleSettings {
    fn build(&self, _place: &PartPosition) -> Box<dyn Part> {
        Box::new(Buckets {
            settings: *self,
            // A request that finds nothing owed passes, whatever its size.
            requests: self.requests.buckets(1.0, self.refill_ns),
            bytes: self.bytes.buckets(0.0, self.refill_ns),
        })
    }

    fn scatters(&self) -> bool {
        self.bursts()
    }

    fn has_burst_credit(&self) -> bool {
        self.bursts()
    }

    fn wanders(&self) -> Option<&'static str> {
        self.bursts().then_some("its rate depends on how much credit is left")
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let size = units::size(load.block_size_bytes);
        let by_bytes = self.bytes.rate.map(|rate| rate.of(load.op)).map(|rate| Limit {
            per_s: rate / load.block_size_bytes as f64,
            words: format!("the throttle, {} / {size}", units::rate(rate)),
        });
        let cost = self.cost(load.block_size_bytes);
        let by_count = self.requests.rate.map(|rate| rate.of(load.op)).map(|rate| Limit {
            per_s: rate / cost,
            words: match cost > 1.0 {
                true => format!("the throttle, {} / {cost} chunks", grouped(rate)),
                false => "the throttle".to_owned(),
            },
        });
        [by_bytes, by_count].into_iter().flatten().min_by(|a, b| a.per_s.total_cmp(&b.per_s))
    }

    fn facts(&self, load: &Load) -> Vec<Fact> {
        let fact = |finding, op, value, unit, derivation| Fact { finding, op, value, unit, derivation };
        let mut facts = Vec::new();
        let each = self.requests.is_each() || self.bytes.is_each();
        for op in if each { Op::TRANSFERS.to_vec() } else { vec![load.op] } {
            if let Some(limit) = self.limit(&Load { op, ..*load }) {
                let name = FindingName::ThrottleRate;
                facts.push(fact(name, each.then_some(op), limit.per_s, "IOPS", limit.words));
            }
        }
        let size = units::size(load.block_size_bytes);
        if let Some(burst) = self.requests.burst {
            let bytes = burst.credit / self.cost(load.block_size_bytes) * load.block_size_bytes as f64;
            let derivation = format!("{} requests of {size}", grouped(burst.credit));
            facts.push(fact(FindingName::BurstCreditBytes, None, bytes, "B", derivation));
        } else if let Some(burst) = self.bytes.burst {
            let derivation = "the credit in bytes".to_owned();
            facts.push(fact(FindingName::BurstCreditBytes, None, burst.credit, "B", derivation));
        }
        let chunk =
            self.chunk_bytes.map(|chunk| format!(", one for each {} of a request", units::size(chunk)));
        let words = format!("the throttle's requests a second{}", chunk.unwrap_or_default());
        facts.extend(self.sold(&self.requests, "IOPS", &words));
        facts.extend(self.sold(&self.bytes, "B/s", "the throttle's bytes a second"));
        facts
    }

    fn caveat(&self, _load: &Load, law: Law) -> Option<String> {
        let requests = self.requests.burst.map(|burst| {
            let (iops, credit) = (grouped(burst.rate_per_s), grouped(burst.credit));
            format!("once the burst credit of {credit} requests is spent; until then up to {iops} a second")
        });
        let bytes = || {
            self.bytes.burst.map(|burst| {
                let (rate, credit) =
                    (units::rate(burst.rate_per_s), units::decimal_bytes(burst.credit as u64));
                format!("once the burst credit of {credit} is spent; until then up to {rate}")
            })
        };
        requests.or_else(bytes).filter(|_| law == Law::Most)
    }
}

/// A token bucket, as the moment at which it would be full if nothing more came.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// Time in which a token comes.
    token_ns: f64,
    /// Tokens in a full bucket.
    depth: f64,
    /// Time between portions; `None` where tokens come one by one.
    refill_ns: Option<f64>,
    /// Time that the burst's own rate leaves for a token.
    spacing_ns: f64,
    /// In fractions of nanoseconds.
    full_at_ns: f64,
    /// Earliest moment of the next request at the burst's rate.
    spaced_ns: f64,
}

impl Bucket {
    /// When a request of this cost may pass, from `now` on: when the tokens are there, or the bucket is full.
    fn pass_ns(&self, now_ns: f64, cost: f64) -> f64 {
        let ready_ns = self.full_at_ns - (self.depth - cost.min(self.depth)) * self.token_ns;
        let came_ns = self.portion_before(now_ns);
        let ready_ns = match self.refill_ns {
            Some(_) if ready_ns <= came_ns => now_ns,
            Some(refill_ns) => (ready_ns / refill_ns).ceil() * refill_ns,
            None => ready_ns,
        };
        now_ns.max(self.spaced_ns).max(ready_ns)
    }

    /// A request that `waited` for the next portion takes what was left of the last one as well.
    fn take(&mut self, pass_ns: f64, cost: f64, waited: bool) {
        let left_ns = self.refill_ns.filter(|_| waited).unwrap_or(0.0);
        self.full_at_ns = self.full_at_ns.max(self.portion_before(pass_ns) - left_ns) + cost * self.token_ns;
        self.spaced_ns = pass_ns + cost * self.spacing_ns;
    }

    /// The moment up to which tokens have come.
    fn portion_before(&self, now_ns: f64) -> f64 {
        // A millionth of a nanosecond: a moment that was worked out as the portion's own is not before it.
        self.refill_ns.map_or(now_ns, |refill_ns| ((now_ns + 1e-6) / refill_ns).floor() * refill_ns)
    }
}

/// The buckets that a request passes: those of both directions, or its direction's.
struct Buckets {
    settings: ThrottleSettings,
    requests: [Option<Bucket>; 2],
    bytes: [Option<Bucket>; 2],
}

impl Part for Buckets {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = &flow[id];
        let lane = |each: bool| usize::from(each && request.op != Op::Read);
        let (requests, bytes) = (lane(self.settings.requests.is_each()), lane(self.settings.bytes.is_each()));
        // Trims and flushes move nothing.
        let moved = if Op::TRANSFERS.contains(&request.op) { request.length_bytes } else { 0 };
        let mut all = [
            (self.requests[requests].as_mut(), self.settings.cost(u64::from(moved)), false),
            (self.bytes[bytes].as_mut(), f64::from(moved), false),
        ];
        let mut pass_ns = now_ns as f64;
        for (bucket, cost, waited) in &mut all {
            let Some(bucket) = bucket else { continue };
            let own_ns = bucket.pass_ns(pass_ns, *cost);
            (*waited, pass_ns) = (own_ns > pass_ns, own_ns);
        }
        for (bucket, cost, waited) in &mut all {
            if let Some(bucket) = bucket {
                bucket.take(pass_ns, *cost, *waited);
            }
        }
        Step::On(whole_ns(pass_ns).max(now_ns))
    }
}
