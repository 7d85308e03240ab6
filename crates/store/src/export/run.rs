//! One file that another machine opens as if the run stood in its own notebook: `iosonde show FILE`, `iosonde report
//! FILE`.
//!
//! It is the document of `json` on one line. What was concluded is concluded again where it is opened, so that a newer
//! iosonde judges with its own checks.

use iosonde_model::{Named, Run};

use super::ExportFormat;

/// The registered format.
pub struct RunFile;

impl Named for RunFile {
    fn name(&self) -> &'static str {
        "run"
    }
}

impl ExportFormat for RunFile {
    fn extension(&self) -> &'static str {
        "iosonde"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        serde_json::to_string(run).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}
