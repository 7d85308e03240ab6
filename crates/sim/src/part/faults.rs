//! Faults: requests fail, get stuck, or find the device gone.
//!
//! Laws:
//! * each request that reaches the device fails with probability `eio`, independently of all others; it takes
//!   as long as one that succeeds, moves no bytes and ends with EIO (5);
//! * from `stuck.at` on for `stuck.for` the device answers nothing: what would have come back in that time
//!   comes back at its end, and requests that arrive meanwhile wait for it;
//! * from `gone_at` on the device is not there: requests fail at once with ENODEV (19), and those that are
//!   under way then fail when they would have come back.
//!
//! Moments count from the beginning of the device's life.
//!
//! ```toml
//! [faults]
//! eio = "1 per million"       # or a share: "0.01%"
//! stuck = { at = "12s", for = "5s" }
//! gone_at = "30s"
//! ```

use iosonde_model::Named;
use rand::RngExt;
use std::{ops::Range, sync::Arc};

use crate::{
    device::REFUSAL_NS,
    file::{DeviceError, Reader},
    flow::{Flow, Id},
    part::{Part, PartKind, Place, Settings, Step},
    random::{Random, stream},
};

/// Input/output error.
const EIO: i32 = 5;
/// No such device.
const ENODEV: i32 = 19;

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
        let gone_at_ns = faults.time_ns("gone_at")?.unwrap_or(u64::MAX);
        let mut stuck_ns = 0..0;
        if let Some(mut stuck) = faults.table("stuck") {
            let at_ns = stuck.time_ns("at")?.ok_or_else(|| stuck.missing("at", "when it begins"))?;
            let for_ns = stuck.time_ns("for")?.ok_or_else(|| stuck.missing("for", "how long it lasts"))?;
            stuck_ns = at_ns..at_ns.saturating_add(for_ns);
        }
        Ok(Some(Arc::new(FaultSettings { eio_share, stuck_ns, gone_at_ns })))
    }
}

#[derive(Debug, Clone)]
struct FaultSettings {
    eio_share: f64,
    stuck_ns: Range<u64>,
    gone_at_ns: u64,
}

impl Settings for FaultSettings {
    fn scatters(&self) -> bool {
        !self.stuck_ns.is_empty() || self.gone_at_ns < u64::MAX
    }

    fn wanders(&self) -> Option<&'static str> {
        (!self.stuck_ns.is_empty() || self.gone_at_ns < u64::MAX).then_some("it gets stuck, or is gone")
    }

    fn build(&self, place: &Place) -> Box<dyn Part> {
        Box::new(Failing { settings: self.clone(), eio: stream(place.seed, "faults.eio") })
    }
}

struct Failing {
    settings: FaultSettings,
    eio: Random,
}

impl Failing {
    /// When something that happens now gets through.
    fn through_ns(&self, now_ns: u64) -> u64 {
        if self.settings.stuck_ns.contains(&now_ns) { self.settings.stuck_ns.end } else { now_ns }
    }
}

impl Part for Failing {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if now_ns >= self.settings.gone_at_ns {
            flow[id].errno = ENODEV;
            return Step::Back(now_ns + REFUSAL_NS);
        }
        if self.settings.eio_share > 0.0 && self.eio.random_bool(self.settings.eio_share) {
            flow[id].errno = EIO;
        }
        Step::On(self.through_ns(now_ns))
    }

    fn rises(&self) -> bool {
        !self.settings.stuck_ns.is_empty() || self.settings.gone_at_ns < u64::MAX
    }

    fn up(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let through_ns = self.through_ns(now_ns);
        if through_ns >= self.settings.gone_at_ns {
            flow[id].errno = ENODEV;
        }
        Step::On(through_ns)
    }
}
