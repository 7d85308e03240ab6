//! The hosts of a run: rank 0's side of a session, and what the other hosts do for it.
//!
//! A process has one set of hosts, which `iosonde-mpi` brings along (`run_on_hosts`); without it, a process is alone.
//! Simulated hosts belong to the session of a simulated device.

use std::{cell::RefCell, io, path::Path, process::ExitCode, rc::Rc, sync::atomic::AtomicBool};

use iosonde_hosts::{
    Alone, Cannot, Cluster, Coordinator, Deed, Leader, Link, Opening, Refused, Workplace, follow,
};
use iosonde_model::{Medium, Phase, RunHost};
use iosonde_rig::{
    confine,
    drive::Limits,
    guard::{StrayRecorder, Writes},
    interrupt, platform, prepare,
    stall::{STALLED_AFTER, StallWatch},
    trial::{Bed, FinishedTrial, Order},
};

use crate::{
    failure::{Failure, INTERRUPTED},
    measure::{power, stall},
    options::Options,
    session::{self, Asked, Session},
};

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
    fn new(coordinator: Box<dyn Coordinator>) -> Self {
        let coordinator = Rc::new(RefCell::new(coordinator));
        Self { coordinator, stop: interrupt::catch(), open: Rc::default() }
    }

    /// This one alone.
    pub fn alone() -> Self {
        Self::new(Box::new(Alone))
    }

    /// Simulated ones.
    pub fn simulated(cluster: Cluster) -> Self {
        Self::new(Box::new(cluster))
    }

    /// Those that this process leads, or this one alone.
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

    /// Opens the target of a session on the others, too.
    pub fn join(
        &self,
        session: &mut Session,
        (text, options, asked): (&str, &Options, Asked),
        strays: &mut dyn StrayRecorder,
    ) -> Result<(), Failure> {
        let count = self.count();
        if count == 1 {
            return Ok(());
        }
        if self.open.replace(true) {
            return Err(Failure::usage(
                "several targets in turn are measured by one host (iosonde run); give the hosts one target",
            ));
        }
        let opening = Opening {
            version: VERSION.to_owned(),
            target: text.to_owned(),
            options: serde_json::to_value(options).map_err(Failure::failed)?,
            asked: serde_json::to_value((
                asked.command,
                asked.writes != Writes::None,
                asked.writes == Writes::Needed,
            ))
            .map_err(Failure::failed)?,
        };
        let own = about(0, session);
        let opened = self.coordinator.borrow_mut().open(&opening, own, strays, self.stop);
        let members = opened.map_err(failure_of)?;
        refuse_unlike(&members, text)?;
        // They may share one file system, so that each may take its part of what is free.
        let least_bytes = members.iter().map(|host| host.room_bytes).min().unwrap_or(0);
        let own_files = session.admitted.as_ref().is_some_and(|admitted| admitted.own.is_some());
        session.room_bytes = if own_files { least_bytes / u64::from(count) } else { least_bytes };
        let device = &mut session.device;
        device.working_set_bytes = device.working_set_bytes.min(session.room_bytes);
        device.hosts = Some(count);
        session.members = members;
        Ok(())
    }

    fn end(&self, well: bool) {
        self.coordinator.borrow_mut().end(well);
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How a trial ends that one of the hosts ended.
pub fn failure_of(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::Interrupted {
        return Failure { code: INTERRUPTED, text: String::new() };
    }
    let usage = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Refused>())
        .is_some_and(|refused| refused.usage);
    if usage { Failure::usage(error) } else { Failure::failed(error) }
}

/// This host with its open target.
fn about(rank: u32, session: &Session) -> RunHost {
    let simulated = session.device.medium == Medium::Simulated;
    RunHost {
        rank,
        name: session.host.name.clone().unwrap_or_default(),
        kernel: session.host.kernel.clone(),
        file_system: session.device.file_system.clone(),
        device: session.device.name.clone(),
        boot: if simulated { None } else { platform::boot() },
        room_bytes: session.room_bytes,
    }
}

/// The same path must be the same kind of storage on all hosts.
fn refuse_unlike(members: &[RunHost], target: &str) -> Result<(), Failure> {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    let name =
        |host: &RunHost| host.file_system.clone().unwrap_or_else(|| "a device without a file system".into());
    match others.iter().find(|other| other.file_system != first.file_system) {
        None => Ok(()),
        Some(other) => Err(Failure::usage(format!(
            "{target} is on {} on host 0 ({}), and on {} on host {} ({}): these are different storage. Mount the same \
             one on all hosts, or leave a host out",
            name(first),
            first.name,
            name(other),
            other.rank,
            other.name
        ))),
    }
}

/// Runs the program on several hosts: rank 0 reads the command line and leads, the others follow it.
pub fn run_on_hosts<L: Link + 'static>(link: L) -> ExitCode {
    if link.rank() > 0 {
        return followed(link);
    }
    let hosts = Hosts::new(Box::new(Leader::new(link)));
    LED.set(Some(hosts.clone()));
    let several = hosts.count() > 1;
    let code = crate::run_after(|cli| if several { crate::refuse_on_hosts(cli) } else { Ok(()) });
    // Bad usage touched nothing, and a verdict is no accident: all are there to say good-bye.
    let well = code != crate::failure::FAILED && code != INTERRUPTED;
    hosts.end(well);
    crate::leave(code)
}

fn followed<L: Link>(mut link: L) -> ExitCode {
    let mut place = Place { rank: link.rank(), session: None };
    let ended = follow(&mut link, &mut place, interrupt::catch());
    // Its file goes before rank 0 does.
    drop(place.session.take());
    let well = ended.unwrap_or_else(|error| {
        crate::screen::Screen::complain(&format!("host {}: {error}", place.rank));
        false
    });
    link.close(well);
    crate::leave(if well { 0 } else { crate::failure::FAILED })
}

/// A host that follows, with its target.
struct Place {
    rank: u32,
    session: Option<Session>,
}

fn cannot(failure: Failure) -> Cannot {
    Cannot { usage: failure.code == crate::failure::USAGE, why: failure.text }
}

impl Place {
    fn opened(&mut self, opening: &Opening, strays: &mut dyn StrayRecorder) -> Result<RunHost, Failure> {
        if opening.version != VERSION {
            return Err(Failure::usage(format!(
                "it runs iosonde {VERSION}, and host 0 runs {}; install one version on all hosts",
                opening.version
            )));
        }
        let options: Options = serde_json::from_value(opening.options.clone()).map_err(Failure::failed)?;
        let asked: (String, bool, bool) =
            serde_json::from_value(opening.asked.clone()).map_err(Failure::failed)?;
        let writes = match asked {
            (_, false, _) => Writes::None,
            (_, true, false) => Writes::Optional,
            (_, true, true) => Writes::Needed,
        };
        let asked = Asked { command: &asked.0, writes, apart: &[] };
        let session = session::open_here(&opening.target, &options, asked, strays)?;
        let host = about(self.rank, &session);
        // The same least power as on rank 0.
        // It has no notebook; MPI removes its shared memory when it ends.
        let places = power::places(Path::new("/dev/shm/iosonde"), std::iter::once(&session));
        confine::confine(&places);
        self.session = Some(session);
        Ok(host)
    }
}

impl Workplace for Place {
    fn open(&mut self, opening: &Opening, strays: &mut dyn StrayRecorder) -> Result<RunHost, Cannot> {
        self.opened(opening, strays).map_err(cannot)
    }

    fn bed(&mut self) -> Option<&mut Bed> {
        self.session.as_mut().map(|session| &mut session.bed)
    }

    fn share(&mut self, deed: &Deed) -> Result<(), Cannot> {
        let Some(session) = &mut self.session else { return Ok(()) };
        match *deed {
            Deed::Settle => prepare::settle(&session.bed.storage)
                .map_err(|error| Failure::failed(format!("what was written could not be flushed: {error}"))),
            Deed::PageCache(buffered) => session.go_through_page_cache(buffered),
            Deed::Address(bytes) => {
                session.address(bytes);
                Ok(())
            }
        }
        .map_err(cannot)
    }

    fn watch(&self, phase: Phase) -> Option<StallWatch> {
        let session = self.session.as_ref()?;
        if session.device.medium == Medium::Simulated {
            return None;
        }
        let after = if phase == Phase::Prepare { stall::STALLED_FILLING_AFTER } else { STALLED_AFTER };
        let target = session.admitted.as_ref().map(|admitted| admitted.path.display().to_string());
        Some(stall::watch(
            after,
            format!("host {}: {}", self.rank, target.unwrap_or_default()),
            String::new(),
        ))
    }
}
