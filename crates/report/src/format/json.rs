//! JSON: the whole document (schema 1), every trial with its histogram and windows, for other programs.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::{Format, ReportError};
use crate::document::{ComparedDocument, Document};

/// The format.
pub struct Json;

impl Named for Json {
    fn name(&self) -> &'static str {
        "json"
    }
}

impl Format for Json {
    fn extension(&self) -> &'static str {
        "json"
    }

    fn several(&self, _: &[Side], compared: &Compared) -> Result<Option<Vec<u8>>, ReportError> {
        Ok(Some(compared_json(compared)?.into_bytes()))
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        Ok(json(run)?.into_bytes())
    }
}

/// The document as text, ending in a line break.
///
/// # Errors
/// The run could not be written as JSON: a defect of this program.
pub fn json(run: &Run) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(&Document::of(run))? + "\n")
}

/// The document of a comparison as text, ending in a line break.
///
/// # Errors
/// The comparison could not be written as JSON: a defect of this program.
pub fn compared_json(compared: &Compared) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(&ComparedDocument::of(compared))? + "\n")
}
