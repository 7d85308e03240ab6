//! Formats: what a report can be written in, one file each.

use iosonde_model::{Named, Run, registry};

pub use json::json;

registry! {
    /// Every format, the usual one first.
    pub FORMATS: Format "format" {
        html::Html,
        md::Markdown,
        text::Text,
        json::Json,
        svg::Svg,
    }
}

/// A registered format.
pub trait Format: Named {
    /// What a file of it ends in, without the dot.
    fn extension(&self) -> &'static str;

    /// A concluded run, written in it.
    ///
    /// # Errors
    /// A chart could not be drawn, or the run could not be written down: defects of this program.
    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError>;
}

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run could not be written as JSON.
    #[error("the run could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
