//! One run on a simulated device, from schedule to verdicts, by the functions of `iosonde run` and without a notebook.
//!
//! Cells that differ only in what their witnesses say share one simulated run: it is judged once for each of them.

use iosonde_infer::conclude;
use iosonde_model::{Closed, Phase, Point, Run, Study};
use iosonde_rig::drive::Limits;
use iosonde_sim::DeviceFile;

use super::{Cell, cells};
use crate::{
    failure::Failure,
    measure::follow::OVERHEAD_S,
    options::Options,
    session::{self, Session},
    simulated, studies,
};

/// Name of devices and studies in messages.
const NAME: &str = "selftest";
/// What still counts as precise.
const PRECISION: f64 = 0.05;

/// The run of a device with a seed, judged once for every cell of it.
pub fn runs(cells: &[&Cell], seed: u64) -> Result<Vec<Run>, Failure> {
    let (measured, closed) = measured(cells[0], seed)?;
    let judged = |cell: &&Cell| {
        let mut run = measured.clone();
        if let Some(change) = cell.change {
            run.trials.iter_mut().for_each(|trial| change(trial, cell.level));
        }
        conclude::judge(&mut run, closed.as_deref()).map_err(Failure::failed)?;
        Ok(run)
    };
    cells.iter().map(judged).collect()
}

/// A run as it was measured, and why its points were closed.
type Measured = (Run, Option<Vec<Option<Closed>>>);

fn measured(cell: &Cell, seed: u64) -> Result<Measured, Failure> {
    // Steps of 73 ms, so that 100 seeds meet every part of a trial of 0.2 s.
    let moment = format!("{:.3}s", 1.0 + (seed % 125) as f64 * 0.073);
    let device = cell.device.replace(cells::SOME_MOMENT, &moment);
    let file = DeviceFile::parse(&device, NAME).map_err(Failure::failed)?;
    let study = Study::parse(&cell.study, NAME).map_err(Failure::failed)?;
    let mut options = Options::usual((cell.trial_s * 1e9) as u64, PRECISION, seed);
    (options.size_bytes, options.direct) = (Some(cell.span_bytes), Some(!cell.buffered));
    let session = session::simulated(NAME, &file, &options)?;
    let points = studies::plan(&study, &session.device)?.points;
    if cell.rounds == 0 {
        return Ok((single(&study, &points[0], options, session)?, None));
    }
    // The schedule cuts the budget into trials of one length: rounds × (points and the canary) of them.
    let slots = (points.len() + 1) as f64;
    let budget_s = f64::from(cell.rounds) * slots * (cell.trial_s + OVERHEAD_S) / 0.97;
    (options.rounds, options.time_ns) = (Some(cell.rounds), (budget_s * 1e9) as u64);
    let (run, closed) = simulated::followed(&study, options, session)?;
    Ok((run, Some(closed)))
}

/// One long trial, as `point` runs it.
fn single(study: &Study, point: &Point, options: Options, session: Session) -> Result<Run, Failure> {
    let mut measurement = simulated::begun(study, options, session)?;
    let options = &measurement.options;
    let (limits, seed) = (Limits::time(options.time_ns), options.seed);
    let mut trial = measurement.trial(&point.spec, limits, Phase::Measure, seed)?;
    (trial.round, trial.point) = (1, Some(0));
    measurement.keep(trial)?;
    let mut run = measurement.run;
    (run.info.study, run.info.study_source, run.info.rounds) = ("point".into(), String::new(), 1);
    Ok(run)
}
