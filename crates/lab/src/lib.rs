//! Thinks: statistics, experiments, the schedule, checks and findings. Pure: no file, no clock, no printing.
//!
//! Everything here works as well on a run of a year ago as on one that is under way.

mod advice;
pub mod applications;
mod asking;
mod belief;
pub mod between;
pub mod check;
pub mod compare;
pub mod conclude;
mod consistency;
pub mod estimate;
pub mod evidence;
pub mod experiment;
pub mod finding;
mod limited;
mod pages;
pub mod plan;
pub mod portrait;
#[cfg(test)]
mod pretend;
mod reach;
pub mod results;
pub mod schedule;
mod seen;
pub mod settling;
pub mod sheet;
pub mod stats;
pub mod storage;
pub mod tabled;
mod trends;
pub mod words;
