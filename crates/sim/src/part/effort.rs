//! What a run adds to the program's own time: the same work takes the processor a little longer in one run than in
//! the next (other pages, another core, another state of the machine).
//!
//! Law: two effects are drawn once in a device's life and divide all times of the processor, the cost of a request and
//! of copying its bytes: `run_effect` is the coefficient of variation of the rate between devices made afresh
//! (repeats), `point_run_effect` that of a further factor, drawn for each direction and request size. Both are
//! lognormal with mean 1; what is below the host is left alone, as `[noise]` leaves the host alone.
//!
//! ```toml
//! [host]
//! request_cost = "1.5us"
//! run_effect = 0.01
//! point_run_effect = 0.01
//! ```

use iosonde_model::{FileError, Named};
use serde::Deserialize;
use std::sync::Arc;

use super::effects::Effects;
use crate::{
    flow::{Flow, Id},
    part::{Part, PartKind, PartPosition, Settings, Side, Step},
    reader::Reader,
};

/// Reads `[host]`.
pub(crate) struct Effort;

impl Named for Effort {
    fn name(&self) -> &'static str {
        "effort"
    }
}

impl PartKind for Effort {
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(host) = reader.section::<HostKeys>("host")? else { return Ok(None) };
        let (run_cv, point_run_cv) = (host.run_effect, host.point_run_effect);
        for (path, cv) in [("host.run_effect", run_cv), ("host.point_run_effect", point_run_cv)] {
            if !(0.0..=5.0).contains(&cv) {
                return Err(reader.impossible(path, "a coefficient of variation lies between 0 and 5 here"));
            }
        }
        let settings: Arc<dyn Settings> = Arc::new(EffortSettings { run_cv, point_run_cv });
        Ok((run_cv > 0.0 || point_run_cv > 0.0).then_some(settings))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HostKeys {
    run_effect: f64,
    point_run_effect: f64,
}

#[derive(Debug, Clone, Copy)]
struct EffortSettings {
    run_cv: f64,
    point_run_cv: f64,
}

impl Settings for EffortSettings {
    fn side(&self) -> Side {
        Side::Host
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        Box::new(Working { effects: Effects::new(place.seed, "effort", self.run_cv, self.point_run_cv) })
    }
}

struct Working {
    effects: Effects,
}

impl Part for Working {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        flow[id].effort = self.effects.stretch(flow[id].op, flow[id].length_bytes);
        Step::On(now_ns)
    }
}
