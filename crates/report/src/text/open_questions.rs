//! Open questions: findings that are inconclusive, a line each, with the reason and the command that would answer.

use std::mem::discriminant;

use iosonde_model::{
    Detail, Finding, FindingName, Inconclusive, Op, Run, Status, Study,
    detail::{QueueDepthProblem, SizeLawProblem},
};
use iosonde_plan::experiment::{EXPERIMENTS, Experiment, Parameters};

use super::{
    case::lowered,
    check::brief::brief,
    finding as finding_words,
    storage_line::{StorageLine, line},
};
use crate::text::command::command;
use iosonde_infer::enough_depth::enough_depth;
use iosonde_infer::enough_size::{enough_size, larger_than};
use iosonde_infer::finding;
use iosonde_infer::finding::FINDINGS;
use iosonde_infer::finding::FindingKind;
use iosonde_infer::finding::ReadWhen;
use iosonde_infer::validity::most_invalid_by;

/// Label of an open question.
const LABEL: &str = "unknown";
/// Maximum number of lines: a screen full of unknowns is not read.
const LINES_MAX: usize = 3;
/// Number of queue depths from which on an experiment is about them.
const DEPTHS_MIN: usize = 4;

/// One for each label and direction that no figure has, in the order of the registry. A direction whose reason is that
/// of the line above shares it.
pub(super) fn lines(run: &Run, figures: &[StorageLine]) -> Vec<StorageLine> {
    let mut open: Vec<(&dyn FindingKind, Vec<&Finding>)> = Vec::new();
    let mut told: Vec<(&str, Option<Op>)> = Vec::new();
    let told_elsewhere = [ReadWhen::Alone, ReadWhen::Found, ReadWhen::Each];
    for kind in FINDINGS.iter().filter(|kind| !told_elsewhere.contains(&kind.screen_line().when)) {
        let label = kind.screen_line().label;
        if figures.iter().any(|line| line.label == label) {
            continue;
        }
        for first in run.findings.iter().filter(|finding| finding.name == kind.id()) {
            let op = first.conditions.op;
            // Findings of one label answer one question.
            let answers = |other: &Finding| {
                finding::kind(other.name).screen_line().label == label
                    && other.conditions.op == op
                    && other.status != Status::Inconclusive
            };
            if told.contains(&(label, op)) || run.findings.iter().any(answers) {
                continue;
            }
            told.push((label, op));
            if is_told_elsewhere(run, first) {
                continue;
            }
            match open.last_mut().filter(|(_, above)| is_likewise(above[0], first)) {
                Some((_, above)) => above.push(first),
                None => open.push((kind, vec![first])),
            }
        }
    }
    let line = |(kind, own): (&dyn FindingKind, Vec<&Finding>)| {
        // "Above the largest that was tried" is an answer.
        let line = match finding_words::rising(&together(&own), own.len() > 1) {
            Some(rises) => line("block size", rises),
            None => line(LABEL, refusal(run, kind, &own)),
        };
        StorageLine { inconclusive: Some(own[0].name), ..line }
    };
    open.into_iter().take(LINES_MAX).map(line).collect()
}

/// Whether another line has an answer, or nobody asked.
fn is_told_elsewhere(run: &Run, finding: &Finding) -> bool {
    let op = finding.conditions.op;
    match finding.name {
        // Below a limit, block sizes tell of the limit; and advice may say from which size on the answer lies.
        FindingName::PlateauBlockSize => op.is_some_and(|op| {
            finding_words::is_limited(&run.findings, op)
                || enough_size(run, op).is_some()
                || larger_than(run, op).is_some()
        }),
        // A study of many experiments that measures few sizes does not ask for it.
        FindingName::ProgramPlateau => {
            has_few_sizes(finding) && run.points.iter().any(|point| point.experiment != finding.experiment)
        }
        // The table has a depth that was measured.
        FindingName::DepthFor95Percent | FindingName::QueueDepthKnee => {
            op.is_some_and(|op| enough_depth(run, op, &finding.conditions).is_some())
        }
        _ => false,
    }
}

/// Whether fewer block sizes were measured than an answer needs.
fn has_few_sizes(finding: &Finding) -> bool {
    matches!(finding.detail, Detail::Inconclusive(Inconclusive::SizeLaw(SizeLawProblem::TooFewSizes { .. })))
}

/// Whether two directions of one question are open for one reason, whatever its figures.
fn is_likewise(first: &Finding, other: &Finding) -> bool {
    let of_two_directions = first.conditions.op.is_some() && other.conditions.op.is_some();
    let (Detail::Inconclusive(one), Detail::Inconclusive(two)) = (&first.detail, &other.detail) else {
        return false;
    };
    let reason = match (one, two) {
        (Inconclusive::SizeLaw(one), Inconclusive::SizeLaw(two)) => discriminant(one) == discriminant(two),
        (Inconclusive::QueueDepth(one), Inconclusive::QueueDepth(two)) => {
            discriminant(one) == discriminant(two)
        }
        (Inconclusive::TooFewTrials { .. }, Inconclusive::TooFewTrials { .. })
        | (Inconclusive::WideInterval { .. }, Inconclusive::WideInterval { .. }) => true,
        _ => one == two,
    };
    // One workload without valid trials opens all that needs it.
    let one_workload = matches!(one, Inconclusive::TooFewTrials { .. }) && one == two;
    // Several quantities that one experiment would give.
    let of_one_answer = finding::kind(first.name).answers() == finding::kind(other.name).answers();
    let one_reason = one == two && first.conditions == other.conditions && of_two_directions && of_one_answer;
    first.name == other.name && of_two_directions && reason || one_workload || one_reason
}

/// Whether findings with this reason are told together, whatever their figures.
fn is_told_together(finding: &Finding) -> bool {
    matches!(
        finding.detail,
        Detail::Inconclusive(
            Inconclusive::WideInterval { .. } | Inconclusive::SizeLaw(SizeLawProblem::StillRising { .. })
        )
    )
}

/// The first of several findings, with an interval that holds for all of them.
fn together(own: &[&Finding]) -> Finding {
    let mut first = own[0].clone();
    for other in &own[1..] {
        if let (
            Detail::Inconclusive(Inconclusive::WideInterval { low, high, .. }),
            Detail::Inconclusive(Inconclusive::WideInterval { low: other_low, high: other_high, .. }),
        ) = (&mut first.detail, &other.detail)
        {
            (*low, *high) = (low.min(*other_low), high.max(*other_high));
        }
        // One figure does not hold for both.
        if let Detail::Inconclusive(Inconclusive::SizeLaw(SizeLawProblem::StillRising {
            needed_bytes, ..
        })) = &mut first.detail
        {
            *needed_bytes = None;
        }
    }
    first
}

fn refusal(run: &Run, kind: &dyn FindingKind, own: &[&Finding]) -> String {
    let first = &together(own);
    // One workload may leave other questions open too.
    let (asked, also): (Vec<&Finding>, Vec<&Finding>) =
        own.iter().partition(|finding| finding.name == first.name);
    let (same, others): (Vec<&Finding>, Vec<&Finding>) =
        asked.into_iter().partition(|finding| is_told_together(finding) || finding.detail == first.detail);
    // Several quantities of one workload have its name once.
    let of_one_workload = also.iter().all(|finding| finding.conditions == first.conditions);
    let subject = match same.len() {
        1 if of_one_workload && !also.is_empty() => {
            finding_words::subject::subject_of_several(first, also.iter().map(|finding| finding.name))
        }
        1 => finding_words::subject::subject(first),
        _ => finding_words::subject::subject_of_both(first),
    };
    let clause = match crate::text::problem(first) {
        // The label says that it is unknown.
        Some(why) => format!("{}: {why}", lowered(&subject)),
        None => crate::text::clause(first),
    };
    let clause = match &first.detail {
        Detail::Inconclusive(Inconclusive::TooFewTrials { spec, .. }) => {
            most_invalid_by(run, spec).map_or(clause.clone(), |line| format!("{clause}: {}", brief(line)))
        }
        _ => clause,
    };
    // The report has the figures of the other direction.
    let others = others.iter().filter_map(|finding| finding.conditions.op);
    let clause = others.fold(clause, |clause, op| format!("{clause}; {op}s likewise"));
    let also = also
        .into_iter()
        .filter(|_| !of_one_workload)
        .map(|finding| lowered(&finding_words::subject::subject(finding)));
    let clause = also.fold(clause, |clause, subject| format!("{clause}; {subject} likewise"));
    // More of the same would not reach the device either, and invalid trials are no lack of workloads.
    let better = match &first.detail {
        Detail::Inconclusive(Inconclusive::ExcludedDepths { .. }) => None,
        // Storage that follows no curve follows none at deeper queues.
        Detail::Inconclusive(Inconclusive::QueueDepth(QueueDepthProblem::NoCurve(_))) => None,
        // Enough were run: what made them invalid is to be mended.
        Detail::Inconclusive(Inconclusive::TooFewTrials { run, needed, .. }) if run >= needed => None,
        Detail::Inconclusive(Inconclusive::TooFewTrials { .. } | Inconclusive::NoInterval { .. }) => {
            Some("use a longer `--time`".to_owned())
        }
        // The reason has its remedy.
        Detail::Inconclusive(Inconclusive::WideInterval { .. }) => None,
        _ => better(run, kind),
    };
    match better {
        Some(better) => format!("{clause}; {better}"),
        None => clause,
    }
}

/// The experiment that is made for a finding, where this run was about other things as well.
fn better(run: &Run, kind: &dyn FindingKind) -> Option<String> {
    let asks = |experiment: &&'static dyn Experiment| kind.answers().contains(&experiment.id());
    let experiment = EXPERIMENTS.iter().find(asks)?;
    let study = Study::parse(&run.info.study_source, &run.info.study).ok()?;
    if study.experiments.iter().all(|own| own.kind == experiment.id().as_str()) {
        return None;
    }
    let command = command(experiment.id().as_str(), &run.info.target)?;
    Some(match deeper(run, experiment) {
        Some(depth) => format!("try {command}, which goes to QD {depth}"),
        None => format!("try {command}"),
    })
}

/// The deepest queue that an experiment measures by itself, where that is more than this run did.
fn deeper(run: &Run, experiment: &dyn Experiment) -> Option<u64> {
    let parameters =
        Parameters::check(experiment.id().as_str(), &toml::Table::new(), experiment.parameters()).ok()?;
    let specs = experiment.grid(&parameters, &run.info.device).ok()?;
    let mut depths: Vec<u64> = specs.iter().map(|spec| spec.asked_in_flight()).collect();
    depths.sort_unstable();
    depths.dedup();
    let most = *depths.last().filter(|_| depths.len() >= DEPTHS_MIN)?;
    let here = run.points.iter().filter(|point| point.spec.rate_iops.is_none());
    here.map(|point| point.spec.asked_in_flight()).max().filter(|&here| here < most).map(|_| most)
}
