//! Flash at work: what becomes of a request that reaches it.

use iosonde_model::Op;
use std::ops::Range;

use super::{
    buffer::{Buffer, Write},
    ground::{Ground, Placement},
};
use crate::{
    event::Leg,
    flow::{Flow, Id},
    pages::{PAGE_BYTES, Pages, pages_of},
    part::{Part, Step},
    request::REFUSAL_NS,
};

/// A look into the mapping, for what touches no cell. It must not be nothing: a program that asks again at once
/// would stop virtual time.
pub(super) const LOOKUP_NS: u64 = REFUSAL_NS;
/// The mark of the wake-up call for folding; the buffer's marks are a unit's number, with or without the highest
/// bit.
const FOLD: u32 = 1 << 30;

/// Settings of the read cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadCacheSettings {
    pub(super) size_bytes: u64,
    pub(super) latency_ns: u64,
}

pub(super) struct Chips {
    ground: Ground,
    buffer: Option<Buffer>,
    /// Pages that were read lately, and the latency of reading them again, in nanoseconds.
    cache: Option<(Pages, u64)>,
    stage: u8,
    /// Time of the device's last activity, in nanoseconds.
    worked_ns: u64,
    /// True if a moment to look for idleness is set.
    will_fold: bool,
}

impl Part for Chips {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = &flow[id];
        let range = request.offset_bytes..request.offset_bytes + u64::from(request.length_bytes);
        let step = match request.op {
            Op::Read => self.read(now_ns, id, &range, flow),
            Op::Write => self.write(now_ns, id, &range, flow),
            Op::Trim => {
                self.ground.trim(&range);
                Step::Back(now_ns + LOOKUP_NS)
            }
            Op::Flush => self.flush(now_ns, id, flow),
        };
        self.worked(now_ns, flow);
        step
    }

    fn wake(&mut self, now_ns: u64, token: u32, flow: &mut Flow) {
        if token == FOLD {
            return self.fold_if_idle(now_ns, flow);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.wake(now_ns, token, &mut self.ground, flow);
        }
        self.worked(now_ns, flow);
    }
}

impl Chips {
    pub(super) fn new(
        ground: Ground,
        buffer: Option<Buffer>,
        cache: Option<ReadCacheSettings>,
        stage: u8,
    ) -> Self {
        let cache =
            cache.map(|cache| (Pages::new((cache.size_bytes / PAGE_BYTES) as usize), cache.latency_ns));
        Self { ground, buffer, cache, stage, worked_ns: 0, will_fold: false }
    }

    fn read(&mut self, now_ns: u64, id: Id, range: &Range<u64>, flow: &mut Flow) -> Step {
        if let Some((pages, latency_ns)) = &mut self.cache {
            let asked = pages_of(range.start, flow[id].length_bytes);
            if asked.clone().all(|page| pages.holds(page)) {
                asked.for_each(|page| pages.touch(page));
                return Step::Back(now_ns + *latency_ns);
            }
            asked.for_each(|page| pages.insert(page));
        }
        let done_ns = self.ground.sense(now_ns, range, flow[id].stretch);
        Step::Back(done_ns.max(now_ns + LOOKUP_NS))
    }

    fn write(&mut self, now_ns: u64, id: Id, range: &Range<u64>, flow: &mut Flow) -> Step {
        let stretch = flow[id].stretch;
        let sensed_ns = self.ground.sense_before_write(now_ns, range, stretch);
        let whole = self.ground.layout.rewritten(range);
        let Some(buffer) = &mut self.buffer else {
            let Ground { layout, units, placement } = &mut self.ground;
            if let Placement::Static(trimmed) = placement {
                trimmed.remove(&whole);
            }
            let programs =
                layout.units_of_pages(&whole).map(|unit| units.program(now_ns, unit, 0.0, stretch, flow));
            return Step::Back(programs.fold(sensed_ns, u64::max));
        };
        match buffer.write(now_ns, id, Write { whole, stretch }, &mut self.ground, flow) {
            Some(done_ns) => Step::Back(done_ns),
            None => Step::Kept,
        }
    }

    fn flush(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        // Without a buffer whatever was acknowledged is on the flash.
        let Some(buffer) = &mut self.buffer else { return Step::Back(now_ns + LOOKUP_NS) };
        match buffer.flush(now_ns, id, &self.ground, flow) {
            Some(done_ns) => Step::Back(done_ns.max(now_ns + LOOKUP_NS)),
            None => Step::Kept,
        }
    }

    fn worked(&mut self, now_ns: u64, flow: &mut Flow) {
        self.worked_ns = now_ns;
        if self.will_fold {
            return;
        }
        if let Some(after_ns) = self.ground.units.slc.as_ref().and_then(|slc| slc.folds_after_ns()) {
            self.will_fold = true;
            flow.events.push(now_ns + after_ns, FOLD, Leg::Wake(self.stage));
        }
    }

    /// Folds a page of each unit and comes back, or comes back when the device will have been idle long enough.
    fn fold_if_idle(&mut self, now_ns: u64, flow: &mut Flow) {
        let after_ns = self.ground.units.slc.as_ref().and_then(|slc| slc.folds_after_ns());
        self.will_fold = after_ns.is_some();
        let Some(after_ns) = after_ns else { return };
        let due_ns = self.worked_ns + after_ns;
        let next_ns = if now_ns < due_ns { due_ns } else { self.ground.units.fold(now_ns, flow) };
        flow.events.push(next_ns.max(now_ns + 1), FOLD, Leg::Wake(self.stage));
    }
}
