//! Shows: figures, charts, HTML, Markdown and terminal text of a concluded run.
//!
//! Nothing is measured, judged or estimated here. A run comes in as `lab` concluded it, and every format
//! tells the same story ([`FORMATS`]); a chart is data first ([`figure::Figure`]) and drawn by a kept
//! library.

mod answer;
mod bars;
pub mod chart;
mod comparison;
mod device_file;
mod document;
mod error;
pub mod figure;
mod format;
mod html;
mod junit;
pub mod markdown;
mod paint;
pub mod picture;
mod quantity;
mod ranking;
mod results;
pub mod several;
mod sheet;
mod story;
pub mod terminal;
pub mod text;

pub use answer::Answer;
pub use comparison::comparison;
pub use device_file::device_file;
pub use document::{
    CapacityDocument, ClaimLine, ColdDocument, ComparedDocument, ComparisonLine, ComplianceLine,
    DifferenceLine, Document, FilesDocument, FilesFindingLine, FindingLine, PairLine, PortraitDocument,
    RequiredLine, RequirementDocument, TraitLine, VerdictLine, compared_json, json,
};
pub use error::ReportError;
pub use format::{FORMATS, Files, Format};
pub use html::html;
pub use junit::{requirement_junit, results_junit};
pub use paint::{Paint, clean, paragraph};
pub use quantity::Quantity;
pub use results::judged;
pub use several::several;
pub use sheet::sheet;
pub use story::{health, subject};
pub use text::note;
