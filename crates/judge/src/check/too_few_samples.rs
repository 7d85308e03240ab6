//! Too little data for an interval.
//!
//! Looks at: the requests that completed in a trial, and the valid trials of a point.
//!
//! Rule for a trial: at least 30 requests. The throughput of a trial is a whole number of requests over a time that
//! ends at one of them, so 30 requests resolve 3 %, which is about what an interval of 5 % may lose to it. A median
//! of fewer is any of the middle third.
//!
//! Rule for a point: at least 5 valid trials. An interval from n trials multiplies their scatter by Student's t
//! over √n: 2.5 standard deviations to either side at three trials, 1.2 at five, 0.8 at eight. One trial disturbed
//! by a neighbour is then at most one of five.
//!
//! Verdict: a warning. For a trial it is about its latencies; for a point about everything, since its interval is
//! missing or wide.
//!
//! Example: five trials per point, in sorted order, of reads of 512 MB: a "sharp decline" that may as well be a
//! disturbance.
//!
//! What to do: more time (`--time`), fewer points, or a smaller block size. Where trials were invalid, remove the
//! cause that their verdicts name first.

#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, CheckName, Point, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Requests of a trial; see the manual page above.
const REQUESTS_MIN: u64 = 30;
/// Standing trials of a point.
pub const TRIALS_MIN: u32 = 5;

pub(super) struct TooFewSamples;

impl Check for TooFewSamples {
    fn id(&self) -> CheckName {
        CheckName::TooFewSamples
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        match scope {
            Scope::Trial(_) => judged::measuring(scope, run).map(of_trial),
            // A run of single workloads (`point`, `import`) publishes no intervals.
            Scope::Point(place) => run.points.get(place).filter(|_| !run.info.is_single()).map(of_point),
            Scope::Run => None,
        }
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let point = |trials, void| {
            let mut run = specimen::run(specimen::usual());
            (run.points[0].trials, run.points[0].left_out) = (trials, void);
            run
        };
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                specimen::run(specimen::healthy(Rw::Write, 4 << 20, 8, 30)),
                point(5, 0),
                point(9, 4),
            ],
            warning: vec![
                specimen::run(specimen::healthy(Rw::Write, 4 << 20, 1, 20)),
                point(4, 0),
                point(9, 5),
                point(0, 0),
            ],
            not_checked: vec![specimen::run(specimen::tabled())],
            ..Specimens::default()
        }
    }
}

fn of_trial(trial: &Trial) -> Verdict {
    let done: u64 = trial.directions().map(|(_, direction)| direction.ios).sum();
    if trial.is_uncounted() {
        return Verdict::NotChecked(Reason::new(About::Latency, cause::TooFewSamples::Uncounted));
    }
    if done >= REQUESTS_MIN {
        return Verdict::Pass;
    }
    let too_few = cause::TooFewSamples::Requests { requests: done, needed: REQUESTS_MIN };
    Verdict::Warning(Reason::new(About::Latency, too_few))
}

fn of_point(point: &Point) -> Verdict {
    let standing = point.trials.saturating_sub(point.left_out);
    if standing >= TRIALS_MIN {
        return Verdict::Pass;
    }
    let too_few = cause::TooFewSamples::Trials { standing, trials: point.trials, needed: TRIALS_MIN };
    Verdict::Warning(Reason::new(About::All, too_few))
}
