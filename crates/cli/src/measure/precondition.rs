//! Bringing the storage to the requested state, before it is measured.

use iosonde_infer::sheet::WHOLE_SHARE;
use iosonde_judge::preconditioning::{self, Judged, ROUNDS_MAX};
use iosonde_model::{DeviceNote, Phase, Rw, Trial, TrialSpec, units};
use iosonde_plan::points;
use iosonde_rig::{drive::Limits, prepare};

use super::{Measurement, STATE, prepare::FOREVER_S};
use crate::{
    failure::Failure,
    state::{self, State},
};

impl Measurement {
    /// Brings the storage to the requested state; recorded as preparation.
    pub fn bring_to_state(&mut self) -> Result<(), Failure> {
        let Some(state) = self.options.state else { return Ok(()) };
        let span_bytes = self.session.device.working_set_bytes;
        let filled = self.session.fill;
        let least_bytes = state.least_bytes(span_bytes, filled);
        if least_bytes > self.left_to_write_bytes() {
            return Err(Failure::failed(format!(
                "--state {state} writes {} at least, which --max-write does not allow",
                units::size(least_bytes)
            )));
        }
        self.screen.say(&format!("state         {}", state.announce(span_bytes, filled)));
        let mut stirred = None;
        match state {
            State::Fresh => {
                let (mut spec, limits) = self.fill_order(0, span_bytes, FOREVER_S);
                spec.rw = Rw::Trim;
                let trial = self.trial(&spec, limits, Phase::Prepare, self.options.seed)?;
                if let Some(error) = trial.error_examples.first() {
                    return Err(Failure::failed(format!(
                        "{}: --state fresh trims first, and that fails here: {}",
                        self.run.info.target,
                        iosonde_report::text::counted_error(error)
                    )));
                }
                self.keep(Trial { experiment: STATE.into(), ..trial })?;
                self.fill(0, span_bytes, FOREVER_S, STATE)?;
            }
            State::Filled(_) => {
                let whole_bytes = least_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES;
                self.fill(0, whole_bytes.max(prepare::FILL_BLOCK_BYTES), FOREVER_S, STATE)?;
            }
            State::Steady => stirred = Some(self.stir(span_bytes)?),
        }
        self.session
            .settle()
            .map_err(|e| Failure::failed(format!("{}: cannot be flushed: {e}", self.run.info.target)))?;
        // Flash that was stirred up in one place has the rest of its blocks free all the same.
        let device = &self.session.device;
        let part =
            device.size_bytes.filter(|&whole_bytes| (span_bytes as f64) < WHOLE_SHARE * whole_bytes as f64);
        // New files are as good as new wherever they lie.
        let part = part.filter(|_| state != State::Fresh);
        let steady = stirred.flatten().filter(|judged| judged.is_steady).map(|judged| judged.reached);
        let note = if stirred.is_some() && steady.is_none() {
            DeviceNote::NotSteady { rounds: stirred.flatten().map(|judged| judged.reached) }
        } else {
            let state = state.to_string();
            DeviceNote::StateReached { state, span_bytes, larger_bytes: part, rounds: steady }
        };
        self.screen.say(&format!("note          {}", iosonde_report::note(&note)));
        let device = &mut self.session.device;
        device.notes.push(note);
        if steady.is_some() {
            let within = part.map(|_| format!(" within {}", units::size(span_bytes)));
            device.state = Some(format!("steady{}", within.unwrap_or_default()));
        }
        self.run.info.device = device.clone();
        Ok(())
    }

    /// Writes at random, round by round, until the rate holds; the latest judgement, `None` before the first.
    fn stir(&mut self, span_bytes: u64) -> Result<Option<Judged>, Failure> {
        if !self.session.fill {
            // What was never written has no old version to be collected: random writes would stay as fast as new.
            self.fill(
                0,
                span_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES,
                FOREVER_S,
                STATE,
            )?;
        }
        let device = &self.session.device;
        let spec =
            state::stirring(&device.engine, device.direct, span_bytes, points::is_blocking(&device.engine));
        let jobs = self.session.bed.place.placement.files;
        let spec = device.by_hosts(TrialSpec { jobs, ..spec });
        let ios = state::stirring_ios(span_bytes) / u64::from(jobs);
        let limits = Limits::requests(ios);
        let mut rounds: Vec<Trial> = Vec::new();
        while rounds.len() < ROUNDS_MAX {
            if ios * u64::from(jobs) * spec.block_size_bytes > self.left_to_write_bytes() {
                break;
            }
            let seed = self.options.seed ^ (rounds.len() as u64 + 1) << 20;
            let trial =
                Trial { experiment: STATE.into(), ..self.trial(&spec, limits, Phase::Prepare, seed)? };
            rounds.push(trial.clone());
            self.keep(trial)?;
            if let Some(judged) =
                preconditioning::judged(&rounds, span_bytes).filter(|judged| judged.is_steady)
            {
                return Ok(Some(judged));
            }
        }
        Ok(preconditioning::so_far(&rounds, span_bytes).map(|judged| Judged { is_steady: false, ..judged }))
    }
}
