//! Three sides or more in a line each, from fastest to slowest: how far each is from the first, and its main figures.

use iosonde_model::{Compared, ComparedFigure, ComparedPair, GeometricMean, Op, WorkloadGroup, units};

use super::{
    compare::{self, figure_name},
    compare_table::{figure, highest_rates, is_tail, mean_row},
};

/// Cell without a figure.
pub const NONE: &str = "–";
/// What it means.
const LEGEND: &str = "–: no valid figure, or too few requests for one.";
/// Pairs that have sentences and tables of their own; of more, the ranking has the answers.
pub const PAIRS_MAX: usize = 2;

/// Whether the ranking says what a pair's answer would.
pub fn stands_for(compared: &Compared, pair: &ComparedPair) -> bool {
    compared.pairs.len() > PAIRS_MAX && pair.layer.is_none() && compare::is_plain(pair)
}

/// The sides with their places; those that differ too little share one.
pub fn places(compared: &Compared) -> impl Iterator<Item = (usize, &str)> {
    (1..)
        .zip(&compared.ranking)
        .flat_map(|(place, names)| names.iter().map(move |name| (place, name.as_str())))
}

/// All columns of the ranking.
pub fn groups(compared: &Compared) -> Vec<ColumnGroup> {
    std::iter::once(ratios(compared)).chain(figures(compared)).collect()
}

/// Heads of all columns in one line: `Side`, `highest bandwidth, reads`.
pub fn heads(groups: &[ColumnGroup]) -> Vec<String> {
    let of = |group: &ColumnGroup| -> Vec<String> {
        group.columns.iter().map(|column| format!("{}, {column}", group.head)).collect()
    };
    std::iter::once("Side".to_owned()).chain(groups.iter().flat_map(of)).collect()
}

/// What stands below the table.
pub fn notes(compared: &Compared, groups: &[ColumnGroup]) -> Vec<String> {
    let has_gaps = groups.iter().flat_map(|group| &group.rows).flatten().any(Option::is_none);
    let mut notes: Vec<String> = has_gaps.then(|| LEGEND.to_owned()).into_iter().collect();
    notes.push(compare::ranking(compared));
    if compared.pairs.len() > PAIRS_MAX {
        notes.extend(compare::beside_ranking(compared));
    }
    notes
}

/// Columns under one head.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnGroup {
    /// `highest bandwidth`.
    pub head: String,
    /// `reads`, `writes`.
    pub columns: Vec<String>,
    /// Cells of each side, in the order of the ranking; `None` where a side has no figure: not measured, invalid, or of
    /// too few requests for a percentile.
    pub rows: Vec<Vec<Option<String>>>,
}

/// How many times each side is faster or slower than the first.
fn ratios(compared: &Compared) -> ColumnGroup {
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
        Some(pair) => mean(pair, of).map(|mean| mean_row(pair, pair.figure, &mean).ratio_in_words()),
        // All are compared with it.
        None => Some(if of == first { "reference" } else { "" }.to_owned()),
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
fn figures(compared: &Compared) -> Vec<ColumnGroup> {
    let cells: Vec<Cell> = compared.pairs.iter().flat_map(|pair| cells(compared, pair)).collect();
    let mut kinds: Vec<Kind> = Vec::new();
    for cell in &cells {
        if !kinds.contains(&cell.kind) {
            kinds.push(cell.kind);
        }
    }
    kinds.into_iter().map(|kind| group(compared, kind, &cells)).collect()
}

/// Figure that a group of columns has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The highest rate: of requests of a size and order, or of bytes.
    Highest { block_size_bytes: Option<u64>, random: Option<bool> },
    /// p99 latency of one request at a time.
    P99 { block_size_bytes: u64 },
}

impl Kind {
    fn head(self) -> String {
        match self {
            Self::Highest { block_size_bytes: None, .. } => "highest bandwidth".to_owned(),
            Self::Highest { block_size_bytes: Some(bytes), random } => {
                let order = random.map_or("", |random| if random { " random" } else { " sequential" });
                format!("highest {}{order}", units::size(bytes))
            }
            Self::P99 { block_size_bytes } => format!("p99, {} at QD 1", units::size(block_size_bytes)),
        }
    }
}

/// A figure of a side.
struct Cell {
    side: String,
    kind: Kind,
    op: Op,
    text: String,
}

fn cells(compared: &Compared, pair: &ComparedPair) -> Vec<Cell> {
    let cell = |side: &String, kind, op, text| Cell { side: side.clone(), kind, op, text };
    let highest = pair.highest.iter().flat_map(|own| {
        let kind = Kind::Highest { block_size_bytes: own.block_size_bytes, random: own.random };
        let [a, b] = highest_rates(own);
        [(&pair.a, a), (&pair.b, b)].map(|(side, text)| cell(side, kind, own.op, text))
    });
    let tails = compared.p99_lines(pair).filter(|line| is_tail(compared, pair, line)).flat_map(|line| {
        let kind = Kind::P99 { block_size_bytes: line.spec.block_size_bytes };
        let known = [(&pair.a, line.a), (&pair.b, line.b)];
        known
            .into_iter()
            .filter_map(move |(side, value)| Some(cell(side, kind, line.op, figure(line, value?))))
    });
    highest.chain(tails).collect()
}

fn group(compared: &Compared, kind: Kind, cells: &[Cell]) -> ColumnGroup {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.kind == kind).collect();
    let ops: Vec<Op> =
        [Op::Read, Op::Write].into_iter().filter(|op| own.iter().any(|cell| cell.op == *op)).collect();
    let cell = |name: &str, op: Op| {
        let found = own.iter().find(|cell| cell.side == name && cell.op == op);
        found.map(|cell| cell.text.clone())
    };
    let rows = ranked(compared).map(|name| ops.iter().map(|op| cell(name, *op)).collect()).collect();
    ColumnGroup { head: kind.head(), columns: ops.iter().map(|op| format!("{op}s")).collect(), rows }
}

fn ranked(compared: &Compared) -> impl Iterator<Item = &str> {
    places(compared).map(|(_, name)| name)
}

/// The comparison of a side with the first.
fn pair_of<'a>(compared: &'a Compared, name: &str) -> Option<&'a ComparedPair> {
    compared.pairs.iter().find(|pair| pair.b == name)
}

fn what(compared: &Compared) -> &'static str {
    match compared.pairs.first().map(|pair| pair.figure) {
        None | Some(ComparedFigure::Iops) => "throughput",
        Some(figure) => figure_name(figure),
    }
}
