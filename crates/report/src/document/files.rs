//! Small files in the document.

use iosonde_model::{FilesFindingName, RUN_SCHEMA, SmallFiles};
use serde::Serialize;

use crate::{error::ReportError, text};

/// A measurement of small files, as other programs read it.
#[derive(Debug, Serialize)]
pub struct FilesDocument<'a> {
    /// Version of iosonde that measured.
    pub iosonde: &'a str,
    /// Version of this document: 2.
    pub schema: u32,
    /// The answer in a sentence.
    pub sentence: String,
    /// What was measured; its findings stand below.
    #[serde(flatten)]
    pub found: &'a SmallFiles,
    /// What is concluded, as in the document of a run.
    pub findings: Vec<FilesFindingLine>,
}

/// What is concluded about small files.
#[derive(Debug, Serialize)]
pub struct FilesFindingLine {
    /// Its name.
    pub name: FilesFindingName,
    /// Value.
    pub value: f64,
    /// `1/s` or `ns`.
    pub unit: &'static str,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Confidence of the interval.
    pub confidence: f64,
    /// True if memory answered.
    pub from_memory: Option<bool>,
    /// In words.
    pub sentence: String,
}

/// The document of small files.
pub fn files_json(found: &SmallFiles) -> Result<String, ReportError> {
    let lines = found.findings.iter().map(|finding| FilesFindingLine {
        name: finding.name,
        value: finding.value.value,
        unit: match finding.name {
            FilesFindingName::FileCreatesPerS => "1/s",
            FilesFindingName::StatLatency | FilesFindingName::FsyncFileLatency => "ns",
        },
        low: finding.value.low,
        high: finding.value.high,
        confidence: 0.95,
        from_memory: finding.from_memory,
        sentence: text::files::finding(finding),
    });
    let document = FilesDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        schema: RUN_SCHEMA,
        sentence: text::files::answer(found),
        found,
        findings: lines.collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
