//! The page cache of the program's own machine: it answers what it holds and takes what is written.
//!
//! Laws, for buffered I/O of b bytes with C bytes of `memory`:
//! * what is held costs `request_cost` + b / `copy_rate` of the processor and nothing below, so at most one
//!   over that a second; what is not held is fetched first;
//! * uniformly random reads of a span W > C find it in a share C / W of all cases; a pass over more than C in
//!   turn finds nothing (second chance replacement, pages of 4 KiB);
//! * reads in sequence fetch `readahead` at a time and wait for it (Linux fetches ahead of need; here the
//!   reader waits, so that the time of a window is exact: one request of that size, and hits for the rest);
//! * a write is copied and done. Each page that the cache does not hold yet costs `new_page` more, as in a new file:
//!   memory is found for it, and the file system makes a place for it;
//! * above half of `dirty_limit` (a share of memory), or 30 s after the first of them, dirty pages are written back
//!   in runs of at most 1 MiB, 32 at a time; a writer that would exceed the limit waits (as Linux's
//!   dirty_background_ratio, dirty_expire_centisecs and dirty_ratio). The run that is being written is left until it
//!   is whole, as long as other runs are under way: one sent half done would have its last page, or a small device's
//!   whole mapping unit, written again for each call.
//!
//! Direct I/O is `honoured` (passes by; a write drops what is held), or `ignored` (some file systems), or
//! `nocache`, a Mac's F_NOCACHE: what is held is still answered from memory, what is not is fetched and not
//! kept.
//!
//! A flush sends down all pages that are dirty when it comes, waits for them and for what was on its way, and then
//! goes down itself. A trim drops the pages that lie wholly within it, written or not.
//!
//! Two readers of one absent page fetch it once. A page that is written in part is not read first, as at the
//! end of a growing file.
//!
//! ```toml
//! [host]
//! memory = "16GiB"
//! page_cache = true           # the default where there is `memory`
//! copy_rate = "10GB/s"        # or { read = "10GB/s", write = "5GB/s" }, with whatever else the program does to a byte
//! new_page = "0s"             # of the processor, for each page of a write that is not in memory yet
//! readahead = "128KiB"
//! dirty_limit = "20%"
//! direct = "honoured"         # or "ignored", or "nocache"
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, Share, SizeBytes, TimeNs},
};
use serde::Deserialize;
use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
    sync::Arc,
};

use crate::{
    event::Leg,
    flow::{Fetch, Flow, Id},
    pages::{ByPage, PAGE_BYTES, PAGED_CAPACITY_LIMIT_BYTES, Pages, page_number, pages_of},
    part::{Fact, Law, Load, Part, PartKind, PartPosition, Settings, Side, Step},
    random::whole_ns,
    rates::Rates,
    reader::Reader,
    request::REFUSAL_NS,
};

/// Pages in one request of the write-back: 1 MiB.
const WRITE_BACK_PAGES: u32 = 256;
/// Queue depth of the write-back.
const WRITE_BACK_IN_FLIGHT: u32 = 32;
/// Age at which dirty pages are written back: Linux's default.
const EXPIRE_NS: u64 = 30_000_000_000;
/// Sequential readers that are told apart.
const STREAMS: usize = 16;

/// Reads `[host]`.
pub(crate) struct PageCache;

impl Named for PageCache {
    fn name(&self) -> &'static str {
        "page-cache"
    }
}

impl PartKind for PageCache {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[("host.copy_rate.read", "the rate of reads"), ("host.copy_rate.write", "the rate of writes")]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(host) = reader.section::<HostKeys>("host")? else { return Ok(None) };
        if !host.page_cache.unwrap_or(host.memory.is_some()) {
            let pointless = [
                ("host.memory", host.memory.is_some()),
                ("host.copy_rate", host.copy_rate.is_some()),
                ("host.direct", host.direct != Direct::Honoured),
            ];
            return match pointless.into_iter().find(|(_, is_given)| *is_given) {
                Some((path, _)) => {
                    Err(reader.impossible(path, "it is for a page cache, and page_cache is not true"))
                }
                None => Ok(None),
            };
        }
        let memory =
            host.memory.ok_or_else(|| reader.missing("host.memory", "how much the page cache may hold"))?;
        // Below it, the write-back's own requests would not fit.
        if !((64 << 20)..=(1 << 40)).contains(&memory.0) {
            return Err(reader.impossible("host.memory", "a page cache holds between 64MiB and 1TiB"));
        }
        if reader.capacity_bytes >= PAGED_CAPACITY_LIMIT_BYTES {
            return Err(reader.impossible("host.page_cache", "it is simulated for devices below 16TiB"));
        }
        let copy = host.copy_rate.filter(|copy| !copy.has_zero());
        let copy =
            copy.ok_or_else(|| reader.missing("host.copy_rate", "how fast buffered I/O is copied, above 0"))?;
        let readahead_bytes = host.readahead.map_or(128 << 10, |size| size.0);
        if readahead_bytes % PAGE_BYTES != 0 || readahead_bytes > 16 << 20 {
            return Err(
                reader.impossible("host.readahead", "it is a whole number of 4KiB pages, at most 16MiB")
            );
        }
        let dirty_share = host.dirty_limit.map_or(0.2, |share| share.0);
        if !(0.01..=0.8).contains(&dirty_share) {
            return Err(reader.impossible("host.dirty_limit", "it lies between 1% and 80% of memory"));
        }
        let (memory_bytes, direct) = (memory.0, host.direct);
        let new_page_ns = host.new_page.map_or(0, |time| time.0);
        Ok(Some(Arc::new(CacheSettings {
            memory_bytes,
            copy,
            new_page_ns,
            readahead_bytes,
            dirty_share,
            direct,
        })))
    }
}

#[derive(Deserialize)]
struct HostKeys {
    memory: Option<SizeBytes>,
    page_cache: Option<bool>,
    copy_rate: Option<Rates>,
    new_page: Option<TimeNs>,
    readahead: Option<SizeBytes>,
    dirty_limit: Option<Share>,
    #[serde(default)]
    direct: Direct,
}

/// Treatment of requests that ask to bypass the cache (`O_DIRECT`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direct {
    #[default]
    Honoured,
    Ignored,
    NoCache,
}

#[derive(Debug, Clone, Copy)]
struct CacheSettings {
    memory_bytes: u64,
    /// Rate at which the program's CPU copies bytes.
    copy: Rates,
    new_page_ns: u64,
    readahead_bytes: u64,
    dirty_share: f64,
    direct: Direct,
}

impl CacheSettings {
    fn copy_ns(&self, op: Op, bytes: u32) -> u64 {
        whole_ns(f64::from(bytes) * 1e9 / self.copy.of(op).0 as f64)
    }
}

impl Settings for CacheSettings {
    fn side(&self) -> Side {
        Side::Host
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        let memory_pages = self.memory_bytes / PAGE_BYTES;
        Box::new(Cache {
            settings: *self,
            place: *place,
            pages: Pages::new(memory_pages as usize),
            dirty_limit_pages: (memory_pages as f64 * self.dirty_share) as u64,
            fetching: ByPage::default(),
            ends: [0; STREAMS],
            oldest_end: 0,
            writing_pages: 0,
            writing_requests: 0,
            due: VecDeque::new(),
            next_run: 0,
            unfinished: BTreeSet::new(),
            flushes: VecDeque::new(),
            cursor: 0,
            written_to_bytes: 0,
            expired: false,
            timer_set: false,
            waiting_writers: VecDeque::new(),
        })
    }

    fn memory_bytes(&self) -> Option<u64> {
        Some(self.memory_bytes)
    }

    fn facts(&self, load: &Load) -> Vec<Fact> {
        let fact =
            |finding, value, unit, derivation| Fact { finding, op: Some(Op::Read), value, unit, derivation };
        let copy_ns = load.block_size_bytes as f64 * 1e9 / self.copy.of(Op::Read).0 as f64;
        let hit_ns = load.host_cost_ns + copy_ns;
        let words = format!(
            "buffered, held in memory: program {} + {} / {} = {}",
            units::time(load.host_cost_ns),
            units::size(load.block_size_bytes),
            units::rate(self.copy.of(Op::Read).0 as f64),
            units::time(hit_ns)
        );
        let mut facts = vec![
            fact(
                FindingName::CacheBytes,
                self.memory_bytes as f64,
                "B",
                "buffered: the host's memory".to_owned(),
            ),
            fact(FindingName::CacheLatency, hit_ns, "ns", words),
        ];
        if self.readahead_bytes > 0 {
            let words = "buffered reads in sequence fetch this much at a time".to_owned();
            facts.push(fact(FindingName::ReadaheadBytes, self.readahead_bytes as f64, "B", words));
        }
        facts
    }

    fn caveat(&self, _load: &Load, _law: Law) -> Option<String> {
        match self.direct {
            Direct::Honoured => None,
            Direct::Ignored => Some("direct I/O is ignored: true only of what is not in memory".to_owned()),
            Direct::NoCache => {
                Some("direct I/O is still answered from memory: true only of what is not there".to_owned())
            }
        }
    }
}

struct Cache {
    settings: CacheSettings,
    place: PartPosition,
    pages: Pages,
    dirty_limit_pages: u64,
    /// Pages on their way, and the request that fetches each.
    fetching: ByPage<Id>,
    /// Where the latest reads ended: a read that begins at one of them goes on in sequence.
    ends: [u64; STREAMS],
    oldest_end: usize,
    /// Pages that are on their way to the device or due to be.
    writing_pages: u64,
    writing_requests: u32,
    /// Runs that a flush has taken and that have not been sent yet, each with its number.
    due: VecDeque<(u64, Range<u32>)>,
    /// The number of the next run; and those that the device does not have yet.
    next_run: u64,
    unfinished: BTreeSet<u64>,
    /// Flushes, and the first run that each does not wait for.
    flushes: VecDeque<(u64, Id)>,
    /// Where the write-back goes on.
    cursor: u32,
    /// Where the latest write ended: the run that ends there may grow.
    written_to_bytes: u64,
    /// Dirty pages have waited long enough: all are written back.
    expired: bool,
    timer_set: bool,
    waiting_writers: VecDeque<Id>,
}

impl Part for Cache {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = flow[id];
        let bypasses = request.direct && self.settings.direct != Direct::Ignored;
        if request.errno != 0 || request.asked_bytes == 0 && request.op != Op::Flush {
            return Step::Back(now_ns + REFUSAL_NS);
        }
        match (request.op, bypasses) {
            (Op::Flush, _) => self.flush(now_ns, id, flow),
            (Op::Trim, _) => {
                self.drop_whole_pages(request.offset_bytes, request.length_bytes);
                Step::On(now_ns)
            }
            (Op::Read, false) => self.read(now_ns, id, flow),
            (Op::Write, false) => self.write(now_ns, id, flow),
            (op, true) if self.settings.direct == Direct::Honoured => {
                if op == Op::Write {
                    pages_of(request.offset_bytes, request.asked_bytes)
                        .for_each(|page| self.pages.remove(page));
                }
                Step::On(now_ns)
            }
            (Op::Read, true)
                if pages_of(request.offset_bytes, request.asked_bytes).all(|p| self.pages.holds(p)) =>
            {
                self.hit(now_ns, id, flow)
            }
            (_, true) => Step::On(now_ns),
        }
    }

    fn rises(&self) -> bool {
        true
    }

    fn up(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if flow[id].owner == Some(self.place.stage) {
            self.written_back(now_ns, id, flow);
            return Step::Kept;
        }
        if flow[id].fetch == Fetch::Fetching { self.fetched(now_ns, id, flow) } else { Step::On(now_ns) }
    }

    fn wake(&mut self, now_ns: u64, _token: u32, flow: &mut Flow) {
        self.timer_set = false;
        self.expired = self.pages.dirty_pages() > 0;
        self.write_back(now_ns, flow);
    }

    fn resident_bytes(&self, range: &Range<u64>) -> Option<u64> {
        // A page counts where it begins inside: ranges are aligned to pages in practice.
        let first = range.start.div_ceil(PAGE_BYTES);
        let end = range.end.min(self.place.capacity_bytes).div_ceil(PAGE_BYTES);
        Some(self.pages.count_in(page_number(first)..page_number(end)) * PAGE_BYTES)
    }
}

impl Cache {
    fn hit(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let bytes = flow[id].asked_bytes;
        pages_of(flow[id].offset_bytes, bytes).for_each(|page| self.pages.touch(page));
        Step::Back(flow.compute_for(now_ns, id, self.settings.copy_ns(Op::Read, bytes)))
    }

    fn read(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let (offset_bytes, bytes) = (flow[id].offset_bytes, flow[id].asked_bytes);
        let in_sequence = flow[id].fetch == Fetch::New && self.goes_on(offset_bytes, bytes);
        let asked = pages_of(offset_bytes, bytes);
        let absent = |page: &u32| !self.pages.holds(*page) && !self.fetching.contains_key(page);
        let Some(first) = asked.clone().find(absent) else {
            if let Some(fetcher) = asked.clone().find_map(|page| self.fetching.get(&page).copied()) {
                flow[id].fetch = Fetch::Waiting;
                flow[id].next_waiting = flow[fetcher].first_waiting.replace(id);
                return Step::Kept;
            }
            return self.hit(now_ns, id, flow);
        };
        let last = asked.clone().rfind(absent).expect("one is absent, so there is a last one");
        let mut end = last + 1;
        if in_sequence {
            let ahead_pages = (self.settings.readahead_bytes / PAGE_BYTES) as u32;
            let device_end = page_number(self.place.capacity_bytes.div_ceil(PAGE_BYTES));
            let window_end = first.saturating_add(ahead_pages).min(device_end);
            end += (end..window_end).take_while(absent).count() as u32;
        }
        for page in first..end {
            self.fetching.insert(page, id);
        }
        let request = &mut flow[id];
        request.fetch = Fetch::Fetching;
        request.offset_bytes = u64::from(first) * PAGE_BYTES;
        let end_bytes = (u64::from(end) * PAGE_BYTES).min(self.place.capacity_bytes);
        request.length_bytes = (end_bytes - request.offset_bytes).min(u64::from(u32::MAX)) as u32;
        Step::On(now_ns)
    }

    /// Returns true if a read goes on where one of the latest ended.
    fn goes_on(&mut self, offset_bytes: u64, bytes: u32) -> bool {
        let end_bytes = offset_bytes + u64::from(bytes);
        match self.ends.iter_mut().find(|end| **end == offset_bytes && offset_bytes > 0) {
            Some(end) => {
                *end = end_bytes;
                true
            }
            None => {
                self.ends[self.oldest_end] = end_bytes;
                self.oldest_end = (self.oldest_end + 1) % STREAMS;
                false
            }
        }
    }

    /// Completes a read whose missing pages have arrived.
    fn fetched(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let failed = flow[id].errno != 0;
        for page in pages_of(flow[id].offset_bytes, flow[id].length_bytes) {
            if self.fetching.get(&page) == Some(&id) {
                self.fetching.remove(&page);
            }
            if !failed {
                self.pages.insert(page);
            }
        }
        // The latest to wait stands first: turned round, they go on in the order in which they came.
        let mut waiting = Vec::new();
        let mut next = flow[id].first_waiting.take();
        while let Some(waiter) = next {
            waiting.push(waiter);
            next = flow[waiter].next_waiting.take();
        }
        for waiter in waiting.into_iter().rev() {
            flow.events.push(now_ns, waiter, Leg::Down(self.place.stage));
        }
        Step::On(if failed {
            now_ns
        } else {
            flow.compute_for(now_ns, id, self.settings.copy_ns(Op::Read, flow[id].asked_bytes))
        })
    }

    fn write(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let pages = pages_of(flow[id].offset_bytes, flow[id].asked_bytes);
        let unwritten = self.pages.dirty_pages() + self.writing_pages;
        // A write larger than the whole limit goes ahead when nothing is dirty, or it would wait for ever.
        if !self.waiting_writers.is_empty()
            || (unwritten > 0 && unwritten + pages.len() as u64 > self.dirty_limit_pages)
        {
            self.waiting_writers.push_back(id);
            self.write_back(now_ns, flow);
            return Step::Kept;
        }
        let done_ns = self.take_write(now_ns, id, flow);
        Step::Back(done_ns)
    }

    fn take_write(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> u64 {
        let bytes = flow[id].asked_bytes;
        let mut cost_ns = self.settings.copy_ns(Op::Write, bytes);
        for page in pages_of(flow[id].offset_bytes, bytes) {
            if self.settings.new_page_ns > 0 && !self.pages.holds(page) {
                cost_ns += self.settings.new_page_ns;
            }
            self.pages.soil(page);
        }
        self.written_to_bytes = flow[id].offset_bytes + u64::from(bytes);
        if !self.timer_set {
            self.timer_set = true;
            flow.events.push(now_ns + EXPIRE_NS, 0, Leg::Wake(self.place.stage));
        }
        self.write_back(now_ns, flow);
        flow.compute_for(now_ns, id, cost_ns)
    }

    fn drop_whole_pages(&mut self, offset_bytes: u64, bytes: u32) {
        let whole = offset_bytes.div_ceil(PAGE_BYTES)..(offset_bytes + u64::from(bytes)) / PAGE_BYTES;
        (page_number(whole.start)..page_number(whole.end)).for_each(|page| self.pages.remove(page));
    }

    /// Everything dirty becomes due at once; what is soiled from now on is none of this flush's business.
    fn flush(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        while let Some(run) = self.pages.dirty_run(0, WRITE_BACK_PAGES) {
            self.pages.clean(&run);
            self.writing_pages += run.len() as u64;
            let number = self.number_run();
            self.due.push_back((number, run));
        }
        if self.unfinished.is_empty() {
            return Step::On(now_ns);
        }
        self.flushes.push_back((self.next_run, id));
        self.write_back(now_ns, flow);
        Step::Kept
    }

    fn number_run(&mut self) -> u64 {
        self.unfinished.insert(self.next_run);
        self.next_run += 1;
        self.next_run - 1
    }

    /// Sends dirty pages down as long as there is a reason to.
    fn write_back(&mut self, now_ns: u64, flow: &mut Flow) {
        while self.writing_requests < WRITE_BACK_IN_FLIGHT {
            let Some((number, run)) = self.due.pop_front().or_else(|| self.next_dirty_run()) else { break };
            self.writing_requests += 1;
            let offset_bytes = u64::from(run.start) * PAGE_BYTES;
            let length_bytes = run.len() as u32 * PAGE_BYTES as u32;
            let id = flow.spawn(self.place.stage, Op::Write, offset_bytes, length_bytes);
            flow[id].tag = number;
            flow.events.push(now_ns, id, Leg::Down(self.place.stage + 1));
        }
        self.expired &= self.pages.dirty_pages() > 0;
    }

    /// The next pages to write back, if there is a reason to.
    fn next_dirty_run(&mut self) -> Option<(u64, Range<u32>)> {
        let dirty_pages = self.pages.dirty_pages();
        let wanted =
            self.expired || !self.waiting_writers.is_empty() || dirty_pages > self.dirty_limit_pages / 2;
        if !wanted {
            return None;
        }
        let mut run = self.pages.dirty_run(self.cursor, WRITE_BACK_PAGES)?;
        if self.writing_requests > 0 && self.grows(&run) {
            run = self.pages.dirty_run(run.end, WRITE_BACK_PAGES).filter(|other| !self.grows(other))?;
        }
        self.pages.clean(&run);
        self.cursor = run.end;
        self.writing_pages += run.len() as u64;
        Some((self.number_run(), run))
    }

    /// Returns true if the next write, if it goes on where the latest ended, adds to this run or to its last page.
    fn grows(&self, run: &Range<u32>) -> bool {
        let end_bytes = u64::from(run.end) * PAGE_BYTES;
        let latest_ends_there = self.written_to_bytes.next_multiple_of(PAGE_BYTES) == end_bytes;
        let whole = run.end.is_multiple_of(WRITE_BACK_PAGES) && self.written_to_bytes == end_bytes;
        latest_ends_there && !whole
    }

    fn written_back(&mut self, now_ns: u64, id: Id, flow: &mut Flow) {
        self.writing_requests -= 1;
        self.writing_pages -= u64::from(flow[id].length_bytes) / PAGE_BYTES;
        self.unfinished.remove(&flow[id].tag);
        flow.close(id);
        let first_unfinished = self.unfinished.first().copied().unwrap_or(u64::MAX);
        while let Some((_, flush)) =
            self.flushes.pop_front_if(|(waits_below, _)| *waits_below <= first_unfinished)
        {
            flow.events.push(now_ns, flush, Leg::Down(self.place.stage + 1));
        }
        while let Some(&writer) = self.waiting_writers.front() {
            let unwritten = self.pages.dirty_pages() + self.writing_pages;
            let pages = pages_of(flow[writer].offset_bytes, flow[writer].asked_bytes).len() as u64;
            if unwritten > 0 && unwritten + pages > self.dirty_limit_pages {
                break;
            }
            self.waiting_writers.pop_front();
            let done_ns = self.take_write(now_ns, writer, flow);
            flow.events.push(done_ns, writer, flow.leg_above(self.place.stage));
        }
        self.write_back(now_ns, flow);
    }
}
