//! Why a fio job is not run: one sentence, with the place of the option.

use std::fmt;

use iosonde_model::units;

use super::place::Place;

/// A job that is not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// Where the cause was written.
    pub place: Place,
    /// The cause.
    pub why: Why,
}

impl fmt::Display for Refusal {
    /// `a.fio:3:1: zonemode=zbd is not supported: ..`; of a command line's word, which is its own place,
    /// `--zonemode=zbd is not supported: ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.place, &self.why) {
            (
                Place::Word(_),
                Why::Unknown { .. }
                | Why::Unsupported { .. }
                | Why::Flag { .. }
                | Why::Value { .. }
                | Why::Misread { .. }
                | Why::NoValue(_),
            ) => write!(f, "--{}", self.why),
            _ => write!(f, "{}: {}", self.place, self.why),
        }
    }
}

impl std::error::Error for Refusal {}

/// Cause of a refusal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Why {
    #[error("cannot be read: {0}")]
    Unreadable(String),
    #[error("the included file {path} cannot be read: {why}")]
    Include { path: String, why: String },
    #[error("the file {0} includes itself; remove one of the include lines")]
    IncludeLoop(String),
    #[error("a job file of {}; at most {} are read", units::size(*bytes as u64), units::size(*most as u64))]
    TooLarge { bytes: usize, most: usize },
    #[error("the text is {0}; save the job file as UTF-8")]
    Encoding(&'static str),
    #[error("the section's header has no closing ]")]
    OpenHeader,
    #[error("an included file holds options only; put the section into the job file itself")]
    SectionInInclude,
    #[error("`{0}` stands before the first section; put it below [global] or [JOB]")]
    OutsideSection(String),
    #[error("no job in it: a job begins with [NAME]")]
    NoJobs,
    #[error("{0} needs a value: {0}=…")]
    NoValue(String),
    #[error("the environment variable {0} is not set or empty: {0}=… iosonde fio …")]
    NoVariable(String),
    #[error("`{0}` needs arithmetic, which is not supported; write the number")]
    Arithmetic(String),
    #[error("{name} is not supported: it is no option of jobs on files and devices{}", hint(.nearest))]
    Unknown { name: String, nearest: Option<String> },
    #[error("{name} is not supported: {instead}")]
    Unsupported { name: &'static str, instead: &'static str },
    #[error("{name} is not supported: {instead}")]
    Flag { name: &'static str, instead: String },
    #[error("{name}={value} is not supported: {instead}")]
    Value { name: &'static str, value: String, instead: String },
    #[error("{name}={value} is not understood: {wanted}")]
    Misread { name: &'static str, value: String, wanted: String },
    #[error("{0}")]
    Contradiction(String),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

impl Why {
    /// The cause with its place.
    pub fn at(self, place: Place) -> Refusal {
        Refusal { place, why: self }
    }
}
