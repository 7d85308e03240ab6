//! Words of findings that compare levels of one parameter.

use crate::text::{
    case::capitalised,
    number::with_interval,
    workload::{workload, workload_at},
};
use iosonde_infer::finding::effect::MARGIN;
use iosonde_model::{
    Estimate, Finding, Inconclusive, Unit,
    detail::{
        ComparedFigure, ComparedWith, Effect, EffectAnswer, EffectProblem, Level, RatioAnswer,
        ReadsAfterWrites, Workers, WorkersAnswer,
    },
    units,
};

use super::value::value;

/// `5 %`: a margin has no decimals.
pub(super) fn margin(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Name of a level: `stride 64 KiB`.
pub(super) fn level(level: Level) -> String {
    match level {
        Level::QueueDepth(depth) => format!("QD {depth}"),
        Level::BlockSize(bytes) => format!("block size {}", units::size(bytes)),
        Level::Stride(bytes) => format!("stride {}", units::size(bytes)),
        Level::Offset(0) => "offset 0 (aligned)".to_owned(),
        Level::Offset(bytes) => format!("offset {}", units::size(bytes)),
        Level::ReadPercent(percent) if percent <= 0.0 => "writes alone".to_owned(),
        Level::ReadPercent(percent) => format!("{percent} % reads"),
        Level::WritePercent(percent) if percent <= 0.0 => "reads alone".to_owned(),
        Level::WritePercent(percent) => format!("{percent} % writes"),
    }
}

/// A level after a figure: `throughput at stride 64 KiB`, `latency with 50 % writes`.
pub(super) fn at(one: Level) -> String {
    match one {
        Level::ReadPercent(percent) if percent <= 0.0 => "without reads".to_owned(),
        Level::WritePercent(percent) if percent <= 0.0 => "without writes".to_owned(),
        Level::ReadPercent(_) | Level::WritePercent(_) => format!("with {}", level(one)),
        _ => format!("at {}", level(one)),
    }
}

fn parameter(level: Level) -> &'static str {
    match level {
        Level::QueueDepth(_) => "queue depth",
        Level::BlockSize(_) => "block size",
        Level::Stride(_) => "the stride",
        Level::Offset(_) => "alignment",
        Level::ReadPercent(_) => "mixed-in reads",
        Level::WritePercent(_) => "mixed-in writes",
    }
}

pub(super) fn sentence(finding: &Finding, effect: &Effect) -> String {
    let figure = match effect.figure {
        ComparedFigure::Throughput => "throughput",
        ComparedFigure::MeanLatency => "mean latency",
    };
    let (what, value, parameter) =
        (workload_at(&finding.conditions), value(finding), parameter(effect.level));
    let ratio = match (finding.high.is_some_and(|high| high < LOW), reciprocal(finding)) {
        (true, Some(times)) => {
            let reference = reference(effect, Position::After);
            format!("{figure} {} is {times} lower than {reference}", at(effect.level))
        }
        _ => format!("{figure} {} is {value} {}", at(effect.level), reference(effect, Position::Of)),
    };
    let range = format!("from {} to {}", short(effect.lowest), short(effect.highest));
    let said = match effect.answer {
        EffectAnswer::Changes => ratio,
        EffectAnswer::NoEffect => {
            format!("no effect of {parameter} {range}: {figure} is equal within {}", margin(MARGIN))
        }
        EffectAnswer::NoneSeen => format!(
            "no effect of {parameter} seen {range} (one below {} would not show)",
            margin(2.0 * MARGIN)
        ),
        EffectAnswer::Undecided => format!("effect of {parameter} unknown; {ratio}"),
    };
    let left_out: Vec<String> = effect.left_out.iter().map(|(out, _)| level(*out)).collect();
    let unknown = match left_out.is_empty() {
        true => String::new(),
        false => format!(" Unknown: {}.", left_out.join(", ")),
    };
    capitalised(&format!("{what}: {said}.{unknown}"))
}

/// Ratio below which a figure is told as so many times lower: 0.039 takes a division to read.
const LOW: f64 = 0.5;

/// The reciprocal of a ratio with its interval; `None` without one.
fn reciprocal(finding: &Finding) -> Option<String> {
    let (value, low, high) = (finding.value?, finding.low?, finding.high?);
    let times = Estimate { value: 1.0 / value, low: Some(1.0 / high), high: Some(1.0 / low) };
    Some(with_interval(Unit::Ratio, &times))
}

/// Where the name of what a level is compared with stands.
enum Position {
    /// `0.8× that at stride 4 KiB`.
    Of,
    /// `4× lower than at stride 4 KiB`.
    After,
}

fn reference(effect: &Effect, position: Position) -> String {
    match (effect.reference, position) {
        (ComparedWith::Level(level), Position::Of) => format!("that {}", at(level)),
        (ComparedWith::Level(level), Position::After) => at(level),
        (ComparedWith::MeanOfOthers, _) => format!("the mean of the other {}", plural(effect.level)),
    }
}

fn plural(level: Level) -> &'static str {
    match level {
        Level::QueueDepth(_) => "queue depths",
        Level::BlockSize(_) => "block sizes",
        Level::Stride(_) => "strides",
        Level::Offset(_) => "offsets",
        Level::ReadPercent(_) | Level::WritePercent(_) => "mixes",
    }
}

/// A level behind its parameter: `the stride from 4 KiB to 4 MiB`.
fn short(one: Level) -> String {
    match one {
        Level::BlockSize(bytes) | Level::Stride(bytes) => units::size(bytes),
        _ => level(one),
    }
}

pub(super) fn why(effect: &Effect, words: fn(&Inconclusive) -> String) -> String {
    let reference = match effect.reference {
        ComparedWith::Level(reference) => level(reference),
        ComparedWith::MeanOfOthers => reference(effect, Position::Of),
    };
    let left_out: Vec<String> =
        effect.left_out.iter().map(|(out, why)| format!("{} ({})", level(*out), words(why))).collect();
    let left_out = match left_out.is_empty() {
        true => String::new(),
        false => format!(" Left out: {}.", left_out.join("; ")),
    };
    match effect.ratios {
        1 => format!("Ratio to {reference}.{left_out}"),
        ratios => format!(
            "Largest of {ratios} ratios to {reference}; the interval holds for all of them together.{left_out}"
        ),
    }
}

/// What access order does to `what` (`1 MiB reads`), without a figure and a capital.
pub(in crate::text) fn order(answer: RatioAnswer, what: &str) -> String {
    let how = match answer {
        RatioAnswer::Equal => "as fast as",
        RatioAnswer::Lower => "slower than",
        RatioAnswer::Higher => "faster than",
        RatioAnswer::Undecided => {
            return format!("random and sequential {what}: no clear difference");
        }
    };
    format!("random {what} are {how} sequential ones")
}

pub(super) fn order_sentence(finding: &Finding, answer: RatioAnswer) -> String {
    capitalised(&format!("{}: {}.", order(answer, &workload(&finding.conditions)), value(finding)))
}

pub(super) fn order_why(finding: &Finding) -> String {
    let depth = finding.conditions.queue_depth.unwrap_or(1);
    format!("Random over sequential throughput at QD {depth}; as fast means within {}.", margin(MARGIN))
}

pub(super) fn workers_sentence(finding: &Finding, facts: &Workers) -> String {
    let (what, value) = (workload(&finding.conditions), value(finding));
    let (count, each) = (facts.workers, facts.queue_depth_each);
    let reach = format!(
        "{count} workers at QD {each} each reach {value} the throughput of one at QD {}",
        facts.queue_depth_single
    );
    let said = match &facts.answer {
        WorkersAnswer::QueueDepth { engine } => format!(
            "{count} workers reach {value} the throughput of one; {engine} makes one request at a time per worker"
        ),
        WorkersAnswer::NoEffect => format!("{reach}; only the total queue depth matters"),
        WorkersAnswer::Undecided => format!("effect of several workers unknown; {reach}"),
        WorkersAnswer::Contention => format!("{reach}; workers slow each other down"),
        WorkersAnswer::CpuOfSingleWorker => format!("{reach}; the CPU of the single worker was the limit"),
        WorkersAnswer::SingleWorker { cpu_busy_share: None } => {
            format!("{reach}; the single worker was the limit")
        }
        WorkersAnswer::SingleWorker { cpu_busy_share: Some(busy) } => {
            format!("{reach}; the single worker was the limit, its CPU {} busy", units::percent(*busy))
        }
    };
    capitalised(&format!("{what}: {said}."))
}

pub(super) fn workers_why(facts: &Workers) -> String {
    if let WorkersAnswer::QueueDepth { .. } = facts.answer {
        return "More workers are a higher queue depth here; io_uring, libaio or threads can separate the two."
            .to_owned();
    }
    let alone = facts.over_one_of_them.as_ref().map_or_else(String::new, |ratio| {
        let ratio = with_interval(Unit::Ratio, ratio);
        format!(" Compared with one worker at QD {}: {ratio}.", facts.queue_depth_each)
    });
    format!("Both sides have one total queue depth; no effect means within {}.{alone}", margin(MARGIN))
}

pub(super) fn after_writes_sentence(finding: &Finding, facts: &ReadsAfterWrites) -> String {
    let over = match facts.points {
        1 => format!("{} at 1 point", value(finding)),
        points => format!("{} over {points} points", value(finding)),
    };
    let how = match facts.answer {
        RatioAnswer::Equal => "as fast as",
        RatioAnswer::Lower => "slower than",
        RatioAnswer::Higher => "faster than",
        RatioAnswer::Undecided => {
            return format!("Effect of a preceding write on reads: unknown; ratio {over}.");
        }
    };
    format!("Reads right after a write are {how} reads after a read: {over}.")
}

pub(super) fn after_writes_why(facts: &ReadsAfterWrites) -> String {
    format!(
        "Geometric mean of one throughput ratio per point. Furthest from 1: {}, {:.2}×.",
        facts.furthest.describe(),
        facts.furthest_ratio
    )
}

pub(super) fn problem(problem: EffectProblem) -> String {
    match problem {
        EffectProblem::TooRough => "trials scatter so much that a factor of 3 would not show".to_owned(),
        EffectProblem::NoSingleWorker => {
            "no point has one worker at the total queue depth of several".to_owned()
        }
        EffectProblem::TooFewReads { needed } => format!(
            "no point has {needed} trials after a write and {needed} after a read; use a longer `--time`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_infer::conclude::conclude;
    use iosonde_model::FindingName;
    use iosonde_testkit::pretend::{Pretend, wording};

    use crate::text::{sentence, why_of};

    fn words(pretend: &Pretend, study: &str, name: FindingName) -> (String, String) {
        let study = format!("name = \"x\"\nquestion = \"?\"\n[[experiment]]\n{study}\n");
        let mut run = pretend.run(&study, 1);
        conclude(&mut run, None).unwrap();
        let finding = run.findings.iter().find(|finding| finding.name == name).expect("it is asked");
        (wording(&sentence(finding)), wording(&why_of(finding).unwrap_or_default()))
    }

    fn exact() -> Pretend {
        Pretend { cv: 0.0005, ..Pretend::usual() }
    }

    #[test]
    fn a_parameter_without_effect_names_its_range_and_a_vague_one_what_is_known() {
        let study = "kind = \"stride\"\nrw = \"read\"\nstride = [\"64k\", \"1M\"]";
        let (said, why) = words(&exact(), study, FindingName::StrideEffect);
        assert_eq!(
            said,
            "# KiB sequential reads at QD #: no effect of the stride from # KiB to # MiB: throughput is equal \
             within # %."
        );
        assert_eq!(why, "Ratio to stride # KiB.");
        let noisy = Pretend { cv: 0.2, ..Pretend::usual() };
        assert_eq!(
            words(&noisy, study, FindingName::StrideEffect).0,
            "# KiB sequential reads at QD #: effect of the stride unknown; throughput at stride # MiB is #× (#–#) that \
             at stride # KiB."
        );
        let wild = Pretend { cv: 2.0, ..Pretend::usual() };
        assert_eq!(
            words(&wild, study, FindingName::StrideEffect).0,
            "Effect of the stride on # KiB sequential reads at QD #: unknown; trials scatter so much that a factor \
             of # would not show."
        );
    }

    #[test]
    fn a_mix_is_compared_with_a_direction_alone() {
        let (said, _) = words(&exact(), "kind = \"mix\"\nmix = [0, 50, 100]", FindingName::MixInterference);
        assert_eq!(
            said,
            "# KiB random reads at QD #: no effect of mixed-in writes from reads alone to # % writes: mean latency is \
             equal within # %."
        );
    }

    #[test]
    fn workers_and_access_order_say_which_side_is_faster() {
        let (said, why) = words(&exact(), "kind = \"jobs\"", FindingName::JobsEffect);
        assert_eq!(
            said,
            "# KiB random reads: # workers at QD # each reach #× (±# %) the throughput of one at QD #; only the total \
             queue depth matters."
        );
        assert!(why.ends_with("Compared with one worker at QD #: #× (±# %)."), "{why}");
        let disk = Pretend { random_ratio: 0.1, ..exact() };
        let study = "kind = \"random-vs-sequential\"\nrw = [\"read\", \"randread\"]";
        assert_eq!(
            words(&disk, study, FindingName::RandomVsSequential).0,
            "Random # MiB reads are slower than sequential ones: #× (±# %)."
        );
    }

    #[test]
    fn curves_name_their_ends() {
        let depths = "kind = \"queue-depth\"\nrw = [\"randread\", \"randwrite\"]";
        assert_eq!(
            words(&exact(), depths, FindingName::Shape).0,
            "# KiB random reads: no dip, peak or step above # % from QD # to QD #"
        );
        assert_eq!(
            words(&exact(), depths, FindingName::Crossover).0,
            "# KiB random reads and writes: no crossover from QD # to QD #; throughput is equal within # %."
        );
        let drift = words(&exact(), depths, FindingName::Drift).0;
        assert!(drift.starts_with("No drift: throughput changed by at most # % in # min"), "{drift}");
    }
}
