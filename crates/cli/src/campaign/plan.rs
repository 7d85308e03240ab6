//! What a session would do: its schedule and costs, or why it cannot be done as asked.

use iosonde_judge::estimate::FEWEST_TRIALS;
use iosonde_model::{Device, ExperimentName, LeftOut, Point, Study, TrialSpec, typed, units};
use iosonde_plan::schedule;
use iosonde_plan::schedule::Schedule;
use iosonde_plan::schedule::Unplannable;
use iosonde_report::text;
use iosonde_rig::prepare;

use super::CampaignSpec;
use crate::{
    failure::Failure,
    joined,
    measure::{follow::terms, write_limit},
    notebook,
    options::Options,
    screen::Screen,
    session::{Asked, Session, fits},
    studies,
};

/// Time that is advised over the time that the trials take by themselves.
const MARGIN: f64 = 1.2;

/// A study's schedule here and what it leaves out, or why it cannot be run here as asked: a budget that does not hold
/// the trials that an interval takes, for instance.
pub fn planned(
    study: &Study,
    target: &str,
    options: &Options,
    session: &Session,
) -> Result<(Schedule, Vec<LeftOut>), Failure> {
    fits::refuse_what_does_not_fit(target, session, options)?;
    let plan = studies::plan(study, &session.device)?;
    fits::refuse_what_the_engine_cannot(session, plan.points.iter().map(|point| &point.spec))?;
    let (_, size_bytes) = size_bytes(study, options, session);
    if let Some(span_bytes) = study.span_bytes.filter(|span_bytes| *span_bytes > size_bytes) {
        return Err(Failure::usage(format!(
            "--span {} is more than the area of {} that is prepared; say --size, too",
            units::size(span_bytes),
            units::size(size_bytes)
        )));
    }
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
        // Filling takes its part of --time, too. Slow requests end after their trial's time: the first round of
        // `kv-cache` on `sim:client-nvme` takes 11.0 s of a planned 10.5.
        let (time, fewer) = (typed::time(MARGIN * needed_s / share), fewer(study, &plan.points));
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
    // The workloads of a requirement are given.
    if study.experiments.iter().all(|own| own.kind == ExperimentName::Requirement.as_str()) {
        return "a requirement of fewer workloads".to_owned();
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

/// A plan in words, and what it costs.
struct DryRun {
    /// The points, time, space and writes.
    text: String,
    /// The time.
    expected_s: f64,
    /// The most that is written.
    written_bytes: u64,
}

fn dry_run_of(study: &Study, target: &str, options: &Options) -> Result<DryRun, Failure> {
    let command = format!("iosonde run {}", study.name);
    let asked = Asked {
        command: &command,
        writes: studies::writes(study)?,
        apart: &[],
        workers: studies::workers(study)?,
        place: None,
    };
    let session = joined::open(target, options, asked, &mut notebook::Unwritten)?;
    let (schedule, left_out) = planned(study, target, options, &session)?;
    let plan = schedule.forecast();
    let mut text = format!("{} on {target}   {}\n\n", study.name, iosonde_report::subject(&session.device));
    for point in schedule.points() {
        text += &format!("  {:>3}  {:22} {}\n", point.id, point.experiment, point.spec.describe());
    }
    for what in &left_out {
        text += &format!("       left out: {}\n", text::left_out(what));
    }
    text += &format!(
        "\n{} and a canary, trials of {:.2} s, about {} rounds, {} in all\n",
        text::counted(schedule.points().len()),
        plan.trial_s,
        plan.rounds_expected,
        units::duration(plan.expected_s),
    );
    let written_bytes = written_bytes(study, options, &session, &schedule);
    text += &cost(study, options, &session, written_bytes);
    Ok(DryRun { text, expected_s: plan.expected_s, written_bytes })
}

/// Bytes a second that nearly all storage stays below, and the time of the fastest request: bounds for what a plan
/// may write, since the storage is unknown before it is measured.
const FAST_BYTES_PER_S: f64 = 1e9;
const FAST_REQUEST_S: f64 = 20e-6;

/// What is prepared as far as the options and the room go.
fn size_bytes(study: &Study, options: &Options, session: &Session) -> (u64, u64) {
    let asked_bytes = session.asked_bytes(options, study.size_bytes.unwrap_or(prepare::DEFAULT_SIZE_BYTES));
    (asked_bytes, asked_bytes.min(session.room_bytes))
}

/// Estimate of what is written.
pub fn written_bytes(study: &Study, options: &Options, session: &Session, schedule: &Schedule) -> u64 {
    let (_, size_bytes) = size_bytes(study, options, session);
    let rounds = f64::from(schedule.forecast().rounds_expected);
    let one = |spec: &TrialSpec| {
        let moves = spec.asked_in_flight() as f64 * spec.block_size_bytes as f64 / FAST_REQUEST_S;
        let most = spec.rate_iops.map_or(f64::INFINITY, |rate| rate * spec.block_size_bytes as f64);
        let share = if spec.changes() { 1.0 - spec.read_percent.unwrap_or(0.0) / 100.0 } else { 0.0 };
        FAST_BYTES_PER_S.min(moves).min(most) * share
    };
    let points = schedule.points().iter();
    let trials: f64 = points.map(|point| one(&point.spec) * schedule.length_s(Some(point.id)) * rounds).sum();
    // Each host fills its own area, where it has one.
    let size_bytes = size_bytes * u64::from(session.areas());
    let fill_bytes = if session.fill { size_bytes } else { 0 };
    let state_bytes = options.state.map_or(0, |state| state.cost_bytes(size_bytes, session.fill));
    let bytes = trials as u64 + fill_bytes + state_bytes;
    options.max_write_bytes.map_or(bytes, |max| bytes.min(max))
}

/// Space, and what may be written.
fn cost(study: &Study, options: &Options, session: &Session, bytes: u64) -> String {
    let (asked_bytes, size_bytes) = size_bytes(study, options, session);
    let mut text = space(asked_bytes, size_bytes, study, options, session);
    if let Some(state) = options.state {
        text += &format!("state   {}\n", state.announce(size_bytes, session.fill));
    }
    text += &match bytes {
        0 => "writes  nothing\n".to_owned(),
        _ => format!(
            "writes  {}; --max-write limits it\n",
            may_write(bytes, &session.device, options.max_write_bytes)
        ),
    };
    text
}

/// Less of a drive's size than this is nothing to think about.
const LEAST_WEAR: f64 = 0.005;

/// What a run may write, also as a share of the device. Without a limit it is an estimate: storage faster than
/// [`FAST_BYTES_PER_S`] writes more.
pub fn may_write(bytes: u64, device: &Device, limit_bytes: Option<u64>) -> String {
    let of_drive = device.size_bytes.filter(|_| device.kind != "file");
    let wear = of_drive.map(|size| bytes as f64 / size.max(1) as f64).map_or_else(String::new, |wear| {
        if wear < LEAST_WEAR {
            String::new()
        } else if wear < 1.5 {
            format!(" ({:.0} % of its capacity)", 100.0 * wear)
        } else {
            format!(" ({wear:.1} times its capacity)")
        }
    });
    match limit_bytes {
        Some(limit_bytes) if bytes >= limit_bytes => format!("up to {}{wear}", units::size(bytes)),
        _ => format!("about {}{wear} at 1 GB/s, less on slower storage", units::size(bytes)),
    }
}

/// What is prepared, and why it is less than requested.
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
        format!(" (requested: {}, no more {room})", units::size(asked_bytes))
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

/// The plan of every session, and of several what they come to.
pub fn dry_run(spec: &CampaignSpec, screen: Screen) -> Result<(), Failure> {
    let (mut text, mut seconds, mut bytes) = (String::new(), 0.0, 0);
    let several = spec.sessions.len() > 1;
    for own in &spec.sessions {
        let one = dry_run_of(&spec.study, &own.target, &own.options)?;
        text += &one.text;
        text += if several { "\n" } else { "" };
        (seconds, bytes) = (seconds + one.expected_s, bytes + one.written_bytes);
    }
    if several {
        let writes = if bytes == 0 { "nothing".to_owned() } else { format!("up to {}", units::size(bytes)) };
        text += &format!(
            "{} targets in turn: {} of measuring in all, and {writes} written\n",
            spec.sessions.len(),
            units::duration(seconds)
        );
    }
    screen.result(&text)
}
