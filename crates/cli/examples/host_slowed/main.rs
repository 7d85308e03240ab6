//! Prints how often the check `host-slowed` names a host that is slow at times, and `interference` what slows all of
//! them: the table of `docs/many-hosts.md`.
//!
//! `host_slowed [--runs N] [--seed N] [--kind often|seldom] [--misses 1]`: N clusters are drawn at random. Each is
//! measured three times, by the functions that `iosonde run .. --hosts N` calls: undisturbed, with one host that does
//! not run in parts of some periods, and with all hosts that do not in the same ones, as where the storage serves
//! somebody else.

#![allow(clippy::print_stdout)]

#[path = "../blind/draw.rs"]
#[allow(dead_code, reason = "the other bench asks more of a noise")]
mod draw;
#[path = "../odd_host/row.rs"]
mod row;

use std::{ops::Range, sync::Arc};

use draw::{Dice, Noise};
use iosonde_cli::run_on_cluster;
use iosonde_hosts::Cluster;
use iosonde_model::{
    CheckName, Judgement, Outcome, Run,
    cause::{Cause, HostSlowed, Interference, SlowedHost},
};
use row::row;

/// A cluster, and what disturbs it.
struct Drawn {
    hosts: u32,
    /// Whether the storage is saturated, so that the other hosts gain what one loses.
    saturated: bool,
    device: String,
    study: String,
    rank: u32,
    halts: Arc<[Range<u64>]>,
    /// Share of its time in which a disturbed host does not run within a period.
    share: f64,
}

impl Drawn {
    fn of(dice: &mut Dice, often: bool) -> Self {
        let hosts = 3 + dice.below(14) as u32;
        let saturated = dice.chance(0.5);
        let (depth, servers, service_us) = if saturated {
            (10 * (1 + dice.below(4)), dice.power(1, 5), dice.log(50.0, 500.0))
        } else {
            let depth = 4 + dice.below(13);
            (depth, 2 * depth * u64::from(hosts), dice.log(1_000.0, 5_000.0))
        };
        let law = if dice.chance(0.5) { "exponential" } else { "fixed" };
        let noise = Noise::draw(dice).section();
        let device = format!(
            "name = \"shared\"\nsummary = \"shared\"\ncapacity = \"4GiB\"\n[queue]\nservers = {servers}\n\
             service = {{ {law} = \"{service_us:.1}us\" }}\n{noise}"
        );
        let rw = if dice.chance(0.5) { "\"randread\"" } else { "[\"randread\", \"randwrite\"]" };
        let study = format!(
            "name = \"slowed\"\nquestion = \"Who was slow?\"\ntime = \"20s\"\nprecision = \"0.01%\"\n[[experiment]]\n\
             kind = \"queue-depth\"\nrw = {rw}\ndepth = {depth}\n"
        );
        // Requests that wait in a queue for 50 ms are served while their host does not run for 20.
        let share = if saturated { 1.0 } else { dice.between(0.5, 1.0) };
        let rank = dice.below(u64::from(hosts)) as u32;
        Self { hosts, saturated, device, study, rank, halts: halts(dice, share, often), share }
    }
}

/// Periods of 0.3 to 0.6 s within 20 s, a fifth or a tenth of the time; in them a host does not run for this share of
/// each 20 ms.
fn halts(dice: &mut Dice, share: f64, often: bool) -> Arc<[Range<u64>]> {
    const TICK_NS: u64 = 20_000_000;
    let periods = if often { 7 + dice.below(5) } else { 3 + dice.below(4) };
    let each_s = 20.0 / periods as f64;
    let mut halts = Vec::new();
    for nth in 0..periods {
        let length_s = dice.between(0.3, 0.6);
        let from_s = nth as f64 * each_s + dice.between(0.0, each_s - length_s);
        let from_ns = (from_s * 1e9) as u64;
        let ticks = (length_s * 1e9) as u64 / TICK_NS;
        halts.extend((0..ticks).map(|tick| {
            let at_ns = from_ns + tick * TICK_NS;
            at_ns..at_ns + (share * TICK_NS as f64) as u64
        }));
    }
    halts.into()
}

/// What two checks said of a run.
struct Said {
    /// Hosts that are named; `None` where that was not checked.
    slowed: Option<Vec<SlowedHost>>,
    /// Hosts that were slow at once, of all, where slow periods of the sum are told.
    of_all: Option<(usize, usize)>,
    /// Whether slow periods of the sum are told.
    stalls: bool,
}

fn said(drawn: &Drawn, cluster: Cluster, seed: u64) -> Said {
    let run: Run =
        run_on_cluster(&drawn.device, &drawn.study, cluster, seed).expect("a drawn cluster is measured");
    let of = |check: CheckName| -> Vec<&Judgement> {
        run.verdicts.iter().filter(|one| one.check == check && one.scope == "run").collect()
    };
    let slowed = of(CheckName::HostSlowed).first().and_then(|one| match (&one.cause, one.verdict) {
        (_, Outcome::NotChecked) => None,
        (Some(Cause::HostSlowed(HostSlowed::Slowed { slowed, .. })), _) => Some(slowed.clone()),
        _ => Some(Vec::new()),
    });
    let stalls = of(CheckName::Interference).into_iter().find_map(|one| match &one.cause {
        Some(Cause::Interference(Interference::Stalls { hosts, .. })) => Some(*hosts),
        _ => None,
    });
    let of_all = stalls.flatten().map(|hosts| (hosts.slowed, hosts.hosts));
    Said { slowed, of_all, stalls: stalls.is_some() }
}

#[derive(Default)]
struct Tally {
    unchecked: u64,
    alike: u64,
    alike_named: u64,
    alike_stalls: u64,
    one: u64,
    found: u64,
    others_named: u64,
    also_stalls: u64,
    gains: u64,
    gains_right: u64,
    falls: u64,
    falls_right: u64,
    all: u64,
    all_found: u64,
    all_of_all: u64,
    all_named: u64,
    misses: Vec<String>,
}

impl Tally {
    fn cluster(&mut self, seed: u64, often: bool) {
        let drawn = Drawn::of(&mut Dice::new(seed), often);
        let hosts = drawn.hosts;
        let undisturbed = said(&drawn, Cluster::new(hosts), seed);
        let Some(named) = undisturbed.slowed else {
            self.unchecked += 1;
            return;
        };
        self.alike += 1;
        self.alike_named += u64::from(!named.is_empty());
        self.alike_stalls += u64::from(undisturbed.stalls);
        let halted = |cluster: Cluster, rank| cluster.with_halts(rank, Arc::clone(&drawn.halts));
        self.of_one(&drawn, &said(&drawn, halted(Cluster::new(hosts), drawn.rank), seed), seed);
        let everybody = (0..hosts).fold(Cluster::new(hosts), halted);
        let all = said(&drawn, everybody, seed);
        self.all += 1;
        self.all_found += u64::from(all.stalls);
        self.all_of_all += u64::from(all.of_all.is_some_and(|(slowed, of)| slowed == of));
        self.all_named += u64::from(all.slowed.is_some_and(|slowed| !slowed.is_empty()));
    }

    fn of_one(&mut self, drawn: &Drawn, said: &Said, seed: u64) {
        let named = said.slowed.as_deref().unwrap_or_default();
        let own = named.iter().find(|one| one.rank == drawn.rank);
        let others = named.iter().any(|one| one.rank != drawn.rank);
        self.one += 1;
        self.found += u64::from(own.is_some());
        self.others_named += u64::from(others);
        self.also_stalls += u64::from(said.stalls);
        if let Some(own) = own {
            let (count, right) = if drawn.saturated {
                (&mut self.gains, &mut self.gains_right)
            } else {
                (&mut self.falls, &mut self.falls_right)
            };
            *count += 1;
            *right += u64::from(own.is_made_up() == drawn.saturated);
        }
        if own.is_none() || others {
            let named: Vec<u32> = named.iter().map(|one| one.rank).collect();
            let Drawn { hosts, saturated, rank, share, .. } = drawn;
            self.misses.push(format!("| {seed} | {hosts} | {saturated} | {share:.2} | {rank} | {named:?} |"));
        }
    }
}

fn main() {
    let (mut runs, mut seed, mut often, mut misses) = (200, 1, true, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match (word.as_str(), value.parse::<u64>()) {
            ("--runs", Ok(number)) => runs = number,
            ("--seed", Ok(number)) => seed = number,
            ("--misses", Ok(number)) => misses = number > 0,
            ("--kind", _) => often = value != "seldom",
            _ => panic!("host_slowed [--runs N] [--seed N] [--kind often|seldom] [--misses 1], not {word}"),
        }
    }
    let mut tally = Tally::default();
    (0..runs).for_each(|nth| tally.cluster(seed + nth, often));
    if misses {
        println!("| seed | hosts | saturated | share | host | named |\n|---|---|---|---|---|---|");
        tally.misses.iter().for_each(|line| println!("{line}"));
        println!();
    }
    println!("{runs} clusters from seed {seed}; not checked: {}\n", tally.unchecked);
    println!("| what | runs | share (95 %) |\n|---|---|---|");
    row("undisturbed, a host is named", tally.alike_named, tally.alike);
    row("undisturbed, slow periods of all are told", tally.alike_stalls, tally.alike);
    row("one host is slow at times, and is named", tally.found, tally.one);
    row("beside it, another one is named", tally.others_named, tally.one);
    row("slow periods of all are told, too", tally.also_stalls, tally.one);
    row("saturated storage: the others gain, and this is told", tally.gains_right, tally.gains);
    row("otherwise: the sum falls, and this is told", tally.falls_right, tally.falls);
    row("all hosts are slow at once, and this is told", tally.all_found, tally.all);
    row("it is told as of all hosts", tally.all_of_all, tally.all_found);
    row("a host is named beside it", tally.all_named, tally.all);
}
