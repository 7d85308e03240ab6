//! Outputs of real tools: every one is read, and its figures come back as the tool printed them.
//!
//! The folder `tests/data/tools` has results of fio 3.33, sysbench 1.0.20, pg_test_fsync 15 and dd of coreutils 9.1,
//! made on one machine, and what users of CrystalDiskMark 8.0.4, KDiskMark 1.6.0 and 3.2.0, elbencho 3.1 and YABS of
//! 2024 have published. The others are written by hand in the form of their tools (the same, diskspd, fio 2).

use std::{fs, path::PathBuf};

use iosonde_model::{Direction, Op, RequestError, Rw, Sync, Trial, Unstated};

use super::{Imported, import};

/// Share by which an import may differ from the tool's own figure.
const NEAR: f64 = 1e-3;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tools"))
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(name: &str) -> Imported {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    import(&text).unwrap_or_else(|error| panic!("{name}: {:?} {error}", error.place()))
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= NEAR * one.abs().max(other.abs())
}

#[test]
fn every_output_of_the_corpus_is_read() {
    let names = names();
    assert!(names.len() >= 40, "{}", names.len());
    for name in &names {
        let imported = read(name);
        assert!(!imported.trials.is_empty() && imported.program.is_some(), "{name}");
        for trial in &imported.trials {
            assert!(trial.directions().all(|(_, side)| side.iops > 0.0 && side.bytes_per_s > 0.0), "{name}");
            assert!(trial.directions().count() > 0 && trial.measured_s >= 0.0, "{name}");
        }
    }
}

/// One run of fio, told three times: JSON has every digit.
#[test]
fn fios_text_and_terse_lines_give_the_figures_of_its_json() {
    let mut compared = 0;
    for name in names().iter().filter(|name| name.starts_with("fio-") && name.ends_with(".json")) {
        let (stem, exact) = (name.trim_end_matches(".json"), read(name));
        for ending in ["txt", "terse"] {
            let other = format!("{stem}.{ending}");
            if !folder().join(&other).exists() {
                continue;
            }
            let told = read(&other);
            if told.trials.len() != exact.trials.len() {
                // A terse line does not say which jobs it ran beside: each is a result.
                let total = |all: &[Trial]| all.iter().map(Trial::iops).sum::<f64>();
                assert!(ending == "terse" && near(total(&told.trials), total(&exact.trials)), "{other}");
                continue;
            }
            for (told, exact) in told.trials.iter().zip(&exact.trials) {
                for op in Op::DIRECTIONS {
                    compared += same(&other, told.direction(op), exact.direction(op), ending == "terse");
                }
                // A mapped file is read through the page cache.
                let is_open = told.unstated.contains(&Unstated::PageCache);
                assert_eq!(is_open, other != "fio-mmap-read.txt", "{other}");
                if ending == "txt" {
                    flushed_alike(&other, told, exact);
                    // fio 3.33 prints the first heading of several jobs to the terminal instead of its file.
                    let headed = !told.unstated.contains(&Unstated::QueueDepth);
                    let load = |trial: &Trial| (trial.spec.rw, trial.spec.queue_depth, trial.spec.jobs);
                    assert!(!headed || load(told) == load(exact), "{other}");
                    let size = |trial: &Trial| trial.spec.block_size_bytes as f64;
                    assert!(near(size(told), size(exact)), "{other}: {} {}", size(told), size(exact));
                }
            }
        }
    }
    assert!(compared >= 24, "{compared} directions compared");
}

/// fio 3.33 counts `fdatasync` where short reads stand. Beside reads the text does not tell them apart.
fn flushed_alike(name: &str, told: &Trial, exact: &Trial) {
    let summary = |trial: &Trial| trial.flush.as_ref().map(|flush| (flush.ios, flush.latency_ns.clone()));
    let hidden = exact.read.is_some() && told.flush.is_none();
    let (Some((told, by_text)), Some((exact, latency))) = (summary(told), summary(exact)) else {
        assert!(hidden || (told.flush.is_none() && exact.flush.is_none()), "{name}");
        return;
    };
    assert_eq!(told, exact, "{name}");
    for (told, exact) in
        [(by_text.mean, latency.mean), (by_text.p50, latency.p50), (by_text.p99, latency.p99)]
    {
        let (told, exact) = (told.unwrap(), exact.unwrap());
        // Whole microseconds.
        assert!((told - exact).abs() <= (NEAR * exact).max(1_000.0), "{name}: {told} of {exact} ns");
    }
}

fn same(name: &str, told: Option<&Direction>, exact: Option<&Direction>, whole: bool) -> usize {
    let (Some(told), Some(exact)) = (told, exact) else {
        assert_eq!(told.is_some(), exact.is_some(), "{name}");
        return 0;
    };
    // Terse lines print whole IOPS.
    let alike = near(told.iops, exact.iops) || (whole && (told.iops - exact.iops).abs() < 1.0);
    assert!(alike, "{name}: {} of {} IOPS", told.iops, exact.iops);
    let kib = 1024.0;
    let alike =
        near(told.bytes_per_s, exact.bytes_per_s) || (told.bytes_per_s - exact.bytes_per_s).abs() <= kib;
    assert!(alike, "{name}: {} of {} B/s", told.bytes_per_s, exact.bytes_per_s);
    let means = (told.latency_ns.mean, exact.latency_ns.mean);
    match means {
        // fio's text gives two digits behind the point.
        (Some(told), Some(exact)) => {
            assert!((told - exact).abs() <= (NEAR * exact).max(6.0), "{name}: {means:?}")
        }
        (told, exact) => assert_eq!(told.is_some(), exact.is_some(), "{name}"),
    }
    1
}

/// A figure as a tool printed it: file, place of the result, operation, IOPS, bytes per second, mean latency in ns.
type Printed = (&'static str, usize, Op, f64, f64, Option<f64>);

const PRINTED: &[Printed] = &[
    ("kdiskmark.txt", 0, Op::Read, 3300.4, 3379.610e6, Some(2_423_000.0)),
    ("kdiskmark.txt", 3, Op::Read, 14_877.9, 59.512e6, Some(66_500.0)),
    ("kdiskmark.txt", 7, Op::Write, 41_230.2, 164.921e6, Some(23_900.0)),
    ("kdiskmark-mix.txt", 4, Op::Read, 70_000.0, 280.0e6, None),
    ("kdiskmark-mix.txt", 4, Op::Write, 30_000.0, 120.0e6, None),
    ("crystaldiskmark.txt", 2, Op::Read, 600_000.0, 2_457.6e6, Some(851_000.0)),
    ("crystaldiskmark-8.0.4.txt", 6, Op::Write, 493_362.8, 2_020.814e6, Some(1_021_300.0)),
    ("kdiskmark-1.6.0.txt", 2, Op::Read, 67_889.0, 271.553e6, Some(1_955_570.0)),
    ("kdiskmark-3.2.0.txt", 6, Op::Write, 3_678.0, 14.712e6, Some(11_072_930.0)),
    // Until the last of its 8 threads was done.
    ("elbencho-3.1.csv", 0, Op::Write, 2_941.0, 2_941.0 * 1_048_576.0, Some(9_383_000.0)),
    ("elbencho-3.1.csv", 1, Op::Read, 9_048.0, 9_048.0 * 1_048_576.0, Some(3_223_000.0)),
    ("yabs.json", 0, Op::Read, 101_354.0, 405_416.0 * 1024.0, None),
    ("yabs.json", 3, Op::Write, 373.0, 382_035.0 * 1024.0, None),
    ("yabs-2020.txt", 0, Op::Read, 101_400.0, 405.42e6, None),
    ("yabs-2024.txt", 1, Op::Read, 1_600.0, 107.05e6, None),
    ("yabs-2024.txt", 2, Op::Write, 204.0, 104.63e6, None),
    // 2,398,000 reads in 30.00 s; 16 outstanding over 79,933 a second are 0.200 ms.
    ("diskspd-randread.xml", 0, Op::Read, 2_398_000.0 / 30.0, 2_398_000.0 * 4096.0 / 30.0, Some(200_000.0)),
    ("diskspd-mix-zeros.xml", 0, Op::Write, 300_000.0 / 20.01, 300_000.0 * 8192.0 / 20.01, Some(688_000.0)),
    ("diskspd-buffered-seq.xml", 0, Op::Write, 3_000.0, 3_000.0 * 1_048_576.0, None),
    ("elbencho.csv", 0, Op::Write, 2_400.0, 2_400.0 * 1_048_576.0, Some(1_661_000.0)),
    ("elbencho.csv", 2, Op::Read, 310_000.0, 1_210.0 * 1_048_576.0, Some(412_000.0)),
    ("elbencho.csv", 3, Op::Read, 70_000.0, 546.0 * 1_048_576.0, Some(159_000.0)),
    ("elbencho.csv", 3, Op::Write, 30_000.0, 234.0 * 1_048_576.0, Some(160_000.0)),
    ("elbencho-buffered.csv", 0, Op::Read, 20_000.0, 2_500.0 * 1_048_576.0, Some(49_000.0)),
    ("fio-2.16.txt", 0, Op::Read, 5_939.2, 23_756.0 * 1024.0, Some(669_400.0)),
    ("fio-2.16.txt", 0, Op::Write, 5_926.4, 23_705.0 * 1024.0, Some(677_900.0)),
    ("sysbench-rndrd-direct.txt", 0, Op::Read, 25_702.48, 401.60 * 1_048_576.0, Some(15_975.71e6 / 51_516.0)),
    ("sysbench-rndrw-direct.txt", 0, Op::Read, 12_555.28, 196.18 * 1_048_576.0, None),
    ("sysbench-rndrw-direct.txt", 0, Op::Write, 8_371.19, 130.80 * 1_048_576.0, None),
    ("sysbench-seqwr.txt", 0, Op::Write, 25_392.40, 396.76 * 1_048_576.0, None),
    ("pg_test_fsync.txt", 0, Op::Write, 264.898, 264.898 * 8192.0, Some(3_775_000.0)),
    ("pg_test_fsync.txt", 1, Op::Write, 246.038, 246.038 * 8192.0, None),
    ("pg_test_fsync.txt", 5, Op::Write, 2.0 * 243.483, 2.0 * 243.483 * 8192.0, None),
    ("dd-buffered-write.txt", 0, Op::Write, 64.0 / 0.0244225, 67_108_864.0 / 0.0244225, None),
    ("dd-direct-write.txt", 0, Op::Write, 500.0 / 0.299213, 32_768_000.0 / 0.299213, None),
    // 31 whole ones and a quarter of one.
    ("dd-reads.txt", 0, Op::Read, 32.0 / 0.0361796, 32_768_000.0 / 0.0361796, None),
    ("dd-reads.txt", 1, Op::Read, 8_000.0 / 0.0957682, 32_768_000.0 / 0.0957682, None),
];

#[test]
fn bytes_without_a_count_of_requests_are_no_size() {
    let text = fs::read_to_string(folder().join("fio-randread-qd8.txt")).unwrap();
    let cut = &text[..text.find("issued rwts").unwrap()];
    assert_eq!(import(cut).unwrap().trials[0].spec.block_size_bytes, 4096);
}

/// A reader of 4 KiB at QD 4 beside one of 64 KiB at QD 1, which fio summed up.
#[test]
fn jobs_of_several_kinds_have_their_mean_size_and_no_depth() {
    for name in ["fio-group-unlike.json", "fio-group-unlike.txt"] {
        let imported = read(name);
        let [trial] = &imported.trials[..] else { panic!("{name}: one group") };
        let size = trial.bytes_per_s() / trial.iops();
        assert!((9_000.0..30_000.0).contains(&size), "{name}: {size}");
        assert!(
            near(trial.spec.block_size_bytes as f64, size),
            "{name}: {} of {size}",
            trial.spec.block_size_bytes
        );
        assert!(trial.unstated.contains(&Unstated::QueueDepth) && trial.unstated.contains(&Unstated::Order));
        assert!(
            imported.notes.iter().any(|note| note.contains("sums up several jobs")),
            "{:?}",
            imported.notes
        );
    }
}

/// Reads of a mix and of its verification, which took longer than the writes.
#[test]
fn a_mix_that_was_read_back_is_two_results_of_unknown_depth() {
    for ending in ["json", "txt", "terse"] {
        let imported = read(&format!("fio-randrw-verify.{ending}"));
        let told: Vec<_> = imported
            .trials
            .iter()
            .map(|trial| (trial.spec.rw, trial.unstated.contains(&Unstated::QueueDepth)))
            .collect();
        assert_eq!(told, [(Rw::RandRead, true), (Rw::RandWrite, true)], "{ending}");
        assert!(
            imported.notes.iter().any(|note| note.contains("`verify`")),
            "{ending}: {:?}",
            imported.notes
        );
    }
}

/// Their common figures have latencies and fields of their own.
#[test]
fn figures_of_reads_and_writes_together_are_passed_over() {
    let [text, terse] =
        ["fio-unified-both.txt", "fio-unified-both.terse"].map(|name| read(name).trials.remove(0));
    for op in [Op::Read, Op::Write] {
        assert_eq!(same("both", terse.direction(op), text.direction(op), true), 1);
    }
    let mean_ns = text.write.as_ref().unwrap().latency_ns.mean.unwrap();
    assert!(near(mean_ns, 161_580.0), "{mean_ns}");
    // usr 4.5 %, sys 44.3 %.
    assert!(near(terse.busy_share.unwrap(), 0.487552), "{:?}", terse.busy_share);
}

#[test]
fn a_text_that_ended_by_max_latency_has_no_failed_request() {
    let imported = read("fio-max-latency.txt");
    assert_eq!((imported.trials[0].errors(), imported.trials[0].read.as_ref().unwrap().ios), (0, 8));
    assert_eq!(imported.trials[0].error_examples, [RequestError::TooSlow]);
    let indented: String = fs::read_to_string(folder().join("fio-randread-qd8.txt"))
        .unwrap()
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    assert_eq!(import(&indented).unwrap().notes, [""; 0]);
}

#[test]
fn a_request_that_failed_is_no_part_of_the_throughput() {
    let trial = read("fio-no-space.txt").trials.remove(0);
    let write = trial.write.as_ref().unwrap();
    assert_eq!((write.ios, write.errors, write.bytes), (128, 1, 8192 << 10));
}

#[test]
fn a_report_of_both_directions_and_their_sum_has_both_directions() {
    let trial = read("fio-unified-both.txt").trials.remove(0);
    assert!(trial.read.is_some() && trial.write.is_some() && trial.in_flight_mean.is_none());
}

#[test]
fn a_search_for_a_depth_has_figures_of_all_its_depths() {
    let text = fs::read_to_string(folder().join("fio-randread-qd8.txt")).unwrap();
    let searched = text.replace(
        "target=0, window=0, percentile=100.00%, depth=8",
        "target=2000000, window=500000, percentile=90.00%, depth=5",
    );
    assert_ne!(text, searched);
    let imported = import(&searched).unwrap();
    assert!(imported.trials[0].unstated.contains(&Unstated::QueueDepth));
    assert!(imported.notes.iter().any(|note| note.contains("latency_target")), "{:?}", imported.notes);
}

/// Runs that were appended to a file are results each; reports of one process are one.
#[test]
fn a_text_of_several_runs_adds_nothing_up() {
    let text = fs::read_to_string(folder().join("fio-randread-qd8.txt")).unwrap();
    let pid = text.split(" pid=").nth(1).unwrap().split(':').next().unwrap();
    let other = text.replace(&format!(" pid={pid}"), " pid=1");
    let told = |text: &str| {
        let imported = import(text).unwrap();
        let ios = imported.trials.iter().map(|trial| trial.iops().round()).collect::<Vec<_>>();
        (ios, imported.notes.iter().any(|note| note.contains("several reports of the same run")))
    };
    let (one, _) = told(&text);
    assert_eq!(told(&format!("{text}\n{other}")), ([one.clone(), one.clone()].concat(), false));
    assert_eq!(told(&format!("{text}\n{text}")), (one, true));
}

#[test]
fn flushes_are_no_short_reads() {
    let mix = &read("fio-fdatasync-mix.json").trials[0];
    let (reads, flushes) = (mix.read.as_ref().unwrap(), mix.flush.as_ref().unwrap());
    assert_eq!(reads.short, 0);
    assert!(flushes.ios > 100, "{}", flushes.ios);
    assert!(read("fio-wal.txt").trials[0].flush.as_ref().is_some_and(|flush| flush.ios == 190));
}

#[test]
fn other_tools_figures_come_back_as_they_were_printed() {
    for (name, place, op, iops, bytes_per_s, mean_ns) in PRINTED {
        let imported = read(name);
        let side =
            imported.trials[*place].direction(*op).unwrap_or_else(|| panic!("{name} {place}: no {op}"));
        assert!(near(side.iops, *iops), "{name} {place}: {} of {iops} IOPS", side.iops);
        assert!(
            near(side.bytes_per_s, *bytes_per_s),
            "{name} {place}: {} of {bytes_per_s} B/s",
            side.bytes_per_s
        );
        match (side.latency_ns.mean, mean_ns) {
            (Some(mean), Some(printed)) => {
                assert!(near(mean, *printed), "{name} {place}: {mean} of {printed} ns")
            }
            (mean, printed) => assert_eq!(mean.is_some(), printed.is_some(), "{name} {place}"),
        }
    }
}

#[test]
fn workloads_are_what_the_files_say() {
    let first = |name: &str| read(name).trials.remove(0);
    let of = |trial: &Trial| {
        (trial.spec.block_size_bytes, trial.spec.queue_depth, trial.spec.jobs, trial.spec.direct)
    };
    assert_eq!(of(&first("diskspd-randread.xml")), (4096, 8, 2, true));
    assert_eq!(first("diskspd-mix-zeros.xml").spec.read_percent, Some(70.0));
    assert!(!first("diskspd-buffered-seq.xml").spec.direct);
    assert_eq!(of(&read("elbencho.csv").trials[2]), (4096, 16, 8, true));
    assert_eq!(of(&first("yabs.json")), (4096, 64, 2, true));
    assert_eq!(of(&read("kdiskmark.txt").trials[2]), (4096, 32, 1, false));
    assert_eq!(of(&first("sysbench-rndrd-direct.txt")), (16_384, 1, 8, true));
    // Each 100 requests it flushes all of its 4 files.
    assert_eq!(first("sysbench-rndwr.txt").spec.sync, Sync::Fsync { every: 25 });
    assert_eq!(of(&first("dd-direct-write.txt")), (65_536, 1, 1, true));
    assert_eq!(first("dd-direct-write.txt").spec.sync, Sync::FdatasyncAtEnd);
    assert_eq!(of(&first("dd-reads.txt")), (1 << 20, 1, 1, true));
    let pg = read("pg_test_fsync.txt").trials;
    let syncs: Vec<Sync> = pg.iter().take(4).map(|trial| trial.spec.sync).collect();
    let each = [Sync::Dsync, Sync::Fdatasync { every: 1 }, Sync::Fsync { every: 1 }, Sync::Osync];
    assert_eq!((syncs, pg.len()), (each.to_vec(), 4 + 4 + 5 + 1));
    assert_eq!(read("fio-terse-v5.terse").trials[0].spec.block_size_bytes, 4096);
}

/// Cut anywhere, or with a line gone: a result or one cause, and no panic.
#[test]
fn outputs_that_were_cut_are_read_or_refused() {
    for name in names() {
        let text = fs::read_to_string(folder().join(&name)).unwrap();
        for part in 0..40 {
            let end = (0..=text.len() * part / 40).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let _ = import(&text[..end]);
            let lines: Vec<&str> = text.lines().collect();
            let gone = lines.len() * part / 40;
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(at, _)| *at != gone).map(|own| *own.1).collect();
            let _ = import(&rest.join("\n"));
        }
    }
}

/// What comes after the figures in an output of fio tells whether a copy is whole.
#[test]
fn a_cut_output_of_fio_is_refused_or_named_as_cut() {
    let of_fio =
        |name: &String| name.starts_with("fio-") && (name.ends_with("txt") || name.ends_with("terse"));
    for name in names().iter().filter(|name| of_fio(name)) {
        let says = |imported: &Imported| {
            let words = ["not whole", "may be missing"];
            imported.notes.iter().any(|note| words.iter().any(|word| note.contains(word)))
        };
        assert!(!says(&read(name)), "{name}: {:?}", read(name).notes);
        let text = fs::read_to_string(folder().join(name)).unwrap();
        for part in 1..20 {
            let end = (0..=text.len() * part / 20).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let (cut, rest) = text.split_at(end);
            // A summary that was begun, and the statistics of a disk (nine fields), are behind all figures. Whether a
            // line is missing, or hardly begun, no terse line tells.
            let left = rest.lines().next().map_or(0, |line| line.matches(';').count());
            let begun = cut.rsplit('\n').next().unwrap_or_default().len() > 8;
            if cut.contains("Run status group") || (name.ends_with("terse") && (left <= 9 || !begun)) {
                continue;
            }
            if let Ok(imported) = import(cut) {
                assert!(says(&imported), "{name} cut at {end}: {:?}", imported.notes);
            }
        }
    }
}
