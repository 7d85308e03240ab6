//! Outputs of real tools, judged: what is said of each must follow from how it was made.

use std::{fs, path::Path};

use crate::common::Bench;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/data/tools");

fn said_of(bench: &Bench, name: &str) -> String {
    fs::copy(Path::new(FOLDER).join(name), bench.path(name)).unwrap();
    let said = bench.iosonde(&["judge", name]);
    assert_eq!(said.code, 0, "{name}: {}", said.err);
    assert!(said.err.is_empty(), "{name}: {}", said.err);
    said.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What CI reads: a test for each result, failed where the result is invalid, or under --strict in doubt.
#[test]
fn junit_has_a_test_for_each_result() {
    let bench = Bench::new();
    for name in ["fio-buffered-psync-qd32.json", "fio-randread-qd8.json", "fio-randread-qd8.txt"] {
        fs::copy(Path::new(FOLDER).join(name), bench.path(name)).unwrap();
    }
    let files = ["fio-buffered-psync-qd32.json", "fio-randread-qd8.json", "fio-randread-qd8.txt"];
    let usual = bench.iosonde(&[&["judge", "--junit"], &files[..]].concat());
    assert_eq!(usual.code, 0, "{}", usual.err);
    assert!(usual.out.contains("<testsuites tests=\"3\" failures=\"1\" errors=\"0\">"), "{}", usual.out);
    assert!(
        usual.out.contains("<failure type=\"invalid (queue depth)\" message=\"psync sends one"),
        "{}",
        usual.out
    );
    let strict = bench.iosonde(&[&["judge", "--strict", "--junit=out.xml"], &files[..]].concat());
    assert_eq!((strict.code, strict.out.as_str()), (3, ""), "{}", strict.err);
    let text = fs::read_to_string(bench.path("out.xml")).unwrap();
    assert!(text.contains("failures=\"2\""), "{text}");
    assert_eq!(text.matches("<testcase ").count(), 3, "{text}");
}

/// A folder's files that cannot be read are named in a note, which CI does not see: `--strict` fails.
#[test]
fn a_damaged_file_of_a_folder_fails_under_strict() {
    let bench = Bench::new();
    let folder = bench.path("results");
    fs::create_dir(&folder).unwrap();
    let whole = Path::new(FOLDER).join("fio-randread-qd8.json");
    fs::copy(&whole, folder.join("a.json")).unwrap();
    assert_eq!(bench.iosonde(&["judge", "--strict", "-q", "results"]).code, 0);
    let text = fs::read_to_string(&whole).unwrap();
    fs::write(folder.join("b.json"), &text[..text.len() / 2]).unwrap();
    assert_eq!(bench.iosonde(&["judge", "-q", "results"]).code, 0);
    let strict = bench.iosonde(&["judge", "--strict", "-q", "results"]);
    assert!(strict.code == 2 && strict.err.contains("b.json"), "{}: {}", strict.code, strict.err);
}

/// Headline of each output, as it follows from how it was made: direct I/O at a depth that was kept is without a fault;
/// buffered I/O, what does not state its page cache, and threads that are busy between their requests get a warning; a
/// depth of a blocking engine is invalid.
const HEADLINES: &[(&str, &str)] = &[
    // With direct I/O, which its screen does not state.
    ("crystaldiskmark-8.0.4.txt", "1 invalid, 11 with a warning"),
    ("crystaldiskmark.txt", "4 with a warning"),
    ("dd-buffered-write.txt", "1 with a warning"),
    ("dd-direct-write.txt", "1 without a fault"),
    // Direct, then buffered.
    ("dd-reads.txt", "1 with a warning, 1 without a fault"),
    ("diskspd-buffered-seq.xml", "1 with a warning"),
    // It wrote zeros.
    ("diskspd-mix-zeros.xml", "1 with a warning"),
    ("diskspd-randread.xml", "1 without a fault"),
    // The first of its threads ended long before the last.
    ("elbencho-3.1.csv", "2 invalid"),
    ("elbencho-buffered.csv", "1 with a warning"),
    ("elbencho.csv", "4 without a fault"),
    ("fio-2.16.txt", "1 with a warning"),
    ("fio-bsrange.json", "1 without a fault"),
    ("fio-buffered-psync-qd32.json", "1 invalid"),
    ("fio-buffered-psync-qd32.txt", "1 invalid"),
    ("fio-fdatasync-mix.json", "1 without a fault"),
    ("fio-group-unlike.json", "1 without a fault"),
    ("fio-gtod-reduce.json", "1 without a fault"),
    ("fio-mixed-sizes.json", "1 without a fault"),
    ("fio-mmap-read.json", "1 with a warning"),
    ("fio-no-space.txt", "1 invalid"),
    ("fio-numjobs.json", "1 without a fault"),
    ("fio-numjobs.terse", "2 with a warning"),
    ("fio-plus.json", "1 without a fault"),
    ("fio-randread-qd8.json", "1 without a fault"),
    // The mix, and what `verify` read back.
    ("fio-randrw-verify.json", "2 without a fault"),
    ("fio-randrw-verify.terse", "2 with a warning"),
    ("fio-randrw-verify.txt", "2 with a warning"),
    ("fio-rate.json", "1 without a fault"),
    // The text does not state its rate, and a depth of 4 was not reached.
    ("fio-rate.txt", "1 with a warning"),
    ("fio-stonewall.json", "2 without a fault"),
    ("fio-stonewall.terse", "2 with a warning"),
    ("fio-stonewall.txt", "2 with a warning"),
    ("fio-two-jobs.json", "1 without a fault"),
    ("fio-two-jobs.terse", "2 with a warning"),
    // Buffered, but each write was followed by fdatasync.
    ("fio-wal.json", "1 without a fault"),
    ("fio-write-group.json", "1 without a fault"),
    ("kdiskmark-1.6.0.txt", "8 invalid"),
    ("kdiskmark-3.2.0.txt", "8 invalid"),
    ("kdiskmark-mix.txt", "5 invalid"),
    ("kdiskmark.txt", "8 invalid"),
    // The last one writes without any flush.
    ("pg_test_fsync.txt", "1 with a warning, 13 without a fault"),
    ("sysbench-rndrd-direct.txt", "1 without a fault"),
    // Threads that took time of their own between reads from memory: 1.8 of 2.
    ("sysbench-rndrd.txt", "1 with a warning"),
    ("sysbench-rndrw-direct.txt", "1 without a fault"),
    ("sysbench-rndrw.txt", "1 with a warning"),
    // Flushed after every hundred requests.
    ("sysbench-rndwr.txt", "1 without a fault"),
    ("sysbench-seqrd.txt", "1 with a warning"),
    ("sysbench-seqwr.txt", "1 without a fault"),
    // KiB/s that are called MB/s, as in KDiskMark.
    ("yabs-2020.txt", "4 invalid"),
    ("yabs-2024.txt", "4 invalid"),
    ("yabs.json", "4 without a fault"),
];

#[test]
fn every_output_gets_the_verdict_that_it_earned() {
    let bench = Bench::new();
    let mut names: Vec<String> = fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 40, "{}", names.len());
    for name in &names {
        let said = said_of(&bench, name);
        let known = HEADLINES.iter().find(|(own, _)| own == name);
        // All other outputs of fio leave the page cache open.
        let expected = known.map_or("1 with a warning", |(_, expected)| expected);
        let headline = said.split(": ").nth(1).unwrap_or_default();
        assert!(headline.starts_with(expected), "{name}: {expected}, but: {said}");
        let open = ["txt", "terse"].iter().any(|end| name.ends_with(end))
            && name.starts_with("fio-")
            && name != "fio-mmap-read.txt";
        assert_eq!(
            said.contains("does not state whether the page cache was bypassed"),
            open || name.contains("diskmark"),
            "{name}: {said}"
        );
        // Nobody is told of a depth that the output does not state.
        let words: Vec<&str> = said.split_whitespace().collect();
        let depth = words.windows(2).any(|pair| pair[0] == "depth" && pair[1].parse::<f64>().is_ok());
        assert!(!name.ends_with("terse") || !depth, "{name}: {said}");
    }
}

/// Fourteen results, of which ten have a rate alone: a line for each would say one thing ten times.
#[test]
fn results_with_one_verdict_share_a_line() {
    let bench = Bench::new();
    let said = said_of(&bench, "pg_test_fsync.txt");
    assert!(said.starts_with("14 results at QD 1 from pg_test_fsync"), "{said}");
    let together = "10 others no fault found no contradiction found; the queue depth was not checked";
    assert!(said.contains(together) && said.matches("no fault found").count() == 1, "{said}");
    let said = said_of(&bench, "crystaldiskmark.txt");
    assert!(said.contains("all 4 warning (device) the file does not state whether"), "{said}");
    assert_eq!(
        said_of(&bench, "fio-stonewall.txt").matches("warning (device)").count(),
        2,
        "two are told apart"
    );
}

#[test]
fn a_slip_of_units_in_all_rows_is_told_on_the_screen_and_to_ci() {
    let bench = Bench::new();
    let said = said_of(&bench, "kdiskmark.txt");
    let slip =
        "all results invalid throughput is 0.977 times IOPS × block size in all rows (kB and KiB confused?)";
    assert!(said.contains(slip), "{said}");
    assert!(!said_of(&bench, "crystaldiskmark.txt").contains("confused"));
    let ci = bench.iosonde(&["judge", "kdiskmark.txt", "--junit"]);
    assert!(
        ci.out.contains("name=\"all results\"") && ci.out.contains("<testsuites tests=\"9\" failures=\"1\""),
        "{}",
        ci.out
    );
}
