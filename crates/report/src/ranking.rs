//! Three sides or more on the terminal, from fastest to slowest: columns beside each other as far as there is room.

use iosonde_model::Compared;

use crate::{
    paint::{Ink, Paint, clean, columns, pad},
    text::{
        self,
        ranking_table::{self, ColumnGroup},
    },
};

const GAP: usize = 2;

/// The ranking with its figures; empty where the sides have none.
pub fn ranking(compared: &Compared, paint: Paint) -> String {
    if compared.ranking.is_empty() {
        return String::new();
    }
    let how = paint.hang("  ", 2, &clean(&text::compare::ranking(compared)));
    if !compared.is_ranked() {
        return how;
    }
    let names = names(compared);
    let name_width = names.iter().map(|name| columns(name)).max().unwrap_or(0) + GAP;
    let mut out = format!("\n{}\n", paint.ink(Ink::Strong, "FROM FASTEST TO SLOWEST"));
    let groups = std::iter::once(ranking_table::ratios(compared)).chain(ranking_table::figures(compared));
    let mut block: Vec<Laid> = Vec::new();
    for group in groups.map(Laid::new) {
        let taken: usize = block.iter().map(Laid::width).sum();
        if !block.is_empty() && name_width + taken + group.width() > paint.width + GAP {
            out += &lines(&names, name_width, &std::mem::take(&mut block), paint);
            out.push('\n');
        }
        block.push(group);
    }
    out += &lines(&names, name_width, &block, paint);
    out + &how
}

/// `  1. sim:optane`; sides that share a place have one number.
fn names(compared: &Compared) -> Vec<String> {
    let numbered =
        compared.ranking.iter().enumerate().flat_map(|(place, names)| {
            names.iter().map(move |name| format!("  {}. {}", place + 1, clean(name)))
        });
    numbered.collect()
}

/// A group of columns with their widths.
struct Laid {
    group: ColumnGroup,
    widths: Vec<usize>,
}

impl Laid {
    fn new(group: ColumnGroup) -> Self {
        let widest = |at: usize| {
            let cells = group.rows.iter().map(|row| columns(&row[at]));
            cells.chain([columns(&group.columns[at])]).max().unwrap_or(0) + GAP
        };
        let mut widths: Vec<usize> = (0..group.columns.len()).map(widest).collect();
        let missing = (columns(&group.head) + GAP).saturating_sub(widths.iter().sum());
        if let Some(last) = widths.last_mut() {
            *last += missing;
        }
        Self { group, widths }
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
    let heads = block.iter().map(|laid| pad(&clean(&laid.group.head), laid.width())).collect();
    let below = block.iter().map(|laid| laid.line(&laid.group.columns)).collect();
    let mut out = quiet(heads) + &quiet(below);
    for (at, name) in names.iter().enumerate() {
        let cells: String = block.iter().map(|laid| laid.line(&laid.group.rows[at])).collect();
        out += &format!("{}\n", format!("{}{cells}", pad(name, name_width)).trim_end());
    }
    out
}
