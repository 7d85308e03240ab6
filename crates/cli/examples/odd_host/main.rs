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
mod row;

use draw::Dice;
use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_model::{
    CheckName, HostShare, Outcome, Phase, Run, Trial,
    cause::{Cause, OddHost, OddOne},
};
use kinds::{Drawn, Kind};
use row::row;

/// Turns of the queue in a trial from which on plain counts check the truth: they are off by a turn at most, 1 %.
const TURNS_OF_TRUTH: u64 = 100;

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
    /// Relative difference between the true ratio and that of plain counts, where these are good enough.
    count_errors: Vec<f64>,
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
            "| seed | hosts | depth | servers | trials | requests a trial | true ratios | by counts | named |"
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
                tally.misses.push(line(seed, &drawn, &[], &Counts::of(&drawn, &[], &run), &named));
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
    let counts = Counts::of(&drawn, truths, &run);
    if counts.least >= TURNS_OF_TRUTH * drawn.depth {
        let errors = counts.ratios.iter().zip(truths).map(|(ratio, (_, truth))| (ratio / truth - 1.0).abs());
        tally.count_errors.extend(errors);
    }
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
        tally.misses.push(line(seed, &drawn, truths, &counts, &named));
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

/// What plain counts say.
struct Counts {
    /// Throughput of each odd host over the mean of the like ones, over all trials.
    ratios: Vec<f64>,
    /// Fewest requests of a host in a trial.
    least: u64,
    trials: usize,
}

impl Counts {
    fn of(drawn: &Drawn, truths: &[(u32, f64)], run: &Run) -> Self {
        let measured = |trial: &&Trial| trial.phase == Phase::Measure && !trial.hosts.is_empty();
        let trials: Vec<&Trial> = run.trials.iter().filter(measured).collect();
        let sides = |host: &HostShare| [host.read.clone(), host.write.clone()].into_iter().flatten();
        let iops = |rank: u32| -> f64 {
            let of_rank = trials.iter().filter_map(|trial| trial.hosts.get(rank as usize));
            of_rank.flat_map(sides).map(|side| side.iops).sum()
        };
        let is_like = |rank: &u32| truths.iter().all(|(odd, _)| odd != rank);
        let like: Vec<f64> = (0..drawn.hosts).filter(is_like).map(iops).collect();
        let mean = like.iter().sum::<f64>() / like.len() as f64;
        let ratios = truths.iter().map(|(rank, _)| iops(*rank) / mean).collect();
        let least = trials.iter().flat_map(|trial| &trial.hosts).flat_map(sides).map(|side| side.ios).min();
        Self { ratios, least: least.unwrap_or(0), trials: trials.len() }
    }
}

/// A row of what was wrong.
fn line(seed: u64, drawn: &Drawn, truths: &[(u32, f64)], counts: &Counts, named: &[OddOne]) -> String {
    let counted: Vec<String> = counts.ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    let told: Vec<String> = truths.iter().map(|(rank, truth)| format!("{rank}: {truth:.2}")).collect();
    let named: Vec<String> =
        named.iter().map(|one| format!("{}: {:.3}–{:.3}", one.rank, one.low, one.high)).collect();
    let Drawn { hosts, depth, servers, .. } = drawn;
    let Counts { trials, least, .. } = counts;
    let (told, counted, named) = (told.join(", "), counted.join(", "), named.join(", "));
    format!("| {seed} | {hosts} | {depth} | {servers} | {trials} | {least} | {told} | {counted} | {named} |")
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
    let (checked, most) = (tally.count_errors.len(), tally.count_errors.iter().copied().fold(0.0, f64::max));
    println!(
        "true ratios are those of the queue depths; plain counts of {checked} odd hosts with more than \
         {TURNS_OF_TRUTH} turns a trial differ from them by at most {:.2} %",
        100.0 * most
    );
}
