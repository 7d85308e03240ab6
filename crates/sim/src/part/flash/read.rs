//! Reading `[flash]` of a device file, and refusing flash that cannot be.

use super::{
    LogSettings, ReadCacheSettings,
    buffer::BufferSettings,
    layout::Layout,
    log::{LogSize, Policy},
    slc::{Fold, SlcSettings},
    steady,
    units::Times,
};
use crate::{
    file::{DeviceError, Section},
    pages::PAGE_BYTES,
    start::StartState,
};
use iosonde_model::units as quantity;

/// Mapping units that are simulated one for one: 64 GiB at 4 KiB; 8 bytes for each keep the simulation below 200 MB.
const WHOLE_SLOTS: u64 = 1 << 24;
/// Pages that are left of a scaled device, at least: with four mapping units each, two million slots and 40 MB. With
/// half as many a buffer, which is divided alike, leaves units idle for 1.8 % of the time, with these for 0.7 %.
const SCALED_PAGES: f64 = 524_288.0;
/// Blocks of each unit that are left, at least.
const SCALED_BLOCKS: f64 = 32.0;

pub(super) fn layout(flash: &mut Section) -> Result<Layout, DeviceError> {
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

pub(super) fn times(flash: &mut Section) -> Result<Times, DeviceError> {
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
    // 65,536: four times the largest blocks that are made.
    if !(1..=65_536).contains(&pages_per_block) {
        return Err(flash.impossible("pages_per_block", "a block has between 1 and 65,536 pages"));
    }
    let (read_ns, program_ns, erase_ns) = (read_ns as f64, program_ns as f64, erase_ns as f64);
    Ok(Times { read_ns, program_ns, erase_ns, pages_per_block, erases_in_turn: true })
}

pub(super) fn write_buffer(section: &mut Section, scale: f64) -> Result<BufferSettings, DeviceError> {
    let size_bytes =
        section.size_bytes("size")?.ok_or_else(|| section.missing("size", "such as \"64MiB\""))?;
    let latency_ns =
        section.time_ns("latency")?.ok_or_else(|| section.missing("latency", "such as \"12us\""))?;
    let drain_bytes_per_s = section.rate("drain")?;
    let flush_ns = section.time_ns("flush")?.unwrap_or(0);
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
    let size_bytes = (size_bytes as f64 / scale).ceil() as u64;
    Ok(BufferSettings { size_bytes, latency_ns, drain_bytes_per_s, flush_ns })
}

pub(super) fn slc(
    section: &mut Section,
    times: &Times,
    layout: &Layout,
    scale: f64,
) -> Result<SlcSettings, DeviceError> {
    let size_bytes =
        section.size_bytes("size")?.ok_or_else(|| section.missing("size", "such as \"20GiB\""))?;
    let program_ns = section
        .time_ns("program")?
        .ok_or_else(|| section.missing("program", "the time to program a page there"))?;
    let fold = match section.text("fold")?.as_deref() {
        None => return Err(section.missing("fold", "\"idle 1s\" or \"full\"")),
        Some("full") => Fold::Full,
        Some(text) => {
            let idle = text.strip_prefix("idle ").and_then(|time| quantity::parse_time_with_unit(time).ok());
            match idle {
                Some(after_ns) if after_ns > 0 => Fold::Idle { after_ns },
                _ => {
                    return Err(
                        section.impossible("fold", "it is \"idle TIME\" (as \"idle 1s\") or \"full\"")
                    );
                }
            }
        }
    };
    if program_ns == 0 || program_ns as f64 >= times.program_ns {
        let rule = "a fast cache programs in less than `program`, and in more than no time";
        return Err(section.impossible("program", rule));
    }
    if size_bytes < layout.page_bytes * u64::from(layout.units) {
        return Err(section.impossible("size", "it holds at least one page of each unit"));
    }
    let size_bytes = (size_bytes as f64 / scale).ceil() as u64;
    Ok(SlcSettings { size_bytes, program_ns: program_ns as f64, fold })
}

pub(super) fn state(flash: &mut Section) -> Result<StartState, DeviceError> {
    let Some(text) = flash.text("state")? else { return Ok(StartState::Fresh) };
    text.parse().map_err(|_| {
        flash.impossible("state", "it is \"fresh\", \"filled:P%\" (as \"filled:50%\") or \"steady\"")
    })
}

pub(super) fn read_cache(section: &mut Section, scale: f64) -> Result<ReadCacheSettings, DeviceError> {
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
    let size_bytes = ((size_bytes as f64 / scale) as u64).max(PAGE_BYTES);
    Ok(ReadCacheSettings { size_bytes, latency_ns })
}

/// `placement`, `gc`, `spare` and `scale`: a log, or `None` for static placement.
pub(super) fn log(
    flash: &mut Section,
    layout: &Layout,
    pages_per_block: u64,
    capacity_bytes: u64,
    state: StartState,
) -> Result<Option<LogSettings>, DeviceError> {
    let placement = flash.text("placement")?;
    let gc = flash.text("gc")?;
    let spare_share = flash.share("spare")?;
    let asked_scale = flash.count("scale")?;
    let policy = match gc.as_deref() {
        None | Some("greedy") => Policy::Greedy,
        Some("fifo") => Policy::Fifo,
        Some(_) => return Err(flash.impossible("gc", "it is \"greedy\" or \"fifo\"")),
    };
    match placement.as_deref() {
        // `gc` and `spare` describe the drive all the same; a file changes its placement by one word.
        None | Some("static") => {
            return match asked_scale {
                Some(_) => {
                    Err(flash.impossible("scale", "only placement = \"log\" maps what could be scaled"))
                }
                None => Ok(None),
            };
        }
        Some("log") => {}
        Some(_) => return Err(flash.impossible("placement", "it is \"static\" or \"log\"")),
    }
    let spare =
        spare_share.ok_or_else(|| flash.missing("spare", "such as \"7%\": (physical - user) / user"))?;
    if !layout.page_bytes.is_multiple_of(layout.mapping_unit_bytes) {
        return Err(flash.impossible("mapping_unit", "in a log it must divide a page"));
    }
    if asked_scale == Some(0) {
        return Err(flash.impossible("scale", "it divides the capacity: at least 1"));
    }
    let slots_per_page = layout.page_bytes / layout.mapping_unit_bytes;
    let shape = LogSize {
        user_slots: capacity_bytes.div_ceil(layout.mapping_unit_bytes),
        units: layout.units,
        blocks_per_unit: 0,
        slots_per_block: (slots_per_page * pages_per_block) as u32,
        slots_per_page: slots_per_page as u32,
    };
    let scale = asked_scale.map_or_else(|| scale_needed(&shape, spare, state), |scale| scale as f64);
    let size = sized(shape, policy, spare, scale);
    let data_blocks = size.user_slots.div_ceil(u64::from(size.units) * u64::from(size.slots_per_block));
    // Three: the block being filled, the blank one, and one to collect.
    if u64::from(size.blocks_per_unit) < data_blocks + 3 {
        return Err(
            flash.impossible("spare", "each unit needs at least three blocks more than the user's data fill")
        );
    }
    let slots = u64::from(size.units) * u64::from(size.blocks_per_unit) * u64::from(size.slots_per_block);
    // Slot numbers have 32 bits, and two of them mean something else.
    if slots >= u64::from(u32::MAX) - 1 {
        return Err(flash.impossible("placement", "a log is simulated up to 4,294,967,294 mapping units"));
    }
    let scale = shape.user_slots as f64 / size.user_slots as f64;
    Ok(Some(LogSettings { size, policy, scale: if scale > 1.000_001 { scale } else { 1.0 } }))
}

/// By how much a log is divided where the file does not say: not at all while memory suffices for what it holds.
fn scale_needed(shape: &LogSize, spare: f64, state: StartState) -> f64 {
    if state == StartState::Fresh || shape.user_slots <= WHOLE_SLOTS {
        return 1.0;
    }
    let blocks = SCALED_BLOCKS * f64::from(shape.units) * f64::from(shape.slots_per_block) / (1.0 + spare);
    let least = blocks.max(SCALED_PAGES * f64::from(shape.slots_per_page)).min(WHOLE_SLOTS as f64);
    (shape.user_slots as f64 / least).max(1.0)
}

/// Blocks, and, where the device is scaled, exactly as many of the user's slots as leave the spare asked for.
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
