//! The fast cache of flash: cells that hold one bit take new pages quickly, and are folded into denser ones later.
//!
//! It is a stock of room, filled by every page that is programmed while there is some, whatever its address, and
//! emptied by folding alone: what is overwritten in it is folded with the rest.

use iosonde_model::{toml_file::from_text, units};
use serde::{Deserialize, Deserializer};
use std::{fmt, str::FromStr};

/// Time at which cached data is moved to the dense cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// After the device has had nothing to do for so long: a page of each unit at a time, sensed and programmed. While
    /// the cache is full, pages go to the dense cells directly.
    Idle {
        /// How long.
        after_ns: u64,
    },
    /// When there is no room: each page that is written then waits for one to be sensed and programmed elsewhere.
    Full,
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle { after_ns } => {
                write!(f, "folded after {} without work", units::time(*after_ns as f64))
            }
            Self::Full => f.write_str("folded when it is full"),
        }
    }
}

impl FromStr for Fold {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let idle = text.strip_prefix("idle ").and_then(|time| units::parse_time_with_unit(time).ok());
        match (text, idle) {
            ("full", _) => Ok(Self::Full),
            (_, Some(after_ns)) if after_ns > 0 => Ok(Self::Idle { after_ns }),
            _ => Err(format!("`{text}` is neither \"idle TIME\" (as \"idle 1s\") nor \"full\"")),
        }
    }
}

impl<'de> Deserialize<'de> for Fold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, "\"idle TIME\" (as \"idle 1s\") or \"full\"")
    }
}

/// Settings of the cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlcSettings {
    pub(super) size_bytes: u64,
    pub(super) program_ns: f64,
    pub(super) fold: Fold,
}

/// The cache at work.
#[derive(Debug)]
pub(super) struct Slc {
    settings: SlcSettings,
    page_bytes: u64,
    used_bytes: u64,
    /// Pages that each unit has in it.
    pages: Vec<u32>,
}

/// Cells to which a page is programmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goes {
    /// Into the cache, in so many nanoseconds.
    Cache(f64),
    /// Into the cache, once a page of the same unit has been folded.
    CacheAfterFolding(f64),
    /// Past it.
    Dense,
}

impl Slc {
    pub(super) fn new(settings: SlcSettings, page_bytes: u64, units: u32) -> Self {
        Self { settings, page_bytes, used_bytes: 0, pages: vec![0; units as usize] }
    }

    /// As a device that has been written for long has it.
    pub(super) fn fill(&mut self) {
        let pages = self.settings.size_bytes / self.page_bytes;
        let units = self.pages.len() as u64;
        self.pages = (0..units).map(|unit| ((pages + unit) / units) as u32).collect();
        self.used_bytes = pages * self.page_bytes;
    }

    pub(super) fn has_room(&self) -> bool {
        self.used_bytes + self.page_bytes <= self.settings.size_bytes
    }

    /// Takes a unit's next page, if it can.
    pub(super) fn take(&mut self, unit: u32) -> Goes {
        let program_ns = self.settings.program_ns;
        if self.has_room() {
            self.used_bytes += self.page_bytes;
            self.pages[unit as usize] += 1;
            return Goes::Cache(program_ns);
        }
        match self.settings.fold {
            Fold::Full if self.pages[unit as usize] > 0 => Goes::CacheAfterFolding(program_ns),
            _ => Goes::Dense,
        }
    }

    /// Idle time before folding; `None` if nothing is to be folded.
    pub(super) fn folds_after_ns(&self) -> Option<u64> {
        match self.settings.fold {
            Fold::Idle { after_ns } if self.used_bytes > 0 => Some(after_ns),
            _ => None,
        }
    }

    /// Takes one page of a unit out, if it has one there.
    pub(super) fn fold(&mut self, unit: u32) -> bool {
        let pages = &mut self.pages[unit as usize];
        if *pages == 0 {
            return false;
        }
        *pages -= 1;
        self.used_bytes -= self.page_bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slc(fold: Fold) -> Slc {
        Slc::new(SlcSettings { size_bytes: 10 * 16_384, program_ns: 150e3, fold }, 16_384, 4)
    }

    #[test]
    fn it_takes_what_it_holds_and_no_more() {
        let mut cache = slc(Fold::Idle { after_ns: 5 });
        let taken = (0..20).filter(|k| cache.take(k % 4) != Goes::Dense).count();
        assert_eq!((taken, cache.has_room(), cache.folds_after_ns()), (10, false, Some(5)));
        assert!(cache.fold(1) && cache.has_room());
        let mut folding = slc(Fold::Full);
        assert!((0..20).all(|k| folding.take(k % 4) != Goes::Dense));
        assert_eq!(folding.take(0), Goes::CacheAfterFolding(150e3));
    }

    #[test]
    fn a_full_one_has_a_share_on_each_unit() {
        let mut cache = slc(Fold::Idle { after_ns: 5 });
        cache.fill();
        assert_eq!((cache.pages.as_slice(), cache.has_room()), (&[2, 2, 3, 3][..], false));
    }
}
