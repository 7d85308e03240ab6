//! Three sides or more in a line each, from fastest to slowest: how far each is from the first, and its main figures.

use iosonde_model::{
    Compared, ComparedFigure, ComparedPair, Comparison, GeometricMean, Op, WorkloadGroup, units,
};

use super::{
    compare::figure_name,
    compare_table::{figure, highest_rate, is_tail, mean_row},
};

const NONE: &str = "–";
/// Requests, of which a percentile needs more.
const TOO_FEW: &str = "too few";

/// Columns under one head.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnGroup {
    /// `highest bandwidth`.
    pub head: String,
    /// `reads`, `writes`.
    pub columns: Vec<String>,
    /// Cells of each side, in the order of the ranking; `–` where a side has no figure.
    pub rows: Vec<Vec<String>>,
}

/// How many times each side is faster or slower than the first.
pub fn ratios(compared: &Compared) -> ColumnGroup {
    let groups = [
        (WorkloadGroup::All, "all"),
        (WorkloadGroup::AllReads, "reads"),
        (WorkloadGroup::AllWrites, "writes"),
    ];
    let mean = |pair: &ComparedPair, of: WorkloadGroup| -> Option<GeometricMean> {
        pair.geometric_means.iter().find(|mean| mean.of == of).cloned()
    };
    // Of reads alone, the mean of all is that of reads.
    let shown: Vec<_> = groups
        .into_iter()
        .filter(|(of, _)| compared.pairs.iter().any(|pair| mean(pair, *of).is_some()))
        .collect();
    let first = shown.first().map_or(WorkloadGroup::All, |(of, _)| *of);
    let cell = |name: &str, of: WorkloadGroup| match pair_of(compared, name) {
        Some(pair) => {
            mean(pair, of).map_or_else(|| NONE.to_owned(), |mean| mean_row(pair, pair.figure, &mean).told())
        }
        // All are compared with it.
        None => {
            if of == first {
                "reference".to_owned()
            } else {
                String::new()
            }
        }
    };
    let rows = ranked(compared).map(|name| shown.iter().map(|(of, _)| cell(name, *of)).collect()).collect();
    ColumnGroup {
        head: match compared.sides.first() {
            Some(first) => format!("{} against {}", what(compared), first.name),
            None => String::new(),
        },
        columns: shown.iter().map(|(_, head)| (*head).to_owned()).collect(),
        rows,
    }
}

/// Highest rates and p99 latency of the sides.
pub fn figures(compared: &Compared) -> Vec<ColumnGroup> {
    let mut heads: Vec<String> = Vec::new();
    let mut cells: Vec<Cell> = Vec::new();
    for pair in &compared.pairs {
        for own in &pair.highest {
            let head = match own.block_size_bytes.map(units::size) {
                Some(size) => format!("highest {size}{}", order(own.random)),
                None => "highest bandwidth".to_owned(),
            };
            let [a, b] = [own.a, own.b].map(|value| highest_rate(own, value));
            cells.extend(of_both(pair, (&head, NONE), own.op, [a, b]));
        }
        for line in compared.p99_lines(pair).filter(|line| is_tail(compared, pair, line)) {
            cells.extend(tail(pair, line));
        }
    }
    for cell in &cells {
        if !heads.contains(&cell.head) {
            heads.push(cell.head.clone());
        }
    }
    heads.into_iter().map(|head| group(compared, head, &cells)).collect()
}

/// A figure of a side.
struct Cell {
    side: String,
    head: String,
    op: Op,
    text: String,
    /// Cell of a side without it.
    missing: &'static str,
}

fn of_both(
    pair: &ComparedPair,
    (head, missing): (&str, &'static str),
    op: Op,
    texts: [String; 2],
) -> [Cell; 2] {
    let [a, b] = texts;
    let cell = |side: &String, text| Cell { side: side.clone(), head: head.to_owned(), op, text, missing };
    [cell(&pair.a, a), cell(&pair.b, b)]
}

fn tail(pair: &ComparedPair, line: &Comparison) -> [Cell; 2] {
    let text = |value: Option<f64>| value.map_or_else(|| TOO_FEW.to_owned(), |value| figure(line, value));
    let head = format!("p99, {} at QD 1", units::size(line.spec.block_size_bytes));
    of_both(pair, (&head, TOO_FEW), line.op, [text(line.a), text(line.b)])
}

fn group(compared: &Compared, head: String, cells: &[Cell]) -> ColumnGroup {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.head == head).collect();
    let ops: Vec<Op> =
        [Op::Read, Op::Write].into_iter().filter(|op| own.iter().any(|cell| cell.op == *op)).collect();
    let missing = own.first().map_or(NONE, |cell| cell.missing);
    let cell = |name: &str, op: Op| {
        let found = own.iter().find(|cell| cell.side == name && cell.op == op);
        found.map_or_else(|| missing.to_owned(), |cell| cell.text.clone())
    };
    let rows = ranked(compared).map(|name| ops.iter().map(|op| cell(name, *op)).collect()).collect();
    ColumnGroup { head, columns: ops.iter().map(|op| format!("{op}s")).collect(), rows }
}

fn ranked(compared: &Compared) -> impl Iterator<Item = &str> {
    compared.ranking.iter().flatten().map(String::as_str)
}

/// The comparison of a side with the first.
fn pair_of<'a>(compared: &'a Compared, name: &str) -> Option<&'a ComparedPair> {
    compared.pairs.iter().find(|pair| pair.b == name)
}

fn order(random: Option<bool>) -> &'static str {
    random.map_or("", |random| if random { " random" } else { " sequential" })
}

fn what(compared: &Compared) -> &'static str {
    match compared.pairs.first().map(|pair| pair.figure) {
        None | Some(ComparedFigure::Iops) => "throughput",
        Some(figure) => figure_name(figure),
    }
}
