//! Prints how often the check `odd-host` names a host that has four fifths of the others' throughput, and how often it
//! names one of hosts that are alike: the table of `docs/many-hosts.md`.
//!
//! `odd_host [--runs N] [--seed N]`: N clusters are drawn at random (3 to 16 hosts on one queue of 2 to 32 servers).
//! Each is measured twice, alike and with one odd host, by the functions that `iosonde run .. --hosts N` calls.

#![allow(clippy::print_stdout)]

#[path = "../blind/draw.rs"]
#[allow(dead_code, reason = "the other bench asks more of a noise")]
mod draw;

use draw::{Dice, Noise};
use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_model::{
    CheckName, Outcome,
    cause::{Cause, OddHost, OddOne},
};
use iosonde_stats::clustered_share::{Block, ClusteredShare};

/// Requests in flight of the odd host over those of the others. All wait in one queue, so that this is the ratio of
/// their throughputs.
const TRUE_RATIO: f64 = 0.8;

/// What was said of the clusters with and without an odd host.
#[derive(Default)]
struct Tally {
    alike: u64,
    invented: u64,
    odd: u64,
    found: u64,
    others_named: u64,
    covered: u64,
    unchecked: u64,
    widths: Vec<f64>,
}

fn main() {
    let (mut runs, mut seed) = (200, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|text| text.parse::<u64>().ok());
        match (word.as_str(), number) {
            ("--runs", Some(number)) => runs = number,
            ("--seed", Some(number)) => seed = number,
            _ => panic!("odd_host [--runs N] [--seed N], not {word}"),
        }
    }
    let mut tally = Tally::default();
    for nth in 0..runs {
        one(&mut tally, seed + nth);
    }
    print(tally, runs, seed);
}

/// Draws a cluster and measures it twice.
fn one(tally: &mut Tally, seed: u64) {
    let mut dice = Dice::new(seed);
    let hosts = 3 + dice.below(14) as u32;
    let depth = 10 * (1 + dice.below(4));
    let servers = dice.power(1, 5);
    let law = if dice.chance(0.5) { "exponential" } else { "fixed" };
    let service_us = dice.log(20.0, 500.0);
    let rank = dice.below(u64::from(hosts)) as u32;
    let device = format!(
        "name = \"shared\"\nsummary = \"one queue\"\ncapacity = \"4GiB\"\n[queue]\nservers = {servers}\n\
         service = {{ {law} = \"{service_us:.1}us\" }}\n{}",
        Noise::draw(&mut dice).section()
    );
    let study = format!(
        "name = \"odd\"\nquestion = \"Which host is odd?\"\ntime = \"10s\"\n[[experiment]]\nkind = \"queue-depth\"\n\
         rw = \"randread\"\ndepth = {depth}\n"
    );
    match named(&device, &study, Cluster::new(hosts), seed) {
        Some(named) => {
            tally.alike += 1;
            tally.invented += u64::from(!named.is_empty());
        }
        None => tally.unchecked += 1,
    }
    match named(&device, &study, Cluster::new(hosts).with_shallow(rank, TRUE_RATIO), seed) {
        Some(named) => {
            tally.odd += 1;
            tally.others_named += u64::from(named.iter().any(|one| one.rank != rank));
            if let Some(it) = named.iter().find(|one| one.rank == rank) {
                tally.found += 1;
                tally.covered += u64::from((it.low..=it.high).contains(&TRUE_RATIO));
                tally.widths.push((it.high - it.low) / it.ratio);
            }
        }
        None => tally.unchecked += 1,
    }
}

/// The hosts that the run names; `None` where it says that this was not checked.
fn named(device: &str, study: &str, cluster: Cluster, seed: u64) -> Option<Vec<OddOne>> {
    let run = run_on_cluster(device, study, cluster, seed).expect("a drawn cluster is measured");
    let judgement =
        run.verdicts.into_iter().find(|one| one.check == CheckName::OddHost).expect("it judges runs");
    match (judgement.verdict, judgement.cause) {
        (Outcome::NotChecked, _) => None,
        (_, Some(Cause::OddHost(OddHost::Odd { odd, .. }))) => Some(odd),
        _ => Some(Vec::new()),
    }
}

fn print(mut tally: Tally, runs: u64, seed: u64) {
    tally.widths.sort_by(f64::total_cmp);
    let width = tally.widths.get(tally.widths.len() / 2).map_or(0.0, |width| 100.0 * width);
    println!(
        "{runs} clusters from seed {seed}, each alike and with an odd host; not checked: {} runs\n",
        tally.unchecked
    );
    println!("| what | runs | share (95 %) |\n|---|---|---|");
    row("hosts are alike, one is named", tally.invented, tally.alike);
    row("one has 0.8 of the others' throughput, and is named", tally.found, tally.odd);
    row("beside it, another one is named", tally.others_named, tally.odd);
    row("its interval holds the true ratio", tally.covered, tally.found);
    println!("\nmedian width of these intervals: {width:.1} % of the ratio");
}

fn row(what: &str, count: u64, of: u64) {
    // Spread evenly: the clusters are independent, and their order means nothing.
    let events = |nth: u64| (nth + 1) * count / of - nth * count / of;
    let blocks: Vec<Block> = (0..of).map(|nth| Block { events: events(nth), of: 1 }).collect();
    let ends = ClusteredShare::of(&blocks, 1.0).map(|share| share.ends(0.95));
    let (low, high) = ends.unwrap_or((0.0, 1.0));
    println!("| {what} | {count} of {of} | {:.1}–{:.1} % |", 100.0 * low, 100.0 * high);
}
