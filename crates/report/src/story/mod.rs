//! What every report tells, whatever it is written in: the same rows in the same words, so that two formats
//! cannot disagree. Nothing here is HTML or Markdown, and nothing is worked out that the run does not hold.

mod facts;

use std::collections::{BTreeMap, HashMap};

use crate::{
    chart::pick::Doubts,
    figure::DotStanding,
    quantity::Quantity,
    text::{self, case::capitalised},
};
use iosonde_infer::{
    finding::RUN,
    validity::{ByteSource, Fatal, half_width, validity},
};
use iosonde_model::{
    Closed, Conditions, Device, DeviceNote, Estimate, Finding, LeftOut, Medium, Op, Outcome, Phase, Point,
    Run, Status, Study, Trial, TrialSpec, units,
};
use iosonde_plan::experiment::EXPERIMENTS;

pub use facts::health;
pub(crate) use facts::{Fact, device_facts, host_facts, is_study, method, method_facts, of_device, of_host};

/// What was measured, without the parts of a simulated device, and how much of it.
pub(crate) fn measured_on_briefly(run: &Run) -> String {
    format!("{}, {} tested", on_briefly(run), units::size(run.info.device.working_set_bytes))
}

/// What a run's workloads went to, without the parts of a simulated device, and how they reached it.
pub(crate) fn on_briefly(run: &Run) -> String {
    let device = &run.info.device;
    let brief = Device { description: None, ..device.clone() };
    subject_by(if device.medium == Medium::Simulated { &brief } else { device }, way(run))
}

/// What a run's workloads went to, and how they reached it.
pub(crate) fn on(run: &Run) -> String {
    subject_by(&run.info.device, way(run))
}

/// How a run's workloads reached the storage.
fn way(run: &Run) -> &'static str {
    let device = &run.info.device;
    let has_page_cache = !device.notes.contains(&DeviceNote::LeftOut(LeftOut::NoPageCache));
    let buffered = |point: &Point| !point.spec.direct && has_page_cache;
    let count = run.points.iter().filter(|point| buffered(point)).count();
    match count {
        0 if device.direct && was_cached(run) => "direct I/O requested",
        0 => way_of(device),
        all if all == run.points.len() => "buffered I/O",
        _ => "direct and buffered I/O",
    }
}

/// Whether memory answered most trials.
fn was_cached(run: &Run) -> bool {
    let Some(Fatal::NotStorage(facts)) = validity(run).fatal else { return false };
    matches!(facts.source, ByteSource::Memory | ByteSource::MemoryAndStorage)
}

fn way_of(device: &Device) -> &'static str {
    if device.direct { "direct I/O" } else { "buffered I/O" }
}

/// Target in one line: `ext4 on nvme0n1: Samsung 990 PRO 2TB, PCIe 4.0 x4, io_uring, direct I/O`.
pub fn subject(device: &Device) -> String {
    subject_by(device, way_of(device))
}

fn subject_by(device: &Device, way: &str) -> String {
    let mut place = Vec::new();
    place.extend(device.file_system.clone());
    if device.medium == Medium::Simulated {
        // The figures of a device file are no results: they are in brackets.
        let parts =
            device.description.as_ref().map_or_else(String::new, |parts| format!(" (modelled on {parts})"));
        place.push(format!("simulated device{parts}"));
    } else if let Some(name) = &device.name {
        // A partition says no more than its drive; a loop device or a volume between is a layer.
        let layers =
            device.chain.iter().filter(|layer| !name.is_empty() && !layer.starts_with(name.as_str()));
        for name in layers.chain([name]) {
            place.push(if place.is_empty() { name.clone() } else { format!("on {name}") });
        }
    }
    if place.is_empty() {
        place.push(device.kind.clone());
    }
    let described = device.description.clone().filter(|_| device.medium != Medium::Simulated);
    let mut details: Vec<String> =
        [device.model.clone(), described, device.link.clone()].into_iter().flatten().collect();
    if !device.engine.is_empty() && device.medium != Medium::Simulated {
        details.push(device.engine.clone());
    }
    details.push(way.to_owned());
    details.extend(text::layout::hosts_and_layout(device));
    let gap = if device.medium == Medium::Simulated { "," } else { ":" };
    format!("{}{gap} {}", place.join(" "), details.join(", "))
}

/// What the storage is called: its model, or the file system and device, or the target as it was typed.
pub(crate) fn storage_name(run: &Run) -> String {
    let device = &run.info.device;
    match (&device.model, &device.file_system, &device.name) {
        (Some(model), ..) => model.clone(),
        (None, Some(file_system), Some(name)) => format!("{file_system} on {name}"),
        _ => run.info.target.clone(),
    }
}

/// What a report is headed: the study and the target.
pub(crate) fn title(run: &Run) -> String {
    format!("{} on {}", run.info.study, run.info.target)
}

/// `2026-11-21T10:04:00Z` as `2026-11-21 10:04 UTC`; the clock of a simulated run began in 1970 in earlier
/// versions, which is no date; anything else as it is.
pub(crate) fn day(started_at: &str) -> String {
    if started_at.starts_with("1970-01-01") {
        return "in virtual time".to_owned();
    }
    match (started_at.get(..10), started_at.get(10..11), started_at.get(11..16)) {
        (Some(date), Some("T"), Some(time)) if started_at.ends_with('Z') => format!("{date} {time} UTC"),
        _ => started_at.to_owned(),
    }
}

/// One row of the table of findings.
pub(crate) struct FindingRow<'a> {
    /// "queue depth knee".
    pub(crate) name: String,
    /// "4 KiB random reads".
    pub(crate) conditions: String,
    /// The value with its interval; `None` where there is no finding.
    pub(crate) value: Option<String>,
    pub(crate) finding: &'a Finding,
}

/// Findings that found something or looked and saw that nothing is there, then refused ones.
pub(crate) fn findings(run: &Run) -> (Vec<FindingRow<'_>>, Vec<FindingRow<'_>>) {
    run.findings.iter().map(finding_row).partition(|row| row.finding.status != Status::Inconclusive)
}

fn finding_row(finding: &Finding) -> FindingRow<'_> {
    let quantity = Quantity::of_unit(finding.unit.name());
    let value = finding.value.map(|value| match quantity {
        Some(quantity) => quantity.interval_text(value, finding.low, finding.high),
        // A unit of a later version: the bare number is better than none.
        None => format!("{value} {}", finding.unit.name()),
    });
    let value = value.filter(|_| finding.status == Status::Found);
    FindingRow {
        name: finding.name.as_str().replace('_', " ").replace("iops", "IOPS"),
        conditions: conditions(finding),
        value,
        finding,
    }
}

/// "4 KiB random reads, QD 8", from the conditions that are set.
fn conditions(finding: &Finding) -> String {
    let c = &finding.conditions;
    let size = c.block_size_bytes.map(units::size);
    let order = c.random.map(|random| if random { "random" } else { "sequential" }.to_owned());
    let op = c.op.map(|op| format!("{op}s"));
    let what: Vec<String> = [size, order, op].into_iter().flatten().collect();
    let depth = c.queue_depth.map(|depth| format!("QD {depth}"));
    [(!what.is_empty()).then(|| what.join(" ")), depth].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// An experiment of the run: its question and its points.
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) question: Option<&'static str>,
    /// The rows of their table.
    pub(crate) rows: Vec<[String; 8]>,
    /// What its findings say; empty where none was found.
    pub(crate) answers: Vec<String>,
    /// How sure that is.
    pub(crate) sure: String,
}

/// The experiments in the order of the plan.
pub(crate) fn sections(run: &Run) -> Vec<Section> {
    let mut names: Vec<&str> = Vec::new();
    for point in &run.points {
        for name in std::iter::once(&point.experiment).chain(&point.also) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let kinds = kinds(run);
    names.into_iter().map(|name| section(run, name, &kinds)).collect()
}

/// The registered experiment behind each name that the study gave.
fn kinds(run: &Run) -> BTreeMap<String, String> {
    let study = Study::parse(&run.info.study_source, &run.info.study).ok();
    let experiments = study.map_or_else(Vec::new, |study| study.experiments);
    experiments.into_iter().map(|experiment| (experiment.name, experiment.kind)).collect()
}

fn section(run: &Run, name: &str, kinds: &BTreeMap<String, String>) -> Section {
    let kind = kinds.get(name).map_or(name, String::as_str);
    let points: Vec<&Point> = run.points.iter().filter(|point| point.belongs_to(name)).collect();
    let found = run.findings.iter().filter(|f| f.experiment == name && f.status != Status::Inconclusive);
    Section {
        name: name.to_owned(),
        question: EXPERIMENTS.find(kind).ok().map(|experiment| experiment.question()),
        answers: answers(&found.collect::<Vec<_>>()),
        sure: how_sure(run, &points),
        rows: point_rows(run, &points),
    }
}

/// What findings say: one sentence for findings that differ only in their queue depth, with all of these.
fn answers(found: &[&Finding]) -> Vec<String> {
    let mut said: Vec<(&Finding, Vec<u32>)> = Vec::new();
    for finding in found {
        let depth = finding.conditions.queue_depth;
        match said.iter_mut().find(|(other, _)| differ_in_depth_alone(other, finding)) {
            Some((_, depths)) => depths.extend(depth),
            None => said.push((finding, depth.into_iter().collect())),
        }
    }
    let told = |(finding, mut depths): (&Finding, Vec<u32>)| {
        depths.dedup();
        match depths.as_slice() {
            [some @ .., last] if !some.is_empty() => {
                let some: Vec<String> = some.iter().map(u32::to_string).collect();
                let clause = capitalised(&crate::text::clause(finding));
                format!("{clause} (at QD {} and {last}).", some.join(", "))
            }
            _ => crate::text::sentence(finding),
        }
    };
    said.into_iter().map(told).collect()
}

/// Whether two findings have the same value, interval and facts under conditions that are the same but for the depth.
fn differ_in_depth_alone(a: &Finding, b: &Finding) -> bool {
    let but_depth = |finding: &Finding| Conditions { queue_depth: None, ..finding.conditions.clone() };
    let figures = |finding: &Finding| (finding.value, finding.low, finding.high, finding.at_least);
    (a.name, a.status, figures(a)) == (b.name, b.status, figures(b))
        && (&a.detail, &a.notes) == (&b.detail, &b.notes)
        && but_depth(a) == but_depth(b)
}

/// What time and the order of visits did to all of them, as far as that is known.
pub(crate) fn course(run: &Run) -> Vec<String> {
    let found = run.findings.iter().filter(|f| f.experiment == RUN && f.status != Status::Inconclusive);
    found.map(crate::text::sentence).collect()
}

fn how_sure(run: &Run, points: &[&Point]) -> String {
    let (all, trials) = (points.len(), points.iter().map(|point| point.trials).sum::<u32>());
    let void: u32 = points.iter().map(|point| point.left_out).sum();
    let narrow = |point: &Point| half_width(run, point).is_some_and(|half| half <= run.info.precision);
    let reached = points.iter().filter(|point| narrow(point)).count();
    let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let from = match void {
        0 => plural(u64::from(trials), "trial"),
        _ => format!("{} of {} ({void} invalid)", trials - void, plural(u64::from(trials), "trial")),
    };
    let mut said = format!("{} from {from}", plural(all as u64, "point"));
    let doubts = Doubts::about(run, &[]);
    let not_of_it = points.iter().filter(|point| doubts.of(point).0 == DotStanding::Void).count();
    said += &match not_of_it {
        0 => String::new(),
        count if count == all => "; all of them invalid as figures of the storage".to_owned(),
        count => format!("; {count} of the points invalid as figures of the storage"),
    };
    let bare = points.iter().filter(|point| point.why_no_interval.is_some()).count();
    if bare == all {
        return said + "; too few for an interval.";
    }
    if run.info.precision > 0.0 {
        said += &match reached {
            _ if reached == all => {
                format!("; all within ±{}", units::percent(run.info.precision))
            }
            0 => format!("; none within ±{}", units::percent(run.info.precision)),
            _ => format!("; {reached} within ±{}", units::percent(run.info.precision)),
        };
    }
    if bare > 0 {
        said += &format!("; {bare} without an interval");
    }
    said + "."
}

/// A figure of a point, with its interval.
pub(crate) fn estimate(quantity: Quantity, estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| "–".to_owned(), |e| quantity.interval_text(e.value, e.low, e.high))
}

/// The heads of the table of points.
pub(crate) const POINT_HEADS: [&str; 8] =
    ["Workload", "Direction", "IOPS", "Throughput", "Mean latency", "p99", "Trials", "Closed by"];

/// A row for each direction of each point.
fn point_rows(run: &Run, points: &[&Point]) -> Vec<[String; 8]> {
    let doubts = Doubts::about(run, &[]);
    // Each workload put into words once: with thousands of points, comparing all with all takes seconds.
    let mut like: HashMap<String, Vec<&TrialSpec>> = HashMap::new();
    for point in points {
        like.entry(point.spec.describe()).or_default().push(&point.spec);
    }
    let row = |point: &Point, op: Op| {
        let direction = point.direction(op)?;
        let void = match (doubts.of(point).0, point.left_out) {
            (DotStanding::Void, _) => ", invalid".to_owned(),
            (_, 0) => String::new(),
            (_, count) => format!(" ({count} invalid)"),
        };
        Some([
            told_apart(&like, &point.spec),
            op.name().to_owned(),
            estimate(Quantity::Iops, Some(direction.iops)),
            estimate(Quantity::BytesPerSecond, Some(direction.bytes_per_s)),
            estimate(Quantity::Nanoseconds, direction.latency_ns_mean),
            estimate(Quantity::Nanoseconds, direction.latency_ns_p99),
            format!("{}{void}", point.trials),
            closed(point).to_owned(),
        ])
    };
    // Of a point without figures the row says why there are none.
    let none = |point: &Point| {
        let mut cells = [(); 8].map(|()| "–".to_owned());
        cells[0] = told_apart(&like, &point.spec);
        cells[6] = if point.left_out > 0 {
            format!("{} ({} invalid)", point.trials, point.left_out)
        } else {
            point.trials.to_string()
        };
        cells
    };
    // A write and its flush: what a program that flushes waits for.
    let commit = |point: &Point| {
        let commit = point.commit.as_ref()?;
        let mut cells = [(); 8].map(|()| "–".to_owned());
        (cells[0], cells[1]) = (told_apart(&like, &point.spec), "commit".to_owned());
        cells[4] = estimate(Quantity::Nanoseconds, commit.latency_ns_mean);
        cells[5] = estimate(Quantity::Nanoseconds, commit.latency_ns_p99);
        Some(cells)
    };
    let rows = |point: &&Point| {
        let of_each = Op::DIRECTIONS.into_iter().filter_map(|op| row(point, op));
        let rows: Vec<[String; 8]> = of_each.chain(commit(point)).collect();
        if rows.is_empty() { vec![none(point)] } else { rows }
    };
    points.iter().flat_map(rows).collect()
}

/// A workload in words, with where and how it was done as far as others of the same words differ in it.
fn told_apart(like: &HashMap<String, Vec<&TrialSpec>>, spec: &TrialSpec) -> String {
    let words = spec.describe();
    let like = like.get(&words).map_or(&[][..], Vec::as_slice);
    let differ = |differs: fn(&TrialSpec, &TrialSpec) -> bool| like.iter().any(|other| differs(other, spec));
    let mut parts = vec![words];
    if differ(|a, b| a.offset_bytes != b.offset_bytes) {
        parts.push(format!("from {} on", units::size(spec.offset_bytes)));
    }
    if differ(|a, b| a.span_bytes != b.span_bytes) {
        parts.push(format!("within {}", units::size(spec.span_bytes)));
    }
    if differ(|a, b| a.align_bytes != b.align_bytes) {
        parts.push(spec.align_bytes.map_or_else(
            || "at its own size".to_owned(),
            |bytes| format!("at multiples of {}", units::size(bytes)),
        ));
    }
    if differ(|a, b| a.direct != b.direct) {
        parts.push(if spec.direct { "direct" } else { "buffered" }.to_owned());
    }
    if differ(|a, b| a.engine != b.engine) {
        parts.push(spec.engine.clone());
    }
    parts.join(", ")
}

fn closed(point: &Point) -> &'static str {
    match point.closed {
        Some(Closed::Precision) => "precision",
        Some(Closed::Budget) => "budget",
        Some(Closed::Rounds) => "rounds",
        None => "still open",
    }
}

/// Verdicts of one check and outcome together.
pub(crate) struct Excluded<'a> {
    pub(crate) check: &'a str,
    pub(crate) outcome: Outcome,
    /// "3 trials", "point 18".
    pub(crate) what: String,
    /// The first of the reasons.
    pub(crate) why: String,
}

/// Invalid figures, warnings and missing checks, the worst first.
pub(crate) fn excluded(run: &Run) -> Vec<Excluded<'_>> {
    type Key<'a> = (std::cmp::Reverse<Outcome>, &'a str, &'a str);
    let mut groups: BTreeMap<Key, Vec<&iosonde_model::Judgement>> = BTreeMap::new();
    for verdict in run.verdicts.iter().filter(|verdict| verdict.verdict != Outcome::Pass) {
        let key = (std::cmp::Reverse(verdict.verdict), verdict.check.as_str(), verdict.scope.as_str());
        groups.entry(key).or_default().push(verdict);
    }
    let told = groups.into_iter().map(|((outcome, check, scope), group)| {
        let first = group[0];
        let one = match (first.trial, first.point) {
            (Some(id), _) => format!("trial {id}"),
            (_, Some(id)) => point_name(run, id),
            _ => "the run".to_owned(),
        };
        let what = if group.len() == 1 { one } else { format!("{} {scope}s, such as {one}", group.len()) };
        Excluded { check, outcome: outcome.0, what, why: crate::text::why(first) }
    });
    told.collect()
}

fn point_name(run: &Run, id: usize) -> String {
    let point = run.points.iter().find(|point| point.id == id);
    point.map_or_else(|| format!("point {id}"), |point| point.spec.describe())
}

/// An outcome in a word.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Invalid => "invalid",
        Outcome::Warning => "warning",
        Outcome::NotChecked => "not checked",
        Outcome::Pass => "passed",
    }
}

/// The heads of the table of trials.
pub(crate) const TRIAL_HEADS: [&str; 11] = [
    "Trial",
    "Round",
    "Workload",
    "Direction",
    "IOPS",
    "Throughput",
    "Mean",
    "p50",
    "p99",
    "In flight",
    "Verdict",
];

/// The worst verdict on each trial and its reason.
pub(crate) fn worst_verdicts(run: &Run) -> BTreeMap<u64, (Outcome, String)> {
    let mut worst: BTreeMap<u64, (Outcome, String)> = BTreeMap::new();
    for verdict in run.verdicts.iter().filter(|verdict| verdict.verdict >= Outcome::Warning) {
        let Some(id) = verdict.trial else { continue };
        let known = worst.get(&id).map_or(Outcome::Pass, |(outcome, _)| *outcome);
        if verdict.verdict > known {
            worst.insert(id, (verdict.verdict, format!("{}: {}", verdict.check, crate::text::why(verdict))));
        }
    }
    worst
}

/// A row for each direction of a trial.
pub(crate) fn trial_rows(trial: &Trial, worst: Option<&(Outcome, String)>) -> Vec<[String; 11]> {
    let time = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), |ns| Quantity::Nanoseconds.text(ns));
    let workload = match trial.phase {
        Phase::Measure => trial.spec.describe(),
        Phase::Canary => format!("canary: {}", trial.spec.describe()),
        Phase::Prepare => format!("preparation: {}", trial.spec.describe()),
    };
    let row = |(op, direction): (Op, &iosonde_model::Direction)| {
        [
            trial.id.to_string(),
            trial.round.to_string(),
            workload.clone(),
            op.name().to_owned(),
            Quantity::Iops.text(direction.iops),
            Quantity::BytesPerSecond.text(direction.bytes_per_s),
            time(direction.latency_ns.mean),
            time(direction.latency_ns.p50),
            time(direction.latency_ns.p99),
            trial.in_flight_mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.1}")),
            worst.map_or_else(String::new, |(outcome, _)| self::outcome(*outcome).to_owned()),
        ]
    };
    trial.directions().map(row).collect()
}
