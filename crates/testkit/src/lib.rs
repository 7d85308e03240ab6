//! Test support: runs with known answers, and schedules run on storage that misbehaves as told. No product crate
//! depends on it.

pub mod plain;
pub mod pretend;
pub mod schedule;
pub mod specimen;
