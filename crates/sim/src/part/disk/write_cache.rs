//! The write cache of a disk: what it has taken and not yet put on the platter, and who waits for that.

use std::collections::{BTreeSet, VecDeque};

use crate::flow::{Flow, Id};

/// The cache at work. Writes on their way to the platter are requests of their own, numbered as they come.
pub(super) struct WriteCache {
    size_bytes: u64,
    held_bytes: u64,
    next_number: u64,
    /// Numbers of the writes that are not on the platter.
    unfinished: BTreeSet<u64>,
    /// Writes of the program that wait for room.
    pub(super) waiting: VecDeque<Id>,
    /// Flushes, and the first write that each does not wait for.
    flushes: VecDeque<(u64, Id)>,
}

impl WriteCache {
    pub(super) fn new(size_bytes: u64) -> Self {
        Self {
            size_bytes,
            held_bytes: 0,
            next_number: 0,
            unfinished: BTreeSet::new(),
            waiting: VecDeque::new(),
            flushes: VecDeque::new(),
        }
    }

    /// A write larger than the whole cache goes through an empty one.
    pub(super) fn has_room(&self, bytes: u32) -> bool {
        self.held_bytes == 0 || self.held_bytes + u64::from(bytes) <= self.size_bytes
    }

    /// Takes a write: makes the request that will bring it to the platter.
    pub(super) fn take(&mut self, id: Id, stage: u8, flow: &mut Flow) -> Id {
        let request = flow[id];
        self.held_bytes += u64::from(request.length_bytes);
        let child = flow.spawn(stage, request.op, request.offset_bytes, request.length_bytes);
        (flow[child].tag, flow[child].stretch) = (self.next_number, request.stretch);
        self.unfinished.insert(self.next_number);
        self.next_number += 1;
        child
    }

    /// Returns true if a flush has nothing to wait for; otherwise it is kept.
    pub(super) fn flush(&mut self, id: Id) -> bool {
        if !self.unfinished.is_empty() {
            self.flushes.push_back((self.next_number, id));
        }
        self.unfinished.is_empty()
    }

    /// A write is on the platter; says which flushes are done with it.
    pub(super) fn finish(&mut self, child: Id, flow: &mut Flow) -> Vec<Id> {
        self.held_bytes -= u64::from(flow[child].length_bytes);
        self.unfinished.remove(&flow[child].tag);
        flow.close(child);
        let first = self.unfinished.first().copied().unwrap_or(u64::MAX);
        let done = || self.flushes.pop_front_if(|(waits_below, _)| *waits_below <= first).map(|(_, id)| id);
        std::iter::from_fn(done).collect()
    }

    /// The next write that waits, if there is room for it now.
    pub(super) fn admit(&mut self, flow: &Flow) -> Option<Id> {
        let next = *self.waiting.front()?;
        self.has_room(flow[next].length_bytes).then(|| self.waiting.pop_front()).flatten()
    }
}
