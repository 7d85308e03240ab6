//! A clock that jumped, or a machine that slept, while it was measured.
//!
//! Looks at: four clocks before and after a trial: the one that times requests (the processor's counter,
//! calibrated), the kernel's monotonic clock, the one since boot, which counts sleep, and the calendar's.
//!
//! Rule: the machine slept during the trial (more than 1 ms between boot and monotonic time): what was in flight
//! waited for a lid to open. The request clock ran 1 % faster or slower than the kernel's: every rate and latency
//! is off by as much; calibration is good to 0.1 %, so that 1 % is a counter that changed its speed or was read on
//! another socket. From 0.3 % on a doubt. The calendar was set by more than 1 s: a doubt, although nothing here is
//! timed by it. A guest that its host halted (a snapshot, a migration) sees nothing else of it: its own clocks
//! stood still, and then a time service puts the calendar right. Slewing, 0.05 % at most, moves both clocks alike.
//!
//! Verdict: void for sleep and for a clock off by 1 %, about everything. Where the clocks could not be read, it
//! abstains.
//!
//! Example: a laptop that closed its lid in the middle of a night's run; a guest that was moved to another host.
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
