//! Prints how often the check `odd-host` names a host that has four fifths of the others' throughput, and how often it
//! names one of hosts that are alike: the table of `docs/many-hosts.md`.
//!
//! `odd_host [--runs N] [--seed N] [--kind KIND] [--misses 1]`: N clusters are drawn at random. Each is measured twice,
//! alike and with odd hosts, by the functions that `iosonde run .. --hosts N` calls. `--misses 1` prints a line for
//! each run in which an odd host was missed or another one named.

#![allow(clippy::print_stdout)]

#[path = "../blind/draw.rs"]
#[allow(dead_code, reason = "the other bench asks more of a noise")]
mod draw;
mod kinds;

use draw::Dice;
use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_model::{
    CheckName, Outcome, Phase, Run,
    cause::{Cause, OddHost, OddOne},
};
use iosonde_stats::clustered_share::{Block, ClusteredShare};
use kinds::{Drawn, Kind};

/// What was said of the clusters with and without odd hosts.
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
    /// A line for each run that says something wrong.
    misses: Vec<String>,
}

fn main() {
    let (mut runs, mut seed, mut kind, mut misses) = (200, 1, Kind::Queue, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match (word.as_str(), value.parse::<u64>(), Kind::named(&value)) {
            ("--runs", Ok(number), _) => runs = number,
            ("--seed", Ok(number), _) => seed = number,
            ("--misses", Ok(number), _) => misses = number > 0,
            ("--kind", _, Some(named)) => kind = named,
            _ => panic!("odd_host [--runs N] [--seed N] [--kind {}] [--misses 1], not {word}", kinds::NAMES),
        }
    }
    let mut tally = Tally::default();
    for nth in 0..runs {
        one(&mut tally, kind, seed + nth);
    }
    if misses {
        println!(
            "| seed | hosts | depth | servers | valid rounds | requests a trial | true ratios | by counts | named |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        tally.misses.iter().for_each(|line| println!("{line}"));
        println!();
    }
    print(tally, kind, runs, seed);
}

/// Draws a cluster and measures it twice.
fn one(tally: &mut Tally, kind: Kind, seed: u64) {
    let drawn = Drawn::of(kind, &mut Dice::new(seed));
    let (run, named) = judged(&drawn, Cluster::new(drawn.hosts), seed);
    match named {
        Some(named) => {
            tally.alike += 1;
            tally.invented += u64::from(!named.is_empty());
            if !named.is_empty() {
                tally.misses.push(line(seed, &drawn, &[], &run, &named));
            }
        }
        None => tally.unchecked += 1,
    }
    let (run, named) = judged(&drawn, drawn.cluster(), seed);
    let Some(named) = named else {
        tally.unchecked += 1;
        return;
    };
    let truths = drawn.truths();
    let of = |rank: u32| named.iter().find(|one| one.rank == rank);
    tally.odd += 1;
    let others = named.iter().any(|one| truths.iter().all(|(rank, _)| one.rank != *rank));
    tally.others_named += u64::from(others);
    let found: Vec<(&OddOne, f64)> =
        truths.iter().filter_map(|(rank, truth)| Some((of(*rank)?, *truth))).collect();
    if found.len() == truths.len() {
        tally.found += 1;
        tally.covered += u64::from(found.iter().all(|(it, truth)| (it.low..=it.high).contains(truth)));
        tally.widths.extend(found.iter().map(|(it, _)| (it.high - it.low) / it.ratio));
    }
    if others || found.len() < truths.len() {
        tally.misses.push(line(seed, &drawn, &truths, &run, &named));
    }
}

/// The run, and the hosts that it names; `None` where it says that this was not checked.
fn judged(drawn: &Drawn, cluster: Cluster, seed: u64) -> (Run, Option<Vec<OddOne>>) {
    let run =
        run_on_cluster(&drawn.device, &drawn.study, cluster, seed).expect("a drawn cluster is measured");
    let judgement = run.verdicts.iter().find(|one| one.check == CheckName::OddHost).expect("it judges runs");
    let named = match (judgement.verdict, &judgement.cause) {
        (Outcome::NotChecked, _) => None,
        (_, Some(Cause::OddHost(OddHost::Odd { odd, .. }))) => Some(odd.clone()),
        _ => Some(Vec::new()),
    };
    (run, named)
}

/// A row of what was wrong: the ratios by plain counts are those of each odd host to the mean of the like ones.
fn line(seed: u64, drawn: &Drawn, truths: &[(u32, f64)], run: &Run, named: &[OddOne]) -> String {
    let trials: Vec<_> =
        run.trials.iter().filter(|trial| trial.phase == Phase::Measure && !trial.hosts.is_empty()).collect();
    let ios = |rank: usize| -> f64 {
        trials.iter().filter_map(|trial| trial.hosts.get(rank)?.read.as_ref()).map(|read| read.iops).sum()
    };
    let like = |rank: &u32| truths.iter().all(|(odd, _)| odd != rank);
    let like: Vec<f64> = (0..drawn.hosts).filter(like).map(|rank| ios(rank as usize)).collect();
    let mean = like.iter().sum::<f64>() / like.len() as f64;
    let counted: Vec<String> =
        truths.iter().map(|(rank, _)| format!("{:.3}", ios(*rank as usize) / mean)).collect();
    let told: Vec<String> = truths.iter().map(|(rank, truth)| format!("{rank}: {truth:.2}")).collect();
    let named: Vec<String> =
        named.iter().map(|one| format!("{}: {:.3}–{:.3}", one.rank, one.low, one.high)).collect();
    let least = trials
        .iter()
        .flat_map(|trial| &trial.hosts)
        .filter_map(|host| Some(host.read.as_ref()?.ios))
        .min()
        .unwrap_or(0);
    format!(
        "| {seed} | {} | {} | {} | {} | {least} | {} | {} | {} |",
        drawn.hosts,
        drawn.depth,
        drawn.servers,
        trials.len(),
        told.join(", "),
        counted.join(", "),
        named.join(", ")
    )
}

fn print(mut tally: Tally, kind: Kind, runs: u64, seed: u64) {
    tally.widths.sort_by(f64::total_cmp);
    let width = tally.widths.get(tally.widths.len() / 2).map_or(0.0, |width| 100.0 * width);
    println!(
        "{runs} clusters of kind {kind:?} from seed {seed}, each alike and with odd hosts; not checked: {} runs\n",
        tally.unchecked
    );
    println!("| what | runs | share (95 %) |\n|---|---|---|");
    row("hosts are alike, one is named", tally.invented, tally.alike);
    row("all odd hosts are named", tally.found, tally.odd);
    row("beside them, another one is named", tally.others_named, tally.odd);
    row("their intervals hold the true ratios", tally.covered, tally.found);
    println!("\nmedian width of these intervals: {width:.1} % of the ratio");
}

fn row(what: &str, count: u64, of: u64) {
    if of == 0 {
        return;
    }
    // Spread evenly: the clusters are independent, and their order means nothing.
    let events = |nth: u64| (nth + 1) * count / of - nth * count / of;
    let blocks: Vec<Block> = (0..of).map(|nth| Block { events: events(nth), of: 1 }).collect();
    let ends = ClusteredShare::of(&blocks, 1.0).map(|share| share.ends(0.95));
    let (low, high) = ends.unwrap_or((0.0, 1.0));
    println!("| {what} | {count} of {of} | {:.1}–{:.1} % |", 100.0 * low, 100.0 * high);
}
