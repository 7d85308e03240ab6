//! A link between threads of one process, for tests of everything but MPI itself.

use std::{
    io,
    sync::mpsc::{Receiver, Sender, TryRecvError, channel},
};

use crate::Link;

/// One end of it.
#[derive(Debug)]
pub struct ThreadLink {
    rank: u32,
    to: Vec<Sender<(u32, Vec<u8>)>>,
    from: Receiver<(u32, Vec<u8>)>,
}

/// Links of so many hosts, each for a thread.
pub fn links(count: u32) -> Vec<ThreadLink> {
    let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let link = |(rank, from)| ThreadLink { rank, to: to.clone(), from };
    (0..count).zip(from).map(link).collect()
}

impl Link for ThreadLink {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn count(&self) -> u32 {
        self.to.len() as u32
    }

    fn send(&mut self, to: u32, message: &[u8]) -> io::Result<()> {
        // One that is gone is noticed by its silence, as over a network.
        let _ = self.to[to as usize].send((self.rank, message.to_vec()));
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        match self.from.try_recv() {
            Ok(message) => Ok(Some(message)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(None),
        }
    }

    fn close(&mut self, _: bool) {}
}
