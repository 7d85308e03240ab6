//! One trial: opens the engine, reads the witnesses, runs the measured loop, reads the witnesses again.

use std::{io, sync::atomic::AtomicBool};

use iosonde_model::{Op, Phase, Trial, TrialSpec, Witnesses};

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
        let mut buffers = BufferPool::new(spec.queue_depth, spec.block_size_bytes)?;
        let virtual_time = matches!(self.storage, Storage::Simulated(_));
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
        let before = Before::read(self);
        let origin_s = self.clock.now_s();
        let cpu_before = witness::thread_cpu();
        let drive = Drive::new(engine.as_mut(), &clock, &buffers, spec, offsets, *limits, stop);
        let driven = drive.run()?;
        let cpu_after = witness::thread_cpu();
        let witnesses = before.compare(self, driven.issued, origin_s);
        if driven.hung > 0 {
            // The kernel may still write into the buffers: they must outlive the process's interest in them.
            std::mem::forget(engine);
            std::mem::forget(buffers);
        }
        let cpu = if virtual_time { None } else { cpu_before.zip(cpu_after) };
        let cpu = cpu.map(|(before, after)| (after.0 - before.0, after.1 - before.1));
        let busy_s = match &self.storage {
            Storage::Simulated(shared) => Some(host_busy_s(&shared.device.borrow(), spec, &driven.issued)),
            Storage::File(_) => cpu.map(|(user_s, system_s)| user_s + system_s),
        };
        let trial = assemble(order, driven, witnesses, (started_at, started_s), cpu, busy_s);
        Ok(Outcome { trial, notes })
    }
}

/// How long the simulated program was busy making these requests: its processor's cost for each. An even share of
/// a mix's directions is near enough for a busy share.
fn host_busy_s(device: &iosonde_sim::Device, spec: &TrialSpec, issued: &Issued) -> f64 {
    let costs_ns: Vec<u64> =
        Op::ALL.into_iter().filter(|&op| spec.rw.has(op)).map(|op| device.host_cost_ns(op)).collect();
    let mean_ns = costs_ns.iter().sum::<u64>() as f64 / costs_ns.len().max(1) as f64;
    mean_ns * issued.ios as f64 / 1e9
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
    Real(f64),
    Simulated(f64, iosonde_sim::Counters),
}

impl Before {
    fn read(bed: &mut Bed) -> Self {
        let at_s = bed.clock.now_s();
        match (&bed.storage, &mut bed.watch) {
            (Storage::Simulated(shared), _) => Self::Simulated(at_s, shared.device.borrow().counters()),
            (Storage::File(_), watch) => {
                if let Some(watch) = watch {
                    watch.before();
                }
                Self::Real(at_s)
            }
        }
    }

    fn compare(self, bed: &mut Bed, issued: Issued, origin_s: f64) -> Witnesses {
        let own = Witnesses {
            issued_read_bytes: issued.read_bytes,
            issued_write_bytes: issued.write_bytes,
            issued_ios: issued.ios,
            ..Witnesses::default()
        };
        let (from_s, seen) = match (self, &bed.storage, &mut bed.watch) {
            (Self::Real(from_s), _, Some(watch)) => (from_s, watch.after(own)),
            (Self::Simulated(from_s, before), Storage::Simulated(shared), _) => {
                let after = shared.device.borrow().counters();
                let seen = Witnesses {
                    block_layer_device: Some("simulated".into()),
                    block_layer_read_bytes: Some(after.read_bytes - before.read_bytes),
                    block_layer_write_bytes: Some(after.write_bytes - before.write_bytes),
                    ..own
                };
                (from_s, seen)
            }
            (Self::Real(from_s) | Self::Simulated(from_s, _), ..) => (from_s, own),
        };
        Witnesses { from_s: from_s - origin_s, to_s: bed.clock.now_s() - origin_s, ..seen }
    }
}
