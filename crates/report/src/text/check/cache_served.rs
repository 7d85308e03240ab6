//! Words of the check `cache-served`.

use iosonde_model::{CacheBelow, Op, cause::CacheServed, units};

/// `the trial read 2.31 GB, and 3.0 % of it came from the device, the rest from the page cache`.
pub(super) fn words(cause: &CacheServed) -> String {
    match cause {
        CacheServed::Memory { name } => {
            format!("{} keeps its data in memory", name.as_deref().unwrap_or("this target"))
        }
        CacheServed::NoStorage { engine } => format!("the {engine} engine moves no data"),
        CacheServed::Below { cache } => below(cache),
        CacheServed::Shortfall { op, direct, server, issued_bytes, moved_bytes } => {
            let moved = moved("the trial", *op, *direct, *server, [*issued_bytes, *moved_bytes]);
            match (op, direct) {
                (Op::Read, false) => format!("{moved}, the rest from the page cache"),
                (Op::Read, true) => format!("{moved}: holes in the file, or a cache"),
                (Op::Write | Op::Trim | Op::Flush, _) => {
                    format!("{moved}: memory held data back, or the file system compresses or drops it")
                }
            }
        }
        CacheServed::Resident { span_bytes } => format!(
            "the whole span of {} was in the page cache before and after: memory served the reads",
            units::size(*span_bytes)
        ),
    }
}

/// How much of a trial's data the storage moved, in a sentence that says where the rest went.
pub(in crate::text) fn shortfall(cause: &CacheServed) -> Option<String> {
    match cause {
        CacheServed::Shortfall { op, direct, server, issued_bytes, moved_bytes } => {
            Some(moved("one trial", *op, *direct, *server, [*issued_bytes, *moved_bytes]))
        }
        _ => None,
    }
}

fn moved(trial: &str, op: Op, direct: bool, server: bool, [issued_bytes, moved_bytes]: [u64; 2]) -> String {
    let who = if server { "the server" } else { "the device" };
    let share = match moved_bytes {
        0 => "none".to_owned(),
        _ => units::percent(moved_bytes as f64 / issued_bytes as f64),
    };
    let issued = units::decimal_bytes(issued_bytes);
    match (op, direct) {
        (Op::Read, false) => format!("{trial} read {issued}, and {share} of it came from {who}"),
        (Op::Read, true) => format!("{trial} read {issued} with direct I/O, and {who} moved {share} of it"),
        (Op::Write | Op::Trim | Op::Flush, _) => {
            format!("{trial} wrote {issued}, and {who} received {share} of it")
        }
    }
}

fn below(cache: &CacheBelow) -> String {
    match cache {
        CacheBelow::Loop { device, file } => {
            format!("{device} uses the page cache for {file}; use `losetup --direct-io=on /dev/{device}`")
        }
        CacheBelow::ZfsVolume { device } => {
            format!(
                "the ZFS cache in memory (ARC) may serve reads of {device}; compare with `primarycache=metadata`"
            )
        }
        CacheBelow::Tier { device, mechanism } => {
            format!(
                "{mechanism} keeps parts of {device} on a faster device; throughput depends on what it holds"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortfall_is_said_in_numbers() {
        let of = |op, direct, server| {
            let (issued_bytes, moved_bytes) = (2_306_867_200, 69_206_016);
            words(&CacheServed::Shortfall { op, direct, server, issued_bytes, moved_bytes })
        };
        assert_eq!(
            of(Op::Read, false, false),
            "the trial read 2.31 GB, and 3.0 % of it came from the device, the rest from the page cache"
        );
        assert!(
            of(Op::Write, true, true)
                .starts_with("the trial wrote 2.31 GB, and the server received 3.0 % of it: ")
        );
    }

    #[test]
    fn a_cache_below_is_named_with_what_to_do() {
        let cache = CacheBelow::Loop { device: "loop0".into(), file: "/images/disk.img".into() };
        assert_eq!(
            words(&CacheServed::Below { cache }),
            "loop0 uses the page cache for /images/disk.img; use `losetup --direct-io=on /dev/loop0`"
        );
    }
}
