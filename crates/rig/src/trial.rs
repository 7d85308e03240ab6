//! Execution of one trial: workers open their engines, witnesses are read, the loops run, witnesses are read again.

use std::{
    fs::File,
    io,
    num::NonZero,
    ops::Range,
    sync::{Arc, LazyLock, atomic::AtomicBool},
};

use iosonde_model::{
    Files, Histogram, Injected, LoopNote, Op, Phase, RequestError, StridePass, Trial, TrialSpec, Witnesses,
};

use crate::{
    beside::Beside,
    clock::Clock,
    crew::{self, Around, Job, Shift, Worked},
    drive::Limits,
    early_end::EarlyEnds,
    engine::Storage,
    issued::Issued,
    merge::{Over, Team},
    placement::{self, Place, Placement},
    platform::files,
    prepare,
    rendezvous::Rendezvous,
    verify::{Unfit, VerifyPlan},
    witness::Watch,
};

/// Trial to run.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// The workload; its engine is open to this storage.
    pub spec: &'a TrialSpec,
    /// Duration and warm-up.
    pub limits: Limits,
    /// Purpose of the trial. Preparation goes through the span from its start.
    pub phase: Phase,
    /// Seed of the random number generator.
    pub seed: u64,
}

/// Storage between trials, ready for the next.
#[derive(Debug)]
pub struct Bed {
    /// Storage to measure.
    pub storage: Storage,
    /// Witnesses; `None` on a simulated device, which is its own witness.
    pub watch: Option<Watch>,
    /// The run's clock: virtual on a simulated device.
    pub clock: Clock,
    /// Folder of the target, where files can be made in it.
    pub folder: Option<File>,
    /// Place of this host among those of the run, and its other files.
    pub place: Place,
}

/// Completed trial (the caller fills in id, round, point and experiment) and notes for the reader.
#[derive(Debug)]
pub struct FinishedTrial {
    /// The trial.
    pub trial: Trial,
    /// Notes from the engine, in sentences.
    pub notes: Vec<LoopNote>,
    /// Moments of the first request and of the end, on the monotonic clock of the machine, in nanoseconds.
    pub active_ns: (u64, u64),
}

impl Bed {
    /// A file or block device with its witnesses.
    pub fn real(storage: Storage, watch: Watch) -> Self {
        Self { storage, watch: Some(watch), clock: Clock::real(), folder: None, place: Place::default() }
    }

    /// A simulated device.
    pub fn simulated(shared: crate::engine::SharedDevice) -> Self {
        let clock = Clock::Virtual(shared.clock.clone());
        Self {
            storage: Storage::Simulated(shared),
            watch: None,
            clock,
            folder: None,
            place: Place::default(),
        }
    }

    /// Tells the kernel in which order the file is read with buffered I/O: at random (`Some(true)`), from its
    /// start to its end, or nothing. A file system that takes no advice reads as it does.
    pub fn advise(&self, random: Option<bool>) {
        self.files().for_each(|file| files::advise(file, random));
    }

    /// The files that are measured; none on a simulated device.
    pub fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        let first = match &self.storage {
            Storage::File(file) => Some(file),
            Storage::Simulated(_) => None,
        };
        first.into_iter().chain(&self.place.more).chain(&self.place.next)
    }

    /// Waits until everything written is on the storage, metadata included: a file's blocks are "unwritten" to ext4 and
    /// xfs until then, and reading those moves no byte.
    pub fn settle(&self) -> io::Result<()> {
        // What another host wrote is for that one to flush; this one may not even write there.
        let others = &self.place.next;
        let mine = |file: &&Arc<File>| !others.iter().any(|other| Arc::ptr_eq(other, file));
        self.files().filter(mine).try_for_each(|file| file.sync_all())
    }

    /// Empties the page cache of all files; a simulated device keeps its own.
    pub fn drop_pages(&self) {
        for file in self.files() {
            let length_bytes = file.metadata().map_or(0, |metadata| metadata.len());
            prepare::drop_pages(file, 0..length_bytes);
        }
    }

    /// Runs one trial. Fails only where the machine refuses (engine not to be opened, memory not to be had), or with an
    /// `Unfit` where the workload cannot be verified; requests that fail are counted
    /// in the trial.
    pub fn run(&mut self, order: &Order, stop: &AtomicBool) -> io::Result<FinishedTrial> {
        self.run_each(order, &[], stop)
    }

    /// Runs one trial whose streams have limits of their own; without any, all have the order's.
    pub fn run_each(
        &mut self,
        order: &Order,
        own: &[Limits],
        stop: &AtomicBool,
    ) -> io::Result<FinishedTrial> {
        self.run_beside(order, own, stop, None)
    }

    /// Runs this host's part of a trial, which begins and ends where the others do.
    pub fn run_beside(
        &mut self,
        order: &Order,
        own: &[Limits],
        stop: &AtomicBool,
        others: Option<&mut dyn Rendezvous>,
    ) -> io::Result<FinishedTrial> {
        let Self { storage, watch, clock, folder, place } = self;
        if let Some(why) = placement::problem(order.spec, &place.placement) {
            return Err(Unfit(why).into());
        }
        let plan = VerifyPlan::new(storage, order.spec, order.seed, clock)?;
        let (limits, cut) = limits(storage, order, own)?;
        let jobs = crew::jobs(order.spec, &limits, (order.phase, order.seed), place)?;
        let early = EarlyEnds::of(jobs.iter().map(|job| (job.stream, job.limits.early)));
        let (early_ends, folder) = (early.as_ref(), folder.as_ref());
        let shift = Shift { phase: order.phase, stop, plan: &plan, folder, early: early_ends };
        let beside = Beside::of(&jobs, place.addressed.clone());
        let mut seen = Seen::new(storage, watch, clock, (order.spec, place.placement), others);
        seen.beside = beside;
        seen.is_long = limits.iter().any(|limits| limits.duration_ns > LOOKED_ON_FROM_NS);
        let before = injected(storage);
        let worked = crew::work(storage, &jobs, shift, &mut seen)?;
        let Seen { started_at, started_s, witnesses, simulated_busy_s, parted, .. } = seen;
        parted?;
        let over = Over::of_streams(order.spec, &limits);
        let mut finished = finished((order, over), worked, witnesses, simulated_busy_s);
        if cut {
            finished.notes.insert(0, LoopNote::TrimsEndAfterOnePass);
        }
        let trial = &mut finished.trial;
        (trial.started_at, trial.started_s) = (started_at, started_s);
        trial.last_seconds = early.map_or_else(Vec::new, EarlyEnds::last_seconds);
        trial.witnesses.injected = injected(storage).zip(before).map(|(after, before)| Injected {
            lost: after.lost - before.lost,
            torn: after.torn - before.torn,
            misplaced: after.misplaced - before.misplaced,
            stale: after.stale - before.stale,
        });
        trial.witnesses.injected.take_if(|injected| *injected == Injected::default());
        Ok(finished)
    }

    /// Runs the parts of several hosts on one simulated device, in its time: an order for each host, and when it does
    /// not run, in order. What was seen around all of them is with the first.
    pub fn run_hosts(
        &mut self,
        orders: &[(Order, Arc<[Range<u64>]>)],
        stop: &AtomicBool,
    ) -> io::Result<Vec<FinishedTrial>> {
        let Self { storage, watch, clock, folder, place } = self;
        let Some((first, _)) = orders.first() else { return Ok(Vec::new()) };
        if let Some(why) = placement::problem(first.spec, &place.placement) {
            return Err(Unfit(why).into());
        }
        let plan = VerifyPlan::new(storage, first.spec, first.seed, clock)?;
        let mut jobs = Vec::new();
        for (host, (order, halts)) in orders.iter().enumerate() {
            let (limits, _) = limits(storage, order, &[])?;
            let placement = Placement { rank: host as u32, ..place.placement };
            let place = Place { placement, ..Place::default() };
            let own = crew::jobs(order.spec, &limits, (order.phase, order.seed), &place)?;
            jobs.extend(own.into_iter().map(|job| Job { host, halts: Arc::clone(halts), ..job }));
        }
        let shift = Shift { phase: first.phase, stop, plan: &plan, folder: folder.as_ref(), early: None };
        let mut seen = Seen::new(storage, watch, clock, (first.spec, place.placement), None);
        let worked = crew::work(storage, &jobs, shift, &mut seen)?;
        let Seen { started_at, started_s, mut witnesses, simulated_busy_s, .. } = seen;
        let mut worked = worked.into_iter();
        let of_host = |(host, (order, _)): (usize, &(Order, _))| {
            let own = jobs.iter().filter(|job| job.host == host).count();
            // The device's counters are of all hosts.
            let beside = Witnesses {
                resident_before_bytes: Some(0),
                resident_after_bytes: Some(0),
                unmapped_bytes: Some(0),
                ..quiet_machine()
            };
            let seen = std::mem::replace(&mut witnesses, beside);
            let mut finished = finished(
                (order, Over::of(order.spec.streams())),
                worked.by_ref().take(own).collect(),
                seen,
                simulated_busy_s,
            );
            (finished.trial.started_at, finished.trial.started_s) = (started_at.clone(), started_s);
            finished
        };
        Ok(orders.iter().enumerate().map(of_host).collect())
    }
}

/// The limits of each stream, and whether one ends earlier than it was told.
fn limits(storage: &Storage, order: &Order, own: &[Limits]) -> io::Result<(Vec<Limits>, bool)> {
    let asked = (0..order.spec.streams().count()).map(|at| own.get(at).copied().unwrap_or(order.limits));
    let within = |limits| within_room(storage, order.spec, within_one_pass(order.spec, limits));
    let limits = asked.clone().map(within).collect::<io::Result<Vec<Limits>>>()?;
    let cut =
        order.spec.has(Op::Trim) && limits.iter().zip(asked).any(|(limits, asked)| limits.ios != asked.ios);
    Ok((limits, cut))
}

/// What one host's workers did.
fn finished(
    (order, over): (&Order, Over),
    worked: Vec<Worked>,
    witnesses: Witnesses,
    simulated_busy_s: Option<f64>,
) -> FinishedTrial {
    let mut notes: Vec<LoopNote> = Vec::new();
    for note in worked.iter().flat_map(|worker| &worker.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let from_ns = worked.iter().map(|worker| worker.active_ns.0).min().unwrap_or(0);
    let to_ns = worked.iter().map(|worker| worker.active_ns.1).max().unwrap_or(0);
    let trial = assemble((order, over), worked, witnesses, simulated_busy_s);
    FinishedTrial { trial, notes, active_ns: (from_ns, to_ns) }
}

/// Silent faults that a simulated device has injected so far, those during read-back included; `None` for real storage.
fn injected(storage: &Storage) -> Option<Injected> {
    match storage {
        Storage::Simulated(shared) => Some(shared.injected()),
        Storage::File(_) => None,
    }
}

/// A trial of trims ends after one pass at the latest.
fn within_one_pass(spec: &TrialSpec, limits: Limits) -> Limits {
    // Streams of other requests beside them go on for their time.
    if !spec.streams().all(|stream| stream.rw.trims()) {
        return limits;
    }
    let blocks = spec.streams().map(|s| places(s) / u64::from(s.jobs.max(1))).min().unwrap_or(0);
    let ios = limits.ios.map_or(blocks, |ios| ios.min(blocks)).max(1);
    // A warm-up would take its part of the only pass there is.
    Limits { ios: Some(ios), warm_up_ns: Some(0), ..limits }
}

/// A trial of new files ends when they are together as large as the prepared file, which is at most half of the space
/// that was free: they are kept until then, since freeing them takes time.
fn within_room(storage: &Storage, spec: &TrialSpec, limits: Limits) -> io::Result<Limits> {
    let Storage::File(file) = storage else { return Ok(limits) };
    if spec.files == Files::Same {
        return Ok(limits);
    }
    let all_bytes = spec.span_bytes.saturating_mul(u64::from(spec.jobs));
    let files = (file.metadata()?.len() / all_bytes.max(1)).max(1);
    let most = files * (spec.span_bytes / spec.block_size_bytes.max(1));
    Ok(Limits { ios: Some(limits.ios.map_or(most, |ios| ios.min(most))), ..limits })
}

/// Requests after which a stream comes to a place again.
fn places(spec: &TrialSpec) -> u64 {
    let block_bytes = spec.block_size_bytes.max(1);
    let step_bytes = spec.stride_bytes.unwrap_or(block_bytes).max(block_bytes);
    let pass = spec.span_bytes.saturating_sub(block_bytes) / step_bytes + 1;
    match spec.stride_pass {
        StridePass::Same => pass,
        // Each pass begins a block further on, until the gaps are filled.
        StridePass::Shifted => pass * (step_bytes / block_bytes),
    }
    .min(spec.span_bytes / block_bytes)
}

/// Processors that this process may use. Looked for once: that reads files of control groups.
static PROCESSORS: LazyLock<f64> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get) as f64);

/// The trial that its workers' doings amount to.
fn assemble(
    (order, over): (&Order, Over),
    worked: Vec<Worked>,
    mut seen: Witnesses,
    simulated_busy_s: Option<f64>,
) -> Trial {
    let mut issued = Issued::default();
    worked.iter().for_each(|worker| issued += worker.driven.issued);
    (seen.issued_read_bytes, seen.issued_write_bytes) = (issued.read_bytes, issued.write_bytes);
    (seen.issued_trim_bytes, seen.issued_ios) = (issued.trim_bytes, issued.ios);
    let elapsed_s = worked.iter().map(|worker| worker.driven.elapsed_s).fold(0.0, f64::max);
    let warmup_s = worked.iter().map(|worker| worker.driven.warm_up_s).fold(0.0, f64::max);
    let cpu: Option<Vec<(f64, f64)>> = worked.iter().map(Worked::whole_cpu_s).collect();
    // Watching the clock before a due moment takes time that the next request could have had: it is waiting.
    let busy = |worker: &Worked| {
        // A worker that is ready and gets no processor delays the storage as much as one that computes.
        let ready_s = worker.delayed_s.unwrap_or(0.0);
        worker.cpu_s.map(|(user_s, system_s)| (user_s + system_s + ready_s - worker.driven.polled_s).max(0.0))
    };
    let busy: Option<Vec<f64>> = worked.iter().map(busy).collect();
    // An engine's threads share all processors: they limit it when those have no time left.
    let processors = *PROCESSORS;
    let total_s = |(user_s, system_s): (f64, f64)| user_s + system_s;
    let has_threads = |worker: &&Worked| worker.threads_cpu_s.is_some_and(|cpu_s| total_s(cpu_s) > 0.0);
    let theirs = worked.iter().filter(has_threads).filter_map(Worked::whole_cpu_s).map(total_s);
    let theirs_s = theirs.sum::<f64>() / processors;
    let busy_s = busy.map(|busy_s| busy_s.into_iter().fold(theirs_s, f64::max));
    let busy_s = simulated_busy_s.or(busy_s);
    let sum = |pick: fn(&(f64, f64)) -> f64| cpu.as_ref().map(|cpu| cpu.iter().map(pick).sum());
    let (cpu_user_s, cpu_system_s) = (sum(|cpu| cpu.0), sum(|cpu| cpu.1));
    let verify = worked.iter().filter_map(|worker| worker.found).reduce(|sum, more| sum + more);
    let Team { recorded, in_flight_mean, unserved, hung, achieved_rate_iops, pacing_error, streams } =
        Team::of(order.spec, over, worked);
    Trial {
        elapsed_s,
        warmup_s,
        measured_s: recorded.measured_s,
        read: recorded.read,
        write: recorded.write,
        trim: recorded.trim,
        flush: recorded.flush,
        streams,
        in_flight_mean,
        busy_share: busy_s.filter(|_| elapsed_s > 0.0).map(|busy_s| busy_s / elapsed_s),
        unserved,
        achieved_rate_iops,
        pacing_error_ns: pacing_error.as_ref().and_then(Histogram::mean_ns),
        pacing_error_ns_p99: pacing_error.as_ref().and_then(|late| late.quantile_ns(0.99)),
        verify,
        hung,
        cpu_user_s,
        cpu_system_s,
        windows: recorded.windows,
        stalls: recorded.stalls,
        witnesses: seen,
        error_examples: recorded.errors.into_iter().map(request_error).collect(),
        ..Trial::blank(order.spec.clone(), order.phase)
    }
}

fn request_error((errno, count): (i32, u64)) -> RequestError {
    RequestError::System { errno, count }
}

/// Trials that are planned for longer are looked on, by the thread that began them. In shorter ones that thread
/// measures itself: handing on to another took until 9 ms after the moment of the start, with eight hosts on two
/// processors.
const LOOKED_ON_FROM_NS: u64 = 5_000_000_000;

/// Readings before a trial.
enum Before {
    Real,
    Simulated { at_s: f64, counters: iosonde_sim::Counters, busy_ns: Vec<u64>, resident_bytes: u64 },
}

/// Witnesses that are read before and after a trial.
struct Seen<'a, 'o> {
    storage: &'a Storage,
    watch: &'a mut Option<Watch>,
    clock: &'a Clock,
    /// The addressed part of the storage.
    span: Range<u64>,
    /// Share of what the system says of that part which is about this host.
    share: f64,
    /// Files beside the first.
    beside: Beside,
    /// The other hosts of the trial.
    others: Option<&'a mut (dyn Rendezvous + 'o)>,
    /// Whether the trial is so long that the others are heard meanwhile.
    is_long: bool,
    /// Whether all of them came to the end.
    parted: io::Result<()>,
    before: Before,
    before_s: f64,
    origin_s: f64,
    started_at: String,
    started_s: f64,
    witnesses: Witnesses,
    /// Time that a simulated program's processor was busy, copying included.
    simulated_busy_s: Option<f64>,
}

/// Bytes of a workload's span in the simulated page cache; 0 without one.
fn resident_bytes(device: &iosonde_sim::Device, span: Range<u64>) -> u64 {
    device.resident_bytes(span).unwrap_or(0)
}

/// A host's share of what was seen of blocks that lie among those of other hosts.
fn of_host(seen: Witnesses, share: f64) -> Witnesses {
    let part = |bytes: Option<u64>| bytes.map(|bytes| (bytes as f64 * share).round() as u64);
    Witnesses {
        resident_before_bytes: part(seen.resident_before_bytes),
        resident_after_bytes: part(seen.resident_after_bytes),
        unmapped_bytes: part(seen.unmapped_bytes),
        compressed_bytes: part(seen.compressed_bytes),
        shared_bytes: part(seen.shared_bytes),
        dirty_after_bytes: part(seen.dirty_after_bytes),
        ..seen
    }
}

/// Readings of a machine on which nothing else runs: virtual time neither jumps nor sleeps, no processor is shared, no
/// control group sets a limit, and the span lies in one piece that no layer compresses or shares.
fn quiet_machine() -> Witnesses {
    Witnesses {
        pressure_cpu_some_share: Some(0.0),
        pressure_memory_some_share: Some(0.0),
        steal_share: Some(0.0),
        io_limits: Some(Vec::new()),
        pieces: Some(1),
        compressed_bytes: Some(0),
        shared_bytes: Some(0),
        calendar_step_s: Some(0.0),
        suspended_s: Some(0.0),
        clock_ratio: Some(1.0),
        ..Witnesses::default()
    }
}

impl<'a, 'o> Seen<'a, 'o> {
    fn new(
        storage: &'a Storage,
        watch: &'a mut Option<Watch>,
        clock: &'a Clock,
        (spec, placement): (&TrialSpec, Placement),
        others: Option<&'a mut (dyn Rendezvous + 'o)>,
    ) -> Self {
        Self {
            storage,
            watch,
            clock,
            span: placement.covered_bytes(spec.offset_bytes..spec.offset_bytes + spec.span_bytes),
            share: placement.covered_share(),
            beside: Beside::default(),
            others,
            is_long: false,
            parted: Ok(()),
            before: Before::Real,
            before_s: 0.0,
            origin_s: 0.0,
            started_at: clock.utc(),
            started_s: clock.now_s(),
            witnesses: Witnesses::default(),
            simulated_busy_s: None,
        }
    }
}

impl Around for Seen<'_, '_> {
    fn before(&mut self) -> io::Result<()> {
        (self.started_at, self.started_s) = (self.clock.utc(), self.clock.now_s());
        self.before_s = self.clock.now_s();
        if let Storage::Simulated(shared) = self.storage {
            let device = shared.device.borrow();
            self.before = Before::Simulated {
                at_s: self.before_s,
                counters: device.counters(),
                busy_ns: device.busy_ns(),
                resident_bytes: resident_bytes(&device, self.span.clone()),
            };
        } else if let Some(watch) = self.watch {
            watch.set_machine(self.others.as_ref().is_none_or(|others| others.counts_machine()));
            self.beside.before();
            watch.before();
        }
        self.origin_s = self.clock.now_s();
        if let Some(others) = &mut self.others {
            others.start()?;
            self.origin_s = self.clock.now_s();
        }
        Ok(())
    }

    fn looks_on(&self) -> bool {
        self.others.is_some() && self.is_long
    }

    fn meanwhile(&mut self) -> bool {
        self.others.as_mut().is_none_or(|others| others.meanwhile())
    }

    fn after(&mut self) {
        if let Some(others) = &mut self.others {
            self.parted = others.ended();
        }
        let seen = match (&self.before, self.storage, &mut self.watch) {
            (Before::Real, _, Some(watch)) => {
                of_host(self.beside.after(watch.after(Witnesses::default())), self.share)
            }
            (
                Before::Simulated { at_s, counters: before, busy_ns, resident_bytes: before_bytes },
                Storage::Simulated(shared),
                _,
            ) => {
                let device = shared.device.borrow();
                let after = device.counters();
                // A host's processors are there from its first request on.
                let before_ns = busy_ns.iter().copied().chain(std::iter::repeat(0));
                let worked =
                    device.busy_ns().into_iter().zip(before_ns).map(|(after, before)| after - before);
                self.simulated_busy_s = worked.max().map(|busiest_ns| busiest_ns as f64 / 1e9);
                let in_flight_ns = (after.in_flight_ns - before.in_flight_ns) as f64;
                let elapsed_ns = (self.clock.now_s() - at_s) * 1e9;
                let asked = after.network_requests - before.network_requests;
                let waited_ns = (after.network_waited_ns - before.network_waited_ns) as f64;
                Witnesses {
                    network_round_trip_ns: (asked > 0).then(|| waited_ns / asked as f64),
                    block_layer_device: Some("simulated".into()),
                    block_layer_read_bytes: Some(after.read_bytes - before.read_bytes),
                    block_layer_write_bytes: Some(after.write_bytes - before.write_bytes),
                    block_layer_in_flight_mean: (elapsed_ns > 0.0).then(|| in_flight_ns / elapsed_ns),
                    resident_before_bytes: Some(*before_bytes),
                    resident_after_bytes: Some(resident_bytes(&device, self.span.clone())),
                    // Like a block device: once trimmed, it does not say where data lies.
                    unmapped_bytes: (before.trimmed_bytes == 0).then_some(0),
                    ..quiet_machine()
                }
            }
            _ => Witnesses::default(),
        };
        let (from_s, to_s) = (self.before_s - self.origin_s, self.clock.now_s() - self.origin_s);
        self.witnesses = Witnesses { from_s, to_s, ..seen };
    }
}
