//! Words of a run against a documented requirement.

use iosonde_infer::requirement::{self, measured_beside, point_of};
use iosonde_model::{
    CheckName, ClaimUnit, DeviceNote, Estimate, Medium, Point, RequiredBound, RequiredLimit, RequiredOf,
    Requirement, RequirementLine, RequirementUnsettled, RequirementVerdict, Run, Unit, units,
};

use super::{
    note::note,
    number::{alone, with_interval},
};

/// A requirement with the answer to it.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementTable {
    /// Name of the requirement.
    pub name: String,
    /// What it requires.
    pub summary: String,
    /// Where it is published.
    pub source: String,
    /// Date of that text.
    pub source_date: String,
    /// Why it is required.
    pub why: String,
    /// The answer to all limits together.
    pub verdict: RequirementVerdict,
    /// The answer in a sentence: the figure that decides, with its interval, and its limit.
    pub answer: String,
    /// State that the storage was in, where that may decide the answer.
    pub state: Option<String>,
    /// What would settle an inconclusive answer.
    pub remedy: Option<String>,
    /// A row for each limit.
    pub rows: Vec<RequirementRow>,
}

/// One limit with the answer to it.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementRow {
    /// `commit p99`.
    pub figure: String,
    /// `3.1 ms (2.8–3.5)`.
    pub measured: String,
    /// `less than 10 ms`.
    pub limit: String,
    /// The answer.
    pub verdict: RequirementVerdict,
    /// Workload, and what the figure is from; why it is inconclusive.
    pub basis: String,
}

/// The requirement that a run checked, held against it; `None` for other runs.
pub fn of_run(run: &Run) -> Option<RequirementTable> {
    let (requirement, lines) = requirement::checked(run)?;
    Some(table(run, &requirement, &lines))
}

/// Answers to the requirements whose workloads a run measured beside its own question, one sentence each.
pub fn beside(run: &Run) -> Vec<(RequirementVerdict, String)> {
    if requirement::checked(run).is_some() {
        return Vec::new();
    }
    let told = |(requirement, lines): (Requirement, Vec<RequirementLine>)| {
        let table = table(run, &requirement, &lines);
        (table.verdict, table.answer)
    };
    measured_beside(run).into_iter().map(told).collect()
}

/// `pass`, `fail` or `inconclusive`.
pub fn verdict(verdict: RequirementVerdict) -> &'static str {
    match verdict {
        RequirementVerdict::Pass => "pass",
        RequirementVerdict::Inconclusive => "inconclusive",
        RequirementVerdict::Fail => "fail",
    }
}

/// A requirement as a table.
pub fn table(run: &Run, requirement: &Requirement, lines: &[RequirementLine]) -> RequirementTable {
    let verdict = requirement::verdict(lines);
    let rows: Vec<RequirementRow> = lines.iter().map(|line| row(run, line)).collect();
    let deciding = lines.iter().position(|line| line.verdict == verdict).unwrap_or(0);
    // Which one it is, of several limits, or where the run has figures of many workloads.
    let named = lines.len() > 1 || requirement::checked(run).is_none();
    let of = lines.get(deciding).filter(|_| named).and_then(|line| point_of(run, &line.limit));
    let of = of.map_or_else(String::new, |point| format!(" of {}", point.spec.describe()));
    let answer = rows.get(deciding).map_or_else(String::new, |row| {
        // `Red Hat Satellite: 60 MB/s of reads`
        let who = requirement.summary.split_once(": ").map_or(requirement.name.as_str(), |(who, _)| who);
        format!("{} {}{of}; {who} needs {}", row.figure, row.measured, row.limit)
    });
    let unsettled = lines.get(deciding).and_then(|line| line.why.as_ref());
    RequirementTable {
        name: requirement.name.clone(),
        summary: requirement.summary.clone(),
        source: requirement.source.clone(),
        source_date: requirement.source_date.clone(),
        why: requirement.why.clone(),
        verdict,
        answer,
        state: state(run),
        remedy: unsettled.map(|why| remedy(run, why)),
        rows,
    }
}

/// The state that the storage was brought to. Of one that slows down with use, also that it was brought to none.
fn state(run: &Run) -> Option<String> {
    let device = &run.info.device;
    let of_state =
        |note: &&DeviceNote| matches!(note, DeviceNote::StateReached { .. } | DeviceNote::NotSteady { .. });
    if let Some(reached) = device.notes.iter().find(of_state) {
        return Some(note(reached));
    }
    let slows = [Medium::Flash, Medium::Virtual, Medium::Unknown].contains(&device.medium);
    let writes = run.points.iter().any(|point| point.spec.rw.writes());
    (slows && writes).then(|| {
        "as it was found; a drive that is full and long in use may be slower (`--state steady`, with a \
         `--size` near the drive's)"
            .to_owned()
    })
}

/// Name of a limit's figure: `commit p99`, `read IOPS`.
pub fn figure_name(limit: &RequiredLimit) -> String {
    let of = match limit.of {
        RequiredOf::Read => "read",
        RequiredOf::Write => "write",
        RequiredOf::Flush => "flush",
        RequiredOf::Commit => "commit",
    };
    match limit.bound {
        RequiredBound::Below(latency) => format!("{of} {}", latency.name()),
        RequiredBound::AtLeast { unit: ClaimUnit::Iops, .. } => format!("{of} IOPS"),
        RequiredBound::AtLeast { unit: ClaimUnit::BytesPerSecond, .. } => format!("{of} bandwidth"),
    }
}

/// A limit in words: `less than 10 ms`, `at least 500 IOPS`.
pub fn limit_words(bound: RequiredBound) -> String {
    match bound {
        RequiredBound::Below(latency) => format!("less than {}", units::time(latency.ns as f64)),
        RequiredBound::AtLeast { value, .. } => {
            format!("at least {}", alone(unit(bound), value))
        }
    }
}

fn unit(bound: RequiredBound) -> Unit {
    match bound {
        RequiredBound::Below(_) => Unit::Time,
        RequiredBound::AtLeast { unit: ClaimUnit::Iops, .. } => Unit::Iops,
        RequiredBound::AtLeast { unit: ClaimUnit::BytesPerSecond, .. } => Unit::Rate,
    }
}

fn row(run: &Run, line: &RequirementLine) -> RequirementRow {
    let counted = match line.limit.of {
        RequiredOf::Read => "reads",
        RequiredOf::Write => "writes",
        RequiredOf::Flush => "flushes",
        RequiredOf::Commit => "commits",
    };
    let workload = point_of(run, &line.limit)
        .map_or_else(|| "not measured".to_owned(), |point| workload(point, line, counted));
    let why = line.why.as_ref().and_then(unsettled);
    RequirementRow {
        figure: figure_name(&line.limit),
        measured: measured(line),
        limit: limit_words(line.limit.bound),
        verdict: line.verdict,
        basis: why.map_or(workload.clone(), |why| format!("{why}. {workload}")),
    }
}

fn workload(point: &Point, line: &RequirementLine, counted: &str) -> String {
    let buffered = if point.spec.direct { "" } else { ", buffered" };
    let valid = if line.trials as u32 == point.trials {
        format!("{} trials", point.trials)
    } else {
        format!("{} valid of {} trials", line.trials, point.trials)
    };
    format!("{}{buffered}; {} {counted} in {valid}", point.spec.describe(), units::count(line.count as f64))
}

/// The figure with every end of its interval that is known.
fn measured(line: &RequirementLine) -> String {
    let unit = unit(line.limit.bound);
    let Some(value) = line.measured else { return "unknown".to_owned() };
    match (line.low, line.high) {
        (Some(_), Some(_)) => with_interval(unit, &Estimate { value, low: line.low, high: line.high }),
        (Some(low), None) => format!("more than {}", alone(unit, low)),
        (None, Some(high)) => format!("less than {}", alone(unit, high)),
        (None, None) => format!("{} (no interval)", alone(unit, value)),
    }
}

/// Why a limit is inconclusive; `None` where the interval says it.
fn unsettled(why: &RequirementUnsettled) -> Option<String> {
    let failed = |check: &Option<iosonde_model::CheckName>| {
        check.map_or_else(String::new, |check| format!(" ({check})"))
    };
    match why {
        RequirementUnsettled::NotMeasured => Some("This workload was not measured".to_owned()),
        RequirementUnsettled::FewValid { trials, valid, needed, check } => {
            Some(format!("{valid} of {trials} trials are valid{}, {needed} are needed", failed(check)))
        }
        RequirementUnsettled::MostInvalid { trials, valid, check } => {
            Some(format!("Only {valid} of {trials} trials are valid{}", failed(check)))
        }
        RequirementUnsettled::InvalidRun { check } => Some(format!("The run is invalid ({check})")),
        RequirementUnsettled::Errors { errors } => Some(format!("{errors} requests failed")),
        RequirementUnsettled::Wide { .. } => None,
    }
}

/// What would settle an answer.
fn remedy(run: &Run, why: &RequirementUnsettled) -> String {
    // Not the command itself: a requirement of one's own has a path, which the run does not know.
    let longer = |time_s: f64| format!("the same with `--time {:.0}m`", (time_s / 60.0).ceil());
    match why {
        RequirementUnsettled::Wide { times: Some(times) } => longer(run.info.elapsed_s * times),
        RequirementUnsettled::Wide { times: None } => {
            "the figure is at the limit, and no reasonable time tells on which side".to_owned()
        }
        RequirementUnsettled::Errors { .. } => "look into the kernel's log for the errors".to_owned(),
        RequirementUnsettled::NotMeasured => format!("iosonde requirements {}", run.info.study),
        RequirementUnsettled::FewValid { check, .. } | RequirementUnsettled::MostInvalid { check, .. } => {
            match check {
                // More warm-up is made by itself, and takes time.
                Some(CheckName::NotSteady) | None => longer(run.info.elapsed_s * 2.0),
                Some(check) => format!("do what `iosonde explain {check}` says, and check again"),
            }
        }
        RequirementUnsettled::InvalidRun { check } => {
            format!("do what `iosonde explain {check}` says, and check again")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(low: Option<f64>, high: Option<f64>) -> RequirementLine {
        let text = "name = 'x'\nsummary = ''\nwhy = ''\nsource = 's'\nsource_date = '2026'\n[[limit]]\n\
                    of = 'commit'\nbelow = 'p99=10ms'\nrw = 'write'\nblock_size = '2300'\nsync = 'fdatasync:1'\n";
        let limit = Requirement::parse(text, "x").unwrap().limits.remove(0);
        RequirementLine {
            limit,
            measured: Some(3.1e6),
            low,
            high,
            count: 21_400,
            trials: 38,
            verdict: RequirementVerdict::Pass,
            why: None,
        }
    }

    #[test]
    fn a_figure_is_told_with_the_ends_that_are_known() {
        assert_eq!(measured(&line(Some(2.8e6), Some(3.5e6))), "3.1 ms (2.8–3.5)");
        assert_eq!(measured(&line(Some(2.8e6), None)), "more than 2.80 ms");
        assert_eq!(measured(&line(None, None)), "3.10 ms (no interval)");
        let limit = line(None, None).limit;
        assert_eq!(
            (figure_name(&limit), limit_words(limit.bound)),
            ("commit p99".into(), "less than 10.0 ms".into())
        );
    }
}
