//! Which buffer a request uses.
//!
//! What was read is not what shall be written, so reads and writes have buffers of their own. Writes take turns through
//! at least 256 KiB of them: file systems compress records of up to 128 KiB as one (btrfs; ZFS by default), and small
//! sequential writes from one buffer would repeat its bytes within a record.

use std::collections::VecDeque;

use iosonde_model::{Op, TrialSpec};

/// Twice a record, since completions reorder. More would leave the processor's cache and cost time.
const WRITTEN_BYTES: u64 = 256 << 10;

/// Buffers that requests other than reads use: these come first.
pub fn write_slots(spec: &TrialSpec) -> u32 {
    let turns = (WRITTEN_BYTES / spec.block_size_bytes.max(512)) as u32;
    match (spec.rw.writes(), spec.rw.trims()) {
        (true, _) => spec.queue_depth.max(turns),
        (false, trims) => spec.queue_depth * u32::from(trims),
    }
}

/// Buffers of one job of a workload.
pub fn slots(spec: &TrialSpec) -> u32 {
    write_slots(spec) + spec.queue_depth * u32::from(spec.rw.reads())
}

/// Buffers that no request uses.
#[derive(Debug)]
pub struct IdleSlots {
    write: VecDeque<u32>,
    read: Vec<u32>,
}

impl IdleSlots {
    /// All of a job's.
    pub fn new(spec: &TrialSpec) -> Self {
        // The one that was read into last is taken first: it is in the processor's cache.
        Self {
            write: (0..write_slots(spec)).collect(),
            read: (write_slots(spec)..slots(spec)).rev().collect(),
        }
    }

    /// One for a request; there is one as long as fewer requests are outstanding than the workload's depth.
    #[inline]
    pub fn take(&mut self, op: Op) -> u32 {
        let slot = if op == Op::Read { self.read.pop() } else { self.write.pop_front() };
        slot.expect("fewer requests are out than there are buffers")
    }

    /// The request has completed, or was never sent.
    #[inline]
    pub fn give_back(&mut self, op: Op, slot: u32) {
        if op == Op::Read { self.read.push(slot) } else { self.write.push_back(slot) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::Rw;

    fn spec(rw: Rw, block_size_bytes: u64, queue_depth: u32) -> TrialSpec {
        TrialSpec { rw, block_size_bytes, queue_depth, ..TrialSpec::default() }
    }

    #[test]
    fn a_mix_reads_into_other_buffers_than_it_writes_from() {
        let spec = spec(Rw::RandRw, 1 << 20, 4);
        let mut idle = IdleSlots::new(&spec);
        let written: Vec<u32> = (0..4).map(|_| idle.take(Op::Write)).collect();
        let read: Vec<u32> = (0..4).map(|_| idle.take(Op::Read)).collect();
        assert_eq!((written, read, slots(&spec)), (vec![0, 1, 2, 3], vec![4, 5, 6, 7], 8));
    }

    #[test]
    fn small_writes_one_at_a_time_take_turns() {
        let spec = spec(Rw::Write, 4096, 1);
        let mut idle = IdleSlots::new(&spec);
        let mut turn = || {
            let slot = idle.take(Op::Write);
            idle.give_back(Op::Write, slot);
            slot
        };
        assert_eq!((0..65).map(|_| turn()).collect::<Vec<_>>(), (0..64).chain([0]).collect::<Vec<_>>());
    }

    #[test]
    fn reads_and_trims_need_no_more_than_their_depth() {
        assert_eq!(slots(&spec(Rw::RandRead, 512, 32)), 32);
        assert_eq!(slots(&spec(Rw::Trim, 4096, 8)), 8);
    }
}
