//! Where a host waits for the others.

use std::io;

/// Where a host waits for the others within a trial.
pub trait Rendezvous {
    /// Whether this host reads the counters of its machine: of several hosts on one machine, one does for all.
    fn counts_machine(&self) -> bool;
    /// All engines of this host are open: returns when all hosts begin, or an error where none does.
    fn start(&mut self) -> io::Result<()>;
    /// Called ten times a second while this host measures for more than 5 s, on a thread that does nothing else.
    /// False ends the trial early, and [`ended`](Self::ended) then says why.
    fn meanwhile(&mut self) -> bool;
    /// The last request of this host is back: returns when that of every host is, so that what is read afterwards is
    /// all of what they did.
    fn ended(&mut self) -> io::Result<()>;
}
