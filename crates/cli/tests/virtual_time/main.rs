//! The program from end to end where no clock but the simulation's runs: on simulated devices, and on files of other
//! tools. One test program, so that it is linked once and all processors have work until the end.

#[path = "../common/mod.rs"]
mod common;

mod check;
mod cold;
mod compare;
mod fio;
mod headlines;
mod hosts;
mod in_turn;
mod layouts;
mod limits;
mod mistakes;
mod notebook;
mod portrait;
mod proofs;
mod reports;
mod results;
mod selftest;
mod simulated;
mod soak;
mod spec;
mod tools;
mod widths;
mod workloads;
