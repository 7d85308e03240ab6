//! Prints how often a limit that holds from the first second on is found, and how often one is claimed that is not
//! there: the table of `docs/findings.md` about `constant_limit`.
//!
//! `limits [--devices N] [--seed N] [--time TIME] [--kinds TEXT,..] [--show] [--keep FILE]`: N volumes with a limit and
//! N devices without one are drawn at random, each is studied as `iosonde run quick --time 45s` does, by the same
//! functions, and what is found is compared with what was set. The seed is fresh unless one is given, and is printed.
//! With `--keep` answers are kept as soon as they are there: the same command goes on where it was ended.

#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "../blind/draw.rs"]
#[allow(dead_code, reason = "the other bench asks more of a noise")]
mod draw;
mod unlimited;
mod volume;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    hash::{BuildHasher, Hasher, RandomState},
    io::Write as _,
};

use draw::Dice;
use iosonde_model::{Detail, Finding, FindingName, Op, Run, Status, Unit, detail::ConstantLimit};
use serde::{Deserialize, Serialize};

/// The built-in study, with half of its time: virtual time is cheap, and a program's user may have as little.
const QUICK: &str = include_str!("../../../../studies/quick.toml");
/// Share by which a limit's value may be off.
const WITHIN: f64 = 0.01;

/// A device as it was drawn.
pub struct Drawn {
    /// What the table calls it.
    pub kind: String,
    /// As TOML.
    pub device: String,
    /// The limits that its workloads reach.
    pub limits: Vec<Set>,
}

/// A limit that was set.
#[derive(Debug, Clone, Copy)]
pub struct Set {
    /// Whether it counts bytes, or requests.
    pub bytes: bool,
    /// The direction that has it alone.
    pub op: Option<Op>,
    /// Amount per second.
    pub value: f64,
}

/// What came out for one device.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Answer {
    seed: u64,
    kind: String,
    nth: u64,
    set: usize,
    found: usize,
    within: usize,
    covered: usize,
    claimed: usize,
}

struct Args {
    devices: u64,
    seed: u64,
    time: String,
    kinds: String,
    show: bool,
    keep: Option<String>,
}

fn args() -> Result<Args, String> {
    let seed = RandomState::new().build_hasher().finish() >> 11;
    let (time, kinds) = ("45s".to_owned(), String::new());
    let mut args = Args { devices: 400, seed, time, kinds, show: false, keep: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
        match word.as_str() {
            "--devices" => args.devices = number(value()?)?,
            "--seed" => args.seed = number(value()?)?,
            "--time" => args.time = value()?,
            "--kinds" => args.kinds = value()?,
            "--show" => args.show = true,
            "--keep" => args.keep = Some(value()?),
            other => return Err(format!("unknown option {other}; see the head of examples/limits/main.rs")),
        }
    }
    Ok(args)
}

fn main() -> std::process::ExitCode {
    match args().and_then(|args| measured(&args)) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn measured(args: &Args) -> Result<(), String> {
    let study = QUICK.replace("time = \"90s\"", &format!("time = \"{}\"", args.time));
    let mut answers = args.keep.as_deref().map_or(Ok(Vec::new()), read)?;
    answers.retain(|answer| answer.seed == args.seed);
    for (place, draw) in [volume::draw as fn(&mut Dice) -> Drawn, unlimited::draw].iter().enumerate() {
        for nth in 0..args.devices {
            // Another factor than the generator's own step: or each device would have its neighbour's numbers, shifted.
            let seed =
                args.seed.wrapping_add((2 * nth + place as u64 + 1).wrapping_mul(0xd134_2543_de82_ef95));
            let drawn = draw(&mut Dice::new(seed));
            let known = |one: &Answer| (one.kind.as_str(), one.nth) == (drawn.kind.as_str(), nth);
            let asked = args.kinds.split(',').any(|text| drawn.kind.contains(text));
            if !asked || answers.iter().any(known) {
                continue;
            }
            let run = iosonde_cli::run_simulated(&drawn.device, &study, Some(1 << 30), seed)
                .map_err(|why| format!("{}: {why}\n{}", drawn.kind, drawn.device))?;
            let answer = answer(args, nth, &drawn, &run);
            if let Some(path) = &args.keep {
                keep(path, &answer)?;
            }
            answers.push(answer);
        }
    }
    println!("seed {}, {} devices with a limit, {} without\n", args.seed, args.devices, args.devices);
    println!("{}", table(&answers));
    Ok(())
}

fn answer(args: &Args, nth: u64, drawn: &Drawn, run: &Run) -> Answer {
    let is_claim = |one: &&Finding| one.name == FindingName::ConstantLimit && one.status == Status::Found;
    let claims: Vec<&Finding> = run.findings.iter().filter(is_claim).collect();
    // Equal ones of reads and writes that are not said to be shared are no answer to whether they are.
    let is_shared = |claim: &Finding| {
        matches!(claim.detail, Detail::ConstantLimit(ConstantLimit::Held { shared: Some(true), .. }))
    };
    let of = |set: &Set| {
        claims.iter().find(|claim| {
            (claim.unit == Unit::Rate) == set.bytes
                && claim.conditions.op == set.op
                && is_shared(claim) == set.op.is_none()
        })
    };
    let near = |set: &Set, claim: &Finding| {
        claim.value.is_some_and(|value| (value / set.value - 1.0).abs() <= WITHIN)
    };
    let holds = |set: &Set, claim: &Finding| {
        claim.low.zip(claim.high).is_some_and(|(low, high)| low <= set.value && set.value <= high)
    };
    let count = |right: &dyn Fn(&Set, &Finding) -> bool| {
        drawn.limits.iter().filter(|set| of(set).is_some_and(|claim| right(set, claim))).count()
    };
    let answer = Answer {
        seed: args.seed,
        kind: drawn.kind.clone(),
        nth,
        set: drawn.limits.len(),
        found: count(&|_, _| true),
        within: count(&near),
        covered: count(&holds),
        claimed: claims.len(),
    };
    if args.show && (answer.within != answer.set || answer.claimed != answer.set) {
        show(&answer, drawn, &claims);
    }
    answer
}

fn show(answer: &Answer, drawn: &Drawn, claims: &[&Finding]) {
    let claim = |claim: &&Finding| match claim.detail {
        Detail::ConstantLimit(ConstantLimit::Held { counted, points, scatter_ratio, .. }) => {
            format!(
                "{:?} {counted:?} {:?} {points} points {scatter_ratio:.3?}",
                claim.conditions.op, claim.value
            )
        }
        _ => "nothing".to_owned(),
    };
    let claims: Vec<String> = claims.iter().map(claim).collect();
    println!("{} {}: set {:?}\nclaimed {claims:?}\n{}", drawn.kind, answer.nth, drawn.limits, drawn.device);
}

fn table(answers: &[Answer]) -> String {
    let mut kinds: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        kinds.entry(&answer.kind).or_default().push(answer);
        let all = if answer.set > 0 { "volumes in all" } else { "without a limit in all" };
        kinds.entry(all).or_default().push(answer);
    }
    let mut out = "| kind | devices | all limits within 1 % | intervals that hold the limit | a wrong limit claimed |\n\
                   |---|---|---|---|---|\n"
        .to_owned();
    for (kind, own) in kinds {
        let count = |right: &dyn Fn(&Answer) -> bool| own.iter().filter(|one| right(one)).count();
        let share = |count: usize, of: usize| match of {
            0 => "".to_owned(),
            of => format!("{:.1} %", 100.0 * count as f64 / of as f64),
        };
        let (found, set): (usize, usize) =
            (own.iter().map(|one| one.found).sum(), own.iter().map(|one| one.set).sum());
        let covered = own.iter().map(|one| one.covered).sum();
        let within =
            if set > 0 { share(count(&|one| one.within == one.set), own.len()) } else { String::new() };
        let wrong = share(count(&|one| one.claimed > one.within), own.len());
        let _ = writeln!(out, "| {kind} | {} | {within} | {} | {wrong} |", own.len(), share(covered, found));
    }
    out
}

fn read(path: &str) -> Result<Vec<Answer>, String> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other.map_err(|error| format!("{path}: {error}"))?,
    };
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{path}: {error}"))).collect()
}

fn keep(path: &str, answer: &Answer) -> Result<(), String> {
    let line = serde_json::to_string(answer).map_err(|error| error.to_string())? + "\n";
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| format!("{path}: {error}"))
}
