//! Fake: a device that claims more than it holds, as counterfeit sticks and cards do.
//!
//! Laws, for each sector of 512 bytes from `holds` on (what is below is like any other storage; times are those of
//! the medium, everywhere):
//! * `lost`: what is written is gone, and zeros are read;
//! * `wraps`: addresses begin again at 0, so that a write replaces what was written `holds` earlier;
//! * `last`: all of it shares the last `chunk` of what there is;
//! * `cached`: the latest `cache` bytes that were written there can be read, and what came before is zeros;
//! * `mirrored`: what is written is gone, and what lies `holds` earlier is read.
//!
//! Seen by what is read back: by `--verify`, and by `iosonde capacity`.
//!
//! ```toml
//! [fake]
//! holds = "8GB"           # of the claimed `capacity`
//! beyond = "wraps"        # lost, wraps, last, cached, mirrored
//! chunk = "1MiB"          # with last
//! cache = "64MiB"         # with cached
//! ```

use iosonde_model::{FileError, Named, units::SizeBytes};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    fake::{Beyond, FakeCapacity},
    flow::{Flow, Id},
    part::{Part, PartKind, PartPosition, Settings, Step},
    reader::Reader,
};

/// Smallest unit that is kept or lost.
const SECTOR_BYTES: u64 = 512;

/// Reads `[fake]`.
pub(crate) struct Fake;

impl Named for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }
}

#[derive(Deserialize)]
struct FakeKeys {
    holds: SizeBytes,
    beyond: BeyondName,
    chunk: Option<SizeBytes>,
    cache: Option<SizeBytes>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BeyondName {
    Lost,
    Wraps,
    Last,
    Cached,
    Mirrored,
}

impl PartKind for Fake {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("fake.holds", "the real capacity, such as \"8GB\""),
            ("fake.beyond", "what happens to the rest: lost, wraps, last, cached or mirrored"),
            ("fake.chunk", "the part that all of the rest shares, such as \"1MiB\""),
            ("fake.cache", "how much of the rest is kept for a while, such as \"64MiB\""),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(FakeKeys { holds, beyond, chunk, cache }) = reader.section("fake")? else { return Ok(None) };
        let holds_bytes = holds.0;
        if !(SECTOR_BYTES..reader.capacity_bytes).contains(&holds_bytes) {
            return Err(reader.impossible("fake.holds", "a fake holds a sector, and less than its capacity"));
        }
        for (key, given, with) in [
            ("fake.chunk", chunk.is_some(), BeyondName::Last),
            ("fake.cache", cache.is_some(), BeyondName::Cached),
        ] {
            match (given, beyond == with) {
                (false, true) => return Err(reader.missing(key, "what happens beyond depends on it")),
                (true, false) => return Err(reader.impossible(key, "`beyond` has no use for it")),
                _ => {}
            }
        }
        let some = |size: Option<SizeBytes>| size.map_or(0, |size| size.0);
        let whole = |bytes: u64| bytes / SECTOR_BYTES * SECTOR_BYTES;
        let beyond = match beyond {
            BeyondName::Lost => Beyond::Lost,
            BeyondName::Wraps => Beyond::Wraps,
            BeyondName::Last => Beyond::Last { chunk_bytes: whole(some(chunk)) },
            BeyondName::Cached => Beyond::Cached { cache_bytes: whole(some(cache)) },
            BeyondName::Mirrored => Beyond::Mirrored,
        };
        if matches!(beyond, Beyond::Last { chunk_bytes } if !(1..=holds_bytes).contains(&chunk_bytes)) {
            return Err(reader.impossible("fake.chunk", "it is a sector at least, and lies in what there is"));
        }
        Ok(Some(Arc::new(FakeCapacity { holds_bytes: whole(holds_bytes), beyond })))
    }
}

impl Settings for FakeCapacity {
    fn build(&self, _place: &PartPosition) -> Box<dyn Part> {
        Box::new(Unnoticed)
    }

    fn fails_in_silence(&self) -> bool {
        true
    }

    fn fake_capacity(&self) -> Option<FakeCapacity> {
        Some(*self)
    }
}

/// Requests pass: only their data go wrong.
struct Unnoticed;

impl Part for Unnoticed {
    fn down(&mut self, now_ns: u64, _id: Id, _flow: &mut Flow) -> Step {
        Step::On(now_ns)
    }
}
