//! The measured loop: keeps the asked number of requests in flight, stamps time, counts.
//!
//! It is a state machine, so that several jobs can share one virtual clock; on real engines a worker runs its own
//! to the end. Per batch it makes one reading of the clock and the engine's own system call, and allocates nothing.
//!
//! **Time stamps.** A request is due the moment the batch is reaped that freed its slot, and its latency ends when
//! its completion is seen: latency includes submission, and what the program itself adds between two batches.
//!
//! **Warm-up.** What completes in the first tenth of a trial (at least 25 ms, at most 5 s) does not count, nor
//! anything before as many requests have completed as are kept in flight: until then the queue is still filling.
//! Where that takes longer than planned, the trial lasts longer: the measured time is never cut.
//!
//! **Ends.** Measured time begins and ends at a completion, not at a tick: a fixed interval would count one request
//! too few or too many, which is 5 % where twenty 4 MiB writes fit into it.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::{Op, TrialSpec};

use crate::{
    buffer::BufferPool,
    clock::Clock,
    engine::{Completions, Engine, Request},
    offset::Offsets,
    recorder::{Recorded, Recorder},
};

/// Longest wait for one completion before the clock is looked at again.
const WAIT_NS: u64 = 1_000_000_000;
/// Where nothing has come back for so long, what is out is given up and counted as hung. Linux gives a block device
/// 30 s for a request by default.
const HUNG_AFTER_NS: u64 = 35_000_000_000;

/// When a trial ends, and what does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from the first submission to the end of counting.
    pub duration_ns: u64,
    /// The warm-up; `None` for the rule above.
    pub warm_up_ns: Option<u64>,
    /// Requests after which it ends, if that comes first.
    pub ios: Option<u64>,
}

impl Limits {
    /// A trial of a given length.
    pub fn time(duration_ns: u64) -> Self {
        Self { duration_ns, warm_up_ns: None, ios: None }
    }

    /// A trial that makes exactly so many requests, without warm-up: filling.
    pub fn requests(ios: u64) -> Self {
        Self { duration_ns: u64::MAX, warm_up_ns: Some(0), ios: Some(ios) }
    }

    fn warm_up_ns(&self) -> u64 {
        // So many requests and no more: whoever counts them wants all of them counted.
        let rule_ns = match self.ios {
            Some(_) => 0,
            None => (self.duration_ns / 10).clamp(25_000_000, 5_000_000_000),
        };
        self.warm_up_ns.unwrap_or(rule_ns)
    }

    /// What is measured at the least once the warm-up is over: storage that needs long to turn its depth over
    /// once would otherwise be judged by the single request that came next.
    fn measure_ns(&self) -> u64 {
        self.duration_ns.saturating_sub(self.warm_up_ns())
    }
}

/// What the loop did.
#[derive(Debug)]
pub struct Driven {
    /// What counts.
    pub recorded: Recorded,
    /// From the first submission to the end of the warm-up.
    pub warm_up_s: f64,
    /// From the first submission to the end of the drain.
    pub elapsed_s: f64,
    /// Requests in flight, time-weighted over the measured time.
    pub in_flight_mean: Option<f64>,
    /// Everything that completed, warm-up and drain included.
    pub issued: Issued,
    /// Requests that never came back.
    pub hung: u64,
}

/// Bytes and requests that completed, warm-up and drain included: what a witness outside must have seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Issued {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Requests.
    pub ios: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    WarmUp,
    Measure,
    Drain,
    Done,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    due_ns: u64,
    op: Op,
}

/// One job of one trial.
pub struct Drive<'a> {
    engine: &'a mut dyn Engine,
    clock: &'a Clock,
    buffers: &'a BufferPool,
    offsets: Offsets,
    recorder: Recorder,
    limits: Limits,
    stop: &'a AtomicBool,
    block_bytes: u32,
    /// Whether somebody reads what is written: a simulated device does not.
    stamps: bool,
    slots: Box<[Slot]>,
    pending: Vec<Request>,
    done: Completions,
    stage: Stage,
    in_flight: u64,
    begun_ns: u64,
    last_ns: u64,
    last_completion_ns: u64,
    warm_up_ended_ns: u64,
    measured_to_ns: u64,
    in_flight_area: u128,
    asked: u64,
    issued: Issued,
}

impl<'a> Drive<'a> {
    /// A job that has not begun; `stop` ends it early (its figures are then worth nothing). The pool holds as many
    /// slots as the workload keeps in flight.
    pub fn new(
        engine: &'a mut dyn Engine,
        clock: &'a Clock,
        buffers: &'a BufferPool,
        spec: &TrialSpec,
        offsets: Offsets,
        limits: Limits,
        stop: &'a AtomicBool,
    ) -> Self {
        let depth = spec.queue_depth as usize;
        let expected_ns = if limits.duration_ns == u64::MAX { 0 } else { limits.duration_ns };
        Self {
            engine,
            clock,
            buffers,
            offsets,
            recorder: Recorder::new(spec, expected_ns),
            limits,
            stop,
            block_bytes: u32::try_from(spec.block_size_bytes).expect("the plan limits a block to 1 GiB"),
            stamps: !matches!(clock, Clock::Virtual(_)),
            slots: vec![Slot { due_ns: 0, op: Op::Read }; depth].into(),
            pending: Vec::with_capacity(depth),
            done: Vec::with_capacity(depth),
            stage: Stage::WarmUp,
            in_flight: 0,
            begun_ns: 0,
            last_ns: 0,
            last_completion_ns: 0,
            warm_up_ended_ns: 0,
            measured_to_ns: 0,
            in_flight_area: 0,
            asked: 0,
            issued: Issued::default(),
        }
    }

    /// Runs to the end; in virtual time it moves the clock from event to event.
    pub fn run(mut self) -> io::Result<Driven> {
        self.begin()?;
        while self.stage != Stage::Done {
            if let Clock::Virtual(time) = self.clock {
                match self.engine.next_event_ns() {
                    Some(at_ns) => time.advance_to(at_ns),
                    None if self.pending.is_empty() => break,
                    None => {}
                }
            }
            self.step()?;
        }
        Ok(self.finish())
    }

    fn begin(&mut self) -> io::Result<()> {
        let now_ns = self.clock.now_ns();
        (self.begun_ns, self.last_ns, self.last_completion_ns) = (now_ns, now_ns, now_ns);
        (self.warm_up_ended_ns, self.measured_to_ns) = (now_ns, now_ns);
        self.recorder.begin(now_ns);
        if self.limits.warm_up_ns() == 0 {
            self.stage = Stage::Measure;
        }
        for slot in 0..self.slots.len() as u32 {
            self.ask(slot, now_ns);
        }
        self.submit(now_ns)
    }

    /// One batch: reap, count, ask again.
    fn step(&mut self) -> io::Result<()> {
        self.done.clear();
        self.engine.reap(WAIT_NS, &mut self.done)?;
        let now_ns = self.clock.now_ns();
        if self.stage == Stage::Measure {
            self.in_flight_area += u128::from(self.in_flight) * u128::from(now_ns - self.last_ns);
        }
        self.last_ns = now_ns;
        if !self.done.is_empty() {
            self.last_completion_ns = now_ns;
        }
        self.in_flight -= self.done.len() as u64;
        self.count(now_ns);
        self.turn(now_ns);
        if matches!(self.stage, Stage::WarmUp | Stage::Measure) {
            for i in 0..self.done.len() {
                self.ask(self.done[i].slot, now_ns);
            }
        }
        self.submit(now_ns)
    }

    #[inline]
    fn count(&mut self, now_ns: u64) {
        for completion in &self.done {
            let Slot { due_ns, op } = self.slots[completion.slot as usize];
            let moved_bytes = completion.result.max(0) as u64;
            self.issued.ios += 1;
            match op {
                Op::Read => self.issued.read_bytes += moved_bytes,
                Op::Write => self.issued.write_bytes += moved_bytes,
            }
            if matches!(self.stage, Stage::WarmUp | Stage::Measure) {
                self.recorder.record(op, self.block_bytes, completion.result, now_ns - due_ns);
            }
        }
    }

    /// Moves on to the next stage where this batch ends one.
    fn turn(&mut self, now_ns: u64) {
        let since_ns = now_ns - self.begun_ns;
        if self.stage == Stage::WarmUp {
            let turned_over = self.issued.ios >= self.slots.len() as u64;
            if !self.done.is_empty() && turned_over && since_ns >= self.limits.warm_up_ns() {
                self.recorder.end_warm_up(now_ns);
                (self.warm_up_ended_ns, self.measured_to_ns) = (now_ns, now_ns);
                self.stage = Stage::Measure;
                // Measured time begins at this completion, and ends at another.
                return;
            }
        }
        if self.stage == Stage::Measure && !self.done.is_empty() {
            self.measured_to_ns = now_ns;
            let measured_ns = now_ns - self.warm_up_ended_ns;
            if measured_ns >= self.limits.measure_ns() && since_ns >= self.limits.duration_ns {
                self.stage = Stage::Drain;
                self.pending.clear();
            } else {
                self.recorder.look_at_the_window(now_ns);
            }
        }
        if self.stop.load(Ordering::Relaxed) && self.stage != Stage::Done {
            self.stage = Stage::Drain;
            self.pending.clear();
        }
        if self.limits.ios.is_some_and(|limit| self.issued.ios >= limit) {
            self.stage = Stage::Drain;
        }
        let overdue_ns = now_ns - self.last_completion_ns;
        if self.in_flight == 0 && self.stage == Stage::Drain || overdue_ns > HUNG_AFTER_NS {
            self.stage = Stage::Done;
        }
    }

    #[inline]
    fn ask(&mut self, slot: u32, now_ns: u64) {
        if self.limits.ios.is_some_and(|limit| self.asked >= limit) {
            return;
        }
        self.asked += 1;
        let (op, offset_bytes) = self.offsets.draw();
        self.slots[slot as usize] = Slot { due_ns: now_ns, op };
        if op == Op::Write && self.stamps {
            self.buffers.stamp(slot, self.block_bytes, self.asked);
        }
        self.pending.push(Request { slot, op, length_bytes: self.block_bytes, offset_bytes });
    }

    #[inline]
    fn submit(&mut self, now_ns: u64) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let taken = self.engine.submit(now_ns, &self.pending)?;
        self.in_flight += taken as u64;
        self.pending.drain(..taken);
        Ok(())
    }

    fn finish(self) -> Driven {
        let measured_ns = self.measured_to_ns - self.warm_up_ended_ns;
        Driven {
            recorded: self.recorder.finish(self.measured_to_ns),
            warm_up_s: (self.warm_up_ended_ns - self.begun_ns) as f64 / 1e9,
            elapsed_s: (self.last_ns - self.begun_ns) as f64 / 1e9,
            in_flight_mean: (measured_ns > 0).then(|| self.in_flight_area as f64 / measured_ns as f64),
            issued: self.issued,
            hung: self.in_flight,
        }
    }
}
