//! Cells of tables for spreadsheets.

use iosonde_model::{Rw, TrialSpec};

/// Share of reads in percent; none of trims.
pub(super) fn read_percent(spec: &TrialSpec) -> String {
    match spec.rw {
        Rw::Trim | Rw::RandTrim => String::new(),
        rw if rw.is_mixed() => spec.read_percent.unwrap_or(50.0).to_string(),
        rw => if rw.writes() { "0" } else { "100" }.to_owned(),
    }
}

/// A number; empty where it is absent.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A cell with commas or quotes in it. What begins like a formula is kept from being one in a spreadsheet: names of
/// experiments come from studies and imported files.
pub(super) fn quoted(text: &str) -> String {
    let begins = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r']);
    let text = if begins { &format!("'{text}") } else { text };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_one_cell_and_is_no_formula() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=cmd|' /C calc'!A1"), "'=cmd|' /C calc'!A1");
        assert_eq!(quoted(" @SUM(1,2)"), "\"' @SUM(1,2)\"");
    }
}
