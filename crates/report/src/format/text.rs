//! Plain text: the screen that ends a run and its charts as bars, 80 columns wide, without colour, for a log or a mail.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::Format;
use crate::error::ReportError;

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

    fn several(&self, sides: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError> {
        let paint = crate::Paint { color: false, width: 80 };
        Ok(crate::comparison(sides, compared, false, paint).into_bytes())
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        let paint = crate::Paint { color: false, width: 80 };
        let charts = crate::terminal::charts(run, paint);
        let gap = if charts.is_empty() { "" } else { "\n" };
        Ok((crate::terminal::summary(run, paint) + gap + &charts).into_bytes())
    }
}
