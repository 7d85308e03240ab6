//! Two sides or more on the terminal: the answer, the geometric means, every line, and what else differs.

use crate::{
    paint::{Ink, Paint, clean, columns, pad},
    quantity::Quantity,
    text,
};
use iosonde_model::{
    Compared, ComparedFigure, ComparedPair, ComparedUnit, Comparison, Difference, Estimate, Likeness, units,
};

/// Where a section's text begins: behind COMPARED.
const HEAD: usize = 10;

/// The screen that ends a comparison.
pub fn comparison(compared: &Compared, paint: Paint) -> String {
    let pairs = compared.pairs.iter().map(|pair| one_pair(compared, pair, paint));
    let mut out = pairs.collect::<Vec<_>>().join("\n");
    if !compared.ranking.is_empty() {
        out += &format!("\n{}\n", paint.ink(Ink::Strong, "FROM FASTEST TO SLOWEST"));
        for (place, names) in compared.ranking.iter().enumerate() {
            let tie = if names.len() > 1 { "   (no difference found)" } else { "" };
            out +=
                &paint.hang(&format!("  {}. ", place + 1), 5, &format!("{}{tie}", clean(&names.join(", "))));
        }
        out += &paint.hang("  ", 2, &clean(&text::compare::ranking(compared)));
    }
    out
}

fn one_pair(compared: &Compared, pair: &ComparedPair, paint: Paint) -> String {
    let sentence = clean(&text::compare::answer(pair));
    let lead = format!("{}{}", paint.ink(Ink::Strong, "COMPARED"), " ".repeat(HEAD - "COMPARED".len()));
    let mut out = paint.hang(&lead, HEAD, &sentence);
    out += &means(pair, paint);
    out += &lines(compared, pair, paint);
    out += &left_out(compared, pair, paint);
    out + &differences(pair, paint)
}

fn means(pair: &ComparedPair, paint: Paint) -> String {
    let rows = pair.geometric_means.iter().skip(1).map(|mean| {
        let points = if mean.points == 1 { "1 point".to_owned() } else { format!("{} points", mean.points) };
        let ratio = Estimate { value: mean.ratio, low: mean.low, high: mean.high };
        let ratio = text::compare::ratio_text(pair, ratio);
        [mean.of.to_string(), points, ratio, verdict(mean.verdict, paint)]
    });
    table(&rows.collect::<Vec<_>>())
}

fn lines(compared: &Compared, pair: &ComparedPair, paint: Paint) -> String {
    let told = compared.lines(pair).filter(|line| line.verdict != Likeness::NotComparable);
    let rows: Vec<[String; 4]> = told
        .map(|line| {
            let figure =
                |value: Option<f64>| value.map_or_else(String::new, |value| quantity(line).text(value));
            let from_to = format!("{} → {}", figure(line.a), figure(line.b));
            let value = line.ratio.unwrap_or(f64::NAN);
            let ratio = Estimate { value, low: line.low, high: line.high };
            let ratio = text::compare::ratio_text(pair, ratio);
            [what(line), from_to, ratio, verdict(line.verdict, paint)]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = paint.ink(Ink::Strong, "LINES");
    let names = format!("{} → {}", clean(&pair.a), clean(&pair.b));
    let margin = units::percent(pair.margin);
    let of = match pair.unit {
        ComparedUnit::Repeat => "",
        ComparedUnit::Run => " (of these runs, not of the storage)",
    };
    let legend =
        format!("\n  same: within {margin} of 1; faster, slower: the whole interval lies beyond{of}\n");
    let all = if paint.width >= widest(&rows) { table(&rows) } else { narrow(&rows, paint) };
    format!("\n{head}     {names}, and the ratio\n{all}{legend}")
}

/// What one line is about; the direction where the workload has two.
fn what(line: &Comparison) -> String {
    let both = if line.spec.read_percent.is_some() { format!(", its {}s", line.op) } else { String::new() };
    format!("{}{both}", line.spec.describe())
}

fn quantity(line: &Comparison) -> Quantity {
    if line.figure == ComparedFigure::Iops { Quantity::Iops } else { Quantity::Nanoseconds }
}

fn verdict(verdict: Likeness, paint: Paint) -> String {
    let ink = match verdict {
        Likeness::Faster => Ink::Good,
        Likeness::Slower => Ink::Bad,
        Likeness::CannotTell => Ink::Quiet,
        Likeness::Same | Likeness::NotComparable => {
            return text::compare::likeness(verdict).to_owned();
        }
    };
    paint.ink(ink, text::compare::likeness(verdict))
}

fn widths(rows: &[[String; 4]]) -> [usize; 3] {
    [0, 1, 2].map(|column| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0))
}

fn widest(rows: &[[String; 4]]) -> usize {
    let last = text::compare::likeness(Likeness::CannotTell).len();
    2 + widths(rows).iter().map(|width| width + 2).sum::<usize>() + last
}

/// Rows whose columns stand below each other; the last has colours and is not measured.
fn table(rows: &[[String; 4]]) -> String {
    let [first, second, third] = widths(rows);
    let row = |[a, b, c, d]: &[String; 4]| {
        format!("  {}  {}  {}  {d}\n", pad(a, first), pad(b, second), pad(c, third))
    };
    rows.iter().map(row).collect()
}

/// The same in two lines each, where a terminal is narrow.
fn narrow(rows: &[[String; 4]], paint: Paint) -> String {
    let row = |[a, b, c, d]: &[String; 4]| {
        paint.hang("  ", 4, a) + &paint.hang("    ", 4, &format!("{b}   {c}   {d}"))
    };
    rows.iter().map(row).collect()
}

fn left_out(compared: &Compared, pair: &ComparedPair, paint: Paint) -> String {
    let refused: Vec<&Comparison> =
        compared.lines(pair).filter(|line| line.verdict == Likeness::NotComparable).collect();
    if refused.is_empty() && pair.unmatched == 0 {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint.ink(Ink::Strong, "NOT COMPARED"));
    for line in refused {
        out += &paint.hang("  ", 4, &clean(&format!("{}: {}", what(line), text::compare::limits(line))));
    }
    if pair.unmatched > 0 {
        let points =
            if pair.unmatched == 1 { "1 point".to_owned() } else { format!("{} points", pair.unmatched) };
        out += &paint.hang("  ", 4, &format!("{points} that only one side has"));
    }
    out
}

fn differences(pair: &ComparedPair, paint: Paint) -> String {
    if pair.differences.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint.ink(Ink::Strong, "OTHER DIFFERENCES"));
    let name = |difference: &Difference| text::compare::property(difference.what);
    let widest = pair.differences.iter().map(|difference| columns(name(difference))).max().unwrap_or(0) + 2;
    for difference in &pair.differences {
        let lead = format!("  {}", pad(name(difference), widest));
        let [a, b] = [&difference.a, &difference.b]
            .map(|value| text::compare::property_value(difference.what, value.as_ref()));
        out += &paint.hang(&lead, widest + 2, &clean(&format!("{a} → {b}")));
    }
    out
}
