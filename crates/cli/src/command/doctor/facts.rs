//! What `doctor` says of a target and of each device below it: labels and what they say.

use iosonde_model::{CacheBelow, Device, IoLimit, Witnesses, units};
use iosonde_rig::platform::{AtomicWrites, Layer, Made, TargetKind, atomic_writes};

use crate::session::Session;

/// A label and what it says.
pub type Fact = (String, String);

/// Where what a label says begins.
const COLUMN: usize = 20;

/// A section: its heading, and its facts below each other.
pub fn rows(heading: &str, facts: impl IntoIterator<Item = Fact>) -> String {
    let rows = facts.into_iter().map(|(label, fact)| row(&label, &fact));
    std::iter::once(format!("\n{heading}\n")).chain(rows).collect()
}

/// One fact; further lines of it hang below its first.
pub fn row(label: &str, fact: &str) -> String {
    let hanging = fact.replace('\n', &format!("\n{:COLUMN$}", ""));
    format!("  {label:width$}{hanging}\n", width = COLUMN - 2)
}

/// The target by itself.
pub fn itself(
    device: &Device,
    kind: Option<TargetKind>,
    layer: Option<&Layer>,
    session: Option<&Session>,
) -> Vec<Fact> {
    let mut facts: Vec<(&str, Option<String>)> = vec![
        ("file system", device.file_system.clone()),
        ("allocation unit", device.allocation_unit_bytes.map(units::size)),
        ("mounted with", device.mount_options.clone()),
    ];
    match (kind, layer) {
        (Some(TargetKind::Block), Some(layer)) => {
            facts.push(("made of", layer.made.as_ref().map(made)));
            facts.extend([
                ("model", layer.model.clone()),
                ("link", layer.link.clone()),
                ("size", layer.size_bytes.map(units::size)),
                ("blocks", blocks(layer.logical_block_bytes, layer.physical_block_bytes)),
                ("scheduler", layer.scheduler.clone()),
                ("write cache", layer.write_cache.clone()),
                ("write streams", layer.write_streams.map(streams)),
                ("read-only", layer.read_only.then(|| "yes: the kernel refuses writes".into())),
            ]);
        }
        (None, _) => facts.extend([
            ("model", device.model.clone()),
            ("description", device.description.clone()),
            ("size", device.size_bytes.map(units::size)),
            ("blocks", blocks(device.logical_block_bytes, device.physical_block_bytes)),
        ]),
        _ => {}
    }
    if let Some(session) = session {
        let size = matches!(kind, Some(TargetKind::File)).then(|| units::size(session.room_bytes));
        facts.push(("size", size));
        let direct = match (device.direct, device.direct_alignment_bytes) {
            (true, Some(unit)) => format!("yes, in multiples of {}", units::size(unit)),
            (true, None) => "yes".into(),
            (false, _) => "no".into(),
        };
        facts.push(("direct I/O", Some(direct)));
        facts.push(("atomic writes", session.admitted.as_ref().map(|own| atomic(atomic_writes(&own.file)))));
    }
    facts.into_iter().filter_map(|(label, fact)| Some((label.to_owned(), fact?))).collect()
}

/// Sizes that are written whole or not at all.
fn atomic(limits: Option<Option<AtomicWrites>>) -> String {
    match limits {
        None => "none that the kernel tells of (RWF_ATOMIC)".to_owned(),
        Some(None) => "no (RWF_ATOMIC)".to_owned(),
        Some(Some(limits)) => {
            let [least, most, fast] =
                [limits.unit_min_bytes, limits.unit_max_bytes, limits.unit_max_opt_bytes]
                    .map(|bytes| units::size(bytes.into()));
            let slower = match limits.unit_max_opt_bytes {
                0 => String::new(),
                bytes if bytes == limits.unit_max_bytes => String::new(),
                _ => format!(", more slowly above {fast}"),
            };
            format!(
                "powers of two from {least} to {most}{slower} (RWF_ATOMIC, {} segments)",
                limits.segments_max
            )
        }
    }
}

/// Streams that a device keeps apart, and what each is erased in.
fn streams((most, unit_bytes): (u64, u64)) -> String {
    match unit_bytes {
        0 => format!("up to {most}"),
        bytes => format!("up to {most}, units of {}", units::size(bytes)),
    }
}

/// A device below, on one line.
pub fn below(layer: &Layer) -> String {
    let facts = [
        layer.made.as_ref().map(made),
        layer.model.clone(),
        layer.link.clone(),
        layer.size_bytes.map(units::size),
        blocks(layer.logical_block_bytes, layer.physical_block_bytes)
            .map(|blocks| format!("blocks {blocks}")),
        layer.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")),
        layer.write_cache.clone(),
        layer.write_streams.map(|streams_and_unit| format!("write streams {}", streams(streams_and_unit))),
        layer.read_only.then(|| "read-only".to_owned()),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What changes figures although no workload names it: layers between, limits, heat and wear. What is not known has
/// no row.
pub fn condition(device: &Device, seen: Option<&Witnesses>) -> Vec<Fact> {
    let yes = |yes: bool, meaning: &str| if yes { format!("yes: {meaning}") } else { "no".to_owned() };
    let limits = seen.and_then(|seen| seen.io_limits.as_deref());
    let facts = [
        ("encrypted by", device.encrypted_by.clone()),
        ("cache below", cached_below(device)),
        ("compressed", device.marked_compressed.map(|marked| yes(marked, "by a file attribute"))),
        ("copies on write", device.copies_on_write.map(|on| yes(on, "each overwrite uses a new place"))),
        (
            "FUA",
            device.forces_unit_access.map(|able| match able {
                true => "yes: one write can bypass the write cache".to_owned(),
                false => "no: a durable write flushes the whole write cache".to_owned(),
            }),
        ),
        ("limits", limits.map(limited)),
        (
            "temperature",
            seen.and_then(|seen| seen.temperature_celsius).map(|celsius| format!("{celsius:.0} °C")),
        ),
        ("health", device.health.as_ref().map(iosonde_report::health)),
    ];
    facts.into_iter().filter_map(|(label, fact)| Some((label.to_owned(), fact?))).collect()
}

/// What control groups allow, one line each.
fn limited(limits: &[IoLimit]) -> String {
    if limits.is_empty() {
        return "none in the visible control groups".to_owned();
    }
    let told = |limit: &IoLimit| {
        let most = match (limit.iops, limit.bytes_per_s) {
            (Some(iops), _) => format!("{} {}s a second", units::count(iops), limit.op),
            (None, Some(bytes_per_s)) => format!("{} of {}s", units::rate(bytes_per_s), limit.op),
            (None, None) => format!("{}s", limit.op),
        };
        format!("{most} on {}, set by {}", limit.device, limit.set_by)
    };
    limits.iter().map(told).collect::<Vec<_>>().join("\n")
}

/// The first cache below the target, by its device.
fn cached_below(device: &Device) -> Option<String> {
    device.caches_below.first().map(|cache| match cache {
        CacheBelow::Loop { device, .. } => format!("{device} uses the page cache (loop/dio is 0)"),
        CacheBelow::ZfsVolume { device } => format!("the ARC of ZFS, above {device}"),
        CacheBelow::Tier { device, mechanism } => format!("{mechanism} ({device})"),
    })
}

fn made(made: &Made) -> String {
    match made {
        Made::Partition => "partition".into(),
        Made::Loop(file) => format!("loop device over {}", file.display()),
        Made::Mapped(name) => format!("volume {name} of the device mapper"),
        Made::Array(level) => format!("array ({level})"),
    }
}

fn blocks(logical_bytes: Option<u64>, physical_bytes: Option<u64>) -> Option<String> {
    let logical = logical_bytes?;
    let physical = physical_bytes.unwrap_or(logical);
    Some(format!("{} logical, {} physical", units::size(logical), units::size(physical)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::{Health, Op};

    #[test]
    fn what_is_known_of_its_condition_is_told_and_nothing_else() {
        let bare = Device::unknown("directory", 0);
        assert_eq!(condition(&bare, None), []);
        assert_eq!(condition(&bare, Some(&Witnesses::default())), [], "absent is not shown as nothing");
        let limit = |iops, bytes_per_s| IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".into(),
            device: "vda".into(),
            op: Op::Read,
            iops,
            bytes_per_s,
        };
        let device = Device {
            encrypted_by: Some("dm-crypt (dm-0)".into()),
            caches_below: vec![CacheBelow::Loop { device: "loop0".into(), file: "/disk.img".into() }],
            copies_on_write: Some(true),
            forces_unit_access: Some(false),
            health: Some(Health {
                used_share: 0.03,
                spare_share: 1.0,
                written_bytes: 2e12,
                ..Health::default()
            }),
            ..bare
        };
        let seen = Witnesses {
            io_limits: Some(vec![limit(Some(2000.0), None), limit(None, Some(125e6))]),
            temperature_celsius: Some(41.3),
            ..Witnesses::default()
        };
        let told: String =
            condition(&device, Some(&seen)).iter().map(|(label, fact)| row(label, fact)).collect();
        let expected = "  encrypted by      dm-crypt (dm-0)\n\
                        \x20 cache below       loop0 uses the page cache (loop/dio is 0)\n\
                        \x20 copies on write   yes: each overwrite uses a new place\n\
                        \x20 FUA               no: a durable write flushes the whole write cache\n\
                        \x20 limits            2 k reads a second on vda, set by /sys/fs/cgroup/box/io.max\n\
                        \x20                   125 MB/s of reads on vda, set by /sys/fs/cgroup/box/io.max\n\
                        \x20 temperature       41 °C\n\
                        \x20 health            3.0 % of its life used, 2 TB written, 100 % of its spare blocks left";
        assert_eq!(told.trim_end(), expected);
        let none = Witnesses { io_limits: Some(Vec::new()), ..Witnesses::default() };
        assert!(
            condition(&Device::unknown("file", 0), Some(&none))[0]
                .1
                .starts_with("none in the visible control groups")
        );
    }
}
