//! Markdown: the same story in tables and sentences, for an issue, a lab book or a pull request.

use iosonde_model::{Named, Run};

use super::{Format, ReportError};

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
}
