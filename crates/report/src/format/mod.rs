//! Formats: what a report can be written in, one file each.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run, registry};

use crate::error::ReportError;

registry! {
    /// Every format, the usual one first.
    pub FORMATS: Format "format" {
        html::Html,
        md::Markdown,
        text::Text,
        json::Json,
        svg::Svg,
        png::Png,
    }
}

/// The files of a report that is a folder, each with its name.
pub type Files = Vec<(String, Vec<u8>)>;

/// A registered format.
pub trait Format: Named {
    /// What a file of it ends in, without the dot.
    fn extension(&self) -> &'static str;

    /// A concluded run, written in it.
    ///
    /// # Errors
    /// A chart could not be drawn, or the run could not be written down: defects of this program.
    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError>;

    /// The same as a folder of several files, each with its name; `None` for a format that is one file.
    ///
    /// # Errors
    /// As [`Format::render`].
    fn folder(&self, _run: &Run) -> Result<Option<Files>, ReportError> {
        Ok(None)
    }

    /// Several runs, compared, in one file.
    ///
    /// # Errors
    /// As [`Format::render`].
    fn several(&self, sides: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError>;

    /// The same as a folder; `None` for a format that is one file.
    fn several_folder(&self, _sides: &[Side], _compared: &Compared) -> Option<Files> {
        None
    }
}
