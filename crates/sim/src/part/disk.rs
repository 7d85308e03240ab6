//! A rotating disk as the medium: one arm, one head over a turning platter.
//!
//! Laws, with x from 0 (outer edge, the first address) to 1 (inner edge), and T = 60 s / `rpm`:
//! * a seek over a share d of the stroke takes `seek.track` + c sqrt(d), and nothing for d = 0; c is chosen
//!   so that the mean over random addresses of the whole disk is `seek.average` (Ruemmler and Wilkes, An
//!   Introduction to Disk Drive Modeling, 1994: the square root is the acceleration's);
//! * then the platter turns until the first sector is under the head: T / 2 on average for random addresses;
//! * bytes pass at a rate that falls linearly with x from `outer` to `inner`, so that the address at x is the
//!   share (outer x - (outer - inner) x^2 / 2) / ((outer + inner) / 2) of the capacity; tracks are skewed so
//!   that a pass over many of them loses nothing;
//! * a single random read of b bytes therefore takes average + T / 2 + 2 b / (outer + inner) on
//!   average, and sequential reads have the bandwidth of their place;
//! * with a `cache`, the head reads on after a read until it is needed elsewhere: a read that goes on where
//!   the last one ended, by at most the cache's size, takes what has passed by meanwhile;
//! * writes are done when they are on the platter. With a `write_cache` they are done 1 us after they have come, as
//!   long as that has room, and reach the platter when no other request is queued, or when a write waits for room; a
//!   flush is done when all that the cache held when it came is on the platter. (Reads of what is in the cache
//!   still go to the platter: a second copy is rare in a measurement.) Trims take 1 us and do nothing;
//! * of the first `slots` queued requests the next is the oldest (`fifo`), or that which the head can begin
//!   soonest (`sptf`, shortest positioning time first: Jacobson and Wilkes, 1991).
//!
//! ```toml
//! [disk]
//! rpm = 7200
//! seek = { track = "0.6ms", average = "8.5ms" }
//! outer = "210MB/s"
//! inner = "105MB/s"
//! cache = "64MiB"
//! write_cache = "32MiB"       # left out: off
//! queue = { slots = 32, policy = "fifo" }
//! ```

mod arm;
mod platter;
mod settings;
mod write_cache;

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, BytesPerSecond, SizeBytes, TimeNs},
};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    part::{Burst, Fact, IdleLatency, Law, Limit, Load, Part, PartKind, PartPosition, Settings, Side},
    reader::Reader,
    request::REFUSAL_NS,
};
use arm::Arm;
use platter::Platter;
use settings::DiskSettings;

/// Reads `[disk]`.
pub(crate) struct Disk;

impl Named for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }
}

impl PartKind for Disk {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("disk.rpm", "turns a minute"),
            ("disk.seek", "a table such as { track = \"0.6ms\", average = \"8.5ms\" }"),
            ("disk.seek.track", "to the next track"),
            ("disk.seek.average", "between random addresses"),
            ("disk.outer", "the rate at the outer edge"),
            ("disk.inner", "the rate at the inner edge"),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(disk) = reader.section::<DiskKeys>("disk")? else { return Ok(None) };
        if !(100..=100_000).contains(&disk.rpm) {
            return Err(reader.impossible("disk.rpm", "it lies between 100 and 100,000 turns a minute"));
        }
        let (track, average) = (disk.seek.track, disk.seek.average);
        if average < track {
            return Err(reader.impossible("disk.seek.average", "it is at least that to the next track"));
        }
        if disk.inner.0 == 0 || disk.inner > disk.outer {
            let rule = "it is above 0 and not above `outer`: inner tracks are shorter";
            return Err(reader.impossible("disk.inner", rule));
        }
        let write_cache_bytes = disk.write_cache.map(|size| size.0);
        if write_cache_bytes.is_some_and(|bytes| bytes < 1 << 16) {
            let rule = "it holds at least 64KiB; leave it out to turn it off";
            return Err(reader.impossible("disk.write_cache", rule));
        }
        let slots = disk.queue.as_ref().map_or(1, |queue| queue.slots.unwrap_or(32));
        if !(1..=1024).contains(&slots) {
            return Err(reader.impossible("disk.queue.slots", "there must be between 1 and 1,024"));
        }
        let shortest_first = disk.queue.is_some_and(|queue| matches!(queue.policy, LinePolicy::Sptf));
        let [track_ns, average_ns] = [track, average].map(|time| time.0 as f64);
        let [outer, inner] = [disk.outer, disk.inner].map(|rate| rate.0 as f64);
        let turn_ns = 60e9 / disk.rpm as f64;
        let platter = Platter::new(reader.capacity_bytes, turn_ns, outer, inner, track_ns, average_ns);
        let (cache_bytes, slots) = (disk.cache.0, slots as usize);
        let settings =
            DiskSettings { platter, average_ns, cache_bytes, write_cache_bytes, slots, shortest_first };
        Ok(Some(Arc::new(settings)))
    }
}

#[derive(Deserialize)]
struct DiskKeys {
    rpm: u64,
    seek: SeekKeys,
    outer: BytesPerSecond,
    inner: BytesPerSecond,
    #[serde(default)]
    cache: SizeBytes,
    write_cache: Option<SizeBytes>,
    queue: Option<QueueKeys>,
}

#[derive(Deserialize)]
struct SeekKeys {
    track: TimeNs,
    average: TimeNs,
}

#[derive(Deserialize)]
struct QueueKeys {
    slots: Option<u64>,
    #[serde(default)]
    policy: LinePolicy,
}

/// Order in which waiting requests are served.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LinePolicy {
    #[default]
    Fifo,
    Sptf,
}

impl Settings for DiskSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        Box::new(Arm::new(*self, place.stage))
    }

    fn scatters(&self) -> bool {
        true
    }

    fn idle(&self, load: &Load) -> Option<IdleLatency> {
        if !Op::TRANSFERS.contains(&load.op) || self.is_cached(load.op) {
            let words = format!("the disk's electronics {}", units::time(REFUSAL_NS as f64));
            return Some(IdleLatency { fixed_ns: REFUSAL_NS as f64, ns_per_byte: 0.0, linear: true, words });
        }
        let turn_ns = self.platter.turn_ns;
        let words = format!(
            "mean seek {} + half a turn {} + b / {}",
            units::time(self.average_ns),
            units::time(turn_ns / 2.0),
            units::rate(self.mean_rate())
        );
        let fixed_ns = (self.average_ns + turn_ns / 2.0) * load.stretch;
        Some(IdleLatency {
            fixed_ns,
            ns_per_byte: 1e9 / self.mean_rate() * load.stretch,
            linear: true,
            words,
        })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        if !load.random {
            let words = format!(
                "the outer edge, {} / {}",
                units::rate(self.platter.outer),
                units::size(load.block_size_bytes)
            );
            return Some(Limit {
                per_s: self.platter.outer / load.block_size_bytes as f64 / load.stretch,
                words,
            });
        }
        let alone = self.idle(&Load { op: Op::Read, ..*load })?;
        let ns = alone.fixed_ns + alone.ns_per_byte * load.block_size_bytes as f64;
        Some(Limit { per_s: 1e9 / ns, words: format!("one after another, 1 / ({})", alone.words) })
    }

    fn bursts(&self, _load: &Load) -> Vec<Burst> {
        let burst = |bytes: u64| Burst {
            limit: None,
            words: format!("until the write cache of {} is full", units::size(bytes)),
        };
        self.write_cache_bytes.map(burst).into_iter().collect()
    }

    fn no_closed_form(&self, load: &Load, law: Law) -> Option<&'static str> {
        let appends =
            law == Law::Alone && !load.random && (load.op == Op::Write || self.is_cached(Op::Write));
        if appends {
            return Some("what follows a write in sequence waits for the platter to come round");
        }
        let reorders = law == Law::Most && self.shortest_first && self.slots > 1 && load.random;
        reorders.then_some(
            "the disk takes the nearest of several requests first, which only a simulation can follow",
        )
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let fact =
            |finding, value, unit, derivation: String| Fact { finding, op: None, value, unit, derivation };
        let Platter { turn_ns, outer, inner, .. } = self.platter;
        let rpm = 60e9 / turn_ns;
        let mut facts = vec![
            fact(FindingName::RotationPeriod, turn_ns, "ns", format!("60 s / {rpm:.0}")),
            fact(
                FindingName::SeekTimeAverage,
                self.average_ns,
                "ns",
                "as set, over the whole disk".to_owned(),
            ),
            fact(
                FindingName::ZoneRatio,
                outer / inner,
                "ratio",
                format!("{} / {}", units::rate(outer), units::rate(inner)),
            ),
        ];
        let derivation = "a seek and the wait for a sector are the same at every offset".to_owned();
        facts.push(Fact {
            op: Some(Op::Read),
            ..fact(FindingName::AlignmentEffect, 1.0, "ratio", derivation)
        });
        if let Some(bytes) = self.write_cache_bytes {
            let derivation = "as set; what reaches the platter meanwhile comes on top".to_owned();
            facts.push(Fact {
                op: Some(Op::Write),
                ..fact(FindingName::WriteBufferBytes, bytes as f64, "B", derivation)
            });
        }
        facts
    }
}
