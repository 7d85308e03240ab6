//! A plain queue as the medium: `servers` equal servers, one queue before them, first come, first served.
//!
//! Laws. A single request takes one service time S. Kept busy, the queue serves c / mean(S) requests a
//! second. At queue depth N and fixed S, X(N) = min(N, c) / S exactly. With Poisson arrivals at load p = rate
//! S / c the mean wait of one server is (1 + cv^2) / 2 times p S / (1 - p), with cv = 1 when exponential and
//! 0 when fixed (Pollaczek and Khinchine), and that of c exponential servers is C(c, p c) S / (c (1 - p))
//! with Erlang's C (Kleinrock, Queueing Systems I, 1975, chapters 3 and 5). The length of a request plays no
//! part: a link is for that. Nothing is buffered and nothing remembered: trims and flushes take 1 us and no server.
//!
//! ```toml
//! [queue]
//! servers = 4
//! service = { fixed = "80us" }
//! # or:   = { exponential = "80us" }, or = { lognormal = { mean = "80us", cv = 0.5 } }
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, TimeNs},
};
use rand_distr::{Distribution, Exp1, LogNormal};
use serde::Deserialize;
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
    sync::Arc,
};

use crate::{
    flow::{Flow, Id},
    part::{Fact, IdleLatency, Limit, Load, Part, PartKind, PartPosition, Settings, Side, Step},
    random::{Random, stream, whole_ns},
    reader::Reader,
    request::REFUSAL_NS,
};

/// Reads `[queue]`.
pub(crate) struct Queue;

impl Named for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }
}

impl PartKind for Queue {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("queue.servers", "how many serve at once"),
            ("queue.service", "a table such as { fixed = \"80us\" }"),
            ("queue.service.lognormal.mean", "the mean service time"),
            ("queue.service.lognormal.cv", "deviation over mean"),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(queue) = reader.section::<QueueKeys>("queue")? else { return Ok(None) };
        // 65,536: as many as NVMe has queues; beyond it a slip of the keyboard is likelier than a device.
        if !(1..=65_536).contains(&queue.servers) {
            return Err(reader.impossible("queue.servers", "there must be between 1 and 65,536"));
        }
        let service = service(&queue.service, reader)?;
        Ok(Some(Arc::new(QueueSettings { servers: queue.servers as u32, service })))
    }
}

#[derive(Deserialize)]
struct QueueKeys {
    servers: u64,
    service: ServiceKeys,
}

#[derive(Deserialize)]
struct ServiceKeys {
    fixed: Option<TimeNs>,
    exponential: Option<TimeNs>,
    lognormal: Option<LognormalKeys>,
}

#[derive(Deserialize)]
struct LognormalKeys {
    mean: TimeNs,
    cv: f64,
}

fn service(keys: &ServiceKeys, reader: &Reader) -> Result<Service, FileError> {
    let (law, mean_path) = match keys {
        ServiceKeys { fixed: Some(TimeNs(ns)), exponential: None, lognormal: None } => {
            (Service::Fixed { ns: *ns as f64 }, "queue.service.fixed")
        }
        ServiceKeys { fixed: None, exponential: Some(TimeNs(ns)), lognormal: None } => {
            (Service::Exponential { mean_ns: *ns as f64 }, "queue.service.exponential")
        }
        ServiceKeys { fixed: None, exponential: None, lognormal: Some(LognormalKeys { mean, cv }) } => {
            if !(*cv > 0.0 && *cv <= 20.0) {
                let rule = "it must be above 0 (then say `fixed`) and at most 20";
                return Err(reader.impossible("queue.service.lognormal.cv", rule));
            }
            (Service::Lognormal { mean_ns: mean.0 as f64, cv: *cv }, "queue.service.lognormal.mean")
        }
        ServiceKeys { fixed: None, exponential: None, lognormal: None } => {
            let laws = "a service law: `fixed`, `exponential` or `lognormal`";
            return Err(reader.missing("queue.service.fixed", laws));
        }
        _ => {
            let rule = "a queue has one service law, and this one has several";
            return Err(reader.impossible("queue.service.fixed", rule));
        }
    };
    if law.mean_ns() == 0.0 {
        let rule = "a service that takes no time gives infinitely many a second";
        return Err(reader.impossible(mean_path, rule));
    }
    Ok(law)
}

#[derive(Debug, Clone, Copy)]
enum Service {
    Fixed { ns: f64 },
    Exponential { mean_ns: f64 },
    Lognormal { mean_ns: f64, cv: f64 },
}

impl Service {
    fn mean_ns(self) -> f64 {
        match self {
            Self::Fixed { ns: mean_ns } | Self::Exponential { mean_ns } | Self::Lognormal { mean_ns, .. } => {
                mean_ns
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct QueueSettings {
    servers: u32,
    service: Service,
}

impl Settings for QueueSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        let draw = match self.service {
            Service::Fixed { ns } => Draw::Fixed(ns),
            Service::Exponential { mean_ns } => Draw::Exponential(mean_ns),
            Service::Lognormal { mean_ns, cv } => Draw::Lognormal(
                LogNormal::from_mean_cv(mean_ns, cv).expect("mean and cv were checked when read"),
            ),
        };
        let free_ns = (0..self.servers).map(|_| Reverse(0)).collect();
        Box::new(Servers { free_ns, draw, random: stream(place.seed, "queue.service") })
    }

    fn scatters(&self) -> bool {
        !matches!(self.service, Service::Fixed { .. })
    }

    fn idle(&self, load: &Load) -> Option<IdleLatency> {
        if !Op::TRANSFERS.contains(&load.op) {
            let words = format!("nothing to do {}", units::time(REFUSAL_NS as f64));
            return Some(IdleLatency { fixed_ns: REFUSAL_NS as f64, ns_per_byte: 0.0, linear: true, words });
        }
        let mean_ns = self.service.mean_ns() * load.stretch;
        Some(IdleLatency {
            fixed_ns: mean_ns,
            ns_per_byte: 0.0,
            linear: true,
            words: format!("service {}", units::time(mean_ns)),
        })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let mean_ns = self.service.mean_ns() * load.stretch;
        let plural = if self.servers == 1 { "" } else { "s" };
        let words = format!("{} server{plural} / {}", self.servers, units::time(mean_ns));
        Some(Limit { per_s: f64::from(self.servers) * 1e9 / mean_ns, words })
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let ratio = |finding, derivation: &str| {
            let derivation = derivation.to_owned();
            Fact { finding, op: None, value: 1.0, unit: "ratio", derivation }
        };
        vec![
            ratio(FindingName::RandomVsSequential, "a plain queue does not look at addresses"),
            ratio(FindingName::StrideEffect, "a plain queue does not look at addresses"),
            ratio(FindingName::AlignmentEffect, "a plain queue does not look at addresses"),
            ratio(FindingName::MixInterference, "a plain queue does not tell reads from writes"),
            Fact {
                unit: "requests",
                value: f64::from(self.servers),
                ..ratio(FindingName::Parallelism, "as many as there are servers")
            },
        ]
    }
}

enum Draw {
    Fixed(f64),
    Exponential(f64),
    Lognormal(LogNormal<f64>),
}

struct Servers {
    /// When each server is free again, the earliest on top. The first in line always goes to that one.
    free_ns: BinaryHeap<Reverse<u64>>,
    draw: Draw,
    random: Random,
}

impl Part for Servers {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if !Op::TRANSFERS.contains(&flow[id].op) {
            return Step::Back(now_ns + REFUSAL_NS);
        }
        let service_ns = match self.draw {
            Draw::Fixed(ns) => ns,
            Draw::Exponential(mean_ns) => {
                let unit: f64 = Exp1.sample(&mut self.random);
                unit * mean_ns
            }
            Draw::Lognormal(law) => law.sample(&mut self.random),
        };
        let mut earliest: PeekMut<_> = self.free_ns.peek_mut().expect("there is at least one server");
        let end_ns = earliest.0.max(now_ns) + whole_ns(service_ns * flow[id].stretch);
        *earliest = Reverse(end_ns);
        Step::Back(end_ns)
    }
}
