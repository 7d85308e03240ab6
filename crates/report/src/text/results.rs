//! What the storage is like: the second block of every report.
//!
//! Figures that people compare stand in a table; every other finding has its sentence, under the label that its kind
//! gives it.

use crate::text::point_table::point_table;
use crate::text::{
    case::lowered,
    finding,
    number::{Style, figure, with_interval},
    workload::{workload, workload_at},
};
use iosonde_model::{
    Detail, Finding, FindingName, Inconclusive, Medium, Op, Outcome, Point, Run, Status, Unit,
    detail::{EffectProblem, RatioAnswer},
};

use super::{
    advice::SlowWrites,
    marks::result_tables,
    mean_above_p99::mean_above_p99,
    open_questions,
    result_table::{asked_latency, is_in_table},
    storage_line::{StorageLine, line},
    table::ResultTable,
};
use iosonde_infer::finding::FINDINGS;
use iosonde_infer::finding::FindingKind;
use iosonde_infer::finding::RUN;
use iosonde_infer::finding::ReadWhen;
use iosonde_infer::finding::ScreenLine;
use iosonde_infer::finding::kind;
use iosonde_infer::finding::lookup::{estimate, found};
use iosonde_infer::validity::{Fatal, validity};

/// What a concluded run says about the storage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Results {
    /// What it is, and what limits it; or why nothing is known. Empty for a run without findings, and where the header
    /// has said it.
    pub storage: String,
    /// Figures that people compare.
    pub tables: Vec<ResultTable>,
    /// What a table cannot say, and what was asked and is not known.
    pub lines: Vec<StorageLine>,
    /// The findings whose reason stands in `storage`, where nothing is known.
    inconclusive: Option<FindingName>,
}

impl Results {
    /// Whether nothing is said at all.
    pub fn is_empty(&self) -> bool {
        self.storage.is_empty() && self.tables.is_empty() && self.lines.is_empty()
    }

    /// Whether a finding is told here as inconclusive.
    pub fn leaves_open(&self, finding: &Finding) -> bool {
        let lines = self.lines.iter().map(|line| line.inconclusive);
        lines.chain([self.inconclusive]).any(|name| name == Some(finding.name))
    }
}

/// Results of a concluded run; empty for a run without findings (a single workload).
pub fn results(run: &Run) -> Results {
    if run.findings.is_empty() {
        return Results::default();
    }
    // Lines of a sheet have a table of their own.
    let is_of_sheet = super::sheet::is_of_sheet(run);
    let tables = if is_of_sheet { Vec::new() } else { result_tables(run) };
    let mut lines: Vec<StorageLine> =
        promise(run).into_iter().chain(mean_above_p99(run)).chain(orders(run)).chain(more(run)).collect();
    let limits = limits(run);
    let order = found(run, FindingName::RandomVsSequential, Op::Read);
    // What a program gets from memory is no result about the storage.
    let of_storage =
        lines.iter().any(|line| line.label != kind(FindingName::ProgramPlateau).screen_line().label);
    let invalid = run.verdicts.iter().any(|judgement| judgement.verdict == Outcome::Invalid);
    let is_nothing = lines.is_empty() || (!of_storage && invalid);
    if !is_of_sheet && tables.is_empty() && is_nothing && limits.is_none() && order.is_none() {
        let (storage, inconclusive) = nothing(run);
        let lines = if validity(run).fatal.is_some() { Vec::new() } else { lines };
        return Results { storage, inconclusive, lines, ..Results::default() };
    }
    lines.extend(open_questions::lines(run, &lines));
    // The sheet's table is the answer, and the kind of storage is none.
    if is_of_sheet && lines.is_empty() && limits.is_none() && order.is_none() {
        return Results::default();
    }
    let what = what_it_is(run, limits.is_some());
    // A run that is not valid as a whole may have valid trials.
    let is_part = matches!(validity(run).fatal, Some(Fatal::MostInvalid { .. }));
    let alone = is_part.then(|| "from the valid trials alone".to_owned());
    let what = match limits {
        // The header has said that it is simulated.
        Some(limits) if run.info.device.medium == Medium::Simulated => limits,
        Some(limits) => format!("{what}, {limits}"),
        None => what,
    };
    let storage = [Some(what).filter(|what| !what.is_empty()), alone].into_iter().flatten();
    let storage = storage.collect::<Vec<_>>().join("; ");
    Results { storage, tables, lines, inconclusive: None }
}

/// Why nothing is said, and the findings of which it is said. One question that could not be answered is named; of
/// many, the first reason is that of all.
fn nothing(run: &Run) -> (String, Option<FindingName>) {
    let first = run.findings.iter().find(|finding| finding.status == Status::Inconclusive);
    let asked = || run.findings.iter().filter(|finding| finding.experiment != RUN);
    let of_one_kind = first.filter(|first| asked().all(|finding| finding.name == first.name));
    let inconclusive = first.map(|first| first.name);
    // The answer whether the run is valid gives the reason.
    if validity(run).fatal.is_some() {
        return ("nothing is known about the storage".to_owned(), inconclusive);
    }
    let why = match (of_one_kind, first) {
        (Some(only), _) => return (super::clause(only), inconclusive),
        (None, Some(first)) => super::reason(first).unwrap_or_default(),
        // What was asked is what each point gets.
        (None, None) if point_table(run).is_some() => {
            return ("each workload by itself, below".to_owned(), None);
        }
        (None, None) => "nothing was asked that these trials answer".to_owned(),
    };
    let told = match run.verdicts.iter().any(|judgement| judgement.verdict == Outcome::Invalid) {
        true => "nothing is known about the storage",
        // Its points are valid.
        false => "no finding beyond the points",
    };
    (format!("{told}: {why}"), inconclusive)
}

/// Whether a finding is told in the table, or in the line above it.
fn is_put_together(name: FindingName) -> bool {
    let above = [FindingName::ConstantLimit, FindingName::RandomVsSequential];
    is_in_table(name) || above.contains(&name)
}
/// Maximum number of each: more belong into the report's table, not on its first screen.
const TOLD_OF_EACH: usize = 4;

/// The other findings: their sentences, each under its kind's label, those that may be folded last.
fn more(run: &Run) -> impl Iterator<Item = StorageLine> + '_ {
    // Of those that are told one by one, the table has no reason where one is inconclusive.
    let each = |kind: &&dyn FindingKind| kind.screen_line().when == ReadWhen::Each;
    let own = || FINDINGS.iter().filter(move |kind| each(kind) || !is_put_together(kind.id()));
    let folded = |kind: &&dyn FindingKind| kind.screen_line().when == ReadWhen::Folded;
    own().filter(move |kind| !folded(kind)).chain(own().filter(folded)).flat_map(|kind| sentences(run, kind))
}

/// What the findings of one kind say.
fn sentences(run: &Run, kind: &dyn FindingKind) -> Vec<StorageLine> {
    let name = kind.id();
    let is_told = |finding: &&Finding| {
        finding.name == name && is_read(run, finding) && !is_told_by_the_burst(run, finding)
    };
    lines_of(kind.screen_line(), run.findings.iter().filter(is_told))
}

/// Whether a write buffer that is absent is so for bursts as well: that none fills is one answer.
fn is_told_by_the_burst(run: &Run, buffer: &Finding) -> bool {
    let same = |burst: &Finding| {
        burst.name == FindingName::BurstRate
            && burst.status == Status::Absent
            && (&burst.conditions, &burst.detail) == (&buffer.conditions, &buffer.detail)
    };
    buffer.name == FindingName::WriteBufferBytes
        && buffer.status == Status::Absent
        && run.findings.iter().any(same)
}

/// What these findings of one kind say: those that could be told a line each, the others together.
fn lines_of<'a>(told: ScreenLine, own: impl Iterator<Item = &'a Finding>) -> Vec<StorageLine> {
    let (open, told_now): (Vec<&Finding>, Vec<&Finding>) = own.partition(|finding| finding.is_open());
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
    let when = |finding: &Finding| kind(finding.name).screen_line().when;
    let too_rough = || finding.detail == Detail::Inconclusive(Inconclusive::Effect(EffectProblem::TooRough));
    match when(finding) {
        ReadWhen::Always | ReadWhen::Folded => answers || too_rough(),
        ReadWhen::Each => finding.status == Status::Inconclusive || !is_put_together(finding.name),
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

/// Open findings of one kind, in one line: the question once, then the workloads.
fn untold(open: &[&Finding]) -> Option<String> {
    let [first, others @ ..] = open else { return None };
    if others.is_empty() {
        return Some(super::clause(first));
    }
    let others_told = match others {
        [other] => workload_at(&other.conditions),
        _ => format!("{} other workloads", others.len()),
    };
    let asked = format!("{} and {others_told}", lowered(&finding::subject::subject(first)));
    let why = match super::problem(first) {
        None => Some("their intervals are too wide; use a longer `--time`".to_owned()),
        why => why,
    };
    // Others have reasons of their own, in the report.
    let cause = |finding: &Finding| match &finding.detail {
        Detail::Inconclusive(why) => Some(why.clone()),
        _ => None,
    };
    let is_shared = others.iter().all(|other| cause(other) == cause(first));
    let why = why.filter(|_| is_shared).map_or_else(String::new, |why| format!(": {why}"));
    Some(format!("unknown: {asked}{why}"))
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
    lines_of(kind.screen_line(), others)
}

/// What a limit allows from the first second on: it is behind the figures of the table.
fn limits(run: &Run) -> Option<String> {
    let limits = finding::constant_limits(&run.findings)?;
    Some(format!("limited to {limits}"))
}

fn what_it_is(run: &Run, limited: bool) -> String {
    let device = &run.info.device;
    let medium = match device.medium {
        Medium::Flash => "non-rotating storage",
        Medium::Disk => "a rotating disk",
        Medium::Memory => "memory",
        Medium::Network => "a network file system",
        Medium::UserSpace => "a file system in user space",
        // The header has said so.
        Medium::Simulated => "",
        Medium::Virtual => "a virtual disk",
        Medium::Unknown => "storage of unknown kind",
    };
    // That random reads are as fast as sequential ones would hide it.
    if let Some(slow) = SlowWrites::of(run).filter(|_| !limited) {
        let what = workload_at(&slow.writes.conditions);
        let [times, least] = slow.times;
        let told = format!(
            "{what} are {times:.0} times slower than reads (at 95 % confidence, at least {least:.0} times)"
        );
        return if device.medium == Medium::Simulated { told } else { format!("{medium}; {told}") };
    }
    // Below a limit, every order is as fast as another.
    match first_order(run).filter(|_| !limited).and_then(order) {
        // The header has said that it is simulated.
        Some(order) if device.medium == Medium::Simulated => order,
        Some(order) => format!("{medium}; {order}"),
        None => medium.to_owned(),
    }
}

/// Ratios between which two rates are about the same, though nobody can say whether within the margin of a finding.
const NEAR_ONE: [f64; 2] = [0.9, 1.1];

fn order(finding: &Finding) -> Option<String> {
    let Detail::AccessOrder(answer) = finding.detail else { return None };
    let what = workload_at(&finding.conditions);
    let is_near = finding.low.is_some_and(|low| low > NEAR_ONE[0])
        && finding.high.is_some_and(|high| high < NEAR_ONE[1]);
    let said = match answer {
        RatioAnswer::Undecided if is_near => format!("random {what} are about as fast as sequential ones"),
        _ => finding::effect::order(answer, &what),
    };
    // An interval over several decades is no ratio to quote.
    Some(if estimate(finding).is_vague() {
        said
    } else if answer == RatioAnswer::Undecided && !is_near {
        let ratio = figure(Unit::Ratio, &estimate(finding)).in_words();
        format!("random {what}: {ratio} of sequential, no clear difference")
    } else {
        format!("{said} (ratio {})", figure(Style::bare(Unit::Ratio), &estimate(finding)).whole())
    })
}

/// Why no load keeps a latency that was asked about; `None` where the table has the load that does.
fn promise(run: &Run) -> Option<StorageLine> {
    let limit = asked_latency(run)?;
    if Op::TRANSFERS.into_iter().any(|op| found(run, FindingName::IopsAtLatency, op).is_some()) {
        return None;
    }
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
        let takes = with_interval(Unit::Time, &ns);
        (ns.low? > limit.ns as f64).then(|| {
            format!("{}: no load keeps it: at QD 1, half of the {op}s take {takes} or more", limit.describe())
        })
    };
    // A promise that was asked about is answered, also with why it cannot be.
    let unkept = || {
        let mut refused = run.findings.iter().filter(|finding| finding.name == FindingName::IopsAtLatency);
        refused.find_map(|finding| {
            let (what, limit) = (workload(&finding.conditions), limit.describe());
            Some(format!("{what}, {limit}: {}", super::reason(finding)?))
        })
    };
    alone().or_else(unkept).map(|text| line("latency limit", text))
}

/// Whether two points make the same requests, whatever the load.
fn alike(one: &Point, other: &Point) -> bool {
    let (one, other) = (&one.spec, &other.spec);
    (one.rw, one.block_size_bytes, one.span_bytes, one.direct)
        == (other.rw, other.block_size_bytes, other.span_bytes, other.direct)
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
