//! Whether what is asked can be done on a target that was opened: size, depth, memory; and what this machine could do.

use std::path::Path;

use iosonde_model::{Ceiling, Device, HostLayout, Medium, Study, TrialSpec, typed, units};
use iosonde_rig::{
    ceiling, engine,
    placement::{self, Placement},
    platform,
};

use super::Session;
use crate::{failure::Failure, options::Options, studies};

/// Refuses workloads that the chosen engine or this machine's memory cannot carry, before anything is written.
pub fn refuse_what_the_engine_cannot<'a>(
    session: &Session,
    specs: impl Iterator<Item = &'a TrialSpec>,
) -> Result<(), Failure> {
    let placement = session.bed.place.placement;
    let each = |spec: &'a TrialSpec| match placement::problem(spec, &placement) {
        Some(problem) => Err(Failure::usage(problem)),
        None => Ok(spec),
    };
    let specs = specs.map(each).collect::<Result<Vec<&TrialSpec>, Failure>>()?;
    let streams: Vec<&TrialSpec> = specs.into_iter().flat_map(TrialSpec::streams).collect();
    refuse_several_turns(&placement, &streams)?;
    if placement.rotate && !streams.iter().any(|spec| spec.rw.reads()) {
        return Err(Failure::usage("--rotate is about what is read, and nothing is; leave it out"));
    }
    for spec in streams {
        let (engine, depth) = (&spec.engine, spec.queue_depth);
        let (kind, _) = engine::named(engine).map_err(Failure::usage)?;
        let abilities = kind.probe(&session.bed.storage).map_err(Failure::usage)?;
        abilities.refuse_depth(engine, depth).map_err(Failure::usage)?;
        let (block, slots) = (spec.block_size_bytes, u64::from(depth) * u64::from(spec.jobs));
        let buffers = block.saturating_mul(slots);
        // 1 GiB: a request's length is a 32-bit number to the kernel, and short above 2 GiB - 4 KiB (read(2)).
        if block > 1 << 30 {
            return Err(Failure::usage(format!("a block has at most 1 GiB, not {}", units::size(block))));
        }
        let Some((limit, of)) = buffers_max(session).filter(|(limit, _)| buffers > *limit) else { continue };
        return Err(Failure::usage(format!(
            "{slots} outstanding blocks of {} need {} of buffers; at most {of} ({}) is allowed. Use smaller blocks or \
             a lower queue depth",
            units::size(block),
            units::size(buffers),
            units::size(limit)
        )));
    }
    Ok(())
}

/// Rotated reads of a strided file go to what another host wrote only where all was written in the same turns.
fn refuse_several_turns(placement: &Placement, streams: &[&TrialSpec]) -> Result<(), Failure> {
    let turn = |spec: &&TrialSpec| (spec.block_size_bytes, spec.jobs);
    let several = streams.windows(2).any(|two| turn(&two[0]) != turn(&two[1]));
    if !(placement.rotate && placement.layout == HostLayout::SharedStrided && several) {
        return Ok(());
    }
    Err(Failure::usage(
        "--rotate with --layout shared-strided takes one block size and one number of jobs: other blocks would be read \
         by the host that wrote them; use --layout shared-segmented",
    ))
}

/// The most that buffers may take, and what that is a share of.
fn buffers_max(session: &Session) -> Option<(u64, &'static str)> {
    // A quarter: the rest belongs to the page cache and to everybody else.
    let machine = session.host.memory_bytes.map(|memory| (memory / 4, "a quarter of this machine's memory"));
    // Half of a group, in which nobody else is: beyond its limit the kernel kills the process.
    let simulated = session.device.medium == Medium::Simulated;
    let group = (!simulated).then(platform::allowed_memory_bytes).flatten();
    let group =
        group.map(|memory| (memory / 2, "half of the memory that this process's control group may use"));
    machine.into_iter().chain(group).min()
}

/// What follows a size that each of several hosts has for itself.
fn of_each(session: &Session) -> String {
    match session.areas() {
        1 => String::new(),
        hosts => format!(" for each of {hosts} hosts"),
    }
}

/// Hosts that may share one file system take equal parts of its room.
fn by_each(session: &Session) -> String {
    let hosts = session.bed.place.placement.hosts;
    if hosts > 1 && session.areas() > 1 { format!(" by each of {hosts} hosts") } else { String::new() }
}

/// Highest rate of one worker with the smallest block of a study: the report shows it beside what the storage
/// did. None for a simulated device, whose program has its own cost.
pub fn ceilings(device: &Device, study: &Study, target: &str) -> Result<Vec<Ceiling>, Failure> {
    if device.medium == Medium::Simulated {
        return Ok(Vec::new());
    }
    let points = studies::plan(study, device)?.points;
    let smallest = points.iter().map(|point| point.spec.smallest_block_bytes()).min();
    let temporary = std::env::temp_dir();
    let folder = if Path::new(target).is_dir() { Path::new(target) } else { temporary.as_path() };
    // A machine that cannot do this can still measure: the figure is then absent.
    let measured = smallest.map(|bytes| ceiling::measure(&device.engine, bytes, Some(folder)));
    Ok(measured.and_then(Result::ok).into_iter().collect())
}

/// A size that the user gave explicitly and that is not available is an error: another size would answer another
/// question. A default size is reduced, and the plan says so.
pub fn refuse_what_does_not_fit(target: &str, session: &Session, options: &Options) -> Result<(), Failure> {
    let Some(asked_bytes) = options.size_bytes.filter(|_| !options.exact_size) else { return Ok(()) };
    let room_bytes = (session.room_bytes as f64 * session.scale).round() as u64;
    if asked_bytes <= room_bytes {
        return Ok(());
    }
    let (asked, room) = (units::size(asked_bytes), units::size(room_bytes));
    let free = session.admitted.as_ref().and_then(|admitted| admitted.free_bytes);
    let there = match (free, session.device.kind.as_str()) {
        (Some(free), _) => format!(
            "{} are free there, of which {room} may be taken{} (half; a tenth of the file system or 10 GiB stays free)",
            units::size(free),
            by_each(session)
        ),
        (None, "directory") => format!("{room} may be taken there at most"),
        _ => format!("it holds {room}{}", of_each(session)),
    };
    Err(Failure::usage(format!(
        "--size {asked} does not fit {target}: {there}; --size {} would do",
        typed::size(room_bytes)
    )))
}
