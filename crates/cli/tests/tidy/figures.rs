//! Published figures: each section of a page that gives shares measured by a bench with random seeds says the seed, and
//! `bench/README.md` lists them all.

use std::{fs, path::Path};

use crate::{Fault, Source};

/// Beginning of the list in `bench/README.md`.
const MARK: &str = "<!-- from here on: written by a test from the pages -->\n";
pub(crate) const LIST: &str = "bench/README.md";

/// A section of a page that names a bench.
struct Published {
    page: String,
    line: usize,
    heading: String,
    bench: String,
    /// Seeds as they are given: `--seed 1`, `seed 20261123`.
    seeds: Vec<String>,
    /// Whether the section gives shares.
    has_shares: bool,
}

/// The benches that a section names, each once.
fn benches(text: &str) -> Vec<String> {
    let named = text
        .split("`bench/")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect::<String>());
    let mut named: Vec<String> = named.filter(|name| !name.is_empty()).collect();
    named.sort();
    named.dedup();
    named
}

/// Numbers behind the word: `--seed 3`, `seeds 1 and 2`.
fn seeds(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(['`', ',', '.', '(', ')', ':', ';'])).collect();
    let is_number = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_seed = |word: &str| ["seed", "seeds", "--seed"].contains(&word);
    let mut found: Vec<String> = words
        .windows(2)
        .filter(|pair| is_seed(pair[0]) && is_number(&pair[1]))
        .map(|pair| pair[1].to_owned())
        .collect();
    found.dedup();
    found
}

fn published(page: &Source) -> Vec<Published> {
    let mut out = Vec::new();
    let mut line = 1;
    // What a test writes from manual pages repeats what stands above.
    let own = page.text.split("<!-- from here on").next().unwrap_or_default();
    for section in own.split("\n## ") {
        let heading = section.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned();
        for bench in benches(section) {
            let (page, seeds, has_shares) = (page.path.clone(), seeds(section), section.contains(" %"));
            out.push(Published { page, line, heading: heading.clone(), bench, seeds, has_shares });
        }
        // The newline before the heading is the separator's.
        line += section.matches('\n').count() + 1;
    }
    out
}

/// Benches that do not exist, and sections with shares and no seed. `draws`: whether a bench draws at random; `None`
/// where it does not exist.
pub(crate) fn unseeded(pages: &[Source], draws: impl Fn(&str) -> Option<bool>) -> Vec<Fault> {
    let fault = |one: Published| {
        let what = match draws(&one.bench) {
            None => format!("bench/{} does not exist", one.bench),
            Some(true) if one.has_shares && one.seeds.is_empty() => {
                format!("\"{}\" gives shares of bench/{} without its seed", one.heading, one.bench)
            }
            Some(_) => return None,
        };
        Some(Fault { path: one.page, line: one.line, what })
    };
    pages.iter().flat_map(published).filter_map(fault).collect()
}

/// The page of benches with its list.
pub(crate) fn listed(page: &str, pages: &[Source]) -> Option<String> {
    let (front, _) = page.split_once(MARK)?;
    let rows = pages.iter().flat_map(published).filter(|one| one.has_shares).map(|one| {
        let seeds = if one.seeds.is_empty() { "none".to_owned() } else { one.seeds.join(", ") };
        format!("| `{}` | `{}`, {} | {seeds} |\n", one.bench, one.page, one.heading)
    });
    let rows: String = rows.collect();
    Some(format!("{front}{MARK}\n| bench | page and section | seeds there |\n|---|---|---|\n{rows}"))
}

/// The pages of `docs`.
pub(crate) fn pages(root: &Path) -> Vec<Source> {
    let mut names: Vec<_> = fs::read_dir(root.join("docs"))
        .expect("docs is there")
        .map(|entry| entry.expect("an entry of docs").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.sort();
    let read = |name: &String| {
        Source::new(
            &format!("docs/{name}"),
            &fs::read_to_string(root.join("docs").join(name)).expect("a page"),
        )
    };
    names.iter().map(read).collect()
}

#[test]
fn a_section_without_its_seed_is_caught() {
    let page = |text: &str| [Source::new("docs/x.md", text)];
    let draws = |name: &str| (name != "gone").then_some(name == "luck");
    let of =
        |text: &str| unseeded(&page(text), draws).into_iter().map(|fault| fault.what).collect::<Vec<_>>();
    assert_eq!(
        of("# X\n\n## Rates\n`bench/luck` found 95 %.\n"),
        ["\"Rates\" gives shares of bench/luck without its seed"]
    );
    assert_eq!(of("# X\n\n## Rates\n`bench/luck --seed 3` found 95 %.\n"), [""; 0]);
    assert_eq!(of("# X\n\n## Time\n`bench/disk` took 5 % more.\n"), [""; 0]);
    assert_eq!(of("`bench/gone`"), ["bench/gone does not exist"]);
    let list = listed(&format!("a\n{MARK}old"), &page("## Rates\n`bench/luck` with seeds 1 and 2: 95 %.\n"))
        .unwrap();
    assert!(list.ends_with("| `luck` | `docs/x.md`, Rates | 1 |\n"), "{list}");
}
