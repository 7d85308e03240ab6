//! Noise: the medium's time is stretched, request by request and in slow waves, as on the virtual disk of the
//! field (rates over 100 ms with a coefficient of variation of 11 to 12 % and a lag-1 correlation of 0.55 to
//! 0.75).
//!
//! Law: the service time of a request that reaches the medium at t is its nominal time multiplied by
//! L T / (exp(g(k)) (1 + drift)^(t / 1 h) (1 + drift_per_gib)^w), where
//! * L is lognormal with mean 1 and coefficient of variation `latency_cv`, fresh for each request;
//! * T is `factor` for a share `share` of the requests (`tail`) and 1 for the others;
//! * g(k) belongs to the k-th 100 ms of the device's life and is a Gaussian AR(1) process with mean m,
//!   variance s^2 and lag-1 correlation `lag1_100ms`, where s^2 = ln(1 + `rate_cv_100ms`^2) and m = -s^2 / 2,
//!   so that the rate exp(g) has mean 1 and the given coefficient of variation (Box and Jenkins, Time
//!   Series Analysis, section 3.2; moments of the lognormal);
//! * `drift_per_hour` compounds; it is applied in steps of 100 ms;
//! * w is the GiB that writes have brought since the device was made: a mapping that becomes fragmented, for one.
//!
//! Two effects are drawn once in a device's life and divide all its times: `run_effect` is the coefficient of
//! variation of the rate between devices made afresh (repeats), `point_run_effect` that of a further factor,
//! drawn for each direction and request size. Both have mean 1.
//!
//! The mean rate stays that of the quiet device, divided by 1 + share (factor - 1). A request that waits
//! keeps the stretch of the moment it arrived.
//!
//! ```toml
//! [noise]
//! latency_cv = 0.05
//! rate_cv_100ms = 0.11
//! lag1_100ms = 0.65
//! tail = { share = "0.1%", factor = 20 }
//! drift_per_hour = "-2%"
//! drift_per_gib = "-1%"
//! run_effect = 0.01
//! point_run_effect = 0.01
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, Change, Share},
};
use rand::RngExt;
use rand_distr::{Distribution, LogNormal, StandardNormal};
use serde::Deserialize;
use std::sync::Arc;

use super::effects::Effects;
use crate::{
    flow::{Flow, Id},
    part::{Fact, Law, Load, Part, PartKind, PartPosition, Settings, Step},
    random::{Random, stream},
    reader::Reader,
};

/// Length of the stretches of time in which the rate's wave is constant.
const WINDOW_NS: u64 = 100_000_000;
const WINDOWS_PER_HOUR: f64 = 36_000.0;
const GIB: f64 = (1u64 << 30) as f64;

/// Reads `[noise]`.
pub(crate) struct Noise;

impl Named for Noise {
    fn name(&self) -> &'static str {
        "noise"
    }
}

impl PartKind for Noise {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[("noise.tail.share", "which share is slow"), ("noise.tail.factor", "how much slower")]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(noise) = reader.section::<NoiseKeys>("noise")? else { return Ok(None) };
        let variations = [
            ("noise.latency_cv", noise.latency_cv),
            ("noise.rate_cv_100ms", noise.rate_cv_100ms),
            ("noise.run_effect", noise.run_effect),
            ("noise.point_run_effect", noise.point_run_effect),
        ];
        for (path, cv) in variations {
            if !(0.0..=5.0).contains(&cv) {
                return Err(reader.impossible(path, "a coefficient of variation lies between 0 and 5 here"));
            }
        }
        if !(-1.0 < noise.lag1_100ms && noise.lag1_100ms < 1.0) {
            let rule = "a correlation that dies away lies between -1 and 1, both excluded";
            return Err(reader.impossible("noise.lag1_100ms", rule));
        }
        if noise.drift_per_hour.0 <= -1.0 {
            let rule = "a device that loses all its rate in an hour never ends";
            return Err(reader.impossible("noise.drift_per_hour", rule));
        }
        if noise.drift_per_gib.0 <= -1.0 {
            let rule = "a device that loses all its rate with what is written never ends";
            return Err(reader.impossible("noise.drift_per_gib", rule));
        }
        let (tail_share, tail_factor) = noise.tail.map_or((0.0, 1.0), |tail| (tail.share.0, tail.factor));
        if !(1.0..=1e6).contains(&tail_factor) {
            let rule = "the tail is slow: between 1 and 1,000,000 times";
            return Err(reader.impossible("noise.tail.factor", rule));
        }
        Ok(Some(Arc::new(NoiseSettings {
            latency_cv: noise.latency_cv,
            rate_cv: noise.rate_cv_100ms,
            lag1: noise.lag1_100ms,
            drift_per_hour: noise.drift_per_hour.0,
            drift_per_gib: noise.drift_per_gib.0,
            tail_share,
            tail_factor,
            run_cv: noise.run_effect,
            point_run_cv: noise.point_run_effect,
        })))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NoiseKeys {
    latency_cv: f64,
    rate_cv_100ms: f64,
    lag1_100ms: f64,
    run_effect: f64,
    point_run_effect: f64,
    drift_per_hour: Change,
    drift_per_gib: Change,
    tail: Option<TailKeys>,
}

#[derive(Deserialize)]
struct TailKeys {
    share: Share,
    factor: f64,
}

#[derive(Debug, Clone, Copy)]
struct NoiseSettings {
    latency_cv: f64,
    rate_cv: f64,
    lag1: f64,
    drift_per_hour: f64,
    drift_per_gib: f64,
    tail_share: f64,
    tail_factor: f64,
    run_cv: f64,
    point_run_cv: f64,
}

impl Settings for NoiseSettings {
    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        let latency = (self.latency_cv > 0.0)
            .then(|| LogNormal::from_mean_cv(1.0, self.latency_cv).expect("the cv was checked when read"));
        Box::new(Noisy {
            latency,
            tail_share: self.tail_share,
            tail_factor: self.tail_factor,
            log_drift_per_byte: self.drift_per_gib.ln_1p() / GIB,
            written_bytes: 0,
            wave: Wave::new(self, stream(place.seed, "noise.rate")),
            latency_random: stream(place.seed, "noise.latency"),
            tail_random: stream(place.seed, "noise.tail"),
            effects: Effects::new(place.seed, "noise", self.run_cv, self.point_run_cv),
        })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn wanders(&self) -> Option<&'static str> {
        let drifts = self.drift_per_hour != 0.0 || self.drift_per_gib != 0.0;
        (self.rate_cv > 0.0 || drifts).then_some("its rate goes in waves, or drifts")
    }

    fn stretch_mean(&self) -> f64 {
        1.0 + self.tail_share * (self.tail_factor - 1.0)
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let derivation = format!("the rate is multiplied by {} every hour", 1.0 + self.drift_per_hour);
        let drift = Fact {
            finding: FindingName::Drift,
            op: None,
            value: self.drift_per_hour,
            unit: "1/h",
            derivation,
        };
        if self.drift_per_hour == 0.0 { Vec::new() } else { vec![drift] }
    }

    fn caveat(&self, _load: &Load, _law: Law) -> Option<String> {
        let sign = if self.drift_per_hour < 0.0 { "falling" } else { "rising" };
        let share = units::percent(self.drift_per_hour.abs());
        (self.drift_per_hour != 0.0)
            .then(|| format!("at the start of the device's life, {sign} by {share} an hour"))
    }
}

/// The slow part of the noise: constant over each 100 ms of the device's life.
struct Wave {
    deviation: f64,
    lag1: f64,
    log_drift_per_window: f64,
    window: u64,
    /// g(k) - m, in units of s.
    level: f64,
    stretch: f64,
    random: Random,
}

impl Wave {
    fn new(settings: &NoiseSettings, mut random: Random) -> Self {
        let level = StandardNormal.sample(&mut random);
        let mut wave = Self {
            deviation: settings.rate_cv.powi(2).ln_1p().sqrt(),
            lag1: settings.lag1,
            log_drift_per_window: settings.drift_per_hour.ln_1p() / WINDOWS_PER_HOUR,
            window: 0,
            level,
            stretch: 1.0,
            random,
        };
        wave.stretch = wave.stretch_now();
        wave
    }

    fn stretch_now(&self) -> f64 {
        let log_rate = self.deviation * self.level - self.deviation.powi(2) / 2.0;
        (-log_rate - self.log_drift_per_window * self.window as f64).exp()
    }

    /// The stretch at a moment. Every window is drawn, whether a request falls into it or not, so that the
    /// wave is the same however the device is used.
    fn at(&mut self, now_ns: u64) -> f64 {
        let window = now_ns / WINDOW_NS;
        if window > self.window {
            if self.deviation > 0.0 {
                let fresh = (1.0 - self.lag1.powi(2)).sqrt();
                for _ in self.window..window {
                    let draw: f64 = StandardNormal.sample(&mut self.random);
                    self.level = self.lag1 * self.level + fresh * draw;
                }
            }
            self.window = window;
            self.stretch = self.stretch_now();
        }
        self.stretch
    }
}

struct Noisy {
    latency: Option<LogNormal<f64>>,
    tail_share: f64,
    tail_factor: f64,
    log_drift_per_byte: f64,
    written_bytes: u64,
    wave: Wave,
    latency_random: Random,
    tail_random: Random,
    effects: Effects,
}

impl Part for Noisy {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let mut stretch = self.wave.at(now_ns) * self.effects.stretch(flow[id].op, flow[id].length_bytes);
        if let Some(latency) = self.latency {
            stretch *= latency.sample(&mut self.latency_random);
        }
        if self.tail_share > 0.0 && self.tail_random.random_bool(self.tail_share) {
            stretch *= self.tail_factor;
        }
        if self.log_drift_per_byte != 0.0 {
            stretch *= (-self.log_drift_per_byte * self.written_bytes as f64).exp();
            let request = &flow[id];
            self.written_bytes += if request.op == Op::Write { u64::from(request.length_bytes) } else { 0 };
        }
        flow[id].stretch *= stretch;
        Step::On(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> NoiseSettings {
        NoiseSettings {
            latency_cv: 0.0,
            rate_cv: 0.11,
            lag1: 0.65,
            drift_per_hour: 0.0,
            drift_per_gib: 0.0,
            tail_share: 0.0,
            tail_factor: 1.0,
            run_cv: 0.0,
            point_run_cv: 0.0,
        }
    }

    #[test]
    fn the_wave_has_the_mean_variation_and_correlation_asked_for() {
        let mut wave = Wave::new(&settings(), stream(7, "noise.rate"));
        let n = 400_000;
        let rates: Vec<f64> = (0..n).map(|k| 1.0 / wave.at(k * WINDOW_NS)).collect();
        let mean = rates.iter().sum::<f64>() / n as f64;
        let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n as f64;
        let product = |pair: &[f64]| (pair[0] - mean) * (pair[1] - mean);
        let lag1 = rates.windows(2).map(product).sum::<f64>() / n as f64 / variance;
        // The mean of n correlated windows: 0.11 * sqrt((1 + .65) / (1 - .65) / 400,000) = 0.0004 (one
        // deviation).
        assert!((mean - 1.0).abs() < 0.0016, "mean rate {mean}");
        assert!((variance.sqrt() / mean / 0.11 - 1.0).abs() < 0.01, "variation {}", variance.sqrt() / mean);
        assert!((lag1 - 0.65).abs() < 0.01, "lag-1 correlation {lag1}");
    }

    #[test]
    fn a_drift_compounds_and_is_exact_after_an_hour() {
        let drifting = NoiseSettings { rate_cv: 0.0, drift_per_hour: -0.5, ..settings() };
        let mut wave = Wave::new(&drifting, stream(7, "noise.rate"));
        // Half the rate after one hour, a quarter after two: twice and four times the service time.
        assert_eq!(wave.at(0), 1.0);
        assert!((wave.at(3_600_000_000_000) - 2.0).abs() < 1e-9);
        assert!((wave.at(7_200_000_000_000) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn the_wave_is_the_same_however_the_device_is_used() {
        let mut often = Wave::new(&settings(), stream(3, "noise.rate"));
        let mut seldom = Wave::new(&settings(), stream(3, "noise.rate"));
        (0..500).for_each(|k| {
            often.at(k * WINDOW_NS / 5);
        });
        assert_eq!(often.at(120 * WINDOW_NS), seldom.at(120 * WINDOW_NS));
    }
}
