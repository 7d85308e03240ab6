//! A target opened on all hosts of a run.

use iosonde_hosts::{Cluster, Deed, Opening};
use iosonde_model::{Medium, RunHost};
use iosonde_rig::{
    guard::{StrayRecorder, Target, Writes},
    platform,
};

use crate::{
    failure::Failure,
    hosts::{Hosts, failure_of},
    layout::Sharing,
    options::Options,
    session::{self, Asked, Session},
};

/// Version of the program, which is the same on all hosts.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Command line of this process, without the program's name.
pub fn own_words() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Opens a target on all hosts; nothing has been written to it yet.
pub fn open(
    text: &str,
    options: &Options,
    asked: Asked,
    strays: &mut dyn StrayRecorder,
) -> Result<Session, Failure> {
    let target = Target::parse(text).map_err(|refusal| Failure::usage(refusal.for_command(asked.command)))?;
    let (wanted, there) = (options.hosts.unwrap_or(1), Hosts::of_process());
    let hosts = if let Target::Simulated(_) = target {
        refuse_processes(text, asked.command, &there)?;
        if wanted > 1 { Hosts::simulated(Cluster::new(wanted)) } else { Hosts::alone() }
    } else if wanted == there.count() {
        there
    } else {
        return Err(Failure::usage(format!(
            "this is a run of {wanted} hosts, and {} are here; start them with MPI: mpirun -n {wanted} --map-by node \
             iosonde-mpi ..",
            there.count()
        )));
    };
    let sharing = Sharing::of(&target, options, hosts.count(), asked.workers)?;
    let asked = Asked { place: Some((&sharing, 0)), ..asked };
    let mut session = session::open_here(text, options, asked, strays)?;
    session.hosts = hosts;
    join(&mut session, (text, options, asked), strays)?;
    Ok(session)
}

/// Simulated hosts are in one process.
fn refuse_processes(text: &str, command: &str, there: &Hosts) -> Result<(), Failure> {
    match there.count() {
        1 => Ok(()),
        count => Err(Failure::usage(format!(
            "{text} is simulated, and its hosts need no MPI:  {command} {text} --hosts {count}"
        ))),
    }
}

/// Opens the target of a session on its other hosts, too.
pub fn join(
    session: &mut Session,
    (text, options, asked): (&str, &Options, Asked),
    strays: &mut dyn StrayRecorder,
) -> Result<(), Failure> {
    let count = session.hosts.count();
    if count == 1 {
        return Ok(());
    }
    let words = (
        asked.command,
        asked.writes != Writes::None,
        asked.writes == Writes::Needed,
        session.sharing.clone(),
    );
    let opening = Opening {
        version: VERSION.to_owned(),
        words: own_words(),
        target: text.to_owned(),
        options: serde_json::to_value(options).map_err(Failure::failed)?,
        asked: serde_json::to_value(words).map_err(Failure::failed)?,
    };
    let members = session.hosts.open(&opening, about(0, session), strays)?;
    refuse_unlike(&members, text)?;
    if session.sharing.rotate && !session.fill && session.device.medium != Medium::Simulated {
        return Err(Failure::usage(format!(
            "--rotate reads what another host wrote, and nothing is written to {text}; --destroy lets the hosts fill \
             it first"
        )));
    }
    session.meet()?;
    session.hosts.share(Deed::Meet).map_err(failure_of)?;
    // They may share one file system, so that each may take its part of what is free.
    let least_bytes = members.iter().map(|host| host.room_bytes).min().unwrap_or(0);
    session.room_bytes = least_bytes * session.bed.place.placement.sharers() / u64::from(count);
    let device = &mut session.device;
    device.working_set_bytes = device.working_set_bytes.min(session.room_bytes);
    device.hosts = Some(count);
    session.members = members;
    Ok(())
}

/// This host with its open target.
pub fn about(rank: u32, session: &Session) -> RunHost {
    let simulated = session.device.medium == Medium::Simulated;
    RunHost {
        rank,
        name: session.host.name.clone().unwrap_or_default(),
        kernel: session.host.kernel.clone(),
        file_system: session.device.file_system.clone(),
        device: session.device.name.clone(),
        boot: if simulated { None } else { platform::boot() },
        room_bytes: session.room_bytes,
    }
}

/// The same path must be the same kind of storage on all hosts.
fn refuse_unlike(members: &[RunHost], target: &str) -> Result<(), Failure> {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    let name =
        |host: &RunHost| host.file_system.clone().unwrap_or_else(|| "a device without a file system".into());
    match others.iter().find(|other| other.file_system != first.file_system) {
        None => Ok(()),
        Some(other) => Err(Failure::usage(format!(
            "{target} is on {} on host 0 ({}), and on {} on host {} ({}): these are different storage. Mount the same \
             one on all hosts, or leave a host out",
            name(first),
            first.name,
            name(other),
            other.rank,
            other.name
        ))),
    }
}
