//! Words of the check `clock`.

use iosonde_model::{cause::Clock, units};

/// `the machine slept, or the program was stopped, for 28 s during the trial`.
pub(super) fn words(cause: &Clock) -> String {
    match cause {
        Clock::NotRead => "the clocks were not read before and after the trial".to_owned(),
        Clock::Slept { suspended_s } => {
            let slept = units::time(suspended_s * 1e9);
            format!("the machine slept, or the program was stopped, for {slept} during the trial")
        }
        Clock::Speed { clock_ratio } => {
            let way = if *clock_ratio > 1.0 { "fast" } else { "slow" };
            let off = units::percent((clock_ratio - 1.0).abs());
            format!("the request clock ran {off} too {way}; `iosonde doctor` names the clock source")
        }
        Clock::CalendarSet { calendar_step_s } => {
            let way = if *calendar_step_s > 0.0 { "forward" } else { "back" };
            let step = units::time(calendar_step_s.abs() * 1e9);
            format!(
                "the system time was set {way} by {step} during the trial: possibly a halt of this virtual machine"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_named() {
        let slow = words(&Clock::Speed { clock_ratio: 0.995 });
        assert!(slow.starts_with("the request clock ran 0.5 % too slow;"), "{slow}");
        let back = words(&Clock::CalendarSet { calendar_step_s: -3600.0 });
        assert!(back.starts_with("the system time was set back by "), "{back}");
    }
}
