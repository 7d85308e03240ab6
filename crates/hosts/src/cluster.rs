//! Simulated hosts on one simulated device: the same orders, checks and results, with a truth that is known.
//!
//! All hosts' loads share the device's queue and its virtual clock. Their starts are exact, unless hosts are told to
//! begin late.

use std::{
    io,
    ops::Range,
    sync::{Arc, atomic::AtomicBool},
};

use iosonde_model::{RunHost, TrialSpec};
use iosonde_rig::{
    drive::Limits,
    guard::StrayRecorder,
    hosts::{Part, merged},
    trial::{Bed, FinishedTrial, Order},
};

use crate::{Coordinator, Deed, Opening, seed_of, taking_part};

/// So many hosts in virtual time.
#[derive(Debug, Clone)]
pub struct Cluster {
    count: u32,
    /// A host that begins late, and by how many nanoseconds.
    late: Option<(u32, u64)>,
    /// Hosts with another queue depth, each with its share of the others'.
    shallow: Vec<(u32, f64)>,
    /// Hosts that do not always run.
    halts: Vec<(u32, Arc<[Range<u64>]>)>,
}

impl Cluster {
    /// So many hosts, all alike.
    pub fn new(count: u32) -> Self {
        Self { count, late: None, shallow: Vec::new(), halts: Vec::new() }
    }

    /// One of them begins each trial late.
    #[must_use]
    pub fn with_late(self, rank: u32, late_ns: u64) -> Self {
        Self { late: Some((rank, late_ns)), ..self }
    }

    /// One of them, or one more, keeps this share of the queue depth only. Where all requests wait in the same queues,
    /// its throughput is the same share of another host's (Little's law), whether the storage is saturated or not.
    #[must_use]
    pub fn with_shallow(mut self, rank: u32, share: f64) -> Self {
        self.shallow.push((rank, share));
        self
    }

    /// One of them, or one more, does not run at these moments, which are in order, in nanoseconds of the virtual time:
    /// its requests complete, and it sees them and sends others afterwards.
    #[must_use]
    pub fn with_halts(mut self, rank: u32, halts: Arc<[Range<u64>]>) -> Self {
        self.halts.push((rank, halts));
        self
    }

    fn halts(&self, rank: u32) -> Arc<[Range<u64>]> {
        let own = self.halts.iter().find(|(halted, _)| *halted == rank);
        own.map_or_else(Arc::default, |(_, halts)| Arc::clone(halts))
    }

    fn depth(&self, rank: u32, depth: u32) -> u32 {
        let share =
            self.shallow.iter().find(|(shallow, _)| *shallow == rank).map_or(1.0, |(_, share)| *share);
        ((f64::from(depth) * share).round() as u32).max(1)
    }

    fn delay_ns(&self, rank: u32) -> u64 {
        self.late.filter(|(late, _)| *late == rank).map_or(0, |(_, late_ns)| late_ns)
    }
}

impl Coordinator for Cluster {
    fn count(&self) -> u32 {
        self.count
    }

    fn open(
        &mut self,
        _: &Opening,
        own: RunHost,
        _: &mut dyn StrayRecorder,
        _: &AtomicBool,
    ) -> io::Result<Vec<RunHost>> {
        let host = |rank| RunHost { rank, name: format!("simulated {rank}"), ..own.clone() };
        Ok((0..self.count).map(host).collect())
    }

    fn run(
        &mut self,
        bed: &mut Bed,
        order: &Order,
        _: &[Limits],
        stop: &AtomicBool,
    ) -> io::Result<FinishedTrial> {
        let own = |rank: u32| {
            order.spec.clone().each_stream(|stream| TrialSpec {
                queue_depth: self.depth(rank, stream.queue_depth),
                delay_ns: stream.delay_ns + self.delay_ns(rank),
                ..stream
            })
        };
        let ranks = taking_part(order.spec, self.count, order.seed);
        let specs: Vec<TrialSpec> = ranks.iter().copied().map(own).collect();
        let told = |(spec, &rank)| {
            (Order { spec, seed: seed_of(order.seed, rank), ..order.clone() }, self.halts(rank))
        };
        let orders: Vec<_> = specs.iter().zip(&ranks).map(told).collect();
        let announced_ns = bed.clock.now_ns();
        let finished = bed.run_hosts(&orders, stop)?;
        let part = |(finished, rank): (FinishedTrial, u32)| Part {
            rank,
            finished,
            clock_offset_ns: 0,
            round_trip_ns: 0,
            counts_machine: rank == 0,
        };
        let parts = finished.into_iter().zip(ranks).map(part).collect();
        let mut whole = merged(parts, announced_ns, order.limits.duration_ns);
        // What was ordered, without one host's lateness.
        whole.trial.spec = order.spec.clone();
        Ok(whole)
    }

    fn share(&mut self, _: &Deed, _: &AtomicBool) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: bool) {}
}
