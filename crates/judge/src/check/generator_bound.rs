//! The program was the bottleneck, not the storage.
//!
//! Looks at: the share of a trial in which the workers that make requests were busy rather than waiting. A worker
//! that is ready to run while others have the processor counts as busy: the storage waits for it.
//!
//! Rule: a worker that is busy 95 % of the time cannot make more requests. The throughput is its own limit, and the
//! storage's limit is higher by an unknown amount. From 80 % on the storage may have waited for it at times, so the
//! throughput is a lower bound. By how much the device's own count of its requests tells, with direct I/O at a constant
//! queue depth: a device that had 95 % of them loses at most 5 % of its throughput, since that rises at most in
//! proportion to the depth. Where it had so many, the storage was the bottleneck, and the trial passes.
//!
//! Verdict: invalid as a statement about the device from 95 %, a warning from 80 %. The limit is 94 % as measured,
//! because starting and draining are part of the time (1 % of a trial of 0.2 s). The throughput itself is true for
//! this program on this machine. Not checked without processor time.
//!
//! Cross-check: `iosonde doctor`, and each run once, measures the same requests without any storage. That figure is
//! given where it exists. It decides nothing, since it was measured at another moment.
//!
//! Example: an SSD and a USB hard disk "level off" at the same 80 to 110 MiB/s of writes, in a script that makes
//! its random bytes while the clock runs. Equal plateaus on different media are the script's.
//!
//! What to do: more jobs (each has a processor of its own, as long as there are any), larger blocks, or an engine with
//! a lower cost per request (io_uring rather than psync).

#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{
    About, Ceiling, CheckName, Medium, Reason, Run, Scope, Trial, Unstated, Verdict,
    cause::{self, Busy},
};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::{achieved_rate, mean_depth, reach};

const BUSY_DOUBT: f64 = 0.80;
/// 95 %, less 1 %: starting and draining are part of the time, and take 2 ms of a trial of 0.2 s.
const BUSY_VOID: f64 = 0.94;

pub(super) struct GeneratorBound;

impl Check for GeneratorBound {
    fn id(&self) -> CheckName {
        CheckName::GeneratorBound
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).map(|trial| verdict(trial, run))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        // A trial of a busy program, and the share of its requests that the device counted, where it did.
        let fed = |busy_share, fed_share: Option<f64>| {
            let mut trial = Trial { busy_share, ..specimen::usual() };
            let asked = trial.spec.asked_in_flight() as f64;
            trial.witnesses.block_layer_in_flight_mean = fed_share.map(|share| share * asked);
            specimen::run(trial)
        };
        let with = |busy_share| fed(busy_share, None);
        // The file does not say whether a rate limited it: with few outstanding, the program may have waited for it.
        let mut perhaps_paced = specimen::usual();
        perhaps_paced.read = Some(specimen::direction(1_000, 4096, 80_000));
        (perhaps_paced.busy_share, perhaps_paced.unstated) = (Some(1.0), vec![Unstated::Load]);
        let mut loaded = specimen::usual();
        (loaded.busy_share, loaded.unstated) = (Some(1.0), vec![Unstated::Load]);
        Specimens {
            pass: vec![
                with(Some(0.0)),
                with(Some(0.79)),
                specimen::run(specimen::healthy(Rw::Read, 1 << 20, 8, 900)),
                fed(Some(0.90), Some(0.96)),
            ],
            warning: vec![with(Some(0.80)), with(Some(0.93)), fed(Some(0.90), Some(0.94))],
            invalid: vec![
                with(Some(0.95)),
                with(Some(1.02)),
                fed(Some(0.95), Some(0.99)),
                specimen::imported(loaded),
            ],
            not_checked: vec![with(None), specimen::imported(perhaps_paced)],
        }
    }
}

/// Requests outstanding for each job, below which a busy program may have spun for a rate.
const FEW_IN_FLIGHT: f64 = 0.5;

fn verdict(trial: &Trial, run: &Run) -> Verdict {
    let reason = |cause: cause::GeneratorBound| Reason::new(About::Device, cause);
    let Some(busy_share) = trial.busy_share else {
        return Verdict::NotChecked(reason(cause::GeneratorBound::Unmeasured));
    };
    let (iops, void) = (trial.iops(), busy_share >= BUSY_VOID);
    // fio spins between due times; a rate that was reached needed no more of the program.
    let is_reached = trial.spec.and.is_empty()
        && achieved_rate::is_reached(&trial.spec, iops, trial.measured_s) == Some(true);
    let spins = run.info.is_imported() && is_reached;
    if busy_share < BUSY_DOUBT || !void && reach::is_fed(trial) || spins {
        return Verdict::Pass;
    }
    let in_flight = mean_depth::by_littles_law(&mean_depth::terms(trial).0);
    if trial.unstated.contains(&Unstated::Load) && in_flight < FEW_IN_FLIGHT * f64::from(trial.spec.jobs) {
        return Verdict::NotChecked(reason(cause::GeneratorBound::RateUnstated { in_flight }));
    }
    let cached_iops = cached_iops(trial, &run.info.host.ceilings);
    let of_another = run.info.is_imported();
    let busy = Busy { busy_share, iops, cached_iops, of_another, no_spare_cpu: !has_spare_cpu(trial, run) };
    let cause = match cpu_share(trial).filter(|&own| own < busy_share / 2.0) {
        // Ready to run, and others had the processor: that is no ceiling of the program's own.
        Some(cpu_share) => cause::GeneratorBound::Preempted { busy_share, cpu_share, iops },
        None if void => cause::GeneratorBound::Saturated(busy),
        None => cause::GeneratorBound::Near { busy, kept_back_share: reach::kept_back_share(trial) },
    };
    if void { Verdict::Invalid(reason(cause)) } else { Verdict::Warning(reason(cause)) }
}

/// Whether more jobs would have a processor of their own. Nothing is known of another program's machine, and the
/// simulated program is a part of its device.
fn has_spare_cpu(trial: &Trial, run: &Run) -> bool {
    let jobs: u32 = trial.spec.streams().map(|stream| stream.jobs).sum();
    run.info.device.medium != Medium::Simulated
        && (run.info.is_imported() || run.info.host.cpus.is_none_or(|cpus| jobs < cpus))
}

/// Share of the time for which the worker had a processor; of several, how busy each was is not kept.
fn cpu_share(trial: &Trial) -> Option<f64> {
    let jobs: u32 = trial.spec.streams().map(|stream| stream.jobs).sum();
    let alone = jobs == 1 && trial.elapsed_s > 0.0;
    alone.then_some((trial.cpu_user_s? + trial.cpu_system_s?) / trial.elapsed_s)
}

/// What one worker of this machine makes of the same requests from memory, where that was measured.
fn cached_iops(trial: &Trial, ceilings: &[Ceiling]) -> Option<f64> {
    let spec = &trial.spec;
    let alike = |ceiling: &&Ceiling| {
        ceiling.engine == spec.engine && ceiling.block_size_bytes == spec.smallest_block_bytes()
    };
    ceilings.iter().find(alike).and_then(|ceiling| ceiling.cached_iops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_tool_that_reached_its_rate_was_no_limit() {
        let verdict = |jobs: u32| {
            let mut trial = Trial { busy_share: Some(0.97), ..specimen::usual() };
            (trial.spec.jobs, trial.spec.rate_iops) = (jobs, Some(trial.iops()));
            trial.achieved_rate_iops = Some(trial.iops());
            GeneratorBound.check(Scope::Trial(0), &specimen::imported(trial))
        };
        assert_eq!(verdict(1), Some(Verdict::Pass));
        // A rate is that of each job: two of them were to reach twice as much.
        assert!(matches!(verdict(2), Some(Verdict::Invalid(_))), "{:?}", verdict(2));
    }

    #[test]
    fn what_was_measured_without_storage_is_the_cross_check() {
        let busy = Trial { busy_share: Some(0.97), cpu_system_s: Some(0.9), ..specimen::usual() };
        let mut run = specimen::run(busy);
        let spec = &run.trials[0].spec;
        let ceiling = Ceiling {
            engine: spec.engine.clone(),
            block_size_bytes: spec.block_size_bytes,
            null_iops: 30e6,
            cached_iops: Some(1.2e6),
            user_ns_per_io: None,
        };
        run.info.host.ceilings = vec![Ceiling { engine: "psync".into(), ..ceiling.clone() }, ceiling];
        let Some(Verdict::Invalid(reason)) = GeneratorBound.check(Scope::Trial(0), &run) else {
            panic!("a busy program is the bottleneck")
        };
        let busy = Busy {
            busy_share: 0.97,
            iops: run.trials[0].iops(),
            cached_iops: Some(1.2e6),
            of_another: false,
            no_spare_cpu: false,
        };
        assert_eq!(reason, Reason::new(About::Device, cause::GeneratorBound::Saturated(busy)));
        // No processor for another job: this machine has one, or the program is a part of the simulated device.
        let full = Busy { no_spare_cpu: true, ..busy };
        run.info.host.cpus = Some(1);
        let said = GeneratorBound.check(Scope::Trial(0), &run);
        let expected =
            |busy| Some(Verdict::Invalid(Reason::new(About::Device, cause::GeneratorBound::Saturated(busy))));
        assert_eq!(said, expected(full));
        run.info.host.cpus = Some(2);
        assert_eq!(GeneratorBound.check(Scope::Trial(0), &run), expected(busy));
        run.info.host.cpus = None;
        // The result of another program is about that program's processor.
        run.info.study = iosonde_model::IMPORT.into();
        let other = Busy { of_another: true, ..busy };
        assert_eq!(
            GeneratorBound.check(Scope::Trial(0), &run),
            Some(Verdict::Invalid(Reason::new(About::Device, cause::GeneratorBound::Saturated(other))))
        );
    }

    #[test]
    fn a_program_that_waited_for_a_processor_is_not_called_its_own_bottleneck() {
        // 0.3 s of processor time in 1.1 s.
        let waiting = Trial { busy_share: Some(0.97), ..specimen::usual() };
        let Some(Verdict::Invalid(reason)) = GeneratorBound.check(Scope::Trial(0), &specimen::run(waiting))
        else {
            panic!("its rate is not the storage's")
        };
        let cause::Cause::GeneratorBound(cause::GeneratorBound::Preempted { cpu_share, .. }) = reason.cause
        else {
            panic!("{reason:?}")
        };
        assert!((cpu_share - 0.3 / 1.1).abs() < 1e-9, "{cpu_share}");
    }
}
