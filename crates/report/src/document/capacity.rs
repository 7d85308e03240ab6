//! A test of capacity in the document.

use iosonde_model::{Capacity, RUN_SCHEMA};
use serde::Serialize;

use crate::{error::ReportError, text};

/// A test of capacity, as other programs read it.
#[derive(Debug, Serialize)]
pub struct CapacityDocument<'a> {
    /// Version of iosonde that tested.
    pub iosonde: &'a str,
    /// Version of this document: 2.
    pub schema: u32,
    /// `pass` or `fail`.
    pub verdict: &'a str,
    /// The answer in a sentence.
    pub sentence: String,
    /// What was tested and found.
    #[serde(flatten)]
    pub capacity: &'a Capacity,
}

/// The document of a test of capacity.
pub fn capacity_json(capacity: &Capacity) -> Result<String, ReportError> {
    let document = CapacityDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        schema: RUN_SCHEMA,
        verdict: text::requirement::verdict(text::capacity::verdict(&capacity.finding)),
        sentence: text::capacity::answer(capacity),
        capacity,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
