//! Three sides or more on the terminal, from fastest to slowest: columns beside each other as far as there is room.

use iosonde_model::Compared;

use crate::{
    paint::{Ink, Paint, clean, columns, pad},
    text::ranking_table::{self, ColumnGroup, NONE},
};

const GAP: usize = 2;

/// The ranking with its figures; of one side, what it is that the others were compared with.
pub fn ranking(compared: &Compared, paint: Paint) -> String {
    if compared.ranking.is_empty() {
        return String::new();
    }
    let groups = ranking_table::groups(compared);
    let notes = ranking_table::notes(compared, &groups);
    let notes: String = notes.iter().map(|note| paint.hang("  ", 2, &clean(note))).collect();
    if !compared.is_ranked() {
        return notes;
    }
    let names: Vec<String> =
        ranking_table::places(compared).map(|(place, name)| format!("  {place}. {}", clean(name))).collect();
    let name_width = names.iter().map(|name| columns(name)).max().unwrap_or(0) + GAP;
    let mut out = format!("\n{}\n", paint.ink(Ink::Strong, "FROM FASTEST TO SLOWEST"));
    let mut block: Vec<Laid> = Vec::new();
    for group in groups.into_iter().map(Laid::new) {
        let taken: usize = block.iter().map(Laid::width).sum();
        if !block.is_empty() && name_width + taken + group.width() > paint.width + GAP {
            out += &lines(&names, name_width, &std::mem::take(&mut block), paint);
            out.push('\n');
        }
        block.push(group);
    }
    out + &lines(&names, name_width, &block, paint) + &notes
}

/// A group of columns with their widths.
struct Laid {
    head: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Laid {
    fn new(ColumnGroup { head, columns: heads, rows }: ColumnGroup) -> Self {
        let shown =
            |row: Vec<Option<String>>| row.into_iter().map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
        let rows: Vec<Vec<String>> = rows.into_iter().map(|row| shown(row).collect()).collect();
        let widest = |at: usize| {
            let cells = rows.iter().map(|row| columns(&row[at]));
            cells.chain([columns(&heads[at])]).max().unwrap_or(0) + GAP
        };
        let mut widths: Vec<usize> = (0..heads.len()).map(widest).collect();
        let missing = (columns(&head) + GAP).saturating_sub(widths.iter().sum());
        if let Some(last) = widths.last_mut() {
            *last += missing;
        }
        Self { head, columns: heads, rows, widths }
    }

    fn width(&self) -> usize {
        self.widths.iter().sum()
    }

    fn line(&self, cells: &[String]) -> String {
        cells.iter().zip(&self.widths).map(|(cell, width)| pad(cell, *width)).collect()
    }
}

fn lines(names: &[String], name_width: usize, block: &[Laid], paint: Paint) -> String {
    let quiet = |cells: String| {
        let line = format!("{}{cells}", " ".repeat(name_width));
        format!("{}\n", paint.ink(Ink::Quiet, line.trim_end()))
    };
    let heads = block.iter().map(|laid| pad(&clean(&laid.head), laid.width())).collect();
    let below = block.iter().map(|laid| laid.line(&laid.columns)).collect();
    let mut out = quiet(heads) + &quiet(below);
    for (at, name) in names.iter().enumerate() {
        let cells: String = block.iter().map(|laid| laid.line(&laid.rows[at])).collect();
        out += &format!("{}\n", format!("{}{cells}", pad(name, name_width)).trim_end());
    }
    out
}
