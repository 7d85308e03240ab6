//! Witnesses of Windows: the volume's own counters, what this process moved, how busy the processors were, and whether
//! memory was short.
//!
//! What the page cache holds, what waits for what, and the limits of jobs are not told; `absent` says so. (Windows took
//! the calls for a job's I/O limits away with version 1607.)

use std::{fs::File, mem::zeroed, ops::Range};

use iosonde_model::{Absence, Device, Witnesses};
use windows_sys::Win32::{
    Foundation::FILETIME,
    System::{
        Ioctl::{DISK_PERFORMANCE, IOCTL_DISK_PERFORMANCE},
        Threading::{
            GetCurrentProcess, GetCurrentThread, GetProcessIoCounters, GetSystemTimes, GetThreadTimes,
            IO_COUNTERS,
        },
    },
};

use super::{files::unmapped_bytes, handle::control, memory_signal::LowMemory, volume::Place};
use crate::{
    clock::{Clock, ClockReadings},
    platform::moved::{Moved, busy_share},
    witness::since,
};

/// The witnesses of one target: open, and ready to be read around each trial.
#[derive(Debug)]
pub struct Watch {
    /// The volume and its name.
    volume: Option<(File, String)>,
    holes: Option<(File, Range<u64>)>,
    memory: Option<LowMemory>,
    clock: Clock,
    before: Before,
}

#[derive(Debug, Default)]
struct Before {
    clocks: Option<ClockReadings>,
    volume: Option<Moved>,
    process: Option<Moved>,
    processors: Option<(u64, u64)>,
    unmapped_bytes: Option<u64>,
    memory_short: Option<bool>,
}

impl Watch {
    /// Opens all witnesses of `file`; `span` is its addressed part.
    pub fn open(file: &File, device: &Device, span: Range<u64>) -> Self {
        let letter = device.chain.first().cloned();
        let volume =
            letter.and_then(|letter| Some((Place::Drive(letter.clone()).open_volume().ok()?, letter)));
        Self {
            volume,
            holes: file.try_clone().ok().map(|file| (file, span)),
            memory: LowMemory::watch(),
            clock: Clock::real(),
            before: Before::default(),
        }
    }

    /// Changes the addressed part of the file.
    pub fn set_span(&mut self, span: Range<u64>) {
        if let Some((_, holes)) = &mut self.holes {
            *holes = span;
        }
    }

    /// All of it is read in any case: several hosts on one machine are a matter of clusters, which run Linux.
    pub fn set_machine(&mut self, _: bool) {}

    /// Reads everything before a trial's first submission; the counters last, so that their span is the narrowest.
    pub fn before(&mut self) {
        self.before = Before {
            unmapped_bytes: self.holes.as_ref().and_then(|(file, span)| unmapped_bytes(file, span.clone())),
            memory_short: self.memory_short(),
            processors: processor_times(),
            process: process_moved(),
            clocks: self.clock.moment(),
            volume: self.volume_moved(),
        };
    }

    /// Takes the readings after the last completion and adds the differences to `own`.
    pub fn after(&mut self, own: Witnesses) -> Witnesses {
        let before = std::mem::take(&mut self.before);
        let mut out = own;
        let mut absent = vec![Absence::PageCacheUntold];
        let name = self.volume.as_ref().map(|(_, letter)| letter.clone());
        let moved = Moved::since(before.volume, self.volume_moved(), name.as_deref().unwrap_or("the volume"));
        match moved.map_err(|why| absent.push(why)) {
            Ok(moved) => {
                out.block_layer_device = name;
                out.block_layer_read_bytes = Some(moved.read_bytes);
                out.block_layer_write_bytes = Some(moved.write_bytes);
            }
            Err(()) => out.block_layer_device = None,
        }
        let process =
            Moved::since(before.process, process_moved(), "this process").map_err(|why| absent.push(why));
        out.process_read_bytes = process.ok().map(|moved| moved.read_bytes);
        out.process_write_bytes = process.ok().map(|moved| moved.write_bytes);
        out.machine_busy_share = busy_share(before.processors, processor_times());
        out.memory_short = before.memory_short.max(self.memory_short());
        out.unmapped_bytes = before.unmapped_bytes;
        let steps = since(&self.clock, before.clocks).map_err(|why| absent.push(why)).ok();
        out.calendar_step_s = steps.map(|steps| steps.calendar_step_s);
        out.suspended_s = steps.map(|steps| steps.suspended_s);
        out.clock_ratio = steps.and_then(|steps| steps.own_ratio);
        out.absent.extend(absent);
        out
    }

    fn memory_short(&self) -> Option<bool> {
        self.memory.as_ref()?.is_short()
    }

    fn volume_moved(&self) -> Option<Moved> {
        let (volume, _) = self.volume.as_ref()?;
        let found: DISK_PERFORMANCE = control(volume, IOCTL_DISK_PERFORMANCE, &())?;
        Some(Moved { read_bytes: found.BytesRead as u64, write_bytes: found.BytesWritten as u64 })
    }
}

/// Returns the reason why it is not known: Windows does not tell what its cache holds of a file.
///
/// # Errors
/// Always.
pub fn resident_bytes(_file: &File, _span: Range<u64>) -> Result<u64, Absence> {
    Err(Absence::PageCacheUntold)
}

/// Processor time that the calling thread has used: seconds in user mode, seconds in the kernel. Windows counts it in
/// ticks of up to 15.6 ms.
pub fn thread_cpu() -> Option<(f64, f64)> {
    // SAFETY: the handle stands for this thread; the times are places of ours.
    let (kernel, user, told) = unsafe {
        let (mut made, mut ended, mut kernel, mut user): (FILETIME, FILETIME, FILETIME, FILETIME) = zeroed();
        let told =
            GetThreadTimes(GetCurrentThread(), &raw mut made, &raw mut ended, &raw mut kernel, &raw mut user);
        (kernel, user, told)
    };
    (told != 0).then(|| (seconds(user), seconds(kernel)))
}

/// `None`: Windows does not count for how long a thread waits for a processor.
pub fn thread_delay_s() -> Option<f64> {
    None
}

fn units_100_ns(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

fn seconds(time: FILETIME) -> f64 {
    units_100_ns(time) as f64 / 1e7
}

/// Bytes of all requests of this process: files, pipes and devices, cached or not.
fn process_moved() -> Option<Moved> {
    // SAFETY: the handle stands for this process; the counters are a place of ours.
    let (counters, told) = unsafe {
        let mut counters: IO_COUNTERS = zeroed();
        let told = GetProcessIoCounters(GetCurrentProcess(), &raw mut counters);
        (counters, told)
    };
    let moved = Moved { read_bytes: counters.ReadTransferCount, write_bytes: counters.WriteTransferCount };
    (told != 0).then_some(moved)
}

/// Idle time and all time of all processors, in units of 100 ns.
fn processor_times() -> Option<(u64, u64)> {
    // SAFETY: the times are places of ours.
    let (idle, kernel, user, told) = unsafe {
        let (mut idle, mut kernel, mut user): (FILETIME, FILETIME, FILETIME) = zeroed();
        let told = GetSystemTimes(&raw mut idle, &raw mut kernel, &raw mut user);
        (idle, kernel, user, told)
    };
    // The time of the kernel contains the idle time.
    (told != 0).then(|| (units_100_ns(idle), units_100_ns(kernel) + units_100_ns(user)))
}
