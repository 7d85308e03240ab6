//! One run on one device, from plan to findings, in the ordinary way but without a notebook.

use std::sync::atomic::AtomicBool;

use iosonde_infer::conclude;
use iosonde_model::{Device, Host, Medium, Phase, Run, RunInfo, RunState, Study};
use iosonde_plan::{
    points,
    schedule::{Schedule, Terms},
};
use iosonde_rig::{
    drive::Limits,
    engine::SharedDevice,
    prepare,
    trial::{Bed, Order},
};
use iosonde_sim::{Device as SimulatedDevice, DeviceFile};

/// As `iosonde run` counts it.
const OVERHEAD_S: f64 = 0.012;

/// The run of a study on a device, concluded; both as TOML.
pub fn run(device: &str, study: &str, span_bytes: u64, seed: u64) -> Result<Run, String> {
    let file = DeviceFile::parse(device, "blind").map_err(|e| e.to_string())?;
    let inside = SimulatedDevice::new(&file, seed);
    let mut device = Device::unknown("simulated", span_bytes.min(inside.capacity_bytes()));
    (device.name, device.medium, device.engine) = (Some("blind".into()), Medium::Simulated, "sim".into());
    (device.direct, device.writable, device.logical_block_bytes) = (true, true, Some(512));
    device.size_bytes = Some(inside.capacity_bytes());
    let mut bed = Bed::simulated(SharedDevice::new(inside));
    let study = Study::parse(study, "blind").map_err(|e| e.to_string())?;
    let plan = points::plan(&study, &device).map_err(|e| e.to_string())?;
    let terms = Terms {
        seed,
        precision: study.precision,
        confidence: 0.95,
        budget_s: study.time_ns as f64 / 1e9,
        rounds: None,
        overhead_s: OVERHEAD_S,
    };
    let schedule = Schedule::visiting(plan.points, plan.visiting, terms).map_err(|e| e.to_string())?;
    let mut run = Run::new(info(&study, seed, &bed, device), Vec::new());
    let stop = AtomicBool::new(false);
    loop {
        let elapsed_s = bed.clock.now_s();
        let voids = iosonde_judge::standing::voids(&run);
        run.info.rounds = schedule.progress(&run.trials, &voids, elapsed_s).rounds_done;
        let Some(asked) = schedule.next(&run.trials, &voids, elapsed_s) else {
            let closed = schedule.closed(&run.trials, &voids, elapsed_s);
            conclude::conclude(&mut run, Some(&closed)).map_err(|e| e.to_string())?;
            run.info.elapsed_s = elapsed_s;
            return Ok(run);
        };
        let settling_ns = asked.settling_ns;
        let usual_ns =
            if asked.from_the_start { 0 } else { Limits::usual_warm_up_ns(asked.duration_ns - settling_ns) };
        let warm_up_ns = Some(usual_ns + settling_ns);
        let limits = Limits { warm_up_ns, ..Limits::time(asked.duration_ns) };
        let order = Order { spec: &asked.spec, limits, phase: asked.phase, seed: asked.seed };
        let passed = asked.pass_first.then(|| {
            let (spec, limits) = prepare::pass(&asked.spec);
            let order = Order { spec: &spec, limits, phase: Phase::Prepare, seed: asked.seed };
            Ok::<u64, String>(
                bed.run(&order, &stop).map_err(|e| e.to_string())?.trial.witnesses.issued_read_bytes,
            )
        });
        let passed_bytes = passed.transpose()?;
        let mut trial = bed.run(&order, &stop).map_err(|e| e.to_string())?.trial;
        (trial.round, trial.point, trial.experiment) = (asked.round, asked.point, asked.experiment);
        (trial.passed_bytes, trial.settling_s) = (passed_bytes, settling_ns as f64 / 1e9);
        trial.id = run.trials.len() as u64 + 1;
        run.trials.push(trial);
    }
}

fn info(study: &Study, seed: u64, bed: &Bed, device: Device) -> RunInfo {
    RunInfo {
        id: "blind".into(),
        label: None,
        note: None,
        study: study.name.clone(),
        study_source: study.source.clone(),
        target: "blind".into(),
        seed,
        started_at: bed.clock.utc(),
        elapsed_s: 0.0,
        state: RunState::Done,
        command: "bench/blind".into(),
        bytes_written: 0,
        budget_s: None,
        precision: study.precision,
        confidence: 0.95,
        rounds: 0,
        device,
        host: Host::default(),
        series: None,
        in_turn_with: Vec::new(),
        repeat: None,
        options: serde_json::Value::Null,
    }
}
