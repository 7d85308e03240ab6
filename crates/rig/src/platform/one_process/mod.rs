//! Systems on which one process measures, without another one that waits for it, and without power to give up.

pub mod confine;
pub mod leave;
pub mod memory;
pub mod supervise;
