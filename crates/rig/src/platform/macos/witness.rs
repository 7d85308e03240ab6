//! Witnesses of macOS: what the disk moved, what the cache holds of the file, what this process moved, how busy the
//! processors were, heat, short memory, and the clocks.
//!
//! F_NOCACHE keeps new pages out of the cache and reads those that are there already. So residency before a trial
//! decides whether it measured storage; the check is the same as on Linux.

use std::{
    fs::File,
    mem::zeroed,
    ops::Range,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    ptr::{self, NonNull},
};

use iosonde_model::{Absence, Device, ThermalPressure, Witnesses};

use super::{
    files::{private_bytes, unmapped_bytes},
    iokit::Disk,
    pressure::{Thermal, memory_short},
};
use crate::{
    clock::{Clock, ClockReadings},
    platform::moved::{Moved, busy_share},
    witness::since,
};

/// Looked at in one go: 1 GiB is 262,144 pages of 4 KiB.
const LOOK_BYTES: u64 = 1 << 30;

/// The witnesses of one target: open, and ready to be read around each trial.
#[derive(Debug)]
pub struct Watch {
    file: Option<File>,
    /// The physical disk and its name.
    disk: Option<(Disk, String)>,
    thermal: Option<Thermal>,
    span: Range<u64>,
    clock: Clock,
    before: Before,
}

#[derive(Debug, Default)]
struct Before {
    clocks: Option<ClockReadings>,
    disk: Option<Moved>,
    process: Option<Moved>,
    processors: Option<(u64, u64)>,
    resident_bytes: Option<u64>,
    unmapped_bytes: Option<u64>,
    shared_bytes: Option<u64>,
    memory_short: Option<bool>,
    thermal_pressure: Option<ThermalPressure>,
}

impl Watch {
    /// Opens all witnesses of `file`; `span` is its addressed part.
    pub fn open(file: &File, device: &Device, span: Range<u64>) -> Self {
        let name = device.chain.last().cloned();
        let disk = name.and_then(|name| Some((Disk::find(&name)?, name)));
        Self {
            file: file.try_clone().ok(),
            disk,
            thermal: Thermal::register(),
            span,
            clock: Clock::real(),
            before: Before::default(),
        }
    }

    /// Changes the addressed part of the file.
    pub fn set_span(&mut self, span: Range<u64>) {
        self.span = span;
    }

    fn resident(&self) -> Result<u64, Absence> {
        let file = self.file.as_ref().ok_or(Absence::PageCacheFailed { errno: None })?;
        resident_bytes(file, self.span.clone())
    }

    /// All of it is read in any case: several hosts on one machine are a matter of clusters, which run Linux.
    pub fn set_machine(&mut self, _: bool) {}

    /// Reads everything before a trial's first submission; the counters last, so that their span is the narrowest.
    pub fn before(&mut self) {
        self.before = Before {
            unmapped_bytes: self.file.as_ref().and_then(|file| unmapped_bytes(file, self.span.clone())),
            shared_bytes: self.file.as_ref().and_then(shared_bytes),
            resident_bytes: self.resident().ok(),
            memory_short: memory_short(),
            thermal_pressure: self.thermal_pressure(),
            processors: processor_times(),
            process: process_moved(),
            clocks: self.clock.moment(),
            disk: self.disk_moved(),
        };
    }

    /// Takes the readings after the last completion and adds the differences to `own`.
    pub fn after(&mut self, own: Witnesses) -> Witnesses {
        let before = std::mem::take(&mut self.before);
        let mut out = own;
        let mut absent = Vec::new();
        match &self.disk {
            None => absent.push(Absence::NoBlockDevice { file_system: None }),
            Some((_, name)) => match Moved::since(before.disk, self.disk_moved(), name) {
                Ok(moved) => {
                    out.block_layer_device = Some(name.clone());
                    out.block_layer_read_bytes = Some(moved.read_bytes);
                    out.block_layer_write_bytes = Some(moved.write_bytes);
                }
                Err(why) => absent.push(why),
            },
        }
        let process =
            Moved::since(before.process, process_moved(), "this process").map_err(|why| absent.push(why));
        out.process_read_bytes = process.ok().map(|moved| moved.read_bytes);
        out.process_write_bytes = process.ok().map(|moved| moved.write_bytes);
        out.machine_busy_share = busy_share(before.processors, processor_times());
        out.memory_short = before.memory_short.max(memory_short());
        out.thermal_pressure = before.thermal_pressure.max(self.thermal_pressure());
        out.shared_bytes = before.shared_bytes;
        out.unmapped_bytes = before.unmapped_bytes;
        out.resident_before_bytes = before.resident_bytes;
        out.resident_after_bytes = self.resident().map_err(|why| absent.push(why)).ok();
        let steps = since(&self.clock, before.clocks).map_err(|why| absent.push(why)).ok();
        out.calendar_step_s = steps.map(|steps| steps.calendar_step_s);
        out.suspended_s = steps.map(|steps| steps.suspended_s);
        out.clock_ratio = steps.and_then(|steps| steps.own_ratio);
        out.absent.extend(absent);
        out
    }

    fn thermal_pressure(&self) -> Option<ThermalPressure> {
        self.thermal.as_ref()?.pressure()
    }

    fn disk_moved(&self) -> Option<Moved> {
        self.disk.as_ref()?.0.moved()
    }
}

/// Bytes of a file that its clones and snapshots have, too (APFS): a write to one of them goes elsewhere.
fn shared_bytes(file: &File) -> Option<u64> {
    let allocated_bytes = file.metadata().ok()?.blocks() * 512;
    Some(allocated_bytes.saturating_sub(private_bytes(file)?))
}

/// Returns the bytes of `span` in the cache, asked with mincore over a mapping that is never touched.
///
/// # Errors
/// Returns the reason why it is not known.
pub fn resident_bytes(file: &File, span: Range<u64>) -> Result<u64, Absence> {
    let failed = || Absence::PageCacheFailed { errno: std::io::Error::last_os_error().raw_os_error() };
    let page_bytes = super::page_bytes();
    let (mut at, mut resident_bytes) = (span.start / page_bytes * page_bytes, 0);
    let mut pages: Vec<libc::c_char> = Vec::new();
    while at < span.end {
        let length = (span.end - at).min(LOOK_BYTES);
        let count = length.div_ceil(page_bytes);
        pages.resize(count as usize, 0);
        // SAFETY: a new shared mapping to read, which is not read and goes at once; the answer has a byte a page.
        let told = unsafe {
            let start = libc::mmap(
                ptr::null_mut(),
                length as usize,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                at as libc::off_t,
            );
            let start = NonNull::new(start).filter(|_| start != libc::MAP_FAILED).ok_or_else(failed)?;
            let told = libc::mincore(start.as_ptr(), length as usize, pages.as_mut_ptr());
            libc::munmap(start.as_ptr(), length as usize);
            told
        };
        if told != 0 {
            return Err(failed());
        }
        // MINCORE_INCORE.
        resident_bytes += pages.iter().filter(|page| **page & 1 != 0).count() as u64 * page_bytes;
        at += length;
    }
    Ok(resident_bytes.min(span.end.saturating_sub(span.start)))
}

/// Processor time that the calling thread has used: seconds in user mode, seconds in the kernel.
pub fn thread_cpu() -> Option<(f64, f64)> {
    // SAFETY: the structure is plain numbers, which the kernel fills in; the count is its length in words.
    let (info, told) = unsafe {
        let mut info: libc::thread_basic_info = zeroed();
        let mut count = libc::THREAD_BASIC_INFO_COUNT;
        let thread = libc::pthread_mach_thread_np(libc::pthread_self());
        let flavor = libc::THREAD_BASIC_INFO as libc::thread_flavor_t;
        let told = libc::thread_info(thread, flavor, (&raw mut info).cast(), &raw mut count);
        (info, told)
    };
    let seconds = |time: libc::time_value_t| f64::from(time.seconds) + f64::from(time.microseconds) * 1e-6;
    (told == 0).then(|| (seconds(info.user_time), seconds(info.system_time)))
}

/// `None`: macOS does not count for how long a thread waits for a processor.
pub fn thread_delay_s() -> Option<f64> {
    None
}

/// Bytes that this process read from storage and wrote to it (proc_pid_rusage).
fn process_moved() -> Option<Moved> {
    // SAFETY: the structure is the one of this version of the call, plain numbers that the kernel fills in.
    let (usage, told) = unsafe {
        let mut usage: libc::rusage_info_v2 = zeroed();
        let told = libc::proc_pid_rusage(libc::getpid(), libc::RUSAGE_INFO_V2, (&raw mut usage).cast());
        (usage, told)
    };
    let moved = Moved { read_bytes: usage.ri_diskio_bytesread, write_bytes: usage.ri_diskio_byteswritten };
    (told == 0).then_some(moved)
}

/// Idle time and all time of all processors, in ticks of 10 ms.
fn processor_times() -> Option<(u64, u64)> {
    // SAFETY: the structure is the one of this kind of question, plain numbers; the count is its length in words.
    #[allow(deprecated)]
    let (load, told) = unsafe {
        let mut load: libc::host_cpu_load_info = zeroed();
        let mut count = libc::HOST_CPU_LOAD_INFO_COUNT;
        let host = libc::mach_host_self();
        let told =
            libc::host_statistics(host, libc::HOST_CPU_LOAD_INFO, (&raw mut load).cast(), &raw mut count);
        (load, told)
    };
    let ticks = load.cpu_ticks.map(u64::from);
    (told == 0).then(|| (ticks[libc::CPU_STATE_IDLE as usize], ticks.iter().sum()))
}
