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
//! * a random read of b bytes that is alone therefore takes average + T / 2 + 2 b / (outer + inner) on
//!   average, and reads in sequence go at the rate of their place;
//! * with a `cache`, the head reads on after a read until it is needed elsewhere: a read that goes on where
//!   the last one ended, by at most the cache's size, takes what has passed by meanwhile. Writes are done
//!   when they are on the platter (the write cache is off);
//! * of the first `slots` requests in line the next is the oldest (`fifo`), or that which the head can begin
//!   soonest (`sptf`, shortest positioning time first: Jacobson and Wilkes, 1991).
//!
//! ```toml
//! [disk]
//! rpm = 7200
//! seek = { track = "0.6ms", average = "8.5ms" }
//! outer = "210MB/s"
//! inner = "105MB/s"
//! cache = "64MiB"
//! queue = { slots = 32, policy = "fifo" }
//! ```

mod platter;

use iosonde_model::{Named, Op, units};
use std::{collections::VecDeque, sync::Arc};

use crate::{
    event::Leg,
    file::{DeviceError, Reader, Section},
    flow::{Flow, Id},
    part::{Fact, Idle, Law, Limit, Load, Part, PartKind, Place, Settings, Side, Step},
    random::whole_ns,
};
use platter::Platter;

/// Reads `[disk]`.
pub(crate) struct Disk;

impl Named for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }
}

impl PartKind for Disk {
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, DeviceError> {
        let capacity_bytes = reader.capacity_bytes;
        let Some(mut disk) = reader.section("disk") else { return Ok(None) };
        let rpm = disk.count("rpm")?.ok_or_else(|| disk.missing("rpm", "turns a minute"))?;
        if !(100..=100_000).contains(&rpm) {
            return Err(disk.impossible("rpm", "it lies between 100 and 100,000 turns a minute"));
        }
        let (track_ns, average_ns) = match disk.table("seek") {
            Some(mut seek) => read_seek(&mut seek)?,
            None => {
                return Err(
                    disk.missing("seek", "a table such as { track = \"0.6ms\", average = \"8.5ms\" }")
                );
            }
        };
        let outer = disk.rate("outer")?.ok_or_else(|| disk.missing("outer", "the rate at the outer edge"))?;
        let inner = disk.rate("inner")?.ok_or_else(|| disk.missing("inner", "the rate at the inner edge"))?;
        if inner == 0 || inner > outer {
            return Err(
                disk.impossible("inner", "it is above 0 and not above `outer`: inner tracks are shorter")
            );
        }
        let cache_bytes = disk.size_bytes("cache")?.unwrap_or(0);
        let line = disk.table("queue").map(|mut queue| read_line(&mut queue)).transpose()?;
        let turn_ns = 60e9 / rpm as f64;
        let platter = Platter::new(capacity_bytes, turn_ns, outer as f64, inner as f64, track_ns, average_ns);
        let (slots, shortest_first) = line.unwrap_or((1, false));
        Ok(Some(Arc::new(DiskSettings { platter, average_ns, cache_bytes, slots, shortest_first })))
    }
}

fn read_seek(seek: &mut Section) -> Result<(f64, f64), DeviceError> {
    let track_ns = seek.time_ns("track")?.ok_or_else(|| seek.missing("track", "to the next track"))?;
    let average_ns =
        seek.time_ns("average")?.ok_or_else(|| seek.missing("average", "between random addresses"))?;
    if average_ns < track_ns {
        return Err(seek.impossible("average", "it is at least that to the next track"));
    }
    Ok((track_ns as f64, average_ns as f64))
}

fn read_line(queue: &mut Section) -> Result<(usize, bool), DeviceError> {
    let slots = queue.count("slots")?.unwrap_or(32);
    if !(1..=1024).contains(&slots) {
        return Err(queue.impossible("slots", "there must be between 1 and 1,024"));
    }
    match queue.text("policy")?.as_deref() {
        None | Some("fifo") => Ok((slots as usize, false)),
        Some("sptf") => Ok((slots as usize, true)),
        Some(_) => Err(queue.impossible("policy", "it is \"fifo\" or \"sptf\"")),
    }
}

#[derive(Debug, Clone, Copy)]
struct DiskSettings {
    platter: Platter,
    average_ns: f64,
    cache_bytes: u64,
    slots: usize,
    shortest_first: bool,
}

impl DiskSettings {
    fn mean_rate(&self) -> f64 {
        (self.platter.outer + self.platter.inner) / 2.0
    }
}

impl Settings for DiskSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &Place) -> Box<dyn Part> {
        Box::new(Arm {
            settings: *self,
            stage: place.stage,
            waiting: VecDeque::new(),
            working: false,
            head_turns: 0.0,
            read_end_bytes: None,
            end_ns: 0,
            exact_end_ns: 0.0,
        })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn idle(&self, load: &Load) -> Option<Idle> {
        let turn_ns = self.platter.turn_ns;
        let words = format!(
            "mean seek {} + half a turn {} + b / {}",
            units::time(self.average_ns),
            units::time(turn_ns / 2.0),
            units::rate(self.mean_rate())
        );
        let fixed_ns = (self.average_ns + turn_ns / 2.0) * load.stretch;
        Some(Idle { fixed_ns, ns_per_byte: 1e9 / self.mean_rate() * load.stretch, linear: true, words })
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
        let alone = self.idle(load)?;
        let ns = alone.fixed_ns + alone.ns_per_byte * load.block_size_bytes as f64;
        Some(Limit { per_s: 1e9 / ns, words: format!("one after another, 1 / ({})", alone.words) })
    }

    fn no_closed_form(&self, load: &Load, law: Law) -> Option<&'static str> {
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
        vec![
            fact("rotation_period", turn_ns, "ns", format!("60 s / {rpm:.0}")),
            fact("seek_time_average", self.average_ns, "ns", "as set, over the whole disk".to_owned()),
            fact(
                "zone_ratio",
                outer / inner,
                "ratio",
                format!("{} / {}", units::rate(outer), units::rate(inner)),
            ),
        ]
    }
}

struct Arm {
    settings: DiskSettings,
    stage: u8,
    waiting: VecDeque<Id>,
    working: bool,
    /// Where the head stands, in turns from the outer edge.
    head_turns: f64,
    /// Where the last request ended, if it was a read and the head is reading on.
    read_end_bytes: Option<u64>,
    /// When the last request ended: as an event, and to the fraction of a nanosecond, without which a pass
    /// over the disk would drift off the platter's angle.
    end_ns: u64,
    exact_end_ns: f64,
}

impl Part for Arm {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        self.waiting.push_back(id);
        if !self.working {
            self.start_next(now_ns, flow);
        }
        Step::Kept
    }

    fn wake(&mut self, now_ns: u64, _token: u32, flow: &mut Flow) {
        self.working = false;
        self.start_next(now_ns, flow);
    }
}

impl Arm {
    fn start_next(&mut self, now_ns: u64, flow: &mut Flow) {
        let Some(place) = self.choose(now_ns, flow) else { return };
        let id = self.waiting.remove(place).expect("it was just chosen from the line");
        let request = &flow[id];
        let (from, bytes) = (request.offset_bytes, u64::from(request.length_bytes));
        let platter = &self.settings.platter;
        let (begin_turns, end_turns) = (platter.turns(from), platter.turns(from + bytes));
        let begin_ns = self.exact(now_ns);
        let exact_end_ns = if self.reads_on(request.op, from, bytes) {
            // The head has read on since the last read ended: what has passed by is there.
            (self.exact_end_ns + (end_turns - self.head_turns) * platter.turn_ns).max(begin_ns)
        } else {
            let ready_ns = begin_ns + platter.positioning_ns(begin_ns, self.head_turns, begin_turns);
            ready_ns + (end_turns - begin_turns) * platter.turn_ns
        };
        self.exact_end_ns = begin_ns + (exact_end_ns - begin_ns) * request.stretch;
        self.end_ns = whole_ns(self.exact_end_ns).max(now_ns);
        let end_ns = self.end_ns;
        self.read_end_bytes = (request.op == Op::Read).then_some(from + bytes);
        self.head_turns = end_turns;
        self.working = true;
        flow.events.push(end_ns, id, flow.leg_above(self.stage));
        flow.events.push(end_ns, 0, Leg::Wake(self.stage));
    }

    /// A moment, to the fraction of a nanosecond where it is the last request's end.
    fn exact(&self, now_ns: u64) -> f64 {
        if now_ns == self.end_ns { self.exact_end_ns } else { now_ns as f64 }
    }

    fn reads_on(&self, op: Op, from: u64, bytes: u64) -> bool {
        op == Op::Read && self.read_end_bytes == Some(from) && bytes <= self.settings.cache_bytes
    }

    /// The place in line of the request that is served next.
    fn choose(&self, now_ns: u64, flow: &Flow) -> Option<usize> {
        if !self.settings.shortest_first {
            return (!self.waiting.is_empty()).then_some(0);
        }
        let platter = &self.settings.platter;
        let begin_ns = self.exact(now_ns);
        let cost = |id: &Id| {
            let request = &flow[*id];
            if self.reads_on(request.op, request.offset_bytes, u64::from(request.length_bytes)) {
                return 0.0;
            }
            platter.positioning_ns(begin_ns, self.head_turns, platter.turns(request.offset_bytes))
        };
        let costs = self.waiting.iter().take(self.settings.slots).map(cost).enumerate();
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
    }
}
