//! The event queue: what happens next, first by time and then by the order in which it was arranged.

use std::{cmp::Ordering, collections::BinaryHeap};

/// Where a request is on its way, or which part wants to be woken. Stages count from the program down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leg {
    /// Reaches this stage from above.
    Down(u8),
    /// Comes back to this stage from below.
    Up(u8),
    /// Is back at the program.
    Out,
    /// No request: the part at this stage set this moment, with a mark in the request's place.
    Wake(u8),
}

/// Something that will happen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// Time above, order of arrangement below: one comparison, and ties resolve the same way in every run.
    key: u128,
    /// The request, or a part's own mark.
    pub(crate) id: u32,
    /// Where it is then.
    pub(crate) leg: Leg,
}

impl Event {
    /// When.
    pub(crate) fn at_ns(&self) -> u64 {
        (self.key >> 64) as u64
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    // Reversed: the standard heap gives the largest first, and the earliest is wanted.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// Events in the order in which they will happen.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Event>,
    arranged: u64,
}

impl EventQueue {
    /// Arranges an event.
    pub(crate) fn push(&mut self, at_ns: u64, id: u32, leg: Leg) {
        self.arranged += 1;
        self.heap.push(Event { key: u128::from(at_ns) << 64 | u128::from(self.arranged), id, leg });
    }

    /// When the next one happens.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(Event::at_ns)
    }

    /// Takes the next one if it is due.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<Event> {
        if self.next_ns()? > now_ns { None } else { self.heap.pop() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_first_then_the_order_of_arrangement() {
        let mut queue = EventQueue::default();
        for (at_ns, id) in [(30, 0), (10, 1), (10, 2), (20, 3)] {
            queue.push(at_ns, id, Leg::Out);
        }
        assert_eq!(queue.pop_due(9).map(|event| event.id), None);
        let ids: Vec<u32> = std::iter::from_fn(|| queue.pop_due(20)).map(|event| event.id).collect();
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(queue.next_ns(), Some(30));
    }
}
