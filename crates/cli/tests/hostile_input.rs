//! Damaged and hostile files: every parser refuses them or copes, in time and without a panic. `bench/fuzz` does this
//! for minutes.

#![allow(missing_docs)]

mod common;
#[path = "../examples/fuzz/mutate.rs"]
mod mutate;
#[path = "../examples/fuzz/parsers.rs"]
mod parsers;

use common::Bench;
use parsers::{parsers, series};

#[test]
fn no_damaged_file_makes_a_parser_panic_or_compute_for_long() {
    let bench = Bench::new();
    let store = bench.path("n.db");
    let store = ["--store", store.to_str().unwrap()];
    for words in [
        &["run", "queue-depth", "sim:sata-ssd", "--time", "20s", "-q"][..],
        &["export", "last", "-f", "json", "-o", "run.json"],
    ] {
        let said = bench.iosonde(&[words, &store].concat());
        assert_eq!(said.code, 0, "{}", said.err);
    }
    for parser in parsers(bench.folder.path()) {
        // A run's file is concluded and drawn in every format, a device is simulated: both take their time.
        let mutants = match parser.name {
            "device file" => 10,
            "run" => 30,
            _ => 400,
        };
        let tally = series(&parser, bench.folder.path(), 1, |done| done < mutants);
        assert!(tally.wrong.is_empty(), "{:?}", tally.wrong);
        // Damaged, but not so that nothing behind the first check was reached.
        assert!(tally.accepted > mutants / 50, "{}: {} of {mutants} accepted", parser.name, tally.accepted);
    }
}
