//! Reading `[flash]` of a device file, and refusing flash that cannot be.

use super::{
    ReadCacheSettings,
    buffer::BufferSettings,
    layout::Layout,
    log::{LogSize, Policy},
    units::Times,
};
use crate::{
    file::{DeviceError, Section},
    pages::PAGE_BYTES,
};

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
    if pages_per_block == 0 {
        return Err(flash.impossible("pages_per_block", "a block has at least one page"));
    }
    let (read_ns, program_ns, erase_ns) = (read_ns as f64, program_ns as f64, erase_ns as f64);
    Ok(Times { read_ns, program_ns, erase_ns, pages_per_block, erases_in_turn: true })
}

pub(super) fn write_buffer(section: &mut Section) -> Result<BufferSettings, DeviceError> {
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

pub(super) fn read_cache(section: &mut Section) -> Result<ReadCacheSettings, DeviceError> {
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

/// `placement`, `gc` and `spare`: a log, or `None` for static placement.
pub(super) fn log(
    flash: &mut Section,
    layout: &Layout,
    pages_per_block: u64,
    capacity_bytes: u64,
) -> Result<Option<(LogSize, Policy)>, DeviceError> {
    let placement = flash.text("placement")?;
    let gc = flash.text("gc")?;
    let spare_share = flash.share("spare")?;
    match placement.as_deref() {
        None | Some("static") => {
            let pointless = gc.map(|_| "gc").or(spare_share.map(|_| "spare"));
            return match pointless {
                Some(key) => Err(flash.impossible(key, "only placement = \"log\" makes garbage to collect")),
                None => Ok(None),
            };
        }
        Some("log") => {}
        Some(_) => return Err(flash.impossible("placement", "it is \"static\" or \"log\"")),
    }
    let policy = match gc.as_deref() {
        None | Some("greedy") => Policy::Greedy,
        Some("fifo") => Policy::Fifo,
        Some(_) => return Err(flash.impossible("gc", "it is \"greedy\" or \"fifo\"")),
    };
    let spare =
        spare_share.ok_or_else(|| flash.missing("spare", "such as \"7%\": (physical - user) / user"))?;
    if !layout.page_bytes.is_multiple_of(layout.mapping_unit_bytes) {
        return Err(flash.impossible("mapping_unit", "in a log it must divide a page"));
    }
    let user_slots = capacity_bytes.div_ceil(layout.mapping_unit_bytes);
    // 2^24: 64 GiB at 4 KiB; 8 bytes for each keep the simulation below 200 MB.
    if user_slots > 1 << 24 {
        return Err(flash.impossible(
            "placement",
            "a log is simulated for up to 16,777,216 mapping units (64GiB at 4KiB)",
        ));
    }
    let slots_per_page = layout.page_bytes / layout.mapping_unit_bytes;
    let slots_per_block = slots_per_page * pages_per_block;
    let physical_slots = (user_slots as f64 * (1.0 + spare)).ceil() as u64;
    let blocks_per_unit = physical_slots.div_ceil(u64::from(layout.units) * slots_per_block);
    let usable_blocks = blocks_per_unit.saturating_sub(3);
    if usable_blocks * u64::from(layout.units) * slots_per_block < user_slots {
        return Err(
            flash.impossible("spare", "each unit needs at least three blocks more than the user's data fill")
        );
    }
    let size = LogSize {
        user_slots,
        units: layout.units,
        blocks_per_unit: blocks_per_unit as u32,
        slots_per_block: slots_per_block as u32,
        slots_per_page: slots_per_page as u32,
    };
    Ok(Some((size, policy)))
}
