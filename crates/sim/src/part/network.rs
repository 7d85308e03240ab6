//! Network storage: a round trip, a wire, and a server that may remember.
//!
//! Laws: a single request takes `round_trip` + b / `bandwidth` more, half of the trip each way; a
//! write's bytes move on the way there, a read's on the way back, each direction one after another. With a
//! `server_cache` of C bytes the server answers reads of what it holds without its medium: uniformly random
//! reads of a span W > C in a share C / W of all cases (second chance replacement, pages of 4 KiB). Writes
//! reach the medium before they are acknowledged (as NFS with sync), and what was written or read is held.
//!
//! ```toml
//! [network]
//! round_trip = "0.4ms"
//! bandwidth = "118MB/s"
//! server_cache = "8GiB"
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, BytesPerSecond, SizeBytes, TimeNs},
};
use serde::Deserialize;
use std::{collections::HashMap, sync::Arc};

use crate::{
    event::Leg,
    flow::{Flow, Id},
    lane::Lane,
    pages::{PAGE_BYTES, PAGED_CAPACITY_LIMIT_BYTES, Pages, pages_of},
    part::{Fact, IdleLatency, Law, Limit, Load, Part, PartKind, PartPosition, Settings, Step},
    reader::Reader,
};

/// Reads `[network]`.
pub(crate) struct Network;

impl Named for Network {
    fn name(&self) -> &'static str {
        "network"
    }
}

impl PartKind for Network {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[("network.round_trip", "such as \"0.4ms\""), ("network.bandwidth", "such as \"118MB/s\"")]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(network) = reader.section::<NetworkKeys>("network")? else { return Ok(None) };
        if network.bandwidth.0 == 0 {
            return Err(
                reader.impossible("network.bandwidth", "a wire that moves nothing never ends a request")
            );
        }
        let server_cache_bytes = network.server_cache.map(|size| size.0);
        if server_cache_bytes.is_some_and(|bytes| bytes < PAGE_BYTES) {
            return Err(reader.impossible("network.server_cache", "it holds at least one page of 4KiB"));
        }
        if server_cache_bytes.is_some() && reader.capacity_bytes >= PAGED_CAPACITY_LIMIT_BYTES {
            return Err(reader.impossible("network.server_cache", "it is simulated for devices below 16TiB"));
        }
        let (round_trip_ns, bytes_per_s) = (network.round_trip.0, network.bandwidth.0);
        Ok(Some(Arc::new(NetworkSettings { round_trip_ns, bytes_per_s, server_cache_bytes })))
    }
}

#[derive(Deserialize)]
struct NetworkKeys {
    round_trip: TimeNs,
    bandwidth: BytesPerSecond,
    server_cache: Option<SizeBytes>,
}

#[derive(Debug, Clone, Copy)]
struct NetworkSettings {
    round_trip_ns: u64,
    bytes_per_s: u64,
    server_cache_bytes: Option<u64>,
}

impl Settings for NetworkSettings {
    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        let pages = self.server_cache_bytes.map(|bytes| Pages::new((bytes / PAGE_BYTES) as usize));
        Box::new(Wire {
            settings: *self,
            stage: place.stage,
            there: Lane::default(),
            back: Lane::default(),
            pages,
            sent: HashMap::new(),
        })
    }

    fn scatters(&self) -> bool {
        self.server_cache_bytes.is_some()
    }

    fn idle(&self, _load: &Load) -> Option<IdleLatency> {
        let (trip, rate) = (units::time(self.round_trip_ns as f64), units::rate(self.bytes_per_s as f64));
        let words = format!("round trip {trip} + b / {rate}");
        Some(IdleLatency {
            fixed_ns: self.round_trip_ns as f64,
            ns_per_byte: 1e9 / self.bytes_per_s as f64,
            linear: true,
            words,
        })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let rate = self.bytes_per_s as f64;
        let words = format!("the network, {} / {}", units::rate(rate), units::size(load.block_size_bytes));
        Some(Limit { per_s: rate / load.block_size_bytes as f64, words })
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let fact = |finding, value, unit, derivation: &str| Fact {
            finding,
            op: Some(Op::Read),
            value,
            unit,
            derivation: derivation.to_owned(),
        };
        let Some(bytes) = self.server_cache_bytes else { return Vec::new() };
        let trip = "as set; the server's memory answers at once";
        vec![
            fact(FindingName::CacheBytes, bytes as f64, "B", "the server's memory"),
            fact(FindingName::NetworkRoundTrip, self.round_trip_ns as f64, "ns", trip),
        ]
    }

    fn caveat(&self, load: &Load, _law: Law) -> Option<String> {
        self.server_cache_bytes
            .filter(|_| load.op == Op::Read)
            .map(|bytes| format!("reads that the server's {} of memory do not answer", units::size(bytes)))
    }
}

struct Wire {
    settings: NetworkSettings,
    stage: u8,
    there: Lane,
    back: Lane,
    pages: Option<Pages>,
    /// Time at which each outstanding request was sent.
    sent: HashMap<Id, u64>,
}

impl Part for Wire {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let NetworkSettings { round_trip_ns, bytes_per_s, .. } = self.settings;
        self.sent.insert(id, now_ns);
        let request = &flow[id];
        let sent_ns = match request.op {
            Op::Write => self.there.transfer(now_ns, request.length_bytes, bytes_per_s),
            Op::Read | Op::Trim | Op::Flush => now_ns,
        };
        let arrived_ns = sent_ns + round_trip_ns / 2;
        if let (Op::Trim, Some(pages)) = (request.op, &mut self.pages) {
            pages_of(request.offset_bytes, request.length_bytes).for_each(|page| pages.remove(page));
        }
        if let (Op::Read, Some(pages)) = (request.op, &mut self.pages) {
            let asked = pages_of(request.offset_bytes, request.length_bytes);
            if asked.clone().all(|page| pages.holds(page)) {
                asked.for_each(|page| pages.touch(page));
                flow.events.push(arrived_ns, id, Leg::Up(self.stage));
                return Step::Kept;
            }
        }
        Step::On(arrived_ns)
    }

    fn rises(&self) -> bool {
        true
    }

    fn up(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = &flow[id];
        let failed = request.errno != 0;
        let moved = !failed && Op::TRANSFERS.contains(&request.op);
        if let Some(pages) = self.pages.as_mut().filter(|_| moved) {
            pages_of(request.offset_bytes, request.length_bytes).for_each(|page| pages.insert(page));
        }
        let sent_ns = match request.op {
            Op::Read if !failed => {
                self.back.transfer(now_ns, request.length_bytes, self.settings.bytes_per_s)
            }
            _ => now_ns,
        };
        // Rounded up: the way there was rounded down where the round trip is odd.
        let back_ns = sent_ns + self.settings.round_trip_ns.div_ceil(2);
        if let Some(at_ns) = self.sent.remove(&id).filter(|_| moved) {
            flow.counters.network_requests += 1;
            flow.counters.network_waited_ns += back_ns - at_ns;
        }
        Step::On(back_ns)
    }
}
