//! Planning of a run: experiments, the points of a study, and the schedule of trials.
//!
//! [`points::plan`] turns a study and a device into points; [`schedule::Schedule`] returns the next trial from the
//! trials so far. All functions are pure: nothing here makes I/O or reads a clock.

pub mod experiment;
pub mod fio;
pub mod points;
pub mod schedule;
