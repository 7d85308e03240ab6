//! Bringing the storage to the state that was asked for, before it is measured.

use iosonde_infer::sheet::WHOLE_SHARE;
use iosonde_model::{DeviceNote, Phase, Rw, Trial, units};
use iosonde_plan::points;
use iosonde_rig::{drive::Limits, prepare};

use super::{Measurement, STATE, prepare::FOREVER_S};
use crate::{
    failure::Failure,
    state::{self, State},
};

impl Measurement {
    /// Brings the storage to the state that was asked for; recorded as preparation, as it is.
    pub fn bring_to_state(&mut self) -> Result<(), Failure> {
        let Some(state) = self.options.state else { return Ok(()) };
        let span_bytes = self.session.device.working_set_bytes;
        let cost_bytes = state.cost_bytes(span_bytes);
        if cost_bytes > self.left_to_write_bytes() {
            return Err(Failure::failed(format!(
                "--state {state} writes up to {}, which --max-write does not allow",
                units::size(cost_bytes)
            )));
        }
        self.screen.say(&format!("state         {}", state.announce(span_bytes)));
        let mut steady = true;
        match state {
            State::Fresh => {
                let device = &self.session.device;
                let (mut spec, limits) =
                    prepare::order(&device.engine, device.direct, 0, span_bytes, FOREVER_S);
                spec.rw = Rw::Trim;
                let trial = self.trial(&spec, limits, Phase::Prepare, self.options.seed)?;
                if let Some(why) = trial.error_examples.first() {
                    return Err(Failure::failed(format!(
                        "{}: --state fresh trims first, and that fails here: {why}",
                        self.run.info.target
                    )));
                }
                self.keep(Trial { experiment: STATE.into(), ..trial })?;
                self.fill(0, span_bytes, FOREVER_S, STATE)?;
            }
            State::Filled(_) => {
                let whole_bytes = cost_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES;
                self.fill(0, whole_bytes.max(prepare::FILL_BLOCK_BYTES), FOREVER_S, STATE)?;
            }
            State::Steady => steady = self.stir(span_bytes)?,
        }
        prepare::settle(&self.session.bed.storage)
            .map_err(|e| Failure::failed(format!("{}: cannot be flushed: {e}", self.run.info.target)))?;
        // Flash that was stirred up in one place has the rest of its blocks free all the same.
        let device = &self.session.device;
        let part =
            device.size_bytes.filter(|&whole_bytes| (span_bytes as f64) < WHOLE_SHARE * whole_bytes as f64);
        let part = part.filter(|_| state == State::Steady);
        let note = if steady {
            DeviceNote::StateReached { state: state.to_string(), span_bytes, larger_bytes: part }
        } else {
            DeviceNote::NotSteady
        };
        self.screen.say(&format!("note          {}", iosonde_report::note(&note)));
        let device = &mut self.session.device;
        device.notes.push(note);
        if steady && state == State::Steady {
            let within = part.map(|_| format!(" within {}", units::size(span_bytes)));
            device.state = Some(format!("steady{}", within.unwrap_or_default()));
        }
        self.run.info.device = device.clone();
        Ok(())
    }

    /// Writes at random until the rate no longer changes; whether it came to that.
    fn stir(&mut self, span_bytes: u64) -> Result<bool, Failure> {
        let device = &self.session.device;
        let spec =
            state::stirring(&device.engine, device.direct, span_bytes, points::is_blocking(&device.engine));
        let ios = state::stirring_ios(span_bytes);
        let mut stirred: Vec<(u64, f64)> = Vec::new();
        while !state::is_stirred(&stirred, span_bytes) {
            let limits = Limits { duration_ns: u64::MAX, warm_up_ns: Some(0), ios: Some(ios) };
            let seed = self.options.seed ^ (stirred.len() as u64 + 1) << 20;
            let trial = self.trial(&spec, limits, Phase::Prepare, seed)?;
            stirred.push((trial.witnesses.issued_write_bytes, trial.bytes_per_s()));
            self.keep(Trial { experiment: STATE.into(), ..trial })?;
        }
        Ok(state::is_steady(&stirred, span_bytes))
    }
}
