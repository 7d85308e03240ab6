//! `iosonde point`: one workload once, as one would with fio; the trial and its verdicts.

use std::path::Path;

use iosonde_infer::conclude;
use iosonde_model::{Medium, Phase, Run, TrialSpec, units};
use iosonde_report::terminal;
use iosonde_rig::{
    drive::Limits,
    guard::{Protected, Writes},
    offset, platform, verify,
};

use super::latency_limit;
use crate::{
    args::PointArgs,
    destination::failure_of,
    failure::Failure,
    joined,
    measure::{Measurement, power, prepare::FOREVER_S},
    notebook,
    options::Options,
    output::{self, result},
    screen::Screen,
    session::{Asked, Session, fits},
    single::{self, Titles},
    stream::StreamArgs,
};

/// Default length of a trial.
const TRIAL_NS: u64 = 5_000_000_000;
/// Default time of a search for the highest load.
const SEARCH_NS: u64 = 60_000_000_000;
/// How long filling may take for one point of no particular size: long enough for a gigabyte on an ordinary drive.
const FILL_S: f64 = 10.0;
/// Default size of the prepared area: one point does not justify the filling that a study does.
const DEFAULT_SIZE_BYTES: u64 = 1 << 30;

/// Runs one workload.
pub fn run(args: &PointArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let time_ns = args.time.unwrap_or(if args.latency_limit.is_some() { SEARCH_NS } else { TRIAL_NS });
    let rounds = args.latency_limit.map(|_| latency_limit::ROUNDS);
    let mut options = Options::of(&args.common, time_ns, 0.05, rounds);
    if args.atomic {
        options.engine = Some(with_atomic(options.engine.as_deref().unwrap_or("io_uring")));
    }
    let searching;
    let args = if args.latency_limit.is_some() {
        // A search offers rates of its own: what goes with a rate goes with it.
        let stream = StreamArgs { rate: Some(1.0), ..args.stream.clone() };
        searching = PointArgs { stream, ..args.clone() };
        &searching
    } else {
        args
    };
    refuse_what_was_typed(args, time_ns, screen)?;
    let mut book = notebook::open(store, &screen)?;
    let results =
        args.common.json.clone().map(|path| Protected { path, what: "the JSON document of this point" });
    let apart: Vec<_> = notebook::files(book.path()).into_iter().chain(results).collect();
    let changes = streams(args).any(|stream| stream.rw.changes());
    let writes = if changes { Writes::Needed } else { Writes::None };
    let workers = streams(args).map(|stream| stream.jobs).max().unwrap_or(1);
    let asked = Asked { command: "iosonde point", writes, apart: &apart, workers, place: None };
    let session = joined::open(&args.target, &options, asked, &mut notebook::Strays(&mut book))?;
    fits::refuse_what_does_not_fit(&args.target, &session, &options)?;
    refuse(args, &session)?;
    let titles = Titles {
        study: if args.latency_limit.is_some() { "latency-limit" } else { "point" },
        label: args.common.label.clone(),
        note: args.common.note.clone(),
        fio: None,
    };
    let (measurement, notebook) = single::begin(&args.target, titles, options, (session, book), screen)?;
    let places = power::places(&notebook, std::iter::once(&measurement.session));
    let measured = || single::measured(measurement, |measurement| measure(measurement, args));
    power::least(Some(&places), measured, |run| show(&mut run?, args, screen))
}

/// An engine with the option of atomic writes beside its others.
fn with_atomic(engine: &str) -> String {
    format!("{engine}{}atomic", if engine.contains(':') { ',' } else { ':' })
}

/// Sizes that are not written whole or not at all, and workloads that write nothing.
fn refuse_what_is_not_atomic(args: &PointArgs, session: &Session) -> Result<(), Failure> {
    let limits =
        session.admitted.as_ref().and_then(|admitted| platform::atomic_writes(&admitted.file)).flatten();
    // The engine has refused storage without limits by then.
    let Some(limits) = limits.filter(|_| args.atomic) else { return Ok(()) };
    let sizes = streams(args).filter(|stream| stream.rw.writes()).flat_map(|stream| {
        stream
            .bs
            .sizes
            .iter()
            .map(|size| size.bytes)
            .chain([stream.bs.largest_bytes, stream.align.unwrap_or(0)])
    });
    let refused = sizes
        .filter(|bytes| *bytes > 0)
        .find(|bytes| !u32::try_from(*bytes).is_ok_and(|bytes| limits.takes(bytes)));
    refused.map_or(Ok(()), |bytes| {
        Err(Failure::usage(format!(
            "{}: writes of {} are not atomic here; powers of two from {} to {} are (--bs)",
            args.target,
            units::size(bytes),
            units::size(limits.unit_min_bytes.into()),
            units::size(limits.unit_max_bytes.into())
        )))
    })
}

/// What cannot be, whatever the storage.
fn refuse_what_was_typed(args: &PointArgs, time_ns: u64, screen: Screen) -> Result<(), Failure> {
    if args.atomic && !streams(args).any(|stream| stream.rw.writes()) {
        return Err(Failure::usage("--atomic is about writes, and no stream writes; leave it out"));
    }
    if args.atomic && args.target.starts_with("sim:") {
        return Err(Failure::usage(
            "--atomic is about the kernel's RWF_ATOMIC, which simulated devices lack; leave it out",
        ));
    }
    streams(args).try_for_each(StreamArgs::refuse_contradictions)?;
    refuse_what_measures_nothing(args, time_ns)?;
    let apart = output::inputs([args.target.as_str()]);
    args.common.json.as_deref().map_or(Ok(()), |json| output::check(json, &apart, screen))
}

fn measure(measurement: &mut Measurement, args: &PointArgs) -> Result<(), Failure> {
    let asked_bytes = measurement.session.asked_bytes(&measurement.options, DEFAULT_SIZE_BYTES);
    let typed = spec(args, &measurement.session, asked_bytes.min(measurement.session.room_bytes))?;
    measurement.session.take_turns(typed.streams());
    // A size given by the user is prepared completely, however long it takes.
    let wished = measurement.options.size_bytes.is_some();
    measurement.prepare(asked_bytes, if wished { FOREVER_S } else { FILL_S }, 0)?;
    let spec = spec(args, &measurement.session, measurement.session.device.working_set_bytes)?;
    if let Some(limit) = args.latency_limit {
        return latency_limit::measure(measurement, &spec, limit, measurement.options.time_ns as f64 / 1e9);
    }
    let limits =
        Limits { warm_up_ns: args.warmup, ios: args.ios, ..Limits::time(measurement.options.time_ns) };
    let mut trial = measurement.trial(&spec, limits, Phase::Measure, measurement.options.seed)?;
    trial.experiment = "point".into();
    (trial.round, trial.point) = (1, Some(0));
    measurement.keep(trial)
}

fn show(run: &mut Run, args: &PointArgs, screen: Screen) -> Result<(), Failure> {
    conclude::conclude(run, None).map_err(Failure::failed)?;
    match &args.common.json {
        Some(path) => {
            let text = iosonde_report::json(run).map_err(Failure::failed)?;
            result(path, &text, screen)?
        }
        None => screen.result(&in_words(run, screen))?,
    }
    failure_of(run, args.common.strict).map_or(Ok(()), Err)
}

fn in_words(run: &Run, screen: Screen) -> String {
    let paint = screen.paint();
    if run.info.study == "point" {
        terminal::trial(run, screen.verbose, paint)
    } else {
        terminal::summary(run, paint)
    }
}

/// Limits that leave nothing to measure, and writing where nothing may be written.
fn refuse_what_measures_nothing(args: &PointArgs, time_ns: u64) -> Result<(), Failure> {
    /// Requests of an open loop, of each job: with fewer, warm-up and the last one's end are most of the trial.
    const DUE_MIN: f64 = 10.0;
    let refuse = |text: String| Err(Failure::usage(text));
    if args.common.read_only
        && let Some(stream) = streams(args).find(|stream| stream.rw.changes())
    {
        return refuse(format!("--read-only writes nothing, and {} does; leave one of them out", stream.rw));
    }
    if let Some(warmup_ns) = args.warmup.filter(|&ns| ns > 0) {
        if args.ios.is_some() {
            return refuse("--ios counts every request from the first; leave --warmup out".into());
        }
        if warmup_ns >= time_ns {
            let (warmup, time) =
                (units::duration(warmup_ns as f64 / 1e9), units::duration(time_ns as f64 / 1e9));
            return refuse(format!("a --warmup of {warmup} leaves nothing of a --time of {time} to measure"));
        }
    }
    let seconds = time_ns as f64 / 1e9;
    let slow = streams(args).filter_map(|stream| stream.rate).find(|rate| rate * seconds < DUE_MIN);
    match slow.filter(|_| args.latency_limit.is_none()) {
        Some(rate) => refuse(format!(
            "{rate} a second make {:.1} requests in {}; ten are needed to say anything: --time {:.0}s",
            rate * seconds,
            units::duration(seconds),
            (DUE_MIN / rate).ceil()
        )),
        None => Ok(()),
    }
}

/// What this engine and this storage cannot do is refused before anything is written.
fn refuse(args: &PointArgs, session: &Session) -> Result<(), Failure> {
    let device = &session.device;
    let asked_bytes = args.common.size.unwrap_or(DEFAULT_SIZE_BYTES).min(session.room_bytes);
    let spec = spec(args, session, asked_bytes)?;
    if let Some(problem) = offset::span_problem(&spec) {
        return Err(Failure::usage(problem));
    }
    if let Some(problem) = verify::problem(&spec) {
        return Err(Failure::usage(problem));
    }
    let reads_back = spec.streams().any(|stream| stream.verify && !stream.rw.writes());
    // What several hosts share is refused by its layout.
    if reads_back && device.medium == Medium::Simulated && args.common.hosts.is_none() {
        let why =
            "--verify: a simulated device holds nothing from earlier commands; use a pattern that writes";
        return Err(Failure::usage(why));
    }
    fits::refuse_what_the_engine_cannot(session, std::iter::once(&spec))?;
    refuse_what_is_not_atomic(args, session)?;
    if device.direct {
        let unit_bytes = device.direct_alignment_bytes.or(device.logical_block_bytes).unwrap_or(1);
        streams(args).try_for_each(|stream| stream.refuse_misaligned(unit_bytes))?;
    }
    Ok(())
}

fn streams(args: &PointArgs) -> impl Iterator<Item = &StreamArgs> {
    std::iter::once(&args.stream).chain(&args.and)
}

fn spec(args: &PointArgs, session: &Session, working_set_bytes: u64) -> Result<TrialSpec, Failure> {
    let device = &session.device;
    let of = |stream: &StreamArgs| stream.spec(&device.engine, device.direct, working_set_bytes);
    let and = args.and.iter().map(of).collect::<Result<_, _>>()?;
    Ok(device.by_hosts(TrialSpec { and, ..of(&args.stream)? }))
}
