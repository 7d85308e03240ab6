//! Prints what a study of 12 levels says of storage that becomes slower by 5 % in the hour that it takes: drift, or an
//! effect of the parameter? Fresh seeds unless one is given.
//!
//! Trials are made up: a rate that all levels share, with noise of 5 % between trials, and with the drift. Everything
//! else is what a real run goes through: the schedule draws the order and says when to stop; checks, estimates and
//! the finding `stride_effect` conclude from the trials.
//!
//! `drift_or_effect [--seeds N] [--seed N] [--levels N] [--drift SHARE_AN_HOUR] [--show]`: `--show` prints what the
//! first run says.

#![allow(clippy::print_stdout)]

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_infer::conclude::conclude;
use iosonde_judge::estimate::Voids;
use iosonde_model::{
    CheckName, Detail, Device, Direction, FindingName, Histogram, LatencySummary, Outcome, Run, RunInfo,
    Study, Trial, Window, WindowDirection,
    detail::{EffectAnswer, Level},
};
use iosonde_plan::{
    points,
    schedule::{Schedule, Terms},
};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

const HOUR_S: f64 = 3600.0;
const CV: f64 = 0.05;
const IOPS: f64 = 50.0;
/// Throughput of the low level, where there is one, relative to the others.
const LOW: f64 = 0.95;

/// What is measured.
#[derive(Clone, Copy)]
struct Setting {
    levels: usize,
    /// Change of the rate in the hour, as a share.
    drift: f64,
}

impl Setting {
    fn study(self) -> String {
        let last = 8192u64 << (self.levels - 1);
        format!(
            "name = \"levels\"\nquestion = \"Does the stride matter?\"\ntime = \"60m\"\nprecision = \"0.1%\"\n\
             [[experiment]]\nkind = \"stride\"\nrw = \"read\"\nblock_size = \"4k\"\nstride = \"8k..{last}*2\"\n"
        )
    }

    /// The level that is low, where one is.
    fn low_level(self) -> usize {
        self.levels * 7 / 12
    }
}

fn info(device: &Device, seed: u64, study: &str) -> RunInfo {
    let text = serde_json::json!({
        "id": "levels", "label": null, "note": null, "study": "levels", "study_source": study, "target": "made up",
        "seed": seed, "started_at": "2026-01-01T00:00:00Z", "elapsed_s": HOUR_S, "state": "done",
        "command": "iosonde run", "bytes_written": 0, "precision": 0.001, "confidence": 0.95, "rounds": 0,
        "device": device, "host": {}, "options": {},
    });
    serde_json::from_value(text).expect("it is a run's information")
}

fn direction(iops: f64, measured_s: f64) -> Direction {
    let latency_ns = (1e9 / iops) as u64;
    let ios = (iops * measured_s).round() as u64;
    let iops = ios as f64 / measured_s;
    let mut histogram = Histogram::new();
    (0..ios).for_each(|_| histogram.record(latency_ns));
    Direction {
        ios,
        bytes: 4096 * ios,
        errors: 0,
        short: 0,
        iops,
        bytes_per_s: 4096.0 * iops,
        latency_ns: LatencySummary { mean: Some(latency_ns as f64), ..LatencySummary::default() },
        histogram,
    }
}

fn windows(iops: f64, measured_s: f64) -> Vec<Window> {
    // What is done by the end of a window, in whole requests: the windows add up to the trial.
    let done_by = |i: usize| (iops * i as f64 / 10.0).round() as u64;
    let window = |i: usize| {
        let ios = done_by(i + 1) - done_by(i);
        let read = WindowDirection { ios, bytes: 4096 * ios, ..WindowDirection::default() };
        Window { start_s: i as f64 / 10.0, length_s: 0.1, read: Some(read), write: None, trim: None }
    };
    (0..(measured_s * 10.0).round() as usize).map(window).collect()
}

/// One hour; whether one level is low.
fn run(setting: Setting, seed: u64, low: bool) -> Run {
    let device = Device { engine: "io_uring".into(), direct: true, ..Device::unknown("file", 1 << 30) };
    let text = setting.study();
    let study = Study::parse(&text, "levels").expect("the study is valid");
    let plan = points::plan(&study, &device).expect("it can be planned");
    assert_eq!(plan.points.len(), setting.levels);
    let terms =
        Terms { seed, precision: 0.001, confidence: 0.95, budget_s: HOUR_S, rounds: None, overhead_s: 0.01 };
    let schedule = Schedule::visiting(plan.points, plan.visiting, terms).expect("an hour suffices");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut trials, mut clock_s): (Vec<Trial>, f64) = (Vec::new(), 0.0);
    while let Some(asked) = schedule.next(&trials, &Voids::new(), clock_s) {
        let length_s = asked.duration_ns as f64 / 1e9;
        let noise: f64 = random.sample(StandardNormal);
        let drift = (1.0 + setting.drift).powf((clock_s + length_s / 2.0) / HOUR_S);
        let level = if low && asked.point == Some(setting.low_level()) { LOW } else { 1.0 };
        let iops = IOPS * level * drift * (1.0 + CV * noise).max(0.05);
        let mut trial = Trial::blank(asked.spec, asked.phase);
        (trial.id, trial.round, trial.point) = (trials.len() as u64 + 1, asked.round, asked.point);
        trial.experiment = asked.experiment;
        (trial.started_s, trial.elapsed_s, trial.measured_s) = (clock_s, length_s, length_s);
        trial.read = Some(direction(iops, length_s));
        trial.in_flight_mean = Some(1.0);
        trial.windows = windows(iops, length_s);
        trials.push(trial);
        clock_s += length_s + 0.01;
    }
    let mut info = info(&device, seed, &text);
    info.rounds = schedule.rounds(&trials, &Voids::new());
    let mut run = Run::new(info, trials);
    conclude(&mut run, None).expect("it can be concluded");
    run
}

/// What a run said of the drift and of the parameter.
struct Said {
    drift: bool,
    no_effect: bool,
    named: bool,
    right: bool,
}

fn said(setting: Setting, run: &Run) -> Said {
    let drift =
        run.verdicts.iter().any(|line| line.check == CheckName::Drift && line.verdict >= Outcome::Warning);
    let effect = run.findings.iter().find_map(|finding| match &finding.detail {
        Detail::Effect(effect) if finding.name == FindingName::StrideEffect => Some(effect),
        _ => None,
    });
    let answer = effect.map(|effect| effect.answer);
    let no_effect = matches!(answer, Some(EffectAnswer::NoEffect | EffectAnswer::NoneSeen));
    let named = answer == Some(EffectAnswer::Changes);
    let low = Level::Stride(8192 << setting.low_level());
    Said { drift, no_effect, named, right: named && effect.is_some_and(|effect| effect.level == low) }
}

/// Whether the same trials, taken in the order of the levels instead, would show a slope over the levels.
fn sorted_order_shows_a_slope(setting: Setting, seed: u64, visits: usize) -> bool {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x50_47ed);
    let count = setting.levels * visits;
    let rate = |place: usize, noise: f64| {
        let drift = (1.0 + setting.drift).powf(place as f64 / count as f64);
        ((place / visits) as f64, (drift * (1.0 + CV * noise).max(0.05)).ln())
    };
    let rows: Vec<(f64, f64)> = (0..count).map(|place| rate(place, random.sample(StandardNormal))).collect();
    let n = count as f64;
    let (x, y) = (rows.iter().map(|r| r.0).sum::<f64>() / n, rows.iter().map(|r| r.1).sum::<f64>() / n);
    let xx: f64 = rows.iter().map(|r| (r.0 - x).powi(2)).sum();
    let slope = rows.iter().map(|r| (r.0 - x) * (r.1 - y)).sum::<f64>() / xx;
    let left: f64 = rows.iter().map(|r| (r.1 - y - slope * (r.0 - x)).powi(2)).sum();
    // 1.97: Student's t at 95 % for more than 200 degrees of freedom.
    slope.abs() > 1.97 * (left / (n - 2.0) / xx).sqrt()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let number = |name: &str, otherwise: u64| given(name).and_then(|t| t.parse().ok()).unwrap_or(otherwise);
    let seeds = number("--seeds", 1000);
    let first = number("--seed", RandomState::new().build_hasher().finish() >> 1);
    let drift = given("--drift").and_then(|text| text.parse().ok()).unwrap_or(-0.05);
    let setting = Setting { levels: (number("--levels", 12) as usize).clamp(2, 12), drift };
    println!(
        "{seeds} seeds from {first}: {} levels, an hour, {:.0} % CV, {:+.0} % in the hour",
        setting.levels,
        100.0 * CV,
        100.0 * setting.drift
    );
    let (mut drift, mut both, mut clean, mut found, mut right, mut sorted, mut rounds) =
        (0, 0, 0, 0, 0, 0, 0);
    for seed in first..first + seeds {
        let flat = run(setting, seed, false);
        if seed == first && arguments.iter().any(|a| a == "--show") {
            flat.verdicts
                .iter()
                .for_each(|line| println!("{:?} {}: {:?}", line.verdict, line.check, line.cause));
            flat.findings.iter().for_each(|finding| println!("{}: {:?}", finding.name, finding.detail));
        }
        rounds += flat.info.rounds;
        let of_flat = said(setting, &flat);
        drift += u64::from(of_flat.drift);
        both += u64::from((of_flat.drift || setting.drift == 0.0) && of_flat.no_effect);
        clean += u64::from(!of_flat.named);
        let of_low = said(setting, &run(setting, seed, true));
        found += u64::from(of_low.named);
        right += u64::from(of_low.right);
        sorted += u64::from(sorted_order_shows_a_slope(setting, seed, flat.info.rounds as usize));
    }
    let share = |count: u64| 100.0 * count as f64 / seeds as f64;
    println!("rounds, mean:                                   {:5.1}", f64::from(rounds) / seeds as f64);
    println!("the same in sorted order shows a false slope:   {:5.1} %", share(sorted));
    println!("a drift is seen:                                {:5.1} %", share(drift));
    println!("what is so (drift, if any), and no effect:      {:5.1} %   (bar 92)", share(both));
    println!("no false level is named:                        {:5.1} %   (bar 95)", share(clean));
    println!("one level 5 % low: an effect is found:          {:5.1} %   (bar 90)", share(found));
    println!("and it is the right level:                      {:5.1} %", share(right));
}
