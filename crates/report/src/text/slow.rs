//! Words of the causes for which storage may be slow: what was seen, and what to do.

use iosonde_infer::slow::Slow;
use iosonde_model::{Shingled, units};

/// One cause, without a full stop.
pub fn slow(cause: &Slow) -> String {
    match cause {
        Slow::Generator { limited, trials } => format!(
            "CPU-bound: the program was the limit in {limited} of {trials} trials; use larger blocks or more jobs"
        ),
        Slow::Hot { celsius } => {
            format!("the device reached {celsius:.0} °C, where drives slow down; cool it and measure again")
        }
        Slow::Link { link, could, times } => format!(
            "the link is {link}, but drive and slot can do {could}: throughput is limited to 1/{} of that; check the \
             slot, the riser and the firmware settings",
            units::count(*times)
        ),
        Slow::Shingled { by } => {
            let sign = match by {
                Shingled::Zones => "the disk has zones: its tracks overlap (SMR)",
                Shingled::Trims => {
                    "the disk rotates and takes trims, as disks with overlapping tracks (SMR) do"
                }
            };
            format!(
                "{sign}: random writes become very slow when its cache is full; `iosonde run sustained-write --set \
                 rw=randwrite --set block_size=64k` shows when"
            )
        }
        Slow::WritesMovedLater { bytes } => format!(
            "this rotating disk takes {} of writes before it slows down, more than its memory holds: it moves them \
             later, as disks with overlapping tracks (SMR) do, or has flash; expect the sustained throughput",
            units::size(*bytes as u64)
        ),
        Slow::WriteCacheOff => {
            "the write cache is off (`write through`): each write waits for the medium".to_owned()
        }
        Slow::Misaligned { bytes } => format!(
            "the partition begins {} past a block of the disk: each block that is written touches two; partition \
             again at 1 MiB",
            units::size(*bytes)
        ),
        Slow::PowerSaving { settings: Some(settings) } => {
            format!("the machine saves power ({settings}): processors and links wake up later")
        }
        Slow::PowerSaving { settings: None } => {
            "the machine runs on battery: processors and links may be slowed".to_owned()
        }
        Slow::Encrypted { by } => {
            format!("{by} encrypts every request: compare with the device below, read-only")
        }
        Slow::CacheBelow { layers } => {
            let plural = if *layers == 1 { "a cache" } else { "caches" };
            format!("{plural} of this machine below the target: misses cost a second lookup")
        }
        Slow::CopiesOnWrite => {
            "the file system gives overwritten data a new place: random writes cost more than one write"
                .to_owned()
        }
        Slow::QueueLimit { requests, queue_depth } => format!(
            "the kernel's queue holds {requests} requests, fewer than QD {queue_depth}: raise queue/nr_requests"
        ),
        Slow::Scheduler { name } => {
            format!("the scheduler {name} orders requests; flash needs no order: try `none`")
        }
        Slow::OnlineDiscard => {
            "the file system discards freed blocks at once (mount option discard): use fstrim at quiet times"
                .to_owned()
        }
        Slow::Host => {
            "a host stands between this machine and the medium: its limits are not visible".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_says_what_was_seen_and_what_to_do() {
        let link = Slow::Link { link: "PCIe 3.0 x2".into(), could: "PCIe 4.0 x4".into(), times: 4.0 };
        assert_eq!(
            slow(&link),
            "the link is PCIe 3.0 x2, but drive and slot can do PCIe 4.0 x4: throughput is limited to 1/4 of that; \
             check the slot, the riser and the firmware settings"
        );
        assert_eq!(
            slow(&Slow::QueueLimit { requests: 32, queue_depth: 128 }),
            "the kernel's queue holds 32 requests, fewer than QD 128: raise queue/nr_requests"
        );
    }
}
