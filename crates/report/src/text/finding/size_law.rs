//! Words of findings about throughput and latency over block size.

use crate::text::{
    case::capitalised,
    number::{self, Figure},
    workload::workload_at,
};
use iosonde_model::{
    Finding, FindingName, Unit,
    detail::{Plateau, PlateauMethod, RoundTrip, SizeLaw, SizeLawProblem},
    units,
};

use super::{subject::subject, value::value};

/// Fixed cost of a request, or half-bandwidth size.
pub(super) fn sentence(finding: &Finding) -> String {
    match finding.name {
        FindingName::HalfSize => {
            let what = capitalised(&workload_at(&finding.conditions));
            format!("{what} reach half of their bandwidth with blocks of {}.", value(finding))
        }
        _ => format!("{}: {}.", subject(finding), value(finding)),
    }
}

pub(super) fn why(law: &SizeLaw) -> String {
    let (miss, size) = (units::percent(law.worst_miss_share), units::size(law.worst_size_bytes));
    let widened = if law.widened { "; the interval is wider for it" } else { "" };
    format!(
        "Linear model: time = fixed cost + size / bandwidth. Largest deviation: {miss} at {size}{widened}."
    )
}

pub(super) fn plateau_sentence(finding: &Finding, facts: &Plateau) -> String {
    let mut what = workload_at(&finding.conditions);
    if finding.name == FindingName::ProgramPlateau {
        what = format!("buffered {what}");
    }
    let what = capitalised(&what);
    let from = size(finding.value);
    match (finding.low == finding.high, facts.next_smaller_bytes) {
        (false, _) => {
            let levels = number::range(Unit::Bytes, finding.low.unwrap_or(0.0), finding.high.unwrap_or(0.0));
            format!("{what} reach 95 % of their bandwidth from {from} ({levels}) on.")
        }
        (true, Some(smaller)) => {
            let smaller = units::size(smaller);
            format!("{what} reach 95 % of their bandwidth from {from} on; {smaller} is too small.")
        }
        (true, None) => {
            format!("{what} reach 95 % of their bandwidth from {from} on, the smallest measured.")
        }
    }
}

fn size(bytes: Option<f64>) -> String {
    bytes.map_or_else(String::new, |bytes| units::size(bytes as u64))
}

/// Block size of a plateau for the table of results.
pub(super) fn plateau(finding: &Finding) -> Figure {
    let interval = match finding.low == finding.high {
        true => String::new(),
        false => format!("{}–{}", size(finding.low), size(finding.high)),
    };
    Figure { value: size(finding.value), interval }
}

pub(super) fn plateau_why(facts: &Plateau) -> String {
    match facts.method {
        PlateauMethod::Law(law) => format!("{} Rounded up to a measured size.", why(&law)),
        PlateauMethod::Comparison => {
            "Each size is compared with the highest bandwidth; the linear model does not fit.".to_owned()
        }
        PlateauMethod::ComparisonAgainstLaw { law_bytes } => format!(
            "Each size is compared with the highest bandwidth. The linear model gives {}, which smaller sizes \
             contradict.",
            units::size(law_bytes)
        ),
    }
}

pub(super) fn round_trip_why(facts: &RoundTrip) -> String {
    let mut all = why(&facts.law);
    if let Some(cpu_ns) = facts.cpu_ns {
        all += &format!(" CPU time of {} per request is subtracted.", units::time(cpu_ns));
    }
    if let Some(client_ns) = facts.client_ns {
        let (time, size) = (units::time(client_ns), units::size(facts.client_block_size_bytes));
        all += &format!(" The network client counts {time} for reads of {size}.");
    }
    all + " Assumes that the server answers from memory."
}

/// That bandwidth still rises at the largest block size is an answer; `None` for other reasons.
pub(in crate::text) fn still_rising(problem: &SizeLawProblem, what: &str) -> Option<String> {
    let SizeLawProblem::StillRising { largest_bytes, needed_bytes } = problem else { return None };
    let largest = format!("{}, the largest block size tried", units::size(*largest_bytes));
    let (rises, estimate) = match needed_bytes {
        None => ("still rises", String::new()),
        Some(bytes) if bytes > largest_bytes => {
            ("still rises", format!(" (95 % estimated at {})", units::size(*bytes)))
        }
        // What would be enough was measured, and its interval goes beyond.
        Some(_) => ("may still rise", String::new()),
    };
    Some(format!("the bandwidth of {what} {rises} at {largest}{estimate}"))
}

/// A clause without its full stop.
pub(super) fn problem(problem: &SizeLawProblem) -> String {
    match problem {
        SizeLawProblem::SeveralInFlight { queue_depth } => {
            format!("at QD {queue_depth} the time of single requests is unknown; measure at QD 1")
        }
        SizeLawProblem::TooFewSizes { sizes, needed, range_needed: 1 } => {
            format!("{sizes} block sizes were measured, {needed} are needed")
        }
        SizeLawProblem::TooFewSizes { sizes, needed, range_needed } => {
            format!(
                "{sizes} block sizes were measured; it takes {needed} over a range of {range_needed} times"
            )
        }
        SizeLawProblem::NoFit => "no straight line of latency over size fits".to_owned(),
        SizeLawProblem::NotLinear { size_bytes, miss_share } => format!(
            "latency is no straight line over size ({} requests are {} off)",
            units::size(*size_bytes),
            units::percent(*miss_share)
        ),
        SizeLawProblem::Flat { largest_bytes } => {
            format!("latency hardly rises up to {}; measure larger blocks", units::size(*largest_bytes))
        }
        SizeLawProblem::StillRising { largest_bytes, needed_bytes } => {
            let above = format!("above {}, the largest tried", units::size(*largest_bytes));
            match needed_bytes {
                None => above,
                Some(bytes) if bytes > largest_bytes => {
                    format!("{above} (estimate: {})", units::size(*bytes))
                }
                // What would be enough was measured, and its interval goes beyond.
                Some(_) => format!("perhaps {above}"),
            }
        }
        SizeLawProblem::Unsure => {
            "throughput of the largest blocks is too uncertain, or falls again; use more `--time`".to_owned()
        }
        SizeLawProblem::BelowCpuTime => "it is no longer than the program's CPU time per request".to_owned(),
        SizeLawProblem::MixedLatency { p10_ns, p90_ns } => format!(
            "small reads take {} to {} (p10 to p90); some miss the server's cache, so use a smaller `--size`",
            units::time(*p10_ns),
            units::time(*p90_ns)
        ),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Inconclusive, Unit};

    use super::super::{sentence, tests::reads, why_of};
    use super::*;

    const LAW: SizeLaw = SizeLaw { worst_size_bytes: 4096, worst_miss_share: 0.02, widened: false };

    #[test]
    fn a_plateau_between_two_sizes_has_a_lower_bound() {
        let of = |low: f64, next_smaller_bytes| {
            let facts = Plateau { next_smaller_bytes, method: PlateauMethod::Law(LAW) };
            let ends = [1_048_576.0, low, 1_048_576.0];
            reads(FindingName::PlateauBlockSize, Unit::Bytes, ends, Detail::Plateau(facts))
        };
        assert_eq!(
            sentence(&of(1_048_576.0, Some(262_144))),
            "4 KiB random reads at QD 1 reach 95 % of their bandwidth from 1 MiB on; 256 KiB is too small."
        );
        assert!(sentence(&of(262_144.0, Some(65_536))).contains("from 1 MiB (256 KiB to 1 MiB) on"));
    }

    #[test]
    fn a_round_trip_names_what_was_subtracted() {
        let facts = RoundTrip {
            law: LAW,
            cpu_ns: Some(6000.0),
            client_ns: Some(95_000.0),
            client_block_size_bytes: 4096,
        };
        let name = FindingName::NetworkRoundTrip;
        let found = reads(name, Unit::Time, [5e5, 4.9e5, 5.1e5], Detail::RoundTrip(facts));
        assert_eq!(sentence(&found), "Network round trip of 4 KiB random reads: 500 µs (±2 %).");
        let why = why_of(&found).unwrap();
        assert!(why.contains("CPU time of 6.00 µs per request") || why.contains("CPU time of 6 µs"), "{why}");
        assert!(why.contains("counts 95.0 µs for reads of 4 KiB."), "{why}");
    }

    #[test]
    fn a_curve_that_is_not_linear_is_unknown() {
        let why = SizeLawProblem::NotLinear { size_bytes: 4 << 20, miss_share: 0.53 };
        let detail = Detail::Inconclusive(Inconclusive::SizeLaw(why));
        let found = reads(FindingName::HalfSize, Unit::Bytes, [0.0; 3], detail);
        assert_eq!(
            sentence(&found),
            "Block size that gives half of the bandwidth of 4 KiB random reads: unknown; latency is no straight \
             line over size (4 MiB requests are 53 % off)."
        );
    }

    #[test]
    fn a_size_that_was_measured_is_not_said_to_be_needed() {
        let told =
            |needed_bytes| problem(&SizeLawProblem::StillRising { largest_bytes: 4 << 20, needed_bytes });
        assert_eq!(told(None), "above 4 MiB, the largest tried");
        assert_eq!(told(Some(3 << 20)), "perhaps above 4 MiB, the largest tried");
        assert_eq!(told(Some(5 << 20)), "above 4 MiB, the largest tried (estimate: 5 MiB)");
    }
}
