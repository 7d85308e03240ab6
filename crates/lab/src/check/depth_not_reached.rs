//! Fewer requests in flight than were asked for.
//!
//! Looks at: the number of requests outstanding, averaged over the measured time, against the number asked
//! for (in flight per job, times jobs).
//!
//! Rule: 5 % short is not reached. A queue model takes the number in flight as its abscissa; its knee moves
//! by as much as that is wrong, and 5 % is what `quick` asks of an interval. A loop that refills its slots
//! at once stays within 1 %.
//!
//! Verdict: void as a statement about depth: the rate was really reached, only not with that number in
//! flight, so the trial stays in rates and leaves the knee. Where nobody counted the outstanding requests
//! (another tool's result), it abstains, and `littles-law` works the number out from rate and latency.
//!
//! Example: a table gives rate and latency "at depth 64" for 4 KiB requests, of which by its own figures
//! 37, 47 and 35 were in flight.
//!
//! What to do: more jobs, or an engine that does not block in submission. If the program is busy all the
//! time (`generator-bound`), no setting helps on this machine.

use iosonde_model::{About, Named, Reason, Run, Rw, Scope, Trial, Verdict};

use super::{Check, Specimens, judged, specimen};

/// As a share of what was asked for; see the manual page above.
const SHORT_BY: f64 = 0.05;

pub(super) struct DepthNotReached;

impl Named for DepthNotReached {
    fn name(&self) -> &'static str {
        "depth-not-reached"
    }
}

impl Check for DepthNotReached {
    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).map(verdict)
    }

    fn specimens(&self) -> Specimens {
        let with = |in_flight_mean| specimen::run(Trial { in_flight_mean, ..specimen::usual() });
        Specimens {
            pass: vec![
                with(Some(32.0)),
                with(Some(30.5)),
                specimen::run(specimen::healthy(Rw::Write, 1 << 20, 1, 900)),
            ],
            void: vec![with(Some(30.3)), with(Some(18.0))],
            abstain: vec![with(None)],
            ..Specimens::default()
        }
    }
}

fn verdict(trial: &Trial) -> Verdict {
    let asked = trial.spec.asked_in_flight() as f64;
    let Some(reached) = trial.in_flight_mean else {
        let why = "nobody counted the requests in flight";
        return Verdict::Abstain(Reason::new(About::Depth, why));
    };
    if reached >= asked * (1.0 - SHORT_BY) {
        return Verdict::Pass;
    }
    let why = format!("{reached:.1} requests were in flight on average, not {asked}");
    Verdict::Void(Reason::new(About::Depth, why).with("in_flight_mean", reached).with("asked", asked))
}
