//! `iosonde run`: a study on a target, kept, judged, concluded and reported.

use std::path::{Path, PathBuf};

use iosonde_lab::{
    conclude,
    estimate::FEWEST_TRIALS,
    schedule::{self, Schedule, Unplannable},
};
use iosonde_model::{Closed, Outcome, Phase, Point, Run, RunState, Study, Trial, TrialSpec, units};
use iosonde_report::{Paint, terminal};
use iosonde_rig::prepare;
use iosonde_store::Notebook;

use crate::{
    args::RunArgs,
    command::resume::Continued,
    failure::{DOUBT, Failure, INTERRUPTED},
    measure::{self, Measurement, new_info, terms},
    notebook,
    output::{self, write},
    screen::Screen,
    session::{self, Addition, Asked, Options, Session},
    sheets, studies, write_limit,
};

/// Where results go.
#[derive(Debug, Clone, Default)]
pub struct Destination {
    /// The HTML report.
    pub out: Option<PathBuf>,
    /// The JSON document: `-` is stdout.
    pub json: Option<PathBuf>,
    /// Whether doubt is a failure.
    pub strict: bool,
    /// Whether the notebook alone gets the result.
    pub kept_only: bool,
}

impl Destination {
    /// What cannot be written should be known before an hour of measuring, not after. `measured` is the target.
    pub fn check(&self, measured: Option<&str>) -> Result<(), Failure> {
        if self.out.as_deref() == Some(Path::new("-")) {
            return Err(Failure::usage(
                "-o names the file of the HTML report, and stdout is for the summary; for the report on stdout:  \
                 iosonde report -o -",
            ));
        }
        let out = self.out.as_deref().unwrap_or(Path::new("./iosonde-STUDY-ID.html"));
        if self.json.as_deref().is_some_and(|json| self.out.is_some() && output::is_same(out, json)) {
            return Err(Failure::usage("-o and --json name the same file; give each its own"));
        }
        output::check(out, measured)?;
        self.json.as_deref().map_or(Ok(()), |json| output::check(json, measured))
    }
}

/// Runs it.
pub fn run(args: &RunArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    if let (Some(repeats), None) = (args.repeats, &args.part) {
        return super::repeats::run(args, repeats, store, screen);
    }
    let destination = Destination {
        out: args.out.clone(),
        json: args.target.json.clone(),
        strict: args.target.strict,
        // The command that began the repeats shows what they say.
        kept_only: args.part.is_some(),
    };
    destination.check(args.words.last().map(String::as_str))?;
    if let Some(reference) = &args.add {
        return add(args, reference, &destination, store, screen);
    }
    let least = crate::args::ROUNDS_MIN;
    if let Some(rounds) = args.rounds.filter(|rounds| *rounds < least) {
        return Err(Failure::usage(format!(
            "--rounds lies between {least} and 1000, not {rounds}: an interval needs {least}; fewer can only be added \
             to a finished run, with --add"
        )));
    }
    if args.words.len() > 2 {
        return super::targets::run(args, &destination, store, screen);
    }
    let (study, target, options) = what_was_asked(args, store, &screen)?;
    if args.dry_run {
        return screen.result(&dry_run(&study, &target, &options)?.text);
    }
    session::check_target(&target, &format!("iosonde run {}", study.name))?;
    let mut notebook = notebook::open(store, &screen)?;
    let session = opened(&study, &target, &options, &mut notebook)?;
    let id = notebook::new_id(&notebook, &session, options.seed)?;
    let mut info = new_info(id, &study, &target, &options, &session);
    (info.label, info.note) = (args.target.label.clone(), args.target.note.clone());
    if let Some((number, series)) = &args.part {
        info.repeat = Some(*number);
        info.series = (*number > 1).then(|| series.clone());
        // A label names one run: the first, which stands for all.
        info.label = info.label.map(|label| if *number > 1 { format!("{label} #{number}") } else { label });
    }
    let _lock = notebook.begin(&info)?;
    let run = Run::new(info, Vec::new());
    let mut measurement = Measurement::new(&options, session, &mut notebook, run, screen);
    announce(&measurement, &study);
    carry_out(&mut measurement, &study, &destination)
}

/// Opens a target and sees whether the study can be run there as asked; nothing has been written to it yet.
pub(super) fn opened(
    study: &Study,
    target: &str,
    options: &Options,
    notebook: &mut Notebook,
) -> Result<Session, Failure> {
    let command = format!("iosonde run {}", study.name);
    let asked = Asked { command: &command, writes: studies::writes(study)? };
    let mut session = session::open(target, options, asked, &mut notebook::Strays(notebook))?;
    planned(study, target, options, &session)?;
    session.host.ceilings = session::ceilings(&session.device, study, target)?;
    Ok(session)
}

/// The study, where, and how: as typed, or as another run was.
fn what_was_asked(
    args: &RunArgs,
    store: Option<&Path>,
    screen: &Screen,
) -> Result<(Study, String, Options), Failure> {
    let Some(reference) = &args.like else {
        let (study, target) = study_and_target(&args.words)?;
        let study = as_set(study, args)?;
        let mut options = options_of(args, study.time_ns, study.precision, None);
        if let Some((_, series)) = args.part.as_ref().filter(|(number, _)| *number > 1) {
            // As large as the first, however fast filling goes this time: the points of a series are the same.
            let (first, _) = kept(store, screen, series)?;
            (options.size_bytes, options.exact_size) = (Some(first.info.device.working_set_bytes), true);
        }
        return Ok((study, target, options));
    };
    let [target] = &args.words[..] else {
        return Err(Failure::usage(format!(
            "--like takes the study from the run; give the target only:  iosonde run --like {reference} ./"
        )));
    };
    let (kept, before) = kept(store, screen, reference)?;
    if args.target.size.is_some() {
        return Err(Failure::usage(
            "--like has that run's size, or its points would not be the same; leave --size out",
        ));
    }
    let study = Study::parse(&kept.info.study_source, &kept.info.study).map_err(Failure::failed)?;
    let options = Options {
        size_bytes: Some(kept.info.device.working_set_bytes),
        exact_size: true,
        seed: args.target.seed.unwrap_or(kept.info.seed),
        state: args.state.or(before.state),
        ..options_of(args, before.time_ns, before.precision, before.rounds)
    };
    Ok((study, target.clone(), options))
}

pub(super) fn options_of(args: &RunArgs, time_ns: u64, precision: f64, rounds: Option<u32>) -> Options {
    let rounds = args.rounds.or(rounds.filter(|_| args.precision.is_none()));
    Options {
        state: args.state,
        max_write_bytes: args.max_write,
        ..Options::of(&args.target, args.time.unwrap_or(time_ns), args.precision.unwrap_or(precision), rounds)
    }
}

/// The study as the options shape it: a sheet's lines in its place, its parameters, its span.
pub(super) fn as_set(study: Study, args: &RunArgs) -> Result<Study, Failure> {
    let study = match &args.sheet {
        Some(sheet) => sheets::study(sheet, (args.words.len() > 1).then_some(&study), &args.set)?,
        None => study,
    };
    studies::with_span(studies::with_settings(study, &args.set)?, args.span)
}

/// A run of a study as it was kept, in the notebook or in a file of its own, with its options.
fn kept(store: Option<&Path>, screen: &Screen, reference: &str) -> Result<(Run, Options), Failure> {
    let kept = notebook::found(store, screen, Some(reference))?;
    let options = options_kept(&kept)?;
    Ok((kept, options))
}

/// The options that a run of a study was begun with.
fn options_kept(kept: &Run) -> Result<Options, Failure> {
    let id = &kept.info.id;
    if kept.info.study_source.is_empty() {
        return Err(Failure::usage(format!(
            "{id} has no study: it is a single point or another tool's result"
        )));
    }
    serde_json::from_value(kept.info.options.clone()).map_err(|e| {
        Failure::failed(format!("run {id} was kept by another version of iosonde and cannot be used: {e}"))
    })
}

/// Further rounds of a finished run.
fn add(
    args: &RunArgs,
    reference: &str,
    destination: &Destination,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let mut book = notebook::open_to_change(store, &screen)?;
    let id = book.resolve(Some(reference)).map_err(Failure::usage)?;
    // Claimed before it is read: another process that adds to it would otherwise add the same trials.
    let claim = book.claim(&id)?;
    let kept = book.load(&id)?;
    let mut options = options_kept(&kept)?;
    if kept.info.state != RunState::Done {
        return Err(Failure::usage(format!("run {id} is not finished; go on with:  iosonde resume {id}")));
    }
    // As long as the rounds take, where they say how much more.
    let day_ns = 86_400_000_000_000;
    let usual_ns = if args.rounds.is_some() { day_ns } else { options.time_ns };
    let precision = args.precision.unwrap_or(kept.info.precision);
    options.additions.push(Addition {
        time_ns: args.time.unwrap_or(usual_ns),
        precision,
        rounds: args.rounds.map(|rounds| kept.info.rounds + rounds),
        begun_s: Some(measure::measured_s(&kept.trials)),
    });
    screen.say(&format!("adding to     run {id}: {} trials are kept", kept.trials.len()));
    super::resume::go_on(&mut book, Continued { kept, options, precision, claim }, destination, screen)
}

/// Prepares, measures and reports; whatever happens, the notebook says how the run stands.
pub fn carry_out(
    measurement: &mut Measurement,
    study: &Study,
    destination: &Destination,
) -> Result<(), Failure> {
    let measured = prepare(measurement, study)
        .and_then(|()| measurement.bring_to_state())
        .and_then(|()| measurement.measure(study));
    match measured {
        Ok(closed) => {
            // Why each point was closed is the schedule's knowledge: it is kept, so that a report of a year later
            // says the same.
            measurement.run.info.options["closed"] =
                serde_json::to_value(&closed).map_err(Failure::failed)?;
            measurement.note_state(RunState::Done)?;
            conclude_and_report(&mut measurement.run, Some(&closed), destination, measurement.screen)
        }
        Err(failure) => {
            let state = if failure.code == INTERRUPTED { RunState::Interrupted } else { RunState::Failed };
            let noted = measurement.note_state(state);
            let (id, trials) = (&measurement.run.info.id, measurement.run.trials.len());
            if failure.code != INTERRUPTED {
                let text = match trials {
                    0 => failure.text,
                    _ => format!(
                        "{}\n  {trials} trials are kept; to go on:  iosonde resume {id}",
                        failure.text
                    ),
                };
                return Err(Failure { text, ..failure });
            }
            noted?;
            Err(Failure {
                code: INTERRUPTED,
                text: format!("interrupted; {trials} trials are kept. Go on with:  iosonde resume {id}"),
            })
        }
    }
}

/// Prepares the working set: what was asked, as far as the time goes; for a resumed run exactly what it had, or its
/// points would no longer be the same points.
pub(super) fn prepare(measurement: &mut Measurement, study: &Study) -> Result<(), Failure> {
    let asked_bytes =
        measurement.options.size_bytes.or(study.size_bytes).unwrap_or(prepare::DEFAULT_SIZE_BYTES);
    let points =
        iosonde_lab::plan::points(study, &measurement.session.device).map_err(Failure::usage)?.points;
    let round_bytes = write_limit::round_bytes(&points);
    let Some(span_bytes) = measurement.prepared_before_bytes else {
        let options = measurement.options;
        let share_s = options.time_ns as f64 / 1e9 * prepare::BUDGET_SHARE;
        let seconds = if options.exact_size { f64::from(u32::MAX) } else { share_s };
        measurement.prepare(asked_bytes, seconds, round_bytes)?;
        let now_bytes = measurement.run.info.device.working_set_bytes;
        if options.exact_size && now_bytes != asked_bytes {
            return Err(Failure::failed(format!(
                "the run of --like had {}, and only {} can be prepared here; its points would not be the same",
                units::size(asked_bytes),
                units::size(now_bytes)
            )));
        }
        return Ok(());
    };
    measurement.prepare(span_bytes, f64::from(u32::MAX), round_bytes)?;
    let now_bytes = measurement.run.info.device.working_set_bytes;
    if now_bytes == span_bytes {
        measurement.run.info.device.asked_size_bytes = (span_bytes < asked_bytes).then_some(asked_bytes);
        return Ok(());
    }
    Err(Failure::failed(format!(
        "the run measured {} and only {} can be prepared now; make room and resume again",
        units::size(span_bytes),
        units::size(now_bytes)
    )))
}

/// Concludes from a run's trials, prints the summary and writes what was asked for.
pub fn conclude_and_report(
    run: &mut Run,
    closed: Option<&[Option<Closed>]>,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    if destination.kept_only {
        return Ok(());
    }
    conclude::conclude(run, closed).map_err(Failure::failed)?;
    let path = destination.out.clone().unwrap_or_else(|| default_out(run, "html"));
    let json_to_stdout = destination.json.as_deref() == Some(Path::new("-"));
    // The summary first: whatever becomes of the files, it has been seen.
    if !json_to_stdout {
        screen.result(&terminal::summary(run, Paint { color: screen.color, width: screen.width }))?;
    }
    let html = iosonde_report::html(run);
    write(&path, html.as_bytes()).map_err(elsewhere)?;
    if let Some(json) = &destination.json {
        let text = iosonde_report::json(run).map_err(Failure::failed)?;
        if json_to_stdout {
            screen.result(&text)?
        } else {
            write(json, text.as_bytes()).map_err(elsewhere)?
        }
    }
    if !json_to_stdout {
        screen.result(&format!("\nreport  {}     again  iosonde show {}\n", path.display(), run.info.id))?;
    }
    failure_of(run, destination.strict).map_or(Ok(()), Err)
}

/// How a command ends that has shown a run: nothing worked, which is no result at all, or `--strict` and a doubt.
pub fn failure_of(run: &Run, strict: bool) -> Option<Failure> {
    if let Some(why) = nothing_worked(run) {
        return Some(Failure::failed(why));
    }
    let doubtful = run.verdicts.iter().any(|verdict| verdict.verdict >= Outcome::Doubt);
    (strict && doubtful).then(|| Failure { code: DOUBT, text: "--strict: a verdict is doubt or void".into() })
}

/// Why a run is no result at all: every request of it failed.
fn nothing_worked(run: &Run) -> Option<String> {
    let measured = || run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let done: u64 = measured().flat_map(Trial::directions).map(|(_, direction)| direction.ios).sum();
    let failed = measured().rfind(|trial| trial.errors() > 0).filter(|_| done == 0)?;
    let example = failed.error_examples.first().map_or("the system did not say why", String::as_str);
    Some(format!("{}: every request failed ({example})", run.info.target))
}

/// Where a report could not be written, the run is not lost.
pub(super) fn elsewhere(failure: Failure) -> Failure {
    let text = format!(
        "{}. The run is kept; write its report elsewhere with `iosonde report -o PATH`",
        failure.text
    );
    Failure { text, ..failure }
}

/// The first word is a study where there are two; one word alone is the target.
fn study_and_target(words: &[String]) -> Result<(Study, String), Failure> {
    match words {
        [target, word] if is_target(target) => Err(Failure::usage(format!(
            "`{target}` is a target, and the study comes before it:  iosonde run quick {target}\n  a path with \
             spaces in it needs quotes; --json and --destroy take their value behind `=`: --json={word}"
        ))),
        [study, target] => Ok((studies::find(study)?, target.clone())),
        [target] => {
            if studies::is_name(target) && !Path::new(target).exists() {
                return Err(Failure::usage(format!(
                    "`{target}` is a study; say also what to measure:  iosonde run {target} ./"
                )));
            }
            Ok((studies::find("quick")?, target.clone()))
        }
        [_, _, word, ..] => Err(Failure::usage(format!(
            "--like takes the study from the run and measures one target; `{word}` is one word too many"
        ))),
        [] => Err(Failure::usage("say what to measure:  iosonde run quick ./")),
    }
}

/// Whether a word in a study's place is what somebody wants to measure.
pub(super) fn is_target(word: &str) -> bool {
    let study = word.ends_with(".toml") || studies::is_known(word);
    word.starts_with("sim:") || (!study && Path::new(word).exists())
}

/// A study's schedule here and what it leaves out, or why it cannot be run here as asked: a budget that does not hold
/// the trials that an interval takes, for instance.
fn planned(
    study: &Study,
    target: &str,
    options: &Options,
    session: &Session,
) -> Result<(Schedule, Vec<String>), Failure> {
    session::refuse_what_does_not_fit(target, session, options)?;
    let plan = iosonde_lab::plan::points(study, &session.device).map_err(Failure::usage)?;
    session::refuse_what_the_engine_cannot(session, plan.points.iter().map(|point| &point.spec))?;
    let asked_bytes = options.size_bytes.or(study.size_bytes).unwrap_or(prepare::DEFAULT_SIZE_BYTES);
    let size_bytes = asked_bytes.min(session.room_bytes);
    let whole = options.exact_size || !session.fill;
    write_limit::refuse_too_little(options, &plan.points, session.fill, whole.then_some(size_bytes))?;
    let share = if session.fill { 1.0 - prepare::BUDGET_SHARE } else { 1.0 };
    let budget_s = options.time_ns as f64 / 1e9 * share;
    let terms = terms(options, budget_s);
    // Each interval takes so many. Where filling turns out slow they may not fit after all; then fewer are better than
    // what was filled in vain.
    let rounds = FEWEST_TRIALS as u32;
    if let Err(why) = schedule::fits(plan.points.len(), &plan.visiting, &terms, rounds) {
        let Unplannable::TooShort { needed_s, .. } = why else { return Err(Failure::usage(why)) };
        let each = options.rounds.map_or_else(|| format!(" ({rounds} make an interval)"), |_| String::new());
        // Filling takes its part of --time, too.
        let (time, fewer) = (typed(needed_s / share), fewer(study, &plan.points));
        return Err(Failure::usage(format!("{why}{each}; --time {time} would do, or {fewer}")));
    }
    let schedule = Schedule::visiting(plan.points, plan.visiting, terms).map_err(Failure::usage)?;
    Ok((schedule, plan.left_out))
}

/// What could be left out of a study that takes longer than there is time.
fn fewer(study: &Study, points: &[Point]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for point in points {
        match counts.iter_mut().find(|(name, _)| *name == point.experiment) {
            Some((_, count)) => *count += 1,
            None => counts.push((&point.experiment, 1)),
        }
    }
    if counts.len() < 2 {
        return "fewer values (--set KEY=VALUE,..)".to_owned();
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let largest: Vec<String> =
        counts.iter().take(3).map(|(name, count)| format!("{name} has {count}")).collect();
    let copy = match studies::is_known(&study.name) {
        true => format!(" in a copy (iosonde studies {} --toml > my.toml)", study.name),
        false => String::new(),
    };
    format!("leave experiments out{copy}: {}", largest.join(", "))
}

/// A time as `--time` takes it, rounded up: `units::duration` writes for people.
pub fn typed(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        whole @ 0..600 => format!("{whole}s"),
        whole => format!("{}m", whole.div_ceil(60)),
    }
}

/// A plan in words, and what it costs.
pub(super) struct DryRun {
    /// The points, time, space and writes.
    pub text: String,
    /// The time.
    pub expected_s: f64,
    /// The most that is written.
    pub written_bytes: u64,
}

pub(super) fn dry_run(study: &Study, target: &str, options: &Options) -> Result<DryRun, Failure> {
    let command = format!("iosonde run {}", study.name);
    let asked = Asked { command: &command, writes: studies::writes(study)? };
    let session = session::open(target, options, asked, &mut notebook::Unwritten)?;
    let (schedule, left_out) = planned(study, target, options, &session)?;
    let plan = schedule.plan();
    let mut text = format!("{} on {target}   {}\n\n", study.name, iosonde_report::subject(&session.device));
    for point in schedule.points() {
        text += &format!("  {:>3}  {:22} {}\n", point.id, point.experiment, point.spec.describe());
    }
    for sentence in left_out {
        text += &format!("       left out: {sentence}\n");
    }
    text += &format!(
        "\n{} and a canary, trials of {:.2} s, about {} rounds, {} in all\n",
        iosonde_lab::plan::counted(schedule.points().len()),
        plan.trial_s,
        plan.rounds_expected,
        units::duration(plan.expected_s),
    );
    let written_bytes = written_bytes(study, options, &session, &schedule);
    text += &cost(study, options, &session, written_bytes);
    Ok(DryRun { text, expected_s: plan.expected_s, written_bytes })
}

/// Bytes a second that nearly all storage stays below, and the time of the fastest request: bounds for what a plan
/// may write, since nobody knows the storage before it is measured.
const FAST_BYTES_PER_S: f64 = 1e9;
const FAST_REQUEST_S: f64 = 20e-6;

/// What is prepared as far as the options and the room go.
fn size_bytes(study: &Study, options: &Options, session: &Session) -> (u64, u64) {
    let asked_bytes = options.size_bytes.or(study.size_bytes).unwrap_or(prepare::DEFAULT_SIZE_BYTES);
    (asked_bytes, asked_bytes.min(session.room_bytes))
}

/// The most that is written.
fn written_bytes(study: &Study, options: &Options, session: &Session, schedule: &Schedule) -> u64 {
    let (_, size_bytes) = size_bytes(study, options, session);
    let rounds = f64::from(schedule.plan().rounds_expected);
    let one = |spec: &TrialSpec| {
        let moves = spec.asked_in_flight() as f64 * spec.block_size_bytes as f64 / FAST_REQUEST_S;
        let most = spec.rate_iops.map_or(f64::INFINITY, |rate| rate * spec.block_size_bytes as f64);
        let share = if spec.changes() { 1.0 - spec.read_percent.unwrap_or(0.0) / 100.0 } else { 0.0 };
        FAST_BYTES_PER_S.min(moves).min(most) * share
    };
    let points = schedule.points().iter();
    let trials: f64 = points.map(|point| one(&point.spec) * schedule.length_s(Some(point.id)) * rounds).sum();
    let fill_bytes = if session.fill { size_bytes } else { 0 };
    let state_bytes = options.state.map_or(0, |state| state.cost_bytes(size_bytes));
    let bytes = trials as u64 + fill_bytes + state_bytes;
    options.max_write_bytes.map_or(bytes, |max| bytes.min(max))
}

/// Space, and what may be written.
fn cost(study: &Study, options: &Options, session: &Session, bytes: u64) -> String {
    let (asked_bytes, size_bytes) = size_bytes(study, options, session);
    let mut text = space(asked_bytes, size_bytes, study, options, session);
    if let Some(state) = options.state {
        text += &format!("state   {}\n", state.announce(size_bytes));
    }
    let wear = session.device.size_bytes.filter(|_| session.device.kind != "file").map_or_else(
        String::new,
        |size| {
            let wear = bytes as f64 / size.max(1) as f64;
            if wear < 1.5 {
                format!(", {wear:.3} of a drive write")
            } else {
                format!(", {wear:.1} drive writes")
            }
        },
    );
    text += &match bytes {
        0 => "writes  nothing\n".to_owned(),
        _ => format!(
            "writes  up to {} where the storage takes 1 GB/s{wear}; --max-write limits it\n",
            units::size(bytes)
        ),
    };
    text
}

/// What is prepared, and why it is less than was asked for.
fn space(asked_bytes: u64, size_bytes: u64, study: &Study, options: &Options, session: &Session) -> String {
    let part = study.span_bytes.filter(|span| *span < size_bytes);
    let done = match (session.fill, part) {
        (true, None) => "prepared and addressed".to_owned(),
        (false, None) => "addressed".to_owned(),
        (fill, Some(span)) => {
            let there = if fill { "prepared" } else { "there" };
            format!("{there}, of which the first {} are addressed", units::size(span))
        }
    };
    let less = if size_bytes < asked_bytes && (options.size_bytes.is_some() || session.fill) {
        let room = if session.fill { "may be taken here" } else { "is there" };
        format!(": of the {} asked for, no more {room}", units::size(asked_bytes))
    } else {
        String::new()
    };
    let slower = if session.fill && !options.exact_size {
        let seconds = options.time_ns as f64 / 1e9 * prepare::BUDGET_SHARE;
        format!("\n        or as much as can be filled in {}, where that is less", units::duration(seconds))
    } else {
        String::new()
    };
    format!("space   {} are {done}{less}{slower}\n", units::size(size_bytes))
}

pub(super) fn announce(measurement: &Measurement, study: &Study) {
    let info = &measurement.run.info;
    let subject = iosonde_report::subject(&info.device);
    // Who typed `sim:NAME` knows the name.
    let typed = info.device.name.as_ref().filter(|name| info.target.ends_with(*name));
    let told = typed.and_then(|name| subject.strip_prefix(&format!("{name}: "))).unwrap_or(&subject);
    let paint = iosonde_report::Paint { color: false, width: measurement.screen.width };
    let head = paint.hang("", 2, &format!("{} on {}   {told}", study.name, info.target));
    measurement.screen.say(head.trim_end());
    for note in &info.device.notes {
        measurement.screen.say(&format!("note          {}", iosonde_report::note(note)));
    }
}

/// `iosonde-quick-7f3a91.html`, here.
pub fn default_out(run: &Run, extension: &str) -> PathBuf {
    let safe = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
    };
    PathBuf::from(format!("iosonde-{}-{}.{extension}", safe(&run.info.study), safe(&run.info.id)))
}
