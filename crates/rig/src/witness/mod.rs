//! Witnesses: readings of system counters before and after a trial, and their differences.
//!
//! Each system has its own ([`Watch`]); what they share is here.

mod clocks;
mod counter;

pub(crate) use clocks::since;
pub(crate) use counter::grown;

pub use crate::platform::witness::{Watch, resident_bytes, thread_cpu, thread_delay_s};
