//! The requests under way and what has been counted: what parts share while a request passes them.

use iosonde_model::Op;
use serde::Serialize;

use crate::{
    event::{EventQueue, Leg},
    random::whole_ns,
    request::{Ask, Done, Fate, Worker},
};

/// Index of a request in the table of outstanding requests.
pub(crate) type Id = u32;

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The caller's mark.
    pub(crate) tag: u64,
    /// Offset of its beginning.
    pub(crate) offset_bytes: u64,
    /// How much moves below: a page cache may fetch more or less than requested.
    pub(crate) length_bytes: u32,
    /// Bytes that the program requested, which it gets as the result.
    pub(crate) asked_bytes: u32,
    /// Result of the request: 0 for success, or a positive errno.
    pub(crate) errno: i32,
    /// Fate of the request's data.
    pub(crate) fate: Fate,
    /// Read or write.
    pub(crate) op: Op,
    /// True if the page cache is to be bypassed.
    pub(crate) direct: bool,
    /// How many times longer than nominal the medium takes for it: what noise and heat multiply into.
    pub(crate) stretch: f64,
    /// Factor on the nominal CPU time of the program.
    pub(crate) effort: f64,
    /// The processor of the worker that asked.
    pub(crate) processor: usize,
    /// Time at which it left the host for the device, in nanoseconds; `None` while it is in the host.
    pub(crate) entered_ns: Option<u64>,
    /// The stage that made it and will end it, for requests that no program made.
    pub(crate) owner: Option<u8>,
    /// The request that it is a piece of.
    pub(crate) parent: Option<Id>,
    /// Pieces of it that have not come back.
    pub(crate) pieces_left: u32,
    /// State of the request in the page cache.
    pub(crate) fetch: Fetch,
    /// The next request that waits for the same one.
    pub(crate) next_waiting: Option<Id>,
    /// The first request that waits for this one.
    pub(crate) first_waiting: Option<Id>,
}

/// State of a read in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fetch {
    /// Not seen yet.
    New,
    /// Seen, and waiting for what another request fetches.
    Waiting,
    /// On its way down to fetch what is missing.
    Fetching,
}

/// Totals of a simulated device since it was made, as a block layer would count them. Only requests below the host
/// count, once they are completed: the page cache's own answers are excluded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counters {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trimmed_bytes: u64,
    /// Completed reads, failed ones included; each piece of a split read counts.
    pub read_requests: u64,
    /// Completed writes, counted in the same way as reads.
    pub write_requests: u64,
    /// Requests that completed with an error; they moved no bytes.
    pub failed_requests: u64,
    /// Time in the device, summed over all requests, in nanoseconds. Divided by a period, it is the mean queue depth
    /// of the device.
    pub in_flight_ns: u64,
    /// Bytes that flash programmed. Divided by the bytes written, they are the write amplification.
    pub programmed_bytes: u64,
    /// Blocks of flash that were erased.
    pub erased_blocks: u64,
    /// Requests that were answered over the network, as the client of a network file system counts them.
    pub network_requests: u64,
    /// Time from sending to answer, summed over these requests, in nanoseconds.
    pub network_waited_ns: u64,
    /// Writes that reported success and stored nothing (injected fault).
    pub lost_writes: u64,
    /// Writes that reported success and stored only a part (injected fault).
    pub torn_writes: u64,
    /// Writes that reported success and were stored elsewhere (injected fault).
    pub misplaced_writes: u64,
    /// Reads that returned an older version (injected fault).
    pub stale_reads: u64,
}

impl Counters {
    /// Further requests of a kind: pieces of one that came back as a whole.
    pub(crate) fn count_pieces(&mut self, op: Op, more: u64) {
        match op {
            Op::Read => self.read_requests += more,
            Op::Write => self.write_requests += more,
            Op::Trim | Op::Flush => {}
        }
    }
}

/// One of the program's.
#[derive(Debug, Clone, Copy, Default)]
struct Processor {
    /// When it has done all it has been given.
    free_ns: u64,
    /// For how long it has worked.
    busy_ns: u64,
}

/// Requests under way, events to come, completions to hand out.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) events: EventQueue,
    pub(crate) counters: Counters,
    /// Finished and not yet handed out, in the order of time.
    pub(crate) ready: Vec<Done>,
    requests: Vec<Request>,
    free: Vec<Id>,
    /// Where a request goes from stage i on its way up: the nearest part above that wants to see it again.
    above: Vec<Leg>,
    /// Those of the first host, then those of the next.
    processors: Vec<Processor>,
    processors_per_host: usize,
    /// Offset and length of the latest write that arrived whole, if nothing has been misplaced to it since.
    pub(crate) arrived: Option<(u64, u32)>,
}

impl std::ops::Index<Id> for Flow {
    type Output = Request;
    fn index(&self, id: Id) -> &Request {
        &self.requests[id as usize]
    }
}

impl std::ops::IndexMut<Id> for Flow {
    fn index_mut(&mut self, id: Id) -> &mut Request {
        &mut self.requests[id as usize]
    }
}

impl Flow {
    /// Nothing under way.
    pub(crate) fn new(above: Vec<Leg>, processors: usize) -> Self {
        Self {
            events: EventQueue::default(),
            counters: Counters::default(),
            ready: Vec::new(),
            requests: Vec::new(),
            free: Vec::new(),
            above,
            processors: vec![Processor::default(); processors],
            processors_per_host: processors,
            arrived: None,
        }
    }

    /// Where a request goes from a stage on its way up.
    pub(crate) fn leg_above(&self, stage: u8) -> Leg {
        self.above[usize::from(stage)]
    }

    /// Takes a request in. Beyond the end of the device a read is cut short and a write fails, as on a block
    /// device.
    pub(crate) fn open(&mut self, ask: Ask, capacity_bytes: u64) -> Id {
        let room = capacity_bytes.saturating_sub(ask.offset_bytes).min(u64::from(u32::MAX)) as u32;
        let short = ask.length_bytes > room;
        let request = Request {
            tag: ask.tag,
            offset_bytes: ask.offset_bytes,
            length_bytes: ask.length_bytes.min(room),
            asked_bytes: ask.length_bytes.min(room),
            errno: if short && ask.op == Op::Write { ENOSPC } else { 0 },
            fate: Fate::AsAsked,
            op: ask.op,
            direct: ask.direct,
            stretch: 1.0,
            effort: 1.0,
            processor: 0,
            entered_ns: None,
            owner: None,
            parent: None,
            pieces_left: 0,
            fetch: Fetch::New,
            next_waiting: None,
            first_waiting: None,
        };
        self.insert(request)
    }

    /// Makes a request of the device's own; it comes back up to its `owner`, which closes it.
    pub(crate) fn spawn(&mut self, owner: u8, op: Op, offset_bytes: u64, length_bytes: u32) -> Id {
        let ask = Ask { tag: u64::MAX, op, offset_bytes, length_bytes, direct: true };
        let id = self.open(ask, u64::MAX);
        self[id].owner = Some(owner);
        id
    }

    /// Ends a request of the device's own.
    pub(crate) fn close(&mut self, id: Id) {
        self.free.push(id);
    }

    /// Ends a piece; gives the whole that it belongs to when this was the last one out.
    pub(crate) fn close_piece(&mut self, id: Id) -> Option<Id> {
        let piece = self[id];
        self.close(id);
        let whole = piece.parent?;
        let request = &mut self[whole];
        if request.errno == 0 {
            request.errno = piece.errno;
        }
        request.pieces_left -= 1;
        (request.pieces_left == 0).then_some(whole)
    }

    /// A request is a worker's, whose processor spends the time that it costs. Each host has processors of its own.
    pub(crate) fn asked_by(&mut self, id: Id, Worker { host, number }: Worker) {
        let first = host * self.processors_per_host;
        if self.processors.len() <= first {
            self.processors.resize(first + self.processors_per_host, Processor::default());
        }
        self[id].processor = first + number % self.processors_per_host;
    }

    /// Occupies a request's processor for a while, with what its run adds to that, after whatever the processor
    /// already has to do; says when that ends.
    pub(crate) fn compute_for(&mut self, now_ns: u64, id: Id, ns: u64) -> u64 {
        let Request { effort, processor, .. } = self[id];
        let ns = if effort == 1.0 { ns } else { whole_ns(ns as f64 * effort) };
        let processor = &mut self.processors[processor];
        processor.busy_ns += ns;
        processor.free_ns = now_ns.max(processor.free_ns) + ns;
        processor.free_ns
    }

    /// For how long each processor of each host that has asked for something has worked.
    pub(crate) fn busy_ns(&self) -> Vec<u64> {
        self.processors.iter().map(|processor| processor.busy_ns).collect()
    }

    fn insert(&mut self, request: Request) -> Id {
        match self.free.pop() {
            Some(id) => {
                self[id] = request;
                id
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as Id
            }
        }
    }

    /// The request is back at the program.
    pub(crate) fn finish(&mut self, now_ns: u64, id: Id) {
        let request = &self[id];
        let result = if request.errno == 0 { request.asked_bytes as i32 } else { -request.errno };
        let fate = if request.errno == 0 { request.fate } else { Fate::AsAsked };
        let done = Done { tag: request.tag, result, at_ns: now_ns, fate };
        match fate {
            Fate::AsAsked if request.op == Op::Write && request.errno == 0 => {
                self.arrived = Some((request.offset_bytes, request.asked_bytes));
            }
            Fate::AsAsked => {}
            Fate::Lost => self.counters.lost_writes += 1,
            Fate::Torn { .. } => self.counters.torn_writes += 1,
            Fate::Misplaced { .. } => self.counters.misplaced_writes += 1,
            Fate::Stale => self.counters.stale_reads += 1,
        }
        self.free.push(id);
        self.ready.push(done);
    }

    /// The program's request that a request at the device is, or the first piece of; `None` for later pieces and for
    /// requests of the device's own.
    pub(crate) fn asked_by_program(&self, id: Id) -> Option<Id> {
        let request = &self[id];
        match request.parent {
            Some(whole) => (self[whole].owner.is_none() && self[whole].offset_bytes == request.offset_bytes)
                .then_some(whole),
            None => request.owner.is_none().then_some(id),
        }
    }

    /// The request leaves the host for the device, unless nothing of it lies there.
    pub(crate) fn enter_device(&mut self, now_ns: u64, id: Id) -> bool {
        let request = &mut self[id];
        let enters = request.errno == 0 && (request.length_bytes > 0 || request.op == Op::Flush);
        request.entered_ns = enters.then_some(now_ns);
        enters
    }

    /// The request is back in the host: the block layer counts it, once.
    pub(crate) fn leave_device(&mut self, now_ns: u64, id: Id) {
        let request = &mut self.requests[id as usize];
        let Some(entered_ns) = request.entered_ns.take() else { return };
        let bytes = if request.errno == 0 { u64::from(request.length_bytes) } else { 0 };
        let counters = &mut self.counters;
        counters.in_flight_ns += now_ns - entered_ns;
        counters.failed_requests += u64::from(request.errno != 0);
        match request.op {
            Op::Read => {
                counters.read_bytes += bytes;
                counters.read_requests += 1;
            }
            Op::Write => {
                counters.write_bytes += bytes;
                counters.write_requests += 1;
            }
            Op::Trim => counters.trimmed_bytes += bytes,
            Op::Flush => {}
        }
    }
}

/// No space left on device: what a write beyond the end gets.
const ENOSPC: i32 = 28;
