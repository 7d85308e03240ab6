//! The arm at work: which request is next, and how long it takes.

use iosonde_model::Op;
use std::collections::VecDeque;

use super::{settings::DiskSettings, write_cache::WriteCache};
use crate::{
    event::Leg,
    flow::{Flow, Id},
    part::{Part, Step},
    random::whole_ns,
    request::REFUSAL_NS,
};

pub(super) struct Arm {
    settings: DiskSettings,
    stage: u8,
    waiting: VecDeque<Id>,
    /// Writes that the cache has taken: they give way to requests that somebody waits for.
    cached: VecDeque<Id>,
    write_cache: Option<WriteCache>,
    working: bool,
    /// Position of the head, in turns from the outer edge.
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
        let op = flow[id].op;
        let step = match (op, &mut self.write_cache) {
            (Op::Trim, _) | (Op::Flush, None) => return Step::Back(now_ns + REFUSAL_NS),
            (Op::Flush, Some(cache)) => {
                return if cache.flush(id) { Step::Back(now_ns + REFUSAL_NS) } else { Step::Kept };
            }
            (Op::Write, Some(cache)) if cache.waiting.is_empty() && cache.has_room(flow[id].length_bytes) => {
                self.cached.push_back(cache.take(id, self.stage, flow));
                Step::Back(now_ns + REFUSAL_NS)
            }
            (Op::Write, Some(cache)) => {
                cache.waiting.push_back(id);
                Step::Kept
            }
            _ => {
                self.waiting.push_back(id);
                Step::Kept
            }
        };
        if !self.working {
            self.start_next(now_ns, flow);
        }
        step
    }

    /// A cached write is on the platter.
    fn up(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let cache = self.write_cache.as_mut().expect("only the cache makes requests here");
        for flush in cache.finish(id, flow) {
            flow.events.push(now_ns + REFUSAL_NS, flush, flow.leg_above(self.stage));
        }
        while let Some(write) = cache.admit(flow) {
            self.cached.push_back(cache.take(write, self.stage, flow));
            flow.events.push(now_ns + REFUSAL_NS, write, flow.leg_above(self.stage));
        }
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
    pub(super) fn new(settings: DiskSettings, stage: u8) -> Self {
        Self {
            settings,
            stage,
            waiting: VecDeque::new(),
            cached: VecDeque::new(),
            write_cache: settings.write_cache_bytes.map(WriteCache::new),
            working: false,
            head_turns: 0.0,
            read_end_bytes: None,
            end_ns: 0,
            exact_end_ns: 0.0,
        }
    }

    fn start_next(&mut self, now_ns: u64, flow: &mut Flow) {
        let Some(id) = self.take_next(now_ns, flow) else { return };
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
        let ours = request.owner == Some(self.stage);
        let leg = if ours { Leg::Up(self.stage) } else { flow.leg_above(self.stage) };
        flow.events.push(end_ns, id, leg);
        flow.events.push(end_ns, 0, Leg::Wake(self.stage));
    }

    /// A moment, to the fraction of a nanosecond where it is the last request's end.
    fn exact(&self, now_ns: u64) -> f64 {
        if now_ns == self.end_ns { self.exact_end_ns } else { now_ns as f64 }
    }

    fn reads_on(&self, op: Op, from: u64, bytes: u64) -> bool {
        op == Op::Read && self.read_end_bytes == Some(from) && bytes <= self.settings.cache_bytes
    }

    /// Takes the request that is served next out of its line.
    fn take_next(&mut self, now_ns: u64, flow: &Flow) -> Option<Id> {
        // Cached writes go when nothing else does, or when somebody waits for their room.
        let waited_for = self.write_cache.as_ref().is_some_and(|cache| !cache.waiting.is_empty());
        let cached = if waited_for || self.waiting.is_empty() { self.cached.len() } else { 0 };
        let line = self.waiting.iter().chain(self.cached.iter().take(cached));
        let place = if self.settings.shortest_first {
            let costs = line.take(self.settings.slots).map(|id| self.cost_ns(now_ns, *id, flow)).enumerate();
            costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)?
        } else {
            line.take(1).count().checked_sub(1)?
        };
        match place.checked_sub(self.waiting.len()) {
            None => self.waiting.remove(place),
            Some(place) => self.cached.remove(place),
        }
    }

    /// Time until the head could begin with a request.
    fn cost_ns(&self, now_ns: u64, id: Id, flow: &Flow) -> f64 {
        let request = &flow[id];
        if self.reads_on(request.op, request.offset_bytes, u64::from(request.length_bytes)) {
            return 0.0;
        }
        let platter = &self.settings.platter;
        platter.positioning_ns(self.exact(now_ns), self.head_turns, platter.turns(request.offset_bytes))
    }
}
