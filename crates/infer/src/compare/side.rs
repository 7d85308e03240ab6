//! Sides of a comparison, and how they are compared.

use iosonde_model::{ComparedFigure, Run};

/// One side as it was loaded.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its label, else its target.
    pub name: String,
    /// Its repeats, concluded.
    pub runs: Vec<Run>,
    /// Older runs of the same study on the same storage, concluded; looked at where there is one repeat.
    pub history: Vec<Run>,
}

/// How to compare.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// What is compared.
    pub figure: ComparedFigure,
    /// Ratios within this share of 1 count as the same.
    pub margin: f64,
    /// Confidence of the whole family of statements.
    pub confidence: f64,
    /// Whether the first side is what the others lie above; otherwise the runs themselves say so.
    pub over: bool,
}
