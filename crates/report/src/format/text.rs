//! Plain text: the screen that ends a run, 80 columns wide, without colour, for a log or a mail.

use iosonde_model::{Named, Run};

use super::{Format, ReportError};

/// The format.
pub struct Text;

impl Named for Text {
    fn name(&self) -> &'static str {
        "text"
    }
}

impl Format for Text {
    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        Ok(crate::terminal::summary(run, crate::Paint { color: false, width: 80 }).into_bytes())
    }
}
