//! Words of `readahead_bytes`.

use crate::text::workload::workload;
use iosonde_model::{
    Finding, Status,
    detail::{Readahead, ReadaheadProblem},
    units,
};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Readahead) -> String {
    let way = if facts.direct { "with direct I/O" } else { "with buffered I/O" };
    let what = workload(&finding.conditions);
    if finding.status == Status::Absent {
        return format!("No read-ahead for {what} {way}: they take as long as random reads.");
    }
    format!("Read-ahead fetches {} at a time for {what} {way}.", value(finding))
}

/// Assumptions, or why there is none.
pub(super) fn why(finding: &Finding, Readahead { block_sizes, .. }: Readahead) -> String {
    let sizes =
        if block_sizes == 1 { "one block size".to_owned() } else { format!("{block_sizes} block sizes") };
    if finding.status == Status::Absent {
        return format!("At {sizes}, they take at least 90 % of the time of random reads.");
    }
    format!(
        "At {sizes}, some reads wait for a piece and the others find it; the share of the former gives its size."
    )
}

/// A clause without its full stop.
pub(super) fn problem(problem: &ReadaheadProblem) -> String {
    match problem {
        ReadaheadProblem::PagesLeftBehind => {
            "random reads leave pages in the page cache that end pieces early; `--set rw=read` omits them"
                .to_owned()
        }
        ReadaheadProblem::SizesDisagree { piece_bytes } => {
            let sizes: Vec<String> = piece_bytes.iter().map(|bytes| units::size(*bytes as u64)).collect();
            format!("block sizes show pieces of different sizes ({})", sizes.join(", "))
        }
        ReadaheadProblem::Scatter => {
            "the share of slow reads scatters too much between trials; use a longer `--time`".to_owned()
        }
        ReadaheadProblem::NoRandomReads => {
            "hardly any read waits for a piece, and random reads were not measured; add them or larger reads"
                .to_owned()
        }
        ReadaheadProblem::FewWait { least_share } => format!(
            "sequential reads are faster than random ones, but fewer than {} wait for a piece; use larger reads",
            units::percent(*least_share)
        ),
        ReadaheadProblem::NothingToCompare => "no block size was measured in both orders".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Op, Unit};

    use super::*;
    use crate::text::finding::{example, sentence};

    #[test]
    fn a_piece_is_named_with_the_way_of_its_reads() {
        let detail = || Detail::Readahead(Readahead { direct: false, block_sizes: 2 });
        let figure = (131_072.0, Unit::Bytes);
        let found = example::found(FindingName::ReadaheadBytes, Op::Read, figure, detail());
        assert_eq!(
            sentence(&found),
            "Read-ahead fetches 128 KiB (125–131) at a time for 4 KiB random reads with buffered I/O."
        );
        let few = example::unknown(
            FindingName::ReadaheadBytes,
            Op::Read,
            ReadaheadProblem::FewWait { least_share: 0.02 },
        );
        assert!(few.contains("fewer than 2.0 % wait for a piece"), "{few}");
    }
}
