//! A simulated device in virtual time: the way of a request, on one screen.
//!
//! Parts stand in a row, the program above and the medium below. A request goes down until a part serves it
//! (a cache that holds the data, or the medium) and then comes back up:
//!
//! ```text
//! program          each worker's processor issues one request after another
//!   page cache     answers what memory holds, takes what is written, sends it down later
//! ---------------- counted from here on, as a block layer would
//!   split          what is larger than the device takes goes down in pieces
//!   throttle       a cloud volume's token bucket
//!   network        half a round trip each way; a server's memory may answer
//!   slots          so many commands at once, the others wait
//!   link           command latency; writes move their bytes down, reads up
//!   faults         requests fail, get stuck, or find the device gone
//!   thermal, neighbour, noise
//!                  stretch the time that the medium takes
//!   queue, flash, disk, raid
//!                  the medium: servers; units with pages and a buffer; an arm over a platter; or whole devices
//! ```
//!
//! `part::PARTS` lists them in this order; a section that the file leaves out is not there.

use iosonde_model::Op;
use std::ops::Range;

use crate::{
    event::Leg,
    file::DeviceFile,
    flow::{Counters, Flow, Id},
    part::{Part, Place, Side, Step},
};

/// Request to a simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// The caller's mark, given back with the completion.
    pub tag: u64,
    /// Read, write, trim or flush. A flush has neither place nor length.
    pub op: Op,
    /// Offset of the first byte.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
    /// True if the request bypasses the page cache.
    pub direct: bool,
}

/// Completion of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The mark that was given.
    pub tag: u64,
    /// Bytes moved, or a negative errno.
    pub result: i32,
    /// Time of completion, in virtual nanoseconds.
    pub at_ns: u64,
    /// Fate of the request's data, whatever `result` says.
    pub fate: Fate,
}

/// Fate of a request's data. The device hides these faults from its host: verification has to find them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fate {
    /// Data arrived as requested.
    #[default]
    AsAsked,
    /// Write lost completely.
    Lost,
    /// Write of which only the beginning arrived.
    Torn {
        /// Bytes that arrived: whole sectors of 512 bytes, at least one and not all.
        arrived_bytes: u32,
    },
    /// A write went elsewhere.
    Misplaced {
        /// Offset at which the data arrived.
        to_bytes: u64,
    },
    /// A read was given what its place held before the last write.
    Stale,
}

/// How long the host takes to refuse a request that the device has no room for. It must not be nothing: a
/// program that asks again at once would stop virtual time.
pub(crate) const REFUSAL_NS: u64 = 1_000;

/// A simulated device with its inside. It lives on from trial to trial, as a real one does.
pub struct Device {
    file: DeviceFile,
    parts: Vec<Box<dyn Part>>,
    /// The first stage that is not in the host.
    device_begins: u8,
    flow: Flow,
    now_ns: u64,
}

impl Device {
    /// A fresh device. The same file, seed and calls give the same run to the last bit.
    pub fn new(file: &DeviceFile, seed: u64) -> Self {
        let parts: Vec<_> = (0u8..)
            .zip(file.settings())
            .map(|(stage, settings)| {
                settings.build(&Place { seed, stage, capacity_bytes: file.capacity_bytes() })
            })
            .collect();
        let device_begins = file.settings().filter(|settings| settings.side() == Side::Host).count() as u8;
        let nearest = |below: usize| (0..below).rev().find(|&i| parts[i].rises());
        let above = (0..parts.len()).map(|i| nearest(i).map_or(Leg::Out, |i| Leg::Up(i as u8))).collect();
        let processors = file.settings().map(|settings| settings.processors()).max().unwrap_or(1);
        Self { file: file.clone(), parts, device_begins, flow: Flow::new(above, processors), now_ns: 0 }
    }

    /// Hands in a request at `now_ns`; several at one instant are taken in the order of the calls. Time never
    /// goes backwards: an earlier `now_ns` counts as the latest that was given.
    pub fn submit(&mut self, now_ns: u64, ask: Ask) {
        self.submit_by(0, now_ns, ask);
    }

    /// Submits a request from one of several workers, counted from 0. Each worker runs on the next of the host's
    /// processors.
    pub fn submit_by(&mut self, worker: usize, now_ns: u64, ask: Ask) {
        self.advance(now_ns);
        let id = self.flow.open(ask, self.file.capacity_bytes());
        self.flow.asked_by(id, worker);
        self.travel(self.now_ns, id, Leg::Down(0));
    }

    /// Returns the time of the next event, internal or a completion; `None` while no request is outstanding.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.flow.ready.first().map(|done| done.at_ns).or_else(|| self.flow.events.next_ns())
    }

    /// Appends what was done at or before `now_ns`, in the order of time. A caller that goes from
    /// [`next_event_ns`](Self::next_event_ns) to the next gets one instant at a time.
    pub fn reap(&mut self, now_ns: u64, done: &mut Vec<Done>) {
        self.advance(now_ns);
        done.append(&mut self.flow.ready);
    }

    /// Returns the totals since the device was made.
    pub fn counters(&self) -> Counters {
        self.flow.counters
    }

    /// Returns the busy time of each of the host's processors.
    pub fn busy_ns(&self) -> Vec<u64> {
        self.flow.busy_ns()
    }

    /// Returns the capacity.
    pub fn capacity_bytes(&self) -> u64 {
        self.file.capacity_bytes()
    }

    /// The file it was made from.
    pub fn file(&self) -> &DeviceFile {
        &self.file
    }

    /// Bytes of a range that the simulated host's page cache holds: the witness that `cachestat` would be.
    /// `None` where there is no page cache.
    pub fn resident_bytes(&self, range: Range<u64>) -> Option<u64> {
        self.parts.iter().find_map(|part| part.resident_bytes(&range))
    }

    /// Returns true if reads may return older versions of the data, which the caller must then keep.
    pub fn serves_old_versions(&self) -> bool {
        self.file.settings().any(|settings| settings.serves_old_versions())
    }

    /// Processor time that a request costs the program. It already passes inside the device, where requests
    /// wait for their worker's processor; a driver books it as busy time and must not move its clock by
    /// it.
    pub fn host_cost_ns(&self, op: Op) -> u64 {
        self.file.settings().map(|settings| settings.host_cost_ns(op)).sum()
    }

    /// Everything due happens, in order; so asking often or seldom changes nothing.
    fn advance(&mut self, now_ns: u64) {
        while let Some(event) = self.flow.events.pop_due(now_ns) {
            self.now_ns = event.at_ns();
            self.travel(self.now_ns, event.id, event.leg);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Takes a request from part to part until it has to wait or is back at the program.
    fn travel(&mut self, now_ns: u64, id: Id, mut leg: Leg) {
        loop {
            let step = match leg {
                Leg::Down(stage) => {
                    if stage == self.device_begins && !self.flow.enter_device(now_ns, id) {
                        Step::Back(now_ns + REFUSAL_NS)
                    } else {
                        self.parts[usize::from(stage)].down(now_ns, id, &mut self.flow)
                    }
                }
                Leg::Up(stage) => {
                    if stage < self.device_begins {
                        self.flow.leave_device(now_ns, id);
                    }
                    self.parts[usize::from(stage)].up(now_ns, id, &mut self.flow)
                }
                Leg::Out => {
                    self.flow.leave_device(now_ns, id);
                    return self.flow.finish(now_ns, id);
                }
                Leg::Wake(stage) => return self.parts[usize::from(stage)].wake(now_ns, id, &mut self.flow),
            };
            let (at_ns, next) = match (step, leg) {
                (Step::On(at_ns), Leg::Down(stage)) => (at_ns, Leg::Down(stage + 1)),
                (Step::On(at_ns) | Step::Back(at_ns), Leg::Down(stage) | Leg::Up(stage)) => {
                    (at_ns, self.flow.leg_above(stage))
                }
                (Step::Kept, _) => return,
                (_, Leg::Out | Leg::Wake(_)) => unreachable!("these have returned above"),
            };
            if at_ns > now_ns {
                return self.flow.events.push(at_ns, id, next);
            }
            leg = next;
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({} at {} ns, {:?})", self.file.name(), self.now_ns, self.flow.counters)
    }
}
