//! A throttle as cloud volumes have it: a token bucket for requests, and a rate for bytes.
//!
//! Laws: requests pass in order. The bucket holds at most `burst.credit` tokens (one without `burst`), gains
//! `iops` a second and loses one for each request; an empty bucket lets a request pass when its token has
//! come. However full it is, no more than `burst.iops` a second pass. From a full bucket B = `burst.iops`
//! therefore lasts for credit / (B - iops) seconds, after which `iops` is the rate for good. (The generic
//! cell rate algorithm, ITU-T I.371, annex A.) `bytes` spaces requests of b bytes by b / `bytes`.
//!
//! ```toml
//! [throttle]
//! iops = 3000
//! bytes = "125MB/s"
//! burst = { iops = 16000, credit = 5400000 }
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, BytesPerSecond},
};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    file::Reader,
    flow::{Flow, Id},
    part::{Fact, Law, Limit, Load, Part, PartKind, Place, Settings, Step},
    random::whole_ns,
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
            ("throttle.burst.iops", "requests a second in a burst"),
            ("throttle.burst.credit", "requests in a full bucket"),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(throttle) = reader.section::<ThrottleKeys>("throttle")? else { return Ok(None) };
        let (iops, bytes_per_s) = (throttle.iops, throttle.bytes.map(|rate| rate.0));
        for (path, rate) in [("throttle.iops", iops), ("throttle.bytes", bytes_per_s)] {
            if rate == Some(0) {
                return Err(reader.impossible(path, "a throttle that lets nothing pass never ends a request"));
            }
        }
        if iops.is_none() && bytes_per_s.is_none() {
            return Err(reader.missing("throttle.iops", "requests a second; or `bytes`"));
        }
        if let Some(burst) = &throttle.burst {
            if burst.iops <= iops.unwrap_or(u64::MAX) {
                let rule = "a burst is faster than the throttle's own `iops`";
                return Err(reader.impossible("throttle.burst.iops", rule));
            }
            if burst.credit == 0 {
                return Err(reader.impossible("throttle.burst.credit", "an empty bucket allows no burst"));
            }
        }
        let burst = throttle.burst.map(|b| Burst { iops: b.iops as f64, credit: b.credit as f64 });
        let iops = iops.map(|iops| iops as f64);
        Ok(Some(Arc::new(ThrottleSettings { iops, bytes_per_s: bytes_per_s.map(|rate| rate as f64), burst })))
    }
}

#[derive(Deserialize)]
struct ThrottleKeys {
    iops: Option<u64>,
    bytes: Option<BytesPerSecond>,
    burst: Option<BurstKeys>,
}

#[derive(Deserialize)]
struct BurstKeys {
    iops: u64,
    credit: u64,
}

#[derive(Debug, Clone, Copy)]
struct Burst {
    iops: f64,
    credit: f64,
}

#[derive(Debug, Clone, Copy)]
struct ThrottleSettings {
    iops: Option<f64>,
    bytes_per_s: Option<f64>,
    burst: Option<Burst>,
}

impl Settings for ThrottleSettings {
    fn build(&self, _place: &Place) -> Box<dyn Part> {
        Box::new(Bucket { settings: *self, full_at_ns: 0.0, spaced_ns: 0.0, bytes_ns: 0.0 })
    }

    fn scatters(&self) -> bool {
        self.burst.is_some()
    }

    fn has_burst_credit(&self) -> bool {
        self.burst.is_some()
    }

    fn wanders(&self) -> Option<&'static str> {
        self.burst.map(|_| "its rate depends on how much credit is left")
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let size = units::size(load.block_size_bytes);
        let by_bytes = self.bytes_per_s.map(|rate| Limit {
            per_s: rate / load.block_size_bytes as f64,
            words: format!("the throttle, {} / {size}", units::rate(rate)),
        });
        let by_count = self.iops.map(|per_s| Limit { per_s, words: "the throttle".to_owned() });
        [by_bytes, by_count].into_iter().flatten().min_by(|a, b| a.per_s.total_cmp(&b.per_s))
    }

    fn facts(&self, load: &Load) -> Vec<Fact> {
        let fact = |finding, value, unit, derivation| Fact { finding, op: None, value, unit, derivation };
        let mut facts = Vec::new();
        if let Some(limit) = self.limit(load) {
            facts.push(fact(FindingName::ThrottleRate, limit.per_s, "IOPS", limit.words));
        }
        if let Some(burst) = self.burst {
            let bytes = burst.credit * load.block_size_bytes as f64;
            let size = units::size(load.block_size_bytes);
            facts.push(fact(
                FindingName::BurstCreditBytes,
                bytes,
                "B",
                format!("{} requests of {size}", grouped(burst.credit)),
            ));
        }
        facts
    }

    fn caveat(&self, _load: &Load, law: Law) -> Option<String> {
        let burst = self.burst.filter(|_| law == Law::Most)?;
        let (iops, credit) = (grouped(burst.iops), grouped(burst.credit));
        Some(format!("once the burst credit of {credit} requests is spent; until then up to {iops} a second"))
    }
}

struct Bucket {
    settings: ThrottleSettings,
    /// When the bucket would be full if nothing more came, in fractions of nanoseconds.
    full_at_ns: f64,
    /// Earliest moment of the next request at the burst's rate.
    spaced_ns: f64,
    /// Earliest moment of the next request at the byte rate.
    bytes_ns: f64,
}

impl Part for Bucket {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let now = now_ns as f64;
        let mut pass_ns = now.max(self.spaced_ns).max(self.bytes_ns);
        if let Some(iops) = self.settings.iops {
            let token_ns = 1e9 / iops;
            let credit = self.settings.burst.map_or(1.0, |burst| burst.credit);
            // A token is there as long as the bucket is at most credit - 1 tokens short of full.
            pass_ns = pass_ns.max(self.full_at_ns - (credit - 1.0) * token_ns);
            self.full_at_ns = self.full_at_ns.max(pass_ns) + token_ns;
        }
        if let Some(burst) = self.settings.burst {
            self.spaced_ns = pass_ns + 1e9 / burst.iops;
        }
        if let Some(bytes_per_s) = self.settings.bytes_per_s {
            let request = &flow[id];
            // Trims move nothing.
            let bytes = if Op::TRANSFERS.contains(&request.op) { request.length_bytes } else { 0 };
            self.bytes_ns = pass_ns + f64::from(bytes) * 1e9 / bytes_per_s;
        }
        Step::On(whole_ns(pass_ns).max(now_ns))
    }
}
