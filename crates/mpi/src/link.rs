//! Messages over MPI: point to point, of bytes. Nobody waits inside MPI, where a processor would be kept busy and a
//! host that is gone would never be noticed.

use std::io;

use iosonde_hosts::Link;
use mpi::{
    Threading,
    environment::Universe,
    point_to_point::{Destination, MatchedReceiveVec, Source},
    topology::{Communicator, SimpleCommunicator},
};

/// This process among those that were started together.
pub(crate) struct MpiLink {
    world: SimpleCommunicator,
    /// `None` once MPI has ended.
    universe: Option<Universe>,
}

impl MpiLink {
    /// Joins the others.
    pub(crate) fn new() -> Result<Self, String> {
        // Only the thread that measures sends, which need not be the one that began.
        let (universe, _) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or("MPI was begun already: this is a bug in iosonde-mpi")?;
        let world = universe.world();
        Ok(Self { world, universe: Some(universe) })
    }
}

impl Link for MpiLink {
    fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    fn count(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    fn send(&mut self, to: u32, message: &[u8]) -> io::Result<()> {
        let to = i32::try_from(to).map_err(io::Error::other)?;
        self.world.process_at_rank(to).send(message);
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        let Some(found) = self.world.any_process().immediate_matched_probe() else { return Ok(None) };
        let from = found.1.source_rank().unsigned_abs();
        let (bytes, _) = found.matched_receive_vec::<u8>();
        Ok(Some((from, bytes)))
    }

    fn close(&mut self, well: bool) {
        let universe = self.universe.take();
        if well {
            // All of them leave together.
            drop(universe);
        } else {
            // A host that is gone would be waited for without an end. mpirun sees a process that ends without a
            // good-bye, and ends the others.
            std::mem::forget(universe);
        }
    }
}
