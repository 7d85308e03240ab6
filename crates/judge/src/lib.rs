//! Doubts: checks over trials and what was seen around them, which figures are valid, and the estimates of points.
//!
//! Pure: no file, no clock, no printing.

pub mod achieved_rate;
pub mod check;
pub mod drift;
pub mod estimate;
pub mod evidence;
pub mod host_rates;
pub mod host_turns;
pub mod levels;
pub mod mean_depth;
pub mod preconditioning;
pub mod reach;
pub mod settling;
pub mod silence;
pub mod standing;
pub mod trends;
pub mod validity;
