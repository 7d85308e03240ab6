//! What fio 3.33 wrote, and what can happen to it.

use super::*;
use iosonde_model::{RequestError, Rw, Sync, Unstated};

const MIXED: &str = include_str!("../../../tests/data/fio-3.33-mixed.json");
const GROUP: &str = include_str!("../../../tests/data/fio-3.33-group.json");
const JOBS: &str = include_str!("../../../tests/data/fio-3.33-jobs.json");
const WARNINGS: &str = include_str!("../../../tests/data/fio-3.33-warnings.txt");

fn read(text: &str) -> Imported {
    FioJson.read(text).unwrap()
}

fn said(text: &str) -> String {
    FioJson.read(text).unwrap_err().to_string()
}

#[test]
fn a_mixed_job_of_fio_3_33() {
    let imported = read(MIXED);
    assert_eq!(imported.program.as_deref(), Some("fio 3.33"));
    let [trial] = &imported.trials[..] else { panic!("one job") };
    assert_eq!((trial.spec.rw, trial.spec.block_size_bytes, trial.spec.queue_depth), (Rw::RandRw, 4096, 8));
    assert_eq!(
        (trial.spec.engine.as_str(), trial.spec.direct, trial.spec.span_bytes),
        ("io_uring", true, 16 << 20)
    );
    let read = trial.read.as_ref().unwrap();
    assert_eq!((read.ios, read.bytes), (17_479, 71_593_984));
    assert_eq!((read.iops, read.latency_ns.mean), (17_444.111776, Some(170_779.729618)));
    // Submission takes 6 % of the whole: percentiles of completion are taken.
    assert_eq!((read.latency_ns.p99, read.latency_ns.max), (Some(2_310_144.0), Some(10_581_059)));
    assert_eq!((trial.measured_s, trial.witnesses.issued_ios), (1.002, 17_479 + 17_467));
    // 4.095904 % and 34.865135 % of 1.001 s, in 1.002 s.
    assert!((trial.busy_share.unwrap() - 0.38922).abs() < 1e-4);
    assert_eq!((trial.in_flight_mean, trial.windows.len()), (None, 0));
}

#[test]
fn a_search_for_a_depth_has_figures_of_all_its_depths() {
    let searched = MIXED.replacen("\"latency_target\" : 0", "\"latency_target\" : 500", 1);
    assert_ne!(searched, MIXED);
    let told = read(&searched);
    assert!(told.trials[0].unstated.contains(&Unstated::QueueDepth), "{:?}", told.trials[0].unstated);
    assert!(told.notes[0].contains("latency_target"), "{:?}", told.notes);
    assert_eq!((read(MIXED).trials[0].unstated.len(), read(MIXED).notes.len()), (0, 0));
}

#[test]
fn a_job_below_its_own_limit_of_throughput_has_no_failed_request() {
    let text = MIXED.replacen("\"error\" : 0", "\"error\" : 5", 1);
    assert_ne!(text, MIXED);
    let failed = |text: &str| {
        let trial = read(text).trials.remove(0);
        (trial.error_examples.clone(), trial.read.map_or(0, |side| side.errors))
    };
    let (errors, count) = failed(&text);
    assert!(matches!(errors[..], [RequestError::System { errno: 5, .. }]) && count == 1, "{errors:?}");
    let limited = text.replacen("\"rw\" : \"randrw\"", "\"rw\" : \"randrw\", \"rate_min\": \"3g\"", 1);
    assert_eq!(failed(&limited), (vec![RequestError::TooLowRate], 0));
}

#[test]
fn an_interrupt_is_told_in_every_format() {
    let told = |notes: &[String]| notes.iter().any(|note| note.contains("terminating on signal 2"));
    assert!(told(&read(&format!("\nfio: terminating on signal 2\n{MIXED}")).notes));
    assert!(!told(&read(MIXED).notes));
}

#[test]
fn a_job_that_only_the_clock_ends_and_that_ended_too_early_was_stopped() {
    // It measured 1.002 s.
    let notes = |options: &str| {
        let text = MIXED.replacen("\"runtime\" : \"1\"", options, 1);
        assert_ne!(text, MIXED);
        read(&text).notes
    };
    let stopped = notes("\"runtime\" : \"30s\", \"time_based\" : \"1\"");
    assert!(matches!(&stopped[..], [note] if note.contains("after 1.0 s of the 30 s")), "{stopped:?}");
    for options in [
        "\"runtime\" : \"1s\", \"time_based\" : \"1\"",
        "\"runtime\" : \"30s\"",
        "\"runtime\" : \"30s\", \"time_based\" : \"1\", \"io_size\" : \"1g\"",
    ] {
        assert_eq!(notes(options), [""; 0], "{options}");
    }
}

/// Each of these was judged falsely: found by somebody who ran fio beside `judge`.
#[test]
fn options_that_keep_no_depth_or_load_leave_it_unknown() {
    let with = |options: &str| {
        let text = MIXED.replacen("\"rw\" : \"randrw\"", &format!("\"rw\" : \"randrw\", {options}"), 1);
        read(&text).trials.remove(0)
    };
    for options in ["\"iodepth_low\": \"2\"", "\"verify_backlog\": \"8\"", "\"rate_iops\": \"500,\""] {
        let trial = with(options);
        assert!(
            trial.unstated.contains(&Unstated::QueueDepth) && trial.spec.rate_iops.is_none(),
            "{options}"
        );
    }
    // The mix is what was done.
    let share = with("\"rate_iops\": \",500\"").spec.read_percent.unwrap();
    assert!((share - 100.0 * 17_479.0 / (17_479.0 + 17_467.0)).abs() < 1e-9, "{share}");
    // Sizes before `kb_base` are powers of 1,024 whatever it says.
    let si = with("\"kb_base\": \"1000\"");
    assert_eq!((si.unstated.len(), si.spec.block_size_bytes), (0, 4096));
}

#[test]
fn jobs_that_begin_later_did_not_run_with_the_others() {
    let waits = |option: &str| {
        let text =
            JOBS.replace("\"groupid\" : 1", "\"groupid\" : 0").replace("\"groupid\" : 2", "\"groupid\" : 0");
        let mut document: Value = serde_json::from_str(&text).unwrap();
        document["jobs"][3]["job options"][option] = "1".into();
        read(&document.to_string()).trials.iter().map(|trial| trial.experiment.clone()).collect::<Vec<_>>()
    };
    assert_eq!(waits("nice"), ["r1 + r2 + r2 + r3"]);
    for option in ["startdelay", "wait_for"] {
        assert_eq!(waits(option), ["r1 + r2 + r2", "r3"], "{option}");
    }
}

#[test]
fn requests_that_failed_are_counted_once() {
    let failed = changed(MIXED, &[("", "error", 28.into()), ("", "total_err", 2.into())]);
    let trial = read(&failed).trials.remove(0);
    let (reads, writes) = (trial.read.unwrap(), trial.write.unwrap());
    assert_eq!((reads.ios, reads.errors, writes.ios, writes.errors), (17_479, 0, 17_465, 2));
    // What had no latency did not complete.
    let mut document: Value = serde_json::from_str(&failed).unwrap();
    document["jobs"][0]["write"]["lat_ns"]["N"] = 17_460.into();
    let writes = read(&document.to_string()).trials.remove(0).write.unwrap();
    assert_eq!((writes.ios, writes.errors), (17_460, 7));
}

#[test]
fn sums_of_jobs_of_unlike_length_are_no_multiple_of_the_longest() {
    let of = |job_runtime: u64| {
        let text = changed(MIXED, &[("", "job_runtime", job_runtime.into())]);
        read(&text).trials[0].unstated.contains(&Unstated::QueueDepth)
    };
    // Of 1,002 ms: one job, and one of 1 s beside one of 0.3 s.
    assert_eq!((of(1002), of(1003), of(1302)), (false, false, true));
}

#[test]
fn our_own_document_names_its_program_and_what_was_invalid() {
    let own = |verdict: &str| {
        let key = format!("\"iosonde\": {{\"version\": \"0.1.0\", \"verdict\": \"{verdict}\", ");
        read(&MIXED.replacen('{', &format!("{{{key}\"checks\": [\"cache-served\"]}},"), 1))
    };
    assert_eq!(own("pass").program.as_deref(), Some("iosonde 0.1.0"));
    assert_eq!(own("pass").notes, [""; 0]);
    assert!(own("invalid").notes[0].contains("(checks: cache-served)"), "{:?}", own("invalid").notes);
}

#[test]
fn group_reporting_sums_jobs_that_ran_together() {
    let imported = read(GROUP);
    let jobs: Vec<_> =
        imported.trials.iter().map(|t| (t.spec.rw, t.spec.jobs, t.spec.block_size_bytes)).collect();
    assert_eq!(jobs, [(Rw::RandRead, 2, 65_536), (Rw::Write, 2, 65_536)]);
    assert!(imported.trials.iter().all(|trial| trial.busy_share.unwrap() < 0.5));
    assert_eq!(imported.notes, [""; 0]);
    // A group of three jobs, of which the file names one.
    let three = read(&GROUP.replacen("\"numjobs\" : \"2\"", "\"numjobs\" : \"1\"", 1));
    assert!(three.notes[0].contains("`r` sums up several jobs"), "{:?}", three.notes);
    assert!(three.trials.iter().all(|trial| trial.unstated.contains(&Unstated::QueueDepth)));
}

#[test]
fn a_group_of_readers_and_writers_that_names_the_writers_alone_is_a_mix_of_unknown_depth() {
    let named = MIXED.replace("\"randrw\"", "\"randwrite\"");
    assert_ne!(named, MIXED);
    let [trial] = &read(&named).trials[..] else { panic!("one job") };
    assert_eq!(
        (trial.spec.rw, trial.unstated.as_slice()),
        (Rw::RandRw, &[Unstated::QueueDepth, Unstated::Order, Unstated::Load, Unstated::PageCache][..])
    );
    let share = 100.0 * 17_479.0 / (17_479.0 + 17_467.0);
    assert!((trial.spec.read_percent.unwrap() - share).abs() < 1e-9, "{:?}", trial.spec.read_percent);
}

#[test]
fn readers_and_writers_of_unlike_times_are_a_result_each() {
    let named = MIXED.replace("\"randrw\"", "\"randwrite\"");
    let longer = changed(&named, &[("write", "runtime", Value::from(2004))]);
    let trials = read(&longer).trials;
    let told: Vec<_> = trials.iter().map(|trial| (trial.spec.rw, trial.measured_s)).collect();
    assert_eq!(told, [(Rw::RandRead, 1.002), (Rw::RandWrite, 2.004)]);
}

#[test]
fn an_array_of_documents_is_read_as_these() {
    let slurped = format!("[\n  {MIXED},\n  {GROUP}\n]\n");
    assert_eq!(read(&slurped).trials, read(&format!("{MIXED}\n{GROUP}")).trials);
}

#[test]
fn a_document_that_was_cut_behind_whole_ones_is_told() {
    let cut = format!("{MIXED}\n{}", &GROUP[..GROUP.len() / 2]);
    let lines = cut.lines().count();
    let notes = read(&cut).notes;
    assert!(
        notes.iter().any(|note| note.contains(&format!(
            "ends early: the program was stopped, or the copy is not whole (line {lines})"
        ))),
        "{notes:?}"
    );
    let braces = format!("{{ a warning\n{MIXED}");
    assert_eq!(read(&braces).notes, [""; 0]);
}

#[test]
fn documents_of_other_jobs_are_results_of_their_own() {
    let both = read(&format!("{MIXED}\n{GROUP}"));
    let alone = [read(MIXED), read(GROUP)];
    assert_eq!(both.trials, [alone[0].trials.clone(), alone[1].trials.clone()].concat());
    assert!(both.notes.iter().all(|note| !note.contains("same run")), "{:?}", both.notes);
    let text = include_str!("../../../tests/data/tools/fio-wal.txt");
    let mixed = read(&format!("{MIXED}\n{text}"));
    assert!(mixed.notes[0].contains("fio's text beside the JSON is not read"), "{:?}", mixed.notes);
}

#[test]
fn a_job_that_was_run_again_is_no_later_report_of_the_first_run() {
    let at = |ended_ms: u64, measured_ms: u64| {
        let mut document: Value = serde_json::from_str(MIXED).unwrap();
        document["timestamp_ms"] = ended_ms.into();
        for side in ["read", "write"] {
            document["jobs"][0][side]["runtime"] = measured_ms.into();
        }
        document.to_string() + "\n"
    };
    // As fio 3.33 wrote them: of one run after 881, 1881 and 2881 ms; and of three runs of 1001 ms.
    let one = at(1_796_016_181_929, 881) + &at(1_796_016_182_929, 1881) + &at(1_796_016_183_929, 2881);
    let three = at(1_796_016_185_337, 1001) + &at(1_796_016_186_611, 1001) + &at(1_796_016_187_885, 1001);
    let told = |text: &str| (read(text).trials.len(), read(text).notes.len());
    assert_eq!((told(&one), told(&three)), ((1, 1), (3, 0)));
}

/// `key` of the first job's direction, or of the job itself.
fn changed(text: &str, changes: &[(&str, &str, Value)]) -> String {
    let mut document: Value = serde_json::from_str(text).unwrap();
    for (side, key, value) in changes {
        let job = &mut document["jobs"][0];
        let of = if side.is_empty() { job } else { &mut job[*side] };
        of[*key] = value.clone();
    }
    document.to_string()
}

#[test]
fn jobs_of_several_sizes_that_fio_summed_up_have_a_size_for_each_direction() {
    let larger = changed(MIXED, &[("write", "io_bytes", Value::from(17_467 * 16_384u64))]);
    let [trial] = &read(&larger).trials[..] else { panic!("one job") };
    let sizes: Vec<u64> = trial.spec.block_sizes.iter().map(|size| size.bytes).collect();
    assert_eq!((sizes, trial.spec.block_size_bytes), (vec![4096, 16_384], 16_384));
}

#[test]
fn what_verify_reads_back_is_no_part_of_the_writes() {
    let options = |document: &mut Value| {
        document["jobs"][0]["job options"]["rw"] = "randwrite".into();
        document["jobs"][0]["job options"]["verify"] = "crc32c".into();
        document["jobs"][0]["read"]["runtime"] = 5000.into();
    };
    let mut document: Value = serde_json::from_str(MIXED).unwrap();
    options(&mut document);
    let [trial] = &read(&document.to_string()).trials[..] else { panic!("one job") };
    assert!(trial.read.is_none() && trial.write.is_some());
    assert_eq!((trial.spec.rw, trial.measured_s), (Rw::RandWrite, 1.002));
}

#[test]
fn a_limit_of_latency_that_ends_a_job_is_no_failed_request() {
    let mut document: Value = serde_json::from_str(MIXED).unwrap();
    document["jobs"][0]["error"] = 110.into();
    document["jobs"][0]["total_err"] = 1.into();
    let errors = |document: &Value| read(&document.to_string()).trials[0].errors();
    assert_eq!(errors(&document), 1);
    document["jobs"][0]["job options"]["max_latency"] = "2us".into();
    assert_eq!(errors(&document), 0);
    assert_eq!(read(&document.to_string()).trials[0].error_examples, [RequestError::TooSlow]);
    document["iosonde"] = serde_json::json!({"version": "0.1.0", "verdict": "pass"});
    let own = read(&document.to_string());
    assert!(
        own.trials[0].error_examples.is_empty() && own.notes[0].contains("slower than its `max_latency`")
    );
}

#[test]
fn a_program_that_took_no_time_was_measured() {
    let idle = changed(MIXED, &[("", "usr_cpu", 0.0.into()), ("", "sys_cpu", 0.0.into())]);
    assert_eq!(read(&idle).trials[0].busy_share, Some(0.0));
}

#[test]
fn one_figure_for_reads_and_writes_is_refused_by_the_option_that_made_it() {
    let mut unified: Value = serde_json::from_str(MIXED).unwrap();
    let job = unified["jobs"][0].as_object_mut().unwrap();
    let reads = job.remove("read").unwrap();
    job.remove("write");
    job.insert("mixed".to_owned(), reads);
    let unified = unified.to_string();
    assert_ne!(unified, MIXED);
    assert!(said(&unified).contains("run fio without unified_rw_reporting"), "{}", said(&unified));
}

#[test]
fn percentiles_that_leave_submission_out_are_left_out_with_a_note() {
    let mut document: Value = serde_json::from_str(MIXED).unwrap();
    let side = &mut document["jobs"][0]["read"];
    let mean = side["lat_ns"]["mean"].as_f64().unwrap();
    side["slat_ns"]["mean"] = Value::from(0.5 * mean);
    let imported = read(&document.to_string());
    assert_eq!(imported.trials[0].read.as_ref().unwrap().latency_ns.p99, None);
    assert!(imported.notes.iter().any(|note| note.contains("lat_percentiles=1")), "{:?}", imported.notes);
    assert_eq!(read(MIXED).notes, [""; 0]);
}

#[test]
fn jobs_of_one_group_are_one_result() {
    let imported = read(JOBS);
    let results: Vec<_> = imported.trials.iter().map(|t| (t.experiment.as_str(), t.spec.jobs)).collect();
    assert_eq!(results, [("r1", 1), ("r2", 2), ("r3", 1)]);
    let both = imported.trials[1].write.as_ref().unwrap();
    assert_eq!(both.bytes, both.ios * 8192);
    assert_eq!(imported.trials[2].spec.rate_iops, Some(500.0));
    // `fsync=8` of a reader flushes nothing, and no command could repeat it.
    assert_eq!(imported.trials[2].spec.sync, Sync::None);
    let writers = JOBS.replace("\"rw\" : \"randread\"", "\"rw\" : \"randrw\"");
    assert_eq!(read(&writers).trials[2].spec.sync, Sync::Fsync { every: 8 });
    let at_end = writers.replace("\"fsync\" : \"8\"", "\"fsync_on_close\" : \"1\"");
    assert_eq!(read(&at_end).trials[2].spec.sync, Sync::FsyncAtEnd);
    // Jobs of unlike options beside each other are streams.
    let together =
        JOBS.replace("\"groupid\" : 1", "\"groupid\" : 0").replace("\"groupid\" : 2", "\"groupid\" : 0");
    let [all] = &read(&together).trials[..] else { panic!("one group") };
    assert_eq!((all.experiment.as_str(), all.streams.len(), all.spec.and.len()), ("r1 + r2 + r2 + r3", 4, 3));
    assert_eq!(all.spec.asked_in_flight(), 4 * 16);
}

#[test]
fn warnings_around_the_document_are_passed_over_and_the_last_report_counts() {
    assert_eq!(read(WARNINGS).trials.len(), 1);
    let twice = format!("fio: io_u error\n{}\n{}", MIXED.replace("17479", "100"), MIXED);
    let imported = read(&twice);
    assert_eq!(imported.trials[0].read.as_ref().unwrap().ios, 17_479);
    assert!(imported.notes[0].contains("2 reports of the same run"));
}

#[test]
fn what_was_not_timed_is_absent() {
    // gtod_reduce leaves zeros everywhere.
    let mut document: Value = serde_json::from_str(MIXED).unwrap();
    for side in ["read", "write"] {
        document["jobs"][0][side]["lat_ns"] =
            serde_json::json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0});
    }
    let imported = read(&document.to_string());
    assert_eq!(imported.trials[0].read.as_ref().unwrap().latency_ns, LatencySummary::default());
}

#[test]
fn an_error_of_a_job_is_kept() {
    let imported = read(&MIXED.replacen("\"error\" : 0", "\"error\" : 5", 1));
    assert_eq!(imported.trials[0].errors(), 1);
}

#[test]
fn damage_is_said() {
    let half = FioJson.read(&MIXED[..3000]).unwrap_err();
    let lines = MIXED[..3000].lines().count();
    assert_eq!(half.place().map(|place| place.0), Some(lines), "{half}");
    assert!(half.to_string().contains("the JSON ends early"), "{half}");
    assert!(said(&MIXED.replace("fio-3.33", "fio-2.21")).contains("was written by fio 2.21"));
    assert!(said("{\"fio version\": \"fio-3.33\", \"jobs\": []}").contains("holds no jobs"));
    assert!(said("{\"fio version\": \"fio-3.33\", \"jobs\": 5}").contains("holds no jobs"));
    assert!(said("\"fio version\" and nothing else").contains("no JSON document"));
    let broken = FioJson.read(&MIXED.replacen("17444.111776", "-nan", 1)).unwrap_err();
    assert_eq!((broken.place(), broken.to_string().as_str()), (Some((29, 19)), "invalid number"));
    let twice = MIXED.replacen("\"total_ios\" : 17479", "\"total_ios\" : 1, \"total_ios\" : 17479", 1);
    let twice = FioJson.read(&twice).unwrap_err();
    assert!(twice.place().is_some() && twice.to_string().contains("`total_ios` stands twice"), "{twice}");
    // fio writes an option that was given twice down twice, and uses the last.
    let given = MIXED.replacen("\"iodepth\" : \"8\"", "\"iodepth\" : \"2\", \"iodepth\" : \"8\"", 1);
    assert!(given.len() > MIXED.len() && read(&given).trials[0].spec.queue_depth == 8);
}

#[test]
fn flushes_are_counted_where_fio_counted_their_latencies() {
    let of_jobs = |syncs: &str| {
        let job = |lat: &str| {
            format!(
                "{{\"jobname\": \"a\", \"job options\": {{\"rw\": \"write\", \"fdatasync\": \"1\"}}, \"write\": \
                 {{\"total_ios\": 10, \"io_bytes\": 40960, \"iops\": 10, \"bw_bytes\": 40960, \"runtime\": 1000}}, \
                 \"sync\": {{\"total_ios\": 0, \"lat_ns\": {{{lat}}}}}}}"
            )
        };
        let jobs: Vec<String> = syncs.split(';').map(job).collect();
        let mut trials =
            read(&format!("{{\"fio version\": \"fio-3.33\", \"jobs\": [{}]}}", jobs.join(","))).trials;
        trials.remove(0).flush.map(|flush| (flush.ios, flush.latency_ns.mean, flush.latency_ns.max))
    };
    let (one, other) = ("\"mean\": 100, \"max\": 300, \"N\": 30", "\"mean\": 200, \"max\": 250, \"N\": 10");
    assert_eq!(of_jobs(one), Some((30, Some(100.0), Some(300))));
    assert_eq!(of_jobs(&format!("{one};{other}")), Some((40, Some(125.0), Some(300))));
    assert_eq!(of_jobs("\"mean\": 0, \"N\": 0"), None);
}

#[test]
fn a_job_that_an_error_ended_names_it() {
    let failed = MIXED.replacen("\"error\" : 0", "\"error\" : 28", 1);
    assert_ne!(failed, MIXED);
    let error = RequestError::System { errno: 28, count: 1 };
    assert_eq!(read(&failed).trials[0].error_examples, [error]);
}

#[test]
fn rates_of_both_directions_make_the_mix() {
    let rated = |rates: &str| {
        let text = MIXED.replacen(
            "\"rw\" : \"randrw\"",
            &format!("\"rw\" : \"randrw\", \"rate_iops\": \"{rates}\""),
            1,
        );
        assert_ne!(text, MIXED);
        let spec = read(&text).trials[0].spec.clone();
        (spec.rate_iops, spec.read_percent.map(f64::round))
    };
    assert_eq!(rated("600,200"), (Some(800.0), Some(75.0)));
    assert_eq!(rated("500"), (Some(1000.0), Some(50.0)));
}
