//! One run on many hosts: rank 0 plans and judges, and every host makes its own load with the same rig.
//!
//! [`Coordinator`] is what the program knows of it: broadcast the next trial, let all begin at one moment, gather what
//! they measured. Three implementations:
//! - [`Alone`]: one process, without any message;
//! - [`Leader`]: rank 0 of several processes, over any [`Link`]: MPI (crates/mpi), or threads in tests. The others are
//!   in [`follow`];
//! - [`Cluster`]: N simulated hosts on one simulated device, in its virtual time.
//!
//! It knows no MPI, so that nobody needs one to build iosonde.

mod alone;
mod cluster;
mod follower;
mod leader;
mod lost;
mod machines;
mod message;
mod offset;
pub mod pieces;
mod threads;
mod waiting;

use std::{io, sync::atomic::AtomicBool, time::Duration};

use iosonde_model::{RunHost, TrialSpec};
use iosonde_rig::{
    drive::Limits,
    guard::StrayRecorder,
    trial::{Bed, FinishedTrial, Order},
};

use rand::{SeedableRng, seq::index::sample};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use alone::Alone;
pub use cluster::Cluster;
pub use follower::{Cannot, Workplace, follow};
pub use leader::Leader;
pub use lost::{Lost, Refused};
pub use message::{Deed, Opening};
pub use threads::{ThreadLink, links};

/// A host that sends nothing for so long, beyond the time that its work takes, is lost: with what mpirun takes, a run
/// ends within 30 s.
const PATIENCE: Duration = Duration::from_secs(20);
/// Within a trial, however long it measures, each host says so often that it still runs.
const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// The hosts of a run, as rank 0 sees them.
pub trait Coordinator {
    /// Number of hosts, this one included.
    fn count(&self) -> u32;

    /// Opens the target on every other host; what each has, this host's own first. One host's refusal is everybody's.
    fn open(
        &mut self,
        opening: &Opening,
        own: RunHost,
        strays: &mut dyn StrayRecorder,
        stop: &AtomicBool,
    ) -> io::Result<Vec<RunHost>>;

    /// Broadcasts a trial, begins it on the hosts of its workload at one moment, and gathers what they measured as one
    /// trial. The other hosts wait until it is over.
    fn run(
        &mut self,
        bed: &mut Bed,
        order: &Order,
        own: &[Limits],
        stop: &AtomicBool,
    ) -> io::Result<FinishedTrial>;

    /// Lets every other host do something between trials, and waits until all have.
    fn share(&mut self, deed: &Deed, stop: &AtomicBool) -> io::Result<()>;

    /// Ends every other host, which removes its files; `well` where nothing went wrong.
    fn end(&mut self, well: bool);
}

/// A way for messages between the hosts of a run. Messages of one sender to one receiver keep their order.
pub trait Link {
    /// This host's number, from 0.
    fn rank(&self) -> u32;
    /// Number of hosts.
    fn count(&self) -> u32;
    /// Sends a message.
    fn send(&mut self, to: u32, message: &[u8]) -> io::Result<()>;
    /// A message that has arrived, with its sender; does not wait.
    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>>;
    /// Ends the conversation; where it did not go well, every host that still runs is ended, too.
    fn close(&mut self, well: bool);
}

/// Hosts that take part in a trial, by their ranks: rank 0, which makes its load where it plans, and others that the
/// trial's seed draws, so that no host stands for all in every trial of few. Every host draws the same ones.
fn taking_part(spec: &TrialSpec, all: u32, seed: u64) -> Vec<u32> {
    let wanted = spec.hosts.clamp(1, all);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let others = sample(&mut random, (all - 1) as usize, (wanted - 1) as usize);
    let mut ranks: Vec<u32> = others.into_iter().map(|nth| nth as u32 + 1).chain([0]).collect();
    ranks.sort_unstable();
    ranks
}

/// Seed of one host's part of a trial: hosts that read the same places in the same order would meet in every cache.
fn seed_of(seed: u64, rank: u32) -> u64 {
    // Multiples of the golden ratio lie far apart (Knuth); rank 0 has the seed of a host that is alone.
    seed ^ u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
