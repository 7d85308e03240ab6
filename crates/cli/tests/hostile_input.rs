//! Damaged and hostile files: every parser refuses them or copes, in time and without a panic. `bench/fuzz` does this
//! for minutes.

#![allow(missing_docs)]

mod common;
#[path = "../examples/fuzz/mutate.rs"]
mod mutate;
#[path = "../examples/fuzz/parsers.rs"]
mod parsers;

use std::path::Path;

use common::{Bench, Said};
use iosonde_plan::fio::{OPTIONS, Role};
use parsers::{JOB_FILES, parsers, series};

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

/// Mutants have the words of the files that they are made of: an option in none of them would never be read.
#[test]
fn the_fuzzer_has_every_option_of_job_files() {
    let lines = || JOB_FILES.iter().flat_map(|text| text.lines());
    let names: Vec<&str> = lines().map(|line| line.split('=').next().unwrap().trim()).collect();
    let read = OPTIONS.iter().filter(|option| option.role == Role::Used);
    let absent: Vec<&str> =
        read.filter(|option| !option.names().any(|name| names.contains(&name))).map(|one| one.name).collect();
    assert_eq!(absent, [""; 0]);
    for text in JOB_FILES {
        assert!(parsers::job_file(text.as_bytes(), Path::new("")), "refused: {text}");
    }
}

/// A name that leads to a device, or to the wrong file, fills no memory.
#[test]
fn a_file_without_an_end_is_refused() {
    let bench = Bench::new();
    for name in ["endless.toml", "endless.fio"] {
        std::os::unix::fs::symlink("/dev/zero", bench.path(name)).unwrap();
    }
    // A run is a regular file: of 1 TiB, without a block.
    let run = std::fs::File::create(bench.path("endless.iosonde")).unwrap();
    run.set_len(1 << 40).unwrap();
    for words in [
        &["devices", "endless.toml"][..],
        &["run", "endless.toml", "sim:ideal"],
        &["run", "quick", "sim:endless.toml"],
        &["specs", "endless.toml"],
        &["requirements", "endless.toml"],
        &["fio", "endless.fio"],
        &["compare", "./endless.iosonde", "./endless.iosonde"],
        &["report", "./endless.iosonde"],
        &["judge", "endless.iosonde"],
        &["import", "endless.iosonde"],
    ] {
        // Without a refusal the machine would have no memory left: 2 GB of addresses.
        let inner = bench.command(words);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -v 2000000 && exec \"$@\"", "sh"]);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(bench.folder.path());
        let said = Said::of(command.env("IOSONDE_STORE", bench.path("n.db")).output().unwrap());
        said.refused(&["endless", "larger than"]);
    }
}
