//! Words of `burst_rate`, `sustained_rate`, `write_buffer_bytes` and `buffer_drain_rate`.

use iosonde_infer::{finding::group::workload, words::capitalised};
use iosonde_model::{
    Finding, FindingName, Status,
    detail::{Drain, LongWrite, LongWriteProblem, Pause},
    units,
};

use super::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: LongWrite) -> String {
    let (what, figure) = (workload(&finding.conditions), value(finding));
    let text = match facts {
        LongWrite::Falls { buffers, .. } => falls(finding, buffers, &what, &figure),
        LongWrite::Level { .. } if finding.status == Status::Absent => {
            format!("{what} show no write buffer that fills within a trial.")
        }
        LongWrite::Level { written_bytes } => {
            format!("{what} sustain {figure} over {}; no write buffer fills up.", units::size(written_bytes))
        }
        LongWrite::Drains(Pause { gap_s, .. }) => {
            let gap = units::duration(gap_s);
            format!("the write buffer of {what} drains at {figure} within a pause of {gap}.")
        }
    };
    capitalised(&text)
}

fn falls(finding: &Finding, buffers: usize, what: &str, figure: &str) -> String {
    match (finding.name, finding.conditions.stage) {
        (FindingName::BurstRate, Some(2)) => {
            format!("{what} continue at {figure} behind a first write buffer, until a second is full.")
        }
        (FindingName::BurstRate, stage) => {
            format!("{what} start at {figure}, until a {}write buffer is full.", first(stage))
        }
        (FindingName::SustainedRate, _) => {
            let full = if buffers == 1 { "the write buffer is" } else { "both write buffers are" };
            format!("{what} continue at {figure} once {full} full.")
        }
        (_, Some(2)) => {
            format!("a second write buffer takes {figure} before {what} become slower again.")
        }
        (_, stage) => format!("a {}write buffer takes {figure} before {what} become slower.", first(stage)),
    }
}

fn first(stage: Option<u32>) -> &'static str {
    if stage.is_some() { "first " } else { "" }
}

/// Assumptions, or why there is no buffer.
pub(super) fn why(facts: LongWrite) -> String {
    match facts {
        LongWrite::Falls { trials, buffers, pause } => {
            let twice = if buffers == 1 { "" } else { " twice" };
            let pause = pause.map_or_else(String::new, |pause| format!(" {}", content(pause)));
            format!("Throughput falls{twice} within {trials} trials; geometric mean over them.{pause}")
        }
        LongWrite::Level { written_bytes } => format!(
            "No trial begins 20 % faster than it ends; each wrote up to {}.",
            units::size(written_bytes)
        ),
        LongWrite::Drains(pause) => match pause.drain {
            Drain::OnlyIdle => "This is less than the sustained throughput: it drains only when idle.",
            Drain::WhileFilled => "This is the sustained throughput: it drains while it is filled.",
            _ => "Whether it drains while it is filled is unknown.",
        }
        .to_owned(),
    }
}

/// What a pause tells of a buffer's content.
fn content(Pause { gap_s, drain }: Pause) -> String {
    let gap = units::duration(gap_s);
    match drain {
        Drain::WhileFilled => {
            format!("It drains while it is filled (seen after {gap}); what drained meanwhile is not counted.")
        }
        Drain::OnlyIdle => {
            format!("It drains only when idle (seen after {gap}); all writes until the fall are counted.")
        }
        Drain::Nothing => format!("Nothing had drained after {gap}; all writes until the fall are counted."),
        Drain::Everything => format!("It was empty again after {gap}."),
        Drain::Unknown => format!(
            "Whether it drains while it is filled is unknown after {gap}; what may have drained is not counted."
        ),
    }
}

/// A clause without its full stop.
pub(super) fn problem(problem: LongWriteProblem) -> String {
    match problem {
        LongWriteProblem::FewWindows { windows } => {
            format!("a trial has only {windows} windows with writes; use a longer `trial`")
        }
        LongWriteProblem::PerhapsNotEmpty { taken_bytes } => format!(
            "the buffer took {}, about what drains in a pause, so it was perhaps not empty; use a longer `trial`",
            units::size(taken_bytes as u64)
        ),
        LongWriteProblem::FirstTookMore => {
            "the buffer took much more in the first trial than later; use a longer `trial` or `rest = 0.2`"
                .to_owned()
        }
        LongWriteProblem::SomeFall { falls, trials } => {
            format!("throughput falls in {falls} of {trials} trials")
        }
        LongWriteProblem::FullTooSoon => {
            "the buffer is full within the first windows of a trial, too soon to see the burst".to_owned()
        }
        LongWriteProblem::NoBuffer => "no write buffer fills within a trial".to_owned(),
        LongWriteProblem::AllDrained { gap_s } => {
            format!("the buffer is empty again after {}; use a shorter `gap`", units::duration(gap_s))
        }
        LongWriteProblem::NothingDrained { gap_s } => {
            format!("nothing has drained after {}; use a longer `gap`", units::duration(gap_s))
        }
        LongWriteProblem::FewAfterPause => "too few writes after the shorter pause are valid".to_owned(),
    }
}
