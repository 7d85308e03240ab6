//! Details of findings: what was found beside the value, or why nothing could be, as numbers. Words are made of them
//! in the report.

mod inconclusive;
mod note;

pub use inconclusive::Inconclusive;
pub use note::{Law, Note};

/// Facts of one finding beside its value. One variant for each kind that has facts of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// Words that were made where the finding is.
    Said {
        /// Sentence for people.
        sentence: String,
        /// Assumptions, or why it is inconclusive and what would answer.
        why: Option<String>,
    },
    /// The trials cannot answer.
    Inconclusive(Inconclusive),
}
