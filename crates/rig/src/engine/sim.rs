//! A simulated device behind the same measured loop as a real one, on a virtual clock.
//!
//! Good for: learning, rehearsing a study in a second before it is run for an hour, and proving checks and findings
//! on a device whose truth is set. Time passes only where the device says that something happens, so a minute of
//! simulated storage takes a second or less. Cannot: measure anything real.
//!
//! With `dsync` or `osync` each write is followed by a flush of the device before it is complete, as the kernel does it
//! on a drive that cannot mark single writes as durable (FUA).
//!
//! What is written is held only for `--verify`, and of it only the marks; the device's `[faults]` say what becomes
//! of it.

use std::{io, ptr::NonNull};

use iosonde_model::{Named, Op};
use iosonde_sim::{Ask, Done, Fate, Worker};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
};
use crate::{
    buffer::BufferPool,
    clock::Clock,
    simulated::{Contents, SharedDevice},
};

/// The registered engine.
pub struct Sim;

impl Named for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }
}

impl EngineKind for Sim {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::Simulated(_) => Ok(Abilities {
                blocking: false,
                depth_max: 65_536,
                depth_why: "no storage takes more, and each costs memory",
            }),
            Storage::File(_) => Err(Unavailable(
                "the sim engine drives simulated devices; write the target as sim:NAME".into(),
            )),
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::Simulated(shared) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let mut mail = shared.mail.borrow_mut();
        let jobs = mail.len().max(bench.job as usize + 1);
        mail.resize_with(jobs, Vec::new);
        mail[bench.job as usize].clear();
        // The jobs of a trial open their engines one after another before any of them begins.
        if bench.job == 0 {
            shared.epoch.set(shared.epoch.get() + 1);
        }
        let (shared, job) = (shared.clone(), bench.job as usize);
        let memory = bench.verify.then(|| Memory::of(bench.buffers));
        let new_files = bench.new_files.map(|made| Making {
            first_bytes: made.offset_bytes,
            file_bytes: made.file_bytes.max(1),
            shift_bytes: 0,
        });
        let (direct, done) = (bench.direct, Vec::new());
        let slots = bench.buffers.slots();
        let durable = bench.sync.with_each_write().then(|| vec![Durable::Plain; slots as usize]);
        let worker = Worker { host: bench.host as usize, number: job };
        let engine =
            Box::new(Loop { shared: shared.clone(), direct, worker, done, new_files, memory, durable });
        Ok(Opened { engine, clock: Clock::Virtual(shared.clock.clone()), notes: Vec::new() })
    }

    fn makes_files(&self) -> bool {
        true
    }
}

/// Whose request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tag {
    epoch: u64,
    job: usize,
    slot: u32,
}

/// A million slots and 65,536 jobs; what remains counts trials, and begins anew after 268 million.
const SLOT_BITS: u32 = 20;
const JOB_BITS: u32 = 16;

impl Tag {
    fn packed(self) -> u64 {
        debug_assert!(self.slot < 1 << SLOT_BITS && self.job < 1 << JOB_BITS);
        self.epoch << (SLOT_BITS + JOB_BITS) | (self.job as u64) << SLOT_BITS | u64::from(self.slot)
    }

    fn of(packed: u64) -> Self {
        let low = |value: u64, bits: u32| value & ((1 << bits) - 1);
        Self {
            epoch: packed >> (SLOT_BITS + JOB_BITS),
            job: low(packed >> SLOT_BITS, JOB_BITS) as usize,
            slot: low(packed, SLOT_BITS) as u32,
        }
    }
}

struct Loop {
    shared: SharedDevice,
    direct: bool,
    worker: Worker,
    done: Vec<Done>,
    new_files: Option<Making>,
    /// Where bytes come from and go to, where the device is to hold them.
    memory: Option<Memory>,
    /// State of each slot's request, where writes are durable when they complete.
    durable: Option<Vec<Durable>>,
}

/// A request on its way to being durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// No write, or none yet: it is complete when the device says so.
    Plain,
    /// A write whose flush comes next.
    Written,
    /// The flush behind a write with this result.
    Flushed { result: i32 },
}

/// Files that a stream creates: each pass over its span goes to addresses where the latest files are not, as a file
/// system's allocator gives them, from the end of the device downwards.
struct Making {
    first_bytes: u64,
    file_bytes: u64,
    /// Distance of the present file from the addresses of the requests.
    shift_bytes: u64,
}

impl Making {
    fn placed(&mut self, offset_bytes: u64, shared: &SharedDevice) -> u64 {
        if offset_bytes == self.first_bytes {
            let places = (shared.device.borrow().capacity_bytes() - self.first_bytes) / self.file_bytes;
            let made = shared.files_made.replace(shared.files_made.get() + 1);
            // The first place is that of the requests, where the prepared file is.
            self.shift_bytes = places.saturating_sub(1 + made % (places - 1).max(1)) * self.file_bytes;
        }
        offset_bytes + self.shift_bytes
    }
}

/// The job's buffers, and what each is used for.
struct Memory {
    slots: Vec<NonNull<u8>>,
    requests: Vec<Option<Request>>,
}

impl Memory {
    fn of(buffers: &BufferPool) -> Self {
        let slot = |slot| NonNull::new(buffers.slot(slot)).expect("a mapping does not begin at zero");
        let slots: Vec<_> = (0..buffers.slots()).map(slot).collect();
        Self { requests: vec![None; slots.len()], slots }
    }

    /// A request has come back: its bytes move, as they would have moved meanwhile.
    fn moves(&mut self, contents: &mut Contents, completion: Completion, fate: Fate) {
        let Some(request) = self.requests[completion.slot as usize].take() else { return };
        if completion.result <= 0 {
            return;
        }
        // SAFETY: the slot lies in a mapping of slots at least as long as its request, which outlives the engine; the
        // request has come back and its completion has not been handed on, so that nobody else looks at the buffer.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(
                self.slots[completion.slot as usize].as_ptr(),
                completion.result as usize,
            )
        };
        match request.op {
            Op::Read => contents.read(request.offset_bytes, bytes, fate),
            Op::Write => contents.write(request.offset_bytes, bytes, fate),
            Op::Trim | Op::Flush => {}
        }
    }
}

impl Loop {
    fn ask(&self, now_ns: u64, Request { slot, op, offset_bytes, length_bytes }: Request) {
        let tag = Tag { epoch: self.shared.epoch.get(), job: self.worker.number, slot }.packed();
        let ask = Ask { tag, op, offset_bytes, length_bytes, direct: self.direct };
        self.shared.device.borrow_mut().submit_by(self.worker, now_ns, ask);
    }

    /// What the device has completed, as the program sees it; `None` where a flush follows first.
    fn completed(&mut self, completion: Completion) -> Option<Completion> {
        let slot = completion.slot;
        let Some(state) = self.durable.as_mut().map(|durable| &mut durable[slot as usize]) else {
            return Some(completion);
        };
        match *state {
            Durable::Written if completion.result > 0 => {
                *state = Durable::Flushed { result: completion.result };
                let flush = Request { slot, op: Op::Flush, offset_bytes: 0, length_bytes: 0 };
                self.ask(self.shared.clock.now_ns(), flush);
                None
            }
            Durable::Flushed { result } if completion.result >= 0 => Some(Completion { slot, result }),
            Durable::Plain | Durable::Written | Durable::Flushed { .. } => Some(completion),
        }
    }
}

impl SharedDevice {
    /// Puts each completion where its job takes it, and names that job. What an earlier trial asked is nobody's.
    pub(crate) fn post(&self, done: &[Done], jobs: &mut Vec<usize>) {
        let (mut mail, now) = (self.mail.borrow_mut(), self.epoch.get());
        for done in done {
            let Tag { epoch, job, .. } = Tag::of(done.tag);
            if epoch == now {
                mail[job].push(*done);
                jobs.push(job);
            }
        }
    }
}

impl Engine for Loop {
    fn submit(&mut self, now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        for request in requests {
            let &Request { slot, op, length_bytes, mut offset_bytes } = request;
            if let Some(made) = self.new_files.as_mut().filter(|_| op == Op::Write) {
                offset_bytes = made.placed(offset_bytes, &self.shared);
            }
            match &mut self.memory {
                Some(memory) => memory.requests[slot as usize] = Some(*request),
                None if matches!(op, Op::Write | Op::Trim) => {
                    let range_bytes = offset_bytes..offset_bytes + u64::from(length_bytes);
                    self.shared.contents.borrow_mut().forget(range_bytes);
                }
                None => {}
            }
            if let Some(durable) = &mut self.durable {
                durable[slot as usize] = if op == Op::Write { Durable::Written } else { Durable::Plain };
            }
            self.ask(now_ns, Request { slot, op, length_bytes, offset_bytes });
        }
        Ok(requests.len())
    }

    fn reap(&mut self, _wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        self.done.clear();
        self.shared.device.borrow_mut().reap(self.shared.clock.now_ns(), &mut self.done);
        self.shared.post(&self.done, &mut Vec::new());
        let mut mail = self.shared.mail.borrow_mut();
        // Taken out and put back: what handles them may ask the device for more.
        let mut own = std::mem::take(&mut mail[self.worker.number]);
        drop(mail);
        for Done { tag, result, fate, .. } in own.drain(..) {
            let Some(completion) = self.completed(Completion { slot: Tag::of(tag).slot, result }) else {
                continue;
            };
            if let Some(memory) = &mut self.memory {
                memory.moves(&mut self.shared.contents.borrow_mut(), completion, fate);
            }
            done.push(completion);
        }
        self.shared.mail.borrow_mut()[self.worker.number] = own;
        Ok(())
    }

    fn next_event_ns(&self) -> Option<u64> {
        if !self.shared.mail.borrow()[self.worker.number].is_empty() {
            return Some(self.shared.clock.now_ns());
        }
        self.shared.device.borrow().next_event_ns()
    }
}
