//! From trials to what can be said: checks, points, findings, advice. Pure, and the same a year later.

use std::collections::BTreeMap;

use iosonde_judge::{
    estimate::FEWEST_TRIALS,
    evidence::Evidence,
    standing::{self, Judged, confidence},
};
use iosonde_model::{About, Closed, Finding, Phase, Planned, Point, Run, Study, Trial, TrialSpec};
pub use iosonde_plan::points::PlanError;
use iosonde_plan::points::{self, PlannedExperiment};

use crate::{
    consistency,
    finding::{self, FINDINGS, FindingKind},
};

/// Judges every trial, works out every point, concludes findings and advice. What the run held of these
/// before is replaced; its trials are not touched. `closed` says why each point of the plan was closed,
/// where the schedule knows; without it, what the run's points said is kept.
///
/// # Errors
/// Returns [`PlanError`] if the study's text in the run cannot be planned on the run's device.
pub fn conclude(run: &mut Run, closed: Option<&[Option<Closed>]>) -> Result<(), PlanError> {
    let (asked, judged) = judged(run, closed)?;
    run.findings = findings(run, &asked, &judged, confidence(run));
    Ok(())
}

/// The same without findings and advice: what a selftest of the checks needs.
///
/// # Errors
/// Returns the errors of [`conclude`].
pub fn judge(run: &mut Run, closed: Option<&[Option<Closed>]>) -> Result<(), PlanError> {
    judged(run, closed).map(|_| ())
}

fn judged(
    run: &mut Run,
    closed: Option<&[Option<Closed>]>,
) -> Result<(Vec<PlannedExperiment>, Judged), PlanError> {
    let (asked, mut points) = planned(run)?;
    for point in &mut points {
        let before = run.points.iter().find(|old| old.id == point.id).and_then(|old| old.closed);
        point.closed = closed.map_or(before, |closed| closed.get(point.id).copied().flatten());
    }
    run.points = points;
    let judged = standing::judge(run);
    Ok((asked, judged))
}

/// The experiments of the run's study and the points that they planned; a run without a study (a single
/// workload) has the points that its trials were made for.
fn planned(run: &Run) -> Result<(Vec<PlannedExperiment>, Vec<Point>), PlanError> {
    if run.info.study_source.is_empty() {
        let points = points_of_trials(&run.trials);
        return Ok((points::searched_experiments(&points), points));
    }
    let study = Study::parse(&run.info.study_source, &run.info.study)?;
    let mut points = points::plan(&study, &run.info.device)?.points;
    for (id, spec) in otherwise(&run.trials, &points) {
        // Another version planned this run: its points are what its trials did.
        let experiment = points[id].experiment.clone();
        points[id] = Point::planned(id, &experiment, spec.clone());
    }
    points.extend(points::added_points(&run.trials, points.len()));
    Ok((points::experiments(&study, &run.info.device)?, points))
}

/// Points whose trials did something else than the plan says now, with what they did.
pub fn otherwise<'a>(trials: &'a [Trial], points: &[Point]) -> BTreeMap<usize, &'a TrialSpec> {
    let measured = trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let of_point = measured.filter_map(|trial| Some((trial.point?, &trial.spec)));
    of_point.filter(|(id, spec)| points.get(*id).is_some_and(|point| point.spec != **spec)).collect()
}

fn points_of_trials(trials: &[Trial]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.phase == Phase::Measure) {
        let Some(id) = trial.point else { continue };
        if !points.iter().any(|point| point.id == id) {
            points.push(Point::planned(id, &trial.experiment, trial.spec.clone()));
        }
    }
    points
}

/// What each experiment's points answer. Two experiments that share a point say the same of it: once is
/// enough.
fn findings(run: &Run, asked: &[PlannedExperiment], judged: &Judged, confidence: f64) -> Vec<Finding> {
    let mut evidence = judged.estimates.evidence(&run.points, &run.trials, &judged.voids);
    // Points that were added and too seldom visited before the time was up: findings would be refused for them that
    // the plain grid answers.
    let enough = |one: &Evidence| one.standing(About::Rate).count() >= FEWEST_TRIALS;
    evidence.retain(|one| one.point.planned != Planned::Adaptive || enough(one));
    let mut findings: Vec<Finding> = Vec::new();
    for PlannedExperiment { name, experiment, .. } in asked {
        let own: Vec<_> =
            evidence.iter().filter(|evidence| evidence.point.belongs_to(name)).cloned().collect();
        if own.is_empty() {
            continue;
        }
        let kinds = finding::answering(experiment.id());
        let looked_at = |kind: &dyn FindingKind| if kind.looks_at_the_run() { &evidence } else { &own };
        for finding in kinds.flat_map(|kind| finding::concluded(kind, name, looked_at(kind), confidence)) {
            let known = |old: &Finding| {
                old.name == finding.name
                    && old.conditions == finding.conditions
                    && old.trials == finding.trials
            };
            if !findings.iter().any(known) {
                findings.push(finding);
            }
        }
    }
    // A single workload by hand has neither rounds nor an order.
    if !run.info.study_source.is_empty() {
        let of_the_run = FINDINGS.iter().filter(|kind| kind.of_the_run());
        findings.extend(
            of_the_run.flat_map(|kind| finding::concluded(kind, finding::RUN, &evidence, confidence)),
        );
    }
    finding::beside_the_link(&mut findings);
    consistency::check(&mut findings);
    consistency::with_device(&mut findings, &run.info.device);
    findings
}

#[cfg(test)]
#[path = "conclude_tests.rs"]
mod tests;
