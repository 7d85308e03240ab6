//! Pressure stall information (Linux 4.20): the share of time in which some task of the machine waited.

use iosonde_model::{Absence, Counter};

use super::reading::Reading;
use crate::platform::linux::System;
use crate::witness::grown;

/// One file of `/proc/pressure`, open.
#[derive(Debug)]
pub(super) struct Pressure {
    path: String,
    file: Reading,
}

impl Pressure {
    /// `io` or `cpu`.
    pub(super) fn open(system: &System, resource: &str) -> Result<Self, Absence> {
        let path = format!("/proc/pressure/{resource}");
        let file = Reading::open(&system.path(&path))?;
        Ok(Self { path, file })
    }

    /// Microseconds since the machine started in which some task waited.
    pub(super) fn total_us(&mut self) -> Option<u64> {
        parse(self.file.text().ok()?)
    }

    /// The share of `elapsed_s` since an earlier reading in which some task waited.
    pub(super) fn share(&mut self, before_us: Option<u64>, elapsed_s: f64) -> Result<f64, Absence> {
        let after_us = self.total_us();
        let counter = Counter::WaitingTime;
        let waited_us = grown(counter, &self.path, before_us, after_us)?;
        share(waited_us, elapsed_s).ok_or_else(|| Absence::NoTimePassed { counter, of: self.path.clone() })
    }
}

/// At most 1: the kernel brings its sums up to date every 2 s and on reading, a little beyond our interval.
fn share(waited_us: u64, elapsed_s: f64) -> Option<f64> {
    (elapsed_s > 0.0).then(|| (waited_us as f64 / 1e6 / elapsed_s).min(1.0))
}

/// `total=` of the line `some`.
fn parse(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("total=")).and_then(|total| total.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn some_not_full() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=4549025\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=4215332\n";
        assert_eq!(parse(text), Some(4_549_025));
        assert_eq!(parse("full avg10=0.00 total=5"), None);
    }

    #[test]
    fn a_share_of_the_time_between_the_readings() {
        assert_eq!(share(150_000, 0.5), Some(0.3));
        assert_eq!(share(600_000, 0.5), Some(1.0));
        assert_eq!(share(1, 0.0), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = parse(&text);
        }
    }
}
