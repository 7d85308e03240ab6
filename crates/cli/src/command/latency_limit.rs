//! `iosonde point --latency-limit`: the highest load that keeps a latency.
//!
//! First the storage's own best is taken in a closed loop; from there loads are halved and doubled until one keeps
//! the limit and a little more does not. Then six loads around that place are offered in rounds of fresh random
//! order, and the experiment `open-loop` concludes from them, as from any study: its finding `iops_at_latency` has an
//! interval, the search does not.

use iosonde_model::{LatencyLimit, Phase, Point, Trial, TrialSpec, units};
use iosonde_plan::experiment::EXPERIMENTS;
use iosonde_rig::drive::Limits;

use crate::{failure::Failure, measure::Measurement};

/// The experiment whose points the loads are.
const EXPERIMENT: &str = "open-loop";
/// Rounds over the loads: an interval from 8 crossings is 18 % wider than from a great many.
pub const ROUNDS: u32 = 8;
/// Loads in each round.
const LOADS: u32 = 6;
/// Share of the time that the search may take.
const SEARCH_SHARE: f64 = 0.25;
/// Maximum number of trials of the search.
const SEARCH_TRIALS: u32 = 10;
/// The search ends when the load that does not keep the limit is so many times the one that does.
const CLOSE_ENOUGH: f64 = 1.4;
/// How far the loads reach beyond what the search found, to either side: trials are noisy.
const BEYOND: f64 = 1.15;
/// Half, and half again: a load of 1/256 of the best that does not keep the limit is idle storage that does not.
const IDLE_SHARE: f64 = 1.0 / 256.0;

/// Searches, then measures; the trials are kept.
pub fn measure(
    measurement: &mut Measurement,
    spec: &TrialSpec,
    limit: LatencyLimit,
    seconds: f64,
) -> Result<(), Failure> {
    let trial_s = (seconds * SEARCH_SHARE / f64::from(SEARCH_TRIALS)).max(0.1);
    let best_iops =
        search_trial(measurement, &TrialSpec { rate_iops: None, ..spec.clone() }, trial_s)?.iops();
    if best_iops <= 0.0 {
        return Err(Failure::failed("nothing completed in a closed loop: there is no load to search from"));
    }
    let (mut keeps, mut breaks) = (0.0f64, best_iops);
    // A load at which a round's trial has too few requests for the figure cannot be judged.
    let round_s = seconds * (1.0 - SEARCH_SHARE) / f64::from(ROUNDS * LOADS);
    let lowest_judged_iops = limit.requests_needed() as f64 / round_s;
    for _ in 1..SEARCH_TRIALS {
        if keeps > 0.0 && breaks / keeps < CLOSE_ENOUGH {
            break;
        }
        if keeps == 0.0 && (breaks < best_iops * IDLE_SHARE || breaks / 2.0 < lowest_judged_iops) {
            return Err(never_kept(measurement, limit, breaks, lowest_judged_iops));
        }
        let rate_iops = if keeps > 0.0 { (keeps * breaks).sqrt() } else { breaks / 2.0 };
        let trial = search_trial(measurement, &offered(spec, rate_iops, limit), trial_s)?;
        if kept(&trial, limit) { keeps = rate_iops } else { breaks = rate_iops }
    }
    let lowest_iops = if keeps > 0.0 { keeps } else { breaks / 2.0 } / BEYOND;
    let highest_iops = breaks * BEYOND;
    measurement.screen.say(&format!(
        "loads         {} to {} a second, {} rounds",
        units::count(lowest_iops),
        units::count(highest_iops),
        ROUNDS
    ));
    let step = (highest_iops / lowest_iops).powf(1.0 / f64::from(LOADS - 1));
    let points = (0..LOADS).map(|number| {
        let rate_iops = (lowest_iops * step.powi(number as i32)).round().max(1.0);
        Point::planned(number as usize, EXPERIMENT, offered(spec, rate_iops, limit))
    });
    let points: Vec<Point> = points.collect();
    debug_assert!(EXPERIMENTS.find(EXPERIMENT).is_ok());
    measurement.measure_points(points).map(drop)
}

/// The answer where even little load does not keep the limit.
fn never_kept(
    measurement: &Measurement,
    limit: LatencyLimit,
    load_iops: f64,
    lowest_judged_iops: f64,
) -> Failure {
    let last = measurement.run.trials.last().and_then(|trial| trial.directions().next());
    let figure = last.and_then(|(_, direction)| {
        limit.figure_ns(&direction.histogram).or(direction.histogram.max_ns().map(|ns| ns as f64))
    });
    let load = units::count(load_iops);
    let reached = figure.map_or_else(String::new, |ns| format!(": it was {}", units::time(ns)));
    let more = if load_iops / 2.0 < lowest_judged_iops {
        format!("; below {} a second this --time is too short to tell", units::count(lowest_judged_iops))
    } else {
        String::new()
    };
    Failure::failed(format!(
        "{}: {} {} is not kept even at {load} a second{reached}{more}",
        measurement.run.info.target,
        limit.name(),
        units::time(limit.ns as f64)
    ))
}

/// The workload at a load, over all its jobs.
fn offered(spec: &TrialSpec, rate_iops: f64, limit: LatencyLimit) -> TrialSpec {
    let each_iops = rate_iops / f64::from(spec.jobs);
    TrialSpec { rate_iops: Some(each_iops), latency_limit: Some(limit), ..spec.clone() }
}

/// A trial that only says where to look: it belongs to no point.
fn search_trial(measurement: &mut Measurement, spec: &TrialSpec, seconds: f64) -> Result<Trial, Failure> {
    let limits = Limits::time((seconds * 1e9) as u64);
    let seed = measurement.options.seed ^ measurement.run.trials.len() as u64;
    let mut trial = measurement.trial(spec, limits, Phase::Measure, seed)?;
    trial.experiment = EXPERIMENT.into();
    measurement.keep(trial.clone())?;
    let load = spec.rate_iops.map_or("a closed loop".to_owned(), |rate_iops| {
        format!("{} a second", units::count(rate_iops * f64::from(spec.jobs)))
    });
    let figure = spec.latency_limit.and_then(|limit| {
        let latencies = trial.directions().next().map(|(_, direction)| &direction.histogram)?;
        Some(format!(", {} {}", limit.name(), units::time(limit.figure_ns(latencies)?)))
    });
    let served = units::count(trial.iops());
    measurement.screen.say(&format!("search        {load}: {served} served{}", figure.unwrap_or_default()));
    Ok(trial)
}

/// Whether a trial kept the limit. One with too few requests for the figure is judged by its slowest.
fn kept(trial: &Trial, limit: LatencyLimit) -> bool {
    trial.unserved == 0
        && trial.directions().all(|(_, direction)| {
            let slowest_ns = direction.histogram.max_ns().map(|ns| ns as f64);
            let figure_ns = limit.figure_ns(&direction.histogram).or(slowest_ns);
            figure_ns.is_some_and(|ns| ns <= limit.ns as f64)
        })
}
