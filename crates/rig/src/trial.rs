//! One trial: opens the engine, reads the witnesses, runs the measured loop, reads the witnesses again.

use std::{io, sync::atomic::AtomicBool};

use iosonde_model::{Phase, Trial, TrialSpec, Witnesses};

use crate::{
    buffer::BufferPool,
    clock::Clock,
    drive::{Drive, Driven, Issued, Limits},
    engine::{Bench, ENGINES, Opened, Storage},
    offset::Offsets,
    witness::{self, Watch},
};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// The workload; its engine is open to this storage.
    pub spec: &'a TrialSpec,
    /// When it ends.
    pub limits: Limits,
    /// Why it is run. Preparation goes through the span from its start.
    pub phase: Phase,
    /// Everything random in the trial follows from it.
    pub seed: u64,
}

/// Storage between trials, ready for the next.
#[derive(Debug)]
pub struct Bed {
    /// What is measured.
    pub storage: Storage,
    /// Its witnesses; `None` on a simulated device, which is its own witness.
    pub watch: Option<Watch>,
    /// The run's clock: virtual on a simulated device.
    pub clock: Clock,
}

/// What came of an order: the trial (its id, round, point and experiment are the caller's to fill in), and
/// sentences that a reader must know.
#[derive(Debug)]
pub struct Outcome {
    /// The trial.
    pub trial: Trial,
    /// Sentences from the engine.
    pub notes: Vec<String>,
}

impl Bed {
    /// A file or block device with its witnesses.
    pub fn real(storage: Storage, watch: Watch) -> Self {
        Self { storage, watch: Some(watch), clock: Clock::real() }
    }

    /// A simulated device.
    pub fn simulated(shared: crate::engine::SharedDevice) -> Self {
        let clock = Clock::Virtual(shared.clock.clone());
        Self { storage: Storage::Simulated(shared), watch: None, clock }
    }

    /// Runs one trial. Fails only where the machine refuses (engine not to be opened, memory not to be had);
    /// requests that fail are counted in the trial.
    pub fn run(&mut self, order: &Order, stop: &AtomicBool) -> io::Result<Outcome> {
        let Order { spec, limits, phase, seed } = order;
        let kind = ENGINES.find(&spec.engine).map_err(io::Error::other)?;
        let virtual_time = matches!(self.storage, Storage::Simulated(_));
        let new_pool = if virtual_time { BufferPool::unused } else { BufferPool::new };
        let mut buffers = new_pool(spec.queue_depth, spec.block_size_bytes)?;
        if spec.rw.writes() && !virtual_time {
            buffers.fill_random(seed ^ 0x5eed_da7a);
        }
        let bench =
            Bench { storage: &self.storage, depth: spec.queue_depth, buffers: &buffers, direct: spec.direct };
        let Opened { mut engine, clock, notes } = kind.open(&bench)?;
        let mut offsets = Offsets::new(spec, *seed);
        if *phase == Phase::Prepare {
            offsets = offsets.from_start();
        }
        let (started_at, started_s) = (self.clock.utc(), self.clock.now_s());
        let before = Before::read(self, spec);
        let origin_s = self.clock.now_s();
        let cpu_before = witness::thread_cpu();
        let drive = Drive::new(engine.as_mut(), &clock, &buffers, spec, offsets, *limits, stop);
        let driven = drive.run()?;
        let cpu_after = witness::thread_cpu();
        let simulated_busy_s = before.simulated_busy_s(self);
        let witnesses = before.compare(self, driven.issued, origin_s, spec);
        if driven.hung > 0 {
            // The kernel may still write into the buffers: they must outlive the process's interest in them.
            std::mem::forget(engine);
            std::mem::forget(buffers);
        }
        let cpu = if virtual_time { None } else { cpu_before.zip(cpu_after) };
        let cpu = cpu.map(|(before, after)| (after.0 - before.0, after.1 - before.1));
        let busy_s = simulated_busy_s.or(cpu.map(|(user_s, system_s)| user_s + system_s));
        let trial = assemble(order, driven, witnesses, (started_at, started_s), cpu, busy_s);
        Ok(Outcome { trial, notes })
    }
}

fn assemble(
    order: &Order,
    driven: Driven,
    witnesses: Witnesses,
    started: (String, f64),
    cpu: Option<(f64, f64)>,
    busy_s: Option<f64>,
) -> Trial {
    let Driven { recorded, warm_up_s, elapsed_s, in_flight_mean, hung, .. } = driven;
    Trial {
        id: 0,
        experiment: String::new(),
        point: None,
        round: 0,
        phase: order.phase,
        started_at: started.0,
        started_s: started.1,
        elapsed_s,
        warmup_s: warm_up_s,
        measured_s: recorded.measured_s,
        spec: order.spec.clone(),
        read: recorded.read,
        write: recorded.write,
        in_flight_mean,
        busy_share: busy_s.filter(|_| elapsed_s > 0.0).map(|busy_s| busy_s / elapsed_s),
        unserved: 0,
        hung,
        cpu_user_s: cpu.map(|(user_s, _)| user_s),
        cpu_system_s: cpu.map(|(_, system_s)| system_s),
        windows: recorded.windows,
        witnesses,
        error_examples: recorded.error_examples,
    }
}

/// Readings before a trial.
enum Before {
    Real { at_s: f64 },
    Simulated { at_s: f64, counters: iosonde_sim::Counters, resident_bytes: u64 },
}

/// What of a workload's span a simulated page cache holds; nothing where there is none.
fn resident_bytes(device: &iosonde_sim::Device, spec: &TrialSpec) -> u64 {
    device.resident_bytes(spec.offset_bytes..spec.offset_bytes + spec.span_bytes).unwrap_or(0)
}

impl Before {
    fn read(bed: &mut Bed, spec: &TrialSpec) -> Self {
        let at_s = bed.clock.now_s();
        if let Storage::Simulated(shared) = &bed.storage {
            let device = shared.device.borrow();
            let (counters, resident_bytes) = (device.counters(), resident_bytes(&device, spec));
            return Self::Simulated { at_s, counters, resident_bytes };
        }
        if let Some(watch) = &mut bed.watch {
            watch.before();
        }
        Self::Real { at_s }
    }

    /// Time that a simulated program's processor was busy, copying included.
    fn simulated_busy_s(&self, bed: &Bed) -> Option<f64> {
        let (Self::Simulated { counters, .. }, Storage::Simulated(shared)) = (self, &bed.storage) else {
            return None;
        };
        let busy_ns = shared.device.borrow().counters().host_busy_ns - counters.host_busy_ns;
        Some(busy_ns as f64 / 1e9)
    }

    fn compare(self, bed: &mut Bed, issued: Issued, origin_s: f64, spec: &TrialSpec) -> Witnesses {
        let own = Witnesses {
            issued_read_bytes: issued.read_bytes,
            issued_write_bytes: issued.write_bytes,
            issued_ios: issued.ios,
            ..Witnesses::default()
        };
        let (from_s, seen) = match (self, &bed.storage, &mut bed.watch) {
            (Self::Real { at_s }, _, Some(watch)) => (at_s, watch.after(own)),
            (
                Self::Simulated { at_s, counters: before, resident_bytes: resident_bytes_before },
                Storage::Simulated(shared),
                _,
            ) => {
                let device = shared.device.borrow();
                let after = device.counters();
                let in_flight_ns = (after.in_flight_ns - before.in_flight_ns) as f64;
                let elapsed_ns = (bed.clock.now_s() - at_s) * 1e9;
                let seen = Witnesses {
                    block_layer_device: Some("simulated".into()),
                    block_layer_read_bytes: Some(after.read_bytes - before.read_bytes),
                    block_layer_write_bytes: Some(after.write_bytes - before.write_bytes),
                    block_layer_in_flight_mean: (elapsed_ns > 0.0).then(|| in_flight_ns / elapsed_ns),
                    resident_before_bytes: Some(resident_bytes_before),
                    resident_after_bytes: Some(resident_bytes(&device, spec)),
                    ..own
                };
                (at_s, seen)
            }
            (Self::Real { at_s } | Self::Simulated { at_s, .. }, ..) => (at_s, own),
        };
        Witnesses { from_s: from_s - origin_s, to_s: bed.clock.now_s() - origin_s, ..seen }
    }
}
