//! Words of `readahead_bytes`.

use iosonde_infer::finding::group::workload;
use iosonde_model::{
    Finding, Status,
    detail::{Readahead, ReadaheadProblem},
    units,
};

use super::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Readahead) -> String {
    let way = if facts.direct { "past the page cache" } else { "through the page cache" };
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
