//! One host: a trial is what its own bed runs.

use std::{io, sync::atomic::AtomicBool};

use iosonde_model::RunHost;
use iosonde_rig::{
    drive::Limits,
    guard::StrayRecorder,
    trial::{Bed, FinishedTrial, Order},
};

use crate::{Coordinator, Deed, Opening};

/// One host, without messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Coordinator for Alone {
    fn count(&self) -> u32 {
        1
    }

    /// Nobody else opens anything, and the run has no list of hosts.
    fn open(
        &mut self,
        _: &Opening,
        _: RunHost,
        _: &mut dyn StrayRecorder,
        _: &AtomicBool,
    ) -> io::Result<Vec<RunHost>> {
        Ok(Vec::new())
    }

    fn run(
        &mut self,
        bed: &mut Bed,
        order: &Order,
        own: &[Limits],
        stop: &AtomicBool,
    ) -> io::Result<FinishedTrial> {
        bed.run_each(order, own, stop)
    }

    fn share(&mut self, _: &Deed, _: &AtomicBool) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: bool) {}
}
