//! What a simulated device holds: enough of each sector to judge it when it is read back.
//!
//! A verified block is zeros but for its marks, which stand in the first 48 bytes of each 512 B sector: those are kept,
//! the rest is zeros again when it is read. 1 GiB of written blocks takes 100 MiB of memory.
//!
//! A fake device claims more sectors than it has; where those lie that it has not is decided here.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
};

use iosonde_sim::{Beyond, FakeCapacity, Fate};

use crate::verify::SECTOR_BYTES;

/// The bytes of a sector that a mark may take.
const HEAD_BYTES: usize = 48;
type Head = [u8; HEAD_BYTES];

/// Sectors that are kept together: 4 KiB.
const TOGETHER: u64 = 8;

/// Neighbouring sectors.
#[derive(Debug, Clone)]
struct Page {
    now: [Head; TOGETHER as usize],
    /// Previous contents, for devices that serve stale reads.
    before: Option<Box<[Head; TOGETHER as usize]>>,
}

/// The sectors that were written with marks; all others are zeros.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pages: HashMap<u64, Page>,
    /// True if older versions may be requested.
    keeps_old: bool,
    fake: Option<FakeCapacity>,
    /// Sectors in the cache of a fake device, the oldest first.
    cached: VecDeque<u64>,
    is_cached: HashSet<u64>,
}

/// Whether a sector is written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write,
    Read,
}

impl Contents {
    /// Nothing has been written.
    pub(crate) fn new(keeps_old: bool, fake: Option<FakeCapacity>) -> Self {
        Self { keeps_old, fake, ..Self::default() }
    }

    /// A write of `bytes` has come back, and this is what became of it.
    pub(crate) fn write(&mut self, offset_bytes: u64, bytes: &[u8], fate: Fate) {
        match fate {
            Fate::Lost => {}
            Fate::Torn { arrived_bytes } => self.put(offset_bytes, &bytes[..arrived_bytes as usize]),
            Fate::Misplaced { to_bytes } => self.put(to_bytes, bytes),
            Fate::AsAsked | Fate::Stale => self.put(offset_bytes, bytes),
        }
    }

    fn put(&mut self, offset_bytes: u64, bytes: &[u8]) {
        for (bytes, sector) in bytes.chunks_exact(SECTOR_BYTES).zip(offset_bytes / SECTOR_BYTES as u64..) {
            let (head, rest) = bytes.split_at(HEAD_BYTES);
            debug_assert!(rest.iter().all(|byte| *byte == 0), "only marks are kept");
            let Some(sector) = self.real_sector(sector, Access::Write) else { continue };
            self.cache(sector);
            let blank = || Page { now: [[0; HEAD_BYTES]; TOGETHER as usize], before: None };
            let page = self.pages.entry(sector / TOGETHER).or_insert_with(blank);
            let at = (sector % TOGETHER) as usize;
            if self.keeps_old {
                let before = page.before.get_or_insert_with(|| Box::new(page.now));
                before[at] = page.now[at];
            }
            page.now[at].copy_from_slice(head);
        }
    }

    /// A read has come back: fills its buffer.
    pub(crate) fn read(&self, offset_bytes: u64, bytes: &mut [u8], fate: Fate) {
        for (bytes, sector) in bytes.chunks_exact_mut(SECTOR_BYTES).zip(offset_bytes / SECTOR_BYTES as u64..)
        {
            let real = self.real_sector(sector, Access::Read);
            let page = real.and_then(|real| self.pages.get(&(real / TOGETHER)));
            let sectors = page.map(|page| match (&page.before, fate) {
                (Some(before), Fate::Stale) => before.as_ref(),
                _ => &page.now,
            });
            let at = real.map_or(0, |real| (real % TOGETHER) as usize);
            let head = sectors.map_or([0; HEAD_BYTES], |sectors| sectors[at]);
            bytes[..HEAD_BYTES].copy_from_slice(&head);
        }
    }

    /// Where a sector really is; `None` where a fake device has none for it.
    fn real_sector(&self, sector: u64, access: Access) -> Option<u64> {
        let Some(FakeCapacity { holds_bytes, beyond }) = self.fake else { return Some(sector) };
        let sectors = |bytes: u64| bytes / SECTOR_BYTES as u64;
        let holds = sectors(holds_bytes);
        if sector < holds {
            return Some(sector);
        }
        match beyond {
            Beyond::Lost => None,
            Beyond::Wraps => Some(sector % holds),
            Beyond::Last { chunk_bytes } => {
                let chunk = sectors(chunk_bytes);
                Some(holds - chunk + (sector - holds) % chunk)
            }
            Beyond::Cached { .. } => Some(sector),
            Beyond::Mirrored => (access == Access::Read).then_some(sector % holds),
        }
    }

    /// A sector that the device has no room for is cached, and the oldest one forgotten.
    fn cache(&mut self, sector: u64) {
        let Some(FakeCapacity { holds_bytes, beyond: Beyond::Cached { cache_bytes } }) = self.fake else {
            return;
        };
        if sector < holds_bytes / SECTOR_BYTES as u64 || !self.is_cached.insert(sector) {
            return;
        }
        self.cached.push_back(sector);
        if self.cached.len() as u64 > cache_bytes / SECTOR_BYTES as u64
            && let Some(oldest) = self.cached.pop_front()
        {
            self.is_cached.remove(&oldest);
            self.clear(oldest);
        }
    }

    fn clear(&mut self, sector: u64) {
        if let Some(page) = self.pages.get_mut(&(sector / TOGETHER)) {
            page.now[(sector % TOGETHER) as usize] = [0; HEAD_BYTES];
        }
    }

    /// Somebody changes a range without saying what to: nothing that is known of it holds any more.
    pub(crate) fn forget(&mut self, range_bytes: Range<u64>) {
        if self.pages.is_empty() {
            return;
        }
        let sector = SECTOR_BYTES as u64;
        for sector in range_bytes.start / sector..range_bytes.end.div_ceil(sector) {
            if let Some(real) = self.real_sector(sector, Access::Write) {
                self.clear(real);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(mark: u8) -> Vec<u8> {
        let mut block = vec![0; 4 * SECTOR_BYTES];
        block.chunks_exact_mut(SECTOR_BYTES).for_each(|sector| sector[..HEAD_BYTES].fill(mark));
        block
    }

    fn marks(contents: &Contents, offset_bytes: u64, fate: Fate) -> Vec<u8> {
        let mut read = vec![0; 4 * SECTOR_BYTES];
        contents.read(offset_bytes, &mut read, fate);
        read.chunks_exact(SECTOR_BYTES).map(|sector| sector[0]).collect()
    }

    #[test]
    fn each_fate_leaves_what_its_name_says() {
        let mut contents = Contents::new(true, None);
        // Across two groups of eight sectors.
        contents.write(3072, &block(1), Fate::AsAsked);
        contents.write(3072, &block(2), Fate::AsAsked);
        assert_eq!(marks(&contents, 3072, Fate::AsAsked), [2; 4]);
        assert_eq!(marks(&contents, 3072, Fate::Stale), [1; 4]);
        contents.write(3072, &block(3), Fate::Lost);
        assert_eq!(marks(&contents, 3072, Fate::AsAsked), [2; 4]);
        contents.write(3072, &block(4), Fate::Torn { arrived_bytes: 1536 });
        assert_eq!(marks(&contents, 3072, Fate::AsAsked), [4, 4, 4, 2]);
        contents.write(1 << 20, &block(5), Fate::Misplaced { to_bytes: 3072 });
        assert_eq!(marks(&contents, 3072, Fate::AsAsked), [5; 4]);
        assert_eq!(marks(&contents, 1 << 20, Fate::AsAsked), [0; 4]);
    }

    /// Sectors 0 to 7 exist; four writes of four sectors go to the sectors 0 to 15, which are then read.
    #[test]
    fn a_fake_device_keeps_what_its_kind_says() {
        let read_after = |beyond: Beyond| {
            let fake = FakeCapacity { holds_bytes: 8 * SECTOR_BYTES as u64, beyond };
            let mut contents = Contents::new(false, Some(fake));
            let at = |sector: usize| (sector * SECTOR_BYTES) as u64;
            contents.write(0, &block(1), Fate::AsAsked);
            contents.write(at(4), &block(2), Fate::AsAsked);
            contents.write(at(8), &block(3), Fate::AsAsked);
            contents.write(at(12), &block(4), Fate::AsAsked);
            [0, 4, 8, 12].map(|sector| marks(&contents, at(sector), Fate::AsAsked))
        };
        let kept = [vec![1; 4], vec![2; 4]];
        let chunk_bytes = 2 * SECTOR_BYTES as u64;
        assert_eq!(read_after(Beyond::Lost), [kept[0].clone(), kept[1].clone(), vec![0; 4], vec![0; 4]]);
        assert_eq!(read_after(Beyond::Wraps), [[3; 4], [4; 4], [3; 4], [4; 4]]);
        let shared = [vec![1; 4], vec![2, 2, 4, 4], vec![4; 4], vec![4; 4]];
        assert_eq!(read_after(Beyond::Last { chunk_bytes }), shared);
        let latest = [kept[0].clone(), kept[1].clone(), vec![0; 4], vec![0, 0, 4, 4]];
        assert_eq!(read_after(Beyond::Cached { cache_bytes: chunk_bytes }), latest);
        assert_eq!(read_after(Beyond::Mirrored), [[1; 4], [2; 4], [1; 4], [2; 4]]);
    }

    #[test]
    fn what_is_written_without_a_word_is_forgotten() {
        let mut contents = Contents::default();
        contents.write(0, &block(1), Fate::AsAsked);
        contents.forget(600..1000);
        assert_eq!(marks(&contents, 0, Fate::AsAsked), [1, 0, 1, 1]);
    }
}
