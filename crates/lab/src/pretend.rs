//! For tests: runs of a storage whose law is known, t(b) = t₀ + b/B with a sharp knee, and lognormal trials.

use iosonde_model::{Device, Host, Medium, Phase, Run, RunInfo, RunState, Study, Trial};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{check::specimen, plan};

/// The built-in study.
pub(crate) const QUICK: &str = include_str!("../../../studies/quick.toml");

/// A storage that follows the law.
#[derive(Debug, Clone)]
pub(crate) struct Pretend {
    /// Time of a request that moves nothing.
    pub(crate) t0_ns: f64,
    /// Of the link.
    pub(crate) bytes_per_s: f64,
    /// Of the medium.
    pub(crate) iops_max: f64,
    /// Rate of random over sequential requests.
    pub(crate) random_ratio: f64,
    /// Between trials.
    pub(crate) cv: f64,
    /// Visits of every point.
    pub(crate) rounds: u32,
    /// What it is said to be.
    pub(crate) device: Device,
}

impl Pretend {
    /// 100 µs + b / 1 GB/s, 80,000 a second at most: half size 100,000 B, knee at 80,000 × 104.096 µs = 8.33.
    pub(crate) fn usual() -> Self {
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
            rounds: 8,
            device,
        }
    }

    /// One trial of each point in each round, judged by nobody yet.
    pub(crate) fn run(&self, study: &str, seed: u64) -> Run {
        let parsed = Study::parse(study, "pretend").expect("a test's study is valid");
        let plan = plan::points(&parsed, &self.device).expect("a test's study can be planned");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = Normal::new(0.0, self.cv).expect("a scatter is positive");
        let mut trials: Vec<Trial> = Vec::new();
        for round in 1..=self.rounds {
            for point in &plan.points {
                let spec = &point.spec;
                let bytes = spec.block_size_bytes as f64;
                let alone = 1e9 / (self.t0_ns + bytes / self.bytes_per_s * 1e9);
                let most = self.iops_max.min(self.bytes_per_s / bytes);
                let ratio = if spec.rw.is_random() { self.random_ratio } else { 1.0 };
                let law = (f64::from(spec.queue_depth) * alone).min(most) * ratio;
                let iops = (law * noise.sample(&mut random).exp()).round() as u64;
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
