//! Flash as the medium: parallel units of pages, and a buffer that takes writes.
//!
//! Laws:
//! * with static placement the byte at an offset lies on unit floor(offset / `stripe`) mod `units`, always.
//!   With
//!   `placement = "log"` pages fill the units in turn, in the order of writing, and garbage is collected:
//!   greedily, or first in, first out. Physical pages are (1 + `spare`) times the user's. Uniformly random
//!   writes over the whole device make fifo find a share u of each collected block still valid, (u - 1) / ln
//!   u = user / physical, and write 1 / (1 - u) times what the user does (Desnoyers, Analytic Models of SSD
//!   Write Performance, 2014); greedy comes near that for large blocks (Xiang and Kurkoski, 2012). What is
//!   still valid is sensed and programmed again on its unit, then the block is erased;
//! * a read senses every page that it touches, whole, in `read` each; a unit does one thing at a time, first
//!   come, first served, so that units / read single pages a second can be read where addresses lie evenly.
//!   Random addresses queue at each unit apart: with as many requests in flight as units, 59 % of that (a
//!   closed network of equal stations with fixed times; with exponential ones it would be N / (N + units -
//!   1));
//! * a write programs pages, `program` each, and with static placement every `pages_per_block`
//!   programs of a unit an `erase`. What
//!   is written is rounded outwards to `mapping_unit`, after sensing the pages whose bytes were not given
//!   (read-modify-write);
//! * without `write_buffer` a write programs every page that it touches and is done when they are. With it, a
//!   write is done after `latency` as long as there is room; each unit's bytes are gathered into whole pages,
//!   and at most
//!   `drain` bytes a second are programmed, one page at a time on each unit. So a burst goes at the speed of
//!   the link, and what lasts goes at the smaller of `drain` and units page / (program + erase /
//!   pages_per_block);
//! * with `read_cache`, reads whose 4 KiB pages were all read lately are answered in `latency`.
//!
//! A device begins blank: reads of what was never written sense the page where static placement would have
//! it.
//!
//! ```toml
//! [flash]
//! units = 32
//! stripe = "16KiB"
//! page = "16KiB"
//! mapping_unit = "4KiB"
//! read = "60us"
//! program = "600us"
//! erase = "3ms"
//! pages_per_block = 256
//! placement = "static"        # or "log", and then: gc = "greedy" (or "fifo"), spare = "7%"
//! write_buffer = { size = "64MiB", latency = "12us", drain = "480MB/s" }
//! read_cache = { size = "32MiB", latency = "8us" }
//! ```

mod buffer;
mod ground;
mod layout;
mod log;
mod read;
mod units;

use iosonde_model::{Named, Op, units as quantity};
use std::{ops::Range, sync::Arc};

use crate::{
    file::{DeviceError, Reader},
    flow::{Flow, Id},
    pages::{PAGE_BYTES, PAGED_CAPACITY_LIMIT_BYTES, Pages, pages_of},
    part::{Fact, Idle, Law, Limit, Load, Part, PartKind, Place, Settings, Side, Step},
};
use buffer::{Buffer, BufferSettings};
use ground::Ground;
use layout::Layout;
use log::{Log, LogSize, Policy};
use units::{Times, Units};

/// Reads `[flash]`.
pub(crate) struct Flash;

impl Named for Flash {
    fn name(&self) -> &'static str {
        "flash"
    }
}

impl PartKind for Flash {
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, DeviceError> {
        let capacity_bytes = reader.capacity_bytes;
        let Some(mut flash) = reader.section("flash") else { return Ok(None) };
        let layout = read::layout(&mut flash)?;
        let mut times = read::times(&mut flash)?;
        let log = read::log(&mut flash, &layout, times.pages_per_block, capacity_bytes)?;
        times.erases_in_turn = log.is_none();
        let buffer =
            flash.table("write_buffer").map(|mut section| read::write_buffer(&mut section)).transpose()?;
        if log.is_some() && buffer.is_none() {
            return Err(
                flash.missing("write_buffer", "a log is written by whole pages, which are gathered there")
            );
        }
        let cache =
            flash.table("read_cache").map(|mut section| read::read_cache(&mut section)).transpose()?;
        if cache.is_some() && capacity_bytes >= PAGED_CAPACITY_LIMIT_BYTES {
            return Err(flash.impossible("read_cache", "it is simulated for devices below 16TiB"));
        }
        Ok(Some(Arc::new(FlashSettings { layout, times, log, buffer, cache })))
    }
}

#[derive(Debug, Clone, Copy)]
struct ReadCacheSettings {
    size_bytes: u64,
    latency_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct FlashSettings {
    layout: Layout,
    times: Times,
    log: Option<(LogSize, Policy)>,
    buffer: Option<BufferSettings>,
    cache: Option<ReadCacheSettings>,
}

impl FlashSettings {
    /// Pages that an aligned request of this size programs, after rounding to mapping units.
    fn programs(&self, bytes: u64) -> f64 {
        let rounded = bytes.next_multiple_of(self.layout.mapping_unit_bytes);
        match self.buffer {
            // Gathered: four mapping units of 4 KiB are one program of 16 KiB.
            Some(_) => rounded as f64 / self.layout.page_bytes as f64,
            None => rounded.div_ceil(self.layout.page_bytes) as f64,
        }
    }

    /// Operations on the busiest unit when an aligned request of this size is alone.
    fn turns(&self, bytes: u64) -> u64 {
        let pages = bytes.div_ceil(self.layout.page_bytes);
        let pages_per_stripe = self.layout.stripe_bytes / self.layout.page_bytes;
        let round = pages_per_stripe * u64::from(self.layout.units);
        pages / round * pages_per_stripe + (pages % round).min(pages_per_stripe)
    }

    /// Pages that an aligned request of this size must sense before it can be rewritten.
    fn sensed_before(&self, bytes: u64) -> u64 {
        let rounded = bytes.next_multiple_of(self.layout.mapping_unit_bytes);
        if rounded == bytes {
            0
        } else {
            rounded.div_ceil(self.layout.page_bytes) - bytes / self.layout.page_bytes
        }
    }

    /// The time a unit spends on each page that the user writes, in the long run.
    fn lasting_page_ns(&self, random: bool) -> f64 {
        let Times { read_ns, program_ns, erase_ns, pages_per_block, .. } = self.times;
        let pages = pages_per_block as f64;
        match self.log {
            Some((size, _)) if random => {
                // A block that is collected is still valid to u, so that 1 - u of it takes new data.
                let u = log::valid_when_collected(&size);
                let sensed = pages * (1.0 - (1.0 - u).powi(size.slots_per_page as i32));
                program_ns + (sensed * read_ns + u * pages * program_ns + erase_ns) / (pages * (1.0 - u))
            }
            _ => program_ns + erase_ns / pages,
        }
    }

    /// Bytes a second of lasting writes of whole pages, and how.
    fn sustained(&self, random: bool) -> (f64, String) {
        let Layout { units, page_bytes, .. } = self.layout;
        let page_ns = self.lasting_page_ns(random);
        let programs = f64::from(units) * page_bytes as f64 * 1e9 / page_ns;
        let collecting = if self.log.is_some() && random { " with collecting" } else { "" };
        let words = format!(
            "{units} units x {} / {}{collecting}",
            quantity::size(page_bytes),
            quantity::time(page_ns)
        );
        match self.buffer.and_then(|buffer| buffer.drain_bytes_per_s) {
            Some(drain) if (drain as f64) < programs => (drain as f64, "the write buffer's drain".to_owned()),
            _ => (programs, words),
        }
    }

    /// Whether lasting random writes obey a formula.
    fn collects_greedily(&self) -> bool {
        self.log.is_some_and(|(_, policy)| policy == Policy::Greedy)
    }
}

impl Settings for FlashSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &Place) -> Box<dyn Part> {
        let Layout { units, page_bytes, .. } = self.layout;
        Box::new(Chips {
            ground: Ground {
                layout: self.layout,
                units: Units::new(units, self.times, page_bytes),
                log: self.log.map(|(size, policy)| Log::new(size, policy)),
            },
            buffer: self.buffer.map(|settings| Buffer::new(settings, place.stage, units, page_bytes)),
            cache: self
                .cache
                .map(|cache| (Pages::new((cache.size_bytes / PAGE_BYTES) as usize), cache.latency_ns)),
        })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn idle(&self, load: &Load) -> Option<Idle> {
        let turns = self.turns(load.block_size_bytes) as f64;
        let (fixed_ns, words) = match (load.op, self.buffer) {
            (Op::Trim | Op::Flush, _) => (0.0, "nothing"),
            (Op::Read, _) => (turns * self.times.read_ns * load.stretch, "sensing"),
            (Op::Write, Some(buffer)) => (buffer.latency_ns as f64, "write buffer"),
            (Op::Write, None) => {
                let rounded = load.block_size_bytes.next_multiple_of(self.layout.mapping_unit_bytes);
                // Where anything is missing, the busiest unit misses all of its pages, unless it is the only
                // one.
                let missing = match self.sensed_before(load.block_size_bytes) {
                    pages if pages == 0 || self.layout.units == 1 => pages,
                    _ => self.turns(rounded),
                };
                let programs = self.turns(rounded) as f64 * self.times.program_ns;
                ((programs + missing as f64 * self.times.read_ns) * load.stretch, "rewriting")
            }
        };
        let words = format!("{words} {}", quantity::time(fixed_ns));
        Some(Idle { fixed_ns, ns_per_byte: 0.0, linear: false, words })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let units = self.layout.units;
        let bytes = load.block_size_bytes;
        if load.op == Op::Write {
            let programs = self.programs(bytes);
            let (bytes_per_s, mut words) = self.sustained(load.random);
            let mut per_s = bytes_per_s / (programs * self.layout.page_bytes as f64);
            let sensed = self.sensed_before(bytes) as f64;
            if sensed > 0.0 {
                let request_ns = programs * self.lasting_page_ns(load.random) + sensed * self.times.read_ns;
                per_s = per_s.min(f64::from(units) * 1e9 / request_ns);
                words = format!("{units} units / {} for {sensed} pages sensed", quantity::time(request_ns));
            }
            let words = format!("lasting writes, {words}, {programs:.2} pages programmed a request");
            return Some(Limit { per_s: per_s / load.stretch, words });
        }
        let pages = bytes.div_ceil(self.layout.page_bytes);
        let read_ns = self.times.read_ns * load.stretch;
        let each = if pages > 1 { format!(" / {pages} pages") } else { String::new() };
        let words = format!("{units} units / {}{each} for addresses spread evenly", quantity::time(read_ns));
        Some(Limit { per_s: f64::from(units) * 1e9 / read_ns / pages as f64, words })
    }

    fn no_closed_form(&self, load: &Load, law: Law) -> Option<&'static str> {
        if load.op == Op::Read {
            return None;
        }
        match law {
            Law::Alone if self.buffer.is_none() && self.times.erase_ns > 0.0 => {
                Some("some writes meet an erase and others do not, which depends on what was written before")
            }
            Law::Most if load.random && self.collects_greedily() => {
                Some("greedy collecting has no closed form; for large blocks it comes near that of fifo")
            }
            _ => None,
        }
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let fact = |finding, op, value, unit, derivation: &str| Fact {
            finding,
            op,
            value,
            unit,
            derivation: derivation.to_owned(),
        };
        let mut facts = vec![
            fact("parallelism", None, f64::from(self.layout.units), "requests", "as many as there are units"),
            fact("mapping_unit_bytes", Some(Op::Write), self.layout.mapping_unit_bytes as f64, "B", "as set"),
        ];
        if !self.collects_greedily() {
            let (sustained, words) = self.sustained(true);
            facts.push(fact("sustained_rate", Some(Op::Write), sustained, "B/s", &words));
        }
        if self.layout.units > 1 && self.log.is_none() {
            facts.push(fact("stripe_bytes", None, self.layout.stripe_bytes as f64, "B", "as set"));
        }
        if let Some(buffer) = self.buffer {
            let size = buffer.size_bytes as f64;
            facts.push(fact(
                "write_buffer_bytes",
                Some(Op::Write),
                size,
                "B",
                "as set; what drains meanwhile comes on top",
            ));
        }
        if let Some(cache) = self.cache {
            facts.push(fact("cache_bytes", Some(Op::Read), cache.size_bytes as f64, "B", "the read cache"));
        }
        facts
    }
}

/// A write as flash sees it: rounded to mapping units.
#[derive(Debug, Clone)]
pub(super) struct Write {
    whole: Range<u64>,
    stretch: f64,
}

impl Write {
    fn bytes(&self) -> u64 {
        self.whole.end - self.whole.start
    }
}

struct Chips {
    ground: Ground,
    buffer: Option<Buffer>,
    /// What was read lately, and how fast that is answered.
    cache: Option<(Pages, u64)>,
}

impl Part for Chips {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = &flow[id];
        let range = request.offset_bytes..request.offset_bytes + u64::from(request.length_bytes);
        match request.op {
            Op::Read => self.read(now_ns, id, &range, flow),
            Op::Write => self.write(now_ns, id, &range, flow),
            Op::Trim | Op::Flush => Step::Back(now_ns),
        }
    }

    fn wake(&mut self, now_ns: u64, token: u32, flow: &mut Flow) {
        if let Some(buffer) = &mut self.buffer {
            buffer.wake(now_ns, token, &mut self.ground, flow);
        }
    }
}

impl Chips {
    fn read(&mut self, now_ns: u64, id: Id, range: &Range<u64>, flow: &mut Flow) -> Step {
        if let Some((pages, latency_ns)) = &mut self.cache {
            let asked = pages_of(range.start, flow[id].length_bytes);
            if asked.clone().all(|page| pages.holds(page)) {
                asked.for_each(|page| pages.touch(page));
                return Step::Back(now_ns + *latency_ns);
            }
            asked.for_each(|page| pages.insert(page));
        }
        Step::Back(self.ground.sense(now_ns, range, flow[id].stretch))
    }

    fn write(&mut self, now_ns: u64, id: Id, range: &Range<u64>, flow: &mut Flow) -> Step {
        let stretch = flow[id].stretch;
        let sensed_ns = self.ground.sense_before_write(now_ns, range, stretch);
        let whole = self.ground.layout.rewritten(range);
        let Some(buffer) = &mut self.buffer else {
            let Ground { layout, units, .. } = &mut self.ground;
            let programs =
                layout.units_of_pages(&whole).map(|unit| units.program(now_ns, unit, stretch, flow));
            return Step::Back(programs.fold(sensed_ns, u64::max));
        };
        match buffer.write(now_ns, id, Write { whole, stretch }, &mut self.ground, flow) {
            Some(done_ns) => Step::Back(done_ns),
            None => Step::Kept,
        }
    }
}
