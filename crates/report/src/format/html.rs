//! One HTML file with everything in it: verdict, findings, charts to hover over, the method and every trial.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::Format;
use crate::error::ReportError;

/// The format.
pub struct Html;

impl Named for Html {
    fn name(&self) -> &'static str {
        "html"
    }
}

impl Format for Html {
    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        Ok(crate::html::html(run).into_bytes())
    }

    fn several(&self, sides: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError> {
        Ok(crate::several::several(sides, compared).into_bytes())
    }
}
