//! The link between the host and the device: a command takes `latency` to arrive, bytes move at `bandwidth`.
//!
//! Law: T(b) = latency + b / bandwidth for a single request (Hockney, The Science of Computer
//! Benchmarking, 1996: t0 and r-infinity), and at most bandwidth / b requests a second. Transfers in one
//! direction go one after another; a write's bytes move on its way down, a read's on its way up. With
//! `duplex` (the default, as PCIe) the two directions do not disturb each other; without it (as SATA and USB
//! 2) they share one lane. `bandwidth` may be given for each direction apart: the wire is the same both ways, but
//! what a drive's controller moves over it need not be.
//!
//! ```toml
//! [link]
//! bandwidth = "3.5GB/s"       # or { read = "3.5GB/s", write = "3GB/s" }
//! latency = "5us"
//! duplex = true
//! ```

use iosonde_model::{
    FileError, Named, Op,
    units::{self, TimeNs},
};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    flow::{Flow, Id},
    lane::Lane,
    part::{IdleLatency, Limit, Load, Part, PartKind, PartPosition, Settings, Step},
    rates::Rates,
    reader::Reader,
};

/// Reads `[link]`.
pub(crate) struct Link;

impl Named for Link {
    fn name(&self) -> &'static str {
        "link"
    }
}

impl PartKind for Link {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[("link.bandwidth.read", "the rate of reads"), ("link.bandwidth.write", "the rate of writes")]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(link) = reader.section::<LinkKeys>("link")? else { return Ok(None) };
        if link.bandwidth.is_some_and(Rates::has_zero) {
            return Err(reader.impossible("link.bandwidth", "a link that moves nothing never ends a request"));
        }
        let LinkKeys { bandwidth, latency, duplex } = link;
        let duplex = duplex.unwrap_or(true);
        Ok(Some(Arc::new(LinkSettings { bandwidth, latency_ns: latency.0, duplex })))
    }
}

#[derive(Deserialize)]
struct LinkKeys {
    bandwidth: Option<Rates>,
    #[serde(default)]
    latency: TimeNs,
    duplex: Option<bool>,
}

#[derive(Debug, Clone, Copy)]
struct LinkSettings {
    bandwidth: Option<Rates>,
    latency_ns: u64,
    duplex: bool,
}

impl Settings for LinkSettings {
    fn build(&self, _place: &PartPosition) -> Box<dyn Part> {
        Box::new(Wire { settings: *self, lanes: [Lane::default(); 2] })
    }

    fn idle(&self, load: &Load) -> Option<IdleLatency> {
        let latency = units::time(self.latency_ns as f64);
        let bytes_per_s = self.bandwidth.map(|bandwidth| bandwidth.of(load.op).0);
        let words = match bytes_per_s {
            Some(bytes_per_s) => format!("link {latency} + b / {}", units::rate(bytes_per_s as f64)),
            None => format!("link {latency}"),
        };
        let ns_per_byte = bytes_per_s.map_or(0.0, |bytes_per_s| 1e9 / bytes_per_s as f64);
        Some(IdleLatency { fixed_ns: self.latency_ns as f64, ns_per_byte, linear: true, words })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let bytes_per_s = self.bandwidth?.of(load.op).0 as f64;
        let words =
            format!("the link, {} / {}", units::rate(bytes_per_s), units::size(load.block_size_bytes));
        Some(Limit { per_s: bytes_per_s / load.block_size_bytes as f64, words })
    }
}

struct Wire {
    settings: LinkSettings,
    lanes: [Lane; 2],
}

impl Wire {
    fn transfer(&mut self, from_ns: u64, id: Id, flow: &Flow) -> u64 {
        let request = &flow[id];
        // Failed requests move no bytes.
        let Some(bandwidth) = self.settings.bandwidth.filter(|_| request.errno == 0) else { return from_ns };
        let lane = usize::from(self.settings.duplex && request.op == Op::Write);
        self.lanes[lane].transfer(from_ns, request.length_bytes, bandwidth.of(request.op).0)
    }
}

impl Part for Wire {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        // Every command takes the same latency, so they reach the lane in the order in which they came.
        let arrived_ns = now_ns + self.settings.latency_ns;
        Step::On(if flow[id].op == Op::Write { self.transfer(arrived_ns, id, flow) } else { arrived_ns })
    }

    fn rises(&self) -> bool {
        self.settings.bandwidth.is_some()
    }

    fn up(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        Step::On(if flow[id].op == Op::Read { self.transfer(now_ns, id, flow) } else { now_ns })
    }
}
