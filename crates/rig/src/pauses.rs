//! When a job sends nothing although its queue has room: before a later start, and in pauses between its requests.
//!
//! A pause begins once nothing is outstanding, as in a program that has read its input and now works on it. The moment
//! that ends it is computed once; the loop looks at it where it would send, and allocates nothing.

use iosonde_model::{Think, TrialSpec};

/// The pauses of one job.
#[derive(Debug)]
pub(crate) struct Pauses {
    think: Option<Think>,
    /// Requests sent since the last pause.
    sent: u64,
    /// End of the last pause.
    resumed_ns: u64,
    /// The processor is kept busy up to here.
    spin_to_ns: u64,
    /// Nothing is sent before.
    until_ns: u64,
}

impl Pauses {
    /// Those of a workload; `None` where there are none.
    pub(crate) fn of(spec: &TrialSpec) -> Option<Self> {
        (spec.think.is_some() || spec.delay_ns > 0).then_some(Self {
            think: spec.think,
            sent: 0,
            resumed_ns: 0,
            spin_to_ns: 0,
            until_ns: 0,
        })
    }

    /// Nothing is sent before a moment.
    pub(crate) fn begin(&mut self, at_ns: u64) {
        (self.until_ns, self.resumed_ns) = (at_ns, at_ns);
    }

    /// Returns true if nothing may be sent at a moment.
    #[inline]
    pub(crate) fn hold(&self, now_ns: u64) -> bool {
        now_ns < self.until_ns || self.is_due(now_ns)
    }

    /// Returns true if a pause begins when nothing is outstanding.
    #[inline]
    fn is_due(&self, now_ns: u64) -> bool {
        self.think.is_some_and(|think| {
            let worked = think.time_ns.is_some_and(|ns| now_ns.saturating_sub(self.resumed_ns) >= ns);
            // At least one request lies between two pauses.
            self.sent > 0 && (worked || think.requests.is_some_and(|requests| self.sent >= requests))
        })
    }

    /// A request was sent.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.sent += 1;
    }

    /// Begins the pause that is due; returns its end. Nothing is outstanding.
    pub(crate) fn pause(&mut self, now_ns: u64) -> Option<u64> {
        let think = self.think.filter(|_| now_ns >= self.until_ns && self.is_due(now_ns))?;
        self.sent = 0;
        self.spin_to_ns = now_ns + think.spin_ns.min(think.pause_ns);
        self.until_ns = now_ns.saturating_add(think.pause_ns);
        self.resumed_ns = self.until_ns;
        Some(self.until_ns)
    }

    /// End of the pause that is under way at a moment.
    #[inline]
    pub(crate) fn until_ns(&self, now_ns: u64) -> Option<u64> {
        (now_ns < self.until_ns).then_some(self.until_ns)
    }

    /// Returns true if the pause under way keeps the processor busy.
    #[inline]
    pub(crate) fn spins(&self, now_ns: u64) -> bool {
        now_ns < self.spin_to_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(requests: Option<u64>, time_ns: Option<u64>) -> Pauses {
        let think = Some(Think { pause_ns: 100, spin_ns: 30, requests, time_ns });
        let mut pauses = Pauses::of(&TrialSpec { think, ..TrialSpec::default() }).unwrap();
        pauses.begin(0);
        pauses
    }

    #[test]
    fn a_workload_without_pauses_has_none() {
        assert!(Pauses::of(&TrialSpec::default()).is_none());
        let mut late = Pauses::of(&TrialSpec { delay_ns: 5, ..TrialSpec::default() }).unwrap();
        late.begin(5);
        assert!(late.hold(4) && !late.hold(5) && late.pause(9).is_none());
    }

    #[test]
    fn so_many_requests_lie_between_two() {
        let mut pauses = pauses(Some(2), None);
        for begun_ns in [0, 150] {
            assert!(!pauses.hold(begun_ns));
            pauses.sent();
            assert!(!pauses.hold(begun_ns) && pauses.pause(begun_ns).is_none());
            pauses.sent();
            assert!(pauses.hold(begun_ns));
            assert_eq!(pauses.pause(begun_ns + 50), Some(begun_ns + 150));
            assert!(pauses.spins(begun_ns + 79) && !pauses.spins(begun_ns + 80));
            assert_eq!(pauses.until_ns(begun_ns + 60), Some(begun_ns + 150));
            // A pause that is under way is not begun again.
            assert!(pauses.pause(begun_ns + 60).is_none() && pauses.hold(begun_ns + 149));
        }
    }

    #[test]
    fn so_much_time_lies_between_two_and_at_least_a_request() {
        let mut pauses = pauses(None, Some(40));
        assert!(!pauses.hold(90));
        pauses.sent();
        assert!(!pauses.hold(39) && pauses.hold(40));
        assert_eq!(pauses.pause(40), Some(140));
        assert!(!pauses.hold(140));
    }
}
