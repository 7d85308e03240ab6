//! `iosonde capacity`: fakes are found with their real capacity, genuine storage is believed, and nothing is
//! overwritten without its word.

#![allow(missing_docs)]

mod common;

use std::{fs::File, os::unix::fs::FileExt};

use common::{Bench, Said, preload};
use iosonde_model::{BeyondCapacity, Capacity, CapacityFinding, KeptPart};

const GB: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

/// A stick of 256 GB that holds 64 GB.
fn fake(bench: &Bench, beyond: &str) -> Capacity {
    let text = format!(
        "name = \"fake\"\ncapacity = \"256GB\"\n[link]\nbandwidth = \"100MB/s\"\n[queue]\nservers = 1\n\
         service = {{ fixed = \"300us\" }}\n[fake]\nholds = \"64GB\"\nbeyond = {beyond}\n"
    );
    bench.text("fake.toml", &text);
    let said = bench.iosonde(&["capacity", "sim:fake.toml", "--seed", "1", "--json", "-q"]);
    assert_eq!(said.code, 3, "{beyond}: {}", said.err);
    capacity(&said)
}

fn capacity(said: &Said) -> Capacity {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}{}", said.out, said.err))
}

#[test]
fn every_kind_of_fake_is_found_with_its_real_capacity_in_two_minutes() {
    let bench = Bench::new();
    let real_bytes = 64 * GB;
    let wraps = fake(&bench, "\"wraps\"");
    assert_eq!(wraps.finding, CapacityFinding::Wraps { real_bytes });
    let kinds = [
        ("\"lost\"", BeyondCapacity::Lost),
        ("\"last\"\nchunk = \"64KiB\"", BeyondCapacity::Mixed),
        ("\"cached\"\ncache = \"128MiB\"", BeyondCapacity::Lost),
        ("\"mirrored\"", BeyondCapacity::Mixed),
    ];
    for (kind, due) in kinds {
        let found = fake(&bench, kind);
        let CapacityFinding::Ends { at_least_bytes, at_most_bytes, beyond } = found.finding else {
            panic!("{kind}: {:?}", found.finding)
        };
        assert_eq!(beyond, due, "{kind}");
        // The part that all of the rest shares keeps nothing.
        assert!(at_least_bytes <= real_bytes && real_bytes - (64 << 10) <= at_most_bytes, "{kind}");
        // A window's length (some 800 MB), divided by 64.
        assert!(at_most_bytes - at_least_bytes < 16 * MIB, "{kind}");
        assert!(found.elapsed_s < 120.0 && found.written_bytes < 3 * GB, "{kind}: {found:?}");
    }
}

#[test]
fn the_page_shows_where_data_is_kept() {
    let bench = Bench::new();
    let found = fake(&bench, "\"lost\"");
    let within = |part: &&KeptPart| part.to_bytes <= 64 * GB;
    let (inside, beyond): (Vec<&KeptPart>, Vec<&KeptPart>) = found.parts.iter().partition(within);
    assert!(inside.iter().all(|part| part.kept == part.blocks), "{inside:?}");
    // One part lies on both sides.
    assert!(beyond.iter().skip(1).all(|part| part.kept == 0), "{beyond:?}");
    assert_eq!(found.parts.iter().map(|part| part.blocks).sum::<u64>(), found.blocks);
    let said = bench.iosonde(&["capacity", "sim:fake.toml", "--seed", "1", "-o", "page.html", "-q"]);
    assert_eq!(said.code, 3, "{}", said.err);
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    // Where addresses begin again, what was written last is kept wherever it lies: a chart of that would mislead.
    let wraps = fake(&bench, "\"wraps\"");
    assert!(wraps.parts.iter().rev().take(9).all(|part| 10 * part.kept > 9 * part.blocks), "{wraps:?}");
    bench.iosonde(&["capacity", "sim:fake.toml", "--seed", "1", "-o", "wraps.html", "-q"]);
    assert!(!std::fs::read_to_string(bench.path("wraps.html")).unwrap().contains("chart-kept"));
    for part in ["<p class=\"headline bad\">Fail</p>", "chart-kept-by-offset", "real capacity: 64"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_genuine_device_is_believed_with_what_may_have_been_missed() {
    let bench = Bench::new();
    let said = bench.iosonde(&["capacity", "sim:usb3-stick", "--seed", "1", "--json", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let found = capacity(&said);
    let CapacityFinding::Genuine { missed_share: Some(missed) } = found.finding else {
        panic!("{:?}", found.finding)
    };
    assert!((0.001..0.02).contains(&missed), "{missed}");
    let shown = bench.iosonde(&["capacity", "sim:usb3-stick", "--seed", "1", "-q"]);
    assert!(
        shown.out.starts_with("PASS          sim:usb3-stick holds the 32 GB that it claims\n"),
        "{}",
        shown.out
    );
}

#[test]
fn the_free_space_of_a_folder_is_tested_by_a_file_that_is_gone_afterwards() {
    let bench = Bench::new();
    let before = names(&bench);
    let said = bench.iosonde(&["capacity", "./", "--size", "64m", "--json", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let found = capacity(&said);
    assert!(found.full && found.claimed_bytes == 64 * MIB && found.found.kept == 16_384, "{found:?}");
    assert_eq!(names(&bench), before);
    let shown = bench.iosonde(&["capacity", "./", "--size", "64m", "-q"]);
    let answer = "PASS          67.1 MB of the free space under ./ were tested, and they keep what\n";
    assert!(shown.out.starts_with(answer), "{}", shown.out);
}

fn names(bench: &Bench) -> Vec<String> {
    let entries = std::fs::read_dir(bench.path(".")).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.contains("notebook") && !name.contains(".db"));
    names.sort();
    names
}

#[test]
fn an_existing_file_needs_its_word_and_an_interrupted_test_goes_on_in_it() {
    let bench = Bench::new();
    bench.file("data", 64);
    let contents = std::fs::read(bench.path("data")).unwrap();
    let refused = bench.iosonde(&["capacity", "data"]);
    assert!(refused.code == 2 && refused.err.contains("--destroy"), "{}", refused.err);
    assert!(std::fs::read(bench.path("data")).unwrap() == contents);

    let full = ["capacity", "data", "--full", "--destroy", "--json", "-q"];
    let found = capacity(&bench.iosonde(&full));
    assert_eq!(
        (found.finding, found.written_before_bytes),
        (CapacityFinding::Genuine { missed_share: None }, 0)
    );
    // As after an end in the middle: the second half holds what it held before.
    let data = File::options().write(true).open(bench.path("data")).unwrap();
    data.write_all_at(&contents[32 << 20..], 32 << 20).unwrap();
    drop(data);
    let found = capacity(&bench.iosonde(&[&full[..], &["--resume"]].concat()));
    assert_eq!(found.finding, CapacityFinding::Genuine { missed_share: None });
    assert_eq!((found.written_before_bytes, found.written_bytes), (32 * MIB, 32 * MIB));
}

#[test]
fn blocks_that_cannot_be_read_are_damage_and_not_capacity() {
    let bench = Bench::new();
    let Some(library) = preload::library(&bench) else { return };
    bench.file("data", 64);
    let words = ["capacity", "data", "--full", "--destroy", "--engine", "psync", "--json", "-q"];
    let mut command = bench.command(&words);
    command.env("LD_PRELOAD", library).env("PRELOAD_TARGET", bench.path("data"));
    command.env("PRELOAD_FAULT", "eio").env("PRELOAD_ONE_IN", "20").env("PRELOAD_READS_ONLY", "1");
    let said = Said::of(command.output().unwrap());
    assert_eq!(said.code, 3, "{}", said.err);
    let found = capacity(&said);
    // Each request of 1 MiB is made again block by block: one in 20 of one in 20.
    assert!(
        matches!(found.finding, CapacityFinding::Damaged { share, .. } if share < 0.02),
        "{:?}",
        found.finding
    );
    assert!(found.found.failed > 0 && found.found.lost == 0, "{:?}", found.found);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    let refusals = [
        (&["capacity", "sim:ideal", "--destroy"][..], "holds nothing to destroy"),
        (&["capacity", "./", "--size", "64m", "--full", "--resume"], "leave --resume out"),
        (&["capacity", "./", "--resume"], "--full"),
        (&["capacity", "missing"], "missing"),
        // All free memory would be taken.
        (&["capacity", "/dev/shm", "--size", "64m"], "lies in memory (tmpfs)"),
        (&["capacity", "sim:ideal", "--size", "512"], "too little"),
    ];
    for (words, why) in refusals {
        let said = bench.iosonde(words);
        assert!(said.code == 2 && said.err.contains(why), "{words:?}: {} {}", said.code, said.err);
    }
}
