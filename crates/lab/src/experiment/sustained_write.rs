//! How long writing stays fast.
//!
//! Writes go on for `trial` without a pause, right after a pause of the same length in which only a few reads are
//! made, so that a buffer could empty itself; no other experiment of the study comes between. Nothing is taken off as
//! warm-up: the first second is what matters. Where the rate falls during a trial, a buffer was full: the rate
//! before, the rate after and what was written until then tell its size.
//!
//! Parameters: `rw` (patterns that write), `block_size`, `depth`, `trial` (how long each trial writes; longer finds
//! larger buffers), `rest` (requests a second during the pause).
//!
//! How to read it: the burst rate is what a short copy sees, the sustained rate what a backup sees. A drive that is
//! sold with the first lives with the second.
//!
//! Traps:
//! - A buffer larger than what one trial writes is not found: "no change within a trial" says how much was written.
//! - Flash that has been written full is slower still; the state before the run is part of the result (see
//!   `run --state`).
//! - It writes as much as the storage takes: `run --dry-run` says how much that may be, `--max-write` limits it.

use iosonde_model::{Device, Named, Rw, TrialSpec};

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};
use crate::finding::{BurstRate, FindingKind, SustainedRate, WriteBufferBytes};

pub(super) struct SustainedWrite;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"write\""),
    grid::block_size("\"1M\""),
    grid::depth("8"),
    Parameter { key: "trial", explain: "how long each trial writes", default: "\"10s\"" },
    Parameter { key: "rest", explain: "reads a second in the pause before each", default: "10" },
];

impl Named for SustainedWrite {
    fn name(&self) -> &'static str {
        "sustained-write"
    }
}

impl Experiment for SustainedWrite {
    fn question(&self) -> &'static str {
        "How long does writing stay fast, and how fast is it then?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let pause = TrialSpec {
            rw: Rw::RandRead,
            rate_iops: Some(f64::from(parameters.count("rest")?)),
            span_bytes: device.working_set_bytes,
            engine: device.engine.clone(),
            direct: device.direct,
            ..TrialSpec::default()
        };
        let mut specs = Vec::new();
        for spec in grid::cross(parameters, device)? {
            if !spec.rw.writes() {
                return Err(parameters
                    .fail(format!("`{}` writes nothing; `rw` is \"write\" or \"randwrite\"", spec.rw)));
            }
            specs.extend([pause.clone(), spec]);
        }
        specs.dedup();
        Ok(specs)
    }

    fn manner(&self, parameters: &Parameters) -> Result<Manner, ParameterError> {
        let trial_s_min = parameters.seconds("trial")?;
        if trial_s_min < 1.0 {
            return Err(parameters.fail("`trial` is at least 1s: a rate that falls needs time to be seen"));
        }
        Ok(Manner { in_order: true, from_the_start: true, trial_s_min, ..Manner::default() })
    }

    fn findings(&self) -> &'static [&'static dyn FindingKind] {
        &[&BurstRate, &SustainedRate, &WriteBufferBytes]
    }
}
