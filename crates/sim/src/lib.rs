//! Pretends: simulated storage on a virtual clock, with known truth.
//!
//! Pure: no file, no clock, no thread. Time is a number that the caller moves; everything drawn comes from
//! one seed, so the same calls give the same run to the last bit.
//!
//! A device is a TOML file ([`DeviceFile`]) whose sections are *parts* that a request passes on its way down
//! to the medium and back up ([`Device`] shows the way on one screen). [`truths`] says what is true of such a
//! device, in closed form and with its derivation, and [`reference()`] computes what no formula gives. Adding a
//! part is one file in `part/` and one line in its registry.

mod builtin;
mod device;
mod event;
mod file;
mod flow;
mod lane;
mod pages;
mod part;
mod random;
mod rates;
mod reference;
mod start;
mod truth;

pub use builtin::{builtin, builtin_names};
pub use device::{Ask, Device, Done, Fate};
pub use file::{DeviceFile, Members, Parameter};
pub use flow::Counters;
pub use part::part_manuals;
pub use reference::{Reference, ReferenceLoad, reference};
pub use start::StartState;
pub use truth::{Known, Truth, truths, truths_with_references};
