//! What differs between a device's lives: effects on its rate, drawn once and kept.

use iosonde_model::Op;
use rand_distr::{Distribution, LogNormal};

use crate::random::{Random, stream};

/// A factor on the rate with mean 1.
fn effect(cv: f64, random: &mut Random) -> f64 {
    if cv == 0.0 { 1.0 } else { LogNormal::from_mean_cv(1.0, cv).expect("the cv was checked").sample(random) }
}

/// Random effects that are drawn once per device: one for each name.
pub(super) struct Effects {
    seed: u64,
    whose: &'static str,
    run_stretch: f64,
    point_run_cv: f64,
    /// Direction, request size and stretch, the latest that was used first.
    points: Vec<(Op, u32, f64)>,
}

impl Effects {
    pub(super) fn new(seed: u64, whose: &'static str, run_cv: f64, point_run_cv: f64) -> Self {
        let run_stretch = 1.0 / effect(run_cv, &mut stream(seed, &format!("{whose}.run")));
        Self { seed, whose, run_stretch, point_run_cv, points: Vec::new() }
    }

    pub(super) fn stretch(&mut self, op: Op, length_bytes: u32) -> f64 {
        if self.point_run_cv == 0.0 {
            return self.run_stretch;
        }
        let at = self.points.iter().position(|point| (point.0, point.1) == (op, length_bytes));
        let at = at.unwrap_or_else(|| {
            let mut random = stream(self.seed, &format!("{}.point.{op}.{length_bytes}", self.whose));
            let stretch = self.run_stretch / effect(self.point_run_cv, &mut random);
            self.points.push((op, length_bytes, stretch));
            self.points.len() - 1
        });
        self.points.swap(0, at);
        self.points[0].2
    }
}
