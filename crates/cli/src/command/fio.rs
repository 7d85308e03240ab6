//! `iosonde fio`: fio's jobs, run by iosonde's engines and checked like everything else.
//!
//! A group of jobs that run at once is one trial, and each of its jobs a stream. Groups on one target are one run.

mod batch;
mod latency_target;
mod words;
mod world;

use std::{path::Path, thread};

use iosonde_infer::conclude;
use iosonde_model::{LeftOut, Phase, Run, TrialSpec, fio::FioJobs, typed, units};
use iosonde_plan::fio::{Advice, Caps, Ends, ExitWhat, Group, Laid, Refusal, Site};
use iosonde_report::{
    Paint, clean, terminal,
    text::{self, validity::validity},
};
use iosonde_rig::{
    drive::{Early, Limits, Takes},
    guard::{Protected, StrayRecorder, Writes},
    offset, prepare,
    trial::Order,
    verify,
};
use iosonde_store::export::{EXPORTS, fio_logs};

use crate::{
    args::{FioArgs, FioFormat},
    destination::failure_of,
    failure::Failure,
    measure::{Measurement, power, prepare::FOREVER_S},
    notebook,
    options::Options,
    output::{self, result},
    screen::Screen,
    session::{self, Asked, Session, fits},
    single::{self, Titles},
};
use batch::Batch;
use words::Allowed;
use world::Jobs;

/// Name of these runs in place of a study's.
const STUDY: &str = "fio";

/// Runs jobs.
pub fn run(args: &FioArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let mut asked = world::jobs(args)?;
    let jobs = std::mem::take(&mut asked.jobs);
    let args = &asked.args;
    let caps = Caps { time_ns: args.time, size_bytes: args.size };
    jobs.iter().for_each(|job| words::changes(job, caps, screen));
    let mut groups = iosonde_plan::fio::groups(jobs).map_err(Failure::usage)?;
    if let Some((job, behind)) = end_of_all(&groups) {
        screen.say(&words::nothing_behind(job));
        groups.truncate(behind);
    }
    let batches = batches(groups, args)?;
    refuse_several_documents(args, &batches)?;
    batches.iter().try_for_each(|batch| refuse_writes(batch, args))?;
    if args.dry_run {
        batches.iter().try_for_each(|batch| screen.result(&words::plan(batch, caps)?))?;
        // What a run would refuse, with its exit code.
        return batches.iter().try_for_each(|batch| look_at(batch, &asked, caps, store, screen));
    }
    if let [batch] = &batches[..] {
        return run_batch(batch, &asked, caps, store, screen);
    }
    // What is refused is refused before the first of them writes.
    batches.iter().try_for_each(|batch| look_at(batch, &asked, caps, store, screen))?;
    batches.iter().try_for_each(|batch| {
        // A thread that has given up its power for one target has none left for the next one.
        thread::scope(|scope| {
            let run = scope.spawn(|| run_batch(batch, &asked, caps, store, screen));
            run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// The first job whose end is that of all jobs, with the number of groups up to its own, where some come after it.
fn end_of_all(groups: &[Group]) -> Option<(&iosonde_plan::fio::Job, usize)> {
    let ends_all = |group: &Group| group.jobs.iter().position(|job| job.exit_what == Some(ExitWhat::All));
    let (at, job) = groups.iter().enumerate().find_map(|(at, group)| Some((at, ends_all(group)?)))?;
    (at + 1 < groups.len()).then(|| (&groups[at].jobs[job], at + 1))
}

/// The first job that writes.
fn writer(batch: &Batch) -> Option<&iosonde_plan::fio::Job> {
    batch.groups.iter().flat_map(|group| &group.jobs).find(|job| job.spec.changes())
}

fn refuse_writes(batch: &Batch, args: &FioArgs) -> Result<(), Failure> {
    writer(batch).filter(|_| args.read_only).map_or(Ok(()), |job| {
        let place = job.place_of("rw");
        Err(Failure::usage(format!("{place}: --read-only writes nothing, and {} does", job.spec.rw)))
    })
}

/// Groups that follow each other on one target are one run.
fn batches(groups: Vec<Group>, args: &FioArgs) -> Result<Vec<Batch>, Failure> {
    let mut batches: Vec<Batch> = Vec::new();
    for group in groups {
        let site = match &args.target {
            None => group.site(&world::found).map_err(Failure::usage)?,
            Some(target) if Path::new(target).is_dir() => Site::Own(target.clone()),
            Some(target) => Site::Existing(target.clone()),
        };
        match batches.last_mut().filter(|batch| batch.site == site) {
            Some(batch) => batch.groups.push(group),
            None => batches.push(Batch { site, groups: vec![group] }),
        }
    }
    Ok(batches)
}

fn refuse_several_documents(args: &FioArgs, batches: &[Batch]) -> Result<(), Failure> {
    let documents = args.json.is_some() || args.output_format.is_some_and(|form| form != FioFormat::Normal);
    let of_fio = args.output_format.filter(|form| *form != FioFormat::Normal);
    if args.json.is_some() && of_fio.is_some() {
        return Err(Failure::usage(
            "--json and --output-format json ask for two documents; leave one out (iosonde export last writes the \
             other)",
        ));
    }
    if documents && batches.len() > 1 {
        let targets: Vec<&str> = batches.iter().map(|batch| batch.site.target()).collect();
        return Err(Failure::usage(format!(
            "a JSON document is of one target, and these jobs are on {}; run them one by one (--section), or give \
             --target",
            targets.join(", ")
        )));
    }
    Ok(())
}

/// The options of a run: what the groups need of the target.
fn options(batch: &Batch, args: &FioArgs, caps: Caps) -> Result<Options, Refusal> {
    let needed = batch.groups.iter().map(|group| group.needs_bytes(&batch.site, caps));
    let needed: Option<u64> = needed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max();
    let first = &batch.groups[0].jobs[0];
    let direct = batch.groups.iter().any(|group| group.jobs[0].spec.direct);
    let time_ns = batch.groups.iter().map(|group| longest_ns(group, caps)).sum();
    let seed = args.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
    let simulated = batch.site.target().starts_with("sim:");
    Ok(Options {
        size_bytes: matches!(batch.site, Site::Own(_)).then_some(needed).flatten().map(whole_blocks),
        engine: (!simulated).then(|| first.engine.clone()),
        // A simulated device without a page cache has nothing to be buffered by.
        direct: if simulated { None } else { Some(direct) },
        read_only: args.read_only,
        destroy: args.destroy.clone(),
        ..Options::usual(time_ns, 0.05, seed)
    })
}

/// Filling goes by whole blocks.
fn whole_blocks(bytes: u64) -> u64 {
    bytes.div_ceil(prepare::FILL_BLOCK_BYTES).saturating_mul(prepare::FILL_BLOCK_BYTES)
}

/// Time of a group, where its jobs say one.
fn longest_ns(group: &Group, caps: Caps) -> u64 {
    let own = |job: &iosonde_plan::fio::Job| {
        job.runtime_ns.unwrap_or(0).saturating_add(job.ramp_ns).saturating_add(job.spec.delay_ns)
    };
    let longest = group.jobs.iter().map(own).max().unwrap_or(0);
    caps.time_ns.map_or(longest, |most| longest.min(most))
}

/// A batch that may be measured.
struct Opened {
    options: Options,
    session: Session,
    laid: Vec<Laid>,
    jobs: FioJobs,
}

/// Refuses what a run would refuse, and makes no notebook.
fn look_at(
    batch: &Batch,
    jobs: &Jobs,
    caps: Caps,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let book = notebook::path(store)?;
    let opened = open(batch, jobs, caps, (&book, &mut notebook::Unwritten), screen)?;
    if jobs.args.dry_run {
        say_what_is_smaller(batch, &opened.session, caps, screen);
    }
    Ok(())
}

fn say_what_is_smaller(batch: &Batch, session: &Session, caps: Caps, screen: Screen) {
    let told = words::larger_than_target(batch, session.room_bytes, caps);
    told.iter().for_each(|line| screen.say(&format!("note          {line}")));
}

/// Opens the target of a batch and refuses what cannot be done there. Nothing is written.
fn open(
    batch: &Batch,
    Jobs { args, global, .. }: &Jobs,
    caps: Caps,
    (book, strays): (&Path, &mut dyn StrayRecorder),
    screen: Screen,
) -> Result<Opened, Failure> {
    let options = options(batch, args, caps).map_err(Failure::usage)?;
    let results = [&args.json, &args.output].into_iter().flatten();
    let results = results.map(|path| Protected { path: path.clone(), what: "the document of these jobs" });
    let read = output::inputs(args.files.iter().map(String::as_str));
    let apart: Vec<_> = notebook::files(book).into_iter().chain(results).chain(read).collect();
    for path in [&args.json, &args.output].into_iter().flatten() {
        output::check(path, &output::inputs([batch.site.target()]), screen)?;
    }
    let writes = if writer(batch).is_some() { Writes::Needed } else { Writes::None };
    let command = words::command(args);
    let asked = Asked { command: &command, writes, apart: &apart, workers: 1, place: None };
    let opened = session::open_here(batch.site.target(), &options, asked, strays);
    let mut session = opened.map_err(|failure| words::of_the_file(failure, batch))?;
    if let Site::Existing(_) = batch.site {
        // fio measures a file that is there as it is.
        session.fill = false;
    }
    refuse_what_does_not_fit(batch, &session, &options)?;
    let laid = lay(batch, &session, &options, caps)?;
    if !session.has_page_cache && batch.groups.iter().any(|group| !group.jobs[0].spec.direct) {
        screen.say(&format!("left out      {}", text::left_out(&LeftOut::NoPageCache)));
    }
    let jobs = FioJobs { groups: laid.iter().map(|laid| laid.reports.clone()).collect(), ..global.clone() };
    for path in fio_logs::paths(&jobs) {
        output::check(Path::new(&path), &apart, screen)?;
    }
    Ok(Opened { options, session, laid, jobs })
}

fn run_batch(
    batch: &Batch,
    asked: &Jobs,
    caps: Caps,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let args = &asked.args;
    let mut book = notebook::open(store, &screen)?;
    let path = book.path().to_owned();
    let opened = open(batch, asked, caps, (&path, &mut notebook::Strays(&mut book)), screen)?;
    let Opened { options, session, laid, jobs } = opened;
    say_what_is_smaller(batch, &session, caps, screen);
    let (label, note) = (args.label.clone(), args.note.clone());
    let titles = Titles { study: STUDY, label, note, fio: Some(jobs) };
    let (measurement, notebook) =
        single::begin(batch.site.target(), titles, options, (session, book), screen)?;
    let places = power::places(&notebook, std::iter::once(&measurement.session));
    let measured = || single::measured(measurement, |measurement| measure(measurement, batch, &laid, caps));
    let allowed = words::allowed(batch);
    power::least(Some(&places), measured, |run| {
        let mut run = run?;
        words::steady(&run, batch, &laid)
            .iter()
            .for_each(|line| screen.say(&format!("note          {line}")));
        show(&mut run, batch, &allowed, args, screen)
    })
}

/// Lays the groups out, and refuses what this engine and this storage cannot do, before anything is written.
fn lay(batch: &Batch, session: &Session, options: &Options, caps: Caps) -> Result<Vec<Laid>, Failure> {
    let device = &session.device;
    let capacity_bytes = match batch.site {
        Site::Own(_) => options.size_bytes.unwrap_or(session.room_bytes),
        Site::Existing(_) => session.room_bytes / 4096 * 4096,
    };
    let mut all = Vec::new();
    for group in &batch.groups {
        let mut laid = group.lay(&batch.site, capacity_bytes, caps).map_err(Failure::usage)?;
        laid.spec = laid.spec.each_stream(|stream| TrialSpec {
            engine: if device.kind == "simulated" { device.engine.clone() } else { stream.engine },
            direct: device.direct && (stream.direct || !session.has_page_cache),
            ..stream
        });
        let of_first = |problem: String| Failure::usage(format!("{}: {problem}", group.jobs[0].place));
        if let Some(problem) = offset::span_problem(&laid.spec).or_else(|| verify::problem(&laid.spec)) {
            return Err(of_first(problem));
        }
        fits::refuse_what_the_engine_cannot(session, std::iter::once(&laid.spec))
            .map_err(|failure| of_first(failure.text))?;
        refuse_misaligned(group, &laid, session)?;
        all.push(laid);
    }
    Ok(all)
}

/// Direct I/O goes by whole units of the device.
fn refuse_misaligned(group: &Group, laid: &Laid, session: &Session) -> Result<(), Failure> {
    let device = &session.device;
    let unit_bytes = device.direct_alignment_bytes.or(device.logical_block_bytes).unwrap_or(1);
    for (report, job) in laid.reports.iter().zip(&group.jobs).filter(|(_, job)| job.spec.direct) {
        let streams = report.streams.iter().filter_map(|at| laid.spec.streams().nth(*at));
        let odd = streams.flat_map(|stream| {
            let sizes = stream.block_sizes.iter().map(|size| ("bs", size.bytes));
            let others = [("bs", stream.block_size_bytes), ("offset", stream.offset_bytes)];
            let more = [("ba", stream.align_bytes.unwrap_or(0)), ("rw", stream.stride_bytes.unwrap_or(0))];
            sizes.chain(others).chain(more).collect::<Vec<_>>()
        });
        if let Some((option, bytes)) = odd.into_iter().find(|(_, bytes)| bytes % unit_bytes != 0) {
            return Err(Failure::usage(format!(
                "{}: {option}: {bytes} B are no multiple of {}, which direct I/O needs here; align it, or use direct=0",
                job.place_of(option),
                units::size(unit_bytes)
            )));
        }
    }
    Ok(())
}

fn refuse_what_does_not_fit(batch: &Batch, session: &Session, options: &Options) -> Result<(), Failure> {
    let Some(needed_bytes) = options.size_bytes.filter(|bytes| *bytes > session.room_bytes) else {
        return Ok(());
    };
    let job = &batch.groups[0].jobs[0];
    Err(Failure::usage(format!(
        "{}: the files of these jobs need {}, and {} may be taken in {} (half of what is free; a tenth of the file \
         system or 10 GiB stays free); --size {} caps each file",
        job.place_of("size"),
        units::size(needed_bytes),
        units::size(session.room_bytes),
        batch.site.target(),
        typed::size(session.room_bytes / files_of(batch)),
    )))
}

/// Files of the group that has most.
fn files_of(batch: &Batch) -> u64 {
    let files = |group: &Group| group.jobs.iter().map(|job| u64::from(job.spec.jobs)).sum::<u64>();
    batch.groups.iter().map(files).max().unwrap_or(1).max(1)
}

fn measure(measurement: &mut Measurement, batch: &Batch, laid: &[Laid], caps: Caps) -> Result<(), Failure> {
    let bytes = laid.iter().map(|laid| laid.bytes).max().unwrap_or(0);
    measurement.prepare(measurement.options.size_bytes.unwrap_or(bytes), FOREVER_S, 0)?;
    for ((at, laid), group) in laid.iter().enumerate().zip(&batch.groups) {
        let spec = &laid.spec;
        if measurement.session.fill {
            measurement.refill_before(spec)?;
        }
        measurement.session.bed.advise(match group.advice() {
            Advice::Normal => None,
            Advice::Random => Some(true),
            Advice::Sequential => Some(false),
        });
        if !spec.direct && group.jobs.iter().any(|job| job.invalidate) {
            measurement.session.bed.drop_pages();
        }
        measurement.session.go_through_page_cache(!spec.direct)?;
        let (spec, ends) = latency_target::at_found_depth(measurement, group, laid, caps.time_ns)?;
        let own: Vec<Limits> =
            ends.iter().enumerate().map(|(stream, ends)| limits(ends, laid, stream)).collect();
        let seed = measurement.options.seed.wrapping_add(at as u64);
        let order = Order { spec: &spec, limits: own[0], phase: Phase::Measure, seed };
        measurement.screen.say(&words::under_way(group, &spec));
        let mut trial = measurement.trial_each(order, &own)?;
        trial.experiment = words::name(group);
        (trial.round, trial.point) = (1, Some(at));
        measurement.keep(trial)?;
    }
    Ok(())
}

fn limits(ends: &Ends, laid: &Laid, stream: usize) -> Limits {
    // Jobs that are reported together are steady together.
    let report = laid.reports.iter().position(|report| report.streams.contains(&stream)).unwrap_or(0);
    let (first, own) = (&laid.reports[0], &laid.reports[report]);
    let takes = match ends.exit_what {
        None => Takes::None,
        Some(ExitWhat::Group) => Takes::Group,
        Some(ExitWhat::Stonewall | ExitWhat::All) => Takes::All,
    };
    Limits {
        duration_ns: ends.duration_ns.unwrap_or(u64::MAX),
        warm_up_ns: Some(ends.warm_up_ns),
        ios: ends.ios,
        early: Early {
            group: own.group.saturating_sub(first.group) as usize,
            takes,
            steady: ends.steady.map(|rule| (rule, report)),
        },
    }
}

fn show(
    run: &mut Run,
    batch: &Batch,
    allowed: &[Allowed],
    args: &FioArgs,
    screen: Screen,
) -> Result<(), Failure> {
    conclude::conclude(run, None).map_err(Failure::failed)?;
    for log in fio_logs::logs(run) {
        output::write(Path::new(&log.path), log.text.as_bytes(), screen)?;
        screen.say(&format!("log           {}", log.path));
    }
    let form = args.output_format.unwrap_or(FioFormat::Normal);
    match (&args.json, form) {
        (Some(path), _) => {
            let text = iosonde_report::json(run).map_err(Failure::failed)?;
            result(path, &text, screen)?
        }
        (None, FioFormat::Normal) => match &args.output {
            Some(path) => {
                let plain = Paint { color: false, ..screen.paint() };
                result(path, &terminal::jobs(run, screen.verbose, plain), screen)?
            }
            None => screen.result(&terminal::jobs(run, screen.verbose, screen.paint()))?,
        },
        (None, form) => {
            let name = if form == FioFormat::JsonPlus { "fio-json-plus" } else { "fio-json" };
            let text = EXPORTS.find(name).map_err(Failure::failed)?.write(run).map_err(Failure::failed)?;
            result(args.output.as_deref().unwrap_or(Path::new("-")), &text, screen)?;
            // fio's form has no place for it.
            screen.say(&format!("valid         {}", clean(&validity(run).headline)));
        }
    }
    let mut complaints = words::too_slow(run, batch);
    complaints.extend(words::slower_than_allowed(run, allowed));
    if !complaints.is_empty() {
        return Err(Failure::failed(complaints.join("\n")));
    }
    for missed in words::targets_missed(run, batch) {
        if missed.at_depth_one {
            return Err(Failure::failed(missed.text));
        }
        screen.say(&format!("note          {}", missed.text));
    }
    failure_of(run, args.strict).map_or(Ok(()), Err)
}
