//! One file a subcommand.

pub mod capacity;
pub mod check;
pub mod cold;
pub mod compare;
pub mod devices;
pub mod doctor;
pub mod export;
pub mod files;
pub mod fio;
pub mod import;
pub mod judge;
pub mod latency_limit;
mod list;
pub mod ls;
pub mod man;
pub mod point;
pub mod portrait;
pub mod registry;
pub mod report;
pub mod resume;
pub mod rm;
pub mod run;
pub mod selftest;
pub mod show;
pub mod spec;
pub mod studies;
