//! Words of findings about the queue depth.

use crate::text::{case::capitalised, number, workload::workload};
use iosonde_infer::finding::lookup::estimate;
use iosonde_model::{
    Finding, FindingName,
    detail::{ClosedLoop, EffectiveDepth, QueueDepthProblem},
    units,
};

use super::{subject::subject, value::depths};

/// Saturation point, or queue depth for 95 % of the maximum.
pub(super) fn curve_sentence(finding: &Finding) -> String {
    let (what, depth) = (workload(&finding.conditions), number::queue_depth(&estimate(finding)));
    match finding.name {
        FindingName::QueueDepthKnee => {
            format!("The knee of {what} is at {depth}; beyond it, latency grows faster than throughput.")
        }
        _ => format!("{} reach 95 % of their highest throughput at {depth}.", capitalised(&what)),
    }
}

pub(super) fn curve_why(facts: &ClosedLoop) -> String {
    let mut all = "Closed-loop curve fitted to throughput over queue depth.".to_owned();
    if let Some(miss) = facts.widened_for {
        let (share, depth) = (units::percent(miss.miss_share), miss.queue_depth);
        all += &format!(" It deviates by {share} at QD {depth}; the interval is wider for it.");
    }
    if !facts.excluded_queue_depths.is_empty() {
        let excluded = depths(&facts.excluded_queue_depths);
        all += &format!(" Excluded: {excluded}, of which the device saw less than half.");
    }
    all
}

/// Queue depths at the program and at the device in one sentence.
pub(super) fn effective_sentence(finding: &Finding, facts: &EffectiveDepth) -> String {
    let asked = finding.conditions.queue_depth.unwrap_or(0);
    let reached = match facts.reached {
        Some(true) => String::new(),
        Some(false) => format!(" (QD {asked} was not reached)"),
        None => format!(" (QD {asked} may not have been reached)"),
    };
    let device = facts.at_device.map_or_else(|| "not counted".to_owned(), rounded);
    // As the check `depth-not-reached` says it: half of them is where it begins to warn.
    let waited = match facts.at_device {
        Some(seen) if seen < f64::from(asked) / 2.0 => ": the rest waited above it",
        _ => "",
    };
    let [value, low, high] =
        [finding.value, finding.low, finding.high].map(|end| rounded(end.unwrap_or(0.0)));
    // Rounded to requests, the interval has often no width: then it says nothing more.
    let interval = if low == high { String::new() } else { format!(" ({low}–{high})") };
    format!(
        "{} at QD {asked}: {value}{interval} in the program{reached}, {device} at the device{waited}.",
        subject(finding)
    )
}

/// A mean number of requests with three digits: `7.8`, `16`, `1024`.
fn rounded(requests: f64) -> String {
    let whole = requests >= 99.95 || (requests - requests.round()).abs() < 0.05;
    if whole { format!("{requests:.0}") } else { format!("{requests:.1}") }
}

pub(super) fn effective_why(facts: &EffectiveDepth) -> String {
    let device = match facts.at_device {
        Some(_) => " The block layer's count includes split requests and other programs.",
        None => "",
    };
    format!("Average over time and {} trials.{device}", facts.trials)
}

/// A clause without its full stop.
pub(super) fn problem(problem: &QueueDepthProblem) -> String {
    match problem {
        QueueDepthProblem::OneDepth => "fewer than 2 queue depths have valid trials".to_owned(),
        QueueDepthProblem::TooFewDepths { depths, needed, smallest: 1 } => {
            format!("usable queue depths: {depths}; {needed} are needed")
        }
        QueueDepthProblem::TooFewDepths { depths, needed, .. } => {
            format!("usable queue depths: {depths}; {needed} are needed, QD 1 among them")
        }
        QueueDepthProblem::NoCurve(miss) => format!(
            "no saturation curve fits (QD {} is {} off)",
            miss.queue_depth,
            units::percent(miss.miss_share)
        ),
        QueueDepthProblem::PlateauUnseen { knee, times_needed, deepest } => {
            let deepest_needed = times_needed * knee.value;
            match knee.low {
                Some(low) if deepest_needed <= *deepest as f64 => {
                    format!("anywhere above QD {low:.0}; measure beyond QD {deepest}, or use more `--time`")
                }
                _ => format!(
                    "probably near QD {:.0}, but QD {deepest} is too shallow to be sure (QD {:.0} would do)",
                    knee.value,
                    deepest_needed.ceil()
                ),
            }
        }
        QueueDepthProblem::StillRising { deepest } => {
            format!(
                "throughput still rises at QD {deepest}, so its highest is unknown; measure deeper queues"
            )
        }
        QueueDepthProblem::NotCounted => "too few trials counted their outstanding requests".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Estimate, Unit};

    use super::super::{sentence, tests::reads, why_of};
    use super::*;

    #[test]
    fn a_saturation_point_is_a_queue_depth() {
        let facts = ClosedLoop { widened_for: None, excluded_queue_depths: vec![64, 128] };
        let name = FindingName::QueueDepthKnee;
        let found = reads(name, Unit::InFlight, [7.8, 7.1, 8.5], Detail::ClosedLoop(facts));
        assert_eq!(
            sentence(&found),
            "The knee of 4 KiB random reads is at QD 7.8 (7.1–8.5); beyond it, latency grows faster than throughput."
        );
        assert!(
            why_of(&found)
                .unwrap()
                .ends_with("Excluded: QD 64, 128, of which the device saw less than half.")
        );
    }

    #[test]
    fn both_queue_depths_stand_in_one_sentence() {
        let of = |value: f64, reached, at_device| {
            let facts = EffectiveDepth { at_device, reached, trials: 8 };
            let name = FindingName::EffectiveDepth;
            let ends = [value, value - 1.0, value];
            let mut found = reads(name, Unit::InFlight, ends, Detail::EffectiveDepth(facts));
            found.conditions.queue_depth = Some(1024);
            sentence(&found)
        };
        assert_eq!(
            of(1024.0, Some(true), Some(128.2)),
            "Effective queue depth of 4 KiB random reads at QD 1024: 1024 (1023–1024) in the program, 128 at the \
             device: the rest waited above it."
        );
        assert!(of(128.0, None, Some(15.96)).contains("128 (127–128) in the program (QD 1024 may not"));
        assert!(
            of(900.0, Some(false), None).ends_with(
                "900 (899–900) in the program (QD 1024 was not reached), not counted at the device."
            )
        );
    }

    #[test]
    fn a_plateau_that_was_not_measured_says_how_deep_to_go() {
        let why = |value: f64| {
            let knee = Estimate { value, low: Some(2.4), high: Some(60.0) };
            problem(&QueueDepthProblem::PlateauUnseen { knee, times_needed: 4.0, deepest: 128 })
        };
        assert_eq!(why(36.0), "probably near QD 36, but QD 128 is too shallow to be sure (QD 144 would do)");
        assert!(why(8.0).contains("anywhere above QD 2"));
    }
}
