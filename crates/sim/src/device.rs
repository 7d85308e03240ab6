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
//!   fake           data are lost that the device has no room for
//!   snapshot       what is touched for the first time is fetched
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
    event::{Event, Leg},
    fake::FakeCapacity,
    file::DeviceFile,
    flow::{Counters, Flow, Id},
    part::{Part, PartPosition, Side, Step},
    request::{Ask, Done, REFUSAL_NS, Worker},
};

/// A simulated device and its internal state, which persists from trial to trial as that of a real one does.
pub struct Device {
    file: DeviceFile,
    parts: Vec<Box<dyn Part>>,
    /// The first stage that is not in the host.
    device_begins: u8,
    flow: Flow,
    now_ns: u64,
    /// Events that have happened.
    steps: u64,
}

impl Device {
    /// Makes a device in the start state of its file. Equal files, seeds and calls give bit-identical results.
    pub fn new(file: &DeviceFile, seed: u64) -> Self {
        let parts: Vec<_> = (0u8..)
            .zip(file.settings())
            .map(|(stage, settings)| {
                settings.build(&PartPosition { seed, stage, capacity_bytes: file.capacity_bytes() })
            })
            .collect();
        let device_begins = file.settings().filter(|settings| settings.side() == Side::Host).count() as u8;
        let nearest = |below: usize| (0..below).rev().find(|&i| parts[i].rises());
        let above = (0..parts.len()).map(|i| nearest(i).map_or(Leg::Out, |i| Leg::Up(i as u8))).collect();
        let processors = file.settings().map(|settings| settings.processors()).max().unwrap_or(1);
        Self {
            file: file.clone(),
            parts,
            device_begins,
            flow: Flow::new(above, processors),
            now_ns: 0,
            steps: 0,
        }
    }

    /// Submits a request at `now_ns`; several at one instant are taken in the order of the calls. Time never goes
    /// backwards: an earlier `now_ns` counts as the latest one so far.
    pub fn submit(&mut self, now_ns: u64, ask: Ask) {
        self.submit_by(Worker::default(), now_ns, ask);
    }

    /// Submits a request from one of several workers. Each runs on the next of its host's processors.
    pub fn submit_by(&mut self, worker: Worker, now_ns: u64, ask: Ask) {
        self.advance(now_ns);
        let id = self.flow.open(ask, self.file.capacity_bytes());
        self.flow.asked_by(id, worker);
        self.travel(self.now_ns, id, Leg::Down(0));
    }

    /// Returns the time of the next event, internal or a completion; `None` while no request is outstanding.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.flow.ready.first().map(|done| done.at_ns).or_else(|| self.flow.events.next_ns())
    }

    /// Appends the requests that completed at or before `now_ns`, in the order of time. A caller that goes from
    /// [`next_event_ns`](Self::next_event_ns) to the next gets one instant at a time.
    pub fn reap(&mut self, now_ns: u64, done: &mut Vec<Done>) {
        self.advance(now_ns);
        done.append(&mut self.flow.ready);
    }

    /// Lets the device work until a request completes or its next event lies after `until_ns`. A caller that acts only
    /// on completions gets the results of one that goes from event to event: 3 to 5 of them make one completion.
    pub fn work_until_completion(&mut self, until_ns: u64) {
        while self.flow.ready.is_empty()
            && let Some(event) = self.flow.events.pop_due(until_ns)
        {
            self.happen(event);
        }
    }

    /// Returns the number of events that have happened: the work that simulating took.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the totals since the device was made.
    pub fn counters(&self) -> Counters {
        self.flow.counters
    }

    /// Returns the busy time of each processor of each host that has submitted a request, host by host.
    pub fn busy_ns(&self) -> Vec<u64> {
        self.flow.busy_ns()
    }

    /// Returns the simulated capacity.
    pub fn capacity_bytes(&self) -> u64 {
        self.file.capacity_bytes()
    }

    /// Returns the file that the device was made from.
    pub fn file(&self) -> &DeviceFile {
        &self.file
    }

    /// Returns the bytes of a range that the simulated host's page cache holds, as `cachestat` reports them on Linux;
    /// `None` without a page cache.
    pub fn resident_bytes(&self, range: Range<u64>) -> Option<u64> {
        self.parts.iter().find_map(|part| part.resident_bytes(&range))
    }

    /// Returns true if reads may return older versions of the data, which the caller must then keep.
    pub fn serves_old_versions(&self) -> bool {
        self.file.settings().any(|settings| settings.serves_old_versions())
    }

    /// Returns what the device holds of the capacity that it claims, if it is a fake.
    pub fn fake_capacity(&self) -> Option<FakeCapacity> {
        self.file.settings().find_map(|settings| settings.fake_capacity())
    }

    /// Returns the CPU time of one request in the program, in nanoseconds. The device already includes it in its
    /// latencies; a driver counts it as busy time and must not advance its clock by it.
    pub fn host_cost_ns(&self, op: Op) -> u64 {
        self.file.settings().map(|settings| settings.host_cost_ns(op)).sum()
    }

    /// Everything due happens, in order; so asking often or seldom changes nothing.
    fn advance(&mut self, now_ns: u64) {
        while let Some(event) = self.flow.events.pop_due(now_ns) {
            self.happen(event);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    fn happen(&mut self, event: Event) {
        self.now_ns = event.at_ns();
        self.steps += 1;
        self.travel(self.now_ns, event.id, event.leg);
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
