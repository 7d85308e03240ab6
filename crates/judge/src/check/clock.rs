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

use iosonde_model::{About, CheckName, Reason, Run, Scope, Trial, Verdict, units};

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
        let why = "whether a clock jumped cannot be told: they were not read before and after";
        return Verdict::NotChecked(Reason::new(About::All, why));
    };
    let reason = |why: String| {
        let reason =
            Reason::new(About::All, why).with("calendar_step_s", step_s).with("suspended_s", slept_s);
        witnesses.clock_ratio.into_iter().fold(reason, |reason, ratio| reason.with("clock_ratio", ratio))
    };
    if slept_s > SLEPT_S {
        let slept = units::time(slept_s * 1e9);
        return Verdict::Invalid(reason(format!("the machine slept for {slept} during the trial")));
    }
    let off = witnesses.clock_ratio.map_or(0.0, |ratio| (ratio - 1.0).abs());
    if off > SPEED_DOUBT {
        let way = if witnesses.clock_ratio > Some(1.0) { "fast" } else { "slow" };
        let why = format!("the clock that timed the requests ran {} too {way}", units::percent(off));
        return if off > SPEED_VOID { Verdict::Invalid(reason(why)) } else { Verdict::Warning(reason(why)) };
    }
    if step_s.abs() > STEP_S {
        let way = if step_s > 0.0 { "forward" } else { "back" };
        let step = units::time(step_s.abs() * 1e9);
        return Verdict::Warning(reason(format!(
            "the calendar was set {way} by {step} during the trial: a guest that its host halted sees just this"
        )));
    }
    Verdict::Pass
}
