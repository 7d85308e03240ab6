//! Answers of commands that keep no run: one question, one page.
//!
//! Each is a verdict with a sentence, labelled lines, perhaps a table, and charts. Screen and page show the same.

mod capacity;
mod cold;
mod files;
pub(crate) mod shown;

use iosonde_model::Circumstances;

use crate::{ReportError, html, paint::Paint, terminal};
use shown::Shown;

/// An answer of a command that keeps no run.
pub trait Answer {
    /// When, where and how it was measured.
    fn circumstances(&self) -> &Circumstances;

    /// The document of it.
    ///
    /// # Errors
    /// It could not be written as JSON: a defect of this program.
    fn json(&self) -> Result<String, ReportError>;

    /// What screen and page show.
    fn shown(&self) -> Shown;

    /// The screen.
    fn screen(&self, paint: Paint) -> String {
        terminal::answer(&self.shown(), paint)
    }

    /// The page: one HTML file.
    fn page(&self) -> String {
        html::answer(&self.shown(), self.circumstances())
    }
}
