//! Words of findings about parallel units.

use iosonde_model::{
    Finding, FindingName,
    detail::{Layout, LayoutProblem},
    units,
};

use super::{subject::subject, value::value};
use crate::text::number::with_interval;
use iosonde_infer::finding::lookup::estimate;

pub(super) fn sentence(finding: &Finding, facts: &Layout) -> String {
    match facts {
        Layout::Striped { .. } if finding.name == FindingName::Parallelism => {
            let units = with_interval(iosonde_model::Unit::None, &estimate(finding));
            format!("{}: {units}.", subject(finding))
        }
        Layout::Striped { .. } => format!("{}: {}.", subject(finding), value(finding)),
        Layout::NotStriped { shortest_bytes, longest_bytes } => format!(
            "No stripes found: strides from {} to {} are equally fast.",
            units::size(*shortest_bytes),
            units::size(*longest_bytes)
        ),
    }
}

pub(super) fn why(facts: &Layout) -> String {
    match facts {
        Layout::Striped { strides, layouts, invalid_strides_bytes } => {
            let fit =
                if *layouts == 1 { "1 layout fits".to_owned() } else { format!("{layouts} layouts fit") };
            let invalid = match invalid_strides_bytes.is_empty() {
                true => String::new(),
                false => format!(" Too few valid trials at strides of {}.", sizes(invalid_strides_bytes)),
            };
            format!(
                "{fit} the throughput at {strides} strides. Assumes equal units and stripes of 2ⁿ bytes.{invalid}"
            )
        }
        Layout::NotStriped { .. } => {
            "Equal within 20 %. These strides cannot show 5, 7 or 9 units.".to_owned()
        }
    }
}

fn sizes(bytes: &[u64]) -> String {
    bytes.iter().map(|bytes| units::size(*bytes)).collect::<Vec<_>>().join(", ")
}

/// A clause without its full stop.
pub(super) fn problem(problem: &LayoutProblem) -> String {
    match problem {
        LayoutProblem::TooFewStrides { strides, needed, queue_depth } => {
            format!("{strides} strides were measured at QD {queue_depth}; it takes {needed} at QD 2 or more")
        }
        LayoutProblem::LinkLimit { share, bytes_per_s } => format!(
            "the fastest stride moves {} of the {} of large reads, which may hide units; use smaller blocks",
            units::percent(*share),
            units::rate(*bytes_per_s)
        ),
        LayoutProblem::GeneratorLimit { cpu_share } => {
            format!("iosonde was CPU-bound ({}), which may hide units", units::percent(*cpu_share))
        }
        LayoutProblem::EqualStrides => {
            "all strides are equally fast; the knee (`queue_depth_knee`) is an upper limit".to_owned()
        }
        LayoutProblem::EqualValidStrides { invalid_strides_bytes } => format!(
            "all valid strides are equally fast, and those of {} have too few valid trials",
            sizes(invalid_strides_bytes)
        ),
        LayoutProblem::NoSingleUnit { requests } => format!(
            "even the slowest stride serves {requests:.1} requests in the time of one, so none uses a single unit"
        ),
        LayoutProblem::NoLayout => "no layout could be compared".to_owned(),
        LayoutProblem::Uneven { miss_share } => {
            format!("throughput deviates by {} from the nearest even layout", units::percent(*miss_share))
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Unit};

    use super::super::{sentence, tests::reads, why_of};
    use super::*;

    #[test]
    fn units_and_stripes_have_their_numbers() {
        let facts = Layout::Striped { strides: 21, layouts: 1, invalid_strides_bytes: vec![8192] };
        let detail = Detail::Layout(facts);
        let units = reads(FindingName::Parallelism, Unit::InFlight, [8.0, 4.0, 8.0], detail.clone());
        assert_eq!(sentence(&units), "Parallel units: 8 (4–8).");
        let stripe = reads(FindingName::StripeBytes, Unit::Bytes, [32_768.0; 3], detail);
        assert_eq!(sentence(&stripe), "Stripe size: 32 KiB.");
        assert_eq!(
            why_of(&stripe).unwrap(),
            "1 layout fits the throughput at 21 strides. Assumes equal units and stripes of 2ⁿ bytes. Too few valid \
             trials at strides of 8 KiB."
        );
    }
}
