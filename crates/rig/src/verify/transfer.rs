//! Requests one after another, so many at a time, until all have come back: for what is not timed.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::Sync;

use crate::{
    buffer::BufferPool,
    clock::Clock,
    drive::{WAIT_NS, patience_ns},
    engine::{self, Bench, Completions, Engine, Opened, Request, Storage},
};

/// An engine with its buffers.
pub struct Transfer {
    /// `None` once it is left behind with requests that never came back.
    engine: Option<Box<dyn Engine>>,
    clock: Clock,
    buffers: Option<BufferPool>,
    /// Request of each slot.
    requests: Box<[Option<Request>]>,
    idle: Vec<u32>,
}

/// Where requests go, and how.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// The storage.
    pub storage: &'a Storage,
    /// Name of the engine, with options.
    pub engine: &'a str,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Number of the job.
    pub job: u32,
    /// Most requests at a time.
    pub depth: u32,
    /// Length of the largest request.
    pub largest_bytes: u64,
}

impl Transfer {
    /// Opens the engine.
    pub fn open(way: Way) -> io::Result<Self> {
        let (kind, options) = engine::named(way.engine).map_err(io::Error::other)?;
        let depth = way.depth.min(kind.probe(way.storage).map_err(io::Error::other)?.depth_max);
        let buffers = BufferPool::new(depth, way.largest_bytes)?;
        let Opened { engine, clock, .. } = kind.open(&Bench {
            storage: way.storage,
            depth,
            buffers: &buffers,
            direct: way.direct,
            sync: Sync::None,
            options: &options,
            verify: true,
            job: way.job,
            host: 0,
            new_files: None,
        })?;
        let requests = vec![None; depth as usize].into();
        let (engine, buffers) = (Some(engine), Some(buffers));
        Ok(Self { engine, clock, buffers, requests, idle: (0..depth).collect() })
    }

    /// The clock of the storage.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Gives the buffers to somebody who prepares them, one after another.
    pub fn each_buffer(&mut self, mut prepare: impl FnMut(&mut [u8])) {
        let Some(buffers) = &self.buffers else { return };
        for &slot in &self.idle {
            // SAFETY: the slot has no outstanding request, and nobody else has a reference to it.
            prepare(unsafe { buffers.bytes(slot, buffers.slot_bytes()) });
        }
    }

    /// Makes the requests that `next` gives for a slot and its buffer, until it gives none or `stop` is raised. `done`
    /// gets each with its result and the bytes that arrived. Returns the requests that never came back; with any,
    /// nothing more can be transferred.
    pub fn run(
        &mut self,
        mut next: impl FnMut(u32, &mut [u8]) -> Option<Request>,
        mut done: impl FnMut(Request, i32, &[u8]),
        stop: &AtomicBool,
    ) -> io::Result<Vec<Request>> {
        let (Some(engine), Some(buffers)) = (&mut self.engine, &self.buffers) else { return Ok(Vec::new()) };
        let mut pending: Vec<Request> = Vec::new();
        let mut completions = Completions::with_capacity(self.requests.len());
        let mut last_ns = self.clock.now_ns();
        let mut in_flight = 0;
        loop {
            while let Some(&slot) = self.idle.last().filter(|_| !stop.load(Ordering::Relaxed)) {
                // SAFETY: the slot has no outstanding request, and nobody else has a reference to it.
                let buffer = unsafe { buffers.bytes(slot, buffers.slot_bytes()) };
                let Some(request) = next(slot, buffer) else { break };
                self.idle.pop();
                self.requests[slot as usize] = Some(request);
                pending.push(request);
            }
            if pending.is_empty() && in_flight == 0 {
                return Ok(Vec::new());
            }
            let taken = engine.submit(self.clock.now_ns(), &pending)?;
            in_flight += taken;
            pending.drain(..taken);
            completions.clear();
            let comes = wait(engine.as_mut(), &self.clock, &mut completions)?;
            let now_ns = self.clock.now_ns();
            last_ns = if completions.is_empty() { last_ns } else { now_ns };
            in_flight -= completions.len();
            for completion in &completions {
                let slot = completion.slot;
                let Some(request) = self.requests[slot as usize].take() else { continue };
                let arrived = (completion.result.max(0) as usize).min(buffers.slot_bytes());
                // SAFETY: the slot's request has completed, and the slot has not been given to another.
                done(request, completion.result, unsafe { buffers.bytes(slot, arrived) });
                self.idle.push(slot);
            }
            if !comes || now_ns - last_ns > patience_ns(stop.load(Ordering::Relaxed)) {
                return Ok(self.requests.iter().flatten().copied().collect());
            }
        }
    }
}

/// Waits for completions; returns false if none will come.
fn wait(engine: &mut dyn Engine, clock: &Clock, done: &mut Completions) -> io::Result<bool> {
    if let Clock::Virtual(clock) = clock {
        let Some(at_ns) = engine.next_event_ns() else { return Ok(false) };
        clock.advance_to(at_ns);
    }
    engine.reap(WAIT_NS, done)?;
    Ok(true)
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.idle.len() < self.requests.len() {
            // Requests that never completed may still write into the buffers, and closing the engine would wait.
            std::mem::forget((self.engine.take(), self.buffers.take()));
        }
    }
}
