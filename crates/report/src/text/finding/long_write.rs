//! Words of `burst_rate`, `sustained_rate`, `write_buffer_bytes` and `buffer_drain_rate`.

use crate::text::{case::capitalised, workload::workload};
use iosonde_model::{
    Finding, FindingName, Status,
    detail::{Drain, LongWrite, LongWriteProblem, Pause},
    units,
};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: LongWrite) -> String {
    let (what, figure) = (workload(&finding.conditions), value(finding));
    let text = match facts {
        LongWrite::Falls { buffers, .. } => falls(finding, buffers, &what, &figure),
        LongWrite::Level { .. } if finding.status == Status::Absent => {
            format!("{what} show no write buffer that fills within a trial.")
        }
        LongWrite::Level { written_bytes } => {
            format!("{what} sustain {figure}; no write buffer was full after {}.", units::size(written_bytes))
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
        LongWriteProblem::SteppedLate { before, after, trials } => format!(
            "the lasting throughput changed from {} to {} between trials, and only {trials} came after that; use a \
             longer `--time`",
            units::rate(before),
            units::rate(after)
        ),
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

#[cfg(test)]
mod tests {
    use iosonde_model::{Conditions, Detail, Op, Unit};

    use super::*;
    use crate::text::finding::{example, why_of};

    fn falls(name: FindingName, buffers: usize, stage: Option<u32>, figure: (f64, Unit)) -> String {
        let pause = Some(Pause { gap_s: 2.0, drain: Drain::WhileFilled });
        let detail = Detail::LongWrite(LongWrite::Falls { trials: 8, buffers, pause });
        let finding = example::found(name, Op::Write, figure, detail);
        let conditions = Conditions { stage, ..finding.conditions.clone() };
        crate::text::sentence(&Finding { conditions, ..finding })
    }

    #[test]
    fn each_fall_has_its_buffer() {
        let rate = (1e8, Unit::Rate);
        assert_eq!(
            falls(FindingName::BurstRate, 1, None, rate),
            "4 KiB random writes start at 100 MB/s (±2 %), until a write buffer is full."
        );
        assert_eq!(
            falls(FindingName::SustainedRate, 2, None, rate),
            "4 KiB random writes continue at 100 MB/s (±2 %) once both write buffers are full."
        );
        assert_eq!(
            falls(FindingName::WriteBufferBytes, 2, Some(2), (67_108_864.0, Unit::Bytes)),
            "A second write buffer takes 64 MiB (63–65) before 4 KiB random writes become slower again."
        );
    }

    #[test]
    fn what_drained_is_said_with_the_pause() {
        let pause = Pause { gap_s: 2.0, drain: Drain::OnlyIdle };
        let drains = Detail::LongWrite(LongWrite::Drains(pause));
        let finding = example::found(FindingName::BufferDrainRate, Op::Write, (2e7, Unit::Rate), drains);
        let said = crate::text::sentence(&finding);
        assert!(said.starts_with("The write buffer of 4 KiB random writes drains at 20"), "{said}");
        assert_eq!(
            why_of(&finding).as_deref(),
            Some("This is less than the sustained throughput: it drains only when idle.")
        );
    }
}
