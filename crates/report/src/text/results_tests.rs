//! What a person reads about the storage, whole.

use iosonde_model::{
    Conditions, Detail, Flush, HidingLayer, Inconclusive,
    detail::{CheckpointSaved, ConstantLimit, Counted, LongWrite, RatioAnswer, TrainingFed},
    training::{CHECKPOINTS, TrainingModel},
};

use super::*;
use crate::text::concurrent_table::flush;
use iosonde_infer::conclude::conclude;
use iosonde_model::FindingName;
use iosonde_testkit::pretend::Pretend;
use iosonde_testkit::pretend::QUICK;
use iosonde_testkit::pretend::wording;

fn of(pretend: &Pretend) -> Results {
    let mut run = pretend.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    results(&run)
}

#[test]
fn what_it_is_stands_first_and_the_figures_in_the_table() {
    let told = of(&Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() });
    assert_eq!(
        wording(&told.storage),
        "non-rotating storage; random # MiB reads at QD # are as fast as sequential ones (ratio # \u{b1}# %)"
    );
    assert_eq!(told.tables.len(), 1);
    assert!(told.lines.is_empty(), "{:?}", told.lines);
}

#[test]
fn writes_that_are_far_slower_come_before_what_order_does() {
    let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let told = |run: &Run| results(run).storage;
    assert!(!told(&run).contains("slower than reads"), "{}", told(&run));
    let most =
        |op| run.findings.iter().position(|f| f.name == FindingName::MaxIops && f.conditions.op == Some(op));
    let (read, write) = (most(Op::Read).unwrap(), most(Op::Write).unwrap());
    let iops = run.findings[read].value.unwrap();
    let slow = &mut run.findings[write];
    (slow.value, slow.low, slow.high) = (Some(iops / 100.0), Some(iops / 105.0), Some(iops / 95.0));
    assert_eq!(
        wording(&told(&run)),
        "non-rotating storage; # KiB random writes are # times slower than reads (at # % confidence, at \
         least # times)"
    );
}

#[test]
fn of_memory_nothing_is_said_but_what_it_costs_the_program() {
    let mut pretend = Pretend::usual();
    (pretend.device.medium, pretend.device.file_system) = (Medium::Memory, Some("tmpfs".into()));
    let told = of(&pretend);
    assert_eq!(told.storage, "nothing is known about the storage");
    assert!(told.tables.is_empty() && told.lines.is_empty(), "{told:?}");
}

fn finding(name: FindingName, experiment: &str, status: Status) -> Finding {
    let found = status == Status::Found;
    Finding {
        name,
        experiment: experiment.into(),
        conditions: Conditions {
            op: Some(Op::Read),
            random: Some(true),
            block_size_bytes: Some(4096),
            ..Conditions::default()
        },
        status,
        value: found.then_some(8192.0),
        unit: Unit::Bytes,
        low: found.then_some(8000.0),
        high: found.then_some(9000.0),
        at_least: false,
        confidence: 0.95,
        detail: match name {
            FindingName::RandomVsSequential if found => Detail::AccessOrder(RatioAnswer::Higher),
            FindingName::ConstantLimit if found => Detail::ConstantLimit(ConstantLimit::Held {
                counted: Counted::Requests,
                shared: None,
                points: 5,
                apart_share: 0.001,
                scatter_ratio: None,
                portions_s: None,
                exceeded_share: None,
            }),
            FindingName::AcceleratorsFed if found => Detail::TrainingFed(TrainingFed {
                model: TrainingModel::ResNet50,
                most_tried: 16,
                bytes_per_s: 3.5e9,
            }),
            FindingName::CheckpointTime if found => Detail::CheckpointSaved(CheckpointSaved {
                of: CHECKPOINTS[0],
                writers: 8,
                measured_bytes: 1 << 30,
                bytes_per_s: 480e6,
                trials: 12,
            }),
            _ if status == Status::Inconclusive => Detail::Inconclusive(Inconclusive::EstimateNotANumber),
            _ => Detail::Plain,
        },
        notes: Vec::new(),
        trials: Vec::new(),
    }
}

fn screen_of(findings: Vec<Finding>) -> Results {
    let mut run = Pretend::usual().run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    run.points[0].spec.latency_limit = Some("p99=1ms".parse().unwrap());
    run.findings = findings;
    results(&run)
}

#[test]
fn whatever_is_registered_is_read_on_the_first_screen_when_it_is_what_was_found() {
    for kind in FINDINGS.iter() {
        // A share of the rate at some depth is told beside the knee that the same fit gives.
        let beside = (kind.id() == FindingName::DepthFor95Percent).then_some(FindingName::QueueDepthKnee);
        let names = beside.into_iter().chain([kind.id()]);
        let told = screen_of(names.map(|name| finding(name, "x", Status::Found)).collect());
        let first = ["are faster than", "limited to "].iter().any(|said| told.storage.contains(said));
        let shown = first || !told.tables.is_empty() || !told.lines.is_empty();
        assert!(shown && !told.storage.contains("nothing"), "{}: {told:?}", kind.id());
        let label = kind.screen_line().label;
        assert!(label.len() < 14 && label.chars().all(|c| c.is_ascii_lowercase() || c == ' '), "{label}");
    }
}

#[test]
fn that_nothing_is_there_is_an_answer_for_as_long_as_it_was_looked_for() {
    let told = screen_of(vec![finding(FindingName::ThrottleRate, "limit", Status::Absent)]);
    let told: Vec<_> = told.lines.iter().map(|line| (line.label.as_str(), line.text.as_str())).collect();
    assert_eq!(told, [("limit", "rate limit of 4 KiB random reads: none")]);
}

#[test]
fn what_qualifies_others_is_read_where_they_are_silent() {
    let labels = |others: Status| -> Vec<String> {
        let of = |name: FindingName, status: Status| finding(name, "queue-depth", status);
        let told = screen_of(vec![of(FindingName::MaxIops, others), of(FindingName::Shape, Status::Found)]);
        told.lines.into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels(Status::Found), [""; 0]);
    assert_eq!(labels(Status::Inconclusive), ["shape", "unknown"]);
}

#[test]
fn that_no_write_buffer_fills_is_told_once() {
    let labels = |written_bytes: [u64; 2]| -> Vec<String> {
        let of = |name: FindingName, written_bytes: u64| Finding {
            detail: Detail::LongWrite(LongWrite::Level { written_bytes }),
            ..finding(name, "sustained-write", Status::Absent)
        };
        let [burst, buffer] = written_bytes;
        let told =
            screen_of(vec![of(FindingName::BurstRate, burst), of(FindingName::WriteBufferBytes, buffer)]);
        told.lines.into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels([1 << 30, 1 << 30]), ["burst"]);
    assert_eq!(labels([1 << 30, 2 << 30]), ["burst", "buffer"], "two answers");
}

#[test]
fn more_than_four_of_a_kind_are_counted() {
    let seven = (0..7).map(|_| finding(FindingName::JobsEffect, "jobs", Status::Found)).collect();
    let lines = screen_of(seven).lines;
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(lines[4].text, "and 3 more in the report");
}

#[test]
fn what_was_asked_and_could_not_be_told_says_why_and_who_would_tell() {
    let told = screen_of(vec![
        finding(FindingName::DeviceBandwidth, "x", Status::Found),
        finding(FindingName::QueueDepthKnee, "x", Status::Inconclusive),
        finding(FindingName::DepthFor95Percent, "x", Status::Inconclusive),
        finding(FindingName::Shape, "x", Status::Inconclusive),
        finding(FindingName::StrideEffect, "x", Status::Inconclusive),
        finding(FindingName::ReadaheadBytes, "x", Status::Inconclusive),
        finding(FindingName::ZoneRatio, "x", Status::Inconclusive),
    ]);
    let told: Vec<_> = told.lines.iter().map(|line| format!("{}: {}", line.label, line.text)).collect();
    let command = |study: &str| format!("`iosonde run {study} ./`");
    assert_eq!(
        told,
        [
            format!(
                "unknown: QD for 95 % of max of 4 KiB random reads: the estimate is not finite; try {}, \
                 which goes to QD 1024",
                command("queue-depth")
            ),
            format!(
                "unknown: effect of the stride on 4 KiB random reads: the estimate is not finite; try {}",
                command("stride")
            ),
            format!(
                "unknown: read-ahead of 4 KiB random reads: the estimate is not finite; try {}",
                command("readahead")
            ),
        ]
    );
}

#[test]
fn the_half_of_an_answer_says_that_the_other_is_missing() {
    let asked = FindingName::DepthFor95Percent;
    let mut writes = finding(asked, "x", Status::Found);
    writes.conditions.op = Some(Op::Write);
    let told = screen_of(vec![finding(asked, "x", Status::Inconclusive), writes]);
    let row =
        told.tables[0].rows.iter().find(|row| row.label == "QD for 95 % of max").expect("writes have one");
    assert!(row.cells[0].as_ref().is_some_and(|cell| cell.figure.is_unknown()), "{row:?}");
    assert!(row.cells[1].as_ref().is_some_and(|cell| !cell.figure.is_unknown()), "{row:?}");
    let open = &told.lines[0].text;
    assert!(open.starts_with("QD for 95 % of max of 4 KiB random reads: the estimate"), "{open}");
}

#[test]
fn the_flush_of_a_point_is_the_mean_over_its_trials() {
    let mut run = Pretend::usual().run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let point = run.points[0].clone();
    assert_eq!(flush(&run, &point), None, "nothing was flushed");
    for trial in run.trials.iter_mut().filter(|trial| point.trial_ids.contains(&trial.id)) {
        let like = trial.read.clone().or(trial.write.clone()).expect("it transfers something");
        let mut latency_ns = like.latency_ns;
        latency_ns.mean = Some(600_000.0);
        trial.flush =
            Some(Flush { ios: like.ios, errors: 0, latency_ns, histogram: like.histogram, commit: None });
    }
    let told = flush(&run, &point).expect("every trial has flushes");
    assert!((told.value - 600_000.0).abs() < 1e-3, "{told:?}");
    assert!(told.low.unwrap() < told.value && told.value < told.high.unwrap(), "{told:?}");
}

#[test]
fn a_study_of_order_alone_says_it_of_every_size() {
    let of = |bytes: u64, experiment: &str| {
        let mut one = finding(FindingName::RandomVsSequential, experiment, Status::Found);
        one.conditions.block_size_bytes = Some(bytes);
        one
    };
    let labels = |findings: Vec<Finding>| -> Vec<String> {
        screen_of(findings).lines.into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels(vec![of(4096, "x"), of(65_536, "x"), of(1 << 20, "x")]), ["order", "order"]);
    let beside = finding(FindingName::StrideEffect, "stride", Status::Found);
    assert_eq!(labels(vec![of(4096, "x"), of(65_536, "x"), beside]), ["stride"]);
}

#[test]
fn one_question_that_was_not_answered_is_named_and_not_the_storage() {
    let asked = finding(FindingName::MappingUnitBytes, "rewrite", Status::Inconclusive);
    let told = screen_of(vec![asked.clone()]);
    assert_eq!(told.storage, "mapping unit of 4 KiB random reads: unknown; the estimate is not finite");
    assert!(told.lines.is_empty() && told.leaves_open(&asked), "{told:?}");
}

#[test]
fn a_promise_that_cannot_be_told_says_why_and_streams_together_say_what_each_gets() {
    let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"open-loop\"\nrw = \"randread\"\n\
        rate = [100, 200]\nlimit = \"p99=1ms\"\n[[experiment]]\nkind = \"matrix\"\nrw = \"randread\"\n\
        block_size = \"8k\"\ndepth = 4\nbeside = [{ rw = \"write\", block_size = \"4k\", depth = 1 }]\n";
    let mut run = Pretend::usual().run(study, 2);
    conclude(&mut run, None).unwrap();
    let lines = results(&run).lines;
    let text = |label: &str| lines.iter().find(|line| line.label == label).map(|line| line.text.clone());
    let promise = text("latency limit").unwrap_or_else(|| panic!("{lines:?}"));
    assert!(promise.starts_with("4 KiB random reads, p99 under 1.00 ms: "), "{promise}");
    let tables = results(&run).tables;
    let beside = tables.iter().find(|table| table.corner == "concurrent").expect("a table");
    assert_eq!(beside.heads, ["QD", "IOPS", "mean latency"]);
    let labels: Vec<&str> = beside.rows.iter().map(|row| row.label.as_str()).collect();
    // The pretended storage has figures of one direction.
    assert_eq!(labels, ["8 KiB random reads"]);
    let values: Vec<&str> =
        beside.rows[0].cells.iter().flatten().map(|cell| cell.figure.value.as_str()).collect();
    assert!(values.len() == 3 && values[0] == "4" && values[2].ends_with("s"), "{values:?}");
}

#[test]
fn what_cannot_be_told_is_one_line_and_no_ratio_from_nothing_to_a_thousand() {
    let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"stride\"\nrw = \"read\"\n\
        block_size = [\"4k\", \"64k\"]\nstride = [\"64k\", \"1M\"]\n";
    let strides = |cv: f64, unseen: &[HidingLayer]| -> Vec<String> {
        let mut pretend = Pretend { cv, ..Pretend::usual() };
        pretend.device.unseen = unseen.to_vec();
        let mut run = pretend.run(study, 1);
        conclude(&mut run, None).unwrap();
        results(&run).lines.into_iter().filter(|line| line.label == "stride").map(|line| line.text).collect()
    };
    let noisy = strides(0.2, &[]);
    let asked = "unknown: effect of the stride on 4 KiB sequential reads at QD 1 and 64 KiB sequential reads at \
                 QD 1: their intervals are too wide; use a longer `--time`";
    assert_eq!(noisy, [asked]);
    assert_eq!(
        strides(0.2, &[HidingLayer::VirtualMachineHost]),
        [asked],
        "how far this system sees stands in the first line"
    );
    let three = study.replace("\"64k\"]\nstride", "\"8k\", \"64k\"]\nstride");
    assert!(three != study);
    let mut run = Pretend { cv: 0.2, ..Pretend::usual() }.run(&three, 1);
    conclude(&mut run, None).unwrap();
    let lines = results(&run).lines;
    let of_three = lines.iter().find(|line| line.label == "stride").map(|line| line.text.as_str());
    let many = "unknown: effect of the stride on 4 KiB sequential reads at QD 1 and 2 other workloads: their intervals \
                are too wide; use a longer `--time`";
    assert_eq!(of_three, Some(many));
    assert_eq!(strides(0.005, &[]).len(), 2, "what can be told has a line each");
    let wild = strides(2.0, &[]);
    assert_eq!(wild.len(), 1, "{wild:?}");
    assert!(!wild[0].contains('\u{d7}'), "{wild:?}");
}

#[test]
fn points_that_stand_are_not_nothing() {
    let mut run = Pretend { cv: 0.005, ..Pretend::usual() }
        .run("name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"jobs\"\njobs = 1\n", 1);
    conclude(&mut run, None).unwrap();
    let said = results(&run).storage;
    assert!(said.starts_with("no finding beyond the points: "), "{said}");
}

#[test]
fn a_workload_without_valid_trials_is_told_once_with_what_made_them_invalid() {
    let mut run = Pretend::usual().run(QUICK, 1);
    let is_deep_write = |trial: &iosonde_model::Trial| {
        trial.spec.rw == iosonde_model::Rw::RandWrite
            && trial.spec.queue_depth >= 4
            && trial.spec.block_size_bytes == 4096
    };
    for trial in run.trials.iter_mut().filter(|trial| is_deep_write(trial)) {
        (trial.busy_share, trial.cpu_system_s) = (Some(1.0), Some(trial.elapsed_s));
    }
    conclude(&mut run, None).unwrap();
    let lines: Vec<String> = results(&run).lines.into_iter().map(|line| wording(&line.text)).collect();
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("none of the")).collect();
    assert_eq!(told.len(), 1, "{lines:#?}");
    let asked = "highest IOPS and QD for # % of max of # KiB random writes: none of the # trials of ";
    assert!(told[0].starts_with(asked) && told[0].ends_with("is valid: iosonde was CPU-bound"), "{told:?}");
}
