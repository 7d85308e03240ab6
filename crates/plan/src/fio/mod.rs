//! fio's job files and command lines: read, checked, and laid out as workloads.
//!
//! [`read`] takes text apart into sections of options with their places, [`Job::of`] makes typed jobs of them,
//! [`groups`] cuts them where one waits for others, and [`Group::lay`] makes one workload of the jobs that run at once.
//! Nothing is dropped: an option that is not supported is a [`Refusal`] with its place and the nearest supported thing.

mod ending;
mod engine;
mod given;
mod job;
mod latency_target;
mod layout;
mod least_rate;
mod load;
mod option;
mod place;
pub mod read;
mod refusal;
mod report;

pub use ending::ExitWhat;
pub use given::{Advice, Amount, Change};
pub use job::{Job, JobFiles};
pub use latency_target::{DepthSearch, LatencyTarget};
pub use layout::{Caps, Ends, Found, Group, Laid, Site, groups};
pub use least_rate::{LeastRate, TooSlow};
pub use option::{FioOption, GENERAL, OPTIONS, Role, Takes};
pub use place::Place;
pub use read::{CommandLine, Given, Section, World};
pub use refusal::{Refusal, Why};

#[cfg(test)]
mod tests;
