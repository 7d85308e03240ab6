//! `iosonde capacity`: does storage hold as much as it claims?

use std::{io, path::Path};

use iosonde_infer::capacity;
use iosonde_model::{Capacity, CapacityFinding, CapacityScope, units};
use iosonde_rig::{
    capacity::{Layout, Prober, Stage},
    guard::{TargetKind, Writes},
    interrupt,
};

use crate::{
    args::CapacityArgs,
    failure::{DOUBT, Failure, INTERRUPTED, in_words},
    measure::{info, power, stall},
    notebook,
    options::Options,
    progress::TransferProgress,
    screen::Screen,
    session::{self, Asked, Session},
};

/// Probes a target.
pub fn run(args: &CapacityArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    args.answer.check(&args.target, screen)?;
    let seed = args.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
    let options = Options {
        size_bytes: args.size,
        engine: args.engine.clone(),
        destroy: args.destroy.clone(),
        // What a simulated device claims is what its file says.
        exact_size: true,
        ..Options::usual(0, 1.0, seed)
    };
    let mut book = notebook::open(store, &screen)?;
    let apart: Vec<_> = notebook::files(book.path()).into_iter().chain(args.answer.protected()).collect();
    let asked = Asked {
        command: "iosonde capacity",
        writes: Writes::Everywhere,
        apart: &apart,
        workers: 1,
        place: None,
    };
    let session = session::open_here(&args.target, &options, asked, &mut notebook::Strays(&mut book))?;
    let scope = scope(&session);
    if args.resume && !matches!(scope, CapacityScope::Device | CapacityScope::File) {
        return Err(Failure::usage(format!(
            "{}: nothing is left of an interrupted test but on a device or in a file; leave --resume out",
            args.target
        )));
    }
    let places = power::places(book.path(), std::iter::once(&session));
    let probed = || probe(args, &session, seed, screen);
    power::least(Some(&places), probed, |capacity| show(&capacity?, args, screen))
}

fn scope(session: &Session) -> CapacityScope {
    match session.admitted.as_ref().map(|admitted| admitted.kind) {
        None => CapacityScope::Simulated,
        Some(TargetKind::Block) => CapacityScope::Device,
        Some(TargetKind::File) => CapacityScope::File,
        Some(TargetKind::Directory) => CapacityScope::FreeSpace,
    }
}

fn probe(args: &CapacityArgs, session: &Session, seed: u64, screen: Screen) -> Result<Capacity, Failure> {
    let target = &args.target;
    let scope = scope(session);
    let size_bytes = args.size.unwrap_or(u64::MAX).min(session.room_bytes);
    let stop = interrupt::catch();
    let (began_ns, started_at) = (session.bed.clock.now_ns(), session.bed.clock.utc());
    let _watch = (scope != CapacityScope::Simulated)
        .then(|| stall::watch(stall::STALLED_FILLING_AFTER, target.clone(), String::new()));
    let failed = |error: io::Error| failure(args, &error);
    let way = (session.device.engine.as_str(), session.device.direct);
    let mut prober = Prober::open(&session.bed, way, seed, stop).map_err(failed)?;
    if scope == CapacityScope::FreeSpace && !prober.reserve(size_bytes).map_err(failed)? && !args.full {
        return Err(Failure::usage(format!(
            "{target}: its file system reserves no place for a file, so that a sample of one says nothing; use --full, \
             or name the device"
        )));
    }
    let layout = if args.full {
        Layout::whole(size_bytes)
    } else {
        let window_bytes = prober.window_bytes(size_bytes).map_err(failed)?;
        Layout::sparse(size_bytes, window_bytes, seed)
    };
    let written_bytes = layout.written_bytes();
    let amount = units::decimal_bytes(written_bytes);
    screen.say(&format!("testing       {target}: writing {amount}, then reading it back"));
    let mut progress = TransferProgress::of_bytes(&screen);
    let mut told = |stage: Stage, done_bytes: u64, all_bytes: u64| {
        let what = match stage {
            Stage::Writing => "writing",
            Stage::Reading => "reading",
        };
        progress.show(what, done_bytes, all_bytes);
    };
    let from_bytes = if args.resume { prober.take_up(&layout).map_err(failed)? } else { None };
    let unwritable = prober.write_from(&layout, from_bytes.unwrap_or(0), &mut told).map_err(failed)?;
    let found = prober.read(&layout, &unwritable, &mut told).map_err(failed)?;
    progress.end();
    let mut finding = capacity::finding(&found);
    if let CapacityFinding::Ends { at_least_bytes, at_most_bytes, .. } = finding
        && !layout.is_whole()
        && at_least_bytes + found.block_bytes < at_most_bytes
    {
        let within = prober.narrow(&layout, &(at_least_bytes..at_most_bytes)).map_err(failed)?;
        finding = capacity::narrowed(finding, &within);
    }
    let counts = found.counts();
    let elapsed_s = (session.bed.clock.now_ns() - began_ns) as f64 / 1e9;
    Ok(Capacity {
        target: target.clone(),
        scope,
        claimed_bytes: found.claimed_bytes,
        only_first_part: size_bytes < session.room_bytes,
        full: layout.is_whole(),
        blocks: counts.kept + counts.lost + counts.shifted + counts.failed,
        block_bytes: found.block_bytes,
        step_bytes: found.step_bytes,
        written_bytes: written_bytes - from_bytes.unwrap_or(0),
        written_before_bytes: from_bytes.unwrap_or(0),
        found: counts,
        elapsed_s,
        finding,
        parts: capacity::kept_parts(&found),
        circumstances: info::circumstances(session, size_bytes, started_at),
    })
}

/// How the command ends where the storage or the user ended the test.
fn failure(args: &CapacityArgs, error: &io::Error) -> Failure {
    let target = &args.target;
    if error.kind() == io::ErrorKind::Interrupted {
        let destroy = args.destroy.as_ref().map_or_else(String::new, |identity| match identity.as_str() {
            "" => " --destroy".to_owned(),
            identity => format!(" --destroy={identity}"),
        });
        let on = if args.full && args.destroy.is_some() {
            format!("\n  to go on:  iosonde capacity {target} --full --resume{destroy}")
        } else {
            String::new()
        };
        return Failure { code: INTERRUPTED, text: format!("interrupted; nothing is concluded{on}") };
    }
    Failure::failed(format!("{target}: the test could not go on: {}", in_words(error)))
}

fn show(capacity: &Capacity, args: &CapacityArgs, screen: Screen) -> Result<(), Failure> {
    args.answer.show(capacity, screen)?;
    match capacity.finding {
        CapacityFinding::Genuine { .. } => Ok(()),
        _ => Err(Failure { code: DOUBT, text: String::new() }),
    }
}
