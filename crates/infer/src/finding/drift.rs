//! How much faster or slower the storage became while the run went on, all points alike.
//!
//! What it is: the change of the rate in an hour, as a share of itself: -5 % an hour. The sentence says what it came to
//! over the run.
//!
//! How it is worked out: ln(rate) = level of the point + slope × time over all trials that stand, of all experiments,
//! each point weighted by its own scatter, with noise allowed for that resembles the trial before. The interval is
//! that of the slope under every such noise that the trials allow. A drift is said where the slope differs from zero
//! at 0.07 %, as the check `drift` has it, and the rate changed by 2 % or more; *none* where the whole interval stays
//! within 2 % over the run. (Time is what is fitted, since rounds become shorter when points close. Offered rates are
//! left out: what was asked for does not drift. So is the canary, which the check looks at as well.)
//!
//! Refused where points went different ways (one slope would be nobody's), where each point was visited at one time
//! only, so that time and point are one, and where the trials are too few or too rough to say either.
//!
//! Assumes: that the drift goes on evenly; over an hour it is foretold from as long as the run was.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{
    Conditions, Detail, Estimate, Finding, Inconclusive,
    detail::{DriftProblem, RunDrift},
};
use iosonde_stats::trend::{Heterogeneity, Levels, Observation};

use super::{
    FindingKind, Proof, Told,
    group::{Writer, of_the_device},
};
use crate::words::Unit;

/// Chance of naming one that is not there: that of the check.
const CHANCE: f64 = 0.0007;
/// Over the run, as a share: what matters to anybody.
const CHANGE_MIN: f64 = 0.02;
/// Trials at the least.
const TRIALS_MIN: usize = 12;
/// Share of the trials' differences in time that lie between points, from which on time and point are one.
const CONFOUNDED: f64 = 0.5;

const HOUR_S: f64 = 3600.0;

pub(crate) struct Drift;

impl FindingKind for Drift {
    fn id(&self) -> FindingName {
        FindingName::Drift
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[]
    }

    fn told(&self) -> Told {
        Told::alone("drift")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::PerHour, confidence };
        let closed: Vec<&Evidence> =
            points.iter().filter(|evidence| evidence.point.spec.rate_iops.is_none()).collect();
        if closed.len() < 2 { Vec::new() } else { vec![one(&writer, &closed)] }
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "fading"
summary = "two servers of 2 ms that lose nine tenths of their rate in an hour"
capacity = "1GiB"
[queue]
servers = 2
service = { fixed = "2ms" }
[noise]
rate_cv_100ms = 0.02
lag1_100ms = 0.5
drift_per_hour = "-90%"
"#,
            study: r#"
name = "fading"
question = "Does it stay as fast?"
time = "8m"
precision = "0.1%"
size = "1GiB"
[[experiment]]
kind = "queue-depth"
depth = [1, 2, 4, 8]
"#,
            truths: &[(Some(-0.9), "the rate is multiplied by 0.1 every hour")],
            widest: 0.02,
        }
    }
}

fn visits(points: &[&Evidence]) -> Vec<Observation> {
    let mut visits: Vec<Observation> = Vec::new();
    for (group, evidence) in points.iter().enumerate() {
        // A point that was visited once says nothing of time.
        let standing: Vec<_> = of_the_device(evidence).filter(|trial| trial.iops() > 0.0).collect();
        let of = |trial: &&iosonde_model::Trial| Observation {
            group,
            at_s: trial.started_s + trial.elapsed_s / 2.0,
            log: trial.iops().ln(),
        };
        visits.extend(standing.iter().filter(|_| standing.len() > 1).map(of));
    }
    visits.retain(|visit| visit.log.is_finite());
    visits.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    visits
}

fn one(writer: &Writer, points: &[&Evidence]) -> Finding {
    let conditions = Conditions::default();
    let inconclusive = |problem| writer.inconclusive(&conditions, points, Inconclusive::Drift(problem));
    let visits = visits(points);
    if visits.len() < TRIALS_MIN {
        return inconclusive(DriftProblem::TooFewTrials { valid: visits.len(), needed: TRIALS_MIN });
    }
    let levels = Levels::of(&visits);
    if levels.share_of_time_between(&visits) > CONFOUNDED {
        return inconclusive(DriftProblem::Confounded);
    }
    let Some(fit) = levels.slope(&visits) else {
        return inconclusive(DriftProblem::Confounded);
    };
    let duration_s = visits[visits.len() - 1].at_s - visits[0].at_s;
    let slope = fit.coefficient(0);
    let (low, high) = fit.interval(0, writer.confidence);
    let change = |slope: f64| (slope * duration_s).exp_m1();
    let tail = fit.below(0, 0.0).min(1.0 - fit.below(0, 0.0));
    if tail > CHANCE / 2.0 || change(slope).abs() < CHANGE_MIN {
        let (low_share, high_share) = (change(low), change(high));
        let most_share = low_share.abs().max(high_share.abs());
        if most_share > CHANGE_MIN {
            return inconclusive(DriftProblem::TooWide { duration_s, low_share, high_share });
        }
        let detail = Detail::Drift(RunDrift::Steady { duration_s, most_share });
        return writer.absent(&conditions, points, detail);
    }
    if let Some(Heterogeneity { rose, fell, held }) = levels.heterogeneity(&visits, slope, duration_s, CHANGE_MIN) {
        return inconclusive(DriftProblem::Different { duration_s, rose, fell, held });
    }
    let of_hour = |slope: f64| (slope * HOUR_S).exp_m1();
    let estimate = Estimate { value: of_hour(slope), low: Some(of_hour(low)), high: Some(of_hour(high)) };
    let detail = Detail::Drift(RunDrift::Changed { duration_s, change_share: change(slope) });
    writer.concluded(&conditions, points, estimate, detail)
}
