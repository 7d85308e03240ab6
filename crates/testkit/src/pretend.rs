//! For tests: runs of a storage whose law is known, t(b) = t₀ + b/B with a sharp knee, and lognormal trials.

use iosonde_judge::evidence::{DirectionEvidence, Evidence};
use iosonde_model::{
    Device, Finding, Host, Medium, Op, Phase, Point, Run, RunInfo, RunState, Study, Trial, TrialSpec,
};
use iosonde_plan::points;
use iosonde_stats::LogEstimate;
use rand::SeedableRng;
use rand_distr::{ChiSquared, Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::specimen;

/// The built-in study.
pub const QUICK: &str = include_str!("../../../studies/quick.toml");

/// A storage that follows the law.
#[derive(Debug, Clone)]
pub struct Pretend {
    /// Time of a request that moves nothing.
    pub t0_ns: f64,
    /// Bandwidth of the link.
    pub bytes_per_s: f64,
    /// Limit of the medium.
    pub iops_max: f64,
    /// Rate of random over sequential requests.
    pub random_ratio: f64,
    /// Between trials.
    pub cv: f64,
    /// Change of every second point's rate from the first to the last round, as a share.
    pub change: f64,
    /// Visits of every point.
    pub rounds: u32,
    /// What it is said to be.
    pub device: Device,
}

impl Pretend {
    /// 100 µs + b / 1 GB/s, 80,000 a second at most: half size 100,000 B, knee at 80,000 × 104.096 µs = 8.33.
    pub fn usual() -> Self {
        let device = Device {
            medium: Medium::Flash,
            engine: "io_uring".into(),
            direct: true,
            direct_alignment_bytes: Some(512),
            ..Device::unknown("directory", 1 << 30)
        };
        Self {
            t0_ns: 100_000.0,
            bytes_per_s: 1e9,
            iops_max: 80_000.0,
            random_ratio: 1.0,
            cv: 0.03,
            change: 0.0,
            rounds: 8,
            device,
        }
    }

    /// The same storage, that so many hosts share.
    pub fn on_hosts(hosts: u32) -> Self {
        let usual = Self::usual();
        Self { device: Device { hosts: Some(hosts).filter(|&hosts| hosts > 1), ..usual.device }, ..usual }
    }

    /// The law.
    pub fn iops(&self, spec: &TrialSpec) -> f64 {
        let bytes = spec.block_size_bytes as f64;
        let alone = 1e9 / (self.t0_ns + bytes / self.bytes_per_s * 1e9);
        let most = self.iops_max.min(self.bytes_per_s / bytes);
        let ratio = if spec.rw.is_random() { self.random_ratio } else { 1.0 };
        (spec.asked_in_flight() as f64 * alone).min(most) * ratio
    }

    /// What `conclude` makes of the points of a study, `seeds` times over: each point's estimate lies off the law by
    /// an error like that of 6 trials, and says so with a standard error that is itself estimated.
    pub fn conclusions_by(
        &self,
        conclude: impl Fn(&[Evidence]) -> Vec<Finding>,
        study: &str,
        seeds: u64,
    ) -> Vec<Vec<Finding>> {
        let parsed = Study::parse(study, "pretend").expect("a test's study is valid");
        let points = points::plan(&parsed, &self.device).expect("a test's study can be planned").points;
        (0..seeds).map(|seed| conclude(&self.evidence(&points, seed))).collect()
    }

    /// Points with the estimates that the law gives them.
    pub fn evidence<'a>(&self, points: &'a [Point], seed: u64) -> Vec<Evidence<'a>> {
        // 27 points of 6 trials, less the parameters of the fit over all.
        const DEGREES: f64 = 100.0;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let error = self.cv / 6f64.sqrt();
        let variance = ChiSquared::new(DEGREES).expect("degrees are positive").sample(&mut random) / DEGREES;
        let noise = Normal::new(0.0, error).expect("a scatter is positive");
        // Leaked, since evidence borrows its trials: some kilobytes in a test.
        let trial: &'static Trial = Box::leak(Box::new(specimen::usual()));
        let mut direction = |point: &Point, op: Op| {
            let log_mean = self.iops(&point.spec).ln() + noise.sample(&mut random);
            let estimate = |log_mean| LogEstimate {
                log_mean,
                standard_error: error * variance.sqrt(),
                degrees_of_freedom: DEGREES,
            };
            let latency = (point.spec.asked_in_flight() as f64 * 1e9).ln() - log_mean;
            let both = DirectionEvidence {
                iops: estimate(log_mean),
                latency_ns_mean: estimate(latency),
                shared_error: 0.0,
            };
            point.spec.rw.has(op).then_some(both)
        };
        let one = |point: &'a Point| Evidence {
            point,
            trials: if point.spec.rate_iops.is_some() { self.offered(point) } else { vec![trial; 6] },
            void: vec![None; 6],
            read: direction(point, Op::Read),
            write: direction(point, Op::Write),
        };
        points.iter().map(one).collect()
    }

    /// Six rounds of an offered load, which meets one clerk of t₀: every latency is the 99th percentile,
    /// ln(100) t₀ / (1 - load x t₀), give or take a per cent.
    fn offered(&self, point: &Point) -> Vec<&'static Trial> {
        let spec = &point.spec;
        let rate_iops = spec.rate_iops.expect("a load is offered");
        let trial = |round: u32| {
            let p99_ns = 100f64.ln() * self.t0_ns / (1.0 - rate_iops * self.t0_ns / 1e9);
            let off = 1.0 + 0.01 * f64::from(round % 3) - 0.01;
            let mut trial =
                specimen::healthy(spec.rw, spec.block_size_bytes, spec.queue_depth, rate_iops as u64);
            trial.read =
                Some(specimen::direction(rate_iops as u64, spec.block_size_bytes, (p99_ns * off) as u64));
            (trial.spec, trial.round) = (spec.clone(), round);
            &*Box::leak(Box::new(trial))
        };
        (1..=6).map(trial).collect()
    }

    /// One trial of each point in each round, not yet checked.
    pub fn run(&self, study: &str, seed: u64) -> Run {
        let parsed = Study::parse(study, "pretend").expect("a test's study is valid");
        let plan = points::plan(&parsed, &self.device).expect("a test's study can be planned");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = Normal::new(0.0, self.cv).expect("a scatter is positive");
        let mut trials: Vec<Trial> = Vec::new();
        for round in 1..=self.rounds {
            let passed = f64::from(round - 1) / f64::from(self.rounds.max(2) - 1);
            for point in &plan.points {
                let spec = &point.spec;
                let left = if point.id % 2 == 0 { (1.0 + self.change).powf(passed) } else { 1.0 };
                let iops = (self.iops(spec) * left * noise.sample(&mut random).exp()).round() as u64;
                let mut trial = specimen::healthy(spec.rw, spec.block_size_bytes, spec.queue_depth, iops);
                trial.spec = spec.clone();
                trial.id = trials.len() as u64 + 1;
                (trial.point, trial.round) = (Some(point.id), round);
                trial.started_s = 1.2 * trials.len() as f64;
                trial.phase = Phase::Measure;
                trials.push(trial);
            }
        }
        let mut info: RunInfo = specimen::run(specimen::usual()).info;
        info.study_source = study.to_owned();
        (info.study, info.seed) = (parsed.name, seed);
        (info.precision, info.confidence) = (parsed.precision, 0.95);
        (info.state, info.host) = (RunState::Done, Host::default());
        info.device = self.device.clone();
        Run::new(info, trials)
    }
}

/// The share of conclusions whose first finding's interval holds the truth, and the mean full width of those
/// intervals as a share of the truth. A refusal holds nothing.
pub fn coverage(conclusions: &[Vec<Finding>], truth: f64) -> (f64, f64) {
    let intervals = || conclusions.iter().filter_map(|findings| Some((findings[0].low?, findings[0].high?)));
    let holding = intervals().filter(|&(low, high)| low <= truth && truth <= high).count();
    let width: f64 = intervals().map(|(low, high)| (high - low) / truth).sum();
    (holding as f64 / conclusions.len() as f64, width / intervals().count() as f64)
}

/// A text with every number replaced by `#`: its wording, whatever the noise.
pub fn wording(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        let in_number = out.ends_with('#');
        match letter {
            '0'..='9' if in_number => {}
            '0'..='9' => out.push('#'),
            // A decimal point; a full stop is followed by no digit, but none stands inside these texts.
            '.' if in_number => {}
            letter => out.push(letter),
        }
    }
    out
}
