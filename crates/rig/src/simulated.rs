//! A simulated device as the target of a measurement: shared by all jobs, kept from trial to trial.

mod contents;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use iosonde_model::Injected;
use iosonde_sim::{Device, Done};

use crate::clock::VirtualClock;
pub(crate) use contents::Contents;

/// A simulated device and its clock; its inside lives on from trial to trial, like a real device's.
#[derive(Clone)]
pub struct SharedDevice {
    pub(crate) device: Rc<RefCell<Device>>,
    pub(crate) clock: VirtualClock,
    /// Completions that another job's reap took out of the device, by job.
    pub(crate) mail: Rc<RefCell<Vec<Vec<Done>>>>,
    /// Counts trials: what comes back later than its trial's end belongs to nobody any more.
    pub(crate) epoch: Rc<Cell<u64>>,
    pub(crate) contents: Rc<RefCell<Contents>>,
    /// Files that its programs have created.
    pub(crate) files_made: Rc<Cell<u64>>,
}

impl SharedDevice {
    /// A device at the beginning of its time.
    pub fn new(device: Device) -> Self {
        let contents = Contents::new(device.serves_old_versions(), device.fake_capacity());
        Self {
            device: Rc::new(RefCell::new(device)),
            clock: VirtualClock::default(),
            mail: Rc::default(),
            epoch: Rc::default(),
            contents: Rc::new(RefCell::new(contents)),
            files_made: Rc::default(),
        }
    }

    /// Lets the device work up to the next completion, unless one has not been handed out yet.
    pub(crate) fn work_until_completion(&self, until_ns: u64) {
        if self.mail.borrow().iter().all(Vec::is_empty) {
            self.device.borrow_mut().work_until_completion(until_ns);
        }
    }

    /// Hands out what is complete now; the jobs that have something to take, each once or more.
    pub(crate) fn deliver(&self, jobs: &mut Vec<usize>) {
        let mut done = Vec::new();
        self.device.borrow_mut().reap(self.clock.now_ns(), &mut done);
        self.post(&done, jobs);
    }

    /// The device's next moment.
    pub(crate) fn next_event_ns(&self) -> Option<u64> {
        self.device.borrow().next_event_ns()
    }

    /// Silent faults that the device has injected since it was made.
    pub(crate) fn injected(&self) -> Injected {
        let counters = self.device.borrow().counters();
        Injected {
            lost: counters.lost_writes,
            torn: counters.torn_writes,
            misplaced: counters.misplaced_writes,
            stale: counters.stale_reads,
        }
    }
}

impl std::fmt::Debug for SharedDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedDevice at {} ns", self.clock.now_ns())
    }
}
