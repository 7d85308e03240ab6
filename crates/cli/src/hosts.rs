//! The hosts of a run, as rank 0 asks them to do something.
//!
//! A process has one set of hosts, which `iosonde-mpi` brings along (`follower.rs`); without it, a process is alone.
//! Simulated hosts belong to the session of a simulated device.

use std::{cell::RefCell, io, rc::Rc, sync::atomic::AtomicBool};

use iosonde_hosts::{Alone, Cluster, Coordinator, Deed, Lost, Opening, Refused};
use iosonde_model::RunHost;
use iosonde_rig::{
    drive::Limits,
    guard::StrayRecorder,
    interrupt,
    trial::{Bed, FinishedTrial, Order},
};

use crate::failure::{Failure, INTERRUPTED};

thread_local! {
    /// Those that this process leads.
    static LED: RefCell<Option<Hosts>> = const { RefCell::new(None) };
}

/// The hosts of a session; several sessions of a process have the same.
#[derive(Clone)]
pub struct Hosts {
    coordinator: Rc<RefCell<Box<dyn Coordinator>>>,
    stop: &'static AtomicBool,
    /// Whether a target is open on all of them: they have one each.
    open: Rc<RefCell<bool>>,
}

impl Hosts {
    /// Those of a coordinator.
    pub fn new(coordinator: Box<dyn Coordinator>) -> Self {
        let coordinator = Rc::new(RefCell::new(coordinator));
        Self { coordinator, stop: interrupt::catch(), open: Rc::default() }
    }

    /// Only this one.
    pub fn alone() -> Self {
        Self::new(Box::new(Alone))
    }

    /// Simulated ones.
    pub fn simulated(cluster: Cluster) -> Self {
        Self::new(Box::new(cluster))
    }

    /// Makes them those that this process leads.
    pub fn lead(&self) {
        LED.set(Some(self.clone()));
    }

    /// Those that this process leads, or only this one.
    pub fn of_process() -> Self {
        LED.with_borrow(|led| led.clone()).unwrap_or_else(Self::alone)
    }

    /// Number of hosts.
    pub fn count(&self) -> u32 {
        self.coordinator.borrow().count()
    }

    /// How the program is started on as many.
    pub fn program(&self) -> String {
        match self.count() {
            1 => "iosonde".to_owned(),
            count => format!("mpirun -n {count} --map-by node iosonde-mpi"),
        }
    }

    /// Runs a trial on all of them.
    pub fn run(
        &self,
        bed: &mut Bed,
        order: &Order,
        own: &[Limits],
        stop: &AtomicBool,
    ) -> io::Result<FinishedTrial> {
        self.coordinator.borrow_mut().run(bed, order, own, stop)
    }

    /// Lets the others do something between trials.
    pub fn share(&self, deed: Deed) -> io::Result<()> {
        self.coordinator.borrow_mut().share(&deed, self.stop)
    }

    /// Opens a target on the others, too; returns what each has there.
    ///
    /// # Errors
    /// Another target is open on them, or one of them refuses it.
    pub fn open(
        &self,
        opening: &Opening,
        own: RunHost,
        strays: &mut dyn StrayRecorder,
    ) -> Result<Vec<RunHost>, Failure> {
        if self.open.replace(true) {
            return Err(Failure::usage(
                "several targets in turn are measured by one host (iosonde run); give the hosts one target",
            ));
        }
        self.coordinator.borrow_mut().open(opening, own, strays, self.stop).map_err(failure_of)
    }

    /// The run has ended.
    pub fn end(&self, well: bool) {
        self.coordinator.borrow_mut().end(well);
    }
}

/// How a trial ends that one of the hosts ended.
pub fn failure_of(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::Interrupted {
        return Failure { code: INTERRUPTED, text: String::new() };
    }
    let inner = error.get_ref();
    let ends_anyway = |lost: &Lost| lost.after_s.is_none();
    if inner.and_then(|inner| inner.downcast_ref::<Lost>()).is_some_and(ends_anyway) {
        // mpirun ends all where one was killed, or its user pressed Ctrl-C.
        return Failure { code: INTERRUPTED, text: error.to_string() };
    }
    let usage = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Refused>())
        .is_some_and(|refused| refused.usage);
    if usage { Failure::usage(error) } else { Failure::failed(error) }
}
