//! The kinds of devices: what is drawn, how it is studied, what is true of it, and on which of them the truth can be
//! told. The last is fixed from the parameters before anything is measured.

mod ahead;
mod cache;
mod crossing;
mod dip;
mod disk;
mod line;
mod long_write;
mod network;
mod queue;
mod rewrite;
mod two_buffers;
mod units;
mod volume;
mod workers;

use iosonde_model::{Finding, FindingName, Op};
use iosonde_sim::{DeviceFile, truths};

use crate::draw::Dice;

/// A kind of device.
pub struct Kind {
    pub name: &'static str,
    pub draw: fn(&mut Dice) -> Drawn,
}

/// Every kind.
pub const KINDS: &[Kind] = &[
    queue::KIND,
    line::KIND,
    long_write::KIND,
    disk::KIND,
    units::KIND,
    rewrite::KIND,
    cache::KIND,
    dip::KIND,
    crossing::KIND,
    volume::KIND,
    ahead::KIND,
    two_buffers::KIND,
    network::KIND,
    workers::ALIKE,
    workers::BUSY,
];

/// A device with its study.
pub struct Drawn {
    /// As TOML.
    pub device: String,
    /// As TOML.
    pub study: String,
    /// Bytes that are addressed.
    pub span_bytes: u64,
    /// Share by which rates change in an hour.
    pub drift: f64,
    /// What is true.
    pub expected: Vec<Expected>,
}

/// What should be found.
pub struct Expected {
    pub finding: FindingName,
    pub op: Option<Op>,
    /// Further conditions.
    pub which: fn(&Finding) -> bool,
    pub truth: True,
    /// Whether a refusal is wrong.
    pub identifiable: bool,
}

/// What is true of a device.
#[derive(Debug, Clone, Copy)]
pub enum True {
    /// It has no such thing.
    Absent,
    /// Follows the drift.
    Rate(f64),
    /// Goes against it.
    Time(f64),
    /// Is what it is.
    Fixed(f64),
}

impl Expected {
    pub fn new(finding: FindingName, op: Op, truth: True, identifiable: bool) -> Self {
        Self { finding, op: Some(op), which: |_| true, truth, identifiable }
    }
}

/// The truth in closed form, as `iosonde devices` prints it.
pub fn stated(device: &str, finding: FindingName, op: Op) -> Option<f64> {
    let file = DeviceFile::parse(device, "blind").ok()?;
    let of_op =
        |truth: &iosonde_sim::Truth| truth.finding == finding && truth.conditions.op.is_none_or(|o| o == op);
    truths(&file).into_iter().filter(of_op).find_map(|truth| truth.value)
}
