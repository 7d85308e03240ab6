//! Words of another tool's results: one line each, the worst first; what their figures claim across depths; what was
//! not checked, and how to check it.

use std::collections::HashMap;

use iosonde_model::{
    About, Cause, CheckName, Direction, Judgement, Outcome, Run, Rw, Sync, Trial, TrialSpec, Unstated,
    cause::{self, LittlesLaw},
    units,
};

use crate::text::{case::capitalised, validity::Weight};

/// What is said of one result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultLine {
    /// The trial's id.
    pub trial: u64,
    /// The workload, short.
    pub workload: Workload,
    /// The verdict's weight.
    pub mark: Weight,
    /// Causes of the verdict; none where no fault was found and the depth was not checked. Lines with the same have one
    /// verdict in common. `None` for a line with figures of its own.
    pub alike: Option<Vec<Cause>>,
    /// `invalid (queue depth)`, `valid`.
    pub verdict: String,
    /// Why, in numbers.
    pub why: String,
    /// What that means, where it is not plain.
    pub meaning: Option<String>,
    /// Queue depth by the law, over the requested one: how far a depth was missed.
    share: f64,
}

impl ResultLine {
    /// Whether two have one verdict, for the same causes.
    pub fn is_like(&self, other: &Self) -> bool {
        self.alike.is_some() && self.mark == other.mark && self.alike == other.alike
    }
}

/// What tells one result from another.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// `4 KiB mix 50:50`.
    requests: String,
    /// Requests outstanding, where the file states them.
    depth: Option<u64>,
    /// `fsync:1`, `at 2 k IOPS`.
    conditions: Vec<String>,
}

impl Workload {
    /// `4 KiB mix 50:50, QD 64`.
    pub fn whole(&self) -> String {
        self.with(self.depth)
    }

    /// Without the depth that all results have in common.
    pub fn beside(&self, shared_depth: Option<u64>) -> String {
        self.with(self.depth.filter(|_| shared_depth.is_none()))
    }

    fn with(&self, depth: Option<u64>) -> String {
        let depth = depth.map(|depth| format!("QD {depth}"));
        let parts =
            std::iter::once(self.requests.clone()).chain(depth).chain(self.conditions.iter().cloned());
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// The queue depth of all results, where several have the same.
pub fn shared_depth(lines: &[ResultLine]) -> Option<u64> {
    let first = lines.first().filter(|_| lines.len() > 1)?.workload.depth?;
    lines.iter().all(|line| line.workload.depth == Some(first)).then_some(first)
}

/// One line a result, the worst first.
pub fn result_lines(run: &Run) -> Vec<ResultLine> {
    let mut of_trial: HashMap<u64, Vec<&Judgement>> = HashMap::new();
    for judgement in run.verdicts.iter().filter(|judgement| judgement.verdict >= Outcome::Warning) {
        if let Some(trial) = judgement.trial {
            of_trial.entry(trial).or_default().push(judgement);
        }
    }
    let line = |trial: &Trial| line(trial, of_trial.get(&trial.id).cloned().unwrap_or_default());
    let mut lines: Vec<(u8, ResultLine)> = run.trials.iter().map(line).collect();
    lines.sort_by(|(a, one), (b, other)| b.cmp(a).then(one.share.total_cmp(&other.share)));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn line(trial: &Trial, mut troubles: Vec<&Judgement>) -> (u8, ResultLine) {
    troubles.sort_by_key(|judgement| std::cmp::Reverse(rank(judgement)));
    // Where nothing was measured, there is nothing else to say.
    let is_empty = |judgement: &&Judgement| {
        matches!(judgement.cause, Some(Cause::Errors(cause::Errors::NothingCompleted { .. })))
    };
    if let Some(nothing) = troubles.iter().copied().find(is_empty) {
        troubles = vec![nothing];
    }
    // What memory serves keeps the program busy, and is over before it counts: one cause is enough.
    let by_memory = |judgement: &&Judgement| {
        matches!(judgement.cause, Some(Cause::NoWitness(cause::NoWitness::AtMost { .. })))
    };
    if troubles.iter().any(by_memory) {
        troubles.retain(|own| !matches!(own.cause, Some(Cause::GeneratorBound(_) | Cause::LittlesLaw(_))));
    }
    let in_flight = in_flight(trial);
    let asked = trial.spec.asked_in_flight() as f64;
    let base = ResultLine {
        trial: trial.id,
        workload: workload(trial),
        mark: Weight::Yes,
        alike: None,
        verdict: "valid".into(),
        why: String::new(),
        meaning: None,
        share: in_flight.map_or(1.0, |number| number / asked),
    };
    let Some(worst) = troubles.first() else {
        let law = trial.keeps_depth().then_some(in_flight).flatten();
        return match law {
            Some(number) => {
                (0, ResultLine { why: format!("queue depth {} of {asked}", whole(number)), ..base })
            }
            None => {
                let why = "no contradiction found; the queue depth was not checked".to_owned();
                (1, ResultLine { alike: Some(Vec::new()), verdict: "no fault found".into(), why, ..base })
            }
        };
    };
    // Reads and writes of one result may have a warning for one cause.
    let mut causes: Vec<Option<&Cause>> = Vec::new();
    let mut why: Vec<String> = Vec::new();
    for judgement in &troubles {
        if !causes.contains(&judgement.cause.as_ref()) {
            causes.push(judgement.cause.as_ref());
            why.push(super::why(judgement));
        }
    }
    let void = worst.verdict == Outcome::Invalid;
    let line = ResultLine {
        mark: if void { Weight::No } else { Weight::Doubt },
        verdict: format!("{}{}", if void { "invalid" } else { "warning" }, of_what(worst.about)),
        why: why.join("; "),
        alike: Some(causes.into_iter().flatten().cloned().collect()),
        meaning: meaning(worst),
        ..base
    };
    (rank(worst), line)
}

/// What is wrong with all results together, such as one slip of units: mark, verdict and why.
pub fn of_all(run: &Run) -> Vec<(Weight, String, String)> {
    let of_run = |judgement: &&Judgement| {
        let tally = matches!(judgement.cause, Some(Cause::Tally(_)));
        judgement.trial.is_none()
            && judgement.point.is_none()
            && judgement.verdict >= Outcome::Warning
            && !tally
    };
    let told = run.verdicts.iter().filter(of_run).map(|judgement| {
        let void = judgement.verdict == Outcome::Invalid;
        let mark = if void { Weight::No } else { Weight::Doubt };
        let verdict = if void { "invalid" } else { "warning" };
        (mark, format!("{verdict}{}", of_what(judgement.about)), super::why(judgement))
    });
    told.collect()
}

/// Invalid before warnings; what concerns more figures before what concerns fewer.
fn rank(judgement: &Judgement) -> u8 {
    let about = match judgement.about {
        About::All => 5,
        About::Rate => 4,
        About::Device => 3,
        About::Latency => 2,
        About::Depth => 1,
    };
    10 * (judgement.verdict as u8) + about
}

fn of_what(about: About) -> &'static str {
    match about {
        About::All => "",
        About::Rate => " (throughput)",
        About::Latency => " (latency)",
        About::Depth => " (queue depth)",
        About::Device => " (device)",
    }
}

fn meaning(judgement: &Judgement) -> Option<String> {
    let Some(Cause::LittlesLaw(
        LittlesLaw::Idle { in_flight, expected, .. } | LittlesLaw::Missed { in_flight, expected, .. },
    )) = &judgement.cause
    else {
        return None;
    };
    let unfit = "Do not fit a queueing model to these figures.";
    Some(if in_flight < expected {
        format!(
            "Either the queue depth was not reached, or the latency omits part of the waiting time. {unfit}"
        )
    } else {
        format!("The depth was exceeded: throughput and latency are of different requests. {unfit}")
    })
}

/// Rate times mean latency, flushes included (Little's law); nothing where a latency is missing.
fn in_flight(trial: &Trial) -> Option<f64> {
    let sides: Option<Vec<f64>> =
        trial.directions().map(|(_, side)| Some(side.iops * side.latency_ns.mean? / 1e9)).collect();
    let flushes = trial
        .flush
        .as_ref()
        .filter(|_| trial.measured_s > 0.0)
        .and_then(|flush| Some(flush.ios as f64 / trial.measured_s * flush.latency_ns.mean? / 1e9));
    sides.filter(|sides| !sides.is_empty()).map(|sides| sides.iter().sum::<f64>() + flushes.unwrap_or(0.0))
}

fn whole(number: f64) -> String {
    if number >= 20.0 { format!("{number:.0}") } else { format!("{number:.1}") }
}

fn workload(trial: &Trial) -> Workload {
    let spec = &trial.spec;
    let of = |requests: String, depth| Workload { requests, depth, conditions: Vec::new() };
    // What a job that did nothing would have done is no result.
    if trial.directions().next().is_none() {
        return of("no requests".to_owned(), None);
    }
    let depth = spec.asked_in_flight();
    let knows_order = !trial.unstated.contains(&Unstated::Order);
    let requests = |spec: &TrialSpec| requests(spec, knows_order);
    if spec.and.iter().any(|other| requests(other) != requests(spec)) {
        return of(format!("{} unlike jobs", 1 + spec.and.len()), Some(depth));
    }
    let conditions = [
        spec.rate_iops
            .filter(|_| spec.and.is_empty())
            .map(|rate| format!("at {} IOPS", units::count(rate * f64::from(spec.jobs)))),
        (spec.sync != Sync::None).then(|| spec.sync.to_string()),
        (!spec.and.is_empty()).then(|| format!("{} unlike jobs", 1 + spec.and.len())),
    ];
    Workload {
        depth: Some(depth).filter(|_| !trial.unstated.contains(&Unstated::QueueDepth)),
        conditions: conditions.into_iter().flatten().collect(),
        ..of(each_size(trial).unwrap_or_else(|| requests(spec)), None)
    }
}

/// A mix whose reads are of one size, or mean size, and whose writes are of another: `random mix 50:50, 4 KiB reads,
/// 64 KiB writes`.
fn each_size(trial: &Trial) -> Option<String> {
    let spec = &trial.spec;
    let own = |side: Option<&Direction>| side.filter(|side| side.ios > 0).map(|side| side.bytes / side.ios);
    let sizes = [own(trial.read.as_ref())?, own(trial.write.as_ref())?];
    let ends = [spec.smallest_block_bytes(), spec.block_size_bytes];
    let are_the_ends = sizes == ends || [sizes[1], sizes[0]] == ends;
    (spec.and.is_empty() && spec.rw.is_mixed() && sizes[0] != sizes[1] && are_the_ends).then(|| {
        let [reads, writes] = sizes.map(units::size);
        format!("{}, {reads} reads, {writes} writes", mix(spec, !trial.unstated.contains(&Unstated::Order)))
    })
}

/// Requests of a workload without their depth: `4 KiB random mix 50:50`.
fn requests(spec: &TrialSpec, knows_order: bool) -> String {
    let (least, most) = (spec.smallest_block_bytes(), spec.block_size_bytes);
    let size = if least == most {
        units::size(most)
    } else {
        format!("{} to {}", units::size(least), units::size(most))
    };
    match few_blocks_bytes(spec) {
        None => format!("{size} {}", mix(spec, knows_order)),
        Some(area) if area == most => format!("{size} {} of one block", mix(spec, false)),
        Some(area) => format!("{size} {} within {}", mix(spec, false), units::size(area)),
    }
}

/// Order and directions: `random mix 50:50`, `sequential reads`.
fn mix(spec: &TrialSpec, knows_order: bool) -> String {
    let mix = match spec.rw {
        Rw::Trim | Rw::RandTrim => "trims".to_owned(),
        rw if rw.is_mixed() => {
            let reads = spec.read_percent.unwrap_or(50.0);
            format!("mix {}:{}", percent(reads), percent(100.0 - reads))
        }
        rw if rw.writes() => "writes".to_owned(),
        _ => "reads".to_owned(),
    };
    match (knows_order, spec.rw.is_random()) {
        (false, _) => mix,
        (true, true) => format!("random {mix}"),
        (true, false) => format!("sequential {mix}"),
    }
}

/// Blocks that are used again so soon that a device answers otherwise than for an area.
const FEW_BLOCKS: u64 = 16;

/// The addressed area, where it has few blocks.
fn few_blocks_bytes(spec: &TrialSpec) -> Option<u64> {
    (1..=FEW_BLOCKS * spec.block_size_bytes).contains(&spec.span_bytes).then_some(spec.span_bytes)
}

/// At most one decimal.
fn percent(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Twice what the law itself may be missed by at either end.
const CLAIM_TOLERANCE: f64 = 0.1;

/// What results that differ by their depth alone say together: in a closed loop rate times latency is the number in
/// flight, so that from one depth to another the latency must grow by the depth's ratio over the rate's.
pub fn across_depths(run: &Run) -> Vec<String> {
    let mut families: Vec<(TrialSpec, Vec<&Trial>)> = Vec::new();
    for trial in run.trials.iter().filter(|trial| trial.keeps_depth() && in_flight(trial).is_some()) {
        let alike = TrialSpec { queue_depth: 1, jobs: 1, ..trial.spec.clone() };
        match families.iter_mut().find(|(spec, _)| *spec == alike) {
            Some((_, members)) => members.push(trial),
            None => families.push((alike, vec![trial])),
        }
    }
    families.iter().filter_map(|(_, members)| claim(members)).collect()
}

fn claim(members: &[&Trial]) -> Option<String> {
    let depth = |trial: &&&Trial| trial.spec.asked_in_flight();
    let (least, most) = (members.iter().min_by_key(depth)?, members.iter().max_by_key(depth)?);
    let ratio = most.spec.asked_in_flight() as f64 / least.spec.asked_in_flight() as f64;
    // Neighbouring depths say little: what both leave out cancels.
    if ratio < 4.0 {
        return None;
    }
    let rate = most.iops() / least.iops();
    // The mean latency of all requests together: queue depth over throughput.
    let latency = in_flight(most)? / most.iops() / (in_flight(least)? / least.iops());
    let needed = ratio / rate;
    // Three digits, so that a reader can work it out again.
    let times = |value: f64| match value {
        _ if value.fract() == 0.0 => format!("×{value}"),
        ..10.0 => format!("×{value:.2}"),
        ..100.0 => format!("×{value:.1}"),
        _ => format!("×{value:.0}"),
    };
    let what = requests(&least.spec, !least.unstated.contains(&Unstated::Order));
    let same = (latency / needed - 1.0).abs() <= CLAIM_TOLERANCE;
    let law = if same { ", as expected" } else { ". This contradicts Little's law (X·R = N)" };
    Some(format!(
        "{what}, queue depth {} to {} ({}): throughput grew {}, so the mean latency must grow {}; it grew {}{law}.",
        least.spec.asked_in_flight(),
        most.spec.asked_in_flight(),
        times(ratio),
        times(rate),
        times(needed),
        times(latency)
    ))
}

/// What could not be checked; docs/judge.md says what each needs.
pub fn unjudged(run: &Run) -> Vec<String> {
    let all = run.trials.len();
    let of = |check: CheckName| {
        let own = |line: &&Judgement| line.check == check && line.verdict == Outcome::NotChecked;
        let unchecked = run.verdicts.iter().find(own).and_then(|line| match &line.cause {
            Some(Cause::Tally(tally)) => Some(tally.unchecked),
            _ => None,
        });
        unchecked.filter(|&count| count > 0).map(|count| match count as usize {
            count if count >= all => String::new(),
            count => format!(" in {count} of {all}"),
        })
    };
    let checks = [
        (CheckName::CacheServed, "page cache"),
        (CheckName::LittlesLaw, "queue depth"),
        (CheckName::GeneratorBound, "generator limit"),
        (CheckName::Errors, "failed requests"),
    ];
    let told = checks.into_iter().filter_map(|(check, what)| Some(format!("{what}{}", of(check)?)));
    told.chain(["steady state, drift and noise".to_owned()]).collect()
}

/// The command that would measure the worst result again, with witnesses; `None` where the file does not say what was
/// measured, or gives the mean of several sizes as one.
pub fn would_settle(run: &Run) -> Option<String> {
    let worst = result_lines(run).first()?.trial;
    let trial = run.trial(worst)?;
    let spec = &trial.spec;
    let needed = [Unstated::QueueDepth, Unstated::Flushes];
    let unknown = needed.iter().any(|what| trial.unstated.contains(what));
    let several = !spec.and.is_empty() || !spec.block_sizes.is_one();
    // `point` has no pauses.
    let is_nothing = trial.directions().next().is_none() || spec.engine == "null";
    if unknown
        || several
        || is_nothing
        || spec.think.is_some()
        || !spec.block_size_bytes.is_multiple_of(SECTOR_BYTES)
    {
        return None;
    }
    let mut command =
        format!("iosonde point TARGET --rw {} --bs {}", spec.rw.name(), bytes(spec.block_size_bytes));
    if let Some(reads) = spec.read_percent.filter(|&reads| reads != 50.0) {
        command += &format!(" --mix {}%", percent(reads));
    }
    // An engine that sends one request at a time keeps no other depth; a mapped file has no other engine.
    let engine = own_engine(&spec.engine).filter(|engine| spec.queue_depth == 1 || *engine == "mmap");
    command += &format!(" --depth {}", if engine == Some("mmap") { 1 } else { spec.queue_depth });
    if spec.jobs > 1 {
        command += &format!(" --jobs {}", spec.jobs);
    }
    if let Some(area) = few_blocks_bytes(spec) {
        command += &format!(" --span {}", bytes(area));
    }
    if let Some(rate) = spec.rate_iops {
        command += &format!(" --rate {rate}");
    }
    if spec.sync != Sync::None {
        command += &format!(" --sync {}", spec.sync);
    }
    if let Some(engine) = engine {
        command += &format!(" --engine {engine}");
    }
    if engine == Some("mmap") || !spec.direct && !trial.unstated.contains(&Unstated::PageCache) {
        command += " --buffered";
    }
    Some(command)
}

/// Our engine for one of fio's that differs in latency from the engine that `point` takes by itself.
fn own_engine(of_fio: &str) -> Option<&'static str> {
    match of_fio {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Some("psync"),
        "mmap" => Some("mmap"),
        _ => None,
    }
}

/// The smallest unit of direct I/O.
const SECTOR_BYTES: u64 = 512;

fn bytes(size: u64) -> String {
    match size {
        size if size.is_multiple_of(1 << 20) && size > 0 => format!("{}m", size >> 20),
        size if size.is_multiple_of(1 << 10) && size > 0 => format!("{}k", size >> 10),
        size => size.to_string(),
    }
}

/// `quick of sim:sata-ssd, 261 trials`: a run of another notebook.
pub fn kept(run: &Run) -> String {
    let count = run.trials.len();
    let trials = if count == 1 { "trial" } else { "trials" };
    format!("{} of {}, {count} {trials}", run.info.study, run.info.target)
}

/// `8 results from fio 3.38: 6 invalid, 2 without a fault`.
pub fn headline(run: &Run, from: &str) -> String {
    let lines = result_lines(run);
    // A fault of all together is one of each.
    let all_invalid = of_all(run).iter().any(|(mark, ..)| *mark == Weight::No);
    let mark_of = |line: &ResultLine| if all_invalid { Weight::No } else { line.mark };
    let count = |mark| lines.iter().filter(|line| mark_of(line) == mark).count();
    let parts = [
        (count(Weight::No), "invalid"),
        (count(Weight::Doubt), "with a warning"),
        (count(Weight::Yes), "without a fault"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let results = if lines.len() == 1 { "1 result".to_owned() } else { format!("{} results", lines.len()) };
    let depth = shared_depth(&lines).map_or_else(String::new, |depth| format!(" at QD {depth}"));
    capitalised(&format!("{results}{depth} from {from}: {}", parts.join(", ")))
}

#[cfg(test)]
#[path = "imported_tests.rs"]
mod tests;
