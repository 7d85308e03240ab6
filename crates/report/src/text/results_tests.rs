//! The lines that a person reads about the storage, whole.

use iosonde_model::{
    Conditions, Detail, Flush, HidingLayer, Inconclusive,
    detail::{ConstantLimit, Counted, RatioAnswer},
};

use super::*;
use iosonde_infer::conclude::conclude;
use iosonde_model::FindingName;
use iosonde_testkit::pretend::Pretend;
use iosonde_testkit::pretend::QUICK;
use iosonde_testkit::pretend::wording;

fn lines(pretend: &Pretend) -> Vec<String> {
    let mut run = pretend.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    storage_lines(&run).into_iter().map(|line| format!("{}: {}", line.label, line.text)).collect()
}

#[test]
fn every_figure_stands_with_its_interval() {
    let pretend = Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() };
    let lines: Vec<_> = lines(&pretend).iter().map(|line| wording(line)).collect();
    assert_eq!(
        lines,
        [
            ": storage that does not rotate: random # MiB reads are as fast as sequential ones (#× [#, #])",
            "bandwidth: read # GB/s [#, #] at # MiB, QD #; write # GB/s [#, #] at # MiB, QD #",
            "# KiB reads: # k IOPS [#, #]; latency at QD # # µs [#, #]",
            "# KiB writes: # k IOPS [#, #]; latency at QD # # µs [#, #]",
            "knee: read QD # [#, #], # % of the maximum at QD # [over #, #]; \
             write QD # [#, #], # % of the maximum at QD # [#, #]",
            "plateau: read from # MiB [over # MiB, # MiB]; write from # MiB [over # MiB, # MiB]; \
             half the bandwidth: read at # KiB [#, #]; write at # KiB [#, #]",
        ]
    );
}

#[test]
fn where_a_host_stands_between_the_first_line_says_so() {
    let mut pretend = Pretend::usual();
    pretend.device.medium = Medium::Virtual;
    pretend.device.unseen = vec![HidingLayer::VirtualMachineHost];
    assert!(
        lines(&pretend)[0].starts_with(": a virtual disk, as this guest sees it: "),
        "{:?}",
        lines(&pretend)
    );
}

#[test]
fn of_memory_nothing_is_said_but_why() {
    let mut pretend = Pretend::usual();
    (pretend.device.medium, pretend.device.file_system) = (Medium::Memory, Some("tmpfs".into()));
    assert_eq!(
        lines(&pretend),
        [": nothing is known about the storage: 0 of 8 trials of 4 KiB random reads, QD 1 are valid for \
             the device, 5 are needed"]
    );
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
            }),
            _ if status == Status::Inconclusive => Detail::Inconclusive(Inconclusive::EstimateNotANumber),
            _ => Detail::Plain,
        },
        notes: Vec::new(),
        trials: Vec::new(),
    }
}

fn screen_of(findings: Vec<Finding>) -> Vec<StorageLine> {
    let mut run = Pretend::usual().run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    run.points[0].spec.latency_limit = Some("p99=1ms".parse().unwrap());
    run.findings = findings;
    storage_lines(&run)
}

#[test]
fn whatever_is_registered_is_read_on_the_first_screen_when_it_is_what_was_found() {
    for kind in FINDINGS.iter() {
        // A share of the rate at some depth is told beside the knee that the same fit gives.
        let beside = (kind.id() == FindingName::DepthFor95Percent).then_some(FindingName::QueueDepthKnee);
        let names = beside.into_iter().chain([kind.id()]);
        let lines = screen_of(names.map(|name| finding(name, "x", Status::Found)).collect());
        let told = lines.len() > 1 || lines[0].text.contains("are faster than");
        assert!(told && !lines[0].text.contains("nothing"), "{}: {lines:?}", kind.id());
        let label = kind.told().label;
        assert!(label.len() < 12 && label.chars().all(|c| c.is_ascii_lowercase()), "{label}");
    }
}

#[test]
fn that_nothing_is_there_is_an_answer_for_as_long_as_it_was_looked_for() {
    let lines = screen_of(vec![finding(FindingName::ThrottleRate, "limit", Status::Absent)]);
    let told: Vec<_> = lines.iter().map(|line| (line.label.as_str(), line.text.as_str())).collect();
    assert_eq!(told[1], ("limit", "rate limit of 4 KiB random reads: none"));
}

#[test]
fn what_qualifies_others_is_read_where_they_are_silent() {
    let labels = |others: Status| -> Vec<String> {
        let of = |name: FindingName, status: Status| finding(name, "queue-depth", status);
        let lines = screen_of(vec![of(FindingName::MaxIops, others), of(FindingName::Shape, Status::Found)]);
        lines.into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels(Status::Found), ["", "4 KiB reads"]);
    assert_eq!(labels(Status::Inconclusive), ["", "shape", "rate"]);
}

#[test]
fn more_than_four_of_a_kind_are_counted() {
    let seven = (0..7).map(|_| finding(FindingName::FlushLatency, "log", Status::Found)).collect();
    let lines = screen_of(seven);
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert_eq!(lines[5].text, "and 3 more in the report");
}

#[test]
fn what_was_asked_and_could_not_be_told_says_why_and_who_would_tell() {
    let lines = screen_of(vec![
        finding(FindingName::DeviceBandwidth, "x", Status::Found),
        finding(FindingName::QueueDepthKnee, "x", Status::Inconclusive),
        finding(FindingName::DepthFor95Percent, "x", Status::Inconclusive),
        finding(FindingName::Shape, "x", Status::Inconclusive),
        finding(FindingName::StrideEffect, "x", Status::Inconclusive),
        finding(FindingName::ReadaheadBytes, "x", Status::Inconclusive),
        finding(FindingName::ZoneRatio, "x", Status::Inconclusive),
    ]);
    let told: Vec<_> = lines[2..].iter().map(|line| format!("{}: {}", line.label, line.text)).collect();
    let command = |study: &str| format!("`iosonde run {study} ./`");
    assert_eq!(
        told,
        [
            format!(
                "knee: saturation point of 4 KiB random reads: unknown; the estimate is not finite; \
                 try {}, which goes to QD 1024",
                command("queue-depth")
            ),
            format!(
                "stride: effect of the stride on 4 KiB random reads: unknown; the estimate is not finite; \
                 try {}",
                command("stride")
            ),
            format!(
                "readahead: read-ahead of 4 KiB random reads: unknown; the estimate is not finite; try {}",
                command("readahead")
            ),
        ]
    );
}

#[test]
fn the_half_of_an_answer_says_that_the_other_is_missing() {
    let mut writes = finding(FindingName::QueueDepthKnee, "x", Status::Found);
    writes.conditions.op = Some(Op::Write);
    let lines = screen_of(vec![finding(FindingName::QueueDepthKnee, "x", Status::Inconclusive), writes]);
    let knee = lines.iter().find(|line| line.label == "knee").unwrap_or_else(|| panic!("{lines:?}"));
    let told = "read unknown: the estimate is not finite; write ";
    assert!(knee.text.starts_with(told), "{}", knee.text);
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
        trial.flush = Some(Flush { ios: like.ios, errors: 0, latency_ns, histogram: like.histogram });
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
        screen_of(findings).into_iter().map(|line| line.label).collect()
    };
    assert_eq!(labels(vec![of(4096, "x"), of(65_536, "x"), of(1 << 20, "x")]), ["", "order", "order"]);
    let beside = finding(FindingName::StrideEffect, "stride", Status::Found);
    assert_eq!(labels(vec![of(4096, "x"), of(65_536, "x"), beside]), ["", "stride"]);
}

#[test]
fn one_question_that_was_not_answered_is_named_and_not_the_storage() {
    let lines = screen_of(vec![finding(FindingName::MappingUnitBytes, "rewrite", Status::Inconclusive)]);
    assert_eq!(
        (lines.len(), lines[0].text.as_str()),
        (1, "mapping unit of 4 KiB random reads: unknown; the estimate is not finite")
    );
}

#[test]
fn a_rate_that_was_still_rising_is_a_least() {
    let fast = Pretend { iops_max: 5e6, bytes_per_s: 1e12, ..Pretend::usual() };
    assert!(lines(&fast).iter().any(|line| line.starts_with("4 KiB reads: at least ")), "{:?}", lines(&fast));
}

#[test]
fn a_promise_that_cannot_be_told_says_why_and_streams_together_say_what_each_gets() {
    let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"open-loop\"\nrw = \"randread\"\n\
        rate = [100, 200]\nlimit = \"p99=1ms\"\n[[experiment]]\nkind = \"matrix\"\nrw = \"randread\"\n\
        block_size = \"8k\"\ndepth = 4\nbeside = [{ rw = \"write\", block_size = \"4k\", depth = 1 }]\n";
    let mut run = Pretend::usual().run(study, 2);
    conclude(&mut run, None).unwrap();
    let lines = storage_lines(&run);
    let text = |label: &str| lines.iter().find(|line| line.label == label).map(|line| line.text.clone());
    let promise = text("promise").unwrap_or_else(|| panic!("{lines:?}"));
    assert!(promise.starts_with("p99") && promise.contains(':'), "{promise}");
    let beside = text("beside").unwrap_or_else(|| panic!("{lines:?}"));
    assert!(beside.contains("8 KiB random reads") && beside.contains("reads a second at "), "{beside}");
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
        storage_lines(&run).into_iter().filter(|line| line.label == "stride").map(|line| line.text).collect()
    };
    let noisy = strides(0.2, &[]);
    let asked =
        "unknown: effect of the stride on 4 KiB sequential reads at QD 1; 64 KiB sequential reads at QD 1";
    assert_eq!(noisy, [asked]);
    assert_eq!(
        strides(0.2, &[HidingLayer::VirtualMachineHost]),
        [asked],
        "how far this system sees stands in the first line"
    );
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
    let said = &storage_lines(&run)[0].text;
    assert!(said.starts_with("no finding beyond the points: "), "{said}");
}
