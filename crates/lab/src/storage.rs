//! What the storage is like, in a few labelled lines: the second block of every report.

use iosonde_model::{Conditions, Estimate, Finding, Medium, Op, Run, RunInfo, Status, units};

use crate::{
    finding::{Order, effect::TOO_ROUGH, group::workload},
    seen,
    words::{Unit, bounded, is_vague, lowered, with_interval},
};

/// One line about the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageLine {
    /// `bandwidth`, `4 KiB reads`, `knee`; empty for a sentence that needs none.
    pub label: String,
    /// The figures with their intervals.
    pub text: String,
}

/// What a concluded run says about the storage: what it is first, then its figures. Where nothing could be
/// found, one line that says why; for a run without findings (a single workload), none.
pub fn storage_lines(run: &Run) -> Vec<StorageLine> {
    if run.findings.is_empty() {
        return Vec::new();
    }
    let figures: Vec<_> =
        [bandwidth(run), small(run, Op::Read), small(run, Op::Write), knee(run), plateau(run), promise(run)]
            .into_iter()
            .flatten()
            .collect();
    let figures: Vec<_> = figures.into_iter().chain(beside(run)).chain(more(run)).collect();
    if figures.is_empty() && found(run, "random_vs_sequential", Op::Read).is_none() {
        let why =
            run.findings.iter().find_map(|finding| finding.why.as_deref()).unwrap_or("no reason was given");
        return vec![line(
            "",
            format!("nothing can be said about the storage: {}", lowered(why.trim_end_matches('.'))),
        )];
    }
    std::iter::once(line("", what_it_is(run))).chain(figures).collect()
}

/// Findings that have no line of their own among the figures: their sentences, under a label.
const TOLD: [(&str, &str); 10] = [
    ("flush_latency", "flush"),
    ("log_writes_per_s", "log"),
    ("burst_rate", "burst"),
    ("sustained_rate", "sustained"),
    ("write_buffer_bytes", "buffer"),
    ("cache_bytes", "cache"),
    ("stride_effect", "stride"),
    ("alignment_effect", "alignment"),
    ("mix_interference", "mix"),
    ("processor_share", "processor"),
];
/// Of each: more belong into the report's table, not on its first screen.
const TOLD_OF_EACH: usize = 4;

fn more(run: &Run) -> impl Iterator<Item = StorageLine> + '_ {
    TOLD.iter().flat_map(|&(name, label)| {
        let own = run.findings.iter().filter(move |finding| finding.name == name);
        let (open, told): (Vec<&Finding>, Vec<&Finding>) = own
            .filter(|f| f.status != Status::Refused || f.sentence.contains(TOO_ROUGH))
            .partition(|f| f.sentence.contains(UNTOLD));
        let told: Vec<_> =
            told.into_iter().take(TOLD_OF_EACH).map(|f| lowered(f.sentence.trim_end_matches('.'))).collect();
        told.into_iter().chain(untold(&open, &run.info)).map(move |text| line(label, text))
    })
}

/// In the sentence of a finding that could not be made.
const UNTOLD: &str = " cannot be told";

/// What could not be told, in one line: it is the same of each.
fn untold(open: &[&Finding], info: &RunInfo) -> Option<String> {
    let [first, others @ ..] = open else { return None };
    if others.is_empty() {
        return Some(lowered(first.sentence.trim_end_matches('.')));
    }
    let mut asked: Vec<String> = Vec::new();
    let mut before = String::new();
    for finding in open {
        // The first line says how far this system sees.
        let question = seen::plain(finding.sentence.split(UNTOLD).next().unwrap_or_default(), info);
        // "whether stride matters to 4 KiB reads; to 64 KiB reads": the same words once.
        let (same, of) = question.split_once(" matters ").unwrap_or((&question, ""));
        asked.push(if same == before && !of.is_empty() { of.to_owned() } else { question.clone() });
        before = same.to_owned();
    }
    Some(format!("cannot be told from this run: {}", asked.join("; ")))
}

fn line(label: &str, text: String) -> StorageLine {
    StorageLine { label: label.to_owned(), text }
}

/// The found finding of a name and direction: of the smallest requests where there are several sizes, at random where
/// both orders were asked for, else the first.
pub(crate) fn found<'a>(run: &'a Run, name: &str, op: Op) -> Option<&'a Finding> {
    all_found(run, name, op).min_by_key(|finding| {
        let Conditions { random, block_size_bytes, .. } = finding.conditions;
        (block_size_bytes, random == Some(false))
    })
}

/// The same for requests of this size and order.
pub(crate) fn found_like<'a>(run: &'a Run, name: &str, op: Op, like: &Conditions) -> Option<&'a Finding> {
    all_found(run, name, op).find(|finding| {
        let own = &finding.conditions;
        own.block_size_bytes == like.block_size_bytes && own.random == like.random
    })
}

pub(crate) fn all_found<'a>(run: &'a Run, name: &str, op: Op) -> impl Iterator<Item = &'a Finding> {
    run.findings.iter().filter(move |finding| {
        finding.name == name && finding.status == Status::Found && finding.conditions.op == Some(op)
    })
}

/// Whether a highest rate was only the highest measured: with more in flight there would have been more.
pub(crate) fn is_rising(most: &Finding) -> bool {
    most.sentence.contains("still rising")
}

/// A finding's value with its interval.
pub(crate) fn estimate(finding: &Finding) -> Estimate {
    // A found finding has a value; NaN would be seen at once.
    Estimate { value: finding.value.unwrap_or(f64::NAN), low: finding.low, high: finding.high }
}

fn worded(unit: Unit, finding: &Finding) -> String {
    with_interval(unit, &estimate(finding))
}

fn what_it_is(run: &Run) -> String {
    let device = &run.info.device;
    let medium = match device.medium {
        Medium::Flash => "storage that does not rotate",
        Medium::Disk => "a rotating disk",
        Medium::Memory => "memory",
        Medium::Network => "a network file system",
        Medium::UserSpace => "a file system in user space",
        Medium::Simulated => "a simulated device",
        Medium::Virtual => "a virtual disk",
        Medium::Unknown => "storage of unknown kind",
    };
    let seen = seen::as_seen(&run.info).map_or_else(String::new, |seen| format!(", {seen}"));
    let ratio = Op::TRANSFERS.into_iter().find_map(|op| found(run, "random_vs_sequential", op));
    match ratio {
        Some(finding) => format!("{medium}{seen}: {}", order(finding)),
        None => format!("{medium}{seen}"),
    }
}

fn order(finding: &Finding) -> String {
    let order = Order::of(finding.low.unwrap_or(0.0), finding.high.unwrap_or(f64::INFINITY));
    let sentence = order.sentence(&workload(&finding.conditions));
    // An interval over several decades is no ratio to quote.
    if is_vague(&estimate(finding)) {
        sentence
    } else {
        format!("{sentence} ({})", worded(Unit::Ratio, finding))
    }
}

/// `read .. write ..` with what each direction says; nothing where neither does.
fn both(run: &Run, name: &str, say: impl Fn(&Finding) -> String) -> Option<String> {
    let parts =
        Op::TRANSFERS.into_iter().filter_map(|op| Some(format!("{op} {}", say(found(run, name, op)?))));
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn bandwidth(run: &Run) -> Option<StorageLine> {
    both(run, "device_bandwidth", |finding| worded(Unit::Rate, finding)).map(|text| line("bandwidth", text))
}

/// The load up to which a latency is kept.
fn promise(run: &Run) -> Option<StorageLine> {
    let limit = run.points.iter().find_map(|point| point.spec.latency_limit)?;
    let told = both(run, "iops_at_latency", |finding| {
        format!("{} up to {}", limit.describe(), worded(Unit::Iops, finding))
    });
    // A promise that was asked about is answered, also with why it cannot be.
    let unkept = || {
        let mut refused = run.findings.iter().filter(|finding| finding.name == "iops_at_latency");
        refused
            .find_map(|finding| Some(format!("{}: {}", limit.describe(), lowered(finding.why.as_deref()?))))
    };
    told.or_else(unkept).map(|text| line("promise", text.trim_end_matches('.').to_owned()))
}

/// What readers get beside other streams, as a database's do beside its log.
fn beside(run: &Run) -> impl Iterator<Item = StorageLine> + '_ {
    let together = run.points.iter().filter(|point| point.spec.streams().count() > 1);
    together.take(TOLD_OF_EACH).filter_map(|point| {
        let own = |op: Op| {
            let direction = point.direction(op)?;
            let iops = bounded(Unit::Iops, &direction.iops).replace(" IOPS", "");
            let latency = direction.latency_ns_mean.as_ref();
            let takes = latency.map_or_else(String::new, |mean| format!(" at {}", bounded(Unit::Time, mean)));
            Some(format!("{iops} {op}s a second{takes}"))
        };
        let told: Vec<String> = Op::TRANSFERS.into_iter().filter_map(own).collect();
        (!told.is_empty()).then(|| line("beside", format!("{}: {}", point.spec.describe(), told.join("; "))))
    })
}

/// The most and the least of small requests: how many a second, and how long one takes alone.
fn small(run: &Run, op: Op) -> Option<StorageLine> {
    let (most, alone) = (found(run, "max_iops", op), found(run, "base_latency", op));
    let size = most.or(alone)?.conditions.block_size_bytes.map(units::size)?;
    let like = |finding: &&Finding| {
        let [own, line] =
            [*finding, most.or(alone).expect("one of them has the size")].map(|f| &f.conditions);
        (own.block_size_bytes, own.random) == (line.block_size_bytes, line.random)
    };
    // Two sizes, or two orders, do not share a line.
    let told = alone.filter(like);
    let parts = [
        most.map(|finding| {
            let most = bounded(Unit::Iops, &estimate(finding));
            format!("{}{most}", if is_rising(finding) { "at least " } else { "" })
        }),
        told.map(|finding| format!("one alone takes {}", bounded(Unit::Time, &estimate(finding)))),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    // At random goes without saying; in order does not.
    let in_order = most.or(alone)?.conditions.random == Some(false);
    Some(line(&format!("{size} {op}s"), if in_order { format!("in order: {text}") } else { text }))
}

fn knee(run: &Run) -> Option<StorageLine> {
    let in_flight = |finding: &Finding| bounded(Unit::InFlight, &estimate(finding));
    let say = |finding: &Finding| {
        let op = finding.conditions.op.unwrap_or(Op::Read);
        let size_bytes = finding.conditions.block_size_bytes;
        let same_size = |depth: &&Finding| depth.conditions.block_size_bytes == size_bytes;
        let enough =
            found(run, "depth_for_95_percent", op).filter(same_size).map_or_else(String::new, |depth| {
                format!(", 95 % of the rate needs {}", in_flight(depth).replace(" in flight", ""))
            });
        // The lines above speak of the smallest requests; of others the size is said.
        let above = found(run, "max_iops", op).or(found(run, "base_latency", op));
        let told = above.is_some_and(|finding| finding.conditions.block_size_bytes == size_bytes);
        let size = size_bytes
            .filter(|_| !told)
            .map_or_else(String::new, |bytes| format!("of {}: ", units::size(bytes)));
        format!("{size}{}{enough}", in_flight(finding))
    };
    both(run, "queue_depth_knee", say).map(|text| line("knee", text))
}

fn plateau(run: &Run) -> Option<StorageLine> {
    let from = both(run, "plateau_block_size", |finding| {
        let size = |bytes: Option<f64>| bytes.map_or_else(String::new, |bytes| units::size(bytes as u64));
        let ends = format!("{}, {}", size(finding.low), size(finding.high));
        // Its sentence knows which smaller size was measured, where one is the least that it may be.
        let range = finding.sentence.split(['[', ']']).nth(1).unwrap_or(&ends);
        format!("from {} [{range}]", size(finding.value))
    });
    let half = both(run, "half_size", |finding| format!("at {}", worded(Unit::Bytes, finding)));
    let half = half.map(|half| format!("half the bandwidth: {half}"));
    let text = [from, half].into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then(|| line("plateau", text))
}

#[cfg(test)]
#[path = "storage_tests.rs"]
mod tests;
