//! How much faster or slower the storage became during the run, at all points.
//!
//! What it is: the relative change of throughput per hour: -5 % an hour. The sentence also gives the change over
//! the run.
//!
//! How it is computed: ln(throughput) = level of the point + slope × time over all valid trials, of all
//! experiments. Each point is weighted by its own scatter, and the noise may be correlated from trial to trial. The
//! interval is that of the slope under every correlation that the trials allow. The fit is on time, since rounds
//! become shorter when points close. Offered rates are left out, because a requested rate does not drift. So is the
//! canary, which the check uses as well.
//!
//! Found where the slope differs from zero at 0.07 %, as in the check `drift`, and throughput changed by 2 % or
//! more. Absent where the whole interval stays within 2 % over the run. Inconclusive in three cases:
//! - points drifted in different directions, so that no common slope exists;
//! - each point was visited at one time only, so that time and point cannot be separated;
//! - the trials are too few or too noisy to show either.
//!
//! Assumes: that the drift continues evenly; the figure per hour is extrapolated from the length of the run.

use iosonde_judge::{
    drift::{self, CHANGE_MIN, DriftFit, TRIALS_MIN},
    evidence::Evidence,
};
use iosonde_model::{
    Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Unit,
    detail::{DriftProblem, RunDrift},
};
use iosonde_stats::trend::{Heterogeneity, Observation};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{Writer, of_the_device},
};

const HOUR_S: f64 = 3600.0;

pub(crate) struct Drift;

impl FindingKind for Drift {
    fn id(&self) -> FindingName {
        FindingName::Drift
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("drift")
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
