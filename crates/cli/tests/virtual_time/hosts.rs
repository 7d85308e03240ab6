//! Many simulated hosts on one device: sums, odd hosts and late ones, against what is true of them.

use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_model::{CheckName, Outcome, Run};

/// Four servers that take 80 us each, for any host: 50,000 requests a second.
const SHARED: &str = r#"
name = "shared"
summary = "a server of four that all hosts share"
capacity = "4GiB"
[queue]
servers = 4
service = { exponential = "80us" }
"#;
const TRUE_IOPS: f64 = 50_000.0;

const STUDY: &str = r#"
name = "hosts"
question = "What do many hosts get together?"
time = "20s"
[[experiment]]
kind = "queue-depth"
rw = "randread"
depth = 10
"#;

fn judged(run: &Run, check: CheckName) -> Vec<Outcome> {
    let of = |judgement: &&iosonde_model::Judgement| judgement.check == check;
    run.verdicts.iter().filter(of).map(|judgement| judgement.verdict).collect()
}

fn iops(run: &Run) -> f64 {
    run.points[0].read.as_ref().expect("it reads").iops.value
}

#[test]
fn sixty_four_hosts_have_together_what_the_device_gives() {
    let run = run_on_cluster(SHARED, STUDY, Cluster::new(64), 1).unwrap();
    let iops = iops(&run);
    assert!((iops / TRUE_IOPS - 1.0).abs() < 0.005, "4 servers / 80 us = 50,000 IOPS, not {iops}");
    assert_eq!(run.info.hosts.len(), 64);
    for trial in &run.trials {
        let sum: u64 = trial.hosts.iter().map(|host| host.read.as_ref().map_or(0, |read| read.ios)).sum();
        assert_eq!(
            Some(sum),
            trial.read.as_ref().map(|read| read.ios),
            "the hosts' requests are all there are"
        );
        let together = trial.witnesses.hosts.unwrap();
        assert_eq!((together.hosts, together.start_skew_ns), (64, 0), "virtual starts are exact");
        assert_eq!(Some(trial.witnesses.issued_read_bytes), trial.witnesses.block_layer_read_bytes);
    }
    assert!(!judged(&run, CheckName::HostsApart).contains(&Outcome::Invalid));
}

#[test]
fn a_host_of_four_fifths_is_named_and_no_other() {
    let run = run_on_cluster(SHARED, STUDY, Cluster::new(8).with_shallow(5, 0.8), 1).unwrap();
    let odd = run.verdicts.iter().find(|judgement| judgement.check == CheckName::OddHost).unwrap();
    assert_eq!(odd.verdict, Outcome::Warning);
    let figures = serde_json::to_value(odd.cause.as_ref().unwrap()).unwrap();
    let named: Vec<u64> =
        figures["odd"].as_array().unwrap().iter().filter_map(|one| one["rank"].as_u64()).collect();
    assert_eq!(named, [5]);
    let ratio = figures["odd"][0]["ratio"].as_f64().unwrap();
    // It has 8 requests outstanding where the others have 10, and all wait alike.
    assert!((ratio - 0.8).abs() < 0.02, "{ratio}");
}

#[test]
fn hosts_that_are_alike_are_not_named() {
    let run = run_on_cluster(SHARED, STUDY, Cluster::new(8), 7).unwrap();
    assert!(!judged(&run, CheckName::OddHost).contains(&Outcome::Warning));
}

#[test]
fn a_host_that_begins_late_makes_the_trial_invalid() {
    // 40 ms of trials of less than a second.
    let run = run_on_cluster(SHARED, STUDY, Cluster::new(4).with_late(2, 40_000_000), 1).unwrap();
    let of = |trial: &iosonde_model::Trial| trial.witnesses.hosts.unwrap();
    let first = run.trials.iter().find(|trial| trial.round > 0).unwrap();
    assert_eq!((of(first).slowest_rank, of(first).start_skew_ns), (2, 40_000_000));
    let short = run.trials.iter().filter(|trial| trial.round > 0 && of(trial).overlap_share < 0.98).count();
    let of_trials = |judgement: &&iosonde_model::Judgement| {
        judgement.check == CheckName::HostsApart
            && judgement.scope == "trial"
            && judgement.verdict == Outcome::Invalid
    };
    assert!(short > 0);
    assert_eq!(run.verdicts.iter().filter(of_trials).count(), short);
}

/// The shortest study with enough rounds: five of trials of 0.15 s.
const SHORT: &str = r#"
name = "short"
question = "Which host is odd?"
time = "3s"
[[experiment]]
kind = "queue-depth"
rw = "randread"
depth = 10
"#;

/// Ranks that are named, by seed: one host of eight has four fifths of the others' throughput, or none has.
#[test]
fn over_forty_seeds_the_odd_host_is_found_and_none_is_invented() {
    let named = |cluster: &Cluster, seed: u64| -> Vec<u64> {
        let run = run_on_cluster(SHARED, SHORT, cluster.clone(), seed).unwrap();
        let odd = run.verdicts.iter().find(|judgement| judgement.check == CheckName::OddHost).unwrap();
        let figures = odd.cause.as_ref().map(|cause| serde_json::to_value(cause).unwrap());
        let odd = figures.and_then(|figures| figures["odd"].as_array().cloned()).unwrap_or_default();
        odd.iter().filter_map(|one| one["rank"].as_u64()).collect()
    };
    let (alike, odd) = (Cluster::new(8), Cluster::new(8).with_shallow(3, 0.8));
    let found = (1..=40).filter(|seed| named(&odd, *seed) == [3]).count();
    let invented = (1..=40).filter(|seed| !named(&alike, *seed).is_empty()).count();
    assert!(found >= 38, "found in {found} of 40");
    assert!(invented <= 2, "invented in {invented} of 40");
}
