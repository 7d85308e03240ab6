//! The rules of the house, as tests: what neither the compiler nor clippy looks at.
//!
//! A failure names file and line and says what to do. Each rule also has a specimen that it must catch, since a
//! rule that nothing can break guards nothing.

mod arrows;
mod cycles;
mod dependencies;
mod figures;
mod imports;
mod names;
mod packages;
mod prose;
mod registers;
mod sources;
mod style;
mod systems;
mod walkthrough;
mod walls;

use std::path::Path;

use sources::{Fault, Source};

/// Fails with every fault on a line of its own, in the form that editors jump to.
fn assert_tidy(faults: Vec<Fault>) {
    let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} to mend:\n{}\n", lines.len(), lines.join("\n"));
}

#[test]
fn every_file_begins_with_what_it_is_for() {
    assert_tidy(style::openings(&sources::all()));
}

#[test]
fn files_functions_and_lines_fit_on_a_screen() {
    assert_tidy(style::sizes(&sources::all(), style::LONGER));
}

#[test]
fn published_figures_have_their_bench_and_its_seed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = figures::pages(&root);
    let draws = |bench: &str| {
        let script = std::fs::read_to_string(root.join("bench").join(bench)).ok()?;
        Some(script.contains("--seed N") || script.contains("add_argument(\"--seed\""))
    };
    assert_tidy(figures::unseeded(&pages, draws));
    let list = root.join(figures::LIST);
    let page = std::fs::read_to_string(&list).expect("bench/README.md is there");
    let expected = figures::listed(&page, &pages).expect("bench/README.md has its mark");
    if std::env::var_os("IOSONDE_WRITE_DOCS").is_some() {
        std::fs::write(list, expected).expect("bench/README.md can be written");
    } else {
        assert!(page == expected, "bench/README.md is old: run this test once with IOSONDE_WRITE_DOCS=1");
    }
}

#[test]
fn nothing_is_left_for_later() {
    assert_tidy(style::leftovers(&sources::all()));
}

#[test]
fn names_are_written_as_text_in_model_alone() {
    assert_tidy(names::literals(&sources::all()));
}

#[test]
fn nothing_decides_by_looking_into_a_sentence() {
    assert_tidy(prose::looked_into(&sources::all()));
}

#[test]
fn what_differs_between_systems_stands_in_platform() {
    assert_tidy(systems::systems(&sources::all()));
}

#[test]
fn unsafe_code_stands_in_rig_alone() {
    assert_tidy(walls::unsafe_code(&sources::all()));
}

#[test]
fn the_clock_is_read_in_one_file() {
    assert_tidy(walls::clocks(&sources::all()));
}

#[test]
fn entries_of_a_registry_do_not_know_each_other() {
    assert_tidy(walls::siblings(&sources::all()));
}

#[test]
fn every_file_is_compiled() {
    assert_tidy(registers::unreached(&sources::all()));
}

#[test]
fn every_file_of_a_registry_is_registered_or_a_known_helper() {
    assert_tidy(registers::unregistered(&sources::all(), registers::HELPERS));
}

#[test]
fn every_study_is_compiled_in() {
    assert_tidy(registers::left_out(&sources::root(), &sources::all()));
}

#[test]
fn crates_depend_only_downwards() {
    assert_tidy(arrows::wrong_ways(&arrows::manifests(&sources::root())));
}

#[test]
fn other_peoples_crates_have_licences_that_are_allowed() {
    let root = sources::root();
    let packages = dependencies::packages(&root);
    // The tests alone need some 100.
    assert!(packages.len() > 100, "cargo told of {} crates only", packages.len());
    assert_tidy(dependencies::licences(&packages, &dependencies::allowed(&root)));
}

#[test]
fn other_peoples_crates_come_from_one_registry_and_are_fixed() {
    let lock = std::fs::read_to_string(sources::root().join("Cargo.lock")).expect("Cargo.lock is there");
    assert_tidy(dependencies::sources(&Source::new("Cargo.lock", &lock)));
}

#[test]
fn modules_of_a_crate_import_each_other_in_one_direction() {
    assert_tidy(cycles::cycles(&sources::all()));
}

#[test]
fn the_skeletons_of_the_contributors_page_fit_the_traits() {
    assert_tidy(walkthrough::stale(&walkthrough::page(&sources::root()), &sources::all()));
}

#[test]
fn cargo_binstall_asks_for_the_archives_that_are_written() {
    let root = sources::root();
    assert_tidy(packages::binstall(&root, &packages::manifest(&root)));
}

#[test]
fn workflows_run_programs_that_are_there() {
    let root = sources::root();
    let workflows = packages::workflows(&root);
    assert_eq!(workflows.len(), 3);
    assert_tidy(packages::absent(&root, &workflows));
}
