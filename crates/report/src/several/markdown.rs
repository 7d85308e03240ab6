//! Several runs in Markdown: the answer, one table a pair, charts with their figures, and the sides.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, ComparedPair, Likeness};

use super::figures_of_several;
use crate::{
    markdown::{Figures, chart_files, facts, figure, inline, put, table},
    story,
    text::{
        compare,
        compare_table::{self, what},
        layer, odd_side,
        ranking_table::{self, NONE},
        validity::validity,
    },
};

/// Several sides as Markdown; with `pictures`, charts are pictures in files beside it.
pub fn markdown(sides: &[Side], compared: &Compared, pictures: bool) -> String {
    let mut out = String::new();
    let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
    put(&mut out, &format!("# {}\n", inline(&names.join(", "))));
    put(&mut out, "## Valid\n");
    for side in sides {
        let told = side.runs.first().map(|run| validity(run).headline).unwrap_or_default();
        put(&mut out, &format!("- {}: {}", inline(&side.name), inline(&told)));
    }
    if let Some(found) = &compared.odd_sides {
        put(&mut out, &format!("\n{}", inline(&odd_side::answer(found))));
    }
    for pair in &compared.pairs {
        one_pair(compared, pair, &mut out);
    }
    if compared.is_ranked() {
        put(&mut out, "\n## From fastest to slowest\n");
        ranking(compared, &mut out);
    }
    put(&mut out, "\n## Charts");
    let mut figures = Figures { all: figures_of_several(sides, compared), pictures, next: 1 };
    for shown in figures.all.clone() {
        figure(&shown, &mut figures, &mut out);
    }
    for side in sides {
        let Some(run) = side.runs.first() else { continue };
        facts(&inline(&side.name), &story::device_facts(run), &mut out);
        for (label, value) in story::host_facts(run).iter().chain(&story::method_facts(run)) {
            put(&mut out, &format!("- {label}: {}", inline(value)));
        }
    }
    out
}

/// A line for each side, with what stands below.
fn ranking(compared: &Compared, out: &mut String) {
    let groups = ranking_table::groups(compared);
    let heads: Vec<String> = ranking_table::heads(&groups).iter().map(|head| inline(head)).collect();
    let rows = ranking_table::places(compared).enumerate().map(|(at, (place, name))| {
        let cells = groups.iter().flat_map(move |group| &group.rows[at]);
        let cells = cells.map(|cell| cell.as_deref().unwrap_or(NONE).to_owned());
        std::iter::once(format!("{place}. {name}")).chain(cells).collect::<Vec<_>>()
    });
    table(&heads.iter().map(String::as_str).collect::<Vec<_>>(), rows, out);
    for note in ranking_table::notes(compared, &groups) {
        put(out, &format!("\n{}", inline(&note)));
    }
}

/// The same as a folder: `report.md`, each chart as a picture and its figures as CSV.
pub fn markdown_folder(sides: &[Side], compared: &Compared) -> Vec<(String, Vec<u8>)> {
    let report = ("report.md".to_owned(), markdown(sides, compared, true).into_bytes());
    std::iter::once(report).chain(chart_files(&figures_of_several(sides, compared))).collect()
}

fn one_pair(compared: &Compared, pair: &ComparedPair, out: &mut String) {
    put(out, &format!("\n## {} against {}\n", inline(&pair.b), inline(&pair.a)));
    if let Some(found) = &pair.layer {
        put(out, &format!("{}\n", inline(&layer::answer(pair, found))));
        for sign in layer::signs(pair, found) {
            put(out, &format!("- {}\n", inline(&sign)));
        }
        let rows = layer::rows(found).into_iter().map(|row| [row.label, row.base, row.through, row.cost]);
        table(&["Workload", &inline(&pair.a), &inline(&pair.b), "Cost of the layer"], rows, out);
    } else {
        put(out, &format!("{}\n", inline(&compare::answer(pair))));
    }
    let shown = compare_table::table(compared, pair, true);
    if !shown.rows.is_empty() {
        let b = inline(&pair.b);
        let heads = ["Workload".to_owned(), inline(&pair.a), b.clone(), format!("{b} is")];
        let rows = shown
            .rows
            .iter()
            .map(|row| [row.label.clone(), row.a.clone(), row.b.clone(), row.ratio_in_words()]);
        table(&heads.each_ref().map(String::as_str), rows, out);
    }
    for line in compared.lines(pair).filter(|line| line.verdict == Likeness::NotComparable) {
        put(out, &format!("\nNot compared: {}: {}", inline(&what(line)), inline(&compare::limits(line))));
    }
    if !pair.differences.is_empty() {
        put(out, "\nOther differences, each of which could explain a ratio as well as the storage does:\n");
        let rows = pair.differences.iter().map(|difference| {
            let [a, b] = [&difference.a, &difference.b]
                .map(|value| compare::property_value(difference.what, value.as_ref()));
            [compare::property(difference.what).to_owned(), a, b]
        });
        table(&["What", &inline(&pair.a), &inline(&pair.b)], rows, out);
    }
}
