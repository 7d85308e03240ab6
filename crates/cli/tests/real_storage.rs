//! Whole runs on the real kernel: direct I/O on a file, memory that passes for storage, and kill -9.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::time::Duration;

use common::{Bench, SMALL_STUDY, direct_here, names_in};
use iosonde_model::{CheckName, Outcome, Phase, RunState};

#[test]
fn a_small_study_runs_on_a_folder_and_leaves_nothing_behind() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    std::fs::create_dir(bench.path("here")).unwrap();
    let run = bench.run(&["run", "small.toml", "here", "--size", "64MiB"]);
    assert_eq!(run.info.state, RunState::Done);
    assert!(names_in(&bench.path("here")).is_empty());
    assert_eq!(run.info.bytes_written, 64 << 20);
    assert_eq!(run.points.len(), 4);
    let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).count();
    assert!(measured >= 12, "{measured} trials");
    assert!(run.trials.iter().all(|trial| trial.errors() == 0 && trial.hung == 0));
}

#[test]
fn each_job_has_a_file_of_its_own() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("here")).unwrap();
    let common = ["--layout", "file-per-worker", "--bs", "64k", "--time", "500ms", "--size", "24MiB"];
    for (rw, jobs) in [("randread", "3"), ("randwrite", "4")] {
        let words = [&["point", "here", "--rw", rw, "--jobs", jobs], &common[..]].concat();
        let run = bench.run(&words);
        let device = &run.info.device;
        assert_eq!(device.worker_files.map(|files| files.to_string()).as_deref(), Some(jobs));
        assert_eq!((device.working_set_bytes, device.hosts), (24 << 20, None));
        let (fill, trial) = (&run.trials[0], run.trials.last().unwrap());
        assert_eq!(fill.witnesses.issued_write_bytes, 24 << 20, "each file is filled, and none twice");
        assert_eq!(trial.errors(), 0);
        assert!(trial.witnesses.unmapped_bytes.is_none_or(|bytes| bytes == 0), "{:?}", trial.witnesses);
        assert!(names_in(&bench.path("here")).is_empty());
    }
    // A study with workloads of one job and of four has four files; one job then has a quarter.
    bench.text(
        "jobs.toml",
        "name = \"jobs\"\nquestion = \"?\"\ntime = \"3s\"\n[[experiment]]\nkind = \"jobs\"\n\
         rw = \"randread\"\njobs = [1, 4]\ndepth = 1\n",
    );
    let words =
        ["run", "jobs.toml", "here", "--layout", "file-per-worker", "--size", "32MiB", "--time", "4s"];
    let run = bench.run(&words);
    let spans: Vec<(u32, u64)> =
        run.points.iter().map(|point| (point.spec.jobs, point.spec.span_bytes >> 20)).collect();
    assert_eq!(spans[..2], [(1, 8), (4, 32)]);
    assert!(run.trials.iter().all(|trial| trial.errors() == 0));
    let shared = bench.iosonde(&["point", "here", "--layout", "file-per-worker", "--and", "rw=write"]);
    assert_eq!(shared.code, 2, "{}", shared.out);
    assert!(shared.err.contains("one stream of requests"), "{}", shared.err);
}

#[test]
fn direct_reads_reach_the_block_layer() {
    let bench = Bench::new();
    if !direct_here(&bench) {
        return;
    }
    bench.file("data", 64);
    let run = bench.run(&["point", "data", "--read-only", "--bs", "64k", "--depth", "4", "--time", "1s"]);
    let seen = &run.trials[0].witnesses;
    let Some(moved) = seen.block_layer_read_bytes else {
        eprintln!("skipped: no block-layer counters below {}", bench.folder.path().display());
        return;
    };
    // Others may read meanwhile; what we read must be in it. Counters are updated when a request completes.
    assert!(moved as f64 >= seen.issued_read_bytes as f64 * 0.995, "{moved} of {}", seen.issued_read_bytes);
    assert!(!run.verdicts.iter().any(|v| v.check == CheckName::CacheServed && v.verdict == Outcome::Invalid));
}

#[test]
fn a_buffered_reread_is_called_memory_in_the_first_line() {
    let bench = Bench::new();
    let file = bench.file("data", 32);
    std::fs::read(file).unwrap();
    let run = bench.run(&["point", "data", "--read-only", "--buffered", "--time", "500ms"]);
    if run.trials[0].witnesses.block_layer_read_bytes.is_none() {
        eprintln!("skipped: no block-layer counters here");
        return;
    }
    let void =
        run.verdicts.iter().find(|v| v.check == CheckName::CacheServed && v.verdict == Outcome::Invalid);
    let why = &void.expect("a cached read is invalid as a device figure").why;
    assert!(why.contains("the rest from the page cache"), "{why}");

    bench.text("small.toml", SMALL_STUDY);
    let said = bench.iosonde(&["run", "small.toml", "data", "--read-only", "--buffered"]);
    let first = said.out.lines().find(|line| line.contains("VALID")).unwrap();
    assert!(first.contains("data came from memory"), "{}", said.out);
    let run = bench.run(&["show"]);
    assert!(run.findings.iter().all(|f| f.status != iosonde_model::Status::Found), "{:?}", run.findings);
}

#[test]
fn tmpfs_is_called_memory_in_the_first_line() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: no /dev/shm");
        return;
    };
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let said = bench.iosonde(&["run", "small.toml", folder.path().to_str().unwrap(), "--size", "64MiB"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let first = said.out.lines().find(|line| line.contains("VALID")).unwrap();
    assert!(first.contains("data came from memory"), "{}", said.out);
}

#[test]
fn a_sparse_file_is_said_not_to_have_been_read_from_storage() {
    let bench = Bench::new();
    if !direct_here(&bench) {
        return;
    }
    let file = std::fs::File::create(bench.path("sparse")).unwrap();
    file.set_len(64 << 20).unwrap();
    bench.text("small.toml", SMALL_STUDY);
    let said = bench.iosonde(&["run", "small.toml", "sparse", "--read-only"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let first = said.out.lines().find(|line| line.contains("VALID")).unwrap();
    // Where others use the disk meanwhile, some of what it moved may have been ours.
    let told = ["nothing was read from storage", "was never on storage"];
    assert!(told.iter().any(|words| first.contains(words)), "{}", said.out);
}

#[test]
fn kill_9_loses_at_most_one_trial_and_resume_completes() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    std::fs::create_dir(bench.path("here")).unwrap();
    // Ten of rounds, after the filling and the first looks.
    bench.after_trials(&["run", "small.toml", "here", "--size", "64MiB", "--seed", "3"], 14).kill();
    assert!(names_in(&bench.path("here")).is_empty(), "a file remains after kill -9");
    std::thread::sleep(Duration::from_millis(50));
    let listed = bench.iosonde(&["ls"]);
    assert!(listed.out.contains("interrupted"), "{}", listed.out);

    let before = bench.run(&["show"]);
    assert!(before.trials.len() >= 14, "{} trials are kept", before.trials.len());
    let begun = before.trials.iter().map(|trial| trial.round).max().unwrap();
    assert_eq!((before.info.rounds, begun >= 2), (begun - 1, true), "all rounds but the last were whole");
    let run = bench.run(&["resume"]);
    assert_eq!(run.info.state, RunState::Done);
    assert_eq!(run.trials[..before.trials.len()], before.trials[..]);
    // The fill of the new file is recorded as well.
    assert!(run.trials[before.trials.len()..].iter().any(|trial| trial.phase == Phase::Prepare));
    assert!(run.points.iter().all(|point| point.trials >= 3), "{:?}", run.points);
    for trial in run.trials.iter().filter(|trial| trial.point.is_some()) {
        assert_eq!(trial.spec, run.points[trial.point.unwrap()].spec, "the workload changed");
    }
    bench.iosonde(&["resume"]).refused(&["no run was interrupted"]);
}

/// Filling is done anew, and the time is the study's: a short run on a busy disk could not be resumed.
#[test]
fn what_an_interrupted_preparation_took_is_not_taken_off_the_time() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    std::fs::create_dir(bench.path("here")).unwrap();
    let said = bench.after_trials(&["run", "small.toml", "here", "--size", "64MiB"], 1).signal("INT").wait();
    assert_eq!(said.code, 130, "{}", said.err);
    let mut book = iosonde_store::Notebook::open(&bench.path("notebook.db")).unwrap();
    let mut info = book.info(&book.resolve(None).unwrap()).unwrap();
    let time_s = info.budget_s.unwrap();
    info.elapsed_s = 10.0 * time_s;
    book.update(&info).unwrap();
    drop(book);
    let run = bench.run(&["resume"]);
    assert_eq!(run.info.state, RunState::Done);
    let measured = run.trials.iter().filter(|trial| trial.round > 0);
    let measured_s: f64 = measured.map(|trial| trial.elapsed_s).sum();
    assert!(measured_s > time_s / 2.0 && run.info.elapsed_s > 10.0 * time_s, "{measured_s} of {time_s} s");
}

/// What was filled is measured, though filling it took ten times the time.
#[test]
fn a_preparation_that_took_all_the_time_leaves_the_shortest_trials() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    std::fs::create_dir(bench.path("here")).unwrap();
    let run = bench.run(&["run", "small.toml", "here", "--size", "16MiB"]);
    let mut info = run.info.clone();
    let late_s = 10.0 * info.budget_s.unwrap();
    info.id = "slow".into();
    let mut book = iosonde_store::Notebook::open(&bench.path("notebook.db")).unwrap();
    let lock = book.begin(&info).unwrap();
    for mut trial in run.trials.into_iter().filter(|trial| trial.round < 2) {
        trial.started_s += if trial.round > 0 { late_s } else { 0.0 };
        book.append("slow", &trial).unwrap();
    }
    drop((lock, book));
    let said = bench.iosonde(&["resume", "slow"]);
    assert!(said.code == 0 && said.err.contains("preparing took too much of --time"), "{}", said.err);
    let run = bench.run(&["show", "slow"]);
    assert_eq!(run.info.state, RunState::Done);
    assert!(run.trials.iter().any(|trial| trial.round == 2), "{:?}", run.points);
}

#[test]
fn a_count_of_requests_is_made_and_counted() {
    let bench = Bench::new();
    bench.file("data", 16);
    let run = bench.run(&["point", "data", "--read-only", "--ios", "20", "--depth", "4", "--time", "60s"]);
    assert_eq!(run.trials[0].read.as_ref().unwrap().ios, 20);
    assert!(run.trials[0].elapsed_s < 30.0);
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_says_how_to_go_on() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let said = bench.after_trials(&["run", "small.toml", ".", "--size", "64MiB"], 6).interrupt();
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(said.err.contains("iosonde resume"), "{}", said.err);
    assert_eq!(bench.run(&["resume"]).info.state, RunState::Done);
}
