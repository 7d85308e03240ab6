//! One request at a time, by a call that waits for its answer.

use std::io;

use iosonde_model::LoopNote;

use super::{Completion, Completions, Engine, Request};
use crate::platform::positioned::Positioned;

/// The loop's own thread makes the call in `submit`, and has its result in `reap`.
pub(super) struct Waiting {
    calls: Positioned,
    done: Option<Completion>,
}

impl Waiting {
    pub(super) fn new(calls: Positioned) -> Self {
        Self { calls, done: None }
    }
}

impl Engine for Waiting {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let (Some(request), None) = (requests.first(), self.done) else { return Ok(0) };
        self.done = Some(Completion { slot: request.slot, result: self.calls.call(request) });
        Ok(1)
    }

    fn reap(&mut self, _wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        done.extend(self.done.take());
        Ok(())
    }

    fn remarks(&self) -> Vec<LoopNote> {
        self.calls.remarks()
    }
}
