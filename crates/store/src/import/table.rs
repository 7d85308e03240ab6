//! Tables in CSV: a first line of names, comma, semicolon, tab or bar between cells, comments behind `#`.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord};

use super::{Damage, ImportError};

/// A table whose lines are read one after another.
pub(super) struct Table<'a> {
    text: &'a str,
    separator: u8,
    pub(super) header: Vec<String>,
    columns: BTreeMap<String, usize>,
}

/// The separator of a line of names: the most frequent of the four.
fn separator_of(line: &str) -> u8 {
    [b',', b';', b'\t', b'|']
        .into_iter()
        .rev()
        .max_by_key(|&one| line.bytes().filter(|&byte| byte == one).count())
        .unwrap_or(b',')
}

/// The longest line of names: elbencho's has 1.5 KB. One of a whole file would be millions of cells.
const NAMES_BYTES_MAX: usize = 64 << 10;

/// The line of names: the first that is neither blank nor a comment.
fn names_line(text: &str) -> Option<(usize, &str)> {
    let numbered = (1..).zip(text.lines());
    numbered.into_iter().find(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

fn reader(text: &str, separator: u8) -> csv::Reader<&[u8]> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).trim(csv::Trim::All).comment(Some(b'#')).delimiter(separator);
    builder.from_reader(text.as_bytes())
}

/// Names of the columns of what may be a table.
pub(super) fn names(text: &str) -> Vec<String> {
    let Some((_, line)) = names_line(text).filter(|(_, line)| line.len() <= NAMES_BYTES_MAX) else {
        return Vec::new();
    };
    let record = reader(line, separator_of(line)).records().next();
    record.and_then(Result::ok).map_or_else(Vec::new, |record| record.iter().map(str::to_owned).collect())
}

impl<'a> Table<'a> {
    /// Reads the line of names.
    pub(super) fn of(text: &'a str) -> Result<Self, ImportError> {
        let (number, line) = names_line(text).ok_or_else(|| Damage::whole("has no line of names"))?;
        let (separator, header) = (separator_of(line), names(text));
        let mut columns = BTreeMap::new();
        for (at, name) in header.iter().enumerate() {
            if columns.insert(name.clone(), at).is_some() && !name.is_empty() {
                let column = cell_column(line, separator, at);
                return Err(Damage::at(number, column, format!("the column `{name}` stands twice")));
            }
        }
        Ok(Self { text, separator, header, columns })
    }

    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }

    /// The rows below the names; blank lines and comments are passed over.
    pub(super) fn rows(&self) -> impl Iterator<Item = Result<Row<'_>, ImportError>> {
        let mut records = reader(self.text, self.separator).into_records();
        let lines: Vec<&str> = self.text.lines().collect();
        let mut names_read = false;
        std::iter::from_fn(move || {
            loop {
                let record = match records.next()? {
                    Ok(record) => record,
                    Err(error) => return Some(Err(Damage::whole(format!("is no table: {error}")))),
                };
                // A record's place is where the one before ended: blank lines and comments lie between.
                let mut line = record.position().map_or(1, |place| place.line() as usize);
                let passed_over = |line: &str| line.trim().is_empty() || line.starts_with('#');
                while lines.get(line - 1).is_some_and(|own| passed_over(own)) {
                    line += 1;
                }
                if record.iter().all(str::is_empty) {
                    continue;
                }
                if !names_read {
                    names_read = true;
                    continue;
                }
                let text = lines.get(line - 1).copied().unwrap_or_default();
                let row = Row {
                    columns: &self.columns,
                    record,
                    line,
                    text: text.to_owned(),
                    separator: self.separator,
                };
                if row.record.len() > self.columns.len() {
                    let why = format!("{} cells under {} columns", row.record.len(), self.columns.len());
                    return Some(Err(row.damaged_at(self.columns.len(), why)));
                }
                let is_cut = line == lines.len() && !self.text.ends_with('\n');
                if is_cut && row.record.len() < self.columns.len() {
                    let (own, all) = (row.record.len(), self.columns.len());
                    let why = format!("the table ends in the middle of a row, after {own} of {all} cells");
                    return Some(Err(row.damaged_at(own - 1, why)));
                }
                return Some(Ok(row));
            }
        })
    }
}

/// Column in characters, from 1, at which a cell of a line begins.
fn cell_column(line: &str, separator: u8, index: usize) -> usize {
    let (mut quoted, mut cells) = (false, 0);
    for (at, letter) in line.chars().enumerate() {
        if cells == index {
            return at + 1;
        }
        quoted ^= letter == '"';
        cells += usize::from(letter == char::from(separator) && !quoted);
    }
    line.chars().count() + 1
}

/// A line below the names.
pub(super) struct Row<'a> {
    columns: &'a BTreeMap<String, usize>,
    record: StringRecord,
    line: usize,
    text: String,
    separator: u8,
}

impl Row<'_> {
    /// A cell; an empty one is absent.
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        self.record.get(*self.columns.get(column)?).filter(|cell| !cell.is_empty())
    }

    /// A number, with or without a percent sign.
    pub(super) fn number(&self, column: &str) -> Result<Option<f64>, ImportError> {
        let Some(cell) = self.text(column) else { return Ok(None) };
        let number = cell.trim_end_matches('%').trim().parse().ok();
        let number = number.filter(|value: &f64| value.is_finite() && *value >= 0.0);
        number
            .map(Some)
            .ok_or_else(|| self.damaged(column, format!("`{cell}` in column `{column}` is no number")))
    }

    /// A cause in a cell; at the line's beginning if there is no such column.
    pub(super) fn damaged(&self, column: &str, why: impl Into<String>) -> ImportError {
        self.damaged_at(self.columns.get(column).copied().unwrap_or(0), why)
    }

    fn damaged_at(&self, index: usize, why: impl Into<String>) -> ImportError {
        Damage::at(self.line, cell_column(&self.text, self.separator, index), why)
    }
}
