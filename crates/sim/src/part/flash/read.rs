//! Reading `[flash]` of a device file, and refusing flash that cannot be.

use super::{
    buffer::BufferSettings,
    chips::ReadCacheSettings,
    layout::Layout,
    log::{LogSize, Policy},
    settings::LogSettings,
    slc::{Fold, SlcSettings},
    steady,
    units::Times,
};
use crate::{pages::PAGE_BYTES, reader::Reader, start::StartState};
use iosonde_model::{
    FileError,
    units::{BytesPerSecond, Share, SizeBytes, TimeNs},
};
use serde::Deserialize;

/// Mapping units that are simulated one for one: 64 GiB at 4 KiB; 8 bytes for each keep the simulation below 200 MB.
const WHOLE_SLOTS: u64 = 1 << 24;
/// Pages that are left of a scaled device, at least: with four mapping units each, two million slots and 40 MB. With
/// half as many a buffer, which is divided alike, leaves units idle for 1.8 % of the time, with these for 0.7 %.
const SCALED_PAGES: f64 = 524_288.0;
/// Blocks of each unit that are left, at least.
const SCALED_BLOCKS: f64 = 32.0;

/// Keys that must be there, and what they mean.
pub(super) const NEEDED: &[(&str, &str)] = &[
    ("flash.units", "how many work in parallel"),
    ("flash.page", "such as \"16KiB\""),
    ("flash.read", "the time to sense a page"),
    ("flash.program", "the time to program a page"),
    ("flash.write_buffer.size", "such as \"64MiB\""),
    ("flash.write_buffer.latency", "such as \"12us\""),
    ("flash.slc.size", "such as \"20GiB\""),
    ("flash.slc.program", "the time to program a page there"),
    ("flash.slc.fold", "\"idle 1s\" or \"full\""),
    ("flash.read_cache.size", "such as \"32MiB\""),
    ("flash.read_cache.latency", "such as \"8us\""),
];

#[derive(Deserialize)]
pub(super) struct FlashKeys {
    units: u64,
    page: SizeBytes,
    stripe: Option<SizeBytes>,
    mapping_unit: Option<SizeBytes>,
    read: TimeNs,
    program: TimeNs,
    #[serde(default)]
    erase: TimeNs,
    pages_per_block: Option<u64>,
    #[serde(default)]
    pub(super) state: StartState,
    #[serde(default)]
    placement: PlacementKey,
    #[serde(default)]
    gc: Policy,
    spare: Option<Share>,
    scale: Option<u64>,
    pub(super) write_buffer: Option<BufferKeys>,
    pub(super) slc: Option<SlcKeys>,
    pub(super) read_cache: Option<ReadCacheKeys>,
}

/// Place of new data.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PlacementKey {
    #[default]
    Static,
    Log,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct BufferKeys {
    size: SizeBytes,
    latency: TimeNs,
    drain: Option<BytesPerSecond>,
    #[serde(default)]
    flush: TimeNs,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct SlcKeys {
    size: SizeBytes,
    program: TimeNs,
    fold: Fold,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct ReadCacheKeys {
    size: SizeBytes,
    latency: TimeNs,
}

pub(super) fn layout(flash: &FlashKeys, reader: &Reader) -> Result<Layout, FileError> {
    let page_bytes = flash.page.0;
    if !(1..=65_536).contains(&flash.units) {
        return Err(reader.impossible("flash.units", "there must be between 1 and 65,536"));
    }
    if page_bytes < 512 {
        return Err(reader.impossible("flash.page", "a page holds at least 512 bytes"));
    }
    let stripe_bytes = flash.stripe.map_or(page_bytes, |size| size.0);
    if stripe_bytes == 0 || !stripe_bytes.is_multiple_of(page_bytes) {
        return Err(reader.impossible("flash.stripe", "it must be a whole number of pages"));
    }
    let mapping_unit_bytes = flash.mapping_unit.map_or(page_bytes, |size| size.0);
    let divides = mapping_unit_bytes >= 512 && page_bytes.is_multiple_of(mapping_unit_bytes);
    let multiplies = mapping_unit_bytes >= page_bytes && mapping_unit_bytes.is_multiple_of(page_bytes);
    if !divides && !multiplies {
        let rule = "it must divide a page or be a whole number of them";
        return Err(reader.impossible("flash.mapping_unit", rule));
    }
    Ok(Layout { units: flash.units as u32, stripe_bytes, page_bytes, mapping_unit_bytes })
}

pub(super) fn times(flash: &FlashKeys, reader: &Reader) -> Result<Times, FileError> {
    for (path, time) in [("flash.read", flash.read), ("flash.program", flash.program)] {
        if time.0 == 0 {
            return Err(reader.impossible(path, "what takes no time can be done infinitely often"));
        }
    }
    let pages_per_block = flash.pages_per_block.unwrap_or(256);
    // 65,536: four times the largest blocks that are made.
    if !(1..=65_536).contains(&pages_per_block) {
        return Err(reader.impossible("flash.pages_per_block", "a block has between 1 and 65,536 pages"));
    }
    let [read_ns, program_ns, erase_ns] = [flash.read, flash.program, flash.erase].map(|time| time.0 as f64);
    Ok(Times { read_ns, program_ns, erase_ns, pages_per_block, erases_in_turn: true })
}

pub(super) fn write_buffer(
    keys: &BufferKeys,
    reader: &Reader,
    scale: f64,
) -> Result<BufferSettings, FileError> {
    let drain_bytes_per_s = keys.drain.map(|rate| rate.0);
    if keys.size.0 == 0 {
        let rule = "an empty buffer takes nothing; leave write_buffer out instead";
        return Err(reader.impossible("flash.write_buffer.size", rule));
    }
    if keys.latency.0 == 0 {
        let rule = "what takes no time can be done infinitely often";
        return Err(reader.impossible("flash.write_buffer.latency", rule));
    }
    if drain_bytes_per_s == Some(0) {
        let rule = "a buffer that never empties takes nothing once it is full";
        return Err(reader.impossible("flash.write_buffer.drain", rule));
    }
    let size_bytes = (keys.size.0 as f64 / scale).ceil() as u64;
    Ok(BufferSettings { size_bytes, latency_ns: keys.latency.0, drain_bytes_per_s, flush_ns: keys.flush.0 })
}

pub(super) fn slc(
    keys: &SlcKeys,
    reader: &Reader,
    times: &Times,
    layout: &Layout,
    scale: f64,
) -> Result<SlcSettings, FileError> {
    let (size_bytes, program_ns) = (keys.size.0, keys.program.0 as f64);
    if program_ns == 0.0 || program_ns >= times.program_ns {
        let rule = "a fast cache programs in less than `program`, and in more than no time";
        return Err(reader.impossible("flash.slc.program", rule));
    }
    if size_bytes < layout.page_bytes * u64::from(layout.units) {
        return Err(reader.impossible("flash.slc.size", "it holds at least one page of each unit"));
    }
    let size_bytes = (size_bytes as f64 / scale).ceil() as u64;
    Ok(SlcSettings { size_bytes, program_ns, fold: keys.fold })
}

pub(super) fn read_cache(
    keys: &ReadCacheKeys,
    reader: &Reader,
    scale: f64,
) -> Result<ReadCacheSettings, FileError> {
    if keys.size.0 < PAGE_BYTES {
        return Err(reader.impossible("flash.read_cache.size", "it holds at least 4KiB"));
    }
    if keys.latency.0 == 0 {
        let rule = "what takes no time can be done infinitely often";
        return Err(reader.impossible("flash.read_cache.latency", rule));
    }
    let size_bytes = ((keys.size.0 as f64 / scale) as u64).max(PAGE_BYTES);
    Ok(ReadCacheSettings { size_bytes, latency_ns: keys.latency.0 })
}

/// `placement`, `gc`, `spare` and `scale`: a log, or `None` for static placement.
pub(super) fn log(
    flash: &FlashKeys,
    reader: &Reader,
    layout: &Layout,
    pages_per_block: u64,
    state: StartState,
) -> Result<Option<LogSettings>, FileError> {
    let (policy, asked_scale, capacity_bytes) = (flash.gc, flash.scale, reader.capacity_bytes);
    // `gc` and `spare` describe the drive all the same; a file changes its placement by one word.
    if flash.placement == PlacementKey::Static {
        return match asked_scale {
            Some(_) => {
                Err(reader.impossible("flash.scale", "only placement = \"log\" maps what could be scaled"))
            }
            None => Ok(None),
        };
    }
    let spare = flash.spare.map(|share| share.0);
    let spare =
        spare.ok_or_else(|| reader.missing("flash.spare", "such as \"7%\": (physical - user) / user"))?;
    if !layout.page_bytes.is_multiple_of(layout.mapping_unit_bytes) {
        return Err(reader.impossible("flash.mapping_unit", "in a log it must divide a page"));
    }
    if asked_scale == Some(0) {
        return Err(reader.impossible("flash.scale", "it divides the capacity: at least 1"));
    }
    let slots_per_page = layout.page_bytes / layout.mapping_unit_bytes;
    let shape = LogSize {
        user_slots: capacity_bytes.div_ceil(layout.mapping_unit_bytes),
        units: layout.units,
        blocks_per_unit: 0,
        slots_per_block: (slots_per_page * pages_per_block) as u32,
        slots_per_page: slots_per_page as u32,
    };
    let scale = asked_scale.map_or_else(
        || {
            let written = reader.start.written_bytes.div_ceil(layout.mapping_unit_bytes) > WHOLE_SLOTS;
            if written || state != StartState::Fresh { scale_needed(&shape, spare) } else { 1.0 }
        },
        |scale| scale as f64,
    );
    let size = sized(shape, policy, spare, scale);
    let data_blocks = size.user_slots.div_ceil(u64::from(size.units) * u64::from(size.slots_per_block));
    // Three: the block being filled, the blank one, and one to collect.
    if u64::from(size.blocks_per_unit) < data_blocks + 3 {
        return Err(reader.impossible(
            "flash.spare",
            "each unit needs at least three blocks more than the user's data fill",
        ));
    }
    let slots = u64::from(size.units) * u64::from(size.blocks_per_unit) * u64::from(size.slots_per_block);
    // Slot numbers have 32 bits, and two of them mean something else.
    if slots >= u64::from(u32::MAX) - 1 {
        return Err(
            reader.impossible("flash.placement", "a log is simulated up to 4,294,967,294 mapping units")
        );
    }
    let scale = shape.user_slots as f64 / size.user_slots as f64;
    Ok(Some(LogSettings { size, policy, scale: if scale > 1.000_001 { scale } else { 1.0 } }))
}

/// By how much a log that is written whole is divided where the file does not say: not at all while memory suffices.
fn scale_needed(shape: &LogSize, spare: f64) -> f64 {
    if shape.user_slots <= WHOLE_SLOTS {
        return 1.0;
    }
    let blocks = SCALED_BLOCKS * f64::from(shape.units) * f64::from(shape.slots_per_block) / (1.0 + spare);
    let least = blocks.max(SCALED_PAGES * f64::from(shape.slots_per_page)).min(WHOLE_SLOTS as f64);
    (shape.user_slots as f64 / least).max(1.0)
}

/// Blocks, and, where the device is scaled, exactly as many of the user's slots as leave the given spare.
fn sized(shape: LogSize, policy: Policy, spare: f64, scale: f64) -> LogSize {
    let row = f64::from(shape.units) * f64::from(shape.slots_per_block);
    let room = steady::working_room_at(policy, shape.slots_per_block, spare);
    let blocks = shape.user_slots as f64 / scale * (1.0 + spare) / row + room;
    if scale == 1.0 {
        return LogSize { blocks_per_unit: blocks.ceil() as u32, ..shape };
    }
    let blocks = blocks.round();
    let user_slots = ((blocks - room) * row / (1.0 + spare)) as u64;
    LogSize { blocks_per_unit: blocks as u32, user_slots, ..shape }
}
