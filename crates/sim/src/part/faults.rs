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
//! * each write of the program fails in silence with probability `lost` (nothing of it arrives), `torn` (its first
//!   sectors of 512 bytes arrive, at least one and not all, so a write of one sector is never torn) or `misplaced` (it
//!   arrives at the place of the latest write of its length that arrived whole, once for each such write, and its own
//!   place keeps what it held); each read of the program with probability `stale` (it gets what its place held before
//!   the last write). Such requests take as long as others and succeed: only what is read back tells. What a page cache
//!   writes later arrives whole.
//!
//! Moments count from the beginning of the device's life.
//!
//! ```toml
//! [faults]
//! eio = "1 per million"       # or a share: "0.01%"
//! lost = "1 per million"
//! torn = "1 per million"
//! misplaced = "1 per million"
//! stale = "1 per million"
//! stuck = { at = "12s", for = "5s" }
//! gone_at = "30s"
//! ```

use iosonde_model::{
    FileError, Named, Op,
    units::{Share, TimeNs},
};
use rand::RngExt;
use serde::Deserialize;
use std::{ops::Range, sync::Arc};

use crate::{
    flow::{Flow, Id},
    part::{Part, PartKind, PartPosition, Settings, Step},
    random::{Random, stream},
    reader::Reader,
    request::{Fate, REFUSAL_NS},
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
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[("faults.stuck.at", "when it begins"), ("faults.stuck.for", "how long it lasts")]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(faults) = reader.section::<FaultKeys>("faults")? else { return Ok(None) };
        let FaultKeys { eio, lost, torn, misplaced, stale, gone_at, stuck } = faults;
        let silent = Silent { lost: lost.0, torn: torn.0, misplaced: misplaced.0, stale: stale.0 };
        let stuck_ns = stuck.map_or(0..0, |stuck| stuck.at.0..stuck.at.0.saturating_add(stuck.lasts.0));
        let gone_at_ns = gone_at.map_or(u64::MAX, |at| at.0);
        Ok(Some(Arc::new(FaultSettings { eio_share: eio.0, silent, stuck_ns, gone_at_ns })))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FaultKeys {
    eio: Share,
    lost: Share,
    torn: Share,
    misplaced: Share,
    stale: Share,
    gone_at: Option<TimeNs>,
    stuck: Option<StuckKeys>,
}

#[derive(Deserialize)]
struct StuckKeys {
    at: TimeNs,
    #[serde(rename = "for")]
    lasts: TimeNs,
}

/// Shares of requests whose bytes go wrong in silence.
#[derive(Debug, Clone, Copy)]
struct Silent {
    lost: f64,
    torn: f64,
    misplaced: f64,
    stale: f64,
}

#[derive(Debug, Clone)]
struct FaultSettings {
    eio_share: f64,
    silent: Silent,
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

    fn fails_in_silence(&self) -> bool {
        let Silent { lost, torn, misplaced, stale } = self.silent;
        lost + torn + misplaced + stale > 0.0
    }

    fn serves_old_versions(&self) -> bool {
        self.silent.stale > 0.0
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        let draws = |kind: &str| stream(place.seed, &format!("faults.{kind}"));
        Box::new(Failing {
            settings: self.clone(),
            eio: draws("eio"),
            lost: draws("lost"),
            torn: draws("torn"),
            misplaced: draws("misplaced"),
            stale: draws("stale"),
        })
    }
}

struct Failing {
    settings: FaultSettings,
    eio: Random,
    lost: Random,
    torn: Random,
    misplaced: Random,
    stale: Random,
}

/// The smallest part of a write that arrives as one.
const SECTOR_BYTES: u32 = 512;

fn happens(random: &mut Random, share: f64) -> bool {
    share > 0.0 && random.random_bool(share)
}

impl Failing {
    /// When something that happens now gets through.
    fn through_ns(&self, now_ns: u64) -> u64 {
        if self.settings.stuck_ns.contains(&now_ns) { self.settings.stuck_ns.end } else { now_ns }
    }

    /// Draws the fate of a request's data. Only requests of the program are affected.
    fn fate(&mut self, id: Id, flow: &mut Flow) -> Fate {
        let (request, shares) = (flow[id], self.settings.silent);
        let sectors = request.asked_bytes / SECTOR_BYTES;
        match request.op {
            Op::Read if happens(&mut self.stale, shares.stale) => Fate::Stale,
            Op::Write if happens(&mut self.lost, shares.lost) => Fate::Lost,
            Op::Write if sectors > 1 && happens(&mut self.torn, shares.torn) => {
                Fate::Torn { arrived_bytes: self.torn.random_range(1..sectors) * SECTOR_BYTES }
            }
            Op::Write if happens(&mut self.misplaced, shares.misplaced) => {
                let alike = |(to_bytes, bytes): &(u64, u32)| {
                    *bytes == request.asked_bytes && *to_bytes != request.offset_bytes
                };
                let place = flow.arrived.take_if(|arrived| alike(arrived));
                place.map_or(Fate::AsAsked, |(to_bytes, _)| Fate::Misplaced { to_bytes })
            }
            _ => Fate::AsAsked,
        }
    }
}

impl Part for Failing {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if now_ns >= self.settings.gone_at_ns {
            flow[id].errno = ENODEV;
            return Step::Back(now_ns + REFUSAL_NS);
        }
        if happens(&mut self.eio, self.settings.eio_share) {
            flow[id].errno = EIO;
        }
        if let Some(whole) = flow.asked_by_program(id) {
            flow[whole].fate = self.fate(whole, flow);
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
