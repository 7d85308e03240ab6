//! Words of findings, one file for each family.

mod cached;
mod commit;
pub(super) mod constant_limit;
mod curve;
mod drift;
mod durable;
pub(super) mod effect;
#[cfg(test)]
pub(in crate::text) mod example;
pub(super) mod highest;
mod hosts;
mod inconclusive;
mod lack;
mod latency_limit;
mod layout;
mod limit;
mod long_write;
mod mapping_unit;
mod note;
mod platter;
mod processor;
mod queue_depth;
mod readahead;
mod size_law;
pub(super) mod subject;
mod sync_methods;
mod training;
mod value;

use crate::text::{
    case::{capitalised, lowered},
    number::Figure,
    workload::workload,
};
use iosonde_model::{
    Conditions, Detail, Finding, FindingName, Inconclusive, Op, RateLimit, Status,
    detail::{Commit, Durable},
    units,
};

pub(crate) use self::subject::quantity;
use self::{subject::subject, value::value};

/// A finding in one sentence, with its interval.
pub fn sentence(finding: &Finding) -> String {
    match &finding.detail {
        Detail::Inconclusive(why) => match rising(finding, false) {
            Some(rises) => format!("{}.", capitalised(&rises)),
            None => format!("{}: unknown; {}.", subject(finding), inconclusive::words(why)),
        },
        Detail::Effect(facts) => effect::sentence(finding, facts),
        Detail::AccessOrder(answer) => effect::order_sentence(finding, *answer),
        Detail::Workers(facts) => effect::workers_sentence(finding, facts),
        Detail::ReadsAfterWrites(facts) => effect::after_writes_sentence(finding, facts),
        Detail::Shape(facts) => curve::shape_sentence(finding, facts),
        Detail::Crossover(facts) => curve::crossover_sentence(finding, facts),
        Detail::Drift(facts) => drift::sentence(finding, facts),
        Detail::Plain => plain(finding),
        Detail::Cached(facts) => cached::sentence(finding, *facts),
        Detail::Readahead(facts) => readahead::sentence(finding, *facts),
        Detail::LongWrite(facts) => long_write::sentence(finding, *facts),
        Detail::Limit(facts) => limit::sentence(finding, facts),
        Detail::ConstantLimit(facts) => constant_limit::sentence(finding, *facts),
        Detail::Durable(facts) => durable::sentence(finding, *facts),
        Detail::Commit(facts) => commit::sentence(finding, *facts),
        Detail::SyncMethods(facts) => sync_methods::sentence(finding, facts),
        Detail::MappingUnit(facts) => mapping_unit::sentence(finding, *facts),
        Detail::Platter(facts) => platter::sentence(finding, *facts),
        Detail::Highest(facts) => highest::sentence(finding, facts),
        Detail::SizeLaw(_) => size_law::sentence(finding),
        Detail::Plateau(facts) => size_law::plateau_sentence(finding, facts),
        Detail::RoundTrip(_) => size_law::sentence(finding),
        Detail::HostCurve(_) => hosts::sentence(finding),
        Detail::ClosedLoop(_) => queue_depth::curve_sentence(finding),
        Detail::EffectiveDepth(facts) => queue_depth::effective_sentence(finding, facts),
        Detail::LatencyLimited(facts) => latency_limit::sentence(finding, facts),
        Detail::Layout(facts) => layout::sentence(finding, facts),
        Detail::TrainingFed(facts) => training::fed(finding, facts),
        Detail::CheckpointSaved(facts) => training::checkpoint(finding, facts),
        Detail::ProcessorShare(facts) => processor::sentence(finding, facts),
    }
}

/// Assumptions behind a finding, or why it is inconclusive and what would answer.
pub fn why_of(finding: &Finding) -> Option<String> {
    let own = match &finding.detail {
        Detail::Inconclusive(why) => Some(capitalised(&format!("{}.", inconclusive::words(why)))),
        Detail::Effect(facts) => Some(effect::why(facts, inconclusive::words)),
        Detail::AccessOrder(_) => Some(effect::order_why(finding)),
        Detail::Workers(facts) => Some(effect::workers_why(facts)),
        Detail::ReadsAfterWrites(facts) => Some(effect::after_writes_why(facts)),
        Detail::Shape(facts) => Some(curve::shape_why(facts)),
        Detail::Crossover(facts) => Some(curve::crossover_why(facts)),
        Detail::Drift(facts) => Some(drift::why(facts)),
        Detail::Plain => why_of_plain(finding).map(str::to_owned),
        Detail::Cached(facts) => Some(cached::why(*facts)),
        Detail::Readahead(facts) => Some(readahead::why(finding, *facts)),
        Detail::LongWrite(facts) => Some(long_write::why(*facts)),
        Detail::Limit(facts) => Some(limit::why(finding, facts)),
        Detail::ConstantLimit(facts) => Some(constant_limit::why(*facts)),
        Detail::Durable(facts) => Some(durable::why(*facts)),
        Detail::Commit(facts) => Some(commit::why(*facts)),
        Detail::SyncMethods(facts) => Some(sync_methods::why(facts)),
        Detail::MappingUnit(facts) => Some(mapping_unit::why(*facts)),
        Detail::Platter(facts) => Some(platter::why(*facts)),
        Detail::Highest(facts) => Some(highest::why(finding, facts)),
        Detail::SizeLaw(law) => Some(size_law::why(law)),
        Detail::Plateau(facts) => Some(size_law::plateau_why(facts)),
        Detail::RoundTrip(facts) => Some(size_law::round_trip_why(facts)),
        Detail::HostCurve(facts) => Some(hosts::why(facts)),
        Detail::ClosedLoop(facts) => Some(queue_depth::curve_why(facts)),
        Detail::EffectiveDepth(facts) => Some(queue_depth::effective_why(facts)),
        Detail::LatencyLimited(facts) => Some(latency_limit::why(facts)),
        Detail::Layout(facts) => Some(layout::why(facts)),
        Detail::TrainingFed(facts) => Some(training::why_fed(facts)),
        Detail::CheckpointSaved(facts) => Some(training::why_checkpoint(facts)),
        Detail::ProcessorShare(facts) => Some(processor::why(facts)),
    };
    let notes: Vec<String> = finding.notes.iter().map(note::words).collect();
    let all: Vec<String> = own.into_iter().chain(notes).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// A finding's sentence for the middle of another one.
pub fn clause(finding: &Finding) -> String {
    within(&sentence(finding))
}

/// Assumptions behind a finding, or why it is inconclusive, for the middle of a sentence.
pub fn reason(finding: &Finding) -> Option<String> {
    why_of(finding).map(|why| within(&why))
}

/// Why a finding is inconclusive, without its notes, for the middle of a sentence.
pub fn problem(finding: &Finding) -> Option<String> {
    match &finding.detail {
        Detail::Inconclusive(why) => Some(inconclusive::words(why)),
        _ => None,
    }
}

/// That the bandwidth of a workload, or of its reads and writes, still rises at the largest block size that was tried;
/// `None` of other findings.
pub(super) fn rising(finding: &Finding, both: bool) -> Option<String> {
    let Detail::Inconclusive(Inconclusive::SizeLaw(problem)) = &finding.detail else { return None };
    let conditions = match both {
        true => Conditions { op: Some(Op::Read), ..finding.conditions.clone() },
        false => finding.conditions.clone(),
    };
    let buffered = if finding.name == FindingName::ProgramPlateau { "buffered " } else { "" };
    let writes = if both { " and writes" } else { "" };
    let what = format!("{buffered}{}{writes} at QD 1", workload(&conditions));
    size_law::still_rising(problem, &what)
}

/// A text without its capital and its full stop.
fn within(text: &str) -> String {
    lowered(text.strip_suffix('.').unwrap_or(text))
}

/// A finding without facts beside its value.
fn plain(finding: &Finding) -> String {
    match finding.name {
        FindingName::RotationPeriod => platter::rotation(finding),
        FindingName::SeekTimeAverage => platter::seek(finding),
        _ if finding.status == Status::Absent => format!("{}: none.", subject(finding)),
        _ => format!("{}: {}.", subject(finding), value(finding)),
    }
}

fn why_of_plain(finding: &Finding) -> Option<&'static str> {
    match finding.name {
        FindingName::BaseLatency => Some("Mean over all requests, system call included."),
        FindingName::CacheLatency => Some(cached::LATENCY),
        FindingName::RotationPeriod => Some(platter::ROTATION),
        FindingName::SeekTimeAverage => Some(platter::why_of_seek(finding)),
        _ => None,
    }
}

/// Limits from the first second on, together; `None` where none was found.
pub(super) fn constant_limits(findings: &[Finding]) -> Option<String> {
    Some(constant_limit::together(findings.iter().filter_map(RateLimit::of))).filter(|told| !told.is_empty())
}

/// Whether a limit from the first second on holds a direction: block sizes and queue depths then tell of the limit.
pub(super) fn is_limited(findings: &[Finding], op: iosonde_model::Op) -> bool {
    findings.iter().any(|finding| {
        finding.name == FindingName::ConstantLimit
            && finding.status == Status::Found
            && finding.conditions.op.is_none_or(|own| own == op)
    })
}

/// Writes that are made durable, as a row of a table: `4 KiB, fdatasync`. `None` for other findings.
pub(super) fn durable_writes(finding: &Finding) -> Option<String> {
    let size = units::size(finding.conditions.block_size_bytes?);
    let writes = match finding.detail {
        Detail::Durable(Durable::Flush { writes, .. }) => u64::from(writes),
        Detail::Durable(Durable::Log(sync)) | Detail::Commit(Commit { sync, .. }) => {
            u64::from(sync.flush_every().unwrap_or(1))
        }
        _ => 1,
    };
    Some(if writes == 1 { size } else { format!("1 flush per {writes} × {size}") })
}

/// Block size of a plateau for the table of results; `None` for other findings.
pub(super) fn plateau(finding: &Finding) -> Option<Figure> {
    match &finding.detail {
        Detail::Plateau(_) => Some(size_law::plateau(finding)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Unit;

    use super::*;

    /// Finding about 4 KiB random reads at QD 1, from value, lower and upper end.
    pub(super) fn reads(name: FindingName, unit: Unit, ends: [f64; 3], detail: Detail) -> Finding {
        Finding {
            name,
            experiment: "x".into(),
            conditions: Conditions {
                op: Some(Op::Read),
                random: Some(true),
                block_size_bytes: Some(4096),
                queue_depth: Some(1),
                ..Conditions::default()
            },
            status: Status::Found,
            value: Some(ends[0]),
            unit,
            low: Some(ends[1]),
            high: Some(ends[2]),
            at_least: false,
            confidence: 0.95,
            detail,
            notes: Vec::new(),
            trials: Vec::new(),
        }
    }

    #[test]
    fn a_value_without_facts_has_a_subject_and_an_interval() {
        let found = reads(FindingName::BaseLatency, Unit::Time, [84e3, 83e3, 85e3], Detail::Plain);
        assert_eq!(sentence(&found), "Latency at QD 1 of 4 KiB random reads: 84.0 µs (±1.2 %).");
    }
}
