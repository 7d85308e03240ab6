//! A trial for estimates and the schedule: its point, its time, its throughput, and whether it is valid.

use iosonde_model::{About, Op, Phase, Trial};
use iosonde_stats::mixed_model::Row;

use super::{
    basis::{Voids, is_valid_for},
    leftover::leftovers,
};

/// Result of one trial of a point or of the canary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visit {
    /// Its place among the trials.
    pub trial: usize,
    /// The point's id; `None` for a canary.
    pub point: Option<usize>,
    /// From 1.
    pub round: u32,
    /// In measuring time: pauses are cut to a trial's length.
    pub start_s: f64,
    /// In measuring time.
    pub end_s: f64,
    /// Whether its throughput is valid.
    pub stands: bool,
    /// Whether it is a canary that took what a write left behind: no evidence of a trend, see [`leftovers`].
    pub leftover: bool,
    /// ln(completions per second) of reads; `None` where none completed.
    pub log_read_iops: Option<f64>,
    /// ln(completions per second) of writes.
    pub log_write_iops: Option<f64>,
    /// ln(completions per second) of trims.
    pub log_trim_iops: Option<f64>,
}

/// The canary's rows, for fits of groups that it is not among: what its rate went through, or its time of a request
/// with `sign` -1. None of the trials that took what a write left behind.
pub fn canaries(visits: &[Visit], sign: f64) -> Vec<Row> {
    let own = visits.iter().filter(|visit| visit.point.is_none() && visit.stands && !visit.leftover);
    let row = |visit: &Visit| {
        let log = visit.log_read_iops.or(visit.log_write_iops)?;
        Some(Row { group: 0, start_s: visit.start_s, end_s: visit.end_s, log_value: sign * log })
    };
    own.filter_map(row).collect()
}

impl Visit {
    /// ln(completions per second) of a direction.
    pub fn log_iops(&self, op: Op) -> Option<f64> {
        match op {
            Op::Read => self.log_read_iops,
            Op::Write => self.log_write_iops,
            Op::Trim => self.log_trim_iops,
            Op::Flush => None,
        }
    }
}

/// The measurements and canaries among trials, in the order of time.
pub fn visits(trials: &[Trial], voids: &Voids) -> Vec<Visit> {
    let seen = |trial: &Trial| match trial.phase {
        Phase::Prepare => false,
        Phase::Canary => true,
        Phase::Measure => trial.point.is_some(),
    };
    let mut order: Vec<usize> = (0..trials.len()).filter(|&i| seen(&trials[i])).collect();
    order.sort_by(|&a, &b| {
        trials[a].started_s.total_cmp(&trials[b].started_s).then(trials[a].id.cmp(&trials[b].id))
    });
    let leftovers = leftovers(trials);
    let (mut clock_s, mut ended_s) = (0.0, f64::NEG_INFINITY);
    let mut out = Vec::with_capacity(order.len());
    for place in order {
        let trial = &trials[place];
        if ended_s > f64::NEG_INFINITY {
            clock_s += (trial.started_s - ended_s).clamp(0.0, trial.elapsed_s.max(0.0));
        }
        let start_s = clock_s;
        clock_s += trial.elapsed_s.max(0.0);
        ended_s = trial.started_s + trial.elapsed_s;
        let log = |op| {
            let iops = trial.direction(op).map(|direction| direction.iops);
            iops.filter(|v| *v > 0.0 && v.is_finite()).map(f64::ln)
        };
        out.push(Visit {
            trial: place,
            point: trial.point.filter(|_| trial.phase == Phase::Measure),
            round: trial.round,
            start_s,
            end_s: clock_s,
            leftover: leftovers.contains(&trial.id),
            stands: is_valid_for(voids, trial, About::Rate),
            log_read_iops: log(Op::Read),
            log_write_iops: log(Op::Write),
            log_trim_iops: log(Op::Trim),
        });
    }
    out
}
