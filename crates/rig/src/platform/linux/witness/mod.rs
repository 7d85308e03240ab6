//! Witnesses: readings of system counters before and after a trial, and their differences.
//!
//! Everything is opened once, cold; a pair of readings then costs a few system calls on open descriptors.
//! The kernel's files are read again from offset 0, for which it makes their text anew. What cannot be read
//! is `None`, and `absent` says why.

mod block_layer;
mod cpu;
mod limits;
mod network;
mod network_counters;
mod pressure;
mod process_io;
mod processors;
mod reading;
mod residency;
mod sensors;
mod smb;
#[cfg(test)]
mod vanishing;
mod volume_statistics;

use std::{fs::File, ops::Range};

use iosonde_model::{Absence, Device, IoLimit, Medium, Witnesses};

pub use cpu::{thread_cpu, thread_delay_s};
pub use residency::resident_bytes;

use block_layer::BlockLayer;
use limits::IoLimits;
use network::Network;
use pressure::Pressure;
pub(crate) use process_io::ProcessIo;
use processors::Processors;
use residency::Residency;
use sensors::Sensors;
use volume_statistics::VolumeCounters;

use crate::{
    clock::{Clock, ClockReadings},
    platform::linux::{Extents, System, extents, unmapped_bytes},
    witness::since,
};

/// The witnesses of one target: open, and ready to be read around each trial.
#[derive(Debug)]
pub struct Watch {
    block_layer: Result<BlockLayer, Absence>,
    residency: Result<Residency, Absence>,
    process_io: Result<ProcessIo, Absence>,
    pressure_io: Result<Pressure, Absence>,
    pressure_cpu: Result<Pressure, Absence>,
    pressure_memory: Result<Pressure, Absence>,
    limits: Result<IoLimits, Absence>,
    /// The file and its addressed part, to look for holes.
    holes: Option<(File, Range<u64>)>,
    /// Where the target lies on a network file system.
    network: Option<Network>,
    /// Where the target lies on a volume whose controller counts the time at its limits.
    volume: Option<Result<VolumeCounters, Absence>>,
    sensors: Sensors,
    processors: Result<Processors, Absence>,
    clock: Clock,
    /// Whether the counters of the machine are read.
    machine: bool,
    before: Before,
}

/// The readings before a trial.
#[derive(Debug, Default)]
struct Before {
    machine: MachineBefore,
    clocks: Option<ClockReadings>,
    resident_bytes: Option<Result<u64, Absence>>,
    process_io: Option<process_io::Counters>,
    unmapped_bytes: Option<u64>,
    extents: Option<Extents>,
}

/// Those of the machine, which are the same for each process on it.
#[derive(Debug, Default)]
struct MachineBefore {
    /// Time at which the counters were read, in seconds.
    at_s: f64,
    block_layer: Option<block_layer::Counters>,
    pressure_io_us: Option<u64>,
    pressure_cpu_us: Option<u64>,
    pressure_memory_us: Option<u64>,
    network: Option<network_counters::Counters>,
    processors: Option<processors::Ticks>,
    io_limits: Option<Vec<IoLimit>>,
    volume: Option<volume_statistics::Page>,
}

impl Watch {
    /// Opens all witnesses of `file`. `device` names the block device that sees all its bytes; `span` is the addressed
    /// part of the file.
    pub fn open(file: &File, device: &Device, span: Range<u64>) -> Self {
        let system = System::real();
        Self {
            block_layer: BlockLayer::open(&system, device),
            residency: match device.medium {
                // Asking costs 60 ns a page there, 30 ms a GiB, and the answer is known.
                Medium::Memory => Err(Absence::TargetInMemory),
                _ => Residency::open(file, span.clone()),
            },
            process_io: ProcessIo::open(&system),
            pressure_io: Pressure::open(&system, "io"),
            pressure_cpu: Pressure::open(&system, "cpu"),
            pressure_memory: Pressure::open(&system, "memory"),
            limits: IoLimits::open(&system, device),
            network: Network::open(&system, file),
            volume: VolumeCounters::open(&system, device),
            sensors: Sensors::find(&system, device),
            holes: file.try_clone().ok().map(|file| (file, span)),
            processors: Processors::open(&system),
            clock: Clock::real(),
            machine: true,
            before: Before::default(),
        }
    }

    /// Changes the addressed part of the file.
    pub fn set_span(&mut self, span: Range<u64>) {
        if let Some((_, holes)) = &mut self.holes {
            *holes = span.clone();
        }
        if let Ok(residency) = &mut self.residency {
            residency.set_span(span);
        }
    }

    /// Whether the counters of the machine are read, too: of several processes that measure together on one machine,
    /// one reads them for all. Each took 0.1 ms of a trial for them, for which the others waited.
    pub fn set_machine(&mut self, machine: bool) {
        self.machine = machine;
    }

    /// Reads everything before a trial's first submission. Residency first and counters last, so that the
    /// counters' span is the narrowest.
    pub fn before(&mut self) {
        let unmapped = |(file, span): &(File, Range<u64>)| unmapped_bytes(file, span.clone());
        self.before = Before {
            unmapped_bytes: self.holes.as_ref().and_then(unmapped),
            extents: self.holes.as_ref().and_then(|(file, span)| extents(file, span.clone())),
            resident_bytes: self.residency.as_ref().ok().map(Residency::bytes),
            process_io: self.process_io.as_mut().ok().and_then(ProcessIo::counters),
            clocks: self.clock.moment(),
            machine: if self.machine { self.machine_before() } else { MachineBefore::default() },
        };
    }

    fn machine_before(&mut self) -> MachineBefore {
        MachineBefore {
            pressure_io_us: self.pressure_io.as_mut().ok().and_then(Pressure::total_us),
            pressure_cpu_us: self.pressure_cpu.as_mut().ok().and_then(Pressure::total_us),
            pressure_memory_us: self.pressure_memory.as_mut().ok().and_then(Pressure::total_us),
            processors: self.processors.as_mut().ok().and_then(Processors::ticks),
            network: self.network.as_ref().and_then(Network::counters),
            io_limits: self.limits.as_mut().ok().and_then(|limits| limits.now().ok()),
            volume: self.volume.as_ref().and_then(|volume| volume.as_ref().ok()?.page()),
            at_s: self.clock.now_s(),
            block_layer: self.block_layer.as_mut().ok().and_then(BlockLayer::counters),
        }
    }

    /// Takes the readings after the last completion and adds the differences from [`Watch::before`] to `own`, the
    /// counts of the measured loop.
    pub fn after(&mut self, own: Witnesses) -> Witnesses {
        let Before { machine, clocks, resident_bytes, process_io, unmapped_bytes, extents } =
            std::mem::take(&mut self.before);
        let mut out = own;
        let mut absent = Vec::new();
        if self.machine {
            self.machine_after(machine, &mut out, &mut absent);
        }
        let process = difference(&mut self.process_io, |watch| watch.since(process_io), &mut absent);
        out.process_read_bytes = process.map(|delta| delta.read_bytes);
        out.process_write_bytes = process.map(|delta| delta.write_bytes);
        out.resident_after_bytes = difference(&mut self.residency, |watch| watch.bytes(), &mut absent);
        out.unmapped_bytes = unmapped_bytes;
        out.pieces = extents.map(|extents| extents.pieces);
        out.compressed_bytes = extents.map(|extents| extents.encoded_bytes);
        out.shared_bytes = extents.map(|extents| extents.shared_bytes);
        out.resident_before_bytes = resident_bytes.and_then(Result::ok);
        // The reason is the same as that of residency, and said there.
        out.dirty_after_bytes = self.residency.as_ref().ok().and_then(|watch| watch.dirty_bytes().ok());
        let steps = since(&self.clock, clocks).map_err(|why| absent.push(why)).ok();
        out.calendar_step_s = steps.map(|steps| steps.calendar_step_s);
        out.suspended_s = steps.map(|steps| steps.suspended_s);
        out.clock_ratio = steps.and_then(|steps| steps.own_ratio);
        out.absent.extend(absent);
        out
    }

    /// The machine's counters, the block layer's first.
    fn machine_after(&mut self, before: MachineBefore, out: &mut Witnesses, absent: &mut Vec<Absence>) {
        let elapsed_s = self.clock.now_s() - before.at_s;
        let block = difference(&mut self.block_layer, |watch| watch.since(before.block_layer), absent);
        out.block_layer_device = self.block_layer.as_ref().ok().map(|watch| watch.name().to_owned());
        if let Some(delta) = block {
            out.block_layer_read_bytes = Some(delta.read_bytes);
            out.block_layer_write_bytes = Some(delta.write_bytes);
            out.block_layer_in_flight_mean = delta.in_flight_mean(elapsed_s);
        }
        let ticks = difference(&mut self.processors, |watch| watch.since(before.processors), absent);
        out.steal_share = ticks.map(|share| share.steal);
        out.machine_busy_share = ticks.map(|share| share.busy);
        out.softirq_share = ticks.map(|share| share.softirq);
        let mut waited = |pressure: &mut Result<Pressure, Absence>, before_us: Option<u64>| {
            difference(pressure, |pressure| pressure.share(before_us, elapsed_s), absent)
        };
        out.pressure_cpu_some_share = waited(&mut self.pressure_cpu, before.pressure_cpu_us);
        out.pressure_memory_some_share = waited(&mut self.pressure_memory, before.pressure_memory_us);
        out.pressure_io_some_share = waited(&mut self.pressure_io, before.pressure_io_us);
        out.io_limits = difference(&mut self.limits, |limits| limits.now(), absent);
        out.io_limits_before = before.io_limits.filter(|limits| Some(limits) != out.io_limits.as_ref());
        out.volume_statistics = self
            .volume
            .as_mut()
            .and_then(|volume| difference(volume, |volume| volume.since(before.volume.as_ref()), absent));
        if let Some(network) = &self.network {
            network.since(before.network, out);
        }
        out.temperature_celsius = self.sensors.temperature_celsius();
        out.cpu_frequency_hz = self.sensors.cpu_frequency_hz();
    }
}

/// Reads an open witness; where there is none, or it fails, the reason goes to `absent`.
fn difference<W, T>(
    watch: &mut Result<W, Absence>,
    read: impl FnOnce(&mut W) -> Result<T, Absence>,
    absent: &mut Vec<Absence>,
) -> Option<T> {
    let reading = match watch {
        Ok(watch) => read(watch),
        Err(why) => Err(why.clone()),
    };
    reading.map_err(|why| absent.push(why)).ok()
}
