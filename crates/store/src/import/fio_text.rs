//! fio's text for people (`--output-format=normal`, its default), of versions 2 and 3.
//!
//! Throughput is computed from the counted requests and the runtime, which the text gives exactly; its own figures are
//! rounded to three digits. Bytes are requests times block size where the block size is one. Latency is the line `lat`,
//! from submission to completion, or `clat` where there is no other. The text does not say whether direct I/O was used.

use std::collections::HashMap;

use iosonde_model::{LatencySummary, Named, Op, RequestError, Unstated, fio};
use serde_json::json;

use super::{
    Damage, Figures, ImportError, ImportFormat, Imported, fio_disk,
    fio_jobs::{self, Job, SUBMISSION_MAX},
    fio_options::Options,
    words::{self, bytes, column, thousands, value},
};

/// The registered format.
pub struct FioText;

impl Named for FioText {
    fn name(&self) -> &'static str {
        "fio-text"
    }
}

impl ImportFormat for FioText {
    fn recognises(&self, text: &str) -> bool {
        text.lines().any(words::heads_fio_results) || text.lines().any(|line| heading(line, 0).is_some())
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let mut headings = Headings::default();
        let mut reports: Vec<Report> = Vec::new();
        let (mut section, mut run) = (Section::Head, 0);
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(head) = group_of(line) {
                // Behind a run's summary begins another run.
                run += i64::from(section == Section::Over);
                section = Section::Head;
                reports.push(Report::new(number, run, head));
            } else if let Some(heading) = heading(line, run + i64::from(section == Section::Over)) {
                headings.add(heading);
            } else if line.trim_start().starts_with("Run status group") {
                section = Section::Over;
            } else if let Some(report) = reports.last_mut().filter(|_| section != Section::Over) {
                report.line(number, line, &mut section)?;
            }
        }
        if reports.is_empty() {
            let lines = text.lines().count();
            let why = "the text ends before fio's results: it was stopped, or the copy is not whole";
            return Err(Damage::at(lines, 1, why));
        }
        if let Some(own) = reports.iter().find(|own| own.is_unified && own.sides.iter().all(Option::is_none))
        {
            return Err(Damage::at(own.number, 1, format!("job `{}` {}", own.head.name, words::UNIFIED)));
        }
        let mut notes = Vec::new();
        let all = reports.len();
        let reports = last_of_each_process(reports);
        if reports.len() < all {
            notes.push("the file holds several reports of the same run; the last one counts".to_owned());
        }
        if section != Section::Over {
            let why = "the text ends before fio's summary (Run status group): results may be missing";
            notes.push(why.to_owned());
        }
        notes.extend(words::interrupted(text));
        if reports.iter().any(Report::hides_percentiles) {
            notes.push(words::HIDDEN_PERCENTILES.to_owned());
        }
        let jobs = reports.iter().map(|report| report.job(&headings)).collect::<Result<_, _>>()?;
        let mut trials = fio_jobs::trials(jobs, &mut notes);
        // The text does not say where several jobs' files are.
        let most_bytes = fio_disk::of_text(text).filter(|_| trials.len() == 1);
        fio_disk::witness(&mut trials, most_bytes);
        notes.dedup();
        let version = text.lines().find_map(|line| line.trim().strip_prefix("fio-"));
        let program = version.map_or_else(|| "fio".to_owned(), |version| format!("fio {version}"));
        Ok(Imported { program: Some(program), ended_s: None, trials, notes })
    }
}

/// What is announced of a job: `name: (g=0): rw=randread, bs=(R) 4096B-4096B, .., ioengine=libaio, iodepth=8`.
struct Heading {
    run: i64,
    name: String,
    group: i64,
    rw: String,
    /// Bytes of a read, write and trim; `None` where there are several sizes.
    sizes: [Option<u64>; 3],
    engine: String,
    depth: String,
}

fn heading(line: &str, run: i64) -> Option<Heading> {
    let (name, rest) = line.split_once(": (g=")?;
    let (group, rest) = rest.split_once("): ")?;
    let sizes = rest.split_once("bs=")?.1.split(", ioengine").next()?;
    Some(Heading {
        run,
        name: name.to_owned(),
        group: group.parse().ok()?,
        rw: value(rest, "rw")?.to_owned(),
        sizes: sizes_of(sizes),
        engine: value(rest, "ioengine")?.to_owned(),
        depth: value(rest, "iodepth")?.to_owned(),
    })
}

/// What the file announces, in its order.
#[derive(Default)]
struct Headings {
    all: Vec<Heading>,
    of_name: HashMap<String, Vec<usize>>,
}

impl Headings {
    fn add(&mut self, heading: Heading) {
        self.of_name.entry(heading.name.clone()).or_default().push(self.all.len());
        self.all.push(heading);
    }

    /// Those of the jobs that a report sums up: from the one of its name on, those of that one's group.
    fn of(&self, report: &Report) -> &[Heading] {
        let named = self.of_name.get(report.head.name).map_or(&[][..], Vec::as_slice);
        // Reports of `--status-interval` follow the headings of the first.
        let earlier = &named[..named.partition_point(|&at| self.all[at].run <= report.run)];
        let run = earlier.last().map(|&at| self.all[at].run);
        let own = || earlier.iter().copied().filter(|&at| Some(self.all[at].run) == run);
        // A heading counts groups otherwise than a result where one group waits for another.
        let same_group = |at: &usize| self.all[*at].group == report.head.group;
        let Some(first) = own().find(same_group).or_else(|| own().next()) else { return &[] };
        let is_other = |other: &Heading| Some(other.run) != run || other.group != self.all[first].group;
        let rest = &self.all[first..];
        let end = rest.iter().take(report.head.jobs as usize).position(is_other);
        &rest[..end.unwrap_or(rest.len().min(report.head.jobs.max(1) as usize))]
    }
}

impl Heading {
    fn is_like(&self, other: &Heading) -> bool {
        let workload = |own: &Heading| (own.rw.clone(), own.sizes, own.engine.clone(), own.depth.clone());
        workload(self) == workload(other)
    }

    fn has(&self, side: usize) -> bool {
        let rw = fio::pattern(self.rw.split(':').next().unwrap_or_default());
        rw.is_none_or(|rw| rw.has(Op::DIRECTIONS[side]))
    }
}

/// `(R) 4096B-4096B, (W) ..` of version 3, `4K-4K/4K-4K/4K-4K` of version 2.
fn sizes_of(text: &str) -> [Option<u64>; 3] {
    let one = |range: &str| {
        let (least, most) = range.trim().split_once('-')?;
        (least == most)
            .then(|| bytes(least, 1024.0))
            .flatten()
            .map(|size| size as u64)
            .filter(|&size| size > 0)
    };
    let mut sizes = [None; 3];
    for (at, range) in text.split(['/', ',']).take(3).enumerate() {
        sizes[at] = one(range.trim().trim_start_matches(|c: char| "(RWT)".contains(c)));
    }
    sizes
}

/// The last report of each process: `--status-interval` makes several.
fn last_of_each_process(reports: Vec<Report>) -> Vec<Report> {
    let places = reports.iter().enumerate();
    let last: HashMap<_, usize> = places.map(|(at, own)| ((own.head.name, own.head.pid), at)).collect();
    let is_last = |(at, own): &(usize, Report)| {
        own.head.pid.is_none() || last.get(&(own.head.name, own.head.pid)) == Some(at)
    };
    reports.into_iter().enumerate().filter(is_last).map(|(_, own)| own).collect()
}

/// More groups than a run has: those of several runs in a file do not meet.
const RUN_GROUPS: i64 = 1 << 32;

/// The line above a job's results.
#[derive(Debug, Clone)]
struct Head<'a> {
    name: &'a str,
    group: i64,
    jobs: u32,
    errors: u64,
    /// The limit of its own at which fio ended the job, where no request failed.
    own_limit: Option<RequestError>,
    pid: Option<u64>,
}

/// `name: (groupid=0, jobs=3): err= 0: pid=17242: ..`
fn group_of(line: &str) -> Option<Head<'_>> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(", jobs=")?;
    let (jobs, rest) = rest.split_once(')')?;
    let errors = value(rest, "err")?.split([':', ' ']).next()?.trim();
    let pid = value(rest, "pid").and_then(|pid| pid.split(':').next()?.trim().parse().ok());
    let (group, jobs) = (group.trim().parse().ok()?, jobs.trim().parse().ok()?);
    let own_limit = match value(rest, "func") {
        Some("check_min_rate") => Some(RequestError::TooLowRate),
        _ => rest.contains("func=max latency exceeded").then_some(RequestError::TooSlow),
    };
    Some(Head { name, group, jobs, errors: errors.parse().ok()?, own_limit, pid })
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Section {
    /// Before the first direction, or amid figures of the whole job.
    Head,
    /// Figures of a direction, or of flushes.
    Of(Part),
    /// Percentiles, of which figure and in which unit.
    Percentiles(Part, Timed, f64),
    /// Behind the results.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// Reads (0), writes (1) or trims (2).
    Side(usize),
    Flushes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Timed {
    Clat,
    Lat,
    Slat,
    Sync,
}

#[derive(Debug, Default)]
struct Side {
    runtime_s: f64,
    /// As printed, rounded.
    iops: Option<f64>,
    bytes_per_s: Option<f64>,
    moved_bytes: Option<f64>,
    clat: LatencySummary,
    lat: LatencySummary,
    slat: LatencySummary,
}

struct Report<'a> {
    number: usize,
    run: i64,
    head: Head<'a>,
    sides: [Option<Side>; 3],
    totals: [Option<u64>; 3],
    flushes: Option<LatencySummary>,
    flushed: Option<u64>,
    /// Whether fio searched for the depth that keeps a latency.
    searched_depth: bool,
    is_unified: bool,
    cpu: Option<(f64, f64)>,
}

const SIDES: [&str; 3] = ["read", "write", "trim"];

impl<'a> Report<'a> {
    fn new(number: usize, run: i64, head: Head<'a>) -> Self {
        let (sides, totals) = ([None, None, None], [None; 3]);
        Self {
            number,
            run,
            head,
            sides,
            totals,
            flushes: None,
            flushed: None,
            searched_depth: false,
            is_unified: false,
            cpu: None,
        }
    }

    fn line(&mut self, number: usize, line: &'a str, section: &mut Section) -> Result<(), ImportError> {
        let words = line.trim();
        let damaged = |part: &str, what: &str| {
            Err(Damage::at(number, column(line, part), format!("{what}: `{}`", shown(part))))
        };
        if let Some(at) = SIDES.iter().position(|side| {
            words.strip_prefix(side).is_some_and(|rest| rest.trim_start().starts_with(':'))
                && words.contains('=')
        }) {
            let Some(side) = side(words) else { return damaged(words, "no throughput and runtime of fio") };
            self.sides[at] = Some(side);
            *section = Section::Of(Part::Side(at));
            return Ok(());
        }
        // Of unified_rw_reporting: reads and writes are told besides, or there is no result.
        if words.strip_prefix("mixed").is_some_and(|rest| rest.trim_start().starts_with(':')) {
            self.is_unified = true;
            *section = Section::Head;
            return Ok(());
        }
        if words.starts_with("fsync/fdatasync") {
            self.flushes = Some(LatencySummary::default());
            *section = Section::Of(Part::Flushes);
            return Ok(());
        }
        if words.starts_with("cpu ") {
            let share = |name| words::number(value(words, name)?).map(|(percent, _)| percent / 100.0);
            self.cpu = share("usr").zip(share("sys"));
            *section = Section::Head;
        } else if words.starts_with("issued") {
            let Some(totals) = totals(words) else { return damaged(words, "no counts of requests") };
            self.totals = totals;
            self.flushed = flushed(words);
        } else if value(words, "target").is_some_and(|target| target != "0") {
            self.searched_depth = true;
        } else if let Section::Of(part) | Section::Percentiles(part, ..) = *section {
            self.timed(part, words, section);
        }
        Ok(())
    }

    /// A line of latencies or percentiles below a direction, or of flushes.
    fn timed(&mut self, part: Part, words: &str, section: &mut Section) {
        let kinds: &[(&str, Timed)] = match part {
            Part::Side(_) => &[("clat", Timed::Clat), ("lat", Timed::Lat), ("slat", Timed::Slat)],
            Part::Flushes => &[("sync", Timed::Sync)],
        };
        for &(name, kind) in kinds {
            let Some(rest) = words.strip_prefix(name).map(str::trim_start) else { continue };
            let rest = rest.strip_prefix("percentiles").map_or(rest, str::trim_start);
            let Some((unit, rest)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
                continue;
            };
            let Some(unit_ns) = unit_ns(unit) else { continue };
            if words.contains("percentiles") {
                *section = Section::Percentiles(part, kind, unit_ns);
            } else if let (Some(found), Some(summary)) = (latency(rest, unit_ns), self.summary(part, kind)) {
                *summary = found;
            }
            return;
        }
        if let (Section::Percentiles(_, kind, unit_ns), Some(row)) = (*section, words.strip_prefix('|'))
            && let Some(summary) = self.summary(part, kind)
        {
            percentiles(row, unit_ns, summary);
        }
    }

    fn summary(&mut self, part: Part, kind: Timed) -> Option<&mut LatencySummary> {
        let Part::Side(at) = part else { return self.flushes.as_mut() };
        let side = self.sides[at].as_mut()?;
        Some(match kind {
            Timed::Clat => &mut side.clat,
            Timed::Lat => &mut side.lat,
            Timed::Slat => &mut side.slat,
            Timed::Sync => return None,
        })
    }

    fn job(&self, headings: &Headings) -> Result<Job, ImportError> {
        let announced = headings.of(self);
        let heading = announced.first();
        let is_of_several_kinds = announced.iter().any(|other| !other.is_like(&announced[0]));
        let mut sizes = [0, 1, 2].map(|side| one_size(announced, side));
        // A request that failed is counted, and moved nothing.
        if self.head.errors != 0 {
            sizes = [None; 3];
        }
        let side =
            |at: usize| self.sides[at].as_ref().and_then(|side| figures(side, self.totals[at], sizes[at]));
        let (mut read, write, trim) = (side(0), side(1), side(2));
        // What `verify` reads back has a time of its own.
        if write.is_some() && announced.iter().all(|heading| !heading.has(0)) && heading.is_some() {
            read = None;
        }
        let reads_back = read.is_none() && self.sides[0].is_some();
        let rw = match (heading, read.is_some(), write.is_some()) {
            (Some(heading), ..) => heading.rw.as_str(),
            (None, true, true) => "randrw",
            (None, false, true) => "randwrite",
            (None, _, _) if trim.is_some() => "randtrim",
            (None, ..) => "randread",
        };
        // Options that fio prints; what it does not print is told below.
        let (mut given, mut common) = (json!({ "rw": rw }), json!({ "ioengine": "unknown" }));
        let size = sizes
            .into_iter()
            .zip([&read, &write, &trim])
            .find_map(|(size, side)| size.filter(|_| side.is_some()));
        if let Some(heading) = heading {
            let is_common = announced.iter().all(|other| other.engine == heading.engine);
            let of = if is_common { &mut common } else { &mut given };
            of["ioengine"] = heading.engine.as_str().into();
            given["iodepth"] = heading.depth.as_str().into();
        }
        if let Some(size) = size {
            given["bs"] = size.to_string().into();
        }
        let ios = |side: &Option<Figures>| side.as_ref().and_then(|side| side.ios).unwrap_or(0) as f64;
        if ios(&read) > 0.0 && ios(&write) > 0.0 {
            given["rwmixread"] = format!("{:.0}", 100.0 * ios(&read) / (ios(&read) + ios(&write))).into();
        }
        let options = Options::of(&given, &common)
            .map_err(|why| Damage::at(self.number, 1, format!("job `{}`: {why}", self.head.name)))?;
        let runtime_s = |at: usize| self.sides[at].as_ref().map_or(0.0, |side| side.runtime_s);
        let sides_s = [if read.is_some() { runtime_s(0) } else { 0.0 }, runtime_s(1), runtime_s(2)];
        let errors = if self.head.own_limit.is_some() { 0 } else { self.head.errors };
        let all_s = sides_s.into_iter().fold(0.0, f64::max) * f64::from(self.head.jobs);
        Ok(Job {
            name: self.head.name.to_owned(),
            group: (self.run * RUN_GROUPS).saturating_add(self.head.group),
            options,
            summed: self.head.jobs.clamp(1, 65_536),
            read,
            write,
            trim,
            flush: self.flushes.clone().zip(self.flushed).map(|(latency_ns, count)| (count, latency_ns)),
            sides_s,
            own_limit: self.head.own_limit.clone(),
            is_of_several_kinds,
            may_verify: true,
            searched_depth: self.searched_depth,
            cpu_s: self.cpu.filter(|_| !reads_back).map(|(user, system)| (user * all_s, system * all_s)),
            errors: u64::from(errors != 0),
            errno: i32::try_from(errors).ok().filter(|&errno| errno > 0),
            unstated: self.unstated(announced),
        })
    }

    /// Whether it has percentiles of completion alone, which say too little.
    fn hides_percentiles(&self) -> bool {
        let hides = |side: &Side| {
            let is_large =
                side.slat.mean.unwrap_or(0.0) > SUBMISSION_MAX * side.lat.mean.unwrap_or(f64::INFINITY);
            is_large && side.clat.p50.is_some() && side.lat.p50.is_none()
        };
        self.sides.iter().flatten().any(hides)
    }

    /// What fio's text does not print.
    fn unstated(&self, announced: &[Heading]) -> Vec<Unstated> {
        let mut unstated = vec![Unstated::Load];
        // A mapped file is read through the page cache.
        let is_mapped = !announced.is_empty() && announced.iter().all(|heading| heading.engine == "mmap");
        if !is_mapped {
            unstated.push(Unstated::PageCache);
        }
        // Behind the counts, nothing else comes: a text that ends before them may have lost its flushes.
        if self.flushes.is_some() || self.totals.iter().all(Option::is_none) {
            unstated.push(Unstated::Flushes);
        }
        if announced.is_empty() {
            unstated.extend([Unstated::QueueDepth, Unstated::Order]);
        }
        unstated
    }
}

/// Bytes of a request of a direction; `None` where jobs that make such requests have several sizes.
fn one_size(announced: &[Heading], side: usize) -> Option<u64> {
    let mut sizes = announced.iter().filter(|heading| heading.has(side)).map(|heading| heading.sizes[side]);
    let first = sizes.next()?;
    first.filter(|_| sizes.all(|other| other == first))
}

/// The beginning of a text that is told.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// `IOPS=200, BW=1600KiB/s (1638kB/s)(1608KiB/1005msec)`, or `io=102120KB, bw=618740B/s, iops=151, runt=169006msec`.
fn side(words: &str) -> Option<Side> {
    // Version 2 writes KB for 1,024 bytes.
    let old = value(words, "runt");
    let plain = if old.is_some() { 1024.0 } else { 1000.0 };
    let (moved, runtime) = match old {
        Some(runtime) => (value(words, "io"), runtime),
        None => {
            let (moved, runtime) = words.rsplit_once(")(")?.1.split(')').next()?.split_once('/')?;
            (Some(moved), runtime)
        }
    };
    let (runtime_ms, unit) = words::number(runtime)?;
    let runtime_s = if unit == "msec" { runtime_ms / 1000.0 } else { return None };
    let rate = value(words, "BW").or_else(|| value(words, "bw"));
    let iops = value(words, "IOPS").or_else(|| value(words, "iops"));
    Some(Side {
        runtime_s,
        iops: iops.and_then(thousands),
        bytes_per_s: rate.and_then(|word| bytes(word, plain)),
        moved_bytes: moved.and_then(|word| bytes(word, plain)),
        ..Side::default()
    })
}

/// `total=2775,0,0,0` of version 3, `total=r=2617/w=0/d=0` of version 2.
fn totals(words: &str) -> Option<[Option<u64>; 3]> {
    let all = words.split_once("total=")?.1.split([' ', ';']).next()?.trim_end_matches(',');
    let mut totals = [None; 3];
    for (at, count) in all.split(['/', ',']).take(3).enumerate() {
        let digits = count.rsplit('=').next().unwrap_or_default();
        totals[at] = Some(digits.parse().ok()?);
    }
    Some(totals)
}

/// Flushes: the fourth total. fio 3.33 counts `fdatasync` one further, where short reads stand; it counts none of these
/// itself unless a file ends within a read.
fn flushed(words: &str) -> Option<u64> {
    let list = |name: &str| -> Option<Vec<u64>> {
        let all = words.split_once(name)?.1.split([' ', ';']).next()?.trim_end_matches(',');
        all.split(',').map(|count| count.parse().ok()).collect()
    };
    let totals = list("total=")?;
    let short = list("short=").and_then(|short| short.first().copied());
    let flushes = totals.get(3).copied().filter(|&count| count > 0);
    flushes.or_else(|| short.filter(|&count| count > 0))
}

fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit.trim() {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    })
}

/// `min=75, max=19516, avg=2877.82, stdev=2173.50`; lines of shares have no mean.
fn latency(rest: &str, unit_ns: f64) -> Option<LatencySummary> {
    let figure = |name| value(rest, name).and_then(thousands).map(|figure| figure * unit_ns);
    let whole = |figure: Option<f64>| figure.filter(|ns| *ns < 1e18).map(|ns| ns as u64);
    Some(LatencySummary {
        min: whole(figure("min")),
        mean: Some(figure("avg")?),
        stddev: figure("stdev"),
        max: whole(figure("max")),
        ..LatencySummary::default()
    })
}

/// `1.00th=[  157],  5.00th=[  210],`
fn percentiles(row: &str, unit_ns: f64, summary: &mut LatencySummary) {
    for part in row.split("],") {
        let Some((which, figure)) = part.split_once("th=[") else { continue };
        let figure = figure.trim().trim_start_matches(">=").trim_end_matches(']');
        let Some(ns) = thousands(figure).map(|figure| figure * unit_ns) else { continue };
        // As many decimals as the list of percentiles needs.
        let Ok(percent) = which.trim().trim_start_matches('|').trim().parse::<f64>() else { continue };
        let places = [
            (50.0, &mut summary.p50),
            (90.0, &mut summary.p90),
            (99.0, &mut summary.p99),
            (99.9, &mut summary.p99_9),
            (99.99, &mut summary.p99_99),
        ];
        let Some((_, place)) = places.into_iter().find(|(own, _)| (own - percent).abs() < 1e-6) else {
            continue;
        };
        *place = Some(ns);
    }
}

fn figures(side: &Side, counted: Option<u64>, size: Option<u64>) -> Option<Figures> {
    let ios = counted.filter(|&ios| ios > 0);
    let iops = match ios {
        Some(ios) if side.runtime_s > 0.0 => Some(ios as f64 / side.runtime_s),
        _ => side.iops.filter(|&iops| iops > 0.0),
    };
    let moved = ios.zip(size).map(|(ios, size)| ios as f64 * size as f64).or(side.moved_bytes);
    let bytes_per_s = match moved {
        Some(bytes) if side.runtime_s > 0.0 => Some(bytes / side.runtime_s),
        _ => side.bytes_per_s,
    };
    iops?;
    // Without `lat` (disable_lat), completion alone is no latency.
    let mut latency_ns = side.lat.mean.map(|_| side.lat.clone()).unwrap_or_default();
    let own = side.lat.p50.is_some() || side.lat.p99.is_some();
    if !own
        && latency_ns.mean.is_some()
        && side.slat.mean.unwrap_or(0.0) <= SUBMISSION_MAX * latency_ns.mean.unwrap_or(0.0)
    {
        let clat = side.clat.clone();
        latency_ns = LatencySummary {
            p50: clat.p50,
            p90: clat.p90,
            p99: clat.p99,
            p99_9: clat.p99_9,
            p99_99: clat.p99_99,
            ..latency_ns
        };
        within(&mut latency_ns);
    }
    Some(Figures {
        ios,
        bytes: moved.map(|bytes| bytes as u64),
        iops,
        bytes_per_s,
        latency_ns,
        ..Figures::default()
    })
}

/// Percentiles are ends of bins and rounded: what lies beyond the extremes by less than a bin is the extreme.
fn within(summary: &mut LatencySummary) {
    let (least, most) = (summary.min.map(|ns| ns as f64), summary.max.map(|ns| ns as f64));
    for own in [&mut summary.p50, &mut summary.p90, &mut summary.p99, &mut summary.p99_9, &mut summary.p99_99]
    {
        let outside =
            |ns: &f64| least.is_some_and(|least| *ns < least) || most.is_some_and(|most| *ns > most);
        if own.as_ref().is_some_and(outside) {
            *own = None;
        }
    }
}
