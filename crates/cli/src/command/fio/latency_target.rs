//! `latency_target`: windows at one depth after another, until the deepest queue is found that keeps the latency.

use iosonde_model::{Phase, Trial, TrialSpec};
use iosonde_plan::fio::{DepthSearch, Ends, Group, Laid};
use iosonde_rig::{drive::Limits, trial::Order};

use super::words;
use crate::{failure::Failure, measure::Measurement};

/// The workload of a group and its ends: at the depth that keeps its latency, where it has a `latency_target`.
pub fn at_found_depth(
    measurement: &mut Measurement,
    group: &Group,
    laid: &Laid,
    most_ns: Option<u64>,
) -> Result<(TrialSpec, Vec<Ends>), Failure> {
    let job = &group.jobs[0];
    let Some(target) = job.latency_target else { return Ok((laid.spec.clone(), laid.ends.clone())) };
    let window_ns = most_ns.map_or(target.window_ns, |most| most.min(target.window_ns));
    let runtime_ns = laid.ends[0].duration_ns;
    let mut search = DepthSearch::up_to(job.spec.queue_depth);
    let mut spent_ns = 0;
    while let Some(depth) = search.next_depth() {
        // The last window is that of the result.
        if runtime_ns.is_some_and(|runtime| spent_ns + 2 * window_ns > runtime) {
            measurement.screen.say(&words::search_ended_early(job));
            break;
        }
        let trial = window(measurement, group, &laid.at_depth(depth), window_ns)?;
        spent_ns += window_ns;
        let is_kept = target.is_kept(&trial);
        measurement.screen.say(&words::tried_depth(&target, depth, &trial));
        search.tried(depth, is_kept);
    }
    let depth = search.found().unwrap_or(1);
    let rest_ns = runtime_ns.map_or(0, |runtime| runtime.saturating_sub(spent_ns));
    let duration_ns = if target.goes_on { rest_ns.max(window_ns) } else { window_ns };
    let ends = laid.ends.iter().map(|ends| Ends { duration_ns: Some(duration_ns), ..*ends }).collect();
    Ok((laid.at_depth(depth), ends))
}

/// A window at a depth. It prepares the result, and is no part of it.
fn window(
    measurement: &mut Measurement,
    group: &Group,
    spec: &TrialSpec,
    window_ns: u64,
) -> Result<Trial, Failure> {
    let seed = measurement.options.seed ^ measurement.run.trials.len() as u64;
    let order = Order { spec, limits: Limits::time(window_ns), phase: Phase::Prepare, seed };
    let own = vec![order.limits; spec.streams().count()];
    let mut trial = measurement.trial_each(order, &own)?;
    trial.experiment = words::name(group);
    measurement.keep(trial.clone())?;
    Ok(trial)
}
