//! Two sides or more on the terminal: the answer, one table of workloads, and what else differs.

use crate::{
    paint::{Ink, Paint, clean, columns, pad},
    ranking::ranking,
    text::{
        self,
        compare_table::{CompareRow, CompareTable, table, what, what_both},
        ranking_table::{PAIRS_MAX, stands_for},
    },
};
use iosonde_infer::compare::Side;
use iosonde_model::{
    Compared, ComparedPair, Comparison, Difference, Incomparable, Layer, Likeness, NoFigure,
};

/// Where a section's text begins: behind COMPARED.
const HEAD: usize = 10;
/// Columns of a side's name above its figures, and fewer where names leave too little room for workloads; the answer
/// gives it in full.
const NAME_MAX: usize = 22;
const NAMES: [usize; 3] = [NAME_MAX, 15, 10];
/// Workloads without a ratio that are named on a screen: the others are counted.
const REFUSED_MAX: usize = 3;

/// The screen that ends a comparison; with `details`, every line of it.
pub fn comparison(sides: &[Side], compared: &Compared, details: bool, paint: Paint) -> String {
    let mut out = valid(sides, paint);
    if let Some(found) = &compared.odd_sides {
        let lead = format!("{}{}", paint.ink(Ink::Strong, "ODD ONE"), " ".repeat(HEAD - "ODD ONE".len()));
        out += &paint.hang(&lead, HEAD, &clean(&text::odd_side::answer(found)));
    }
    for (place, pair) in compared.pairs.iter().enumerate() {
        out += if place > 0 && (details || compared.pairs.len() <= PAIRS_MAX) { "\n" } else { "" };
        out += &one_pair(compared, pair, details, paint);
    }
    out += &ranking(compared, paint);
    if compared.pairs.len() > PAIRS_MAX && !details {
        out += &paint.hang("  ", 2, "Every workload of each pair: -v.");
    }
    out
}

/// Whether each side can be believed, in the first words of its own end screen, and what it was measured on.
fn valid(sides: &[Side], paint: Paint) -> String {
    let mut before = String::new();
    let each: Vec<String> = sides
        .iter()
        .enumerate()
        .filter_map(|(nth, side)| {
            let run = side.runs.first()?;
            // Two sides are the columns of one table.
            let letter = if sides.len() == 2 { ["A ", "B "][nth] } else { "" };
            let validity = text::validity::validity(run);
            let more = match validity.mark > text::validity::Weight::Note {
                true => {
                    let drifted = text::validity::drift_warning(run);
                    let drifted = drifted.map_or_else(String::new, |what| format!("; {what}"));
                    format!("{drifted} (see `iosonde show {}`)", run.info.id)
                }
                false => String::new(),
            };
            let own = crate::story::measured_on_briefly(run);
            let on = if own == before { "likewise".to_owned() } else { own.clone() };
            before = own;
            let unseen =
                text::vantage::unseen_cache(run).filter(|_| validity.mark < text::validity::Weight::No);
            let unseen = unseen.map_or_else(String::new, |unseen| format!("; {unseen}"));
            // A name that is neither label nor target has been told apart from a like one, by machine or by id.
            let usual = run.info.label.as_ref().unwrap_or(&run.info.target);
            let id = match side.name == *usual && side.runs.len() == 1 {
                true => format!("run {}, ", run.info.id),
                false => String::new(),
            };
            Some(clean(&format!("{letter}{} ({id}{on}): {}{more}{unseen}", side.name, validity.headline)))
        })
        .collect();
    let first = format!("{}{}", paint.ink(Ink::Strong, "VALID"), " ".repeat(HEAD - "VALID".len()));
    let leads = std::iter::once(first).chain(std::iter::repeat(" ".repeat(HEAD)));
    leads.zip(&each).map(|(lead, told)| paint.hang(&lead, HEAD, told)).collect()
}

fn one_pair(compared: &Compared, pair: &ComparedPair, details: bool, paint: Paint) -> String {
    if let Some(layer) = &pair.layer {
        return layered(compared, pair, layer, details, paint);
    }
    if !details && stands_for(compared, pair) {
        return String::new();
    }
    let sentence = clean(&text::compare::answer(pair));
    let lead = format!("{}{}", paint.ink(Ink::Strong, "COMPARED"), " ".repeat(HEAD - "COMPARED".len()));
    let mut out = paint.hang(&lead, HEAD, &sentence);
    if compared.pairs.len() > PAIRS_MAX && !details {
        return out;
    }
    let shown = table(compared, pair, details);
    if !shown.rows.is_empty() {
        out += &rows(pair, &shown, paint);
        out += &legend(pair, &shown, paint);
    }
    out += &left_out(compared, pair, details, paint);
    out + &differences(pair, details, paint)
}

/// What a layer costs: the answer, what is odd about it, and a line for each workload.
fn layered(compared: &Compared, pair: &ComparedPair, layer: &Layer, details: bool, paint: Paint) -> String {
    let lead = format!("{}{}", paint.ink(Ink::Strong, "LAYER"), " ".repeat(HEAD - "LAYER".len()));
    let mut out = paint.hang(&lead, HEAD, &clean(&text::layer::answer(pair, layer)));
    for sign in text::layer::signs(pair, layer) {
        out += &paint.hang(&format!("{}- ", " ".repeat(HEAD)), HEAD + 2, &clean(&sign));
    }
    let [a, b] = short([&pair.a, &pair.b], NAME_MAX);
    let heads = [String::new(), a, b, "cost of the layer".to_owned()];
    let cells = text::layer::rows(layer).into_iter().map(|row| [row.label, row.base, row.through, row.cost]);
    let all: Vec<[String; 4]> = std::iter::once(heads).chain(cells).collect();
    if all.len() > 1 {
        out += &in_columns(&all, &vec![String::new(); all.len()], 0, paint);
        out += &paint.hang("  ", 2, text::layer::LEGEND);
    }
    out += &left_out(compared, pair, details, paint);
    out + &differences(pair, details, paint)
}

/// A workload and its figures on one line; where that is too long, the figures stand below.
fn rows(pair: &ComparedPair, shown: &CompareTable, paint: Paint) -> String {
    let heads = |most: usize| {
        let [a, b] = short([&pair.a, &pair.b], most);
        [String::new(), format!("A {a}"), format!("B {b}"), "B is".to_owned()]
    };
    let cells = |row: &CompareRow| [indented(row), row.a.clone(), row.b.clone(), row.ratio.clone()];
    let all = |heads: [String; 4]| -> Vec<[String; 4]> {
        std::iter::once(heads).chain(shown.rows.iter().map(cells)).collect()
    };
    let verdicts = std::iter::once(String::new()).chain(shown.rows.iter().map(|row| verdict(row, paint)));
    let longest = shown.rows.iter().map(|row| row.said.len()).max().unwrap_or(0);
    let verdicts: Vec<String> = verdicts.collect();
    let table = |most: usize| in_columns(&all(heads(most)), &verdicts, longest, paint);
    NAMES.map(table).into_iter().min_by_key(|table| table.lines().count()).unwrap_or_default()
}

fn indented(row: &CompareRow) -> String {
    format!("{}{}", if row.is_indented { "  " } else { "" }, row.label)
}

/// Rows below a row of heads, each with a last word of up to `longest` letters. A label that has no room stands above
/// its figures.
fn in_columns(all: &[[String; 4]], last: &[String], longest: usize, paint: Paint) -> String {
    let mut widths: [usize; 4] =
        std::array::from_fn(|at| all.iter().map(|row| columns(&row[at])).max().unwrap_or(0) + 2);
    if longest == 0 {
        // Nothing stands right of it.
        widths[3] -= 2;
    }
    let right = widths[1..].iter().sum::<usize>() + longest;
    let label = widths[0].min(paint.width.saturating_sub(2 + right));
    let line = |(nth, (row, last)): (usize, (&[String; 4], &String))| {
        let figures = (1..4).map(|at| pad(&row[at], widths[at])).collect::<String>() + last;
        let lead = if columns(&row[0]) < label { String::new() } else { format!("  {}\n", row[0]) };
        let own = if lead.is_empty() { row[0].as_str() } else { "" };
        let line = match nth {
            0 => format!("  {}{figures}", " ".repeat(label)),
            _ => format!("{lead}  {}{figures}", pad(own, label)),
        };
        let line = line.trim_end();
        format!("{}\n", if nth == 0 { paint.ink(Ink::Quiet, line) } else { line.to_owned() })
    };
    all.iter().zip(last).enumerate().map(line).collect()
}

/// Two sides' names as heads of columns: without the folders or the scheme that both have, and cut from the left, since
/// the end of a path says more than its beginning.
fn short(names: [&str; 2], most: usize) -> [String; 2] {
    let [a, b] = names.map(clean);
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let shared = a.as_bytes()[..same].iter().rposition(|byte| b"/:".contains(byte)).map_or(0, |at| at + 1);
    // Of `./` and `./data`, the first has nothing but what both have.
    let shared = if [&a, &b].iter().any(|name| name.len() == shared) { 0 } else { shared };
    [&a[shared..], &b[shared..]].map(|name| cut(name, most))
}

fn cut(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    match letters.len().checked_sub(most) {
        None | Some(0) => name.to_owned(),
        Some(over) => format!("…{}", letters[over + 1..].iter().collect::<String>()),
    }
}

fn legend(pair: &ComparedPair, shown: &CompareTable, paint: Paint) -> String {
    // The answer above counts ratios.
    let two = if shown.mixes > 0 { " (a mix has two ratios)" } else { "" };
    let more = match shown.more {
        0 => String::new(),
        1 => format!("  1 more workload{two}: add `-v`\n"),
        more => format!("  {more} more workloads{two}: add `-v`\n"),
    };
    let verdicts: Vec<Likeness> = shown.rows.iter().filter_map(|row| row.verdict).collect();
    let meaning = text::compare::verdicts(pair, &verdicts, shown.has_bounds());
    let meaning = [meaning, text::compare::above_highest(shown.is_above_highest)]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if meaning.is_empty() { more } else { more + &paint.hang("  ", 2, &meaning) }
}

fn verdict(row: &CompareRow, paint: Paint) -> String {
    let ink = match row.verdict {
        Some(Likeness::Faster) => Ink::Good,
        Some(Likeness::Slower) => Ink::Bad,
        Some(Likeness::CannotTell) => Ink::Quiet,
        Some(Likeness::Same | Likeness::NotComparable) | None => {
            return row.said.to_owned();
        }
    };
    paint.ink(ink, row.said)
}

fn left_out(compared: &Compared, pair: &ComparedPair, details: bool, paint: Paint) -> String {
    let refused: Vec<&Comparison> =
        compared.lines(pair).filter(|line| line.verdict == Likeness::NotComparable).collect();
    // The reads and the writes of one workload, for one reason, are one line.
    let like =
        |a: &&Comparison, b: &&Comparison| (&a.spec, a.figure, &a.limits) == (&b.spec, b.figure, &b.limits);
    let refused: Vec<&[&Comparison]> = refused.chunk_by(like).collect();
    if refused.is_empty() && pair.unmatched == 0 {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint.ink(Ink::Strong, "NOT COMPARED"));
    // One reason is told once, of its first workload.
    let mut reasons: Vec<(&[&Comparison], usize)> = Vec::new();
    for lines in refused {
        match reasons.iter_mut().find(|(told, _)| !details && is_one_reason(told[0], lines[0])) {
            Some((_, count)) => *count += 1,
            None => reasons.push((lines, 1)),
        }
    }
    let named = if details { reasons.len() } else { REFUSED_MAX };
    for (lines, count) in reasons.iter().take(named) {
        let (first, workload) = match lines {
            [first] => (first, what(first)),
            [first, ..] => (first, what_both(first)),
            [] => continue,
        };
        let others = if *count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        out += &paint.hang("  ", 4, &clean(&format!("{workload}{others}: {}", text::compare::limits(first))));
    }
    let count =
        |count: usize, of: &str| if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") };
    let more = reasons.iter().skip(named).map(|(_, count)| count).sum::<usize>();
    let more = (more > 0).then(|| format!("{}: add `-v`", count(more, "more workload")));
    let alone =
        (pair.unmatched > 0).then(|| format!("{} that only one side has", count(pair.unmatched, "point")));
    for line in more.into_iter().chain(alone) {
        out += &paint.hang("  ", 4, &line);
    }
    out
}

/// Whether two workloads have no ratio for one kind of reason, whatever its numbers.
fn is_one_reason(a: &Comparison, b: &Comparison) -> bool {
    let is_like = |(a, b): (&Incomparable, &Incomparable)| match (a, b) {
        (
            Incomparable::Side { side: a_side, cause: NoFigure::Invalid(a), .. },
            Incomparable::Side { side: b_side, cause: NoFigure::Invalid(b), .. },
        ) => (a_side, a.check, a.about) == (b_side, b.check, b.about),
        (a, b) => a == b,
    };
    a.figure == b.figure && a.limits.len() == b.limits.len() && a.limits.iter().zip(&b.limits).all(is_like)
}

/// In one paragraph: each could explain a ratio as well as the storage does.
/// What else differs. What is known of one side alone, as of a simulated device and a real one, is counted; with
/// details, it is listed too.
fn differences(pair: &ComparedPair, details: bool, paint: Paint) -> String {
    let is_of_both = |one: &&Difference| {
        [&one.a, &one.b].iter().all(|own| text::compare::is_known(one.what, own.as_ref()))
    };
    let (of_both, of_one): (Vec<&Difference>, Vec<_>) = pair.differences.iter().partition(is_of_both);
    let listed = of_both.iter().chain(of_one.iter().filter(|_| details)).map(|one| {
        let [a, b] = [&one.a, &one.b].map(|own| text::compare::property_value(one.what, own.as_ref()));
        format!("{} {a} → {b}", text::compare::property(one.what))
    });
    let more = (!details && !of_one.is_empty()).then(|| text::compare::known_of_one_side(of_one.len()));
    let all: Vec<String> = listed.chain(more).collect();
    if all.is_empty() {
        return String::new();
    }
    let lead = format!("{}  ", paint.ink(Ink::Strong, "OTHER DIFFERENCES"));
    format!("\n{}", paint.hang(&lead, 2, &clean(&all.join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_lack_what_both_names_have() {
        let of = |a, b| short([a, b], 14);
        assert_eq!(of("sim:plain-nvme", "sim:client-nvme"), ["plain-nvme", "client-nvme"]);
        assert_eq!(of("/mnt/ä/old", "/mnt/ä/new"), ["old", "new"]);
        assert_eq!(of("./", "./data"), ["./", "./data"], "a head is never empty");
        assert_eq!(of("before", "after"), ["before", "after"]);
        assert_eq!(of("/mnt/a-long-name-of-a-folder", "sim:nfs"), ["…e-of-a-folder", "sim:nfs"]);
    }
}
