//! Words of odd sides: which of several differs from the others, and by how much none does.

use iosonde_model::{OddSide, OddSides, units};

use super::compare::{difference, is_in_times};

/// The answer in a sentence for each side that differs, and one for the others.
pub fn answer(found: &OddSides) -> String {
    let confidence = units::percent(found.confidence);
    let others = found.sides - 1;
    // Where each differs from the others, none is the odd one.
    let all =
        (found.odd.len() == found.sides).then(|| format!("None stands out: all {} differ.", found.sides));
    let each = all.into_iter().chain(found.odd.iter().map(|side| one(side, others)));
    let within = format!("{:.1}", 100.0 * found.others_within);
    let within = within.strip_suffix(".0").unwrap_or(&within);
    let rest = match found.odd.len() {
        0 => format!("None of the {} differs from the others by more than {within} %.", found.sides),
        odd if odd == found.sides => String::new(),
        _ => format!("Of the others none differs by more than {within} %."),
    };
    let sentences: Vec<String> = each.chain((!rest.is_empty()).then_some(rest)).collect();
    format!(
        "{} ({}, all statements together with {confidence} confidence; one run each.)",
        sentences.join(" "),
        if found.workloads == 1 { "1 workload".to_owned() } else { format!("{} workloads", found.workloads) }
    )
}

fn one(side: &OddSide, others: usize) -> String {
    let slower = side.ratio.value < 1.0;
    format!(
        "{} is {} {} than the other {others}.",
        side.name,
        difference(&side.ratio, is_in_times(side.ratio.value)),
        if slower { "slower" } else { "faster" }
    )
}
