//! Words of the answer whether a run is valid: the first lines of every report.

use iosonde_infer::validity::{
    self, ByteSource, Circumstance, Fact, Fatal, InvalidBy, NotStorage, Validity, WarningScope,
};
use iosonde_model::{Cause, CheckName, Judgement, Op, Run, TrialSpec, cause::CacheServed, typed, units};

use crate::text::{absence, case::lowered, check::brief::brief, marks, vantage};

pub use iosonde_infer::validity::Weight;

/// One reason, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidityLine {
    /// Weight for the answer.
    pub mark: Weight,
    /// One sentence, without a full stop.
    pub text: String,
    /// As `text`, for a screen without room for examples.
    pub brief: String,
    /// Mark of the figures that it qualifies: `¹`.
    pub footnote: Option<char>,
}

/// Whether a run is valid, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidityText {
    /// The answer.
    pub mark: Weight,
    /// The first line: `yes, with 1 warning`, `no: data came from memory, not from storage (..)`.
    pub headline: String,
    /// The reasons, those of the most weight first.
    pub lines: Vec<ValidityLine>,
}

/// Symbol of a weight: `✓`, `·`, `!` or `✗`.
pub fn symbol(weight: Weight) -> char {
    match weight {
        Weight::Yes => '✓',
        Weight::Note => '·',
        Weight::Doubt => '!',
        Weight::No => '✗',
    }
}

/// Whether a concluded run is valid, in words.
pub fn validity(run: &Run) -> ValidityText {
    let facts = validity::validity(run);
    let checks_of_invalid = invalid_by(&facts);
    let counted = facts.fatal.is_none() && facts.invalid_points.is_none();
    let line = |(line, footnote): (&validity::WeighedFact, Option<char>)| {
        let text = match (&line.fact, line.mark) {
            // The first line has the counts of a run that is partly valid.
            (Fact::Trials { invalid, reasons, .. }, Weight::Doubt) if counted => {
                let plural = if *invalid == 1 { "" } else { "s" };
                format!("{invalid} trial{plural} invalid{}", invalid_words(reasons, false))
            }
            (fact, _) => words(fact),
        };
        let brief = match (&line.fact, line.mark) {
            (Fact::Trials { trials, invalid, outliers, reasons }, Weight::Yes) if *invalid < *trials => {
                counts(*trials, *invalid, *outliers, &briefly(reasons))
            }
            (Fact::Trials { trials, invalid, outliers, reasons }, Weight::Doubt) if reasons.len() > 1 => {
                let each =
                    reasons.iter().map(|one| format!("{} because {}", one.trials, brief(&one.example)));
                let unused_trials = invalid + outliers;
                let outliers = Some(unused(0, *outliers)).filter(|words| !words.is_empty());
                let each: Vec<String> = each.chain(outliers).collect();
                format!("{unused_trials} of {trials} trials are not used: {}", each.join(", "))
            }
            (Fact::Warnings { points, example, is_worst, workload, .. }, _) if *points > 1 => {
                let which = if *is_worst { "in the worst" } else { "for example" };
                let all = run.points.len();
                let spec =
                    workload.as_ref().map_or_else(String::new, |spec| format!("{}: ", spec.describe()));
                let what = affected(example);
                let what = match checks_of_invalid.contains(&example.check) {
                    true => format!("{what} in trials that are used, too,"),
                    false => what.to_owned(),
                };
                format!(
                    "{what} in {points} of {all} workloads; {which}, {spec}{}",
                    lowered(&super::check::why_at_point(example))
                )
            }
            _ => text.clone(),
        };
        let marking = footnote.map_or_else(String::new, |mark| format!(" (figures marked {mark})"));
        ValidityLine { mark: line.mark, text: text + &marking, brief: brief + &marking, footnote }
    };
    let footnotes = marks::marks(&facts, run);
    ValidityText {
        mark: facts.mark,
        headline: answer(&facts),
        lines: facts.lines.iter().zip(footnotes).map(line).collect(),
    }
}

/// Checks that make some of the trials invalid.
fn invalid_by(facts: &Validity) -> Vec<CheckName> {
    let reasons = facts.lines.iter().filter_map(|line| match &line.fact {
        Fact::Trials { reasons, .. } => Some(reasons),
        _ => None,
    });
    reasons.flatten().map(|reason| reason.check).collect()
}

/// What several workloads have.
fn affected(example: &Judgement) -> &'static str {
    match example.check {
        CheckName::Interference => "interference",
        CheckName::Multimodal => "several latency groups",
        CheckName::DepthNotReached | CheckName::LittlesLaw => "a lower queue depth than requested",
        _ => brief(example),
    }
}

/// The warning of a run that matters beside another run, in a few words: that its rate drifted.
pub fn drift_warning(run: &Run) -> Option<&'static str> {
    let facts = validity::validity(run);
    let is_drift = |line: &validity::WeighedFact| match &line.fact {
        Fact::Warnings { example, .. } => example.check == CheckName::Drift,
        _ => false,
    };
    let drifted = facts.lines.iter().filter(|line| line.mark == Weight::Doubt).any(is_drift);
    (drifted && facts.fatal.is_none()).then_some("the rate drifted during the run")
}

fn answer(facts: &Validity) -> String {
    if let Some(fatal) = &facts.fatal {
        return format!("no: {}", fatal_words(fatal));
    }
    let warned = match facts.warnings() {
        0 => "no warning".to_owned(),
        1 => "1 warning".to_owned(),
        count => format!("{count} warnings"),
    };
    let yes = match facts.warnings() {
        0 => "yes".to_owned(),
        _ => format!("yes, with {warned}"),
    };
    let invalid_trials = facts.lines.iter().find_map(|line| match line.fact {
        Fact::Trials { trials, invalid, outliers, .. } if line.mark == Weight::Doubt => {
            Some((invalid, outliers, trials))
        }
        _ => None,
    });
    match (facts.invalid_points, invalid_trials) {
        (None, Some((invalid, outliers, trials))) => {
            let used = trials.saturating_sub(invalid + outliers);
            format!("partly: {used} of {trials} trials used ({}); {warned}", unused(invalid, outliers))
        }
        (Some(part), _) => format!(
            "partly: {} of {} workloads did not measure the storage; {warned}",
            part.invalid, part.points
        ),
        (None, None) => yes,
    }
}

fn fatal_words(fatal: &Fatal) -> String {
    match fatal {
        Fatal::NothingMeasured => "nothing was measured".to_owned(),
        Fatal::NotStorage(facts) => not_storage(facts),
        Fatal::GeneratorLimit(example) => {
            format!("the load generator was the limit, not the storage ({})", why(example))
        }
        Fatal::MostInvalid { invalid, trials, depth_only, example } => {
            let what = match (invalid, trials) {
                (1, 1) => "the trial is invalid".to_owned(),
                (invalid, trials) if invalid == trials => format!("all {trials} trials are invalid"),
                (invalid, trials) => format!("{invalid} of {trials} trials are invalid"),
            };
            match depth_only {
                true => format!("{what} for queue depth ({}); throughput may be valid", why(example)),
                false => format!("{what} ({})", why(example)),
            }
        }
        Fatal::NoInterval { rounds } => {
            format!("no figure has a confidence interval after {rounds} rounds; use a longer `--time`")
        }
        Fatal::TooFewRounds { rounds, needed } => {
            format!("only {rounds} of at least {needed} rounds were completed")
        }
    }
}

fn not_storage(facts: &NotStorage) -> String {
    let example = match &facts.example.cause {
        Some(Cause::CacheServed(cause)) if facts.trials > 1 => super::check::cache_served::shortfall(cause)
            .map_or_else(
                || why(&facts.example),
                |moved| format!("{} of {} trials; for example, {moved}", facts.trials, facts.measured),
            ),
        _ => why(&facts.example),
    };
    let holes = facts.holes.as_ref().map(super::note);
    let moved = units::percent(facts.moved_share);
    match facts.source {
        ByteSource::Engine => format!("no storage was used ({example})"),
        ByteSource::Nothing => format!("nothing was read from storage ({})", holes.unwrap_or(example)),
        ByteSource::Holes => {
            let unread = units::percent((1.0 - facts.moved_share).max(0.0));
            format!("{unread} of the data read was never on storage ({})", holes.unwrap_or(example))
        }
        ByteSource::CacheBelow => {
            format!("data came from memory and from storage ({example})")
        }
        ByteSource::Memory if is_of_writes(&facts.example) => {
            format!("data stayed in memory, and did not reach the storage ({example})")
        }
        ByteSource::Memory => format!("data came from memory, not from storage ({example})"),
        ByteSource::MemoryAndStorage => {
            format!("part of the data came from memory; the storage moved {moved} of the bytes ({example})")
        }
    }
}

/// Whether the bytes that the storage did not move were written.
fn is_of_writes(example: &Judgement) -> bool {
    matches!(example.cause, Some(Cause::CacheServed(CacheServed::Shortfall { op: Op::Write, .. })))
}

/// Why a verdict is what it is, in the middle of a sentence.
fn why(judgement: &Judgement) -> String {
    lowered(&super::why(judgement))
}

fn words(fact: &Fact) -> String {
    match fact {
        Fact::Trials { trials, invalid, outliers, reasons } => {
            counts(*trials, *invalid, *outliers, &invalid_words(reasons, invalid == trials))
        }
        Fact::CachedOnPurpose { cached, points } => format!(
            "{cached} of {points} workloads use the page cache, as the study asks: what programs get, not the storage"
        ),
        Fact::LimitFound => {
            "a rate limit was looked for and found; throughput here is the limit's, not the storage's"
                .to_owned()
        }
        Fact::Warnings { scope, count, about_invalid, single_trial, points, workload, example, .. } => {
            let why = lowered(&super::check::why_at_point(example));
            let workload = workload.as_ref().map(|spec| spec.describe());
            // Of one trial there is no other that it could be told from.
            match (scope, workload) {
                (WarningScope::Trial | WarningScope::Point, Some(workload))
                    if !(*single_trial && *count == 1) =>
                {
                    let counts = Counts { count: *count, about_invalid: *about_invalid, points: *points };
                    format!("{}: {why}", warned(*scope, counts, &workload))
                }
                _ => why,
            }
        }
        Fact::NoWitness(example) => why(example),
        Fact::WitnessLost { trials_without, trials, from_trial, reported } => {
            let reported = reported.as_ref().map_or_else(|| "no reason was given".to_owned(), absence);
            format!(
                "{trials_without} of {trials} trials have no device counters, from trial {from_trial} on \
                 ({reported}); cached data cannot be ruled out there"
            )
        }
        Fact::Interrupted => "the run was interrupted; `iosonde resume` continues it".to_owned(),
        Fact::Failed => "the run ended with an error before it was complete".to_owned(),
        Fact::Imprecise { time_up, points, wide, changed, missing, worst, worst_half, asked, needed_s } => {
            let more = time_up.then(|| more_time(*needed_s));
            imprecise(more, [*points, *wide, *changed, *missing], (worst, *worst_half), *asked)
        }
        Fact::UnseenCache { of_host, .. } => format!("{}; try a larger `--size`", vantage::taken(*of_host)),
        Fact::Circumstance(facts) => circumstance(facts),
        Fact::Slow(cause) => super::slow::slow(cause),
    }
}

/// Counts of trials, with the reason why some are invalid.
fn counts(trials: usize, invalid: usize, outliers: usize, why: &str) -> String {
    match (trials, invalid) {
        (0, _) => "no trial was measured".to_owned(),
        (1, 0) => "the trial is valid".to_owned(),
        (1, _) => format!("the trial is invalid{why}"),
        (all, 0) if outliers == 0 => format!("all {all} trials valid"),
        (all, invalid) if all == invalid => format!("all {all} trials invalid{why}"),
        (all, invalid) => {
            let used = all.saturating_sub(invalid + outliers);
            let outliers = unused(0, outliers);
            let outliers = if outliers.is_empty() { outliers } else { format!(", {outliers}") };
            let invalid = if invalid == 0 { String::new() } else { format!("; {invalid} invalid{why}") };
            format!("{used} of {all} trials used{outliers}{invalid}")
        }
    }
}

/// `7 invalid, 18 outliers`.
fn unused(invalid: usize, outliers: usize) -> String {
    let outliers = match outliers {
        0 => None,
        1 => Some("1 outlier excluded".to_owned()),
        count => Some(format!("{count} outliers excluded")),
    };
    let invalid = (invalid > 0).then(|| format!("{invalid} invalid"));
    invalid.into_iter().chain(outliers).collect::<Vec<_>>().join(", ")
}

/// Where trials are invalid and why, in a few words: ` in 3 workloads (the rate was not steady)`.
fn briefly(reasons: &[InvalidBy]) -> String {
    let tell = |one: &InvalidBy| match (one.workloads, &one.workload) {
        (1, Some(spec)) => format!("{}: {}", spec.describe(), brief(&one.example)),
        (0 | 1, _) => brief(&one.example).to_owned(),
        (several, _) => format!("{}, {several} workloads", brief(&one.example)),
    };
    match reasons {
        [] => String::new(),
        [only] if only.replaced => ": not steady at first, repeated with a longer warm-up".to_owned(),
        [only] if only.workloads > 1 => {
            format!(" in {} workloads ({})", only.workloads, brief(&only.example))
        }
        _ => format!(" ({})", reasons.iter().map(tell).collect::<Vec<_>>().join("; ")),
    }
}

/// Why trials are invalid, behind the word `invalid`; of all trials, no count of workloads is needed.
fn invalid_words(reasons: &[InvalidBy], all: bool) -> String {
    let depth = |one: &InvalidBy| match one.depth_only {
        true => " for queue depth, throughput may be valid",
        false => "",
    };
    match reasons {
        [] => String::new(),
        [only] => {
            let spec = only.workload.as_ref().map(|spec| spec.describe());
            let example = match (only.trials, only.workloads, spec) {
                (1, _, Some(spec)) => format!(": {spec}: "),
                (1, _, None) => ": ".to_owned(),
                (_, 0 | 1, Some(spec)) => format!(", all of {spec}; for example, "),
                (_, _, Some(spec)) if all => format!("; for example, {spec}: "),
                (_, several, Some(spec)) => format!(" in {several} workloads; for example, {spec}: "),
                (_, _, None) => "; for example, ".to_owned(),
            };
            format!("{}{example}{}", depth(only), why(&only.example))
        }
        several => {
            let each = several
                .iter()
                .map(|one| format!("{}{} because {}", one.trials, depth(one), why(&one.example)));
            format!(": {}", each.collect::<Vec<_>>().join("; "))
        }
    }
}

/// How many verdicts warn, and of how many workloads.
struct Counts {
    count: usize,
    about_invalid: usize,
    points: usize,
}

/// What warnings are about: `4 KiB random reads, QD 128 (8 trials)`, `5 workloads, such as 1 MiB reads, QD 8`.
fn warned(scope: WarningScope, counts: Counts, workload: &str) -> String {
    let Counts { count, about_invalid, points } = counts;
    let plural = if count == 1 { "" } else { "s" };
    let of_which = match about_invalid {
        0 => String::new(),
        _ if about_invalid == count => ", also invalid".to_owned(),
        _ => format!(", {about_invalid} of them also invalid"),
    };
    match (scope, points) {
        (WarningScope::Point, 0 | 1) => workload.to_owned(),
        (WarningScope::Point, points) => format!("{points} workloads, such as {workload}"),
        (_, 0 | 1) => format!("{workload} ({count} trial{plural}{of_which})"),
        (_, points) => format!("{points} workloads ({count} trials{of_which}), such as {workload}"),
    }
}

/// Longest time that is worth asking for.
const LONGEST_S: f64 = 24.0 * 3600.0;

/// The time that would narrow the intervals, as an option.
fn more_time(needed_s: Option<f64>) -> String {
    match needed_s {
        Some(needed_s) if needed_s <= LONGEST_S => {
            format!("about `--time {}` for the whole run", typed::time(rounded(needed_s)))
        }
        Some(_) => "more than a day of `--time`".to_owned(),
        None => "more `--time`".to_owned(),
    }
}

/// A time with one or two digits, rounded up: the estimate knows no more.
fn rounded(seconds: f64) -> f64 {
    let step = match seconds {
        ..180.0 => 30.0,
        ..1200.0 => 60.0,
        ..7200.0 => 300.0,
        _ => 3600.0,
    };
    (seconds / step).ceil() * step
}

/// What intervals lack, and what would narrow them: `more` time where the time was up.
fn imprecise(
    more: Option<String>,
    [points, wide, changed, missing]: [usize; 4],
    (worst, worst_half): (&TrialSpec, Option<f64>),
    asked: f64,
) -> String {
    if missing == points {
        let remedy = more.map_or_else(String::new, |more| format!("; use {more}"));
        return format!("none of {points} workloads has a confidence interval{remedy}");
    }
    let without = match missing {
        0 => String::new(),
        1 => " (1 has no interval)".to_owned(),
        count => format!(" ({count} have no interval)"),
    };
    // Of all workloads none stands out.
    let half = worst_half.map_or_else(String::new, |half| format!(", ±{}", units::percent(half)));
    let worst = match wide {
        wide if wide == points => String::new(),
        1 => format!(" ({}{half})", worst.describe()),
        _ => format!(" (the worst workload: {}{half})", worst.describe()),
    };
    let asked = units::percent(asked);
    let told = match wide {
        1 => format!("throughput of 1 of {points} workloads is less precise than ±{asked}{without}{worst}"),
        _ => format!(
            "throughput of {wide} of {points} workloads is less precise than ±{asked}{without}{worst}"
        ),
    };
    match (changed, wide - changed, more) {
        (0, _, Some(more)) => format!("{told}; run again with {more}"),
        (0, _, None) => told,
        (_, 0, _) => format!("{told}: their rates drifted"),
        (changed, rest, Some(more)) => {
            format!("{told}: {rest} need {more}, {changed} drifted")
        }
        (changed, ..) => format!("{told}: {changed} of them drifted"),
    }
}

/// Circumstances of the machine, the target and the writes.
fn circumstance(facts: &Circumstance) -> String {
    let size = units::size;
    match facts {
        Circumstance::PageCache { working_set_bytes, fits_memory_bytes: Some(memory_bytes) } => format!(
            "buffered I/O; the {} fit into {} of memory",
            size(*working_set_bytes),
            size(*memory_bytes)
        ),
        Circumstance::PageCache { .. } => {
            "buffered I/O; every figure includes caching and copying".to_owned()
        }
        Circumstance::DriveWarnings(warnings) => format!("the drive itself warns: {}", warnings.join("; ")),
        Circumstance::OnBattery => {
            "measured on battery; processors and links may have been slowed".to_owned()
        }
        Circumstance::SmallerThanAsked { measured_bytes, asked_bytes } => {
            format!("{} were measured, not the requested {}", size(*measured_bytes), size(*asked_bytes))
        }
        Circumstance::ShortStrokes { span_bytes, disk_bytes } => format!(
            "random access was measured within {} of this {} disk ({}); a larger `--size` shows how much slower it is \
             over the whole disk",
            size(*span_bytes),
            units::decimal_bytes(*disk_bytes),
            units::percent(*span_bytes as f64 / *disk_bytes as f64)
        ),
        Circumstance::Fragmented { pieces, piece_bytes } => format!(
            "the file lies in {pieces} pieces of {} on average; sequential requests include seeks between them",
            size(*piece_bytes)
        ),
        Circumstance::SharedBlocks { shared_bytes, span_bytes } => format!(
            "writes: a copy or a snapshot shares {} of the {} written to; later writes may be faster",
            size(*shared_bytes),
            size(*span_bytes)
        ),
        Circumstance::BurstCredit { elapsed_s } => format!(
            "this type of volume has burst credit, and {} did not use it up; these rates may not last",
            units::duration(*elapsed_s)
        ),
        Circumstance::WriteBuffer { buffer_bytes, two_rates } => {
            let told = format!(
                "writes: a buffer of {} absorbs the first writes; shorter writes may be faster than sustained ones",
                size(*buffer_bytes)
            );
            match two_rates {
                0 => told,
                1 => told + "; 1 workload has two rates: buffer empty, buffer full",
                more => told + &format!("; {more} workloads have two rates: buffer empty, buffer full"),
            }
        }
    }
}

#[cfg(test)]
#[path = "validity_tests.rs"]
mod tests;
