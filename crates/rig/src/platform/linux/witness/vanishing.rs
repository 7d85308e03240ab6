//! Witnesses that vanish in the middle of a run, whose counters begin again, or that nobody may read: the figure is
//! absent, with its reason. Each one is opened on files of the test's own, which then change.

use std::{fs, path::Path};

use iosonde_model::{Absence, Counter, Device};

use super::{
    block_layer::BlockLayer, limits::IoLimits, pressure::Pressure, process_io::ProcessIo,
    processors::Processors,
};
use crate::platform::linux::{System, fake};

const STAT: &str = "sys/devices/pci/vda/stat";

/// A machine with one disk, all of whose counters stand at `count`.
fn machine(root: &Path, count: u64) {
    if !root.join(STAT).exists() {
        fake::device(root, "pci/vda", "254:0", &[]);
    }
    for (path, text) in [
        (STAT, format!("1 0 {count} 1 1 0 {count} 1 0 1 {count}\n")),
        ("proc/self/io", format!("read_bytes: {count}\nwrite_bytes: {count}\n")),
        ("proc/stat", format!("cpu  {count} 0 0 {count} 0 0 0 0 0 0\n")),
        ("proc/pressure/io", format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={count}\n")),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // In place: what was opened is to see it.
        fs::write(path, text).unwrap();
    }
}

struct Open {
    disk: BlockLayer,
    process: ProcessIo,
    processors: Processors,
    pressure: Pressure,
}

fn open(root: &Path) -> Open {
    let system = System::at(root);
    let device = Device { name: Some("vda".into()), ..Device::unknown("file", 0) };
    Open {
        disk: BlockLayer::open(&system, &device).unwrap(),
        process: ProcessIo::open(&system).unwrap(),
        processors: Processors::open(&system).unwrap(),
        pressure: Pressure::open(&system, "io").unwrap(),
    }
}

impl Open {
    /// The reasons of a trial, at whose beginning all counters stood at 1,000, and during which `change` happened.
    fn reasons(&mut self, change: impl FnOnce()) -> Vec<Absence> {
        let before = (
            self.disk.counters(),
            self.process.counters(),
            self.processors.ticks(),
            self.pressure.total_us(),
        );
        change();
        [
            self.disk.since(before.0).err(),
            self.process.since(before.1).err(),
            self.processors.since(before.2).err(),
            self.pressure.share(before.3, 1.0).err(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The first counter of each witness, and its place.
fn counters() -> [(Counter, &'static str); 4] {
    [
        (Counter::SectorsRead, "vda"),
        (Counter::BytesRead, "/proc/self/io"),
        (Counter::BusyTime, "/proc/stat"),
        (Counter::WaitingTime, "/proc/pressure/io"),
    ]
}

#[test]
fn what_vanishes_during_a_trial_is_absent_with_a_reason_each() {
    let root = tempfile::tempdir().unwrap();
    machine(root.path(), 1000);
    let mut open = open(root.path());
    assert_eq!(open.reasons(|| machine(root.path(), 2000)), []);
    let said = open.reasons(|| {
        for path in [STAT, "proc/self/io", "proc/stat", "proc/pressure/io"] {
            fs::write(root.path().join(path), "").unwrap();
        }
    });
    let reason = |counter, of: &str| Absence::NotReadTwice { counter, of: of.to_owned() };
    let expected = counters().map(|(counter, of)| reason(counter, of));
    assert_eq!(said, expected);
}

#[test]
fn counters_that_begin_again_are_absent_with_both_figures() {
    let root = tempfile::tempdir().unwrap();
    machine(root.path(), 1000);
    let said = open(root.path()).reasons(|| machine(root.path(), 3));
    let (before, after) = (1000, 3);
    let reason = |counter, of: &str| Absence::WentBackwards { counter, of: of.to_owned(), before, after };
    let expected = counters().map(|(counter, of)| reason(counter, of));
    assert_eq!(said, expected);
}

#[test]
fn what_nobody_may_read_is_absent_from_the_beginning_on() {
    // A folder in a file's place refuses to be read, for root as well.
    let root = tempfile::tempdir().unwrap();
    fake::device(root.path(), "pci/vda", "254:0", &[]);
    for path in [STAT, "proc/self/io", "proc/stat", "proc/pressure/io"] {
        let path = root.path().join(path);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path).unwrap();
    }
    let system = System::at(root.path());
    let device = Device { name: Some("vda".into()), ..Device::unknown("file", 0) };
    let said = [
        BlockLayer::open(&system, &device).err(),
        ProcessIo::open(&system).err(),
        Processors::open(&system).err(),
        Pressure::open(&system, "io").err(),
        // No list of groups at all.
        IoLimits::open(&system, &device).err(),
    ];
    assert!(
        said.iter().all(|why| matches!(
            why,
            Some(Absence::Unreadable { .. } | Absence::ControlGroupsUnreadable | Absence::NoControlGroups)
        )),
        "{said:?}"
    );
}
