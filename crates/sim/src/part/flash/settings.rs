//! Settings of flash, checked, and the part that is built of them.

use super::{
    buffer::{Buffer, BufferSettings},
    chips::{Chips, ReadCacheSettings},
    ground::{Ground, Placement},
    layout::Layout,
    log::{Log, LogSize, Policy},
    slc::{Slc, SlcSettings},
    steady,
    trimmed::Trimmed,
    units::{Times, Units},
};
use crate::{
    part::{Part, PartPosition},
    start::StartState,
};

/// A log, and by how much the device's capacity was divided to make it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogSettings {
    pub(super) size: LogSize,
    pub(super) policy: Policy,
    pub(super) scale: f64,
}

/// Settings of `[flash]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlashSettings {
    pub(super) layout: Layout,
    pub(super) times: Times,
    pub(super) log: Option<LogSettings>,
    pub(super) buffer: Option<BufferSettings>,
    pub(super) slc: Option<SlcSettings>,
    pub(super) cache: Option<ReadCacheSettings>,
    pub(super) state: StartState,
}

impl FlashSettings {
    /// Builds the part in its start state.
    pub(super) fn chips(&self, place: &PartPosition) -> Box<dyn Part> {
        let Layout { units, page_bytes, .. } = self.layout;
        let mut slc = self.slc.map(|settings| Slc::new(settings, page_bytes, units));
        if let (Some(slc), StartState::Steady) = (&mut slc, self.state) {
            slc.fill();
        }
        let placement = match self.log {
            None => Placement::Static(Trimmed::default()),
            Some(LogSettings { size, policy, .. }) => {
                let mut log = Log::new(size, policy);
                match self.state {
                    StartState::Fresh => {}
                    StartState::Filled { share } => log.fill(share),
                    StartState::Steady => {
                        log = steady::log_of_seed(size, policy, place.seed);
                    }
                }
                Placement::Log(log, vec![0.0; units as usize])
            }
        };
        let ground =
            Ground { layout: self.layout, units: Units::new(units, self.times, page_bytes, slc), placement };
        let buffer = self.buffer.map(|settings| Buffer::new(settings, place.stage, units, page_bytes));
        Box::new(Chips::new(ground, buffer, self.cache, place.stage))
    }
}
