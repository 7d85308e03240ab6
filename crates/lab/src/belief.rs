//! Whether a run can be believed: the first lines of every report.

use iosonde_model::Run;

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Can be believed.
    Yes,
    /// With a doubt.
    Doubt,
    /// Cannot.
    No,
}

impl Mark {
    /// `✓`, `?` or `✗`.
    pub fn symbol(self) -> char {
        match self {
            Self::Yes => '✓',
            Self::Doubt => '?',
            Self::No => '✗',
        }
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq)]
pub struct BeliefLine {
    /// What it means for the answer.
    pub mark: Mark,
    /// One sentence, without a full stop.
    pub text: String,
}

/// Whether a run can be believed, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Belief {
    /// The answer.
    pub mark: Mark,
    /// The first line: `yes, with one doubt`, `no: these figures are memory, not storage (..)`.
    pub headline: String,
    /// The reasons, the worst first.
    pub lines: Vec<BeliefLine>,
}

/// Whether a concluded run can be believed.
pub fn belief(run: &Run) -> Belief {
    let _ = run;
    Belief { mark: Mark::Yes, headline: String::new(), lines: Vec::new() }
}
