//! Faults: some requests fail.
//!
//! Law: each request that reaches the device fails with probability `eio`, independently of all others; it
//! takes as long as one that succeeds, moves no bytes and ends with EIO (5).
//!
//! ```toml
//! [faults]
//! eio = "1 per million"       # or a share: "0.01%"
//! ```

use iosonde_model::Named;
use rand::RngExt;
use std::sync::Arc;

use crate::{
    file::{DeviceError, Reader},
    flow::{Flow, Id},
    part::{Part, PartKind, Place, Settings, Step},
    random::{Random, stream},
};

/// Input/output error.
const EIO: i32 = 5;

/// Reads `[faults]`.
pub(crate) struct Faults;

impl Named for Faults {
    fn name(&self) -> &'static str {
        "faults"
    }
}

impl PartKind for Faults {
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, DeviceError> {
        let Some(mut faults) = reader.section("faults") else { return Ok(None) };
        let eio_share = faults.share("eio")?.unwrap_or(0.0);
        Ok(Some(Arc::new(FaultSettings { eio_share })))
    }
}

#[derive(Debug, Clone, Copy)]
struct FaultSettings {
    eio_share: f64,
}

impl Settings for FaultSettings {
    fn build(&self, place: &Place) -> Box<dyn Part> {
        Box::new(Failing { settings: *self, eio: stream(place.seed, "faults.eio") })
    }
}

struct Failing {
    settings: FaultSettings,
    eio: Random,
}

impl Part for Failing {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if self.settings.eio_share > 0.0 && self.eio.random_bool(self.settings.eio_share) {
            flow[id].errno = EIO;
        }
        Step::On(now_ns)
    }
}
