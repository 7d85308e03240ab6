//! The workers of a trial: one for each job of each stream, all starting together.
//!
//! On real storage each is a thread with an engine of its own (and so a ring of its own), because that is how programs
//! use several cores, and because a ring that belongs to one thread is cheaper. A single worker runs on the calling
//! thread. In virtual time all jobs take turns on one thread: the clock moves to the earliest moment at which any has
//! something to do.

use std::{
    io,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
};

use iosonde_model::{Phase, TrialSpec, Verification};

use crate::{
    buffer::BufferPool,
    clock::Clock,
    drive::{Drive, Driven, Limits},
    engine::{self, Bench, Opened, SharedDevice, Storage},
    offset::{Offsets, job_seed},
    payload, slots,
    verify::{self, Plan, Verify},
    witness,
};

/// What one worker does.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its stream, by number.
    pub stream: usize,
    /// What the stream does.
    pub spec: TrialSpec,
    /// Which of the stream's jobs this is.
    pub number: u32,
    /// Everything random in it follows from this.
    pub seed: u64,
}

/// What one worker did.
#[derive(Debug)]
pub struct Worked {
    /// Its stream, by number.
    pub stream: usize,
    /// What its loop did.
    pub driven: Driven,
    /// Its processor time in user mode and in the kernel.
    pub cpu_s: Option<(f64, f64)>,
    /// Sentences that a reader must know.
    pub notes: Vec<String>,
    /// What it verified, where that was asked.
    pub found: Option<Verification>,
}

/// The jobs of a workload, those of a stream one after another.
pub fn jobs(spec: &TrialSpec, seed: u64) -> Vec<Job> {
    let streams = spec.streams().enumerate();
    let jobs =
        streams.flat_map(|(stream, spec)| (0..spec.jobs).map(move |number| (stream, spec.alone(), number)));
    jobs.zip(0..)
        .map(|((stream, spec, number), n)| Job { stream, spec, number, seed: job_seed(seed, n) })
        .collect()
}

/// What happens around the measured loops, on the calling thread: engines are open and nothing has been submitted;
/// everything has come back and nothing is closed.
pub trait Around {
    /// Called once all workers are ready.
    fn before(&mut self);
    /// Called once all loops have ended.
    fn after(&mut self);
}

/// How long, why, and until when.
#[derive(Debug, Clone, Copy)]
pub struct Shift<'a> {
    /// When each job ends.
    pub limits: Limits,
    /// Preparation goes through the span from its start.
    pub phase: Phase,
    /// Ends everything early.
    pub stop: &'a AtomicBool,
    /// How it is verified.
    pub plan: &'a Plan,
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
        Storage::File(_) if jobs.len() == 1 => {
            let mut equipped = equip(storage, &jobs[0], 0, shift)?;
            around.before();
            let worked = drive(&mut equipped, &jobs[0], shift);
            around.after();
            equipped.put_away(&worked);
            Ok(vec![verified(storage, &jobs[0], 0, shift, worked?)?])
        }
        Storage::File(file) => {
            let gate = Gate::new(jobs.len());
            std::thread::scope(|scope| {
                let work = |job| {
                    let (gate, file) = (&gate, Arc::clone(file));
                    scope.spawn(move || beside_others(&Storage::File(file), job, shift, gate))
                };
                let workers: Vec<_> = jobs.iter().map(work).collect();
                gate.lead(around);
                workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
            })
        }
    }
}

/// Where workers and the calling thread wait for each other. A worker that cannot open its engine comes too, so that
/// nobody waits in vain.
struct Gate {
    ready: Barrier,
    go: Barrier,
    ended: Barrier,
    closed: Barrier,
    called_off: AtomicBool,
}

impl Gate {
    fn new(workers: usize) -> Self {
        let barrier = || Barrier::new(workers + 1);
        let called_off = AtomicBool::new(false);
        Self { ready: barrier(), go: barrier(), ended: barrier(), closed: barrier(), called_off }
    }

    /// The calling thread's way through.
    fn lead(&self, around: &mut dyn Around) {
        self.ready.wait();
        around.before();
        self.go.wait();
        self.ended.wait();
        around.after();
        self.closed.wait();
    }
}

/// A worker's way through.
fn beside_others(storage: &Storage, job: &Job, shift: Shift, gate: &Gate) -> io::Result<Worked> {
    let equipped = equip(storage, job, 0, shift);
    if equipped.is_err() {
        gate.called_off.store(true, Ordering::Release);
    }
    gate.ready.wait();
    gate.go.wait();
    let called_off = gate.called_off.load(Ordering::Acquire);
    let worked = equipped.map(|mut equipped| {
        let worked = if called_off {
            Err(io::Error::other("another worker of this trial could not start"))
        } else {
            drive(&mut equipped, job, shift)
        };
        (equipped, worked)
    });
    gate.ended.wait();
    gate.closed.wait();
    let (equipped, worked) = worked?;
    equipped.put_away(&worked);
    verified(storage, job, 0, shift, worked?)
}

/// Buffers, engine and ledger of one job.
struct Equipped {
    buffers: BufferPool,
    opened: Opened,
    verify: Option<Verify>,
}

fn equip(storage: &Storage, job: &Job, index: u32, shift: Shift) -> io::Result<Equipped> {
    let Job { spec, seed, .. } = job;
    let virtual_time = matches!(storage, Storage::Simulated(_));
    let new_pool = if virtual_time { BufferPool::unused } else { BufferPool::new };
    let mut buffers = new_pool(slots::slots(spec), spec.block_size_bytes)?;
    if spec.rw.writes() && !virtual_time {
        payload::fill(&mut buffers, spec, seed ^ 0x5eed_da7a);
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
    };
    let opened = kind.open(&bench)?;
    let range_bytes = spec.offset_bytes..spec.offset_bytes + spec.span_bytes;
    let verify = shift.plan.job(job.stream, spec, range_bytes);
    Ok(Equipped { buffers, opened, verify })
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
    let offsets = Offsets::new(&job.spec, job.number, job.seed);
    if phase == Phase::Prepare { offsets.from_start() } else { offsets }
}

/// Runs one job's loop on this thread.
fn drive(equipped: &mut Equipped, job: &Job, shift: Shift) -> io::Result<Worked> {
    let Equipped { buffers, opened: Opened { engine, clock, notes }, verify } = equipped;
    if job.spec.rate_iops.is_some() {
        exact_timers();
    }
    let cpu_before = witness::thread_cpu();
    let offsets = (offsets(job, shift.phase), job.seed);
    let drive = Drive::new(engine.as_mut(), clock, buffers, &job.spec, offsets, shift.limits, shift.stop);
    let mut drive = drive.verifying(verify.take());
    drive.begin()?;
    while !drive.is_done() {
        drive.step()?;
    }
    let driven = drive.finish();
    let cpu_s =
        cpu_before.zip(witness::thread_cpu()).map(|(before, after)| (after.0 - before.0, after.1 - before.1));
    notes.extend(engine.remarks());
    Ok(Worked { stream: job.stream, driven, cpu_s, notes: std::mem::take(notes), found: None })
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
        worked
            .notes
            .push("a simulated device holds nothing from earlier commands: only writes are verified".into());
    }
    let Some(verify) = worked.driven.verify.take() else { return Ok(worked) };
    (worked.found, worked.notes) =
        (verify.found(), [worked.notes, verify.note().into_iter().collect()].concat());
    match verify.ledger() {
        Some(_) if worked.driven.hung > 0 => worked.notes.push(format!(
            "what was written could not be verified: {} requests never came back and may still change it",
            worked.driven.hung
        )),
        Some(ledger) => {
            let writer = shift.plan.writer();
            worked.found = Some(verify::read_back(storage, (&job.spec, index), ledger, writer, shift.stop)?);
        }
        None => {}
    }
    Ok(worked)
}

/// Sleeps end up to 50 µs late by default, so that the kernel can wake several sleepers at once (prctl(2),
/// PR_SET_TIMERSLACK); an open loop would count that as latency.
fn exact_timers() {
    // SAFETY: the call changes a number of this thread alone and reads no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
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
    let mut drives: Vec<Drive> = Vec::with_capacity(jobs.len());
    for (job, Equipped { buffers, opened, verify }) in jobs.iter().zip(&mut equipped) {
        let (engine, offsets) = (opened.engine.as_mut(), (offsets(job, shift.phase), job.seed));
        let drive = Drive::new(engine, &clock, buffers, &job.spec, offsets, shift.limits, shift.stop);
        drives.push(drive.verifying(verify.take()));
    }
    around.before();
    for drive in &mut drives {
        drive.begin()?;
    }
    while let Some(at_ns) = drives.iter().filter(|d| !d.is_done()).filter_map(Drive::next_moment_ns).min() {
        shared.clock.advance_to(at_ns);
        for drive in drives.iter_mut().filter(|drive| !drive.is_done()) {
            drive.step()?;
        }
    }
    around.after();
    let driven: Vec<Driven> = drives.into_iter().map(Drive::finish).collect();
    let worked = |(((job, index), driven), equipped): (((&Job, u32), Driven), Equipped)| {
        let (stream, notes) = (job.stream, equipped.opened.notes);
        let worked = Worked { stream, driven, cpu_s: None, notes, found: None };
        verified(&storage, job, index, shift, worked)
    };
    jobs.iter().zip(0..).zip(driven).zip(equipped).map(worked).collect()
}
