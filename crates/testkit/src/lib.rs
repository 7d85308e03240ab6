//! Test support: runs with known answers, and schedules run on storage with given faults. No product crate
//! depends on it.

pub mod plain;
pub mod pretend;
pub mod schedule;
pub mod sentence;
pub mod specimen;
