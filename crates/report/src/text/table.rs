//! A table of figures, each with its interval and the marks of its warnings.

use super::number::Figure;

/// Figures in rows and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultTable {
    /// Head of the labels.
    pub corner: &'static str,
    /// Heads of the columns.
    pub heads: Vec<&'static str>,
    /// At least one.
    pub rows: Vec<ResultRow>,
}

/// A row of figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultRow {
    /// `bandwidth`, `latency at QD 1`.
    pub label: String,
    /// Whether it belongs to the row above.
    pub indented: bool,
    /// A cell for each column. `None` where nobody asked.
    pub cells: Vec<Option<Cell>>,
}

/// A figure with the marks of the warnings that qualify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Value and interval.
    pub figure: Figure,
    /// `¹`, as behind the warning; mostly empty.
    pub marks: String,
}

impl Cell {
    /// Value, interval and marks in one.
    pub fn whole(&self) -> String {
        format!("{} {}", self.figure.whole(), self.marks).trim_end().to_owned()
    }
}

impl From<Figure> for Cell {
    fn from(figure: Figure) -> Self {
        Self { figure, marks: String::new() }
    }
}

impl ResultTable {
    /// A table without the columns that have no figure; `None` without rows.
    pub(super) fn new(corner: &'static str, heads: &[&'static str], rows: Vec<ResultRow>) -> Option<Self> {
        let shown: Vec<usize> =
            (0..heads.len()).filter(|&at| rows.iter().any(|row| row.cells[at].is_some())).collect();
        let only = |row: ResultRow| ResultRow {
            cells: shown.iter().map(|&at| row.cells[at].clone()).collect(),
            ..row
        };
        let heads = shown.iter().map(|&at| heads[at]).collect();
        (!rows.is_empty()).then(|| Self { corner, heads, rows: rows.into_iter().map(only).collect() })
    }
}
