//! The program that makes requests: processors, which spend the same time on every request of a kind.
//!
//! Law: a serial stage. A request leaves `request_cost` after both its arrival and the departure of the one
//! before it, so the program issues at most 1 / `request_cost` requests a second and adds `request_cost` to a
//! single request. (The service demand at a queueing station of rate one: Lazowska et al.,
//! Quantitative System Performance, 1984, chapter 3.)
//!
//! One worker never has more than one processor. Of several, each runs on the next of `processors`, and those that
//! share one wait for each other: n workers issue at most min(n, `processors`) / `request_cost` a second. Each of
//! several hosts has so many.
//!
//! ```toml
//! [host]
//! request_cost = "1.5us"      # or { read = "1.5us", write = "2us" }
//! processors = 1              # that several workers run on
//! ```

use iosonde_model::{
    FileError, Named, Op,
    units::{self, TimeNs},
};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    flow::{Flow, Id},
    part::{IdleLatency, Limit, Load, Part, PartKind, PartPosition, Settings, Side, Step},
    rates::ReadWrite,
    reader::Reader,
};

/// More than any machine that a profile stands for.
const PROCESSORS_MAX: u64 = 1024;

/// Reads `[host]`.
pub(crate) struct Program;

impl Named for Program {
    fn name(&self) -> &'static str {
        "program"
    }
}

impl PartKind for Program {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("host.request_cost.read", "the cost of a read"),
            ("host.request_cost.write", "the cost of a write"),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(host) = reader.section::<HostKeys>("host")? else { return Ok(None) };
        let Some(cost) = host.request_cost else {
            let pointless = "processors share what requests cost, and there is no request_cost";
            return host
                .processors
                .map_or(Ok(None), |_| Err(reader.impossible("host.processors", pointless)));
        };
        let processors = host.processors.unwrap_or(1);
        if !(1..=PROCESSORS_MAX).contains(&processors) {
            return Err(reader.impossible("host.processors", "a machine has between 1 and 1024 of them"));
        }
        let (read_ns, write_ns) = (cost.of(Op::Read).0, cost.of(Op::Write).0);
        Ok(Some(Arc::new(ProgramSettings { read_ns, write_ns, processors: processors as usize })))
    }
}

#[derive(Deserialize)]
struct HostKeys {
    processors: Option<u64>,
    request_cost: Option<ReadWrite<TimeNs>>,
}

#[derive(Debug, Clone, Copy)]
struct ProgramSettings {
    read_ns: u64,
    write_ns: u64,
    processors: usize,
}

impl Settings for ProgramSettings {
    fn side(&self) -> Side {
        Side::Host
    }

    fn build(&self, _place: &PartPosition) -> Box<dyn Part> {
        Box::new(Working { settings: *self })
    }

    fn host_cost_ns(&self, op: Op) -> u64 {
        match op {
            Op::Read => self.read_ns,
            Op::Write | Op::Trim | Op::Flush => self.write_ns,
        }
    }

    fn processors(&self) -> usize {
        self.processors
    }

    fn idle(&self, load: &Load) -> Option<IdleLatency> {
        let cost_ns = self.host_cost_ns(load.op) as f64;
        Some(IdleLatency {
            fixed_ns: cost_ns,
            ns_per_byte: 0.0,
            linear: true,
            words: format!("program {}", units::time(cost_ns)),
        })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let cost_ns = self.host_cost_ns(load.op) as f64;
        let words = format!("the program, 1 / {}", units::time(cost_ns));
        (cost_ns > 0.0).then(|| Limit { per_s: 1e9 / cost_ns, words })
    }
}

struct Working {
    settings: ProgramSettings,
}

impl Part for Working {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let cost_ns = self.settings.host_cost_ns(flow[id].op);
        Step::On(flow.compute_for(now_ns, id, cost_ns))
    }
}
