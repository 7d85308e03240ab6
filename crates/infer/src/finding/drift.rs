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

use iosonde_judge::{
    drift::{self, CHANGE_MIN, DriftFit, TRIALS_MIN},
    evidence::Evidence,
};
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{
    Conditions, Detail, Estimate, Finding, Inconclusive,
    detail::{DriftProblem, RunDrift},
};
use iosonde_stats::trend::{Heterogeneity, Observation};

use super::{
    FindingKind, Proof, Told,
    group::{Writer, of_the_device},
};
use crate::words::Unit;

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
    let of = |(group, evidence)| of_the_device(evidence).filter_map(move |trial| drift::visit(group, trial));
    points.iter().copied().enumerate().flat_map(of).collect()
}

fn one(writer: &Writer, points: &[&Evidence]) -> Finding {
    let conditions = Conditions::default();
    let inconclusive = |problem| writer.inconclusive(&conditions, points, Inconclusive::Drift(problem));
    match drift::fit(visits(points), writer.confidence) {
        DriftFit::TooFewTrials(valid) => {
            inconclusive(DriftProblem::TooFewTrials { valid, needed: TRIALS_MIN })
        }
        DriftFit::Confounded(_) | DriftFit::NoSlope => inconclusive(DriftProblem::Confounded),
        DriftFit::NotProven(slope) => {
            let ((_, low_share, high_share), duration_s) = (slope.change(), slope.duration_s);
            let most_share = low_share.abs().max(high_share.abs());
            if most_share > CHANGE_MIN {
                return inconclusive(DriftProblem::TooWide { duration_s, low_share, high_share });
            }
            let detail = Detail::Drift(RunDrift::Steady { duration_s, most_share });
            writer.absent(&conditions, points, detail)
        }
        DriftFit::Different(Heterogeneity { rose, fell, held }, duration_s) => {
            inconclusive(DriftProblem::Different { duration_s, rose, fell, held })
        }
        DriftFit::Common(slope) => {
            let (value, low, high) = slope.change_over(HOUR_S);
            let estimate = Estimate { value, low: Some(low), high: Some(high) };
            let (duration_s, change_share) = (slope.duration_s, slope.change().0);
            let detail = Detail::Drift(RunDrift::Changed { duration_s, change_share });
            writer.concluded(&conditions, points, estimate, detail)
        }
    }
}
