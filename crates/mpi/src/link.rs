//! Messages over MPI: point to point, of bytes. Nobody waits inside MPI for a message, where a processor would be kept
//! busy and a host that is gone would never be noticed. Sending may wait there: until MPI has room for a piece.

use std::io;

use iosonde_hosts::{
    Link,
    pieces::{self, Pieces},
};
use mpi::{
    Threading,
    environment::Universe,
    point_to_point::{Destination, MatchedReceiveVec, Source},
    topology::{Communicator, SimpleCommunicator},
};

/// This process among those that were started together.
pub(crate) struct MpiLink {
    world: SimpleCommunicator,
    /// What has come of a message of each process.
    incoming: Vec<Pieces>,
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
        let incoming = vec![Pieces::default(); world.size().unsigned_abs() as usize];
        Ok(Self { world, incoming, universe: Some(universe) })
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
        let to = self.world.process_at_rank(to);
        pieces::send(message, |piece| {
            to.send(piece);
            Ok(())
        })
    }

    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        while let Some(found) = self.world.any_process().immediate_matched_probe() {
            let from = found.1.source_rank().unsigned_abs();
            let (piece, _) = found.matched_receive_vec::<u8>();
            if let Some(message) = self.incoming[from as usize].take(&piece) {
                return Ok(Some((from, message)));
            }
        }
        Ok(None)
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
