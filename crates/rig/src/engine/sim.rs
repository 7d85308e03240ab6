//! A simulated device behind the same measured loop as a real one, on a virtual clock.
//!
//! Good for: learning, rehearsing a study in a second before it is run for an hour, and proving checks and findings
//! on a device whose truth is set. Time passes only where the device says that something happens, so a minute of
//! simulated storage takes a second or less. Cannot: measure anything real.

use std::{cell::RefCell, io, rc::Rc};

use iosonde_model::Named;
use iosonde_sim::{Ask, Device, Done};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
};
use crate::clock::{Clock, VirtualClock};

/// A simulated device and its clock; its inside lives on from trial to trial, like a real device's.
#[derive(Clone)]
pub struct SharedDevice {
    pub(crate) device: Rc<RefCell<Device>>,
    pub(crate) clock: VirtualClock,
    /// Completions that another job's reap took out of the device, by job.
    mail: Rc<RefCell<Vec<Vec<Completion>>>>,
}

impl SharedDevice {
    /// A device at the beginning of its time.
    pub fn new(device: Device) -> Self {
        Self { device: Rc::new(RefCell::new(device)), clock: VirtualClock::default(), mail: Rc::default() }
    }
}

impl std::fmt::Debug for SharedDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedDevice at {} ns", self.clock.now_ns())
    }
}

/// The registered engine.
pub struct Sim;

impl Named for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }
}

impl EngineKind for Sim {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::Simulated(_) => Ok(Abilities {
                blocking: false,
                depth_max: 65_536,
                depth_why: "no storage takes more, and each costs memory",
            }),
            Storage::File(_) => Err(Unavailable(
                "the sim engine drives simulated devices; write the target as sim:NAME".into(),
            )),
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::Simulated(shared) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let mut mail = shared.mail.borrow_mut();
        let jobs = mail.len().max(bench.job as usize + 1);
        mail.resize_with(jobs, Vec::new);
        mail[bench.job as usize].clear();
        let (shared, job) = (shared.clone(), bench.job as usize);
        let engine = Box::new(Loop { shared: shared.clone(), direct: bench.direct, job, done: Vec::new() });
        Ok(Opened { engine, clock: Clock::Virtual(shared.clock.clone()), notes: Vec::new() })
    }
}

struct Loop {
    shared: SharedDevice,
    direct: bool,
    job: usize,
    done: Vec<Done>,
}

impl Engine for Loop {
    fn submit(&mut self, now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let mut device = self.shared.device.borrow_mut();
        for request in requests {
            let &Request { slot, op, length_bytes, offset_bytes } = request;
            device.submit(
                now_ns,
                Ask {
                    tag: (self.job as u64) << 32 | u64::from(slot),
                    op,
                    offset_bytes,
                    length_bytes,
                    direct: self.direct,
                },
            );
        }
        Ok(requests.len())
    }

    fn reap(&mut self, _wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        self.done.clear();
        self.shared.device.borrow_mut().reap(self.shared.clock.now_ns(), &mut self.done);
        let mut mail = self.shared.mail.borrow_mut();
        for Done { tag, result, .. } in &self.done {
            mail[(tag >> 32) as usize].push(Completion { slot: *tag as u32, result: *result });
        }
        done.append(&mut mail[self.job]);
        Ok(())
    }

    fn next_event_ns(&self) -> Option<u64> {
        if !self.shared.mail.borrow()[self.job].is_empty() {
            return Some(self.shared.clock.now_ns());
        }
        self.shared.device.borrow().next_event_ns()
    }
}
