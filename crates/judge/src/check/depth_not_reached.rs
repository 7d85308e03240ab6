//! Fewer requests outstanding than the requested queue depth.
//!
//! Looks at: the number of outstanding requests, averaged over the measured time, against the requested number
//! (depth per job, times jobs). With direct I/O, also at what the block layer below counted.
//!
//! Rule: 5 % short is not reached. A queue model's abscissa is the queue depth; its saturation point moves by as
//! much as the depth is wrong, and 5 % is the precision of `quick`. A loop that refills its slots at once stays
//! within 1 %.
//!
//! Rule for the block layer: less than half of the requested depth is a warning. The other requests waited above
//! the device, in the block layer's own queue, the file system or this program, so the device never had that many
//! at once. Half, because the time between our stamps and the block layer's belongs to a request as well (a quarter
//! of it at 100 us). Splitting and other programs only raise the count. The rule begins at depth 8, because that
//! time is too large a share below. Not checked where the block layer's count is missing.
//!
//! Verdict: invalid as a statement about depth. The throughput was reached, only not at that queue depth: the trial
//! stays in throughput figures and leaves the saturation point. Not checked without a count of the outstanding
//! requests (another tool's result): `littles-law` computes the number from throughput and latency.
//!
//! Example: a table gives throughput and latency "at depth 64" for 4 KiB requests. By its own figures the mean
//! depths were 37, 47 and 35.
//!
//! A trial that ends after fewer than ten requests for each outstanding one, such as under a small `--max-write`, is
//! short because its queue empties at the end.
//!
//! What to do: more jobs, or an engine that does not block in submission; for too few requests, a larger
//! `--max-write`. If the program is busy all the time
//! (`generator-bound`), no setting helps on this machine.

#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, CheckName, Device, Medium, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, counted, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::reach::{DEVICE_FROM, too_few_at_the_device};

/// Share of the requested depth; see the manual page above.
const SHORT_BY: f64 = 0.049;

/// Requests for each outstanding one, below which the end of a trial alone makes it 5 % short: the queue empties over
/// one filling, with half of the depth on average.
const FILLINGS_MIN: f64 = 10.0;

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
            invalid: vec![
                with(Some(30.3)),
                with(Some(18.0)),
                specimen::run(Trial {
                    in_flight_mean: Some(20.0),
                    ..specimen::healthy(Rw::RandWrite, 4096, 32, 300)
                }),
            ],
            not_checked: vec![
                with(None),
                specimen::run(offered),
                specimen::run(uncounted(128)),
                // A counter that does not move saw nothing.
                specimen::filled(0, 0, at_the_device(128, 0.0)),
            ],
        }
    }
}

fn verdict(trial: &Trial, device: &Device) -> Verdict {
    let asked = trial.asked_in_flight_mean();
    if !trial.spec.keeps_depth() {
        return Verdict::NotChecked(reason(cause::DepthNotReached::DepthIsLimit));
    }
    let Some(reached) = trial.in_flight_mean else {
        return Verdict::NotChecked(reason(cause::DepthNotReached::Uncounted));
    };
    if reached >= asked * (1.0 - SHORT_BY) {
        return below(trial, reached, device);
    }
    let requests = trial.directions().map(|(_, direction)| direction.ios).fold(0, u64::saturating_add);
    let fault = match (requests as f64) < FILLINGS_MIN * asked {
        true => cause::DepthNotReached::TooFew { requests, asked },
        false => cause::DepthNotReached::Short { in_flight_mean: reached, asked },
    };
    Verdict::Invalid(reason(fault))
}

fn reason(cause: cause::DepthNotReached) -> Reason {
    Reason::new(About::Depth, cause)
}

/// Whether the device below had the requested depth.
fn below(trial: &Trial, in_flight_mean: f64, device: &Device) -> Verdict {
    let asked = trial.asked_in_flight_mean();
    let counted = trial.witnesses.block_layer_in_flight_mean;
    // In memory there is no queue below ours.
    let nothing_below = device.medium == Medium::Memory;
    if !trial.spec.direct || asked < DEVICE_FROM || (counted.is_none() && nothing_below) {
        return Verdict::Pass;
    }
    match (counted, too_few_at_the_device(trial)) {
        (None, _) => Verdict::NotChecked(reason(cause::DepthNotReached::DeviceUnseen { asked })),
        (_, Some(device_in_flight_mean)) => {
            let short =
                cause::DepthNotReached::ShortAtDevice { in_flight_mean, device_in_flight_mean, asked };
            Verdict::Warning(reason(short))
        }
        _ => Verdict::Pass,
    }
}

/// A healthy trial without the block layer's count.
#[cfg(test)]
fn uncounted(depth: u32) -> Trial {
    let mut trial = at_the_device(depth, 0.0);
    trial.witnesses.block_layer_in_flight_mean = None;
    trial
}

/// A healthy trial with this queue depth at the block layer.
#[cfg(test)]
fn at_the_device(depth: u32, seen: f64) -> Trial {
    let mut trial = specimen::healthy(Rw::RandRead, 4096, depth, 2_000);
    trial.witnesses.block_layer_in_flight_mean = Some(seen);
    trial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_requests_are_told_from_a_queue_that_was_not_kept() {
        let of = |requests: u64| {
            let mut trial = Trial { in_flight_mean: Some(20.0), ..specimen::usual() };
            trial.read = Some(specimen::direction(requests, 4096, 320_000));
            match verdict(&trial, &Device::unknown("directory", 1 << 30)) {
                Verdict::Invalid(reason) => reason.cause,
                other => panic!("{other:?}"),
            }
        };
        // 32 outstanding: ten fillings are 320 requests.
        let [few, enough] = [300, 330].map(of);
        let is_few = |cause: &cause::Cause| {
            matches!(
                cause,
                cause::Cause::DepthNotReached(cause::DepthNotReached::TooFew { requests: 300, .. })
            )
        };
        assert!(is_few(&few) && !is_few(&enough), "{few:?} {enough:?}");
    }
}
