//! Many simulated hosts on one device: sums, odd hosts and late ones, against what is true of them.

use std::{ops::Range, sync::Arc};

use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_infer::hosts::host_table;
use iosonde_model::{CheckName, FindingName, Outcome, Phase, Run};

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

/// 16 servers that take 80 us each.
const SIXTEEN: &str = r#"
name = "shared"
summary = "a server of sixteen that all hosts share"
capacity = "4GiB"
[queue]
servers = 16
service = { fixed = "80us" }
"#;

#[test]
fn throughput_grows_with_the_hosts_until_the_servers_are_busy() {
    let study = "name = \"x\"\nquestion = \"?\"\ntime = \"10s\"\n[[experiment]]\nkind = \"host-scaling\"\ndepth = 4\n";
    let run = run_on_cluster(SIXTEEN, study, Cluster::new(24), 1).unwrap();
    let hosts: Vec<u32> = run.points.iter().map(|point| point.spec.hosts).collect();
    assert_eq!(hosts, [1, 2, 4, 8, 16, 24]);
    for point in &run.points {
        // Four requests of each host, one server each, 80 us.
        let truth = f64::from((4 * point.spec.hosts).min(16)) / 80e-6;
        let iops = point.read.as_ref().expect("it reads").iops.value;
        assert!((iops / truth - 1.0).abs() < 0.005, "{} hosts: {iops} for {truth}", point.spec.hosts);
    }
    for trial in run.trials.iter().filter(|trial| trial.round > 0) {
        assert_eq!(trial.hosts.len(), trial.spec.hosts as usize, "the others have no part");
        assert_eq!(trial.witnesses.hosts.unwrap().hosts, trial.spec.hosts);
        let each = trial.hosts.iter().map(|host| host.in_flight_mean.unwrap());
        assert!(each.into_iter().all(|depth| (depth - 4.0).abs() < 0.1), "every one keeps its queue depth");
    }
    let rounds = run.trials.iter().filter(|trial| trial.round == 1 && trial.phase == Phase::Measure);
    let first: Vec<u32> = rounds.map(|trial| trial.spec.hosts).collect();
    assert_eq!(first.len(), hosts.len(), "a round has each number once");
    assert_ne!(first, hosts, "in random order");
    let found = run.findings.iter().find(|finding| finding.name == FindingName::HostSaturation).unwrap();
    let (low, high) = found.low.zip(found.high).expect("24 hosts are six times enough");
    assert!(low <= 4.0 && 4.0 <= high && high - low < 0.5, "16 servers / 4 requests: {low} to {high}");
}

/// Hosts are compared where all of them take part.
#[test]
fn the_table_of_hosts_is_of_all_hosts_and_marks_the_odd_one() {
    let study = "name = \"x\"\nquestion = \"?\"\ntime = \"10s\"\n[[experiment]]\nkind = \"host-scaling\"\ndepth = 10\n";
    let run = run_on_cluster(SHARED, study, Cluster::new(8).with_shallow(5, 0.8), 1).unwrap();
    let table = host_table(&run).expect("eight hosts measured");
    assert_eq!((table.rows.len(), table.spec.hosts), (8, 8));
    let odd: Vec<u32> = table.rows.iter().filter(|row| row.odd.is_some()).map(|row| row.rank).collect();
    assert_eq!(odd, [5]);
    // Seven of ten requests and one of eight: 8 / 78.
    assert!((table.rows[5].share - 8.0 / 78.0).abs() < 0.001, "{}", table.rows[5].share);
    let sum: f64 = table.rows.iter().map(|row| row.iops.value).sum();
    assert!((sum / TRUE_IOPS - 1.0).abs() < 0.02, "{sum}");
    let others = table.rows.iter().filter(|row| row.rank != 5);
    for row in others {
        let (low, high) = row.iops.low.zip(row.iops.high).expect("enough rounds");
        let truth = TRUE_IOPS * 10.0 / 78.0;
        assert!(low * 0.99 <= truth && truth <= high * 1.01, "{low} to {high} for {truth}");
        // 78 requests before four servers of 80 us: 19 turns of 80 us, without a p99 where a trial is short.
        let p50_ns = row.latency_ns_p50.expect("it has requests");
        assert!((1.2e6..1.9e6).contains(&p50_ns) && row.latency_ns_p99.is_none_or(|p99_ns| p99_ns > p50_ns));
        assert!(row.late_ns.abs() < 1.0, "virtual starts are exact");
    }
    let alone = run_on_cluster(SHARED, STUDY, Cluster::new(2), 1).unwrap();
    assert_eq!(
        host_table(&alone).map(|table| table.rows.len()),
        Some(2),
        "two are shown, and none is called odd"
    );
}

/// Host 0 echoes: within a machine there is no network, and beyond it the shortest echo of each host counts.
#[test]
fn the_network_s_share_is_that_of_echoes_to_other_machines() {
    let mut run = run_on_cluster(SHARED, STUDY, Cluster::new(3), 1).unwrap();
    assert_eq!(host_table(&run).unwrap().echo, None, "simulated hosts echo in no time");
    for trial in &mut run.trials {
        for host in &mut trial.hosts {
            host.round_trip_ns = [0, 30_000, 90_000 + trial.id][host.rank as usize];
        }
    }
    let boots = |run: &mut Run, boots: [&str; 3]| {
        run.info.hosts.iter_mut().zip(boots).for_each(|(host, boot)| host.boot = Some(boot.to_owned()));
    };
    boots(&mut run, ["a", "a", "a"]);
    assert_eq!(host_table(&run).unwrap().echo, None, "one machine");
    boots(&mut run, ["a", "b", "c"]);
    let table = host_table(&run).unwrap();
    let echo = table.echo.expect("three machines");
    assert_eq!(echo.shortest_ns[0], 30_000.0);
    assert!((90_000.0..91_000.0).contains(&echo.shortest_ns[1]), "{echo:?}");
    let p50_ns = table.rows[1].latency_ns_p50.unwrap();
    let share = echo.share.expect("latencies are known");
    assert!((share * p50_ns / echo.shortest_ns[1] - 1.0).abs() < 0.1, "{share}");
    boots(&mut run, ["a", "a", "c"]);
    assert!(host_table(&run).unwrap().echo.unwrap().shortest_ns[0] > 90_000.0, "host 1 shares a machine");
}

/// Of fewer hosts than all, host 0 and others, drawn anew for each trial.
#[test]
fn which_hosts_take_part_is_drawn_for_each_trial() {
    let study = r#"
name = "pairs"
question = "?"
time = "10s"
[[experiment]]
kind = "host-scaling"
hosts = [2, 6]
"#;
    let run = run_on_cluster(SHARED, study, Cluster::new(6), 1).unwrap();
    let pairs: Vec<Vec<u32>> = run
        .trials
        .iter()
        .filter(|trial| trial.phase == Phase::Measure && trial.spec.hosts == 2)
        .map(|trial| trial.hosts.iter().map(|host| host.rank).collect())
        .collect();
    assert!(pairs.len() >= 5 && pairs.iter().all(|pair| pair.len() == 2 && pair[0] == 0), "{pairs:?}");
    let second: std::collections::BTreeSet<u32> = pairs.iter().map(|pair| pair[1]).collect();
    assert!(second.len() > 1, "one host stands for all: {pairs:?}");
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

/// Eight hosts for 20 s: one, all or none of them do not run for 0.3 s, every 1.7 s.
#[test]
fn over_ten_seeds_a_slow_host_is_told_from_another_user_of_the_storage() {
    let halts: Arc<[Range<u64>]> = (0..10)
        .map(|nth| 2_000_000_000 * nth + 700_000_000)
        .map(|at_ns| at_ns..at_ns + 300_000_000)
        .collect();
    let halted = |cluster: Cluster, rank| cluster.with_halts(rank, Arc::clone(&halts));
    let study = STUDY.replace("time = \"20s\"", "time = \"20s\"\nprecision = \"0.01%\"");
    // Ranks that are named, and of how many hosts slow periods are told.
    let told = |cluster: Cluster, seed: u64| -> (Vec<u64>, Option<u64>) {
        let run = run_on_cluster(SHARED, &study, cluster, seed).unwrap();
        let causes = |check: CheckName| {
            let own = run.verdicts.iter().filter(move |one| one.check == check && one.scope == "run");
            own.filter_map(|one| one.cause.as_ref()).map(|cause| serde_json::to_value(cause).unwrap())
        };
        let slowed = causes(CheckName::HostSlowed).find_map(|facts| facts["slowed"].as_array().cloned());
        let ranks = slowed.unwrap_or_default().iter().filter_map(|one| one["rank"].as_u64()).collect();
        (ranks, causes(CheckName::Interference).find_map(|facts| facts["hosts"]["slowed"].as_u64()))
    };
    let all = |cluster: &Cluster| -> Vec<_> { (1..=10).map(|seed| told(cluster.clone(), seed)).collect() };
    let often = |all: &[_], wanted| all.iter().filter(|told| **told == wanted).count() >= 8;
    let alike = all(&Cluster::new(8));
    assert!(alike.iter().all(|told| *told == (Vec::new(), None)), "nobody is slow: {alike:?}");
    let one = all(&halted(Cluster::new(8), 5));
    assert!(often(&one, (vec![5], None)), "host 5 alone: {one:?}");
    let everybody = all(&(0..8).fold(Cluster::new(8), halted));
    assert!(often(&everybody, (Vec::new(), Some(8))), "all at once: {everybody:?}");
}
