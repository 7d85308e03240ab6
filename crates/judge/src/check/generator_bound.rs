//! The program was the bottleneck, not the storage.
//!
//! Looks at: the share of a trial in which the workers that make requests were busy rather than waiting. A worker that
//! is ready to run while others have the processor is busy: the storage waits for it.
//!
//! Rule: a worker that is busy 95 % of the time can make no more requests: the rate is its own, and the
//! storage could do as much or any amount more. From 80 % on the storage may have waited for it now and
//! then (a closed loop whose two stations are this unevenly matched loses a few percent to the faster one),
//! so the rate is a lower bound within an interval's width.
//!
//! Verdict: void as a statement about the device from 95 % (94 as measured: starting and draining are part of the
//! time, 1 % of a trial of 0.2 s), doubt from 80 %. The rate itself is true for
//! this program on this machine. Where nobody measured processor time, it abstains.
//!
//! Cross-check: where the run measured what this machine makes of the same requests without any storage (`iosonde
//! doctor`, and once in each run), the sentence gives that figure. It decides nothing, since it was taken at another
//! moment.
//!
//! Example: an SSD and a USB hard disk "level off" at the same 80 to 110 MiB/s of writes, in a script that
//! makes its random bytes while the clock runs. Equal plateaus on unlike media are the script's.
//!
//! What to do: more jobs (each has a processor of its own), larger blocks, or an engine that costs less for
//! each request (io_uring rather than psync).

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, Ceiling, Reason, Run, Scope, Trial, Verdict, units};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

const BUSY_DOUBT: f64 = 0.80;
/// 95 %, less 1 %: starting and draining are part of the time, and take 2 ms of a trial of 0.2 s.
const BUSY_VOID: f64 = 0.94;

pub(super) struct GeneratorBound;

impl Check for GeneratorBound {
    fn id(&self) -> CheckName {
        CheckName::GeneratorBound
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).map(|trial| verdict(trial, &run.info.host.ceilings))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |busy_share| specimen::run(Trial { busy_share, ..specimen::usual() });
        Specimens {
            pass: vec![
                with(Some(0.0)),
                with(Some(0.79)),
                specimen::run(specimen::healthy(Rw::Read, 1 << 20, 8, 900)),
            ],
            warning: vec![with(Some(0.80)), with(Some(0.93))],
            invalid: vec![with(Some(0.95)), with(Some(1.02))],
            not_checked: vec![with(None)],
        }
    }
}

fn verdict(trial: &Trial, ceilings: &[Ceiling]) -> Verdict {
    let Some(busy) = trial.busy_share else {
        let why = "nobody measured how busy the program was";
        return Verdict::NotChecked(Reason::new(About::Device, why));
    };
    let share = units::percent(busy.min(1.0));
    let reason = |why: String| Reason::new(About::Device, why).with("busy_share", busy);
    match (busy, processor_share(trial).filter(|&own| busy >= BUSY_DOUBT && own < busy / 2.0)) {
        (_, Some(own)) if busy >= BUSY_VOID => Verdict::Invalid(reason(kept_waiting(trial, own, busy))),
        (_, Some(own)) => Verdict::Warning(reason(kept_waiting(trial, own, busy))),
        _ if busy >= BUSY_VOID => Verdict::Invalid(reason(format!(
            "the program was busy {share} of the time: {} IOPS is what it can make, not what the storage \
             can take{}",
            units::count(trial.iops()),
            cross_check(trial, ceilings)
        ))),
        _ if busy >= BUSY_DOUBT => Verdict::Warning(reason(format!(
            "the program was busy {share} of the time: the storage may have waited for it{}",
            cross_check(trial, ceilings)
        ))),
        _ => Verdict::Pass,
    }
}

/// Share of the time for which the worker had a processor; of several, how busy each was is not kept.
fn processor_share(trial: &Trial) -> Option<f64> {
    let jobs: u32 = trial.spec.streams().map(|stream| stream.jobs).sum();
    let alone = jobs == 1 && trial.elapsed_s > 0.0;
    alone.then_some((trial.cpu_user_s? + trial.cpu_system_s?) / trial.elapsed_s)
}

/// Ready to run, and others had the processor: that is no ceiling of the program's own.
fn kept_waiting(trial: &Trial, own: f64, busy: f64) -> String {
    format!(
        "others had the processor: the program worked for {} of the time and waited to work for {}, so that {} IOPS is \
         what it came to beside them, not what the storage can take",
        units::percent(own),
        units::percent((busy.min(1.0) - own).max(0.0)),
        units::count(trial.iops())
    )
}

/// What was measured without any storage, where somebody did.
fn cross_check(trial: &Trial, ceilings: &[Ceiling]) -> String {
    let spec = &trial.spec;
    let alike = |ceiling: &&Ceiling| {
        ceiling.engine == spec.engine && ceiling.block_size_bytes == spec.smallest_block_bytes()
    };
    let cached = ceilings.iter().find(alike).and_then(|ceiling| ceiling.cached_iops);
    let say =
        |iops| format!(" (from memory, one worker of this machine makes {} a second)", units::count(iops));
    cached.map_or_else(String::new, say)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(
            reason.cause.said().ends_with("(from memory, one worker of this machine makes 1.20 M a second)"),
            "{}",
            reason.cause.said()
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
        let begin =
            "others had the processor: the program worked for 27 % of the time and waited to work for 70 %";
        assert!(reason.cause.said().starts_with(begin), "{}", reason.cause.said());
    }
}
