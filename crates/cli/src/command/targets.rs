//! `iosonde run STUDY A B`: one study on several targets that take turns.
//!
//! Each target has a run of its own in the notebook, so that whatever works with one run works with these. What they
//! share is the order: in each round the targets go through their points side by side, each point on all of them, in
//! a fresh random order of targets, before the next. A machine that becomes slower, or a neighbour that comes and
//! goes, thus meets them alike, and `compare` takes their trials in pairs.

use std::{os::unix::fs::MetadataExt, path::Path};

use iosonde_lab::{
    compare::{self, Side},
    conclude,
    schedule::{Asked, Left, chance},
};
use iosonde_model::{DeviceNote, Run, RunState, Study, units};
use iosonde_report::{FORMATS, Paint};
use iosonde_store::{Notebook, RunLock};

use super::{
    resume::opened_again,
    run::{self, Destination, announce, dry_run, elsewhere, failure_of, options_of},
};
use crate::{
    args::{RunArgs, parse_label},
    course::Course,
    failure::{Failure, INTERRUPTED},
    measure::{Measurement, new_info},
    notebook,
    output::write,
    screen::Screen,
    session::{self, Options, Session},
    sides, studies,
};

/// Runs a study on all targets.
pub fn run(
    args: &RunArgs,
    destination: &Destination,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let (study, targets) = study_and_targets(args)?;
    targets.iter().try_for_each(|target| destination.check(Some(target)))?;
    let base = options_of(args, study.time_ns, study.precision, None);
    let all = options_of_each(&base, &targets)?;
    let labels = labels(args.target.label.as_deref(), targets.len())?;
    if args.dry_run {
        return dry_runs(&study, &targets, &all, screen);
    }
    let command = format!("iosonde run {}", study.name);
    targets.iter().try_for_each(|target| session::check_target(target, &command))?;
    let mut books = vec![notebook::open(store, &screen)?];
    for _ in 1..targets.len() {
        books.push(Notebook::open(books[0].path()).map_err(Failure::usage)?);
    }
    let mut sessions = Vec::new();
    for ((target, options), book) in targets.iter().zip(&all).zip(&mut books) {
        sessions.push(run::opened(&study, target, options, book)?);
    }
    let same = on_one_device(&sessions, &targets);
    let mut turns = Vec::new();
    for (number, ((mut session, book), options)) in sessions.into_iter().zip(&mut books).zip(&all).enumerate()
    {
        session.device.notes.extend(same.clone());
        let id = notebook::new_id(book, &session, options.seed)?;
        let mut info = new_info(id, &study, &targets[number], options, &session);
        info.note.clone_from(&args.target.note);
        info.label = labels.as_ref().map(|labels| labels[number].clone());
        let lock = book.begin(&info)?;
        let measurement = Measurement::new(options, session, book, Run::new(info, Vec::new()), screen);
        announce(&measurement, &study);
        turns.push(Turn::new(measurement, lock));
    }
    link(&mut turns)?;
    let what =
        format!("{} targets in turn, {} each", turns.len(), units::duration(base.time_ns as f64 / 1e9));
    screen.say(&format!("in turn       {what}"));
    let ids = in_turn(&mut turns, &study, screen);
    drop(turns);
    finish(ids?, &books[0], destination, screen)
}

/// Goes on with all runs that took turns with this one and have not ended.
pub fn resume(
    book: &mut Notebook,
    id: &str,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    let first = book.info(id)?;
    let ids: Vec<&String> = std::iter::once(&first.id).chain(&first.in_turn_with).collect();
    let (mut open, mut kept, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    let listed = book.list()?.into_iter().rev().map(|run| run.id);
    for id in listed.filter(|id| ids.contains(&id)) {
        // Claimed before it is read, or another process might go on with the same trials.
        let lock = book.claim(&id)?;
        let run = book.load(&id)?;
        if run.info.state == RunState::Done {
            ended.push(id);
            continue;
        }
        let options: Options = serde_json::from_value(run.info.options.clone()).map_err(|e| {
            Failure::failed(format!("run {id} was kept by another version of iosonde and cannot go on: {e}"))
        })?;
        screen.say(&format!(
            "resuming      run {id}, {}: {} trials are kept",
            run.info.target,
            run.trials.len()
        ));
        open.push((options, Notebook::open(book.path()).map_err(Failure::usage)?));
        kept.push((run, lock));
    }
    if kept.is_empty() {
        screen.say("these runs are complete; nothing is left to measure");
    }
    let study = Study::parse(&first.study_source, &first.study).map_err(Failure::failed)?;
    let (mut turns, mut lost) = (Vec::new(), Vec::new());
    for ((run, lock), (options, own)) in kept.into_iter().zip(&mut open) {
        destination.check(Some(&run.info.target))?;
        let (id, precision) = (run.info.id.clone(), run.info.precision);
        // A target that is gone holds up no other, and its run stays as it was.
        match opened_again(own, run, options, precision, screen) {
            Ok(mut measurement) => {
                measurement.note_state(RunState::Running)?;
                turns.push(Turn::new(measurement, lock));
            }
            Err(failure) => {
                Screen::complain(&format!("run {id} cannot go on: {}", failure.text));
                lost.push(id);
            }
        }
    }
    let went_on = in_turn(&mut turns, &study, screen);
    drop(turns);
    let went_on = went_on?;
    let all = book.list()?.into_iter().rev().map(|run| run.id);
    let done = all.filter(|id| ended.contains(id) || went_on.done.contains(id)).collect();
    let failed = lost.into_iter().chain(went_on.failed).collect();
    finish(Ended { done, failed }, book, destination, screen)
}

/// The study and its targets, as typed.
fn study_and_targets(args: &RunArgs) -> Result<(Study, Vec<String>), Failure> {
    let [first, targets @ ..] = &args.words[..] else { return Err(Failure::usage("say what to measure")) };
    if run::is_target(first) {
        return Err(Failure::usage(format!(
            "`{first}` is a target, and the study comes before the targets:  iosonde run quick {}",
            args.words.join(" ")
        )));
    }
    let unknown = |word: &&String| !word.starts_with("sim:") && !Path::new(word).exists();
    if let Some(word) = targets.iter().find(unknown) {
        return Err(Failure::usage(if studies::is_name(word) {
            format!(
                "`{word}` is a study, and a run has one; several targets may follow it:  iosonde run {first} ./a ./b"
            )
        } else {
            format!(
                "there is no target `{word}`: no file, folder or device of that name is here\n  a path with spaces in \
                 it needs quotes; --json and --destroy take their value behind `=`: --json={word}"
            )
        }));
    }
    if args.repeats.is_some() || args.part.is_some() {
        return Err(Failure::usage(
            "--repeats takes one target: run it for each, with a --label, and `iosonde compare` takes them together",
        ));
    }
    if args.like.is_some() {
        return Err(Failure::usage("--like measures one target as another run was; name one only"));
    }
    refuse_twice(targets)?;
    Ok((run::as_set(studies::find(first)?, args)?, targets.to_vec()))
}

/// A target beside itself would tell nothing, and two runs would write to one place.
fn refuse_twice(targets: &[String]) -> Result<(), Failure> {
    let place = |target: &String| match target.strip_prefix("sim:") {
        Some(name) if !name.ends_with(".toml") => target.clone(),
        _ => {
            // Two hard links are one file, which only its number tells.
            let path = target.strip_prefix("sim:").unwrap_or(target);
            std::fs::metadata(path).map_or(target.clone(), |found| format!("{}:{}", found.dev(), found.ino()))
        }
    };
    let places: Vec<String> = targets.iter().map(place).collect();
    for (at, found) in places.iter().enumerate() {
        if let Some(before) = places[..at].iter().position(|other| other == found) {
            let both = if targets[before] == targets[at] {
                format!("`{}` is named twice", targets[at])
            } else {
                format!("`{}` and `{}` are the same place", targets[before], targets[at])
            };
            return Err(Failure::usage(format!(
                "{both}: a target is as fast as itself; how much its runs differ is what --repeats tells"
            )));
        }
    }
    Ok(())
}

/// Whether it is an existing file, which `--destroy` would overwrite.
fn is_file(target: &str) -> bool {
    !target.starts_with("sim:") && Path::new(target).is_file()
}

/// The same options for all, except for the device's own chance where it is simulated, its part of what may be
/// written, and the word to overwrite.
fn options_of_each(base: &Options, targets: &[String]) -> Result<Vec<Options>, Failure> {
    let words: Vec<&str> = base.destroy.iter().flat_map(|words| words.split(',')).collect();
    let files: Vec<&str> = targets.iter().map(String::as_str).filter(|target| is_file(target)).collect();
    // `--json out.json` makes a target of out.json: one plain word must not reach what nobody meant.
    if words[..] == [""] && !files.is_empty() {
        return Err(Failure::usage(format!(
            "beside other targets --destroy does not tell which it means. Files that exist: {}. Nothing was touched\n  \
             name each target that may be overwritten, in their order:  --destroy={}\n  (--json takes its path behind \
             `=`: --json=PATH)",
            files.join(", "),
            targets.join(",")
        )));
    }
    if words.len() > 1 && words.len() != targets.len() {
        return Err(Failure::usage(format!(
            "--destroy has {} identities for {} targets; give one for each, in their order, with commas between",
            words.len(),
            targets.len()
        )));
    }
    let one = |number: usize| {
        let word = words.get(number).or(words.first()).copied();
        // A file has no identity but its name; the guard takes the plain word for it.
        let named = |word: &str| word == targets[number] && is_file(word);
        let own = word.map(|word| if named(word) { String::new() } else { word.to_owned() });
        let max_write_bytes = base.max_write_bytes.map(|bytes| bytes / targets.len() as u64);
        // Devices that are simulated from one seed would share their noise, which real ones do not.
        let seed = base.seed.wrapping_add(number as u64);
        Options { destroy: own, seed, max_write_bytes, order_seed: Some(base.seed), ..base.clone() }
    };
    Ok((0..targets.len()).map(one).collect())
}

/// A name for each run: as many as there are targets, with commas between, or one with a number behind it.
fn labels(text: Option<&str>, of: usize) -> Result<Option<Vec<String>>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let names: Vec<&str> = text.split(',').collect();
    match names.len() {
        1 => Ok(Some((1..=of).map(|number| format!("{text}-{number}")).collect())),
        count if count == of => {
            let names: Result<Vec<String>, String> = names.into_iter().map(parse_label).collect();
            names.map(Some).map_err(|why| Failure::usage(format!("--label {text}: {why}")))
        }
        count => Err(Failure::usage(format!(
            "--label has {count} names for {of} targets; give one for each, with commas between, or one for all"
        ))),
    }
}

/// What differs between two folders of one device is not the device.
fn on_one_device(sessions: &[Session], targets: &[String]) -> Option<DeviceNote> {
    let names: Vec<_> = sessions.iter().map(|session| &session.device.name).collect();
    let real = |at: usize| !targets[at].starts_with("sim:") && names[at].is_some();
    let pair = |at: usize| (0..at).find(|before| real(*before) && names[*before] == names[at]);
    let (a, b) = (0..names.len()).filter(|at| real(*at)).find_map(|at| Some((pair(at)?, at)))?;
    let device = names[a].clone()?;
    Some(DeviceNote::OneDevice { targets: [targets[a].clone(), targets[b].clone()], device })
}

fn dry_runs(study: &Study, targets: &[String], all: &[Options], screen: Screen) -> Result<(), Failure> {
    let (mut text, mut seconds, mut bytes) = (String::new(), 0.0, 0);
    for (target, options) in targets.iter().zip(all) {
        let one = dry_run(study, target, options)?;
        text += &format!("{}\n", one.text);
        (seconds, bytes) = (seconds + one.expected_s, bytes + one.written_bytes);
    }
    let writes = if bytes == 0 { "nothing".to_owned() } else { format!("up to {}", units::size(bytes)) };
    text += &format!(
        "{} targets in turn: {} of measuring in all, and {writes} written\n",
        targets.len(),
        units::duration(seconds)
    );
    screen.result(&text)
}

/// One target under way.
struct Turn<'a> {
    measurement: Measurement<'a>,
    course: Option<Course>,
    next: Option<Asked>,
    state: RunState,
    _lock: RunLock,
}

impl<'a> Turn<'a> {
    fn new(mut measurement: Measurement<'a>, lock: RunLock) -> Self {
        measurement.pause();
        Self { measurement, course: None, next: None, state: RunState::Running, _lock: lock }
    }

    fn target(&self) -> &str {
        &self.measurement.run.info.target
    }

    /// Does something on the target's own time. What goes wrong ends its run and no other; an interruption ends all.
    fn act(&mut self, what: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        if self.state != RunState::Running {
            return Ok(());
        }
        self.measurement.unpause();
        let outcome = what(self);
        self.measurement.pause();
        let Err(failure) = outcome else { return Ok(()) };
        if failure.code == INTERRUPTED {
            return Err(failure);
        }
        self.next = None;
        self.end(RunState::Failed)?;
        Screen::complain(&failure.text);
        Ok(())
    }

    fn end(&mut self, state: RunState) -> Result<(), Failure> {
        self.state = state;
        self.measurement.note_state(state)
    }

    /// What comes next; a run of which nothing does is done.
    fn look_ahead(&mut self) -> Result<(), Failure> {
        let Some(course) = &mut self.course else { return Ok(()) };
        self.next = self.measurement.next(course)?;
        if self.next.is_some() {
            return Ok(());
        }
        // Why each point was closed is the schedule's knowledge: it is kept, as for a run of one target.
        let closed = serde_json::to_value(&course.closed).map_err(Failure::failed)?;
        self.measurement.run.info.options["closed"] = closed;
        self.end(RunState::Done)
    }

    fn step(&mut self) -> Result<(), Failure> {
        let (Some(course), Some(asked)) = (&mut self.course, self.next.take()) else { return Ok(()) };
        self.measurement.carry_out(course, asked)?;
        self.look_ahead()
    }
}

/// Each run says which others it took turns with.
fn link(turns: &mut [Turn]) -> Result<(), Failure> {
    let ids: Vec<String> = turns.iter().map(|turn| turn.measurement.run.info.id.clone()).collect();
    for turn in turns {
        let info = &mut turn.measurement.run.info;
        info.in_turn_with = ids.iter().filter(|id| **id != info.id).cloned().collect();
        turn.measurement.note_state(RunState::Running)?;
    }
    Ok(())
}

/// The runs that took turns, by how they ended.
struct Ended {
    done: Vec<String>,
    failed: Vec<String>,
}

/// Prepares all, then measures in turn until every run has ended.
fn in_turn(turns: &mut [Turn], study: &Study, screen: Screen) -> Result<Ended, Failure> {
    let measured = prepare(turns, study).and_then(|()| measure(turns, screen));
    if let Err(failure) = measured {
        let mut kept = Vec::new();
        for turn in turns.iter_mut().filter(|turn| turn.state == RunState::Running) {
            turn.end(if failure.code == INTERRUPTED { RunState::Interrupted } else { RunState::Failed })?;
            kept.push(format!("{} of {}", turn.measurement.run.trials.len(), turn.target()));
        }
        let id = turns.first().map_or("", |turn| &turn.measurement.run.info.id);
        let text = format!(
            "interrupted; trials are kept: {}. Go on with all of them:  iosonde resume {id}",
            kept.join(", ")
        );
        return Err(if failure.code == INTERRUPTED { Failure { text, ..failure } } else { failure });
    }
    let ids = |state| {
        let of = turns.iter().filter(|turn| turn.state == state);
        of.map(|turn| turn.measurement.run.info.id.clone()).collect()
    };
    Ok(Ended { done: ids(RunState::Done), failed: ids(RunState::Failed) })
}

fn prepare(turns: &mut [Turn], study: &Study) -> Result<(), Failure> {
    for turn in turns.iter_mut() {
        turn.act(|turn| run::prepare(&mut turn.measurement, study))?;
    }
    let running = turns.iter().filter(|turn| turn.state == RunState::Running);
    let sizes =
        running.map(|turn| (turn.measurement.run.info.device.working_set_bytes, turn.target().to_owned()));
    let Some((least_bytes, least)) = sizes.min() else { return Ok(()) };
    for turn in turns.iter_mut() {
        turn.measurement.address_only(least_bytes, &least);
        turn.act(|turn| turn.measurement.bring_to_state())?;
    }
    for turn in turns.iter_mut() {
        turn.act(|turn| {
            turn.course = Some(turn.measurement.begin(study)?);
            turn.look_ahead()
        })?;
    }
    Ok(())
}

fn measure(turns: &mut [Turn], screen: Screen) -> Result<(), Failure> {
    let mut said = 0;
    loop {
        let rounds = turns.iter().filter_map(|turn| turn.next.as_ref().map(|asked| asked.round));
        let Some(round) = rounds.min() else { return Ok(()) };
        if round > said {
            said = round;
            screen.say(&standing(turns, round));
        }
        for at in order(turns, round) {
            turns[at].act(Turn::step)?;
        }
    }
}

/// Who has something to do in this round, in a fresh order that follows from the trials' own seeds: a run that is
/// resumed goes on in the same.
fn order(turns: &[Turn], round: u32) -> Vec<usize> {
    let key = |(at, turn): (usize, &Turn)| {
        let asked = turn.next.as_ref().filter(|asked| asked.round == round)?;
        Some((chance::draw(&[asked.seed, at as u64]), at))
    };
    let mut order: Vec<(u64, usize)> = turns.iter().enumerate().filter_map(key).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// One line a round: every target, and the time that is left for all together.
fn standing(turns: &[Turn], round: u32) -> String {
    let (mut parts, mut left) = (Vec::new(), Left::default());
    for turn in turns.iter().filter(|turn| turn.next.is_some()) {
        let Some(course) = &turn.course else { continue };
        let state = turn.measurement.standing(course);
        parts.push(format!("{}: {} of {} settled", turn.target(), state.settled, state.of));
        left = left.and(state.left);
    }
    format!("round {round:<3}     {}; {} left", parts.join("; "), left.in_words())
}

/// Compares what was measured, in pairs; prints it, writes the page, and says how to see more.
fn finish(ended: Ended, book: &Notebook, destination: &Destination, screen: Screen) -> Result<(), Failure> {
    let lost = (!ended.failed.is_empty()).then(|| {
        let failed = ended.failed.join(", ");
        Failure::failed(format!("failed, as said above: {failed}; what was measured of it is kept"))
    });
    let references: Vec<&String> = ended.done.iter().collect();
    let sides = sides::load(Some(book.path()), &screen, &references)?;
    if let [alone] = &sides[..] {
        let mut run = alone.runs[0].clone();
        run::conclude_and_report(&mut run, None, destination, screen)?;
    } else if sides.len() > 1 {
        compared(&sides, destination, screen)?;
    }
    lost.map_or(Ok(()), Err)
}

fn compared(sides: &[Side], destination: &Destination, screen: Screen) -> Result<(), Failure> {
    let compared = compare::compare(sides, &sides::usual_question(sides)).map_err(Failure::failed)?;
    let json_to_stdout = destination.json.as_deref() == Some(Path::new("-"));
    if !json_to_stdout {
        let paint = Paint { color: screen.color, width: screen.width };
        screen.result(&(iosonde_report::comparison(&compared, paint) + &beliefs(sides, paint)))?;
    }
    let ids: Vec<&str> = sides.iter().map(|side| side.runs[0].info.id.as_str()).collect();
    let study = &sides[0].runs[0];
    let path = destination.out.clone().unwrap_or_else(|| {
        let alone = run::default_out(study, "html").to_string_lossy().into_owned();
        alone.replace(ids[0], &ids.join("-")).into()
    });
    let html = FORMATS.find("html").map_err(Failure::failed)?;
    if let Some(page) = html.several(sides, &compared).map_err(Failure::failed)? {
        write(&path, &page).map_err(elsewhere)?;
    }
    if let Some(json) = &destination.json {
        let text = serde_json::to_string_pretty(&compared).map_err(Failure::failed)? + "\n";
        if json_to_stdout { screen.result(&text)? } else { write(json, text.as_bytes())? }
    }
    if !json_to_stdout {
        let all = ids.join(" ");
        screen.result(&format!(
            "\nreport  {}     again  iosonde compare {all}\none alone  iosonde show {}\n",
            path.display(),
            ids[0]
        ))?;
    }
    let failed = sides.iter().filter_map(|side| failure_of(&side.runs[0], destination.strict));
    let failed = failed.reduce(|a, b| {
        let text = if a.text == b.text { a.text } else { format!("{}; {}", a.text, b.text) };
        Failure { code: a.code.min(b.code), text }
    });
    failed.or_else(|| sides::slower(&compared).filter(|_| destination.strict)).map_or(Ok(()), Err)
}

/// Whether each run can be believed, in its first words.
fn beliefs(sides: &[Side], paint: Paint) -> String {
    let mut text = "\nBELIEVE\n".to_owned();
    for side in sides {
        let belief = conclude::belief(&side.runs[0]);
        text += &iosonde_report::paragraph(&format!("  {}: {}", side.name, belief.headline), paint);
    }
    text
}
