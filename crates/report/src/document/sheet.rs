//! Lines of `spec --json`: a vendor's sheet with what was measured, words included.

use iosonde_model::{ClaimUnit, ClaimVerdict, SheetLine};
use serde::Serialize;

use crate::text;

/// One line of a sheet with what was measured.
#[derive(Debug, Serialize)]
pub struct ClaimLine<'a> {
    /// The line as printed on the sheet.
    pub line: &'a str,
    /// Claimed value.
    pub claimed: f64,
    /// In which unit.
    pub unit: ClaimUnit,
    /// Value of the point that comes nearest to the claim's conditions.
    pub measured: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Result of the comparison.
    pub verdict: ClaimVerdict,
    /// Why.
    pub why: String,
}

impl<'a> From<&'a SheetLine> for ClaimLine<'a> {
    fn from(line: &'a SheetLine) -> Self {
        Self {
            line: &line.line,
            claimed: line.claimed,
            unit: line.unit,
            measured: line.measured,
            low: line.low,
            high: line.high,
            verdict: line.verdict,
            why: text::sheet::why(line),
        }
    }
}
