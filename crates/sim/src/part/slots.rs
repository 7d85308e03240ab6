//! The slots of a link: how many commands a device holds at once. The others wait in the host.
//!
//! Law: at most `slots` requests are between here and the medium; the next one enters when one of them has come
//! back, first come, first served. A device that answers after R when it is busy therefore serves at most
//! `slots` / R requests a second, and beyond a queue depth of `slots` more depth adds only latency (Little's law). 32
//! with SATA, up to 65,535 on each queue with NVMe. Without the key there is no limit.
//!
//! ```toml
//! [link]
//! slots = 32
//! ```

use iosonde_model::{
    FileError, Named, Op,
    units::{self, SizeBytes, TimeNs},
};
use serde::Deserialize;
use std::{collections::VecDeque, sync::Arc};

use crate::{
    event::Leg,
    flow::{Flow, Id},
    part::{Part, PartKind, PartPosition, Settings, Step},
    rates::Rates,
    reader::Reader,
};

/// Reads `slots` of `[link]`.
pub(crate) struct Slots;

impl Named for Slots {
    fn name(&self) -> &'static str {
        "slots"
    }
}

impl PartKind for Slots {
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(link) = reader.section::<LinkKeys>("link")? else { return Ok(None) };
        let Some(slots) = link.slots else { return Ok(None) };
        // 65,536: as deep as any driver here goes.
        if !(1..=65_536).contains(&slots) {
            return Err(reader.impossible("link.slots", "there must be between 1 and 65,536"));
        }
        match idle_bandwidth(&link, slots) {
            Some(rule) => Err(reader.impossible("link.bandwidth", rule)),
            None => Ok(Some(Arc::new(SlotSettings { slots: slots as u32 }))),
        }
    }
}

#[derive(Deserialize)]
struct LinkKeys {
    slots: Option<u64>,
    bandwidth: Option<Rates>,
    max_transfer: Option<SizeBytes>,
    #[serde(default)]
    latency: TimeNs,
}

/// A command holds its slot for the link's latency and its own transfer: so many slots of the largest size carry
/// so much, and a bandwidth above it could never be seen.
fn idle_bandwidth(link: &LinkKeys, slots: u64) -> Option<String> {
    let (bandwidth, max_bytes) = (link.bandwidth?, link.max_transfer?.0);
    let bytes_per_s = bandwidth.of(Op::Read).0.max(bandwidth.of(Op::Write).0);
    let held_s = link.latency.0 as f64 / 1e9 + max_bytes as f64 / bytes_per_s as f64;
    let carried = slots as f64 * max_bytes as f64 / held_s;
    (carried < bytes_per_s as f64).then(|| {
        format!(
            "{slots} slot{} of {} each, held for at least {}, carry no more than {}",
            if slots == 1 { "" } else { "s" },
            units::size(max_bytes),
            units::time(held_s * 1e9),
            units::rate(carried)
        )
    })
}

#[derive(Debug, Clone, Copy)]
struct SlotSettings {
    slots: u32,
}

impl Settings for SlotSettings {
    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        Box::new(Gate { free: self.slots, stage: place.stage, waiting: VecDeque::new() })
    }

    fn slots(&self) -> Option<u32> {
        Some(self.slots)
    }
}

struct Gate {
    free: u32,
    stage: u8,
    waiting: VecDeque<Id>,
}

impl Part for Gate {
    fn down(&mut self, now_ns: u64, id: Id, _flow: &mut Flow) -> Step {
        if self.free == 0 {
            self.waiting.push_back(id);
            return Step::Kept;
        }
        self.free -= 1;
        Step::On(now_ns)
    }

    fn rises(&self) -> bool {
        true
    }

    fn up(&mut self, now_ns: u64, _id: Id, flow: &mut Flow) -> Step {
        // The slot goes straight to the next in line.
        match self.waiting.pop_front() {
            Some(next) => flow.events.push(now_ns, next, Leg::Down(self.stage + 1)),
            None => self.free += 1,
        }
        Step::On(now_ns)
    }
}
