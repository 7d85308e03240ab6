//! Simulated storage devices in virtual time, with known true values.
//!
//! A device is described in TOML ([`DeviceFile`]): flash, a disk, a RAID, a link, a network, a page cache, a
//! throttle, noise, faults. [`Device`] serves requests in virtual nanoseconds. [`truths`] states what an ideal
//! measurement of it would find, in closed form and with the derivation; [`reference()`] computes what has no closed
//! form. So a profiler's answers can be compared with the truth.
//!
//! The crate opens no file, reads no clock and starts no thread. The caller moves the time. All randomness follows
//! from one seed, so that the same calls give the same results to the last bit.
//!
//! [`builtin`] has the devices that come with the program, [`part_manuals`] the documentation of every section of a
//! device file.
//!
//! # Example
//!
//! Four servers of 80 µs: the truth is 4 / 80 µs = 50,000 IOPS, and a closed loop of eight requests reaches it.
//!
//! ```
//! use iosonde_model::{FindingName, Op};
//! use iosonde_sim::{Ask, Device, DeviceFile, truths};
//!
//! let text = r#"
//!     name = "four-servers"
//!     capacity = "1GiB"
//!
//!     [queue]
//!     servers = 4
//!     service = { fixed = "80us" }
//! "#;
//! let file = DeviceFile::parse(text, "four-servers.toml")?;
//!
//! let truths = truths(&file);
//! let max_iops = truths.iter().find(|truth| truth.finding == FindingName::MaxIops).expect("one for each finding");
//! assert_eq!((max_iops.value, max_iops.unit), (Some(50_000.0), "IOPS"));
//! assert_eq!(max_iops.derivation, "4 servers / 80.0 µs = 50,000");
//!
//! let mut device = Device::new(&file, 1);
//! let read = |tag| Ask { tag, op: Op::Read, offset_bytes: tag * 4096, length_bytes: 4096, direct: true };
//! (0..8).for_each(|tag| device.submit(0, read(tag)));
//! let (mut served, mut done) = (0, Vec::new());
//! while served < 10_000 {
//!     let now_ns = device.next_event_ns().expect("eight requests are outstanding");
//!     device.reap(now_ns, &mut done);
//!     for _ in done.drain(..) {
//!         served += 1;
//!         device.submit(now_ns, read(served));
//!     }
//! }
//! // 10,000 requests / 50,000 IOPS.
//! assert_eq!(device.next_event_ns().map(|ns| ns / 1_000_000), Some(200));
//! # Ok::<(), iosonde_model::FileError>(())
//! ```

mod builtin;
mod device;
mod event;
mod fake;
mod file;
mod files;
mod flow;
mod lane;
mod pages;
mod part;
mod random;
mod rates;
mod reader;
mod reference;
mod request;
mod start;
mod truth;

pub use builtin::{builtin, builtin_names};
pub use device::Device;
pub use fake::{Beyond, FakeCapacity};
pub use file::{DeviceFile, DeviceParameter};
pub use files::FileService;
pub use flow::Counters;
pub use part::part_manuals;
pub use reader::Members;
pub use reference::{Reference, ReferenceLoad, reference};
pub use request::{Ask, Done, Fate, Worker};
pub use start::StartState;
pub use truth::{Known, Truth, truths, truths_with_references};
