//! Errors of reports.

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A picture could not be made.
    #[error("{0}")]
    Picture(String),
    /// The run could not be written as JSON.
    #[error("the run could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
