//! Markdown: the same story in tables and sentences, for an issue, a lab book or a pull request; as a folder, with
//! numbered figures, the figures behind each as CSV, the method and a glossary: what one hands in.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::{Files, Format};
use crate::error::ReportError;

/// The format.
pub struct Markdown;

impl Named for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }
}

impl Format for Markdown {
    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        Ok(crate::markdown::markdown(run).into_bytes())
    }

    fn folder(&self, run: &Run) -> Result<Option<Files>, ReportError> {
        Ok(Some(crate::markdown::folder(run)))
    }

    fn several(&self, sides: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError> {
        Ok(crate::several::markdown(sides, compared, false).into_bytes())
    }

    fn several_folder(&self, sides: &[Side], compared: &Compared) -> Option<Files> {
        Some(crate::several::markdown_folder(sides, compared))
    }
}
