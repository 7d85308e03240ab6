//! Words of `rotation_period`, `seek_time_average` and `zone_ratio`.

use crate::text::{case::capitalised, workload::workload};
use iosonde_infer::finding::lookup;
use iosonde_model::{
    Estimate, Finding, Status,
    detail::{Platter, PlatterProblem},
    units,
};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Platter) -> String {
    match facts {
        Platter::Still { .. } => {
            let what = workload(&finding.conditions);
            capitalised(&format!("no rotation: {what} take nearly the same time, whatever the address."))
        }
        Platter::Zones { end_bytes, .. } => format!(
            "Sequential reads at the start of the measured {} reach {} the throughput at its end.",
            units::size(end_bytes),
            value(finding)
        ),
        Platter::OneZone { end_bytes, .. } => {
            format!(
                "Sequential reads are as fast at the start as at the end of the measured {}.",
                units::size(end_bytes)
            )
        }
    }
}

/// Assumptions, or why there is none.
pub(super) fn why(facts: Platter) -> String {
    match facts {
        Platter::Still { spread } => format!(
            "Three quarters of the latencies lie within {:.0} % of the median; a rotation would spread them evenly.",
            spread * 100.0
        ),
        Platter::Zones { places, .. } => {
            format!("Large sequential reads in {places} places, the first against the last.")
        }
        Platter::OneZone { low, high, .. } => {
            format!("Throughput of the first place over the last: {low:.2}–{high:.2}, within 5 % of 1.")
        }
    }
}

/// A rotation, found.
pub(super) fn rotation(finding: &Finding) -> String {
    let turns = turns_a_minute(&lookup::estimate(finding));
    format!("One rotation takes {}: {turns} rotations per minute.", value(finding))
}

/// Assumptions of a rotation.
pub(super) const ROTATION: &str =
    "Latencies within a narrow part are spread evenly over one rotation. Assumes that no cache answers.";

/// A seek time, found or absent.
pub(super) fn seek(finding: &Finding) -> String {
    if finding.status == Status::Absent {
        return "No seek time: nothing rotates here.".to_owned();
    }
    let span = units::size(finding.conditions.span_bytes.unwrap_or(0));
    format!("The average seek within {span} takes {}.", value(finding))
}

/// Assumptions of a seek time, or why there is none.
pub(super) fn why_of_seek(finding: &Finding) -> &'static str {
    if finding.status == Status::Absent {
        return "Random reads show no wait for a rotation (see `rotation_period`).";
    }
    "Random reads, less half a rotation, less small sequential reads. Assumes that these wait for neither."
}

/// With as many digits as the interval earns: `7190 (7170–7220)`.
fn turns_a_minute(turn: &Estimate) -> String {
    let minute = |ns: f64| 60e9 / ns;
    let value = minute(turn.value);
    let (Some(low), Some(high)) = (turn.high.map(minute), turn.low.map(minute)) else {
        return format!("{value:.0} (no interval)");
    };
    // The first digit of the half-width.
    let grain = 10f64.powf(((high - low) / 2.0).max(1.0).log10().floor());
    let whole = |number: f64| format!("{:.0}", (number / grain).round() * grain);
    format!("{} ({}–{})", whole(value), whole(low), whole(high))
}

/// A clause without its full stop.
pub(super) fn problem(problem: &PlatterProblem) -> String {
    match problem {
        PlatterProblem::NothingMeasured { spec } => format!("no request of {} was measured", spec.describe()),
        PlatterProblem::Uneven { spec, miss } => format!(
            "latencies of {} are not spread evenly (a line misses them by {:.0} %); a cache may answer them",
            spec.describe(),
            miss * 100.0
        ),
        PlatterProblem::FewRequests { requests, needed } => {
            format!("{requests} requests are too few to see how latencies are spread; {needed} are needed")
        }
        PlatterProblem::OnlyNarrowIsStill { spec, median_ns } => format!(
            "{} (median {}) may wait for a rotation; a cache may answer the narrow part",
            spec.describe(),
            units::time(*median_ns)
        ),
        PlatterProblem::SomeFromMemory { share } => {
            format!("a cache answers {} of the reads; use a wider span", units::percent(*share))
        }
        PlatterProblem::Scatter => "the interval reaches zero; use a longer `--time`".to_owned(),
        PlatterProblem::SequentialReadsWait { latency_ns } => format!(
            "sequential reads take {}, as if they waited for the rotation too",
            units::time(*latency_ns)
        ),
        PlatterProblem::ZonesUnclear { low, high } => {
            format!("the ratio of the first to the last place may be 1 ({low:.2}–{high:.2})")
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Op, Unit};

    use super::*;
    use crate::text::finding::{example, sentence, why_of};

    #[test]
    fn turns_have_as_many_digits_as_they_are_known_to() {
        let told = |ns: f64, half: f64| {
            turns_a_minute(&Estimate { value: ns, low: Some(ns - half), high: Some(ns + half) })
        };
        // 60 s / 8.3368 ms = 7,197; 0.05 ms of it are 43 turns.
        assert_eq!(told(8.3368e6, 0.05e6), "7200 (7150–7240)");
        assert_eq!(told(8.3368e6, 0.5e6), "7200 (6800–7700)");
        assert_eq!(told(8.3368e6, 1e3), "7197 (7196–7198)");
    }

    #[test]
    fn a_disk_rotates_and_flash_does_not() {
        let turn =
            example::found(FindingName::RotationPeriod, Op::Read, (8.3333e6, Unit::Time), Detail::Plain);
        let said = sentence(&turn);
        assert!(
            said.starts_with("One rotation takes 8.33 ms (±2 %)") && said.ends_with(" rotations per minute."),
            "{said}"
        );
        let still = Detail::Platter(Platter::Still { spread: 0.11 });
        let none = example::absent(FindingName::RotationPeriod, Op::Read, still);
        let said = "No rotation: 4 KiB random reads take nearly the same time, whatever the address.";
        assert_eq!(sentence(&none), said);
        assert!(why_of(&none).unwrap().contains("within 11 % of the median"));
        let seek = example::absent(FindingName::SeekTimeAverage, Op::Read, Detail::Plain);
        assert_eq!(sentence(&seek), "No seek time: nothing rotates here.");
    }

    #[test]
    fn zones_are_told_by_their_ratio() {
        let zones = Detail::Platter(Platter::Zones { places: 3, end_bytes: 1 << 40 });
        let finding = example::found(FindingName::ZoneRatio, Op::Read, (2.0, Unit::Ratio), zones);
        let said = "Sequential reads at the start of the measured 1 TiB reach 2.00× (±2 %) the throughput at its end.";
        assert_eq!(sentence(&finding), said);
    }
}
