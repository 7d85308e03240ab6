//! Flash as the medium: parallel units of pages, and a buffer that takes writes.
//!
//! Laws:
//! * the byte at an offset lies on unit floor(offset / `stripe`) mod `units`, always (static placement);
//! * a read senses every page that it touches, whole, in `read` each; a unit does one thing at a time, first
//!   come, first served, so that units / read single pages a second can be read where addresses lie evenly.
//!   Random addresses queue at each unit apart: with as many requests in flight as units, 59 % of that (a
//!   closed network of equal stations with fixed times; with exponential ones it would be N / (N + units -
//!   1));
//! * a write programs pages, `program` each, and every `pages_per_block` programs of a unit an `erase`. What
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
//! Not in it: copying by garbage collection. Write amplification comes from rounding alone.
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
//! placement = "static"
//! write_buffer = { size = "64MiB", latency = "12us", drain = "480MB/s" }
//! read_cache = { size = "32MiB", latency = "8us" }
//! ```

mod buffer;
mod layout;
mod units;

use iosonde_model::{Named, Op, units as quantity};
use std::{ops::Range, sync::Arc};

use crate::{
    file::{DeviceError, Reader, Section},
    flow::{Flow, Id},
    pages::{PAGE_BYTES, PAGED_CAPACITY_LIMIT_BYTES, Pages, pages_of},
    part::{Fact, Idle, Limit, Load, Part, PartKind, Place, Settings, Side, Step},
};
use buffer::{Buffer, BufferSettings};
use layout::Layout;
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
        let layout = read_layout(&mut flash)?;
        let times = read_times(&mut flash)?;
        if flash.text("placement")?.is_some_and(|placement| placement != "static") {
            return Err(flash.impossible("placement", "only \"static\" is simulated"));
        }
        let buffer = flash.table("write_buffer").map(|mut section| read_buffer(&mut section)).transpose()?;
        let cache = flash.table("read_cache").map(|mut section| read_cache(&mut section)).transpose()?;
        if cache.is_some() && capacity_bytes >= PAGED_CAPACITY_LIMIT_BYTES {
            return Err(flash.impossible("read_cache", "it is simulated for devices below 16TiB"));
        }
        Ok(Some(Arc::new(FlashSettings { layout, times, buffer, cache })))
    }
}

fn read_layout(flash: &mut Section) -> Result<Layout, DeviceError> {
    let units = flash.count("units")?.ok_or_else(|| flash.missing("units", "how many work in parallel"))?;
    if !(1..=65_536).contains(&units) {
        return Err(flash.impossible("units", "there must be between 1 and 65,536"));
    }
    let page_bytes = flash.size_bytes("page")?.ok_or_else(|| flash.missing("page", "such as \"16KiB\""))?;
    if page_bytes < 512 {
        return Err(flash.impossible("page", "a page holds at least 512 bytes"));
    }
    let stripe_bytes = flash.size_bytes("stripe")?.unwrap_or(page_bytes);
    if stripe_bytes == 0 || stripe_bytes % page_bytes != 0 {
        return Err(flash.impossible("stripe", "it must be a whole number of pages"));
    }
    let mapping_unit_bytes = flash.size_bytes("mapping_unit")?.unwrap_or(page_bytes);
    let divides = mapping_unit_bytes >= 512 && page_bytes % mapping_unit_bytes == 0;
    let multiplies = mapping_unit_bytes >= page_bytes && mapping_unit_bytes % page_bytes == 0;
    if !divides && !multiplies {
        return Err(flash.impossible("mapping_unit", "it must divide a page or be a whole number of them"));
    }
    Ok(Layout { units: units as u32, stripe_bytes, page_bytes, mapping_unit_bytes })
}

fn read_times(flash: &mut Section) -> Result<Times, DeviceError> {
    let mut needed = |key, what| flash.time_ns(key)?.ok_or_else(|| flash.missing(key, what));
    let read_ns = needed("read", "the time to sense a page")?;
    let program_ns = needed("program", "the time to program a page")?;
    for (key, ns) in [("read", read_ns), ("program", program_ns)] {
        if ns == 0 {
            return Err(flash.impossible(key, "what takes no time can be done infinitely often"));
        }
    }
    let erase_ns = flash.time_ns("erase")?.unwrap_or(0);
    let pages_per_block = flash.count("pages_per_block")?.unwrap_or(256);
    if pages_per_block == 0 {
        return Err(flash.impossible("pages_per_block", "a block has at least one page"));
    }
    let (read_ns, program_ns, erase_ns) = (read_ns as f64, program_ns as f64, erase_ns as f64);
    Ok(Times { read_ns, program_ns, erase_ns, pages_per_block })
}

fn read_buffer(section: &mut Section) -> Result<BufferSettings, DeviceError> {
    let size_bytes =
        section.size_bytes("size")?.ok_or_else(|| section.missing("size", "such as \"64MiB\""))?;
    let latency_ns =
        section.time_ns("latency")?.ok_or_else(|| section.missing("latency", "such as \"12us\""))?;
    let drain_bytes_per_s = section.rate("drain")?;
    if size_bytes == 0 {
        return Err(
            section.impossible("size", "an empty buffer takes nothing; leave write_buffer out instead")
        );
    }
    if latency_ns == 0 {
        return Err(section.impossible("latency", "what takes no time can be done infinitely often"));
    }
    if drain_bytes_per_s == Some(0) {
        return Err(section.impossible("drain", "a buffer that never empties takes nothing once it is full"));
    }
    Ok(BufferSettings { size_bytes, latency_ns, drain_bytes_per_s })
}

fn read_cache(section: &mut Section) -> Result<ReadCacheSettings, DeviceError> {
    let size_bytes =
        section.size_bytes("size")?.ok_or_else(|| section.missing("size", "such as \"32MiB\""))?;
    let latency_ns =
        section.time_ns("latency")?.ok_or_else(|| section.missing("latency", "such as \"8us\""))?;
    if size_bytes < PAGE_BYTES {
        return Err(section.impossible("size", "it holds at least 4KiB"));
    }
    if latency_ns == 0 {
        return Err(section.impossible("latency", "what takes no time can be done infinitely often"));
    }
    Ok(ReadCacheSettings { size_bytes, latency_ns })
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

    /// Bytes a second of lasting writes, and how.
    fn sustained(&self) -> (f64, String) {
        let Layout { units, page_bytes, .. } = self.layout;
        let program_ns = self.times.program_mean_ns();
        let programs = f64::from(units) * page_bytes as f64 * 1e9 / program_ns;
        let words =
            format!("{units} units x {} / {}", quantity::size(page_bytes), quantity::time(program_ns));
        match self.buffer.and_then(|buffer| buffer.drain_bytes_per_s) {
            Some(drain) if (drain as f64) < programs => (drain as f64, "the write buffer's drain".to_owned()),
            _ => (programs, words),
        }
    }
}

impl Settings for FlashSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &Place) -> Box<dyn Part> {
        let Layout { units, page_bytes, .. } = self.layout;
        Box::new(Chips {
            layout: self.layout,
            units: Units::new(units, self.times, page_bytes),
            buffer: self.buffer.map(|settings| Buffer::new(settings, place.stage, units, page_bytes)),
            cache: self
                .cache
                .map(|cache| (Pages::new((cache.size_bytes / PAGE_BYTES) as usize), cache.latency_ns)),
        })
    }

    fn idle(&self, load: &Load) -> Option<Idle> {
        let turns = self.turns(load.block_size_bytes) as f64;
        let (fixed_ns, words) = match (load.op, self.buffer) {
            (Op::Read, _) => (turns * self.times.read_ns * load.stretch, "sensing"),
            (Op::Write, Some(buffer)) => (buffer.latency_ns as f64, "write buffer"),
            (Op::Write, None) => (turns * self.times.program_ns * load.stretch, "programming"),
        };
        let words = format!("{words} {}", quantity::time(fixed_ns));
        Some(Idle { fixed_ns, ns_per_byte: 0.0, linear: false, words })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let units = self.layout.units;
        let bytes = load.block_size_bytes;
        if load.op == Op::Write {
            let (bytes_per_s, words) = self.sustained();
            let per_s = bytes_per_s / (self.programs(bytes) * self.layout.page_bytes as f64) / load.stretch;
            let words = format!("lasting writes, {words}, {:.2} pages a request", self.programs(bytes));
            return Some(Limit { per_s, words });
        }
        let pages = bytes.div_ceil(self.layout.page_bytes);
        let read_ns = self.times.read_ns * load.stretch;
        let each = if pages > 1 { format!(" / {pages} pages") } else { String::new() };
        let words = format!("{units} units / {}{each} for addresses spread evenly", quantity::time(read_ns));
        Some(Limit { per_s: f64::from(units) * 1e9 / read_ns / pages as f64, words })
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let fact = |finding, op, value, unit, derivation: &str| Fact {
            finding,
            op,
            value,
            unit,
            derivation: derivation.to_owned(),
        };
        let (sustained, words) = self.sustained();
        let mut facts = vec![
            fact("parallelism", None, f64::from(self.layout.units), "requests", "as many as there are units"),
            fact("mapping_unit_bytes", Some(Op::Write), self.layout.mapping_unit_bytes as f64, "B", "as set"),
            fact("sustained_rate", Some(Op::Write), sustained, "B/s", &words),
        ];
        if self.layout.units > 1 {
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
    layout: Layout,
    whole: Range<u64>,
    stretch: f64,
}

impl Write {
    fn bytes(&self) -> u64 {
        self.whole.end - self.whole.start
    }

    fn shares(&self) -> impl Iterator<Item = (u32, u64)> + use<> {
        self.layout.shares(&self.whole)
    }
}

struct Chips {
    layout: Layout,
    units: Units,
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
        }
    }

    fn wake(&mut self, now_ns: u64, token: u32, flow: &mut Flow) {
        if let Some(buffer) = &mut self.buffer {
            buffer.wake(now_ns, token, &mut self.units, flow);
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
        let stretch = flow[id].stretch;
        let sensed = self.layout.units_of_pages(range).map(|unit| self.units.sense(now_ns, unit, stretch));
        Step::Back(sensed.max().unwrap_or(now_ns))
    }

    fn write(&mut self, now_ns: u64, id: Id, range: &Range<u64>, flow: &mut Flow) -> Step {
        let stretch = flow[id].stretch;
        let read_before =
            self.layout.units_read_before(range).map(|unit| self.units.sense(now_ns, unit, stretch));
        let mut done_ns = read_before.max().unwrap_or(now_ns);
        let whole = self.layout.rewritten(range);
        let Some(buffer) = &mut self.buffer else {
            for unit in self.layout.units_of_pages(&whole) {
                done_ns = done_ns.max(self.units.program(now_ns, unit, stretch, flow));
            }
            return Step::Back(done_ns);
        };
        match buffer.write(now_ns, id, Write { layout: self.layout, whole, stretch }, flow) {
            Some(done_ns) => Step::Back(done_ns),
            None => Step::Kept,
        }
    }
}
