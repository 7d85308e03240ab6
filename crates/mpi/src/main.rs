//! The program `iosonde-mpi`: `iosonde` on many hosts at once, started by `mpirun`, `srun` or a Kubernetes MPIJob.
//!
//! ```text
//! mpirun -n 16 --map-by node iosonde-mpi run quick /mnt/lustre
//! ```
//!
//! Rank 0 reads the command line, plans, judges, keeps the notebook and writes the report. Every rank opens the target
//! and makes its own load, with the same rig as `iosonde`. This crate is the link between them, and nothing more.

mod link;

use std::process::ExitCode;

use iosonde_rig::{platform::ProcessGroup, supervise::go_on_under_supervision};
use link::MpiLink;

fn main() -> ExitCode {
    iosonde_cli::prepared();
    // Before MPI has threads. On each host one process waits for the one that touches the storage.
    go_on_under_supervision(ProcessGroup::Own);
    match MpiLink::new() {
        Ok(link) => iosonde_cli::run_on_hosts(link),
        Err(why) => {
            iosonde_cli::complain(&why);
            ExitCode::FAILURE
        }
    }
}
