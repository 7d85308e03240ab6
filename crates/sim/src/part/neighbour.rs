//! A neighbour that comes and goes, as on shared storage: every so often, for a while, it takes a share of
//! the medium.
//!
//! Law: in each period of `every`, for a stretch of `for`, the medium's rate is multiplied by 1 - `takes`;
//! where in the period the stretch begins is drawn once from the seed. A busy device's rate is therefore
//! multiplied by 1 - takes for / every over whole periods.
//!
//! ```toml
//! [noise]
//! neighbour = { every = "20s", for = "2s", takes = "50%" }
//! ```

use iosonde_model::{
    FileError, Named,
    units::{Share, TimeNs},
};
use rand::RngExt;
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    flow::{Flow, Id},
    part::{Part, PartKind, PartPosition, Settings, Step},
    random::stream,
    reader::Reader,
};

/// Reads `[noise]`.
pub(crate) struct Neighbour;

impl Named for Neighbour {
    fn name(&self) -> &'static str {
        "neighbour"
    }
}

impl PartKind for Neighbour {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("noise.neighbour.every", "how often it comes"),
            ("noise.neighbour.for", "how long it stays"),
            ("noise.neighbour.takes", "which share it takes"),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let noise = reader.section::<NoiseKeys>("noise")?;
        let Some(neighbour) = noise.and_then(|noise| noise.neighbour) else { return Ok(None) };
        let (every_ns, for_ns, takes) = (neighbour.every.0, neighbour.stays.0, neighbour.takes.0);
        if for_ns >= every_ns {
            let rule = "it is shorter than `every`, or the neighbour never goes";
            return Err(reader.impossible("noise.neighbour.for", rule));
        }
        if takes >= 1.0 {
            return Err(reader.impossible("noise.neighbour.takes", "what is left must be above nothing"));
        }
        Ok(Some(Arc::new(NeighbourSettings { every_ns, for_ns, takes })))
    }
}

#[derive(Deserialize)]
struct NoiseKeys {
    neighbour: Option<NeighbourKeys>,
}

#[derive(Deserialize)]
struct NeighbourKeys {
    every: TimeNs,
    #[serde(rename = "for")]
    stays: TimeNs,
    takes: Share,
}

#[derive(Debug, Clone, Copy)]
struct NeighbourSettings {
    every_ns: u64,
    for_ns: u64,
    takes: f64,
}

impl Settings for NeighbourSettings {
    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        let phase_ns = stream(place.seed, "neighbour.phase").random_range(0..self.every_ns);
        Box::new(Visits { settings: *self, phase_ns })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn wanders(&self) -> Option<&'static str> {
        Some("a neighbour comes and goes")
    }

    fn stretch_mean(&self) -> f64 {
        1.0 / (1.0 - self.takes * self.for_ns as f64 / self.every_ns as f64)
    }
}

struct Visits {
    settings: NeighbourSettings,
    phase_ns: u64,
}

impl Part for Visits {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if (now_ns + self.phase_ns) % self.settings.every_ns < self.settings.for_ns {
            flow[id].stretch /= 1.0 - self.settings.takes;
        }
        Step::On(now_ns)
    }
}
