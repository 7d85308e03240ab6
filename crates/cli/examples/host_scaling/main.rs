//! Prints how often `host_saturation` holds the true number of hosts, and how far the aggregate throughput is from the
//! truth: the table of `docs/many-hosts.md`.
//!
//! `host_scaling [--runs N] [--seed N] [--kind KIND] [--misses 1]`: N clusters are drawn at random, half of them
//! without noise, and measured by the functions that `iosonde run host-scaling .. --hosts N` calls. `--misses 1` prints
//! a line for each run whose interval does not hold the truth.

#![allow(clippy::print_stdout)]

#[path = "../blind/draw.rs"]
#[allow(dead_code, reason = "the other bench asks more of a noise")]
mod draw;
mod kinds;
#[path = "../odd_host/row.rs"]
mod row;

use draw::Dice;
use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_model::{FindingName, Run, Status};
use kinds::{Drawn, Kind};
use row::row;

/// Share by which an aggregate throughput may be off: the bar.
const FAR: f64 = 0.005;

/// What was said of the clusters.
#[derive(Default)]
struct Tally {
    runs: u64,
    found: u64,
    covered: u64,
    widths: Vec<f64>,
    /// Points with an interval and a truth in closed form, and those of them whose interval holds the truth.
    points: u64,
    points_covered: u64,
    /// Relative errors of the aggregate throughput where nothing is left to chance.
    errors: Vec<f64>,
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
            _ => {
                panic!(
                    "host_scaling [--runs N] [--seed N] [--kind {}] [--misses 1], not {word}",
                    kinds::NAMES
                )
            }
        }
    }
    let mut tally = Tally::default();
    for nth in 0..runs {
        one(&mut tally, kind, seed + nth);
    }
    if misses {
        println!("| seed | cluster | truth | said |\n|---|---|---|---|");
        tally.misses.iter().for_each(|line| println!("{line}"));
        println!();
    }
    print(tally, kind, seed);
}

/// Draws a cluster and measures it.
fn one(tally: &mut Tally, kind: Kind, seed: u64) {
    let drawn = Drawn::of(kind, &mut Dice::new(seed));
    let run = run_on_cluster(&drawn.device, &drawn.study, Cluster::new(drawn.hosts), seed)
        .expect("a drawn cluster is measured");
    tally.runs += 1;
    saturation(tally, &drawn, &run, seed);
    for point in &run.points {
        let Some(iops) = point.read.as_ref().map(|read| read.iops) else { continue };
        let truth = drawn.iops(point.spec.hosts);
        if drawn.is_exact() {
            let error = iops.value / truth - 1.0;
            tally.errors.push(error);
            if error.abs() > FAR {
                let (low, high) = (iops.low.unwrap_or(0.0), iops.high.unwrap_or(f64::INFINITY));
                let said =
                    format!("{} hosts: {:.0} IOPS [{low:.0}, {high:.0}]", point.spec.hosts, iops.value);
                tally.misses.push(miss(seed, &drawn, truth, &said));
            }
        } else if let (true, Some(low), Some(high)) = (drawn.is_closed_form(), iops.low, iops.high) {
            tally.points += 1;
            tally.points_covered += u64::from((low..=high).contains(&truth));
        }
    }
}

fn saturation(tally: &mut Tally, drawn: &Drawn, run: &Run, seed: u64) {
    let finding = run.findings.iter().find(|finding| finding.name == FindingName::HostSaturation);
    let finding = finding.expect("the experiment is made for it");
    let truth = drawn.saturation();
    let ends = finding.low.zip(finding.high).filter(|_| finding.status == Status::Found);
    let covers = ends.is_some_and(|(low, high)| (low..=high).contains(&truth));
    tally.found += u64::from(ends.is_some());
    tally.covered += u64::from(covers);
    tally.widths.extend(ends.map(|(low, high)| (high - low) / truth));
    if !covers {
        tally.misses.push(miss(seed, drawn, truth, &iosonde_report::text::sentence(finding)));
    }
}

/// A row of what was missed.
fn miss(seed: u64, drawn: &Drawn, truth: f64, said: &str) -> String {
    let noise = if drawn.quiet { "quiet" } else { "noisy" };
    let servers: Vec<&str> = drawn.device.lines().filter(|line| line.starts_with("ser")).collect();
    let (hosts, depth, servers) = (drawn.hosts, drawn.depth, servers.join(", "));
    format!("| {seed} | {hosts} hosts, QD {depth}, {noise}, {servers} | {truth:.3} | {said} |")
}

fn print(mut tally: Tally, kind: Kind, seed: u64) {
    tally.widths.sort_by(f64::total_cmp);
    let width = tally.widths.get(tally.widths.len() / 2).map_or(0.0, |width| 100.0 * width);
    println!("{} clusters of kind {kind:?} from seed {seed}\n", tally.runs);
    println!("| what | runs | share (95 %) |\n|---|---|---|");
    row("a saturation point is found", tally.found, tally.runs);
    row("its interval holds the true number of hosts", tally.covered, tally.found);
    row("intervals of aggregate throughput hold the truth", tally.points_covered, tally.points);
    let farthest = tally.errors.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    let beyond = tally.errors.iter().filter(|error| error.abs() > FAR).count();
    println!("\nmedian width of the intervals: {width:.1} % of the true number");
    println!(
        "fixed service times without noise: {} aggregate throughputs, {beyond} of them more than 0.5 % off, the \
         farthest {:+.2} %",
        tally.errors.len(),
        100.0 * farthest
    );
}
