//! A run against a vendor's sheet, on the terminal.

use iosonde_model::{ClaimVerdict, Run, Sheet, SheetLine, units};

use crate::{
    paint::{Ink, Paint, clean, columns, pad},
    text::{
        number::Figure,
        sheet::{ClaimRow, ClaimTable, claim_table},
    },
};

/// Partitions and file systems take less than this from a drive; the next size up is at least a fifth more.
const OTHER_CAPACITY: f64 = 0.15;

/// A run against a sheet, for a screen of its own.
pub fn sheet(run: &Run, sheet: &Sheet, lines: &[SheetLine], paint: Paint) -> String {
    let head = format!("{} against {}", run.info.label.as_deref().unwrap_or(&run.info.id), sheet.summary);
    let mut out = paint.hang("", 2, &clean(&head));
    out += &paint.hang("", 2, &clean(&format!("{}   {}", crate::subject(&run.info.device), run.info.target)));
    // Drives of one name have other figures at another capacity.
    if let (Some(promised), Some(found)) = (sheet.capacity_bytes, run.info.device.whole_bytes()) {
        let (promised_gb, found_gb) = (units::decimal_bytes(promised), units::decimal_bytes(found));
        if (found as f64 / promised as f64 - 1.0).abs() > OTHER_CAPACITY {
            let note = format!(
                "The sheet is for a drive of {promised_gb}, and this one has {found_gb}. Claims may differ."
            );
            out += &paint.hang("Note: ", 6, &note);
        }
    }
    out.push('\n');
    out + &claims(&claim_table(sheet, lines), paint)
}

/// Lines of a sheet: claimed, measured and verdict, and below them the workload and its conditions.
pub(crate) fn claims(table: &ClaimTable, paint: Paint) -> String {
    let cells = |row: &ClaimRow| {
        let measured = row.measured.as_ref().map_or_else(|| "–".to_owned(), Figure::whole);
        [clean(&row.line), row.claimed.clone(), measured]
    };
    let heads = ["", "claimed", "measured"].map(str::to_owned);
    let all: Vec<[String; 3]> = std::iter::once(heads).chain(table.rows.iter().map(cells)).collect();
    let widths: [usize; 3] =
        std::array::from_fn(|at| all.iter().map(|row| columns(&row[at])).max().unwrap_or(0) + 2);
    let longest = table.rows.iter().map(|row| columns(&row.verdict.to_string())).max().unwrap_or(0);
    let beside = 2 + widths.iter().sum::<usize>() + longest <= paint.width;
    let figures = |row: &[String; 3]| (1..3).map(|at| pad(&row[at], widths[at])).collect::<String>();
    let lead = if beside { widths[0] } else { 2 };
    let head = format!("  {}{}", " ".repeat(lead), figures(&all[0]));
    let mut out = format!("{}\n", paint.ink(Ink::Quiet, head.trim_end()));
    for (row, cells) in table.rows.iter().zip(&all[1..]) {
        let line = if beside { pad(&cells[0], lead) } else { format!("{}\n    ", cells[0]) };
        out +=
            &format!("  {line}{}{}\n", figures(cells), paint.ink(ink(row.verdict), &row.verdict.to_string()));
        out += &paint.hang("    ", 4, &clean(&row.why));
    }
    out
}

fn ink(verdict: ClaimVerdict) -> Ink {
    match verdict {
        ClaimVerdict::Meets => Ink::Good,
        ClaimVerdict::Below => Ink::Bad,
        ClaimVerdict::Above => Ink::Doubt,
        ClaimVerdict::NotComparable => Ink::Quiet,
    }
}
