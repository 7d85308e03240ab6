//! What screen and page show of an answer.

use crate::{figure::Figure, text::table::ResultTable};

/// A label and what it says.
pub type Line = (&'static str, String);

/// What a verdict means for the storage, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenor {
    /// Nothing was asked that could be wrong.
    Plain,
    /// As it should be.
    Good,
    /// Not to be told.
    Doubt,
    /// Not as it should be.
    Bad,
}

/// An answer as screen and page show it.
pub struct Shown {
    /// `files`, `cold`, `capacity`.
    pub command: &'static str,
    /// The verdict in a word.
    pub word: &'static str,
    /// Whether it is good.
    pub tenor: Tenor,
    /// The answer in a sentence without its end.
    pub sentence: String,
    /// What was measured.
    pub before: Vec<Line>,
    /// Figures, where there are several.
    pub table: Option<ResultTable>,
    /// What they mean.
    pub after: Vec<Line>,
    /// The page's charts.
    pub figures: Vec<Figure>,
    /// The target as the user named it.
    pub target: String,
}
