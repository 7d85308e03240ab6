//! The whole document (schema 1) as `show --json` prints it: every trial with its histogram, windows and witnesses, and
//! everything concluded from them.

use iosonde_model::{Named, Run};

use super::ExportFormat;

/// The registered format.
pub struct Json;

impl Named for Json {
    fn name(&self) -> &'static str {
        "json"
    }
}

impl ExportFormat for Json {
    fn extension(&self) -> &'static str {
        "json"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        serde_json::to_string_pretty(run).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}
