//! Snapshot: a volume that was made from a snapshot, and whose data come from elsewhere when they are first touched.
//!
//! Law: a request continues once every chunk that it touches is there. A chunk that is not there is fetched whole:
//! `latency` for the store to answer, and its bytes one chunk after another at `bandwidth`. So the first request of a
//! chunk takes latency + chunk / bandwidth longer than a later one, and first reads of a whole volume move at
//! `bandwidth` / (1 - `present`) at most. Each chunk is there from the start with probability `present`, drawn from the
//! device's seed. A write that covers a chunk whole needs nothing of what was there.
//!
//! Seen by `iosonde cold`, and by drift where a run reads what it has not written.
//!
//! ```toml
//! [snapshot]
//! chunk = "512KiB"
//! latency = "10ms"
//! bandwidth = "60MB/s"
//! present = "25%"             # default 0%
//! ```

use iosonde_model::{
    FileError, Named, Op,
    units::{BytesPerSecond, Share, SizeBytes, TimeNs},
};
use rand::RngExt;
use serde::Deserialize;
use std::{collections::HashMap, sync::Arc};

use crate::{
    flow::{Flow, Id},
    lane::Lane,
    part::{Law, Load, Part, PartKind, PartPosition, Settings, Step},
    random::{Random, stream},
    reader::Reader,
};

/// Reads `[snapshot]`.
pub(crate) struct Snapshot;

impl Named for Snapshot {
    fn name(&self) -> &'static str {
        "snapshot"
    }
}

#[derive(Deserialize)]
struct SnapshotKeys {
    chunk: SizeBytes,
    latency: TimeNs,
    bandwidth: BytesPerSecond,
    #[serde(default)]
    present: Share,
}

impl PartKind for Snapshot {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("snapshot.chunk", "what is fetched at once, such as \"512KiB\""),
            ("snapshot.latency", "how long the store takes to answer, such as \"10ms\""),
            ("snapshot.bandwidth", "the rate of all that is fetched, such as \"60MB/s\""),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(keys) = reader.section::<SnapshotKeys>("snapshot")? else { return Ok(None) };
        let chunk_bytes = match u32::try_from(keys.chunk.0) {
            Ok(bytes) if bytes >= SECTOR_BYTES => bytes,
            _ => return Err(reader.impossible("snapshot.chunk", "it is 512 B at least, and less than 4 GiB")),
        };
        if keys.bandwidth.0 == 0 {
            return Err(reader.impossible("snapshot.bandwidth", "what moves nothing never ends a request"));
        }
        Ok(Some(Arc::new(SnapshotSettings {
            chunk_bytes,
            latency_ns: keys.latency.0,
            bytes_per_s: keys.bandwidth.0,
            present_share: keys.present.0,
        })))
    }
}

/// Smallest part of an address space.
const SECTOR_BYTES: u32 = 512;

#[derive(Debug, Clone, Copy)]
struct SnapshotSettings {
    chunk_bytes: u32,
    latency_ns: u64,
    bytes_per_s: u64,
    present_share: f64,
}

impl Settings for SnapshotSettings {
    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        Box::new(Restored {
            settings: *self,
            lane: Lane::default(),
            random: stream(place.seed, "snapshot.present"),
            there_ns: HashMap::new(),
        })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn wanders(&self) -> Option<&'static str> {
        Some("what is touched for the first time is fetched")
    }

    fn no_closed_form(&self, _load: &Load, _law: Law) -> Option<&'static str> {
        Some("a request waits for what it is the first to touch")
    }
}

struct Restored {
    settings: SnapshotSettings,
    lane: Lane,
    random: Random,
    /// When each chunk that was touched is there.
    there_ns: HashMap<u64, u64>,
}

impl Restored {
    /// When a chunk is there, fetched now if it is not.
    fn there_ns(&mut self, now_ns: u64, chunk: u64) -> u64 {
        let SnapshotSettings { chunk_bytes, latency_ns, bytes_per_s, present_share } = self.settings;
        let (lane, random) = (&mut self.lane, &mut self.random);
        *self.there_ns.entry(chunk).or_insert_with(|| {
            // Drawn at the first touch: the chunks are independent, so that the order of touching does not matter.
            let is_there = random.random_bool(present_share);
            if is_there { 0 } else { lane.transfer(now_ns + latency_ns, chunk_bytes, bytes_per_s) }
        })
    }
}

impl Part for Restored {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = &flow[id];
        if !Op::TRANSFERS.contains(&request.op) {
            return Step::On(now_ns);
        }
        let (op, from_bytes) = (request.op, request.offset_bytes);
        let to_bytes = from_bytes + u64::from(request.length_bytes);
        let chunk_bytes = u64::from(self.settings.chunk_bytes);
        let mut ready_ns = now_ns;
        for chunk in from_bytes / chunk_bytes..to_bytes.div_ceil(chunk_bytes) {
            let (begin, end) = (chunk * chunk_bytes, (chunk + 1) * chunk_bytes);
            if op == Op::Write && from_bytes <= begin && end <= to_bytes {
                self.there_ns.entry(chunk).or_insert(now_ns);
            } else {
                ready_ns = ready_ns.max(self.there_ns(now_ns, chunk));
            }
        }
        Step::On(ready_ns)
    }
}
