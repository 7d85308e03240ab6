//! Makes I/O and observes the machine while it runs: engines, the measured loop, witnesses and guards.
//!
//! - [`trial`] runs one workload on a storage and returns counts, latency histograms, windows and witnesses;
//! - [`engine`] has the ways to submit requests: `io_uring`, `libaio`, `iocp`, `psync`, `mmap`, and simulated devices;
//! - [`guard`] opens a target and refuses whatever could destroy data;
//! - [`witness`] reads what others saw: block-layer counters, page cache, CPU time, pressure, temperature;
//! - [`platform`] has all that differs between systems, and describes the machine and its devices;
//! - [`verify`] writes marked blocks and checks what is read back;
//! - [`capacity`] looks with such blocks for capacity that is not there;
//! - [`files`] makes, reads and removes many small files.
//!
//! The only crate with `unsafe` code. It counts and records; statistics are left to other crates.
//!
//! # Example: one trial on a simulated device
//!
//! Real storage works the same way: open a target with [`guard`] and pass it to [`trial::Bed::real`].
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use iosonde_model::{Phase, Rw, TrialSpec};
//! use iosonde_rig::{
//!     drive::Limits,
//!     engine::SharedDevice,
//!     trial::{Bed, Order},
//! };
//! use iosonde_sim::{Device, DeviceFile, builtin};
//!
//! // The built-in device `ideal` has four servers of 80 µs.
//! let file = DeviceFile::parse(builtin("ideal")?, "ideal")?;
//! let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, 1)));
//!
//! let spec = TrialSpec {
//!     rw: Rw::RandRead,
//!     block_size_bytes: 4096,
//!     queue_depth: 8,
//!     jobs: 1,
//!     span_bytes: 1 << 30,
//!     engine: "sim".into(),
//!     direct: true,
//!     ..TrialSpec::default()
//! };
//! // One second of virtual time; the tenth of it that is warm-up does not count.
//! let order = Order { spec: &spec, limits: Limits::time(1_000_000_000), phase: Phase::Measure, seed: 1 };
//! let stop = AtomicBool::new(false);
//! let trial = bed.run(&order, &stop)?.trial;
//!
//! let read = trial.read.expect("the workload reads");
//! assert!((read.iops - 50_000.0).abs() < 1.0, "4 servers / 80 µs");
//! // Little's law: 8 requests / 50,000 per second = 160 µs.
//! assert!((read.latency_ns.mean.unwrap() - 160_000.0).abs() < 200.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(unsafe_code)]

mod beside;
pub mod buffer;
pub mod capacity;
pub mod ceiling;
pub mod clock;
pub mod cold;
mod crew;
pub mod drive;
mod early_end;
pub mod engine;
pub mod files;
pub mod guard;
pub mod hosts;
mod issued;
mod long_flush;
mod merge;
pub mod offset;
mod pace;
mod pauses;
pub mod payload;
pub mod placement;
pub mod platform;
pub mod prepare;
mod recorder;
pub mod rendezvous;
mod simulated;
mod slots;
pub mod stall;
mod together;
pub mod trial;
pub mod verify;
pub mod witness;

pub use platform::{confine, interrupt, leave, memory, supervise};
pub use recorder::WINDOW_NS;
