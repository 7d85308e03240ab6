//! The conversation of several hosts, on threads: everything but MPI itself. Each host has a file of its own.

use std::{
    fs::File,
    io,
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use iosonde_hosts::{
    Cannot, Coordinator, Deed, Leader, Link, Lost, Opening, Refused, ThreadLink, Workplace, follow, links,
};
use iosonde_model::{Phase, RunHost, Rw, TrialSpec};
use iosonde_rig::{
    clock::monotonic_ns,
    drive::Limits,
    engine::Storage,
    guard::StrayRecorder,
    stall::StallWatch,
    trial::{Bed, Order},
};

const FILE_BYTES: u64 = 1 << 20;

/// Nothing is recorded.
struct NoStrays;

impl StrayRecorder for NoStrays {
    fn record(&mut self, _: &std::path::Path) -> io::Result<()> {
        Ok(())
    }

    fn forget(&mut self, _: &std::path::Path) -> io::Result<()> {
        Ok(())
    }
}

fn bed() -> Bed {
    let file = tempfile::tempfile().unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let watch = iosonde_rig::witness::Watch::open(&file, &device(&file), 0..FILE_BYTES);
    Bed::real(Storage::File(Arc::new(file)), watch)
}

fn device(file: &File) -> iosonde_model::Device {
    iosonde_rig::platform::describe(file, std::path::Path::new("/tmp"), iosonde_rig::guard::TargetKind::File)
}

/// A host with a file, or one that refuses.
struct Place {
    rank: u32,
    bed: Option<Bed>,
    refuses: bool,
    /// Never answers an order for a trial.
    mute: bool,
}

impl Workplace for Place {
    fn open(&mut self, _: &Opening, _: &mut dyn StrayRecorder) -> Result<RunHost, Cannot> {
        if self.refuses {
            return Err(Cannot { why: "the target is mounted here".into(), usage: true });
        }
        self.bed = Some(bed());
        Ok(RunHost { rank: self.rank, name: format!("node{}", self.rank), ..RunHost::default() })
    }

    fn bed(&mut self) -> Option<&mut Bed> {
        if self.mute {
            // As a host whose storage hangs.
            thread::park();
        }
        self.bed.as_mut()
    }

    fn share(&mut self, _: &Deed) -> Result<(), Cannot> {
        Ok(())
    }

    fn watch(&self, _: Phase) -> Option<StallWatch> {
        None
    }
}

static RUNS: AtomicBool = AtomicBool::new(false);

/// Rank 0 of so many hosts; the others follow on threads, each made by `place`.
fn led(count: u32, place: fn(u32) -> Place) -> Leader<ThreadLink> {
    let mut all = links(count);
    for mut link in all.drain(1..) {
        // The bed of a host is made, and stays, on its thread.
        thread::spawn(move || {
            let mut place = place(link.rank());
            follow(&mut link, &mut place, &RUNS)
        });
    }
    Leader::new(all.remove(0))
}

fn well(rank: u32) -> Place {
    Place { rank, bed: None, refuses: false, mute: false }
}

fn own() -> RunHost {
    RunHost { name: "node0".into(), ..RunHost::default() }
}

fn spec() -> TrialSpec {
    TrialSpec {
        rw: Rw::RandWrite,
        block_size_bytes: 4096,
        queue_depth: 1,
        span_bytes: FILE_BYTES,
        engine: "psync".into(),
        direct: false,
        ..TrialSpec::default()
    }
}

fn order(spec: &TrialSpec, ios: Option<u64>) -> Order<'_> {
    let limits = Limits { ios, ..Limits::time(100_000_000) };
    Order { spec, limits, phase: Phase::Measure, seed: 1 }
}

#[test]
fn three_hosts_measure_one_trial() {
    let mut leader = led(3, well);
    let hosts = leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    assert_eq!(hosts.iter().map(|host| &*host.name).collect::<Vec<_>>(), ["node0", "node1", "node2"]);
    let (mut bed, spec) = (bed(), spec().on_hosts(3));
    for _ in 0..3 {
        let trial = leader.run(&mut bed, &order(&spec, None), &[], &RUNS).unwrap().trial;
        assert_eq!(trial.spec.hosts, 3);
        assert_eq!(trial.hosts.iter().map(|host| host.rank).collect::<Vec<_>>(), [0, 1, 2]);
        let issued: u64 = trial.hosts.iter().map(|host| host.issued_write_bytes).sum();
        assert_eq!(issued, trial.witnesses.issued_write_bytes);
        let ios: u64 = trial.hosts.iter().map(|host| host.write.as_ref().unwrap().ios).sum();
        let write = trial.write.unwrap();
        assert_eq!((ios, write.histogram.total()), (write.ios, write.ios));
        let together = trial.witnesses.hosts.unwrap();
        assert!(together.overlap_share > 0.5, "{together:?}");
        assert!(
            trial.hosts.iter().all(|host| host.clock_offset_ns.unsigned_abs() <= host.round_trip_ns),
            "one clock"
        );
    }
    leader.share(&Deed::Settle, &RUNS).unwrap();
    leader.end(true);
}

/// Numbers of hosts in a mixed order, as rounds have them: a host that stood by measures in the next trial.
#[test]
fn hosts_that_a_trial_does_not_have_issue_nothing_and_come_back() {
    let mut leader = led(4, well);
    leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    let mut bed = bed();
    for hosts in [2, 4, 1, 3, 1, 4] {
        let spec = spec().on_hosts(hosts);
        let order = Order { limits: Limits::requests(250), ..order(&spec, None) };
        let trial = leader.run(&mut bed, &order, &[], &RUNS).unwrap().trial;
        assert_eq!(trial.spec.hosts, hosts);
        assert_eq!(trial.witnesses.issued_ios, 250 * u64::from(hosts));
        let ranks: Vec<u32> = trial.hosts.iter().map(|host| host.rank).collect();
        assert!(ranks.len() == hosts as usize && ranks[0] == 0 && ranks.is_sorted(), "{ranks:?}");
        assert_eq!(
            trial.witnesses.hosts.unwrap().hosts,
            hosts,
            "skew and overlap are of those that take part"
        );
    }
    leader.end(true);
}

#[test]
fn exact_counts_add_up() {
    let mut leader = led(4, well);
    leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    let (mut bed, spec) = (bed(), spec().on_hosts(4));
    let order = Order { limits: Limits::requests(250), ..order(&spec, None) };
    let trial = leader.run(&mut bed, &order, &[], &RUNS).unwrap().trial;
    assert_eq!(trial.witnesses.issued_ios, 1_000, "4 hosts of 250 requests");
    assert_eq!(trial.write.unwrap().bytes, 1_000 * 4096);
    leader.end(true);
}

#[test]
fn one_hosts_refusal_is_everybodys() {
    let mut leader = led(3, |rank| Place { refuses: rank == 2, ..well(rank) });
    let error = leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap_err();
    let refused = error.get_ref().and_then(|inner| inner.downcast_ref::<Refused>()).unwrap();
    assert_eq!((refused.rank, refused.usage, &*refused.why), (2, true, "the target is mounted here"));
    leader.end(true);
}

#[test]
fn a_trial_that_no_engine_makes_ends_and_keeps_nobody_waiting() {
    let mut leader = led(3, well);
    leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    let mut bed = bed();
    let unknown = TrialSpec { engine: "no-such-engine".into(), ..spec().on_hosts(2) };
    assert!(leader.run(&mut bed, &order(&unknown, None), &[], &RUNS).is_err());
    leader.end(true);
}

#[test]
fn a_silent_host_is_named_within_30_s() {
    let mut leader = led(3, |rank| Place { mute: rank == 1, ..well(rank) });
    leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    let (mut bed, spec) = (bed(), spec().on_hosts(3));
    let began_ns = monotonic_ns();
    let error = leader.run(&mut bed, &order(&spec, None), &[], &RUNS).unwrap_err();
    assert!(monotonic_ns() - began_ns < 30_000_000_000);
    let lost = error.get_ref().and_then(|inner| inner.downcast_ref::<Lost>()).unwrap();
    assert_eq!(lost.hosts, [(1, "node1".to_owned())]);
    assert_eq!(lost.after_s, Some(20));
    leader.end(false);
}

/// A link on which nothing comes through once a trial has begun, as where a process is stopped or a cable pulled: the
/// host's last word is that it is ready, and the last thing that it hears is when to begin.
struct Cut {
    link: ThreadLink,
    is_ready: bool,
    has_begun: bool,
}

impl Link for Cut {
    fn rank(&self) -> u32 {
        self.link.rank()
    }

    fn count(&self) -> u32 {
        self.link.count()
    }

    fn send(&mut self, to: u32, message: &[u8]) -> io::Result<()> {
        if self.is_ready {
            return Ok(());
        }
        self.is_ready = message.ends_with(b"Ready");
        self.link.send(to, message)
    }

    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        if self.has_begun {
            return Ok(None);
        }
        let received = self.link.receive()?;
        self.has_begun = self.is_ready && received.is_some();
        Ok(received)
    }

    fn close(&mut self, well: bool) {
        self.link.close(well);
    }
}

/// A trial may last for hours: both sides notice within it, and end it.
#[test]
fn a_host_that_falls_silent_within_a_trial_is_named_and_gives_up_by_itself() {
    let mut all = links(3);
    let mut gave_up = None;
    for link in all.drain(1..) {
        let cuts = link.rank() == 2;
        let thread = thread::spawn(move || {
            let mut place = well(link.rank());
            if cuts {
                follow(&mut Cut { link, is_ready: false, has_begun: false }, &mut place, &RUNS)
            } else {
                follow(&mut { link }, &mut place, &RUNS)
            }
        });
        gave_up = cuts.then_some(thread);
    }
    let mut leader = Leader::new(all.remove(0));
    leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    let (mut bed, spec) = (bed(), spec().on_hosts(3));
    let an_hour = Order { limits: Limits::time(3_600_000_000_000), ..order(&spec, None) };
    let began_ns = monotonic_ns();
    let error = leader.run(&mut bed, &an_hour, &[], &RUNS).unwrap_err();
    assert!(monotonic_ns() - began_ns < 30_000_000_000);
    let lost = error.get_ref().and_then(|inner| inner.downcast_ref::<Lost>()).unwrap();
    assert_eq!((&*lost.hosts, lost.after_s), (&[(2, "node2".to_owned())][..], Some(20)));
    let error = gave_up.unwrap().join().unwrap().unwrap_err();
    let lost = error.get_ref().and_then(|inner| inner.downcast_ref::<Lost>()).unwrap();
    assert_eq!(lost.hosts, [(0, String::new())]);
    leader.end(false);
}

#[test]
fn hosts_that_are_heard_from_end_a_trial_that_is_longer_than_the_patience_with_them() {
    let mut leader = led(3, well);
    leader.open(&Opening::default(), own(), &mut NoStrays, &RUNS).unwrap();
    // One of them stands by.
    let (mut bed, spec) = (bed(), spec().on_hosts(2));
    let long = Order { limits: Limits::time(26_000_000_000), ..order(&spec, None) };
    let trial = leader.run(&mut bed, &long, &[], &RUNS).unwrap().trial;
    assert_eq!(trial.hosts.len(), 2);
    leader.end(true);
}
