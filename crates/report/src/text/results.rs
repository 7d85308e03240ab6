//! What the storage is like, in a few labelled lines: the second block of every report.
//!
//! Figures that people compare stand together in lines of their own; every other finding has its sentence, under the
//! label that its kind gives it.

use crate::text::{
    case::lowered,
    finding,
    number::{Style, at_least, bounded, with_interval},
    vantage,
    workload::{workload, workload_at},
};
use iosonde_judge::standing::confidence;
use iosonde_model::{
    About, Detail, Estimate, Finding, FindingName, Inconclusive, Medium, Op, Outcome, Point, Run, Status,
    Unit, detail::EffectProblem, units,
};

use super::{
    open_questions,
    storage_line::{StorageLine, line},
};
use iosonde_infer::finding::FINDINGS;
use iosonde_infer::finding::FindingKind;
use iosonde_infer::finding::RUN;
use iosonde_infer::finding::ReadWhen;
use iosonde_infer::finding::Told;
use iosonde_infer::finding::kind;
use iosonde_infer::finding::lookup::{estimate, found};
use iosonde_infer::finding::over_trials;

/// What a concluded run says about the storage: what it is first, then its figures, then what was asked and could not
/// be told. Where nothing could be found, one line that says why; for a run without findings (a single workload), none.
pub fn storage_lines(run: &Run) -> Vec<StorageLine> {
    if run.findings.is_empty() {
        return Vec::new();
    }
    let figures: Vec<_> = [
        limit(run),
        bandwidth(run),
        small(run, Op::Read),
        small(run, Op::Write),
        knee(run),
        plateau(run),
        promise(run),
    ]
    .into_iter()
    .flatten()
    .collect();
    let figures: Vec<_> =
        figures.into_iter().chain(beside(run)).chain(orders(run)).chain(more(run)).collect();
    if figures.is_empty() && found(run, FindingName::RandomVsSequential, Op::Read).is_none() {
        return vec![nothing(run)];
    }
    let untold = open_questions::lines(run, &figures);
    std::iter::once(line("", what_it_is(run))).chain(figures).chain(untold).collect()
}

/// Why nothing is said. One question that could not be answered is named; of many, the first reason is that of all.
fn nothing(run: &Run) -> StorageLine {
    let first = run.findings.iter().find(|finding| finding.status == Status::Inconclusive);
    let asked = || run.findings.iter().filter(|finding| finding.experiment != RUN);
    let of_one_kind = first.filter(|first| asked().all(|finding| finding.name == first.name));
    let inconclusive = first.map(|first| first.name);
    let why = match (of_one_kind, first) {
        (Some(only), _) => return StorageLine { inconclusive, ..line("", super::clause(only)) },
        (None, Some(first)) => super::reason(first).unwrap_or_default(),
        (None, None) => "nothing was asked that these trials answer".to_owned(),
    };
    let told = match run.verdicts.iter().any(|judgement| judgement.verdict == Outcome::Invalid) {
        true => "nothing is known about the storage",
        // Its points are valid.
        false => "no finding beyond the points",
    };
    StorageLine { inconclusive, ..line("", format!("{told}: {why}")) }
}

/// Findings that the figures above put together, each into a line with others.
const PUT_TOGETHER: [FindingName; 10] = [
    FindingName::ConstantLimit,
    FindingName::DeviceBandwidth,
    FindingName::MaxIops,
    FindingName::BaseLatency,
    FindingName::HalfSize,
    FindingName::PlateauBlockSize,
    FindingName::QueueDepthKnee,
    FindingName::DepthFor95Percent,
    FindingName::RandomVsSequential,
    FindingName::IopsAtLatency,
];
/// Maximum number of each: more belong into the report's table, not on its first screen.
const TOLD_OF_EACH: usize = 4;

/// The other findings: their sentences, each under its kind's label, those that may be folded last.
fn more(run: &Run) -> impl Iterator<Item = StorageLine> + '_ {
    let own = || FINDINGS.iter().filter(|kind| !PUT_TOGETHER.contains(&kind.id()));
    let folded = |kind: &&dyn FindingKind| kind.told().when == ReadWhen::Folded;
    own().filter(move |kind| !folded(kind)).chain(own().filter(folded)).flat_map(|kind| sentences(run, kind))
}

/// What the findings of one kind say.
fn sentences(run: &Run, kind: &dyn FindingKind) -> Vec<StorageLine> {
    let name = kind.id();
    lines_of(kind.told(), run.findings.iter().filter(|finding| finding.name == name && is_read(run, finding)))
}

/// What these findings of one kind say: those that could be told a line each, the others together.
fn lines_of<'a>(told: Told, own: impl Iterator<Item = &'a Finding>) -> Vec<StorageLine> {
    let (open, told_now): (Vec<&Finding>, Vec<&Finding>) = own.partition(|finding| is_open(finding));
    let left = told_now.len().saturating_sub(TOLD_OF_EACH);
    let left = (left > 0).then(|| format!("and {left} more in the report"));
    let texts: Vec<_> = told_now.into_iter().take(TOLD_OF_EACH).map(in_a_line).collect();
    let texts = texts.into_iter().chain(left).chain(untold(&open));
    texts
        .map(|text| StorageLine { folded: told.when == ReadWhen::Folded, ..line(told.label, text) })
        .collect()
}

/// Whether a finding is on the first screen: it was found, or it is absent, or it was nearly
/// missed; and where its kind is told only alone, nothing else of its experiment is.
fn is_read(run: &Run, finding: &Finding) -> bool {
    let answers = finding.status != Status::Inconclusive;
    let when = |finding: &Finding| kind(finding.name).told().when;
    let too_rough = || finding.detail == Detail::Inconclusive(Inconclusive::Effect(EffectProblem::TooRough));
    match when(finding) {
        ReadWhen::Always | ReadWhen::Folded => answers || too_rough(),
        ReadWhen::Found => finding.status == Status::Found,
        ReadWhen::Alone => {
            let of_run = finding.experiment == RUN;
            let other = |other: &&Finding| {
                (of_run || other.experiment == finding.experiment)
                    && other.status != Status::Inconclusive
                    && when(other) != ReadWhen::Alone
            };
            answers && !run.findings.iter().any(|one| other(&one))
        }
    }
}

/// A finding's sentence; that nothing is there is believed for what was looked through, so that is said with it.
fn in_a_line(finding: &Finding) -> String {
    let clause = super::clause(finding);
    match super::reason(finding).filter(|_| finding.status == Status::Absent) {
        Some(reason) => format!("{clause} ({reason})"),
        None => clause,
    }
}

/// Whether a finding leaves its question open.
pub(super) fn is_open(finding: &Finding) -> bool {
    finding.status == Status::Inconclusive || finding.detail.is_open()
}

/// Open findings of one kind, in one line: the question once, then every workload.
fn untold(open: &[&Finding]) -> Option<String> {
    let [first, others @ ..] = open else { return None };
    if others.is_empty() {
        return Some(super::clause(first));
    }
    let asked = std::iter::once(lowered(&finding::subject::subject(first)));
    let asked = asked.chain(others.iter().map(|other| workload_at(&other.conditions)));
    Some(format!("unknown: {}", asked.collect::<Vec<_>>().join("; ")))
}

fn worded(unit: Unit, finding: &Finding) -> String {
    with_interval(unit, &estimate(finding))
}

/// What the first line says of order.
fn first_order(run: &Run) -> Option<&Finding> {
    Op::TRANSFERS.into_iter().find_map(|op| found(run, FindingName::RandomVsSequential, op))
}

/// What order does at the other sizes, where a run was about nothing else.
fn orders(run: &Run) -> Vec<StorageLine> {
    let kind = kind(FindingName::RandomVsSequential);
    let first = first_order(run);
    let asked = || run.findings.iter().filter(|finding| finding.experiment != RUN);
    let alone = asked().all(|finding| Some(&finding.experiment) == first.map(|f| &f.experiment));
    let others = run.findings.iter().filter(|finding| {
        alone
            && finding.name == kind.id()
            && Some(*finding) != first
            && finding.status != Status::Inconclusive
    });
    lines_of(kind.told(), others)
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
    let seen = vantage::as_seen(&run.info).map_or_else(String::new, |seen| format!(", {seen}"));
    match first_order(run).and_then(order) {
        Some(order) => format!("{medium}{seen}: {order}"),
        None => format!("{medium}{seen}"),
    }
}

fn order(finding: &Finding) -> Option<String> {
    let Detail::AccessOrder(answer) = finding.detail else { return None };
    let said = finding::effect::order(answer, &workload(&finding.conditions));
    // An interval over several decades is no ratio to quote.
    Some(if estimate(finding).is_vague() {
        said
    } else {
        format!("{said} ({})", worded(Unit::Ratio, finding))
    })
}

/// `read .. write ..` with what each direction says; nothing where neither does. One that was asked about and could
/// not be told says so beside the other: silence would look as if nobody had asked.
fn both(run: &Run, name: FindingName, say: impl Fn(&Finding) -> String) -> Option<String> {
    let one = |op: Op| match found(run, name, op) {
        Some(finding) => Some(format!("{op} {}", say(finding))),
        None => Some(format!("{op} unknown: {}", why_not(run, name, op)?)),
    };
    Op::TRANSFERS
        .iter()
        .any(|&op| found(run, name, op).is_some())
        .then(|| Op::TRANSFERS.into_iter().filter_map(one).collect::<Vec<_>>().join("; "))
}

/// Why a finding about a direction was refused, of the smallest requests.
fn why_not(run: &Run, name: FindingName, op: Op) -> Option<String> {
    let refused = run.findings.iter().filter(|finding| {
        finding.name == name && finding.status == Status::Inconclusive && finding.conditions.op == Some(op)
    });
    super::problem(refused.min_by_key(|finding| finding.conditions.block_size_bytes)?)
}

/// What a limit allows from the first second on: it is behind the figures that follow.
fn limit(run: &Run) -> Option<StorageLine> {
    let limits: Vec<String> = run.findings.iter().filter_map(finding::constant_limit).collect();
    let meaning = "a set limit; the storage behind it may be faster";
    (!limits.is_empty()).then(|| line("limit", format!("{}: {meaning}", limits.join("; "))))
}

fn bandwidth(run: &Run) -> Option<StorageLine> {
    both(run, FindingName::DeviceBandwidth, |finding| {
        let at = finding::highest_points(finding).map_or_else(String::new, |points| format!(" at {points}"));
        format!("{}{at}", worded(Unit::Rate, finding))
    })
    .map(|text| line("bandwidth", text))
}

/// The load up to which a latency is kept.
fn promise(run: &Run) -> Option<StorageLine> {
    let limit = run.points.iter().find_map(|point| point.spec.latency_limit)?;
    let told = both(run, FindingName::IopsAtLatency, |finding| {
        format!("{} up to {}", limit.describe(), worded(Unit::Iops, finding))
    });
    // What one request alone does not keep, none keeps among others.
    let alone = || {
        // Half of them are more than a percentile above the middle allows, and say nothing of a mean.
        limit.quantile.filter(|quantile| *quantile >= 0.5)?;
        let alone = run.points.iter().filter(|point| point.spec.asked_in_flight() == 1);
        let asked =
            |point: &&Point| run.points.iter().any(|p| p.spec.latency_limit.is_some() && alike(p, point));
        let (op, ns) = alone.filter(asked).find_map(|point| {
            let op = Op::TRANSFERS.into_iter().find(|&op| point.spec.rw.has(op))?;
            Some((op, point.direction(op)?.latency_ns_p50?))
        })?;
        let takes = bounded(Unit::Time, &ns);
        (ns.low? > limit.ns as f64).then(|| {
            format!("{}: no load keeps it: half of the {op}s take {takes} or more alone", limit.describe())
        })
    };
    // A promise that was asked about is answered, also with why it cannot be.
    let unkept = || {
        let mut refused = run.findings.iter().filter(|finding| finding.name == FindingName::IopsAtLatency);
        refused.find_map(|finding| Some(format!("{}: {}", limit.describe(), super::reason(finding)?)))
    };
    told.or_else(alone).or_else(unkept).map(|text| line("promise", text))
}

/// Whether two points make the same requests, whatever the load.
fn alike(one: &Point, other: &Point) -> bool {
    let (one, other) = (&one.spec, &other.spec);
    (one.rw, one.block_size_bytes, one.span_bytes, one.direct)
        == (other.rw, other.block_size_bytes, other.span_bytes, other.direct)
}

/// What readers get beside other streams, as a database's do beside its log.
fn beside(run: &Run) -> impl Iterator<Item = StorageLine> + '_ {
    let together = run.points.iter().filter(|point| point.spec.streams().count() > 1);
    together.take(TOLD_OF_EACH).filter_map(|point| {
        let own = |op: Op| {
            let direction = point.direction(op)?;
            let iops = bounded(Style::bare(Unit::Iops), &direction.iops);
            let latency = direction.latency_ns_mean.as_ref();
            let takes = latency.map_or_else(String::new, |mean| format!(" at {}", bounded(Unit::Time, mean)));
            // A client that waits for the flush waits for both.
            let flushed = flush(run, point).filter(|_| op == Op::Write);
            let and = flushed.map_or_else(String::new, |flush| {
                format!(" and {} for each flush", bounded(Unit::Time, &flush))
            });
            Some(format!("{iops} {op}s a second{takes}{and}"))
        };
        let told: Vec<String> = Op::TRANSFERS.into_iter().filter_map(own).collect();
        (!told.is_empty()).then(|| line("beside", format!("{}: {}", point.spec.describe(), told.join("; "))))
    })
}

/// How long a flush took among a point's streams, over the valid trials.
fn flush(run: &Run, point: &Point) -> Option<Estimate> {
    let void = |id: u64| {
        run.verdicts.iter().any(|line| {
            line.trial == Some(id) && line.verdict == Outcome::Invalid && line.about.touches(About::Latency)
        })
    };
    let own = run.trials.iter().filter(|trial| point.trial_ids.contains(&trial.id) && !void(trial.id));
    let means: Vec<f64> = own.filter_map(|trial| trial.flush.as_ref()?.latency_ns.mean).collect();
    over_trials::mean(&means, confidence(run))
}

/// The most and the least of small requests: how many a second, and how long one takes alone.
fn small(run: &Run, op: Op) -> Option<StorageLine> {
    let (most, alone) = (found(run, FindingName::MaxIops, op), found(run, FindingName::BaseLatency, op));
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
            let say = if finding.at_least { at_least } else { bounded };
            say(Unit::Iops, &estimate(finding))
        }),
        told.map(|finding| format!("latency at QD 1 {}", bounded(Unit::Time, &estimate(finding)))),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    // At random goes without saying; in order does not.
    let in_order = most.or(alone)?.conditions.random == Some(false);
    Some(line(&format!("{size} {op}s"), if in_order { format!("in order: {text}") } else { text }))
}

fn knee(run: &Run) -> Option<StorageLine> {
    let depth =
        |finding: &Finding| format!("QD {}", bounded(Style::bare(Unit::InFlight), &estimate(finding)));
    let say = |finding: &Finding| {
        let op = finding.conditions.op.unwrap_or(Op::Read);
        let size_bytes = finding.conditions.block_size_bytes;
        let same_size = |depth: &&Finding| depth.conditions.block_size_bytes == size_bytes;
        let enough = found(run, FindingName::DepthFor95Percent, op)
            .filter(same_size)
            .map_or_else(String::new, |enough| format!(", 95 % of the maximum at {}", depth(enough)));
        // The lines above speak of the smallest requests; of others the size is said.
        let above = found(run, FindingName::MaxIops, op).or(found(run, FindingName::BaseLatency, op));
        let told = above.is_some_and(|finding| finding.conditions.block_size_bytes == size_bytes);
        let size = size_bytes
            .filter(|_| !told)
            .map_or_else(String::new, |bytes| format!("of {}: ", units::size(bytes)));
        format!("{size}{}{enough}", depth(finding))
    };
    both(run, FindingName::QueueDepthKnee, say).map(|text| line("knee", text))
}

fn plateau(run: &Run) -> Option<StorageLine> {
    let from = both(run, FindingName::PlateauBlockSize, |finding| {
        let value = finding.value.unwrap_or(0.0) as u64;
        let sizes = super::plateau_sizes(finding).unwrap_or_else(|| units::size(value));
        format!("from {sizes}")
    });
    // Its law is the plateau's, and so would be the reason why not.
    let half =
        |op: Op| Some(format!("{op} at {}", worded(Unit::Bytes, found(run, FindingName::HalfSize, op)?)));
    let half: Vec<String> = Op::TRANSFERS.into_iter().filter_map(half).collect();
    let half = (!half.is_empty()).then(|| format!("half the bandwidth: {}", half.join("; ")));
    let text = [from, half].into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then(|| line("plateau", text))
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
