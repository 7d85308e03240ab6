//! Fewer requests in flight than were asked for.
//!
//! Looks at: the number of requests outstanding, averaged over the measured time, against the number asked
//! for (in flight per job, times jobs).
//!
//! Rule: 5 % short is not reached. A queue model takes the number in flight as its abscissa; its knee moves
//! by as much as that is wrong, and 5 % is what `quick` asks of an interval. A loop that refills its slots
//! at once stays within 1 %.
//!
//! Looks also at: what the block layer below counted (direct I/O only). Less than half of what was asked for is
//! a doubt: the rest waited above the device, in the block layer's own queue, the file system or this program,
//! and the device was never asked to work on so many at once. Half, because the time between our stamps and the
//! block layer's belongs to a request as well (a quarter of it at 100 us); splitting and other programs only
//! raise the count. From 8 on: below, that time is too large a part. Where the block layer's count is not seen, it
//! abstains.
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

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, Device, Medium, Reason, Run, Scope, Trial, Verdict};

use super::{Check, counted, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::reach::{DEVICE_FROM, too_few_at_the_device};

/// As a share of what was asked for; see the manual page above.
const SHORT_BY: f64 = 0.049;

pub(super) struct DepthNotReached;

impl Check for DepthNotReached {
    fn id(&self) -> CheckName {
        CheckName::DepthNotReached
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let device = &run.info.device;
        judged::measuring(scope, run).map(|trial| verdict(&counted::witnessed(trial, run), device))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |in_flight_mean| specimen::run(Trial { in_flight_mean, ..specimen::usual() });
        // An open loop with 2 of at most 32 outstanding.
        let mut offered = specimen::usual();
        (offered.spec.rate_iops, offered.in_flight_mean) = (Some(100_000.0), Some(2.0));
        let memory = Device { medium: Medium::Memory, ..Device::unknown("directory", 1 << 30) };
        Specimens {
            pass: vec![
                with(Some(32.0)),
                // Below memory there is no queue to count in.
                specimen::run_on(memory, uncounted(128)),
                with(Some(30.5)),
                specimen::run(specimen::healthy(Rw::Write, 1 << 20, 1, 900)),
                // The device saw 72 of 128: the rest of each request's time passed on the way.
                specimen::run(at_the_device(128, 72.0)),
                specimen::run(at_the_device(4, 1.5)),
                specimen::run(uncounted(4)),
            ],
            // 1,024 asked of a block layer that hands 256 on.
            warning: vec![specimen::run(at_the_device(1024, 202.0))],
            invalid: vec![with(Some(30.3)), with(Some(18.0))],
            not_checked: vec![
                with(None),
                specimen::run(offered),
                specimen::run(uncounted(128)),
                // A counter that stands still saw nothing.
                specimen::filled(0, 0, at_the_device(128, 0.0)),
            ],
        }
    }
}

fn verdict(trial: &Trial, device: &Device) -> Verdict {
    let asked = trial.spec.asked_in_flight() as f64;
    if !trial.spec.keeps_depth() {
        let why = "with a rate or with flushes the number in flight is a limit, not a promise";
        return Verdict::NotChecked(Reason::new(About::Depth, why));
    }
    let Some(reached) = trial.in_flight_mean else {
        let why = "nobody counted the requests in flight";
        return Verdict::NotChecked(Reason::new(About::Depth, why));
    };
    if reached >= asked * (1.0 - SHORT_BY) {
        return below(trial, asked, device);
    }
    let why = format!("{reached:.1} requests were in flight on average, not {asked}");
    Verdict::Invalid(Reason::new(About::Depth, why).with("in_flight_mean", reached).with("asked", asked))
}

/// Whether the device below was asked for as much as we were.
fn below(trial: &Trial, asked: f64, device: &Device) -> Verdict {
    let counted = trial.witnesses.block_layer_in_flight_mean;
    // In memory there is no queue below ours.
    let nothing_below = device.medium == Medium::Memory;
    if !trial.spec.direct || asked < DEVICE_FROM || (counted.is_none() && nothing_below) {
        return Verdict::Pass;
    }
    match (counted, too_few_at_the_device(trial)) {
        (None, _) => {
            let why = format!(
                "{asked} were kept in flight here; how many of them reached the device cannot be told, since its \
                 counters are not seen"
            );
            Verdict::NotChecked(Reason::new(About::Depth, why))
        }
        (_, Some(seen)) => {
            let why = format!(
                "the device saw {seen:.0} in flight of the {asked} asked for: the rest waited above it"
            );
            let reason = Reason::new(About::Depth, why);
            Verdict::Warning(reason.with("device_in_flight_mean", seen).with("asked", asked))
        }
        _ => Verdict::Pass,
    }
}

/// A healthy trial below which nobody counted.
#[cfg(test)]
fn uncounted(depth: u32) -> Trial {
    let mut trial = at_the_device(depth, 0.0);
    trial.witnesses.block_layer_in_flight_mean = None;
    trial
}

/// A healthy trial whose block layer counted so many in flight.
#[cfg(test)]
fn at_the_device(depth: u32, seen: f64) -> Trial {
    let mut trial = specimen::healthy(Rw::RandRead, 4096, depth, 2_000);
    trial.witnesses.block_layer_in_flight_mean = Some(seen);
    trial
}
