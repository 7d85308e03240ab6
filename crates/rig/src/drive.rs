//! Measured loop of one job: keeps the queue depth, or sends requests when they are due; stamps times and counts.
//!
//! It is a state machine, so that several jobs can share one virtual clock; on real engines a worker runs its own
//! to the end. Per batch it makes one reading of the clock and the engine's own system call, and allocates nothing.
//!
//! **Time stamps.** In a closed loop a request is due the moment the batch is reaped that freed its slot; in an open
//! loop, when the pace says so. Its latency ends when its completion is seen: latency includes submission, and what the
//! program itself adds between two batches.
//!
//! **Warm-up.** What completes in the first tenth of a trial (at least 25 ms, at most 5 s) does not count, nor
//! anything before the number of completed requests has reached the depth: until then the queue is still filling.
//! Where that takes longer than planned, the trial lasts longer: the measured time is never cut.
//!
//! Jobs of one trial measure the same stretch (see `together.rs`).
//!
//! **Ends.** Measured time begins and ends at a completion, not at a tick: a fixed interval would count one request
//! too few or too many, which is 5 % where twenty 4 MiB writes fit into it.
//!
//! **Flushes** are issued once the job's earlier requests have completed, and nothing is sent beside them: that is
//! what a program that waits for its log does, and a flush beside outstanding writes does not cover them. Pauses
//! between requests begin in the same way (see `pauses.rs`). With one flush at a job's end, measured time begins with
//! its first request and ends with that flush, however long it takes; what was written is then on the storage.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::{Histogram, Op, Trial, TrialSpec};

pub use crate::{
    early_end::{Early, Takes},
    issued::Issued,
};

use crate::{
    buffer::BufferPool,
    clock::{self, Clock},
    early_end::{EarlyEnds, OwnEnd},
    engine::{Completions, Engine, Request},
    long_flush::LongFlush,
    offset::{Draw, Offsets},
    pace::Pace,
    pauses::Pauses,
    payload::Maker,
    recorder::{Recorded, Recorder, STALL_NS},
    slots::{self, IdleSlots},
    together::{Attendance, Together},
    verify::Verify,
};

/// Longest wait for one completion before the clock is looked at again.
pub(crate) const WAIT_NS: u64 = 1_000_000_000;
/// Where nothing has come back for so long, what is out is given up and counted as hung. Linux gives a block device
/// 30 s for a request by default.
const HUNG_AFTER_NS: u64 = 35_000_000_000;
/// After the user has ended the run: nobody waits at a prompt for half a minute.
const HUNG_AFTER_STOP_NS: u64 = 3_000_000_000;

/// How long nothing may come back until what is out is given up.
pub(crate) const fn patience_ns(stopped: bool) -> u64 {
    if stopped { HUNG_AFTER_STOP_NS } else { HUNG_AFTER_NS }
}

/// A wait overshoots by 3..22 µs (99th percentile 47): the last stretch before a due moment is polled.
const POLL_NS: u64 = 60_000;

/// Duration and warm-up of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Time from the first submission to the end of counting.
    pub duration_ns: u64,
    /// The warm-up; `None` for the rule above.
    pub warm_up_ns: Option<u64>,
    /// Requests of each job after which it ends, if that comes first.
    pub ios: Option<u64>,
    /// What else ends a job before that.
    pub early: Early,
}

impl Limits {
    /// A trial of a given length.
    pub fn time(duration_ns: u64) -> Self {
        Self { duration_ns, warm_up_ns: None, ios: None, early: Early::default() }
    }

    /// A trial that makes exactly so many requests, without warm-up: filling.
    pub fn requests(ios: u64) -> Self {
        Self { warm_up_ns: Some(0), ios: Some(ios), ..Self::time(u64::MAX) }
    }

    fn warm_up_ns(&self) -> u64 {
        // Exactly this many requests: all of them are counted.
        self.warm_up_ns
            .unwrap_or_else(|| if self.ios.is_some() { 0 } else { Self::usual_warm_up_ns(self.duration_ns) })
    }

    /// The warm-up of a trial of so long.
    pub fn usual_warm_up_ns(duration_ns: u64) -> u64 {
        Trial::usual_warm_up_ns(duration_ns)
    }

    /// Shortest measured time after the warm-up. Slow storage would otherwise be judged by the first request that
    /// completes after it.
    fn measure_ns(&self) -> u64 {
        self.duration_ns.saturating_sub(self.warm_up_ns())
    }
}

/// Results of one job.
#[derive(Debug)]
pub struct Driven {
    /// Counts and histograms of the measured time.
    pub recorded: Recorded,
    /// Time from the first submission to the end of the warm-up, in seconds.
    pub warm_up_s: f64,
    /// Time from the first submission to the end of the drain, in seconds.
    pub elapsed_s: f64,
    /// Mean queue depth, time-weighted over the measured time.
    pub in_flight_mean: Option<f64>,
    /// Bytes and requests completed, warm-up and drain included.
    pub issued: Issued,
    /// Requests that never came back.
    pub hung: u64,
    /// Open loop: requests due within the measured time and never sent.
    pub unserved: u64,
    /// Open loop: time spent watching the clock for the next due moment, which is waiting, not work.
    pub polled_s: f64,
    /// Open loop: how late requests were handed on for which a slot was free.
    pub pacing_error: Option<Histogram>,
    /// Result of verification, or the blocks to read back.
    pub verify: Option<Verify>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    WarmUp,
    Measure,
    /// Nothing more is sent but the flush at the end.
    Flush,
    Drain,
    Done,
}

impl Stage {
    /// Returns true while requests are sent.
    #[inline]
    fn sends(self) -> bool {
        matches!(self, Self::WarmUp | Self::Measure)
    }
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    due_ns: u64,
    offset_bytes: u64,
    length_bytes: u32,
    op: Op,
}

/// Flushes of a job.
#[derive(Debug)]
struct Flushes {
    /// Writes between two; `None` for one at the job's end.
    every: Option<u32>,
    writes_since: u32,
    under_way: bool,
    /// When the first write since the last flush was due: a commit begins there.
    commit_from_ns: u64,
    /// The one at the end, while it is under way.
    last: Option<LongFlush>,
}

impl Flushes {
    /// Returns true if nothing may be sent before a flush has completed.
    #[inline]
    fn hold(&self) -> bool {
        self.under_way || self.every.is_some_and(|every| self.writes_since >= every)
    }
}

/// An open loop's pace and its own lateness.
#[derive(Debug)]
struct Open {
    pace: Pace,
    /// When requests could be sent again after none could, for want of a slot or before a flush: what was due
    /// earlier waited for the storage, not for us.
    slot_free_since_ns: u64,
    late_ns: Histogram,
    unserved: u64,
    /// Time in which the clock was watched for the next due moment and nothing else happened.
    polled_ns: u64,
}

/// Measured loop of one job of a trial.
pub struct Drive<'a> {
    engine: &'a mut dyn Engine,
    clock: &'a Clock,
    buffers: &'a BufferPool,
    offsets: Offsets,
    recorder: Recorder,
    limits: Limits,
    stop: &'a AtomicBool,
    attendance: Attendance<'a>,
    own_end: OwnEnd<'a>,
    /// Makes what is written; `None` where nobody looks at it: a simulated device does not.
    maker: Option<Maker>,
    verify: Option<Verify>,
    /// True if what would be sent next waits for a write to the same block.
    blocked: bool,
    open: Option<Open>,
    flushes: Option<Flushes>,
    pauses: Option<Pauses>,
    depth: u64,
    /// A queue that was full is filled again when it has come down to this.
    refill_at: u64,
    /// False from a full queue on until then.
    filling: bool,
    /// Time from the trial's beginning to the first request.
    delay_ns: u64,
    slots: Box<[Slot]>,
    idle: IdleSlots,
    pending: Vec<Request>,
    done: Completions,
    stage: Stage,
    in_flight: u64,
    begun_ns: u64,
    last_ns: u64,
    last_completion_ns: u64,
    warm_up_ended_ns: u64,
    measured_to_ns: u64,
    /// Outstanding requests times nanoseconds, up to now and up to the end of measured time: while a hang is waited
    /// for, the first goes on growing.
    in_flight_area: u128,
    measured_area: u128,
    asked: u64,
    issued: Issued,
}

impl<'a> Drive<'a> {
    /// A job that has not begun; `stop` ends it early (its figures are then worth nothing). The pool holds as many
    /// buffers as `slots::slots` says.
    pub fn new(
        engine: &'a mut dyn Engine,
        clock: &'a Clock,
        buffers: &'a BufferPool,
        spec: &TrialSpec,
        (offsets, seed): (Offsets, u64),
        limits: Limits,
        stop: &'a AtomicBool,
    ) -> Self {
        let depth = spec.queue_depth as usize;
        let expected_ns = if limits.duration_ns == u64::MAX { 0 } else { limits.duration_ns };
        let open = spec.rate_iops.map(|rate_iops| Open {
            pace: Pace::new(rate_iops, spec.arrivals, seed),
            slot_free_since_ns: 0,
            late_ns: Histogram::new(),
            unserved: 0,
            polled_ns: 0,
        });
        Self {
            engine,
            clock,
            buffers,
            offsets,
            recorder: Recorder::new(spec, expected_ns),
            limits,
            stop,
            attendance: Attendance::default(),
            own_end: OwnEnd::default(),
            maker: (spec.rw.writes() && !matches!(clock, Clock::Virtual(_))).then(|| Maker::new(spec, seed)),
            verify: None,
            blocked: false,
            open,
            flushes: spec.sync.flushes().then(|| Flushes {
                every: spec.sync.flush_every(),
                writes_since: 0,
                under_way: false,
                commit_from_ns: 0,
                last: None,
            }),
            pauses: Pauses::of(spec),
            depth: depth as u64,
            refill_at: spec.refill_at.map_or(depth as u64, u64::from).min(depth as u64 - 1),
            filling: true,
            delay_ns: spec.delay_ns,
            slots: vec![
                Slot { due_ns: 0, offset_bytes: 0, length_bytes: 0, op: Op::Read };
                slots::slots(spec) as usize
            ]
            .into(),
            idle: IdleSlots::new(spec),
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
            measured_area: 0,
            asked: 0,
            issued: Issued::default(),
        }
    }

    /// Adds verification to the loop.
    #[must_use]
    pub fn verifying(self, verify: Option<Verify>) -> Self {
        // Marks make each block unlike every other.
        let maker = self.maker.filter(|_| verify.is_none());
        Self { verify, maker, ..self }
    }

    /// Makes the loop measure while all other jobs of its trial do. A job that ends by its own count, or with its own
    /// flush, does not wait.
    #[must_use]
    pub(crate) fn beside(self, together: Option<&'a Together>) -> Self {
        let together = together.filter(|_| self.limits.ios.is_none() && !self.flushes_at_end());
        Self { attendance: Attendance::of(together), ..self }
    }

    /// Makes the loop end where others of its trial tell it to.
    #[must_use]
    pub(crate) fn ending(self, ends: Option<&'a EarlyEnds>) -> Self {
        Self { own_end: OwnEnd::of(ends, self.limits.early), ..self }
    }

    fn flushes_at_end(&self) -> bool {
        self.flushes.as_ref().is_some_and(|flushes| flushes.every.is_none())
    }

    /// A flush at the end writes out what the warm-up wrote, too: without other instructions there is none.
    fn warm_up_ns(&self) -> u64 {
        let is_whole = self.flushes_at_end() && self.limits.warm_up_ns.is_none();
        if is_whole { 0 } else { self.limits.warm_up_ns() }
    }

    /// How long nothing may come back until what is out is given up.
    #[inline]
    fn patience_ns(&self, stopped: bool) -> u64 {
        let is_flushing = self.flushes.as_ref().is_some_and(|flushes| flushes.last.is_some());
        if is_flushing && !stopped { u64::MAX } else { patience_ns(stopped) }
    }

    /// Returns true if the job has ended.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Sends the first requests.
    pub fn begin(&mut self) -> io::Result<()> {
        let now_ns = self.clock.now_ns();
        let first_ns = now_ns.saturating_add(self.delay_ns);
        (self.begun_ns, self.last_ns, self.last_completion_ns) = (first_ns, now_ns, first_ns);
        (self.warm_up_ended_ns, self.measured_to_ns) = (first_ns, first_ns);
        self.recorder.begin(now_ns, first_ns);
        self.own_end.begin(first_ns);
        if let Some(open) = &mut self.open {
            open.pace.begin(first_ns);
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.begin(first_ns);
        }
        if self.warm_up_ns() == 0 {
            self.stage = Stage::Measure;
        }
        self.ask(now_ns);
        self.submit(now_ns)
    }

    /// Virtual time: the earliest moment at which there is something to do; `None` where nothing will ever come.
    pub fn next_moment_ns(&self) -> Option<u64> {
        let due_ns = self.open.as_ref().filter(|_| self.may_ask()).map(|open| open.pace.next_due_ns());
        let now_ns = (!self.pending.is_empty()).then(|| self.clock.now_ns());
        let resumes_ns = self.pause_until_ns();
        [self.engine.next_event_ns(), due_ns, resumes_ns, now_ns].into_iter().flatten().min()
    }

    /// Virtual time: the last moment up to which only a completion gives this loop something to do. An open loop also
    /// acts, and counts its polling, between completions; where all is stuck, a hang ends the trial.
    pub(crate) fn waits_until_ns(&self) -> u64 {
        let waits = self.open.is_none() && self.pending.is_empty();
        let hung_ns = self.last_completion_ns.saturating_add(self.patience_ns(false));
        if waits {
            self.pause_until_ns().map_or(hung_ns, |until_ns| until_ns.min(hung_ns))
        } else {
            self.last_ns
        }
    }

    /// Virtual time: the next moment at which this loop has something to do without a completion: a request is due, or
    /// a hang ends the trial.
    pub(crate) fn own_moment_ns(&self) -> u64 {
        let due_ns = self.open.as_ref().filter(|_| self.may_ask()).map(|open| open.pace.next_due_ns());
        let offered_ns = (!self.pending.is_empty()).then_some(self.last_ns);
        let hung_ns = self.last_completion_ns.max(self.last_ns).saturating_add(self.patience_ns(false));
        [due_ns, self.pause_until_ns(), offered_ns].into_iter().flatten().fold(hung_ns, u64::min)
    }

    /// End of the pause that is under way.
    #[inline]
    fn pause_until_ns(&self) -> Option<u64> {
        self.pauses.as_ref().filter(|_| self.stage.sends())?.until_ns(self.last_ns)
    }

    #[inline]
    fn held_by_a_pause(&self, now_ns: u64) -> bool {
        self.pauses.as_ref().is_some_and(|pauses| pauses.hold(now_ns))
    }

    /// Returns true if fewer requests are outstanding than the depth, and a queue that was full has come down to where
    /// it is filled again.
    #[inline]
    fn has_room(&self) -> bool {
        self.filling && self.in_flight + (self.pending.len() as u64) < self.depth
    }

    /// Returns true if a request that is due now would be sent.
    #[inline]
    fn can_send(&self) -> bool {
        let held = self.held_by_a_flush() || self.held_by_a_pause(self.last_ns);
        self.has_room() && !self.blocked && !held && self.wanted() > 0
    }

    /// Number of requests that it may still ask for.
    #[inline]
    fn wanted(&self) -> u64 {
        self.limits.ios.map_or(u64::MAX, |limit| limit.saturating_sub(self.asked))
    }

    fn may_ask(&self) -> bool {
        self.stage.sends() && self.can_send()
    }

    /// Runs one batch: reaps completions, counts them, submits requests.
    pub fn step(&mut self) -> io::Result<()> {
        self.done.clear();
        let wait_ns = self.wait_ns();
        let may_idle = self.open.is_some() || self.pauses.is_some();
        let nothing_out = self.in_flight == 0 && self.pending.is_empty() && may_idle;
        if nothing_out && matches!(self.clock, Clock::Real { .. }) {
            // Nothing can complete: an engine that blocks would come back at once and spin.
            clock::sleep_ns(wait_ns);
        } else {
            // A simulated device has doings of its own (a buffer that empties), and no moment passes before they are
            // done.
            self.engine.reap(wait_ns, &mut self.done)?;
        }
        let now_ns = self.clock.now_ns();
        if matches!(self.stage, Stage::Measure | Stage::Flush) {
            self.in_flight_area += u128::from(self.in_flight) * u128::from(now_ns - self.last_ns);
        }
        let since_ns = now_ns - self.last_ns;
        self.last_ns = now_ns;
        if !self.done.is_empty() {
            if now_ns.saturating_sub(self.last_completion_ns) >= STALL_NS {
                self.stalled(now_ns);
            }
            self.last_completion_ns = now_ns;
            if self.attendance.is_over() {
                // The others have ended since this job's last completion, so that this one was served alone.
                self.end();
            }
            self.count(now_ns);
        } else if let Some(open) = self.open.as_mut().filter(|_| wait_ns == 0) {
            open.polled_ns += since_ns;
        }
        self.turn(now_ns);
        if self.stage.sends() {
            self.ask(now_ns);
        } else if self.stage == Stage::Flush {
            self.flush(now_ns);
        }
        self.submit(now_ns)
    }

    /// How long a reap may wait: until shortly before the next request is due, and then not at all.
    #[inline]
    fn wait_ns(&self) -> u64 {
        if let Some(until_ns) = self.pause_until_ns() {
            let spins = self.pauses.as_ref().is_some_and(|pauses| pauses.spins(self.last_ns));
            let left_ns = (until_ns - self.last_ns).saturating_sub(POLL_NS).min(WAIT_NS);
            return if spins { 0 } else { left_ns };
        }
        match &self.open {
            Some(open) if self.stage.sends() => {
                let until_ns = open.pace.next_due_ns().saturating_sub(self.last_ns);
                if self.can_send() { until_ns.saturating_sub(POLL_NS).min(WAIT_NS) } else { WAIT_NS }
            }
            _ => WAIT_NS,
        }
    }

    #[inline]
    fn count(&mut self, now_ns: u64) {
        let could_not_send = !self.can_send();
        self.blocked = false;
        self.in_flight -= self.done.len() as u64;
        self.filling |= self.in_flight + self.pending.len() as u64 <= self.refill_at;
        if let Some(open) = self.open.as_mut().filter(|_| could_not_send) {
            open.slot_free_since_ns = now_ns;
        }
        let counts = self.stage.sends() || self.stage == Stage::Flush;
        for completion in &self.done {
            let Slot { due_ns, offset_bytes, length_bytes, op } = self.slots[completion.slot as usize];
            if let Some(verify) = &mut self.verify {
                let request = Request { slot: completion.slot, op, length_bytes, offset_bytes };
                verify.complete(self.buffers, &request, completion.result);
            }
            self.idle.give_back(op, completion.slot);
            let moved_bytes = completion.result.max(0) as u64;
            match op {
                Op::Read => self.issued.read_bytes += moved_bytes,
                Op::Write => self.issued.write_bytes += moved_bytes,
                Op::Trim => self.issued.trim_bytes += moved_bytes,
                Op::Flush => {
                    let flushes = self.flushes.as_mut().expect("it was sent");
                    (flushes.under_way, flushes.last) = (false, None);
                    let of_all = flushes.every.is_none();
                    if counts {
                        self.recorder.record(op, 0, completion.result, now_ns - due_ns);
                    }
                    if counts && !of_all && completion.result >= 0 {
                        self.recorder.record_commit(now_ns - flushes.commit_from_ns);
                    }
                    continue;
                }
            }
            self.issued.ios += 1;
            if counts {
                self.recorder.record(op, length_bytes, completion.result, now_ns - due_ns);
            }
        }
    }

    /// Notes that nothing completed since the last completion. An open loop may have had nothing to send.
    #[cold]
    fn stalled(&mut self, now_ns: u64) {
        if self.open.is_none() && self.stage.sends() {
            self.recorder.stalled(self.last_completion_ns, now_ns, &self.issued);
        }
    }

    /// Moves on to the next stage where this batch ends one.
    fn turn(&mut self, now_ns: u64) {
        let since_ns = now_ns.saturating_sub(self.begun_ns);
        if self.stage == Stage::WarmUp {
            // An open loop's depth is a limit, not a queue that must fill.
            let turned_over = self.open.is_some() || self.issued.ios >= self.depth;
            let is_warm = !self.done.is_empty() && turned_over && since_ns >= self.warm_up_ns();
            if is_warm && self.attendance.is_warm() {
                self.recorder.end_warm_up(now_ns);
                (self.warm_up_ended_ns, self.measured_to_ns) = (now_ns, now_ns);
                self.stage = Stage::Measure;
                if let Some(open) = &mut self.open {
                    open.late_ns.clear();
                }
                // Measured time begins at this completion, and ends at another.
                return;
            }
        }
        let counts = matches!(self.stage, Stage::Measure | Stage::Flush);
        if counts && !self.done.is_empty() {
            (self.measured_to_ns, self.measured_area) = (now_ns, self.in_flight_area);
        }
        if self.stage == Stage::Measure && !self.done.is_empty() {
            let measured_ns = now_ns - self.warm_up_ended_ns;
            let has_finished = measured_ns >= self.limits.measure_ns() && since_ns >= self.limits.duration_ns;
            if has_finished && self.attendance.has_finished() {
                self.end();
            } else {
                self.recorder.look_at_the_window(now_ns);
            }
        }
        let stopped = self.stop.load(Ordering::Relaxed);
        let over = stopped || self.own_end.is_over(now_ns, &self.issued);
        if stopped && self.stage != Stage::Done {
            self.drain();
        } else if over {
            self.end();
        }
        // The flush that the last requests are due for belongs to them.
        if self.limits.ios.is_some_and(|limit| self.issued.ios >= limit) && !self.held_by_a_flush() {
            self.end();
        }
        if self.stage == Stage::Flush && self.is_flushed() {
            self.drain();
        }
        let overdue_ns = now_ns.saturating_sub(self.last_completion_ns);
        // An open loop may have nothing to send for longer.
        let hung = overdue_ns > self.patience_ns(stopped) && (self.in_flight > 0 || self.open.is_none());
        if hung && self.stage.sends() {
            // Requests that were due meanwhile could not be sent.
            self.measured_until(now_ns);
            self.drain();
        }
        if self.in_flight == 0 && self.stage == Stage::Drain || hung {
            self.stage = Stage::Done;
        }
    }

    /// Counts requests that were due by then and never sent as unserved.
    fn measured_until(&mut self, end_ns: u64) {
        let wanted = self.wanted();
        if let Some(open) = &mut self.open {
            open.unserved += open.pace.skip_to(end_ns).min(wanted);
        }
    }

    /// Sends nothing more but the flush at the end, where there is one.
    fn end(&mut self) {
        if !self.stage.sends() {
            return;
        }
        if self.flushes_at_end() && self.stage == Stage::Measure {
            self.take_back();
            self.measured_until(self.measured_to_ns);
            self.own_end.leave();
            self.stage = Stage::Flush;
        } else {
            self.drain();
        }
    }

    /// Returns true once everything written has been flushed.
    fn is_flushed(&self) -> bool {
        let is_idle = self.in_flight == 0 && self.pending.is_empty();
        is_idle && self.flushes.as_ref().is_none_or(|flushes| flushes.writes_since == 0)
    }

    fn drain(&mut self) {
        if self.stage != Stage::Drain {
            self.stage = Stage::Drain;
            self.attendance.leave();
            self.own_end.leave();
            self.measured_until(self.measured_to_ns);
        }
        self.take_back();
    }

    /// Requests that the engine has not taken are given back.
    fn take_back(&mut self) {
        while let Some(request) = self.pending.pop() {
            if let Some(verify) = &mut self.verify {
                verify.take_back(&request);
            }
            self.idle.give_back(request.op, request.slot);
        }
    }

    /// Generates requests up to the depth, as far as they are due.
    #[inline]
    fn ask(&mut self, now_ns: u64) {
        while self.has_room() {
            if self.held_by_a_flush() {
                return self.flush(now_ns);
            }
            if self.held_by_a_pause(now_ns) {
                return self.pause(now_ns);
            }
            if self.wanted() == 0 {
                return;
            }
            let due_ns = self.open.as_ref().map_or(now_ns, |open| open.pace.next_due_ns());
            if due_ns > now_ns {
                return;
            }
            let Some(draw) = self.draw() else {
                self.blocked = true;
                return;
            };
            if let Some(open) = &mut self.open {
                open.pace.advance();
                if due_ns >= open.slot_free_since_ns {
                    open.late_ns.record(now_ns - due_ns);
                }
            }
            self.request(draw, due_ns);
        }
        self.filling = false;
    }

    /// Begins the pause that is due, once nothing is out. No completion can be missing in it.
    fn pause(&mut self, now_ns: u64) {
        if self.in_flight == 0
            && self.pending.is_empty()
            && let Some(until_ns) = self.pauses.as_mut().and_then(|pauses| pauses.pause(now_ns))
        {
            self.last_completion_ns = until_ns;
        }
    }

    #[inline]
    fn draw(&mut self) -> Option<Draw> {
        match &mut self.verify {
            None => Some(self.offsets.draw()),
            Some(verify) => verify.draw(&mut self.offsets),
        }
    }

    #[inline]
    fn request(&mut self, (op, offset_bytes, length_bytes): Draw, due_ns: u64) {
        self.asked += 1;
        if let Some(pauses) = &mut self.pauses {
            pauses.sent();
        }
        let slot = self.idle.take(op);
        self.slots[slot as usize] = Slot { due_ns, offset_bytes, length_bytes, op };
        if op == Op::Write {
            if let Some(maker) = &mut self.maker {
                maker.make(self.buffers, slot, length_bytes);
            }
            if let Some(flushes) = &mut self.flushes {
                if flushes.writes_since == 0 {
                    flushes.commit_from_ns = due_ns;
                }
                flushes.writes_since = flushes.writes_since.saturating_add(1);
            }
        }
        let request = Request { slot, op, length_bytes, offset_bytes };
        if let Some(verify) = &mut self.verify {
            verify.issue(self.buffers, &request);
        }
        self.pending.push(request);
    }

    #[inline]
    fn held_by_a_flush(&self) -> bool {
        self.flushes.as_ref().is_some_and(Flushes::hold)
    }

    /// Sends the flush that is due, once nothing else is out.
    fn flush(&mut self, now_ns: u64) {
        let Some(flushes) = self.flushes.as_mut().filter(|flushes| !flushes.under_way) else { return };
        let nothing_written = flushes.every.is_none() && flushes.writes_since == 0;
        if self.in_flight > 0 || !self.pending.is_empty() || nothing_written {
            return;
        }
        flushes.last = flushes.every.is_none().then(LongFlush::begin);
        (flushes.writes_since, flushes.under_way) = (0, true);
        let slot = self.idle.take(Op::Flush);
        self.slots[slot as usize] = Slot { due_ns: now_ns, offset_bytes: 0, length_bytes: 0, op: Op::Flush };
        self.pending.push(Request { slot, op: Op::Flush, length_bytes: 0, offset_bytes: 0 });
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

    /// Ends the job and returns its results.
    pub fn finish(self) -> Driven {
        let measured_ns = self.measured_to_ns - self.warm_up_ended_ns;
        let (unserved, polled_ns, pacing_error) = match self.open {
            Some(open) => (open.unserved, open.polled_ns, Some(open.late_ns)),
            None => (0, 0, None),
        };
        Driven {
            recorded: self.recorder.finish(self.measured_to_ns),
            warm_up_s: (self.warm_up_ended_ns - self.begun_ns) as f64 / 1e9,
            elapsed_s: (self.last_ns + self.delay_ns).saturating_sub(self.begun_ns) as f64 / 1e9,
            in_flight_mean: (measured_ns > 0).then(|| self.measured_area as f64 / measured_ns as f64),
            issued: self.issued,
            hung: self.in_flight,
            unserved,
            polled_s: polled_ns as f64 / 1e9,
            pacing_error,
            verify: self.verify,
        }
    }
}
