//! The write buffer of flash: takes writes at once while it has room, and programs them page by page.

use std::{collections::VecDeque, ops::Range};

use crate::{
    event::Leg,
    flow::{Flow, Id},
};

use super::ground::Ground;

/// Marks of wake-up calls: the unit, and whether its program begins or has ended.
const ENDED: u32 = 1 << 31;

/// A write as flash sees it: rounded to mapping units.
#[derive(Debug, Clone)]
pub(super) struct Write {
    pub(super) whole: Range<u64>,
    pub(super) stretch: f64,
}

impl Write {
    pub(super) fn bytes(&self) -> u64 {
        self.whole.end - self.whole.start
    }
}

/// Settings of the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct BufferSettings {
    pub(super) size_bytes: u64,
    pub(super) latency_ns: u64,
    /// The most that is programmed to the dense cells in a second, where that is less than the units could.
    pub(super) drain_bytes_per_s: Option<u64>,
    /// Time of a flush beyond waiting for the programs.
    pub(super) flush_ns: u64,
}

/// Writes that wait for one unit.
#[derive(Debug, Clone, Default)]
struct Backlog {
    bytes: u64,
    /// Time of the garbage collection that those bytes need.
    collecting_ns: f64,
    /// Bytes of the program that is under way or scheduled; 0 if there is none.
    programming_bytes: u64,
    /// Bytes programmed since the start.
    programmed_bytes: u64,
    /// Flushes that wait until it has programmed so much, the earliest first.
    flushes: VecDeque<(u64, Id)>,
}

/// The buffer at work. Each unit programs one page at a time, so that a read waits for one program at most.
pub(super) struct Buffer {
    settings: BufferSettings,
    stage: u8,
    page_bytes: u64,
    held_bytes: u64,
    backlogs: Vec<Backlog>,
    /// Units that are programming or about to.
    busy_units: u32,
    /// When the next page may leave the buffer, in fractions of nanoseconds.
    drain_ns: f64,
    /// How many times longer than nominal programs take: noise and heat, as the latest write met them.
    stretch: f64,
    waiting: VecDeque<(Id, Write)>,
    /// Flushes under way, and the units that each still waits for.
    flushes: Vec<(Id, u32)>,
}

impl Buffer {
    pub(super) fn new(settings: BufferSettings, stage: u8, units: u32, page_bytes: u64) -> Self {
        Self {
            settings,
            stage,
            page_bytes,
            held_bytes: 0,
            backlogs: vec![Backlog::default(); units as usize],
            busy_units: 0,
            drain_ns: 0.0,
            stretch: 1.0,
            waiting: VecDeque::new(),
            flushes: Vec::new(),
        }
    }

    /// Takes a write; says when it is done, or keeps it until there is room.
    pub(super) fn write(
        &mut self,
        now_ns: u64,
        id: Id,
        write: Write,
        ground: &mut Ground,
        flow: &mut Flow,
    ) -> Option<u64> {
        if self.waiting.is_empty() && self.has_room(&write) {
            self.take(now_ns, &write, ground, flow);
            return Some(now_ns + self.settings.latency_ns);
        }
        self.waiting.push_back((id, write));
        self.push_out_if_stuck(now_ns, ground, flow);
        None
    }

    /// Programs whatever the buffer holds, pages that are not full as they are; says when that is done, or keeps the
    /// flush. What comes after it is none of its business.
    pub(super) fn flush(&mut self, now_ns: u64, id: Id, ground: &Ground, flow: &mut Flow) -> Option<u64> {
        let mut waits_for = 0;
        for backlog in self.backlogs.iter_mut().filter(|backlog| backlog.bytes > 0) {
            backlog.flushes.push_back((backlog.programmed_bytes + backlog.bytes, id));
            waits_for += 1;
        }
        if waits_for == 0 {
            return Some(now_ns + self.settings.flush_ns);
        }
        self.flushes.push((id, waits_for));
        let fast = ground.units.is_fast();
        for unit in 0..self.backlogs.len() as u32 {
            self.arrange(now_ns, unit, self.page_bytes, fast, flow);
        }
        None
    }

    /// A write larger than the whole buffer goes through an empty one.
    fn has_room(&self, write: &Write) -> bool {
        self.held_bytes == 0 || self.held_bytes + write.bytes() <= self.settings.size_bytes
    }

    fn take(&mut self, now_ns: u64, write: &Write, ground: &mut Ground, flow: &mut Flow) {
        self.held_bytes += write.bytes();
        self.stretch = write.stretch;
        let fast = ground.units.is_fast();
        ground.place(&write.whole, flow, |unit, bytes, collecting_ns, flow| {
            let backlog = &mut self.backlogs[unit as usize];
            backlog.bytes += bytes;
            backlog.collecting_ns += collecting_ns;
            self.arrange(now_ns, unit, self.page_bytes, fast, flow);
        });
    }

    /// Arranges a unit's next program, if it is idle and has at least so many bytes, or any that a flush waits for.
    fn arrange(&mut self, now_ns: u64, unit: u32, least_bytes: u64, fast: bool, flow: &mut Flow) {
        let page_bytes = self.page_bytes;
        let backlog = &mut self.backlogs[unit as usize];
        let least_bytes = if backlog.flushes.is_empty() { least_bytes } else { 1 };
        if backlog.programming_bytes > 0 || backlog.bytes < least_bytes {
            return;
        }
        backlog.programming_bytes = backlog.bytes.min(page_bytes);
        self.busy_units += 1;
        let mut at_ns = now_ns;
        if let Some(bytes_per_s) = self.settings.drain_bytes_per_s.filter(|_| !fast) {
            self.drain_ns = self.drain_ns.max(now_ns as f64);
            at_ns = self.drain_ns.ceil() as u64;
            self.drain_ns += backlog.programming_bytes as f64 * 1e9 / bytes_per_s as f64 * self.stretch;
        }
        flow.events.push(at_ns, unit, Leg::Wake(self.stage));
    }

    /// A moment that was set: a program begins, or has ended and made room for writes that wait.
    pub(super) fn wake(&mut self, now_ns: u64, mark: u32, ground: &mut Ground, flow: &mut Flow) {
        let unit = mark & !ENDED;
        if mark & ENDED == 0 {
            let backlog = &mut self.backlogs[unit as usize];
            let share = backlog.programming_bytes as f64 / backlog.bytes as f64;
            let collecting_ns = backlog.collecting_ns * share;
            backlog.collecting_ns -= collecting_ns;
            let end_ns = ground.units.program(now_ns, unit, collecting_ns, self.stretch, flow);
            flow.events.push(end_ns, unit | ENDED, Leg::Wake(self.stage));
            return;
        }
        self.programmed(now_ns, unit, flow);
        self.arrange(now_ns, unit, self.page_bytes, ground.units.is_fast(), flow);
        while let Some((id, write)) = self.waiting.front().filter(|(_, write)| self.has_room(write)).cloned()
        {
            self.waiting.pop_front();
            self.take(now_ns, &write, ground, flow);
            flow.events.push(now_ns + self.settings.latency_ns, id, flow.leg_above(self.stage));
        }
        self.push_out_if_stuck(now_ns, ground, flow);
    }

    /// A unit's program has ended, and with it perhaps what flushes wait for.
    fn programmed(&mut self, now_ns: u64, unit: u32, flow: &mut Flow) {
        let backlog = &mut self.backlogs[unit as usize];
        let bytes = std::mem::take(&mut backlog.programming_bytes);
        self.held_bytes -= bytes;
        backlog.bytes -= bytes;
        backlog.programmed_bytes += bytes;
        self.busy_units -= 1;
        while let Some((_, id)) = backlog.flushes.pop_front_if(|(at, _)| *at <= backlog.programmed_bytes) {
            let place = self.flushes.iter().position(|(flush, _)| *flush == id);
            let place = place.expect("a flush waits until all of its units are done");
            self.flushes[place].1 -= 1;
            if self.flushes[place].1 == 0 {
                self.flushes.remove(place);
                flow.events.push(now_ns + self.settings.flush_ns, id, flow.leg_above(self.stage));
            }
        }
    }

    /// Writes wait and no unit has a whole page: pages that are not full are programmed as they are.
    fn push_out_if_stuck(&mut self, now_ns: u64, ground: &Ground, flow: &mut Flow) {
        if self.waiting.is_empty() || self.busy_units > 0 {
            return;
        }
        for unit in 0..self.backlogs.len() as u32 {
            self.arrange(now_ns, unit, 1, ground.units.is_fast(), flow);
        }
    }
}
