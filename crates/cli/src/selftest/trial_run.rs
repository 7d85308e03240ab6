//! One run on a simulated device, from schedule to verdicts, without a notebook.
//!
//! The plan, the schedule, a trial's warm-up and its label, the judging are those of `iosonde run`; what it does beside
//! them (filling, refilling, a limit of what is written, progress, the notebook) a simulated cell has no use for.
//!
//! Cells that differ only in what their witnesses say share one simulated run: it is judged once for each of them.

use std::sync::atomic::AtomicBool;

use iosonde_infer::conclude;
use iosonde_judge::estimate::Voids;
use iosonde_model::{Closed, Device, Host, Medium, Phase, Point, Run, RunInfo, RunState, Study};
use iosonde_plan::{
    points,
    schedule::{Schedule, Terms},
};
use iosonde_rig::{
    drive::Limits,
    engine::SharedDevice,
    trial::{Bed, Order},
};
use iosonde_sim::{Device as SimulatedDevice, DeviceFile};

use super::{Cell, cells};
use crate::failure::Failure;

/// Between two trials.
const OVERHEAD_S: f64 = 0.01;

/// The run of a device with a seed, judged once for every cell of it.
pub fn runs(cells: &[&Cell], seed: u64) -> Result<Vec<Run>, Failure> {
    let simulated = simulated(cells[0], seed)?;
    let judged = |cell: &&Cell| {
        let mut run = simulated.run.clone();
        if let Some(change) = cell.change {
            run.trials.iter_mut().for_each(|trial| change(trial, cell.level));
        }
        conclude::judge(&mut run, simulated.closed.as_deref()).map_err(Failure::failed)?;
        Ok(run)
    };
    cells.iter().map(judged).collect()
}

/// A run as it was measured, and why its points were closed.
struct Simulated {
    run: Run,
    closed: Option<Vec<Option<Closed>>>,
}

fn simulated(cell: &Cell, seed: u64) -> Result<Simulated, Failure> {
    // Steps of 73 ms, so that 100 seeds meet every part of a trial of 0.2 s.
    let moment = format!("{:.3}s", 1.0 + (seed % 125) as f64 * 0.073);
    let device = cell.device.replace(cells::SOME_MOMENT, &moment);
    let file = DeviceFile::parse(&device, "selftest").map_err(Failure::failed)?;
    let inside = SimulatedDevice::new(&file, seed);
    let mut device = Device::unknown("simulated", cell.span_bytes.min(inside.capacity_bytes()));
    (device.name, device.medium, device.engine) = (Some("selftest".into()), Medium::Simulated, "sim".into());
    (device.direct, device.writable) = (!cell.buffered, true);
    let mut bed = Bed::simulated(SharedDevice::new(inside));
    let study = Study::parse(&cell.study, "selftest").map_err(Failure::failed)?;
    let points = points::plan(&study, &device).map_err(Failure::failed)?.points;
    let mut run = Run::new(info(cell, &study, seed, &bed, device), Vec::new());
    if cell.rounds == 0 {
        single(cell, &points[0], &mut bed, &mut run, seed)?;
        return Ok(Simulated { run, closed: None });
    }
    // The schedule cuts the budget into trials of one length: rounds × (points and the canary) of them.
    let slots = (points.len() + 1) as f64;
    let budget_s = f64::from(cell.rounds) * slots * (cell.trial_s + OVERHEAD_S) / 0.97;
    let rounds = Some(cell.rounds);
    let terms = Terms { seed, precision: 0.05, confidence: 0.95, budget_s, rounds, overhead_s: OVERHEAD_S };
    let schedule = Schedule::new(points, terms).map_err(Failure::failed)?;
    let stop = AtomicBool::new(false);
    // Of clean devices no trial is void, and of the others none need be repeated to be seen.
    let none = Voids::new();
    loop {
        let elapsed_s = bed.clock.now_s();
        let Some(asked) = schedule.next(&run.trials, &none, elapsed_s) else {
            run.info.rounds = schedule.progress(&run.trials, &none, elapsed_s).rounds_done;
            let closed = Some(schedule.closed(&run.trials, &none, elapsed_s));
            return Ok(Simulated { run, closed });
        };
        let limits = Limits { warm_up_ns: Some(asked.warm_up_ns()), ..Limits::time(asked.duration_ns) };
        let order = Order { spec: &asked.spec, limits, phase: asked.phase, seed: asked.seed };
        let mut trial = bed.run(&order, &stop).map_err(Failure::failed)?.trial;
        asked.mark(&mut trial);
        trial.id = run.trials.len() as u64 + 1;
        run.trials.push(trial);
    }
}

/// One long trial, as `point` runs it.
fn single(cell: &Cell, point: &Point, bed: &mut Bed, run: &mut Run, seed: u64) -> Result<(), Failure> {
    let limits = Limits::time((cell.trial_s * 1e9) as u64);
    let order = Order { spec: &point.spec, limits, phase: Phase::Measure, seed };
    let mut trial = bed.run(&order, &AtomicBool::new(false)).map_err(Failure::failed)?.trial;
    (trial.id, trial.round, trial.point) = (1, 1, Some(0));
    (run.info.study, run.info.study_source, run.info.rounds) = ("point".into(), String::new(), 1);
    run.trials.push(trial);
    Ok(())
}

fn info(cell: &Cell, study: &Study, seed: u64, bed: &Bed, device: Device) -> RunInfo {
    RunInfo {
        id: "selftest".into(),
        label: None,
        note: None,
        study: study.name.clone(),
        study_source: study.source.clone(),
        target: cell.name.clone(),
        seed,
        started_at: bed.clock.utc(),
        elapsed_s: 0.0,
        state: RunState::Done,
        command: "iosonde selftest".into(),
        bytes_written: 0,
        budget_s: None,
        precision: 0.05,
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
