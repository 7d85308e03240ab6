//! The workers of a trial: one for each job of each stream, all starting together.
//!
//! On real storage each is a thread with an engine of its own (and so a ring of its own), because that is how programs
//! use several cores, and because a ring that belongs to one thread is cheaper. A single worker runs on the calling
//! thread, unless that has to look on: of several hosts, each hears meanwhile whether the others still run. In virtual
//! time all jobs take turns on one thread: the clock moves to the earliest moment at which any has something to do.

use std::{
    collections::BTreeSet,
    fs::File,
    io,
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use iosonde_model::{Files, LoopNote, Phase, TrialSpec, Verification};

use crate::{
    buffer::BufferPool,
    clock::{Clock, monotonic_ns},
    drive::{Drive, Driven, Limits},
    early_end::EarlyEnds,
    engine::{self, Bench, NewFiles, Opened, SharedDevice, Storage},
    offset::{Offsets, job_seed},
    payload,
    placement::{Lane, Place},
    platform::scheduling,
    slots,
    together::Together,
    verify::{self, Verify, VerifyPlan},
    witness,
};

/// Task of one worker.
#[derive(Debug, Clone)]
pub struct Job {
    /// Index of its stream.
    pub stream: usize,
    /// Workload of the stream.
    pub spec: TrialSpec,
    /// Index of its host: 0, but where several are simulated.
    pub host: usize,
    /// Moments at which its simulated host does not run, in nanoseconds of virtual time.
    pub halts: Arc<[Range<u64>]>,
    /// Index of the job within its stream.
    pub number: u32,
    /// Seed of the job's random numbers.
    pub seed: u64,
    /// Duration and warm-up.
    pub limits: Limits,
    /// Where its part of the storage lies.
    pub lane: Lane,
    /// Its file, where it is not the first one.
    pub file: Option<Arc<File>>,
}

impl Job {
    /// When its host runs again, where it does not at this moment.
    fn goes_on_ns(&self, now_ns: u64) -> Option<u64> {
        let next = self.halts.partition_point(|halt| halt.end <= now_ns);
        self.halts.get(next).filter(|halt| halt.contains(&now_ns)).map(|halt| halt.end)
    }

    /// Its own file, or the trial's.
    fn file(&self, first: &Arc<File>) -> Arc<File> {
        Arc::clone(self.file.as_ref().unwrap_or(first))
    }
}

/// Result of one worker.
#[derive(Debug)]
pub struct Worked {
    /// Index of its stream.
    pub stream: usize,
    /// Result of its measured loop.
    pub driven: Driven,
    /// CPU time of its loop in user mode and in the kernel, in seconds.
    pub cpu_s: Option<(f64, f64)>,
    /// CPU time of its engine's threads, in user mode and in the kernel, in seconds.
    pub threads_cpu_s: Option<(f64, f64)>,
    /// Time in seconds in which it was ready to run and had no CPU; the storage waited for it then.
    pub delayed_s: Option<f64>,
    /// Moments of its first request and of its end, on the monotonic clock of the machine (virtual on a simulated
    /// device).
    pub active_ns: (u64, u64),
    /// Notes for the reader.
    pub notes: Vec<LoopNote>,
    /// Result of the verification; `None` if the workload asks for none.
    pub found: Option<Verification>,
}

impl Worked {
    /// CPU time of the loop and of its engine's threads, in user mode and in the kernel, in seconds.
    pub fn whole_cpu_s(&self) -> Option<(f64, f64)> {
        let (own, threads) = self.cpu_s.zip(self.threads_cpu_s)?;
        Some((own.0 + threads.0, own.1 + threads.1))
    }
}

/// The jobs of a workload, those of a stream one after another; each stream with its limits.
///
/// # Errors
/// There are not files for all of them.
pub fn jobs(
    spec: &TrialSpec,
    limits: &[Limits],
    (phase, seed): (Phase, u64),
    place: &Place,
) -> io::Result<Vec<Job>> {
    let streams = spec.streams().enumerate();
    let jobs =
        streams.flat_map(|(stream, spec)| (0..spec.jobs).map(move |number| (stream, spec.alone(), number)));
    jobs.zip(0..)
        .map(|((stream, spec, number), n)| {
            let lane = place.placement.lane(phase, &spec, number);
            let (file, limits) = (place.file(lane)?, limits[stream]);
            Ok(Job {
                stream,
                spec,
                host: 0,
                halts: Arc::default(),
                number,
                seed: job_seed(seed, n),
                limits,
                lane,
                file,
            })
        })
        .collect()
}

/// What jobs measure together: nothing where one is alone, or where they end at different moments.
fn together(jobs: &[Job]) -> Option<Together> {
    let alike = |job: &Job| job.limits == jobs[0].limits && job.spec.delay_ns == jobs[0].spec.delay_ns;
    let alike = jobs.iter().all(alike);
    (jobs.len() > 1 && alike).then(|| Together::new(jobs.len()))
}

/// Hooks around the measured loops, on the calling thread: one after all engines are open and before the first
/// request, one after the last completion and before anything is closed.
pub trait Around {
    /// Called once all workers are ready; an error calls the trial off.
    fn before(&mut self) -> io::Result<()>;
    /// Called once all loops have ended.
    fn after(&mut self);
    /// Whether the calling thread has something to do while the loops run. They then have threads of their own.
    fn looks_on(&self) -> bool {
        false
    }
    /// Called every [`LOOK_EVERY`] meanwhile; false ends the loops early.
    fn meanwhile(&mut self) -> bool {
        true
    }
}

/// How often the calling thread looks on: a signal that ends the run is that much later for the loops.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Settings that all jobs of a trial share.
#[derive(Clone, Copy)]
pub struct Shift<'a> {
    /// Preparation goes through the span from its start.
    pub phase: Phase,
    /// Ends everything early.
    pub stop: &'a AtomicBool,
    /// Verification settings.
    pub plan: &'a VerifyPlan,
    /// Folder of the target, where files can be made in it.
    pub folder: Option<&'a File>,
    /// Ends that the jobs have from each other.
    pub(crate) early: Option<&'a EarlyEnds>,
}

/// Runs the jobs to their ends.
pub fn work(
    storage: &Storage,
    jobs: &[Job],
    shift: Shift,
    around: &mut dyn Around,
) -> io::Result<Vec<Worked>> {
    match storage {
        Storage::Simulated(shared) => in_virtual_time(shared, jobs, shift, around),
        Storage::File(file) if jobs.len() == 1 && !around.looks_on() => {
            let storage = &Storage::File(jobs[0].file(file));
            let mut equipped = equip(storage, &jobs[0], 0, shift)?;
            around.before()?;
            let worked = drive(&mut equipped, &jobs[0], shift, None);
            around.after();
            equipped.put_away(&worked);
            Ok(vec![verified(storage, &jobs[0], 0, shift, worked?)?])
        }
        Storage::File(file) => {
            let (gate, together) = (Gate::new(jobs.len()), together(jobs));
            let (together, ends) = (together.as_ref(), AtomicBool::new(false));
            let of_worker = Shift { stop: if around.looks_on() { &ends } else { shift.stop }, ..shift };
            std::thread::scope(|scope| {
                let work = |job| {
                    let (member, file) = (Member(&gate), Job::file(job, file));
                    let beside =
                        move || beside_others(&Storage::File(file), job, of_worker, &member, together);
                    std::thread::Builder::new().spawn_scoped(scope, beside)
                };
                let workers: Vec<_> = jobs.iter().map(work).collect();
                gate.lead(around, shift.stop, &ends)?;
                let ended = workers.into_iter().map(|started| match started {
                    Ok(worker) => worker.join().unwrap_or(Err(Ended::Panicked)),
                    Err(error) => Err(Ended::NoThread(error)),
                });
                all_of(ended.collect())
            })
        }
    }
}

/// Why a worker has nothing to show.
enum Ended {
    /// Another one could not start.
    CalledOff,
    /// The system gave it no thread.
    NoThread(io::Error),
    /// An error of iosonde's own.
    Panicked,
    /// The machine refused.
    Failed(io::Error),
}

/// Results of all workers, or the first error that is not a consequence of another worker's.
fn all_of(ended: Vec<Result<Worked, Ended>>) -> io::Result<Vec<Worked>> {
    let wanted = ended.len();
    let mut called_off = None;
    let mut worked = Vec::with_capacity(wanted);
    for one in ended {
        match one {
            Ok(one) => worked.push(one),
            Err(Ended::CalledOff) => called_off = Some("another worker of this trial could not start"),
            Err(Ended::Panicked) => {
                return Err(io::Error::other("a worker ended by a bug in iosonde; its message is above"));
            }
            Err(Ended::NoThread(error)) => {
                return Err(io::Error::other(format!(
                    "the system gives no thread for one of {wanted} jobs ({error}); ask for fewer, or raise the limit \
                     (ulimit -u, or pids.max of the control group)"
                )));
            }
            Err(Ended::Failed(error)) => return Err(error),
        }
    }
    called_off.map_or(Ok(worked), |why| Err(io::Error::other(why)))
}

/// Where workers and the calling thread wait for each other. A worker that cannot open its engine comes too; one that
/// never began, or that panics, leaves: nobody waits in vain, as at a barrier of a fixed size.
struct Gate {
    meeting: Mutex<Meeting>,
    turn: Condvar,
    called_off: AtomicBool,
}

struct Meeting {
    members: usize,
    arrived: usize,
    number: u32,
}

impl Meeting {
    /// Returns true if everybody is there; the next meeting then begins.
    fn is_complete(&mut self) -> bool {
        let complete = self.arrived >= self.members;
        if complete {
            (self.arrived, self.number) = (0, self.number + 1);
        }
        complete
    }
}

impl Gate {
    fn new(workers: usize) -> Self {
        let meeting = Mutex::new(Meeting { members: workers + 1, arrived: 0, number: 0 });
        Self { meeting, turn: Condvar::new(), called_off: AtomicBool::new(false) }
    }

    fn meeting(&self) -> MutexGuard<'_, Meeting> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Arrives; the number of the meeting that is to be waited for, or `None` where all are there.
    fn arrive(&self) -> Option<u32> {
        let mut meeting = self.meeting();
        meeting.arrived += 1;
        let number = meeting.number;
        if meeting.is_complete() {
            self.turn.notify_all();
            return None;
        }
        Some(number)
    }

    fn wait(&self) {
        let Some(number) = self.arrive() else { return };
        let waiting = self.turn.wait_while(self.meeting(), |meeting| meeting.number == number);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits, and does something at each of so many moments until all are there.
    fn wait_beside(&self, every: Duration, mut each: impl FnMut()) {
        let Some(number) = self.arrive() else { return };
        loop {
            let waiting =
                self.turn.wait_timeout_while(self.meeting(), every, |meeting| meeting.number == number);
            let (meeting, timeout) = waiting.unwrap_or_else(PoisonError::into_inner);
            drop(meeting);
            if !timeout.timed_out() {
                return;
            }
            each();
        }
    }

    fn leave(&self) {
        let mut meeting = self.meeting();
        meeting.members -= 1;
        if meeting.is_complete() {
            self.turn.notify_all();
        }
    }

    fn call_off(&self) {
        self.called_off.store(true, Ordering::Release);
    }

    /// The calling thread's way through. Where it looks on, it ends the loops by `ends`, as `stop` does.
    fn lead(&self, around: &mut dyn Around, stop: &AtomicBool, ends: &AtomicBool) -> io::Result<()> {
        self.wait();
        let begun = around.before();
        if begun.is_err() {
            self.call_off();
        }
        self.wait();
        if around.looks_on() && begun.is_ok() {
            self.wait_beside(LOOK_EVERY, || {
                if !around.meanwhile() || stop.load(Ordering::Relaxed) {
                    ends.store(true, Ordering::Relaxed);
                }
            });
        } else {
            self.wait();
        }
        if begun.is_ok() {
            around.after();
        }
        self.wait();
        begun
    }
}

/// A worker's place at the gate; when it is given up, nobody waits for it any more. A thread that could not be
/// started gives up its place as well, since its closure is dropped.
struct Member<'a>(&'a Gate);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        let Self(gate) = self;
        // A worker that has been through all four meetings is not waited for, and has nothing to call off.
        if gate.meeting().number < MEETINGS {
            gate.call_off();
            gate.leave();
        }
    }
}

/// Ready, go, ended, closed.
const MEETINGS: u32 = 4;

/// A worker's way through.
fn beside_others(
    storage: &Storage,
    job: &Job,
    shift: Shift,
    Member(gate): &Member,
    together: Option<&Together>,
) -> Result<Worked, Ended> {
    let equipped = equip(storage, job, 0, shift);
    if equipped.is_err() {
        gate.call_off();
    }
    gate.wait();
    gate.wait();
    let called_off = gate.called_off.load(Ordering::Acquire);
    let worked = equipped.map(|mut equipped| {
        let worked = (!called_off).then(|| drive(&mut equipped, job, shift, together));
        (equipped, worked)
    });
    gate.wait();
    gate.wait();
    let (equipped, worked) = worked.map_err(Ended::Failed)?;
    let worked = worked.ok_or(Ended::CalledOff)?;
    equipped.put_away(&worked);
    worked.and_then(|worked| verified(storage, job, 0, shift, worked)).map_err(Ended::Failed)
}

/// Buffers, engine and ledger of one job. Fields are dropped in their order: the engine goes before the buffers that
/// its ring has registered.
struct Equipped {
    opened: Opened,
    buffers: BufferPool,
    verify: Option<Verify>,
}

fn equip(storage: &Storage, job: &Job, index: u32, shift: Shift) -> io::Result<Equipped> {
    let Job { spec, seed, .. } = job;
    let virtual_time = matches!(storage, Storage::Simulated(_));
    // Verification writes marks into the buffers, and reads them there.
    let new_pool = if virtual_time && !spec.verify { BufferPool::unused } else { BufferPool::new };
    let mut buffers = new_pool(slots::slots(spec), spec.block_size_bytes)?;
    if spec.rw.writes() && !virtual_time {
        payload::fill(&mut buffers, spec, *seed);
    }
    let (kind, options) = engine::named(&spec.engine).map_err(io::Error::other)?;
    let bench = Bench {
        storage,
        depth: spec.queue_depth,
        buffers: &buffers,
        direct: spec.direct,
        sync: spec.sync,
        options: &options,
        verify: spec.verify,
        job: index,
        host: job.host as u32,
        new_files: (spec.files == Files::New).then_some(NewFiles {
            folder: shift.folder,
            offset_bytes: spec.offset_bytes,
            file_bytes: spec.span_bytes,
        }),
    };
    if bench.new_files.is_some() && !kind.makes_files() {
        return Err(io::Error::other(format!("the engine {} makes no new files; psync does", kind.name())));
    }
    let opened = kind.open(&bench)?;
    let verify = shift.plan.job(job.stream, spec, job.lane);
    Ok(Equipped { opened, buffers, verify })
}

impl Equipped {
    /// Closes the engine. Where requests never came back the kernel may still write into the buffers: both must then
    /// outlive the process's interest in them.
    fn put_away(self, worked: &io::Result<Worked>) {
        if worked.as_ref().map_or(true, |worked| worked.driven.hung > 0) {
            std::mem::forget(self);
        }
    }
}

fn offsets(job: &Job, phase: Phase) -> Offsets {
    let offsets = Offsets::placed(&job.spec, job.number, job.seed, job.lane);
    let from_start = phase == Phase::Prepare || job.spec.files == Files::New;
    if from_start { offsets.from_start() } else { offsets }
}

/// Runs one job's loop on this thread.
fn drive(
    equipped: &mut Equipped,
    job: &Job,
    shift: Shift,
    together: Option<&Together>,
) -> io::Result<Worked> {
    let Equipped { buffers, opened: Opened { engine, clock, notes }, verify } = equipped;
    scheduling::full_speed();
    if job.spec.rate_iops.is_some() || job.spec.think.is_some() {
        scheduling::exact_timers();
    }
    let (cpu_before, delay_before_s) = (witness::thread_cpu(), witness::thread_delay_s());
    let offsets = (offsets(job, shift.phase), job.seed);
    let drive = Drive::new(engine.as_mut(), clock, buffers, &job.spec, offsets, job.limits, shift.stop);
    let mut drive = drive.verifying(verify.take()).beside(together).ending(shift.early);
    let began_ns = monotonic_ns();
    drive.begin()?;
    while !drive.is_done() {
        drive.step()?;
    }
    let active_ns = (began_ns, monotonic_ns());
    let cpu_s =
        cpu_before.zip(witness::thread_cpu()).map(|(before, after)| (after.0 - before.0, after.1 - before.1));
    let delayed_s =
        delay_before_s.zip(witness::thread_delay_s()).map(|(before_s, after_s)| after_s - before_s);
    let driven = drive.finish();
    notes.extend(engine.remarks());
    let threads_cpu_s = engine.end_threads();
    let (stream, notes) = (job.stream, std::mem::take(notes));
    Ok(Worked { stream, driven, cpu_s, threads_cpu_s, delayed_s, active_ns, notes, found: None })
}

/// Reads back what was written, once all loops have ended and the witnesses have been read.
fn verified(
    storage: &Storage,
    job: &Job,
    index: u32,
    shift: Shift,
    mut worked: Worked,
) -> io::Result<Worked> {
    if job.spec.verify && !job.spec.rw.writes() && matches!(storage, Storage::Simulated(_)) {
        worked.notes.push(LoopNote::NothingToVerify);
    }
    let Some(verify) = worked.driven.verify.take() else { return Ok(worked) };
    (worked.found, worked.notes) =
        (verify.found(), [worked.notes, verify.note().into_iter().collect()].concat());
    match verify.ledger() {
        Some(_) if worked.driven.hung > 0 => {
            worked.notes.push(LoopNote::UnverifiedAfterHang { requests: worked.driven.hung });
        }
        Some(ledger) => {
            let writer = shift.plan.writer();
            worked.found = Some(verify::read_back(storage, (&job.spec, index), ledger, writer, shift.stop)?);
        }
        None => {}
    }
    Ok(worked)
}

fn in_virtual_time(
    shared: &SharedDevice,
    jobs: &[Job],
    shift: Shift,
    around: &mut dyn Around,
) -> io::Result<Vec<Worked>> {
    let storage = Storage::Simulated(shared.clone());
    let equipped = jobs.iter().zip(0..).map(|(job, index)| equip(&storage, job, index, shift));
    let mut equipped = equipped.collect::<io::Result<Vec<Equipped>>>()?;
    let clock = Clock::Virtual(shared.clock.clone());
    let hosts: Vec<Option<Together>> = jobs.chunk_by(|a, b| a.host == b.host).map(together).collect();
    let mut drives: Vec<Drive> = Vec::with_capacity(jobs.len());
    for (job, Equipped { buffers, opened, verify }) in jobs.iter().zip(&mut equipped) {
        let (engine, offsets) = (opened.engine.as_mut(), (offsets(job, shift.phase), job.seed));
        let drive = Drive::new(engine, &clock, buffers, &job.spec, offsets, job.limits, shift.stop);
        drives.push(drive.verifying(verify.take()).beside(hosts[job.host].as_ref()).ending(shift.early));
    }
    around.before()?;
    let began_ns = clock.now_ns();
    for drive in &mut drives {
        drive.begin()?;
    }
    if hosts.len() > 1 {
        in_turn_of_many(shared, jobs, &mut drives)?;
    } else {
        in_turn(shared, &mut drives)?;
    }
    around.after();
    let driven: Vec<Driven> = drives.into_iter().map(Drive::finish).collect();
    let worked = |(((job, index), driven), equipped): (((&Job, u32), Driven), Equipped)| {
        let (stream, notes) = (job.stream, equipped.opened.notes);
        let active_ns = (
            began_ns + job.spec.delay_ns,
            began_ns + (driven.elapsed_s * 1e9).round() as u64 + job.spec.delay_ns,
        );
        let worked = Worked {
            stream,
            driven,
            cpu_s: None,
            threads_cpu_s: None,
            delayed_s: None,
            active_ns,
            notes,
            found: None,
        };
        verified(&storage, job, index, shift, worked)
    };
    jobs.iter().zip(0..).zip(driven).zip(equipped).map(worked).collect()
}

/// All loops in turn, until the last one is done.
fn in_turn(shared: &SharedDevice, drives: &mut [Drive]) -> io::Result<()> {
    loop {
        let under_way = || drives.iter().filter(|drive| !drive.is_done());
        // Stepping at events inside the device that end no request was a quarter of the time of a run.
        if let Some(until_ns) = under_way().map(Drive::waits_until_ns).min() {
            shared.work_until_completion(until_ns);
        }
        let Some(at_ns) = under_way().filter_map(Drive::next_moment_ns).min() else { return Ok(()) };
        shared.clock.advance_to(at_ns);
        for drive in drives.iter_mut().filter(|drive| !drive.is_done()) {
            drive.step()?;
        }
    }
}

/// All loops of many hosts in turn, of which a moment concerns few: looking at all of a thousand loops at each
/// completion would make the time of a run grow with the square of the hosts. A loop is stepped when something of its
/// own has completed, and at the moments that it waits for by itself; one whose host does not run, when that goes on.
fn in_turn_of_many(shared: &SharedDevice, jobs: &[Job], drives: &mut [Drive]) -> io::Result<()> {
    let mut own_ns: Vec<u64> = drives.iter().map(Drive::own_moment_ns).collect();
    let mut moments: BTreeSet<(u64, usize)> = own_ns.iter().copied().zip(0..).collect();
    let mut due = Vec::new();
    while let Some(&(first_ns, _)) = moments.first() {
        shared.work_until_completion(first_ns);
        let at_ns = shared.next_event_ns().map_or(first_ns, |event_ns| event_ns.min(first_ns));
        shared.clock.advance_to(at_ns);
        due.clear();
        shared.deliver(&mut due);
        due.extend(moments.iter().take_while(|(moment_ns, _)| *moment_ns <= at_ns).map(|(_, at)| *at));
        due.sort_unstable();
        due.dedup();
        for &at in &due {
            let drive = &mut drives[at];
            moments.remove(&(own_ns[at], at));
            let goes_on_ns = jobs[at].goes_on_ns(at_ns);
            if goes_on_ns.is_none() && !drive.is_done() {
                drive.step()?;
            }
            if !drive.is_done() {
                own_ns[at] = goes_on_ns.unwrap_or_else(|| drive.own_moment_ns());
                moments.insert((own_ns[at], at));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_worker_that_left() {
        struct Nothing;
        impl Around for Nothing {
            fn before(&mut self) -> io::Result<()> {
                Ok(())
            }
            fn after(&mut self) {}
        }
        let gate = Gate::new(3);
        std::thread::scope(|scope| {
            let (member, gone) = (Member(&gate), Member(&gate));
            let waits = |Member(gate): &Member| gate.wait();
            scope.spawn(move || (0..MEETINGS).for_each(|_| waits(&member)));
            // One that never began, and one that panics between two meetings.
            drop(gone);
            let member = Member(&gate);
            let panics = scope.spawn(move || {
                waits(&member);
                std::panic::resume_unwind(Box::new("on purpose"))
            });
            gate.lead(&mut Nothing, &AtomicBool::new(false), &AtomicBool::new(false)).unwrap();
            assert!(panics.join().is_err());
        });
        assert!(gate.called_off.load(Ordering::Acquire));
    }

    #[test]
    fn the_reason_is_told_and_not_its_consequence() {
        let failed = || Err(Ended::Failed(io::Error::other("no room for so many")));
        let said = |ended| all_of(ended).unwrap_err().to_string();
        assert_eq!(said(vec![Err(Ended::CalledOff), failed()]), "no room for so many");
        assert!(said(vec![Err(Ended::CalledOff)]).contains("another worker"));
        let none = Err(Ended::NoThread(io::ErrorKind::WouldBlock.into()));
        assert!(said(vec![Err(Ended::CalledOff), none]).contains("ulimit -u"));
    }
}
