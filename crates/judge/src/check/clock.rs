//! A clock that jumped, or a machine or program that slept, during a trial.
//!
//! Looks at: four clocks before and after a trial: the one that times requests (the processor's counter,
//! calibrated), the kernel's monotonic clock, the boot clock, which counts sleep, and the calendar clock.
//!
//! Rule for sleep: more than 1 ms between boot and monotonic time. Outstanding requests waited for the machine to
//! wake. The same where the program itself did not run for 250 ms (stopped by a signal or a debugger, or its guest
//! paused): a thread that does nothing else woke up so late.
//!
//! Rule for the request clock: 1 % faster or slower than the kernel's clock is invalid, because every throughput
//! and latency is off by as much. Calibration is accurate to 0.1 %, so 1 % means a counter that changed its speed
//! or was read on another socket. From 0.3 % on it is a warning.
//!
//! Rule for the calendar: a step of more than 1 s is a warning, although no figure uses this clock. A guest that
//! its host paused (a snapshot, a migration) has no other sign of it: its own clocks stopped, and then a time
//! service corrected the calendar. Slewing, 0.05 % at most, moves both clocks equally.
//!
//! Verdict: invalid for sleep and for a clock off by 1 %, about everything. Not checked where the clocks could not
//! be read.
//!
//! Example: a laptop whose lid was closed during a night's run; a guest that was moved to another host.
//!
//! What to do: run it again; `iosonde doctor` names the clock. If it says `hpet` or `acpi_pm`, the kernel did not
//! trust the processor's counter either.

use iosonde_model::{About, CheckName, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Below, it is the two clocks' readings one after the other.
const SLEPT_S: f64 = 1e-3;
/// As a share; see the manual page above.
const SPEED_VOID: f64 = 0.01;
const SPEED_DOUBT: f64 = 0.003;
/// A time service that corrects less does so by slewing (ntpd's limit is 128 ms, chrony's a second).
const STEP_S: f64 = 1.0;

pub(super) struct Clock;

impl Check for Clock {
    fn id(&self) -> CheckName {
        CheckName::Clock
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).map(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |calendar_step_s, suspended_s, clock_ratio| {
            let mut trial = specimen::usual();
            trial.witnesses.calendar_step_s = calendar_step_s;
            trial.witnesses.suspended_s = suspended_s;
            trial.witnesses.clock_ratio = clock_ratio;
            specimen::run(trial)
        };
        Specimens {
            pass: vec![
                with(Some(1e-7), Some(-1e-7), Some(1.000_01)),
                with(Some(0.5), Some(0.0), Some(1.002)),
                // Too short a trial to compare speeds.
                with(Some(0.0), Some(0.0), None),
            ],
            warning: vec![with(Some(-3600.0), Some(0.0), Some(1.0)), with(Some(0.0), Some(0.0), Some(0.995))],
            invalid: vec![with(Some(0.0), Some(28.0), Some(1.0)), with(Some(0.0), Some(0.0), Some(1.2))],
            not_checked: vec![with(None, None, None)],
        }
    }
}

fn verdict(trial: &Trial) -> Verdict {
    let witnesses = &trial.witnesses;
    let (Some(step_s), Some(slept_s)) = (witnesses.calendar_step_s, witnesses.suspended_s) else {
        return Verdict::NotChecked(Reason::new(About::All, cause::Clock::NotRead));
    };
    let reason = |why: cause::Clock| Reason::new(About::All, why);
    if slept_s > SLEPT_S {
        return Verdict::Invalid(reason(cause::Clock::Slept { suspended_s: slept_s }));
    }
    let clock_ratio = witnesses.clock_ratio.unwrap_or(1.0);
    let off = (clock_ratio - 1.0).abs();
    if off > SPEED_DOUBT {
        let speed = reason(cause::Clock::Speed { clock_ratio });
        return if off > SPEED_VOID { Verdict::Invalid(speed) } else { Verdict::Warning(speed) };
    }
    if step_s.abs() > STEP_S {
        return Verdict::Warning(reason(cause::Clock::CalendarSet { calendar_step_s: step_s }));
    }
    Verdict::Pass
}
