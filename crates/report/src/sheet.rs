//! A run against a vendor's sheet, on the terminal.

use iosonde_model::{ClaimUnit, ClaimVerdict, Run, Sheet, SheetLine, units};

use crate::{
    paint::{Ink, Paint, clean, columns, pad},
    quantity::Quantity,
    text,
};

/// Partitions and file systems take less than this from a drive; the next size up is at least a fifth more.
const OTHER_CAPACITY: f64 = 0.15;

/// One line of the sheet below the other: claimed, measured, verdict, and why.
pub fn sheet(run: &Run, sheet: &Sheet, lines: &[SheetLine], paint: Paint) -> String {
    let head = format!("{} against {}", run.info.label.as_deref().unwrap_or(&run.info.id), sheet.summary);
    let mut out = paint.hang("", 2, &clean(&head));
    out += &paint.hang("", 2, &clean(&format!("{}   {}", crate::subject(&run.info.device), run.info.target)));
    // Drives of one name have other figures at another capacity.
    if let (Some(promised), Some(found)) = (sheet.capacity_bytes, run.info.device.size_bytes) {
        let (promised_gb, found_gb) = (units::decimal_bytes(promised), units::decimal_bytes(found));
        if (found as f64 / promised as f64 - 1.0).abs() > OTHER_CAPACITY {
            let note = format!(
                "The sheet is for a drive of {promised_gb}, and this one has {found_gb}. Claims may differ."
            );
            out += &paint.hang("Note: ", 6, &note);
        }
    }
    out.push('\n');
    let widest = lines.iter().map(|line| columns(&line.line)).max().unwrap_or(0) + 2;
    for line in lines {
        let quantity = match line.unit {
            ClaimUnit::Iops => Quantity::Iops,
            ClaimUnit::BytesPerSecond => Quantity::BytesPerSecond,
        };
        let measured = line.measured.map_or_else(
            || "nothing measured".to_owned(),
            |value| quantity.interval_text(value, line.low, line.high),
        );
        let verdict = paint.ink(ink(line.verdict), &line.verdict.to_string());
        let lead = format!("  {}", pad(&clean(&line.line), widest));
        let text = format!("{} claimed, {measured}: {verdict}", quantity.text(line.claimed));
        out += &paint.hang(&lead, widest + 2, &text);
        out += &paint.hang(&" ".repeat(widest + 2), widest + 2, &clean(&text::sheet::why(line)));
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
