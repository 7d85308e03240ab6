//! Ends that the jobs of a trial have from each other, before their own: one that ends takes others with it (fio's
//! `exitall`), or their throughput together has become steady (fio's `ss`).
//!
//! Where neither is requested, a loop has nothing to look at. Otherwise it looks at shared flags once a batch, and
//! hands its own count on once a second, under a lock: nothing that the storage could feel.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use iosonde_model::{LastSeconds, fio::steady_state::SteadyState};

use crate::issued::Issued;

const SECOND_NS: u64 = 1_000_000_000;

/// What ends a job before its own limits do.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Early {
    /// Number of the group that it belongs to.
    pub group: usize,
    /// Jobs that end when it ends.
    pub takes: Takes,
    /// A steady throughput of all jobs with this number.
    pub steady: Option<(SteadyState, usize)>,
}

/// Jobs that end when a job ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Takes {
    /// None.
    #[default]
    None,
    /// Those of its group.
    Group,
    /// All of the trial.
    All,
}

/// The early ends of a trial.
pub(crate) struct EarlyEnds {
    over: AtomicBool,
    groups: Vec<AtomicBool>,
    sets: Vec<Set>,
}

/// Jobs that end once their throughput together is steady.
struct Set {
    number: usize,
    rule: SteadyState,
    jobs: usize,
    streams: Vec<usize>,
    over: AtomicBool,
    seconds: Mutex<Vec<Second>>,
}

/// One second of a set: what those jobs did that have told so far.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    told: usize,
    iops: f64,
    bytes_per_s: f64,
}

impl EarlyEnds {
    /// Those of a trial's jobs, each with the index of its stream; `None` where each ends for itself.
    pub(crate) fn of(jobs: impl Iterator<Item = (usize, Early)> + Clone) -> Option<Self> {
        let mut sets: Vec<Set> = Vec::new();
        for (stream, early) in jobs.clone() {
            let Some((rule, number)) = early.steady else { continue };
            let at = sets.iter().position(|set| set.number == number).unwrap_or_else(|| {
                let (over, seconds) = (AtomicBool::new(false), Mutex::default());
                sets.push(Set { number, rule, jobs: 0, streams: Vec::new(), over, seconds });
                sets.len() - 1
            });
            sets[at].jobs += 1;
            if !sets[at].streams.contains(&stream) {
                sets[at].streams.push(stream);
            }
        }
        let wanted = !sets.is_empty() || jobs.clone().any(|(_, early)| early.takes != Takes::None);
        let groups = jobs.map(|(_, early)| early.group + 1).max().unwrap_or(0);
        let groups = || (0..groups).map(|_| AtomicBool::new(false)).collect();
        wanted.then(|| Self { over: AtomicBool::new(false), groups: groups(), sets })
    }

    /// The last seconds of each set of jobs.
    pub(crate) fn last_seconds(self) -> Vec<LastSeconds> {
        let last = |set: Set| {
            let seconds = set.seconds.into_inner().unwrap_or_else(PoisonError::into_inner);
            let whole: Vec<Second> = seconds.into_iter().take_while(|one| one.told == set.jobs).collect();
            let last = &whole[whole.len().saturating_sub(set.rule.window_s)..];
            LastSeconds {
                streams: set.streams,
                is_met: set.over.into_inner(),
                iops: last.iter().map(|second| second.iops).collect(),
                bytes_per_s: last.iter().map(|second| second.bytes_per_s).collect(),
            }
        };
        self.sets.into_iter().map(last).collect()
    }
}

impl Set {
    /// Adds what one job did from its `first` second on, the same in each, and looks whether the end is reached.
    #[cold]
    fn tell(&self, first: usize, count: usize, iops: f64, bytes_per_s: f64) {
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        if seconds.len() < first + count {
            seconds.resize(first + count, Second::default());
        }
        for second in &mut seconds[first..first + count] {
            second.told += 1;
            second.iops += iops;
            second.bytes_per_s += bytes_per_s;
        }
        let whole = seconds.iter().take_while(|second| second.told == self.jobs).count();
        // A second that others have yet to tell of ends nothing, and one that was looked at is not looked at again.
        if whole <= first {
            return;
        }
        let met = (first.max(self.rule.window_s.saturating_sub(1))..whole).any(|at| {
            let window = &seconds[(at + 1).saturating_sub(self.rule.window_s)..=at];
            let last = LastSeconds {
                iops: window.iter().map(|second| second.iops).collect(),
                bytes_per_s: window.iter().map(|second| second.bytes_per_s).collect(),
                ..LastSeconds::default()
            };
            self.rule.is_met(self.rule.seconds(&last))
        });
        if met {
            self.over.store(true, Ordering::Relaxed);
        }
    }
}

/// One job's part in the early ends of its trial.
#[derive(Default)]
pub(crate) struct OwnEnd<'a> {
    ends: Option<&'a EarlyEnds>,
    group: usize,
    takes: Takes,
    share: Option<Share<'a>>,
}

/// A job's share in the throughput of its set.
struct Share<'a> {
    set: &'a Set,
    /// Seconds that it has told of.
    told: usize,
    /// The end of the last one, and what had completed by then.
    from_ns: u64,
    before: Issued,
}

impl<'a> OwnEnd<'a> {
    pub(crate) fn of(ends: Option<&'a EarlyEnds>, early: Early) -> Self {
        let number = early.steady.map(|(_, number)| number);
        let set = ends.and_then(|ends| ends.sets.iter().find(|set| Some(set.number) == number));
        let share = set.map(|set| Share { set, told: 0, from_ns: u64::MAX, before: Issued::default() });
        Self { ends, group: early.group, takes: early.takes, share }
    }

    /// The first request is sent at this moment.
    pub(crate) fn begin(&mut self, first_ns: u64) {
        if let Some(share) = &mut self.share {
            share.from_ns = first_ns.saturating_add(share.set.rule.ramp_ns);
        }
    }

    /// Returns true if the job ends now for a reason outside it.
    #[inline]
    pub(crate) fn is_over(&mut self, now_ns: u64, issued: &Issued) -> bool {
        let Some(ends) = self.ends else { return false };
        if let Some(share) = &mut self.share {
            if now_ns.saturating_sub(share.from_ns) >= SECOND_NS {
                share.tell(now_ns, issued);
            } else if now_ns <= share.from_ns && share.told == 0 {
                share.before = *issued;
            }
            if share.set.over.load(Ordering::Relaxed) {
                return true;
            }
        }
        ends.over.load(Ordering::Relaxed) || ends.groups[self.group].load(Ordering::Relaxed)
    }

    /// The job ends.
    pub(crate) fn leave(&self) {
        match (self.ends, self.takes) {
            (Some(ends), Takes::All) => ends.over.store(true, Ordering::Relaxed),
            (Some(ends), Takes::Group) => ends.groups[self.group].store(true, Ordering::Relaxed),
            _ => {}
        }
    }
}

impl Share<'_> {
    #[cold]
    fn tell(&mut self, now_ns: u64, issued: &Issued) {
        // A job of which nothing was heard for several seconds was as fast in each.
        let length_ns = now_ns - self.from_ns;
        let count = (length_ns / SECOND_NS) as usize;
        let per_s = |now: u64, before: u64| (now - before) as f64 * SECOND_NS as f64 / length_ns as f64;
        let iops = per_s(issued.ios, self.before.ios);
        self.set.tell(self.told, count, iops, per_s(issued.bytes(), self.before.bytes()));
        (self.told, self.from_ns, self.before) = (self.told + count, now_ns, *issued);
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::fio::steady_state::{SteadyFigure, SteadyMeasure};

    use super::*;

    fn set(jobs: usize, limit: f64) -> Set {
        let rule = SteadyState {
            figure: SteadyFigure::Bandwidth,
            measure: SteadyMeasure::Deviation,
            limit,
            is_percent: true,
            window_s: 2,
            ramp_ns: SECOND_NS,
        };
        let (over, seconds) = (AtomicBool::new(false), Mutex::default());
        Set { number: 0, rule, jobs, streams: vec![0], over, seconds }
    }

    fn ends(groups: usize, sets: Vec<Set>) -> EarlyEnds {
        let groups = (0..groups).map(|_| AtomicBool::new(false)).collect();
        EarlyEnds { over: AtomicBool::new(false), groups, sets }
    }

    fn issued(ios: u64) -> Issued {
        Issued { ios, read_bytes: 4096 * ios, ..Issued::default() }
    }

    #[test]
    fn jobs_end_once_their_throughput_together_is_steady() {
        let ends = ends(1, vec![set(2, 5.0)]);
        let share = |ends| OwnEnd {
            ends: Some(ends),
            group: 0,
            takes: Takes::None,
            share: Some(Share { set: &ends.sets[0], told: 0, from_ns: 0, before: Issued::default() }),
        };
        let (mut one, mut two) = (share(&ends), share(&ends));
        one.begin(0);
        two.begin(0);
        // The first second is the ramp. Each of the two falls or rises; their sum is 300 a second from the second on.
        let at = |second: u64| second * SECOND_NS;
        for (second, first, other) in [(1, 500, 900), (2, 600, 1000), (3, 800, 1100)] {
            assert!(!one.is_over(at(second), &issued(first)), "{second}");
            assert!(!two.is_over(at(second), &issued(other)), "{second}");
        }
        assert!(!one.is_over(at(4), &issued(1050)));
        assert!(two.is_over(at(4), &issued(1150)) && one.is_over(at(4), &issued(1050)));
        let last = ends.last_seconds();
        assert!(last[0].is_met);
        assert_eq!(last[0].iops, [300.0, 300.0]);
        assert_eq!(last[0].bytes_per_s, [1_228_800.0; 2]);
    }

    #[test]
    fn several_silent_seconds_are_alike() {
        let set = set(1, 1.0);
        let mut share = Share { set: &set, told: 0, from_ns: 0, before: Issued::default() };
        share.tell(3 * SECOND_NS + SECOND_NS / 2, &issued(700));
        let told: Vec<f64> = set.seconds.lock().unwrap().iter().map(|second| second.iops).collect();
        assert_eq!(told, [200.0; 3]);
        assert!(set.over.load(Ordering::Relaxed));
    }

    #[test]
    fn one_that_ends_takes_others_with_it_where_it_is_asked_to() {
        for (takes, taken) in
            [(Takes::None, [false, false]), (Takes::Group, [true, false]), (Takes::All, [true, true])]
        {
            let ends = ends(2, Vec::new());
            let own = |group, takes| OwnEnd::of(Some(&ends), Early { group, takes, steady: None });
            own(0, takes).leave();
            let over = [0, 1].map(|group| own(group, Takes::None).is_over(1, &Issued::default()));
            assert_eq!(over, taken, "{takes:?}");
        }
    }
}
