//! JSON: the whole document (schema 1), every trial with its histogram and windows, for other programs.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::Format;
use crate::document::{compared_json, json};
use crate::error::ReportError;

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

    fn several(&self, _: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError> {
        Ok(compared_json(compared)?.into_bytes())
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        Ok(json(run)?.into_bytes())
    }
}
