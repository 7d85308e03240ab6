//! Flash as the medium: parallel units of pages, a write buffer, a fast cache, and garbage collection.
//!
//! Laws:
//! * with static placement the byte at an offset lies on unit floor(offset / `stripe`) mod `units`, always.
//!   With `placement = "log"` pages fill the units in turn, in the order of writing, and garbage is collected:
//!   greedily, or first in, first out. Physical pages are (1 + `spare`) times the user's, beside the two
//!   blocks of each unit that it works with. Uniformly random writes over the whole device find a share u of
//!   each collected block still valid, (u - 1) / ln u = user / physical for fifo, and write 1 / (1 - u) times
//!   what the user does (Desnoyers, Analytic Models of SSD Write Performance, 2014); greedy comes within a few
//!   percent of it (Xiang and Kurkoski, 2012; the law for blocks of a given size is in `flash/steady.rs`).
//!   What is still valid is sensed and programmed again on its unit, then the block is erased, and what is
//!   written to the unit until the next collection pays equal parts of that time;
//! * a read senses every page that it touches, whole, in `read` each; a unit does one thing at a time, first
//!   come, first served, so that units / read single pages a second can be read where addresses lie evenly.
//!   Random addresses queue at each unit apart: at a queue depth equal to the units, 59 % of that (a
//!   closed network of equal stations with fixed times; with exponential ones it would be N / (N + units - 1));
//! * a write programs pages, `program` each, and with static placement every `pages_per_block` programs of a
//!   unit an `erase`. What is written is rounded outwards to `mapping_unit`, after sensing the pages whose bytes
//!   were not given (read-modify-write);
//! * without `write_buffer` a write programs every page that it touches and is done when they are. With it, a
//!   write is done after `latency` as long as there is room; each unit's bytes are gathered into whole pages,
//!   and at most `drain` bytes a second are programmed, one page at a time on each unit. So a burst goes at the
//!   speed of the link, and sustained writes at the smaller of `drain` and units page / (program + erase /
//!   pages_per_block). A flush is done `flush` after all that the buffer held when it came is programmed;
//! * with `slc`, pages are programmed in `slc.program` and without regard to `drain` until `slc.size` bytes have
//!   been; then as above. `fold = "idle 1s"`: after a second without work, a page of each unit at a time is
//!   sensed and programmed again, until something comes. `fold = "full"`: each page beyond the size waits
//!   for another to be folded first, read + program + slc.program;
//! * with `read_cache`, reads whose 4 KiB pages were all read lately are answered in `latency`;
//! * a trim gives back the mapping units that lie wholly within it: reading them senses nothing, and collecting
//!   them copies nothing. That and a flush of an empty buffer take 1 us.
//!
//! A device begins blank: reads of what was never written sense the page where static placement would have
//! it. `state = "filled:50%"` begins with half of a log written in sequence, `"steady"` with what uniformly random
//! writes make of it (and a full fast cache).
//!
//! A log is simulated whole up to 16,777,216 mapping units (64 GiB at 4 KiB), and beyond them as long as it
//! begins fresh: memory is taken for what has been written. A larger one that begins filled or steady, or of which
//! a run writes more than that many mapping units, is *scaled*: capacity, buffers and caches are divided by one
//! number, so that half a million pages or more are left; units, blocks, times and spare stay as they are, and so
//! do all rates that do not depend on size. `scale = 8` sets that number.
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
//! placement = "static"        # or "log": only there do gc and spare change anything
//! gc = "greedy"               # or "fifo"
//! spare = "7%"
//! write_buffer = { size = "64MiB", latency = "12us", drain = "480MB/s", flush = "1ms" }
//! slc = { size = "20GiB", program = "150us", fold = "idle 1s" }
//! read_cache = { size = "32MiB", latency = "8us" }
//! state = "fresh"             # or "filled:50%", or "steady"
//! scale = 1
//! ```

mod buffer;
mod chips;
mod ground;
mod laws;
mod layout;
mod log;
mod map;
mod read;
mod settings;
mod slc;
mod steady;
mod trimmed;
mod units;
mod victim;

use iosonde_model::{FileError, Named};
use std::sync::Arc;

use crate::{
    pages::PAGED_CAPACITY_LIMIT_BYTES,
    part::{PartKind, Settings},
    reader::Reader,
};
use settings::FlashSettings;

/// Reads `[flash]`.
pub(crate) struct Flash;

impl Named for Flash {
    fn name(&self) -> &'static str {
        "flash"
    }
}

impl PartKind for Flash {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        read::NEEDED
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(flash) = reader.section::<read::FlashKeys>("flash")? else { return Ok(None) };
        let layout = read::layout(&flash, reader)?;
        let mut times = read::times(&flash, reader)?;
        let state = reader.start.state.unwrap_or(flash.state);
        let log = read::log(&flash, reader, &layout, times.pages_per_block, state)?;
        times.erases_in_turn = log.is_none();
        let scale = log.map_or(1.0, |log| log.scale);
        let buffer = flash.write_buffer.map(|keys| read::write_buffer(&keys, reader, scale)).transpose()?;
        let needs_buffer = |why| Err(reader.missing("flash.write_buffer", why));
        if log.is_some() && buffer.is_none() {
            return needs_buffer("a log is written by whole pages, which are gathered there");
        }
        let slc = flash.slc.map(|keys| read::slc(&keys, reader, &times, &layout, scale)).transpose()?;
        if slc.is_some() && buffer.is_none() {
            return needs_buffer("the fast cache is filled from it, page by page");
        }
        let cache = flash.read_cache.map(|keys| read::read_cache(&keys, reader, scale)).transpose()?;
        if cache.is_some() && reader.capacity_bytes >= PAGED_CAPACITY_LIMIT_BYTES {
            return Err(reader.impossible("flash.read_cache", "it is simulated for devices below 16TiB"));
        }
        if let Some(log) = log.filter(|log| log.scale > 1.0) {
            reader.scaled = Some((log.scale, log.size.user_slots * layout.mapping_unit_bytes));
        }
        Ok(Some(Arc::new(FlashSettings { layout, times, log, buffer, slc, cache, state })))
    }
}
