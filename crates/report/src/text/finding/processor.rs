//! Words of the CPU share.

use crate::text::{case::capitalised, number, workload::workload_at};
use iosonde_infer::finding::lookup::estimate;
use iosonde_model::{
    Finding,
    detail::{Bottleneck, ProcessorShare},
    units,
};

/// CPU share below which the number says no more than that it is small.
const SMALL: f64 = 1e-3;

pub(super) fn sentence(finding: &Finding, facts: &ProcessorShare) -> String {
    let share = match finding.high {
        Some(high) if high < SMALL => "less than 0.1 %".to_owned(),
        _ => number::percent(&estimate(finding)),
    };
    let pace = match facts.pace {
        Bottleneck::Cpu => "the CPU is the limit",
        Bottleneck::Waiting => "the storage is the limit",
        Bottleneck::Both => "CPU and storage are the limit",
    };
    format!("{} use {share} of a CPU; {pace}.", capitalised(&workload_at(&finding.conditions)))
}

pub(super) fn why(facts: &ProcessorShare) -> String {
    let (share, size) =
        (units::percent(facts.share_at_smallest), units::size(facts.smallest_block_size_bytes));
    format!("CPU time over elapsed time. With blocks of {size} it is {share}.")
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Unit};

    use super::super::{sentence, tests::reads};
    use super::*;

    #[test]
    fn a_share_is_a_percentage_with_its_meaning() {
        let of = |pace, ends| {
            let facts = ProcessorShare { pace, smallest_block_size_bytes: 4096, share_at_smallest: 0.4 };
            sentence(&reads(FindingName::ProcessorShare, Unit::Ratio, ends, Detail::ProcessorShare(facts)))
        };
        assert_eq!(
            of(Bottleneck::Cpu, [0.95, 0.94, 0.96]),
            "4 KiB random reads at QD 1 use 95 % (94–96) of a CPU; the CPU is the limit."
        );
        assert!(
            of(Bottleneck::Waiting, [5e-4, 4e-4, 6e-4])
                .contains(" use less than 0.1 % of a CPU; the storage is")
        );
    }
}
