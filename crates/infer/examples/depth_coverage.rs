//! Prints how often the findings about queue depth contain the truth, on simulated devices: the second
//! table of `docs/intervals.md`.
//!
//! The truth of each device comes from the device itself, run for hundreds of thousands of requests at every relevant
//! queue depth. Runs are then simulated around it: each trial is the truth times noise, and everything
//! from the fit over all trials on is what a real run goes through.
//!
//! `depth_coverage [--replicates N] [--seed N] [--cells TEXT]`: `--cells` keeps the lines that contain the text.

#![allow(clippy::print_stdout)]

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_infer::enough_depth::least_enough;
use iosonde_judge::estimate::{Voids, fill_points};
use iosonde_model::{
    Direction, Finding, FindingName, Histogram, LatencySummary, Op, Phase, Point, Status, Trial, TrialSpec,
};
use iosonde_sim::{DeviceFile, ReferenceLoad, builtin, reference};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

const CONFIDENCE: f64 = 0.95;
/// Other points of the run, from which scatter is borrowed: `quick` has 27 in all.
const OTHERS: usize = 19;
const TRIAL_S: f64 = 0.24;

/// Queues of every kind that the family of curves was made for, and some that it was not.
const DEVICES: &[(&str, &str)] = &[
    (
        "1 fixed, link",
        "[link]\nbandwidth = \"1GB/s\"\nlatency = \"20us\"\n[queue]\nservers = 1\nservice = { fixed = \"80us\" }",
    ),
    ("4 fixed", "[queue]\nservers = 4\nservice = { fixed = \"80us\" }"),
    ("4 exponential", "[queue]\nservers = 4\nservice = { exponential = \"80us\" }"),
    (
        "2 lognormal, host",
        "[host]\nrequest_cost = \"2.5us\"\n[link]\nbandwidth = \"2GB/s\"\nlatency = \"0.5us\"\n\
      [queue]\nservers = 2\nservice = { lognormal = { mean = \"24us\", cv = 0.3 } }",
    ),
    (
        "16 fixed, link",
        "[link]\nbandwidth = \"3.5GB/s\"\nlatency = \"5us\"\n[queue]\nservers = 16\nservice = { fixed = \"80us\" }",
    ),
    ("32 lognormal", "@plain-nvme"),
    (
        "8 dies",
        "[flash]\nunits = 8\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"",
    ),
    ("32 dies", "@client-nvme"),
    (
        "throttle 3,000",
        "[throttle]\niops = 3000\n[queue]\nservers = 64\nservice = { lognormal = { mean = \"500us\", cv = 0.3 } }",
    ),
    ("disk, sorted", "@hdd-7200"),
];

/// Truth of a device, for one list of queue depths.
struct Truth {
    depths: Vec<u32>,
    iops: Vec<f64>,
    /// Highest IOPS at any queue depth, times single-request latency. `None` where unknown.
    knee: Option<f64>,
    /// Smallest queue depth with 95 % of the throughput at the deepest, and with 94.5 and 95.5 %: the device's own
    /// answer is as uncertain as that.
    depth: (f64, f64),
}

impl Truth {
    fn most(&self) -> f64 {
        self.iops.iter().copied().fold(0.0, f64::max)
    }
}

fn truth(text: &str, depths: &[u32]) -> Truth {
    let text = match text.strip_prefix('@') {
        Some(name) => builtin(name).expect("it is built in").to_owned(),
        None => format!("name = \"x\"\ncapacity = \"64GiB\"\n{text}\n"),
    };
    let file = DeviceFile::parse(&text, "bench").expect("a device of this bench is valid");
    let iops = |queue_depth: u32| {
        let load = ReferenceLoad {
            op: Op::Read,
            read_share: None,
            random: true,
            block_size_bytes: 4096,
            queue_depth,
            span_bytes: Some(1 << 32),
            warm_up_requests: 20_000,
            batch_requests: 5_000,
        };
        let runs = (0..3).filter_map(|seed| Some(reference(&file, &load, seed)?.iops.value));
        runs.sum::<f64>() / 3.0
    };
    let deepest = depths[depths.len() - 1];
    let top = iops(deepest);
    let least = |share: f64| {
        let (mut low, mut high) = (0, deepest);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if iops(middle) >= share * top { high = middle } else { low = middle }
        }
        f64::from(high)
    };
    let knee = (!text.contains("[disk]")).then(|| iops(4096) / iops(1));
    let iops = depths.iter().map(|&depth| iops(depth)).collect();
    Truth { depths: depths.to_vec(), iops, knee, depth: (least(0.945), least(0.955)) }
}

#[derive(Clone, Copy)]
struct Noise {
    cv: f64,
    correlation: f64,
    rounds: u32,
    /// Trials of the point in the middle scatter so many times as much.
    wide: f64,
}

fn trial(id: u64, point: &Point, round: u32, iops: f64) -> Trial {
    let latency_ns = f64::from(point.spec.queue_depth) * 1e9 / iops;
    let latency_ns = LatencySummary { mean: Some(latency_ns), ..LatencySummary::default() };
    let ios = (iops * TRIAL_S).ceil() as u64;
    let read = Direction {
        ios,
        bytes: 4096 * ios,
        errors: 0,
        short: 0,
        iops,
        bytes_per_s: 4096.0 * iops,
        latency_ns,
        histogram: Histogram::new(),
    };
    Trial {
        id,
        point: Some(point.id),
        round,
        started_s: id as f64 * (TRIAL_S + 0.01),
        elapsed_s: TRIAL_S,
        measured_s: TRIAL_S,
        read: Some(read),
        ..Trial::blank(point.spec.clone(), Phase::Measure)
    }
}

/// One run: what the three findings say, and the depth that reports recommend, as the place of its point. None where
/// throughput still rises.
fn conclude(truth: &Truth, noise: Noise, seed: u64) -> ([Finding; 3], Option<usize>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let spec = |queue_depth| TrialSpec { queue_depth, span_bytes: 1 << 30, ..TrialSpec::default() };
    let others =
        (0..OTHERS).map(|i| TrialSpec { block_size_bytes: 8192 << (i % 8), ..spec(1 + i as u32 / 8) });
    let specs = truth.depths.iter().map(|&depth| spec(depth)).chain(others);
    let mut points: Vec<Point> = specs.enumerate().map(|(id, spec)| Point::planned(id, "x", spec)).collect();
    let mut state: f64 = random.sample(StandardNormal);
    let mut trials = Vec::new();
    for round in 1..=noise.rounds {
        let mut order: Vec<(u64, usize)> = (0..points.len()).map(|point| (random.random(), point)).collect();
        order.sort_unstable();
        for (_, place) in order {
            let fresh: f64 = random.sample(StandardNormal);
            state = noise.correlation * state + (1.0 - noise.correlation.powi(2)).sqrt() * fresh;
            let wide = if place == truth.depths.len() / 2 { noise.wide } else { 1.0 };
            let factor = (1.0 + wide * noise.cv * state).max(0.05);
            let iops = truth.iops.get(place).copied().unwrap_or(1e4) * factor;
            trials.push(trial(trials.len() as u64 + 1, &points[place], round, iops));
        }
    }
    let voids = Voids::new();
    let evidence = fill_points(&mut points, &trials, &voids, CONFIDENCE).evidence(&points, &trials, &voids);
    let findings =
        [FindingName::QueueDepthKnee, FindingName::DepthFor95Percent, FindingName::MaxIops].map(|name| {
            iosonde_infer::finding::kind(name)
                .conclude("x", &evidence[..truth.depths.len()], CONFIDENCE)
                .swap_remove(0)
        });
    let most = &findings[2];
    let highest_iops = most.value.filter(|_| most.status == Status::Found && !most.at_least);
    let enough = highest_iops.and_then(|highest_iops| {
        let measured = points[..truth.depths.len()].iter().enumerate();
        let measured = measured.filter_map(|(place, point)| {
            Some((place, point.spec.asked_in_flight(), point.read.as_ref()?.iops.value))
        });
        least_enough(measured, highest_iops)
    });
    (findings, enough)
}

/// What the recommended depth truly gives, and whether the one below it would do.
#[derive(Default)]
struct Recommended {
    told: f64,
    /// True shares of the highest IOPS.
    shares: Vec<f64>,
    too_deep: f64,
}

impl Recommended {
    fn add(&mut self, place: usize, truth: &Truth) {
        let share = |place: usize| truth.iops[place] / truth.most();
        self.told += 1.0;
        self.shares.push(share(place));
        self.too_deep += f64::from(u8::from(place > 0 && share(place - 1) >= 0.955));
    }

    fn line(&mut self, runs: f64) -> String {
        self.shares.sort_by(f64::total_cmp);
        let from = |least: f64| self.shares.iter().filter(|share| **share >= least).count() as f64;
        format!(
            "{:4.0} | {:5.1} | {:5.1} | {:5.1} | {:5.1}",
            100.0 * self.told / runs,
            100.0 * from(0.945) / self.told,
            100.0 * from(0.895) / self.told,
            100.0 * self.shares.first().copied().unwrap_or(f64::NAN),
            100.0 * self.too_deep / self.told,
        )
    }
}

#[derive(Default)]
struct Tally {
    found: f64,
    covered: f64,
    above: f64,
    outside: f64,
    /// High over low.
    spans: Vec<f64>,
    /// Value over truth, either way.
    misses: Vec<f64>,
}

impl Tally {
    fn add(&mut self, finding: &Finding, truth: (f64, f64)) {
        if finding.status != Status::Found {
            return;
        }
        let (Some(value), Some(low), Some(high)) = (finding.value, finding.low, finding.high) else { return };
        self.found += 1.0;
        self.covered += f64::from(u8::from(low <= truth.1 && truth.0 <= high));
        self.above += f64::from(u8::from(low > truth.1));
        self.outside += f64::from(u8::from(value < low || value > high));
        self.spans.push(high / low);
        self.misses.push((value / value.clamp(truth.0, truth.1)).ln().abs().exp());
    }

    fn line(&mut self, runs: f64) -> String {
        let at = |values: &mut Vec<f64>, share: f64| {
            values.sort_by(f64::total_cmp);
            values.get((values.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
        };
        format!(
            "{:4.0} | {:5.1} | {:4.1} | {:4.1} | {:5.2} | {:6.2} | {:5.2} | {:5.2}",
            100.0 * self.found / runs,
            100.0 * self.covered / self.found,
            100.0 * self.above / self.found,
            100.0 * self.outside / self.found,
            at(&mut self.spans, 0.5),
            at(&mut self.spans, 0.9),
            at(&mut self.misses, 0.5),
            at(&mut self.misses, 0.9),
        )
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let number =
        |name: &str, otherwise: u64| given(name).and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let replicates = number("--replicates", 200);
    let seed = number("--seed", RandomState::new().build_hasher().finish());
    let wanted = given("--cells").cloned().unwrap_or_default();
    println!("{replicates} runs a cell, seed {seed}; shares in %");
    println!(
        "device | depths | CV | correlation | finding | truth | found | covered | too high | value outside | \
         high/low, median | 90th | value/truth, median | 90th"
    );
    println!(
        "device | depths | CV | correlation | enough: the depth that is recommended | told | gives 95 % | gives 90 % | \
         least share | the one below would do"
    );
    let lists: [(&str, &[u32]); 2] = [("8", &[1, 2, 4, 8, 16, 32, 64, 128]), ("4", &[1, 4, 16, 128])];
    let noises = [(0.03, 0.0, 1.0), (0.11, 0.6, 1.0), (0.03, 0.0, 8.0)];
    for (device, text) in DEVICES {
        for (list, depths) in lists {
            let cell = format!("{device} | {list}");
            if !cell.contains(&wanted) {
                continue;
            }
            let truth = truth(text, depths);
            for (cv, correlation, wide) in noises {
                let noise = Noise { cv, correlation, rounds: 10, wide };
                let mut tallies = [Tally::default(), Tally::default(), Tally::default()];
                let mut recommended = Recommended::default();
                let most = truth.most();
                let truths = [truth.knee.map(|knee| (knee, knee)), Some(truth.depth), Some((most, most))];
                for replicate in 0..replicates {
                    let (found, enough) =
                        conclude(&truth, noise, seed.wrapping_add(replicate.wrapping_mul(0x9e37_79b9)));
                    enough.into_iter().for_each(|place| recommended.add(place, &truth));
                    for ((tally, finding), truth) in tallies.iter_mut().zip(&found).zip(truths) {
                        truth.into_iter().for_each(|truth| tally.add(finding, truth));
                    }
                }
                let noise =
                    format!("{:>2.0} %{} | {correlation}", 100.0 * cv, if wide > 1.0 { "*" } else { " " });
                for ((name, tally), truth) in ["knee", "depth", "most"].iter().zip(&mut tallies).zip(truths) {
                    let truth =
                        truth.map_or_else(|| "?".to_owned(), |(low, high)| format!("{low:.2}..{high:.2}"));
                    println!("{cell} | {noise} | {name:5} | {truth} | {}", tally.line(replicates as f64));
                }
                println!("{cell} | {noise} | enough | {}", recommended.line(replicates as f64));
            }
        }
    }
}
