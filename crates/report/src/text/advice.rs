//! What to do about it: advice that rests on findings alone, and that weighs latency against throughput. Where an
//! interval spans more than a factor of three, advice gives its ends and no number between them.

use iosonde_model::{
    About, Advice, Cause, CheckName, Detail, Device, Estimate, Finding, FindingName, Judgement, Medium, Op,
    Point, Run, Status, Unit,
    cause::{CountedAt, DepthNotReached, Interference},
    units,
};

use crate::text::{
    command, finding,
    footnote::{Footnotes, MARKS},
    limits_meet::limits_meet,
    number::{is_share, range, with_interval, with_named_ends},
};
use iosonde_infer::enough_depth::NEARLY_ALL;
use iosonde_infer::enough_depth::low_latency_depth;
use iosonde_infer::enough_size::{EnoughSize, LargerThan, enough_size, larger_than};
use iosonde_infer::finding::lookup::estimate;
use iosonde_infer::finding::lookup::found;
use iosonde_infer::finding::lookup::found_like;
use iosonde_infer::validity::{
    BufferedWrites, ByteSource, Circumstance, Fact, Fatal, Validity, Weight, buffered_writes,
    has_unseen_cache, validity,
};

/// Advice with the marks of the warnings that qualify the figures it rests on: `¹`.
pub struct Advised {
    /// The advice.
    pub advice: Advice,
    /// Mostly empty.
    pub marks: String,
}

impl Advised {
    /// The sentence and its marks.
    pub fn marked(&self) -> String {
        format!("{} {}", self.advice.sentence, self.marks).trim_end().to_owned()
    }
}

/// Advice and what it rests on.
struct Draft<'a> {
    advice: Advice,
    findings: Vec<&'a Finding>,
    /// What its figures are of, where that is not all of the findings: a figure has the same marks as in the tables.
    shown: Vec<Shown<'a>>,
}

/// What figures of advice are of.
enum Shown<'a> {
    /// The value of a finding.
    Finding(&'a Finding),
    /// Throughput of a point.
    Rate(&'a Point),
    /// Throughput and latencies of a point.
    Whole(&'a Point),
}

impl Shown<'_> {
    fn marks(&self, run: &Run, footnotes: &Footnotes) -> String {
        match self {
            Self::Finding(finding) => footnotes.of_finding(run, finding),
            Self::Rate(point) => footnotes.of_trials(&[About::Rate], &point.trial_ids),
            Self::Whole(point) => {
                footnotes.of_trials(&[About::Rate, About::Latency], &point.trial_ids)
                    + &footnotes.of_percentile(&point.trial_ids)
            }
        }
    }
}

/// Advice from a run's findings; none where they are refused.
pub fn advice(run: &Run) -> Vec<Advice> {
    drafts(run).into_iter().map(|draft| draft.advice).collect()
}

/// Advice with its marks.
pub(super) fn advised(run: &Run, footnotes: &Footnotes) -> Vec<Advised> {
    let marked = |draft: Draft| {
        let marks: String = match draft.shown.as_slice() {
            [] => draft.findings.iter().map(|finding| footnotes.of_finding(run, finding)).collect(),
            shown => shown.iter().map(|shown| shown.marks(run, footnotes)).collect(),
        };
        let mut marks: Vec<char> = marks.chars().collect();
        marks.sort_by_key(|mark| MARKS.iter().position(|own| own == mark));
        marks.dedup();
        Advised { advice: draft.advice, marks: marks.into_iter().collect() }
    };
    drafts(run).into_iter().map(marked).collect()
}

fn drafts(run: &Run) -> Vec<Draft<'_>> {
    let facts = validity(run);
    if let Some(fatal) = facts.fatal {
        return vec![remedy(run, &fatal)];
    }
    let first = more_valid_trials(run, &facts);
    let credit = credit(run, &facts);
    // A long write tells nothing yet where the rate is on credit.
    let checkpoint = whole_checkpoint(run);
    let later = longer_writes(run).filter(|_| credit.is_none() && checkpoint.is_none());
    let limited = |op: Op| finding::is_limited(&run.findings, op);
    // Writes that a cache may have taken have figures, and are no ground for a choice.
    let doubted = has_unseen_cache(run);
    let known = || Op::TRANSFERS.into_iter().filter(|op| !(doubted && *op == Op::Write));
    let sizes = block_sizes(run, known().filter(|op| !limited(*op)));
    // Of a run that is valid in part, a finer choice of the queue depth is for the next one to say.
    let finer = known().filter(|_| !facts.is_partly_valid());
    let depths = finer.map(|op| in_flight(run, op)).chain([SlowWrites::of(run).map(|slow| slow.draft())]);
    [first]
        .into_iter()
        .chain(sizes.into_iter().map(Some))
        .chain(depths)
        .chain([
            order(run),
            raise(run),
            limits_meet(run).map(|meet| new(meet.told, meet.why, &meet.findings)),
            long_writes(run),
            limit(run),
            checkpoint,
            credit,
            later,
        ])
        .flatten()
        .collect()
}

fn new<'a>(sentence: String, why: String, findings: &[&'a Finding]) -> Draft<'a> {
    let names = findings.iter().map(|finding| finding.name).collect();
    Draft {
        advice: Advice { sentence, why, findings: names },
        findings: findings.to_vec(),
        shown: Vec::new(),
    }
}

/// What makes the next run valid.
fn remedy(run: &Run, fatal: &Fatal) -> Draft<'static> {
    let sentence = match fatal {
        Fatal::NothingMeasured => "measure again; the notes say what ended this run".to_owned(),
        Fatal::NotStorage(facts) => match facts.source {
            ByteSource::Engine => {
                "measure storage with another `--engine`; these figures are iosonde's own limit".to_owned()
            }
            ByteSource::Nothing | ByteSource::Holes => {
                "write the file before it is read: `--size` makes and fills a file of its own".to_owned()
            }
            ByteSource::CacheBelow => {
                "measure the file or device below, or set up the loop device with direct I/O".to_owned()
            }
            ByteSource::Memory if run.info.device.medium == Medium::Memory => {
                "name a folder, file or device on storage: this file system keeps its data in memory"
                    .to_owned()
            }
            ByteSource::Memory | ByteSource::MemoryAndStorage => beyond_memory(run),
        },
        Fatal::GeneratorLimit(example) => against(example, run).unwrap_or_default(),
        Fatal::MostInvalid { example, .. } => against(example, run).unwrap_or_else(|| {
            "remove the cause, and measure again; the report lists the reason for each trial".to_owned()
        }),
        Fatal::NoInterval { .. } | Fatal::TooFewRounds { .. } => "use a longer `--time`".to_owned(),
    };
    new(sentence, "the figures of this run are not those of the storage".to_owned(), &[])
}

/// An area that is this many times the memory is mostly on storage.
const BEYOND_MEMORY: u64 = 4;

/// How storage is measured behind a cache in memory.
fn beyond_memory(run: &Run) -> String {
    // The host of a simulation is not the simulated one.
    let known = run.info.host.memory_bytes.filter(|_| run.info.device.medium != Medium::Simulated);
    // Half of the disk at most, as for longer writes.
    let fits = |bytes: &u64| run.info.device.size_bytes.is_none_or(|disk_bytes| *bytes <= disk_bytes / 2);
    let size = known.map(|bytes| BEYOND_MEMORY * bytes).filter(fits).map_or_else(
        || "a `--size` of several times this machine's memory".to_owned(),
        |bytes| {
            let gib = bytes.div_ceil(1 << 30);
            format!("`--size {gib}G`, {BEYOND_MEMORY} times this machine's memory, if there is room")
        },
    );
    match run.info.device.direct {
        true => format!("memory served the requests in spite of direct I/O: use {size}"),
        false => format!("use direct I/O (without `--buffered`), or {size}"),
    }
}

/// What ends the cause for which a check makes trials invalid.
fn against(example: &Judgement, run: &Run) -> Option<String> {
    Some(match example.check {
        CheckName::GeneratorBound => busy_cpu(run),
        CheckName::Interference => against_others(example).to_owned(),
        CheckName::DepthNotReached if is_short_of_requests(example) => {
            "let trials make more requests: more time, a larger job or `--max-write`".to_owned()
        }
        CheckName::DepthNotReached | CheckName::LittlesLaw => {
            "use more jobs (workers), or a non-blocking engine".to_owned()
        }
        _ => return None,
    })
}

/// What helps against other users of the storage or the processors.
fn against_others(example: &Judgement) -> &'static str {
    let Some(Cause::Interference(cause)) = &example.cause else { return QUIET };
    match cause {
        Interference::Steal { .. } => {
            "measure when the host of this virtual machine is less busy, or on an instance with CPUs of its own"
        }
        Interference::CpuPressure { .. } => "stop programs that use the CPU, or measure at a quiet time",
        Interference::MemoryShort => "stop programs that use much memory, or measure at a quiet time",
        Interference::OtherBytes { counted_at: CountedAt::Device(_), .. } => {
            "find the other process with `iotop`, or measure at a quiet time"
        }
        _ => QUIET,
    }
}

/// Where the other user is not known.
const QUIET: &str = "measure at a quiet time";

/// Whether a queue was short because the trial ended after few requests.
fn is_short_of_requests(example: &Judgement) -> bool {
    matches!(example.cause, Some(Cause::DepthNotReached(DepthNotReached::TooFew { .. })))
}

/// What helps where iosonde had no more CPU.
fn busy_cpu(run: &Run) -> String {
    let device = &run.info.device;
    let several = run.points.iter().any(|point| point.spec.jobs > 1);
    // No engine costs less, and the CPU of a simulated program is part of the device.
    if several || device.medium == Medium::Simulated {
        return "small requests need more CPU than this machine has: measure them on one that has more"
            .to_owned();
    }
    if !device.engine.starts_with("io_uring") {
        return "use an engine that costs less CPU: `--engine io_uring`".to_owned();
    }
    match command::command_with("jobs", &run.info.target, "--set depth=32") {
        Some(command) => format!("several workers may reach more: {command}"),
        None => "several workers may reach more: use the study `jobs`".to_owned(),
    }
}

/// What would make more of the trials valid, where too many are not.
fn more_valid_trials(run: &Run, facts: &Validity) -> Option<Draft<'static>> {
    let doubted = facts.lines.iter().filter(|line| line.mark == Weight::Doubt);
    let reasons = doubted.filter_map(|line| match &line.fact {
        Fact::Trials { reasons, .. } => Some(reasons),
        _ => None,
    });
    let mended = reasons.flatten().filter_map(|reason| Some((reason, against(&reason.example, run)?)));
    let (reason, remedy) = mended.max_by_key(|(reason, _)| reason.trials)?;
    let is_steal = matches!(reason.example.cause, Some(Cause::Interference(Interference::Steal { .. })));
    // The warning has said how the other process is found.
    if reason.check == CheckName::Interference && !is_steal {
        return None;
    }
    Some(new(remedy, format!("{} trials are invalid without it", reason.trials), &[]))
}

/// A block size for bandwidth of one request at a time, of one direction or of both.
struct SizeAdvice<'a> {
    ops: Vec<Op>,
    random: Option<bool>,
    bytes: u64,
    /// Whether none larger was tried, and smaller ones are not enough.
    is_largest: bool,
    /// Whether more was measured at deeper queues, so that a larger size may give more.
    may_rise: bool,
    /// Throughput of each direction at QD 1: of the largest size where it is that, else the highest.
    most: Vec<Estimate>,
    why: Vec<String>,
    findings: Vec<&'a Finding>,
    shown: Vec<Shown<'a>>,
}

impl<'a> SizeAdvice<'a> {
    fn of(run: &'a Run, op: Op) -> Option<Self> {
        if let Some(enough) = enough_size(run, op) {
            let told = if enough.is_largest { enough.point } else { enough.fastest };
            return Some(Self {
                ops: vec![op],
                random: enough.random(),
                bytes: enough.bytes,
                is_largest: enough.is_largest,
                may_rise: may_rise(run, op, told),
                most: vec![bandwidth(run, op, told)?],
                why: vec![format!("{op}s of {}", times_of_sizes(op, &enough))],
                findings: enough.findings.to_vec(),
                shown: vec![rate_shown(run, op, told)],
            });
        }
        let LargerThan { finding, bytes, point } = larger_than(run, op)?;
        Some(Self {
            ops: vec![op],
            random: finding.conditions.random,
            bytes,
            is_largest: true,
            may_rise: may_rise(run, op, point),
            most: vec![bandwidth(run, op, point)?],
            why: vec![format!("the bandwidth of {op}s still rises at {}", units::size(bytes))],
            findings: vec![finding],
            shown: vec![rate_shown(run, op, point)],
        })
    }

    fn is_as(&self, other: &Self) -> bool {
        let what = |own: &Self| (own.random, own.bytes, own.is_largest, own.is_largest && own.may_rise);
        what(self) == what(other)
    }

    fn draft(self) -> Draft<'a> {
        let order = self.random.map_or("", |random| ["sequential ", "random "][usize::from(random)]);
        let ops: Vec<String> = self.ops.iter().map(|op| format!("{op}s")).collect();
        let size = units::size(self.bytes);
        let rate = |rate: &Estimate| with_named_ends(Unit::Rate, rate);
        let most = match self.most.as_slice() {
            [first, other] => match together(first, other) {
                Some(both) => rate(&both),
                None => format!("{} for {} and {} for {}", rate(first), ops[0], rate(other), ops[1]),
            },
            all => all.first().map_or_else(String::new, rate),
        };
        let size = match (self.is_largest, self.may_rise) {
            (true, true) => format!("{size}: {most}; larger ones may be faster"),
            (true, false) => format!("{size}: {most}"),
            // A wide interval holds less than 95 %.
            (false, _) if self.most.iter().any(|rate| ends(rate).is_some()) => {
                format!("{size} or more; the highest is {most}")
            }
            (false, _) => format!("{size} or more: they reach at least 95 % of the highest at QD 1, {most}"),
        };
        let sentence = format!("for bandwidth of {order}{} at QD 1, use blocks of {size}", ops.join(" or "));
        Draft { shown: self.shown, ..new(sentence, self.why.join("; "), &self.findings) }
    }
}

/// The ends of an interval that is not told as a share to either side.
fn ends(rate: &Estimate) -> Option<(f64, f64)> {
    rate.low.zip(rate.high).filter(|&(low, high)| !is_share(Unit::Rate, rate.value, low, high))
}

/// Whether a point gives clearly less than the highest bandwidth of its direction, or is that itself.
fn may_rise(run: &Run, op: Op, point: &Point) -> bool {
    let own = point.direction(op).map(|direction| direction.bytes_per_s.value);
    let highest = found(run, FindingName::DeviceBandwidth, op);
    let is_highest = highest.is_some_and(|finding| is_best(finding, point));
    let most = highest.and_then(|finding| finding.value);
    is_highest || own.zip(most).is_none_or(|(own, most)| own < NEARLY_ALL * most)
}

/// Whether a point may be the one with the highest bandwidth.
fn is_best(highest: &Finding, point: &Point) -> bool {
    matches!(&highest.detail, Detail::Highest(facts) if facts.best_points.contains(&point.id))
}

/// Bandwidth of a point: where it is the highest of the run, as the table has that.
fn bandwidth(run: &Run, op: Op, point: &Point) -> Option<Estimate> {
    let own = || {
        let rate = point.direction(op)?.bytes_per_s;
        // No point gives more than the highest: 33 MB/s (25–43) would contradict 35.0 MB/s.
        let most = found(run, FindingName::DeviceBandwidth, op).and_then(|finding| finding.high);
        let high = rate.high.map(|high| most.map_or(high, |most| high.min(most.max(rate.value))));
        Some(Estimate { high, ..rate })
    };
    match rate_shown(run, op, point) {
        Shown::Finding(highest) => Some(estimate(highest)),
        _ => own(),
    }
}

/// What the bandwidth of a point is told as.
fn rate_shown<'a>(run: &'a Run, op: Op, point: &'a Point) -> Shown<'a> {
    let highest = found(run, FindingName::DeviceBandwidth, op).filter(|finding| is_best(finding, point));
    highest.map_or(Shown::Rate(point), Shown::Finding)
}

/// One estimate for two whose intervals overlap and that are nearly equal, or of which each lies in the other's
/// interval; its interval holds both. Of wide intervals that only touch, it was between the figures of the table:
/// 1.9 GB/s for 1.5 and 2.4.
fn together(a: &Estimate, b: &Estimate) -> Option<Estimate> {
    let ((a_low, a_high), (b_low, b_high)) = (a.low.zip(a.high)?, b.low.zip(b.high)?);
    let overlap = a_low <= b_high && b_low <= a_high;
    let are_near = a.value.min(b.value) >= NEARLY_ALL * a.value.max(b.value);
    let are_inside = (a_low..=a_high).contains(&b.value) && (b_low..=b_high).contains(&a.value);
    (overlap && (are_near || are_inside)).then(|| Estimate {
        value: (a.value * b.value).sqrt(),
        low: Some(a_low.min(b_low)),
        high: Some(a_high.max(b_high)),
    })
}

/// Block sizes for bandwidth of one request at a time, and their latency: once where reads and writes have the same.
fn block_sizes(run: &Run, ops: impl Iterator<Item = Op>) -> Vec<Draft<'_>> {
    let mut all: Vec<SizeAdvice> = Vec::new();
    for own in ops.filter_map(|op| SizeAdvice::of(run, op)) {
        match all.iter_mut().find(|one| one.is_as(&own)) {
            Some(both) => {
                both.ops.extend(own.ops);
                both.most.extend(own.most);
                both.why.extend(own.why);
                both.findings.extend(own.findings);
                both.shown.extend(own.shown);
            }
            None => all.push(own),
        }
    }
    all.into_iter().map(SizeAdvice::draft).collect()
}

/// What a request of the size that is enough takes, and a small one; and a smaller size that may be enough.
fn times_of_sizes(op: Op, size: &EnoughSize) -> String {
    let [large, small] =
        [size.latency_ns, estimate(size.findings[1])].map(|own| with_interval(Unit::Time, &own));
    let small_size = size.small_bytes.map_or_else(String::new, units::size);
    let perhaps = if size.low_bytes < size.bytes {
        format!(" ({op}s of {} may be enough)", units::size(size.low_bytes))
    } else {
        String::new()
    };
    format!("{} take {large}, of {small_size} {small}{perhaps}", units::size(size.bytes))
}

/// The queue depth for low latency, where the table has a deeper one for nearly all of the throughput.
fn in_flight(run: &Run, op: Op) -> Option<Draft<'_>> {
    let knee = found(run, FindingName::QueueDepthKnee, op)?;
    let conditions = &knee.conditions;
    let enough = found_like(run, FindingName::DepthFor95Percent, op, conditions)?;
    let base = found_like(run, FindingName::BaseLatency, op, conditions)?;
    let most = found_like(run, FindingName::MaxIops, op, conditions).map(estimate)?;
    let size = conditions.block_size_bytes.map_or_else(String::new, units::size);
    let point = low_latency_depth(run, op, knee)?;
    let depth = point.spec.asked_in_flight();
    let sentence =
        format!("for {size} {op}s with little queueing, use QD {depth}: {}", gives(op, point, &most)?);
    let why = format!("at QD 1 a {op} takes {}", with_interval(Unit::Time, &estimate(base)));
    Some(Draft { shown: vec![Shown::Whole(point)], ..new(sentence, why, &[knee, enough, base]) })
}

/// What a measured queue depth gives: `mean 120 µs (±0.1 %), p99 137 µs (±0.3 %), 52 % of the highest IOPS`.
fn gives(op: Op, point: &Point, most: &Estimate) -> Option<String> {
    let direction = point.direction(op)?;
    let share = units::percent((direction.iops.value / most.value).min(1.0));
    let time = |time: &Estimate| with_interval(Unit::Time, time);
    let mean = time(direction.latency_ns_mean.as_ref()?);
    let p99 = direction.latency_ns_p99.map_or_else(String::new, |p99| match p99.low.zip(p99.high) {
        Some((low, high)) if p99.is_vague() => format!(", p99 unknown ({})", range(Unit::Time, low, high)),
        _ => format!(", p99 {}", time(&p99)),
    });
    Some(format!("mean {mean}{p99}, {share} of the highest IOPS"))
}

/// Reads over writes of the same size and order from which on such writes are to be avoided: a stick that maps large
/// units is 100 and more times slower, a disk or a drive with a buffer at most a few times.
const SLOW_WRITES: f64 = 20.0;

/// Small writes that are far slower than reads.
pub(super) struct SlowWrites<'a> {
    reads: &'a Finding,
    pub(super) writes: &'a Finding,
    /// How many times slower they are, and at least.
    pub(super) times: [f64; 2],
}

impl<'a> SlowWrites<'a> {
    pub(super) fn of(run: &'a Run) -> Option<Self> {
        let reads = found(run, FindingName::MaxIops, Op::Read)?;
        let writes = found_like(run, FindingName::MaxIops, Op::Write, &reads.conditions)?;
        let times_low = reads.low? / writes.high?;
        let times = [reads.value? / writes.value?, times_low];
        (times_low >= SLOW_WRITES).then_some(Self { reads, writes, times })
    }

    fn draft(&self) -> Draft<'a> {
        let Self { reads, writes, .. } = *self;
        let what = crate::text::workload::workload(&writes.conditions);
        let slow = with_interval(Unit::Iops, &estimate(writes));
        let sentence =
            format!("collect small writes into larger or sequential ones: {what} reach {slow} at best");
        let why = "small writes are far slower than reads".to_owned();
        new(sentence, why, &[writes, reads])
    }
}

/// What to expect of sustained writes.
fn long_writes(run: &Run) -> Option<Draft<'_>> {
    let (lasting, buffer) = (
        found(run, FindingName::SustainedRate, Op::Write)?,
        found(run, FindingName::WriteBufferBytes, Op::Write)?,
    );
    // Overwriting at random leaves flash much to tidy up, and may last at a tenth of that.
    let how = if lasting.conditions.random == Some(false) { " in sequence" } else { "" };
    let sentence = format!(
        "sustained writes{how}: expect {}; only bursts that fit the buffer of {} are faster",
        with_interval(Unit::Rate, &estimate(lasting)),
        with_interval(Unit::Bytes, &estimate(buffer))
    );
    let why = match found(run, FindingName::BurstRate, Op::Write) {
        Some(burst) => format!("they begin at {}", with_interval(Unit::Rate, &estimate(burst))),
        None => "throughput falls once the buffer is full".to_owned(),
    };
    Some(new(sentence, why, &[lasting, buffer]))
}

/// An area of up to 16 times the one that was written, and half of the disk at most; 4 times in a file, which shares
/// its disk with others.
fn larger_area_gib(area_bytes: u64, device: &Device) -> Option<u64> {
    let most = if device.kind == "file" { 4 } else { 16 };
    let fits = |bytes: &u64| device.size_bytes.is_none_or(|disk_bytes| *bytes <= disk_bytes / 2);
    let times = [16, 8, 4, 2].into_iter().filter(|times| *times <= most);
    let larger = times.map(|times| times * area_bytes).find(fits)?;
    (larger >= 1 << 30).then_some(larger >> 30)
}

/// The run that shows whether these writes only filled a buffer.
fn longer_writes(run: &Run) -> Option<Draft<'_>> {
    let Some(BufferedWrites::MayFit { written_bytes, area_bytes }) = buffered_writes(run) else {
        return None;
    };
    let study = "sustained-write";
    if written_bytes > area_bytes && run.info.device.size_bytes.is_some_and(|bytes| bytes <= area_bytes) {
        return None;
    }
    // Blocks that are written again fit where they fitted before.
    let sentence = if written_bytes > area_bytes && area_bytes > 0 {
        let (area, target) = (units::size(area_bytes), &run.info.target);
        let command = match larger_area_gib(area_bytes, &run.info.device) {
            Some(gib) => command::command_with(study, target, &format!("--size {gib}G"))?,
            None => "use a larger `--size`".to_owned(),
        };
        format!("writes covered an area of {area}; over a larger one they may be slower: {command}")
    } else {
        let command = command::command(study, &run.info.target)?;
        let written = units::decimal_bytes(written_bytes);
        format!("only {written} of writes were timed; later ones may be slower: {command}")
    };
    let why = "what fits into a write buffer shows the speed of the buffer".to_owned();
    Some(new(sentence, why, &[]))
}

/// The checkpoint that the time is for, where fewer bytes were written: it may not fit, or outlast a buffer.
fn whole_checkpoint(run: &Run) -> Option<Draft<'_>> {
    let saved = found(run, FindingName::CheckpointTime, Op::Write)?;
    let Detail::CheckpointSaved(facts) = &saved.detail else { return None };
    let (of, measured) = (facts.of.bytes, facts.measured_bytes);
    let sizes = [of, measured].map(units::decimal_bytes);
    let device = &run.info.device;
    if device.kind != "file" && device.size_bytes.is_some_and(|size| size < of) {
        let sentence = format!("use larger storage: a checkpoint of {} does not fit on it", sizes[0]);
        let why = format!("the time is what {} would take at the rate of {}", sizes[0], sizes[1]);
        return Some(new(sentence, why, &[saved]));
    }
    (measured < of).then(|| {
        let sentence =
            format!("measure with `--size {}`: a write buffer may have held the {}", typed(of), sizes[1]);
        new(sentence, "a whole checkpoint takes as long as the buffer lets it".to_owned(), &[saved])
    })
}

/// As `--size` takes it: `105GB`.
fn typed(bytes: u64) -> String {
    format!("{}GB", bytes / 1_000_000_000)
}

/// The run that lasts until a burst credit is used up.
fn credit<'a>(run: &'a Run, facts: &Validity) -> Option<Draft<'a>> {
    let unspent = |fact: &Fact| matches!(fact, Fact::Circumstance(Circumstance::BurstCredit { .. }));
    facts.lines.iter().find(|line| unspent(&line.fact))?;
    let command = command::command("limit --time 1h", &run.info.target)?;
    let sentence = format!("to see the rates after the burst credit: {command}");
    Some(new(sentence, "credit of this type lasts for minutes to hours at full load".to_owned(), &[]))
}

/// What to do about a limit from the first second on.
fn raise(run: &Run) -> Option<Draft<'_>> {
    let held =
        |finding: &&Finding| finding.name == FindingName::ConstantLimit && finding.status == Status::Found;
    let limits: Vec<&Finding> = run.findings.iter().filter(held).collect();
    let why = "a limit is a setting, not a property of the storage";
    (!limits.is_empty()).then(|| {
        new(
            match limits.as_slice() {
                [_] => "the limit, not the storage, sets the highest throughput: for more, have it raised",
                _ => "the limits, not the storage, set the highest throughput: for more, have them raised",
            }
            .to_owned(),
            why.to_owned(),
            &limits,
        )
    })
}

/// What to expect under a limit.
fn limit(run: &Run) -> Option<Draft<'_>> {
    let op = Op::TRANSFERS.into_iter().find(|&op| found(run, FindingName::ThrottleRate, op).is_some())?;
    let cap = found(run, FindingName::ThrottleRate, op)?;
    let unit = if cap.unit == Unit::Iops { Unit::Iops } else { Unit::Rate };
    let cap_words = with_interval(unit, &estimate(cap));
    let Some(credit) = found_like(run, FindingName::BurstCreditBytes, op, &cap.conditions) else {
        let sentence = format!("expect {cap_words} of {op}s; for more, have the limit raised");
        let why = "the limit is a setting, not a property of the storage; faster storage would have it too";
        return Some(new(sentence, why.into(), &[cap]));
    };
    let sentence = format!(
        "sustained {op}s: expect {cap_words}; only bursts within the credit of {} are faster",
        with_interval(Unit::Bytes, &estimate(credit))
    );
    Some(new(
        sentence,
        "the credit was spent once, and throughput then stayed at the limit".into(),
        &[cap, credit],
    ))
}

/// Reading in order, where that pays.
fn order(run: &Run) -> Option<Draft<'_>> {
    let ratio = found(run, FindingName::RandomVsSequential, Op::Read)?;
    // A fifth: less is not worth arranging data for.
    let slower = ratio.high? < 0.8;
    let size = ratio.conditions.block_size_bytes.map_or_else(String::new, units::size);
    let why = format!(
        "random {size} reads get {} of sequential ones",
        with_interval(Unit::Ratio, &estimate(ratio))
    );
    slower.then(|| new("lay out data for sequential reads".into(), why, &[ratio]))
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
