//! Concludes: findings, comparisons, sheets and the fitted device model. Pure: no file, no clock, no printing.
//!
//! Everything here works as well on a run of a year ago as on one that is under way.

pub mod adaptive;
mod advice;
pub mod applications;
mod asking;
mod belief;
pub mod compare;
pub mod conclude;
mod consistency;
pub mod finding;
mod limited;
mod pages;
pub mod portrait;
#[cfg(test)]
mod pretend;
pub mod results;
mod seen;
pub mod sheet;
pub mod storage;
pub mod tabled;
pub mod words;
