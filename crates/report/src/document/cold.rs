//! First and second reads in the document.

use iosonde_model::{Cold, RUN_SCHEMA};
use serde::Serialize;

use crate::{error::ReportError, text};

/// First and second reads, as other programs read them.
#[derive(Debug, Serialize)]
pub struct ColdDocument<'a> {
    /// Version of iosonde that read.
    pub iosonde: &'a str,
    /// Version of this document: 2.
    pub schema: u32,
    /// The answer in a sentence.
    pub sentence: String,
    /// What was read and found.
    #[serde(flatten)]
    pub cold: &'a Cold,
}

/// The document of first and second reads.
pub fn cold_json(cold: &Cold) -> Result<String, ReportError> {
    let document = ColdDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        schema: RUN_SCHEMA,
        sentence: text::cold::answer(cold),
        cold,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
