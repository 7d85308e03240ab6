//! Concludes: findings, comparisons, sheets and the fitted device model. Pure: no file, no clock, no printing.
//!
//! Everything here works as well on a run of a year ago as on one that is under way.

pub mod adaptive;
pub mod answered_limit;
pub mod capacity;
pub mod cold;
pub mod compare;
pub mod conclude;
mod consistency;
pub mod enough_depth;
pub mod enough_size;
pub mod files;
pub mod finding;
pub mod hosts;
pub mod portrait;
pub mod requirement;
pub mod sheet;
pub mod slow;
#[cfg(test)]
mod testing;
pub mod validity;
