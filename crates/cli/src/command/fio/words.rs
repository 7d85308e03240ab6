//! What is said of fio's jobs before and while they run.

use std::path::Path;

use iosonde_model::{
    LastSeconds, LatencyLimit, Op, Phase, Run, Trial, TrialSpec,
    fio::{
        FioReport,
        steady_state::{SteadyFigure, SteadyMeasure, SteadyState},
    },
    units,
};
use iosonde_plan::fio::{Amount, Caps, Change, Group, Job, Laid, LatencyTarget, Place, Site};
use iosonde_rig::guard::quoted;

use super::batch::Batch;
use crate::{args::FioArgs, failure::Failure, screen::Screen};

/// Says what is done otherwise than the job asks.
pub fn changes(job: &Job, caps: Caps, screen: Screen) {
    for change in &job.changes {
        screen.say(&format!("note          {}: {}", job.name, sentence(change)));
    }
    let (shorter, smaller) = job.is_capped(caps);
    if let Some(time_ns) = caps.time_ns.filter(|_| shorter) {
        screen.say(&format!(
            "note          {}: at most {} (--time)",
            job.name,
            units::duration(time_ns as f64 / 1e9)
        ));
    }
    if let Some(bytes) = caps.size_bytes.filter(|_| smaller) {
        screen.say(&format!("note          {}: at most {} (--size)", job.name, units::size(bytes)));
    }
}

fn sentence(change: &Change) -> String {
    match change {
        Change::DepthOne { asked, engine } => {
            format!("iodepth={asked} has no effect with ioengine={engine}: one request at a time, as in fio")
        }
        Change::Engine { asked, used } => format!("ioengine={asked} is run by {used}"),
        Change::Overridden { option, dropped } => {
            format!("{option} is given twice; {option}={dropped} is dropped")
        }
        Change::FlushesOfMix { option, every, times } => format!(
            "{option}={every} flushes after every {} of the mix; fio flushes after reads, too: {} times as often",
            if *every == 1 { "write".to_owned() } else { format!("{every} writes") },
            units::count(*times)
        ),
        Change::NoLog { option } => {
            format!("{option} writes no file here; --json has whole histograms")
        }
    }
}

/// Jobs whose size is more than a file or device that exists has.
pub fn larger_than_target(batch: &Batch, capacity_bytes: u64, caps: Caps) -> Vec<String> {
    let Site::Existing(target) = &batch.site else { return Vec::new() };
    let told = |job: &Job| {
        let asked = job.more_than(capacity_bytes, caps)?;
        Some(format!(
            "{}: {} of {target} in place of {}: what exists is not made larger",
            job.name,
            units::size(capacity_bytes),
            units::size(asked)
        ))
    };
    batch.groups.iter().flat_map(|group| &group.jobs).filter_map(told).collect()
}

/// Groups that do not begin, because of a job's `exit_what`.
pub fn nothing_behind(job: &Job) -> String {
    format!(
        "note          {}: with exit_what=all its end is that of all jobs; those behind it do not run",
        job.name
    )
}

/// Name of a group's trial: the names of its jobs.
pub fn name(group: &Group) -> String {
    group.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(" + ")
}

/// A line while a group runs.
pub fn under_way(group: &Group, spec: &TrialSpec) -> String {
    let streams = spec.streams().count();
    let what = if streams == 1 { spec.describe() } else { format!("{streams} workloads at once") };
    format!("running       {}: {what}", name(group))
}

/// How a depth of a search went.
pub fn tried_depth(target: &LatencyTarget, depth: u32, trial: &Trial) -> String {
    let reached = target
        .figure_ns(trial)
        .map_or("nothing completed".to_owned(), |ns| format!("{} {}", figure(target), units::time(ns)));
    format!("search        QD {depth}: {reached}")
}

/// A search that its runtime cut.
pub fn search_ended_early(job: &Job) -> String {
    format!("note          {}: the runtime ends the search; a deeper queue may keep the latency", job.name)
}

fn figure(target: &LatencyTarget) -> String {
    match target.share {
        share if share < 1.0 => LatencyLimit { quantile: Some(share), ns: target.ns }.name(),
        _ => "slowest request".to_owned(),
    }
}

/// A job that was to end once its throughput is steady: whether it did, and the criterion's figure.
pub fn steady(run: &Run, batch: &Batch, laid: &[Laid]) -> Vec<String> {
    let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let of = |((group, laid), trial): ((&Group, &Laid), &Trial)| {
        let line = |last: &LastSeconds| {
            let rule = laid.ends.get(*last.streams.first()?)?.steady?;
            let report = laid.reports.iter().find(|report| report.streams.contains(&last.streams[0]))?;
            let job = group.jobs.iter().find(|job| job.name == report.name)?;
            Some(format!("{}: {}", job.name, steady_line(&rule, last, trial)))
        };
        trial.last_seconds.iter().filter_map(line).collect::<Vec<_>>()
    };
    batch.groups.iter().zip(laid).zip(measured).flat_map(of).collect()
}

fn throughput(per_s: f64, is_iops: bool) -> String {
    if is_iops { format!("{} IOPS", units::count(per_s)) } else { units::rate(per_s) }
}

fn steady_line(rule: &SteadyState, last: &LastSeconds, trial: &Trial) -> String {
    let seconds = rule.seconds(last);
    let Some(value) = rule.value(seconds) else {
        let window = units::duration(rule.window_s as f64);
        return format!("not steady: the job ended before {} had {window} to look at", rule.name());
    };
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let rate = |per_s| throughput(per_s, rule.figure == SteadyFigure::Iops);
    let amount = |value: f64| if rule.is_percent { format!("{value:.2} %") } else { rate(value) };
    let what = match rule.measure {
        SteadyMeasure::Deviation => format!("no second is further than {} from the mean", amount(value)),
        SteadyMeasure::Slope => format!("the slope is {} a second", amount(value.abs())),
    };
    let window = units::duration(rule.window_s as f64);
    let limit = if rule.is_percent { format!("{} %", rule.limit) } else { rate(rule.limit) };
    let after = units::duration(trial.elapsed_s);
    match last.is_met {
        true => {
            format!("steady after {after}: {} over the last {window}; {what} (limit {limit})", rate(mean))
        }
        false => format!("not steady after {after}: in the last {window} {what} (limit {limit})"),
    }
}

/// Jobs whose throughput fell below the least that they allow.
pub fn too_slow(run: &Run, batch: &Batch) -> Vec<String> {
    let groups = run.info.fio.as_ref().map(|fio| fio.groups.as_slice()).unwrap_or_default();
    let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let of = |((group, reports), trial): ((&Group, &Vec<FioReport>), &Trial)| -> Vec<String> {
        let told = |job: &Job| {
            let least = job.least_rate?;
            let report = reports.iter().rfind(|report| report.name == job.name).or(reports.first())?;
            let missed = least.missed(trial, report, job.spec.jobs)?;
            let rate = |per_s| throughput(per_s, least.is_iops);
            Some(format!(
                "{}: {} was not kept: {} reached {} of {}s in the {} before {}, less than {}",
                job.place_of(least.option),
                least.option,
                job.name,
                rate(missed.per_s),
                missed.op,
                units::time(least.cycle_ns as f64),
                units::duration(missed.ended_s),
                rate(missed.least_per_s)
            ))
        };
        group.jobs.iter().filter_map(told).collect()
    };
    batch.groups.iter().zip(groups).zip(measured).flat_map(of).collect()
}

/// A job whose result did not keep its latency.
pub struct Missed {
    /// Sentence about it.
    pub text: String,
    /// True if no depth is left that might: at the edge, a window more is above it as often as below.
    pub at_depth_one: bool,
}

/// The jobs whose results did not keep their latency.
pub fn targets_missed(run: &Run, batch: &Batch) -> Vec<Missed> {
    let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let missed = batch.groups.iter().zip(measured).filter_map(|(group, trial)| {
        let job = &group.jobs[0];
        let target = job.latency_target?;
        let reached_ns = target.figure_ns(trial)?;
        let text = format!(
            "{}: latency_target={} was not kept in the window at QD {}: {} took {}",
            job.place_of("latency_target"),
            units::time(target.ns as f64),
            trial.spec.queue_depth,
            figure(&target),
            units::time(reached_ns)
        );
        let at_depth_one = trial.spec.queue_depth == 1;
        (reached_ns > target.ns as f64).then_some(Missed { text, at_depth_one })
    });
    missed.collect()
}

/// What would be run.
pub fn plan(batch: &Batch, caps: Caps) -> Result<String, Failure> {
    let target = batch.site.target();
    let mut out = match &batch.site {
        Site::Own(_) => format!("on a file of iosonde's own in {target}\n"),
        Site::Existing(_) => format!("on {target}\n"),
    };
    for (number, group) in (1..).zip(&batch.groups) {
        let needed = group.needs_bytes(&batch.site, caps).map_err(Failure::usage)?;
        let size = needed.map_or(String::new(), |bytes| format!(", {} in all", units::size(bytes)));
        out += &format!("  group {number}{size}\n");
        for job in &group.jobs {
            let engine = &job.engine;
            let direct = if job.spec.direct { "direct" } else { "buffered" };
            let ends = ends(job).map_or_else(String::new, |ends| format!("; {ends}"));
            out += &format!("    {}: {}, {engine}, {direct}{ends}\n", job.name, job.spec.describe());
        }
    }
    Ok(out)
}

/// What ends a job: `1m 30 s after 5 s of ramp`, `64 MiB, 3 times, at most 10 s`. The caps are named before.
fn ends(job: &Job) -> Option<String> {
    let amount = |amount: Amount| match amount {
        Amount::Bytes(bytes) => units::size(bytes),
        Amount::Percent(percent) => format!("{percent} %"),
    };
    let time = |ns: u64| units::duration(ns as f64 / 1e9);
    let times = (job.loops > 1).then(|| format!("{} times", job.loops));
    let by_size = job.io_size.or(job.size).map(amount).filter(|_| !job.time_based);
    let by_size = by_size.into_iter().chain(times.filter(|_| !job.time_based));
    let requests = job.ios.map(|ios| format!("at most {ios} requests"));
    let runtime = job.runtime_ns.map(|ns| match job.time_based {
        true => time(ns),
        false => format!("at most {}", time(ns)),
    });
    let ramp = (job.ramp_ns > 0).then(|| format!("after {} of ramp", time(job.ramp_ns)));
    let told: Vec<String> = by_size.chain(requests).chain(runtime).chain(ramp).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The greatest latency that a job allows.
pub struct Allowed {
    /// Place of the option.
    place: String,
    job: String,
    /// Number of its group.
    group: usize,
    most_ns: u64,
}

/// What the jobs of a batch allow.
pub fn allowed(batch: &Batch) -> Vec<Allowed> {
    let of = |(group, job): (usize, &Job)| {
        let place = job.place_of("max_latency").to_string();
        Some(Allowed { place, job: job.name.clone(), group, most_ns: job.max_latency_ns? })
    };
    let jobs =
        batch.groups.iter().enumerate().flat_map(|(at, group)| group.jobs.iter().map(move |job| (at, job)));
    jobs.filter_map(of).collect()
}

/// Jobs of which a request took longer than they allow.
pub fn slower_than_allowed(run: &Run, allowed: &[Allowed]) -> Vec<String> {
    let groups = run.info.fio.as_ref().map(|fio| fio.groups.as_slice()).unwrap_or_default();
    let measured: Vec<&Trial> = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).collect();
    let told = |Allowed { place, job, group, most_ns }: &Allowed| {
        let (trial, reports) = (measured.get(*group)?, groups.get(*group)?);
        // With group_reporting the first job's entry has them all.
        let report = reports.iter().rfind(|report| report.name == *job).or(reports.first())?;
        let slowest = |op: &Op| report.direction(trial, *op)?.histogram.max_ns();
        let slowest_ns = Op::DIRECTIONS.iter().filter_map(slowest).max()?;
        (slowest_ns > *most_ns).then(|| {
            let (slowest, most) = (units::time(slowest_ns as f64), units::time(*most_ns as f64));
            format!("{place}: max_latency={most} is exceeded: the slowest request of {job} took {slowest}")
        })
    };
    allowed.iter().filter_map(told).collect()
}

/// A target that was refused, with the place of the option that names it.
pub fn of_the_file(failure: Failure, batch: &Batch) -> Failure {
    let job = &batch.groups[0].jobs[0];
    let option = if job.files.names.is_empty() { "directory" } else { "filename" };
    if !job.given.contains_key(option) {
        return failure;
    }
    let place = match job.place_of(option) {
        Place::Word(word) => word.to_string(),
        line => format!("{line}: {option}"),
    };
    Failure { text: format!("{place}: {}", failure.text), ..failure }
}

/// The command on another target; a pasted line stays behind the options of iosonde.
pub fn command(args: &FioArgs) -> String {
    if !args.line.is_empty() {
        return "iosonde fio --target {} -- fio ..".to_owned();
    }
    let files: Vec<String> = args.files.iter().map(|file| quoted(Path::new(file))).collect();
    format!("iosonde fio {} --target", files.join(" "))
}
