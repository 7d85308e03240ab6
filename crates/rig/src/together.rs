//! One measured stretch for all jobs of a trial.
//!
//! A job's warm-up ends at a completion of its own. If each then counted for itself, a log writer whose first flush
//! waits for a buffer would be measured beside readers that have already stopped, and the trial's rate and its latency
//! would be those of different requests. So every job counts from its first completion after the last one's warm-up,
//! and goes on until the last one has measured its time; what comes back later was served alone, and does not count.
//! That costs one look at a shared number a batch, in the warm-up and at the end, and nothing between.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers of jobs of a trial that have not finished warm-up and measurement.
pub(crate) struct Together {
    warming: AtomicUsize,
    measuring: AtomicUsize,
}

impl Together {
    /// For so many jobs.
    pub(crate) fn new(jobs: usize) -> Self {
        Self { warming: AtomicUsize::new(jobs), measuring: AtomicUsize::new(jobs) }
    }
}

/// One job's part in it. Jobs that exit early, even on error, are not waited for.
#[derive(Default)]
pub(crate) struct Attendance<'a> {
    /// `None` for a job that is alone, or that ends by its own count.
    together: Option<&'a Together>,
    warm: bool,
    finished: bool,
}

impl<'a> Attendance<'a> {
    pub(crate) fn of(together: Option<&'a Together>) -> Self {
        Self { together, warm: false, finished: false }
    }

    /// This job's warm-up is over; whether everyone's is.
    pub(crate) fn is_warm(&mut self) -> bool {
        let Some(together) = self.together else { return true };
        if !std::mem::replace(&mut self.warm, true) {
            together.warming.fetch_sub(1, Ordering::AcqRel);
        }
        together.warming.load(Ordering::Acquire) == 0
    }

    /// This job has measured its time; whether everyone has.
    pub(crate) fn has_finished(&mut self) -> bool {
        let Some(together) = self.together else { return true };
        if !std::mem::replace(&mut self.finished, true) {
            together.measuring.fetch_sub(1, Ordering::AcqRel);
        }
        together.measuring.load(Ordering::Acquire) == 0
    }

    /// Returns true if everyone had measured its time when this job went on for the others.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.finished && self.together.is_some_and(|together| together.measuring.load(Ordering::Acquire) == 0)
    }

    /// This job ends, however far it is.
    pub(crate) fn leave(&mut self) {
        self.is_warm();
        self.has_finished();
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_waited_for_twice_or_after_it_has_left() {
        let together = Together::new(2);
        let (mut one, two) = (Attendance::of(Some(&together)), Attendance::of(Some(&together)));
        assert!(!one.is_warm() && !one.is_warm());
        drop(two);
        assert!(one.is_warm() && !one.is_over());
        assert!(one.has_finished() && one.is_over());
        assert!(Attendance::default().is_warm());
    }
}
