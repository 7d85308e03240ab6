//! The program `iosonde-mpi`: `iosonde` on many hosts at once, started by `mpirun`, `srun` or a Kubernetes MPIJob.
//!
//! ```text
//! mpirun -n 16 --map-by node iosonde-mpi run quick /mnt/lustre
//! ```
//!
//! Rank 0 reads the command line, plans, judges, keeps the notebook and writes the report. Every rank opens the target
//! and makes its own load, with the same rig as `iosonde`. This crate is the link between them, and nothing more.

mod link;

use std::{
    env,
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

use link::MpiLink;

/// OpenMPI reads another process's memory for long messages, which a process that has given its power up may not do to
/// another one (Yama, Landlock): it copies them instead. Users' own settings stay.
const COPY: (&str, &str) = ("OMPI_MCA_btl_vader_single_copy_mechanism", "none");

fn main() -> ExitCode {
    if env::var_os(COPY.0).is_none()
        && let Ok(program) = env::current_exe()
    {
        // Comes back only where it failed; MPI then does without.
        let _ = Command::new(program).args(env::args_os().skip(1)).env(COPY.0, COPY.1).exec();
    }
    iosonde_cli::prepared();
    // Before MPI has threads. On each host one process waits for the one that touches the storage.
    iosonde_rig::supervise::go_on_under_supervision();
    match MpiLink::new() {
        Ok(link) => iosonde_cli::run_on_hosts(link),
        Err(why) => {
            iosonde_cli::complain(&why);
            ExitCode::FAILURE
        }
    }
}
