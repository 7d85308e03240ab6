//! Bytes that never moved: reads served from memory, and direct writes that did not reach the device.
//!
//! Looks at: the bytes that a trial's requests moved, against the bytes that the block device below the file moved
//! in the same time, by the kernel's own count. For buffered reads, also at how much of the span was in the page
//! cache before and after.
//!
//! Rule: a device that moved fewer than 95 % of the bytes did not serve the trial. Other I/O on the same device can
//! only add to its count, so a shortfall is certain. The check cannot see a shortfall that other I/O makes up. 95 %
//! leaves ten times the error of reading the counters (0.5 % in a trial of a second) and detects a file of which a
//! tenth is cached. A trial of less than 1 MiB is not checked: one stray page counts too much there. Bytes are
//! compared, never requests, since the kernel splits and merges those. Buffered reads of a span that was wholly in
//! the page cache, before and after, came from it, even where other I/O hides the shortfall. Residency alone never
//! makes direct I/O invalid: direct I/O bypasses the cache. Memory file systems (tmpfs) have no device.
//!
//! A loop device that is not open for direct I/O to its file (`/sys/block/loop0/loop/dio` is 0) puts the page cache
//! below the file system on it: requests that bypass the upper cache pass the lower one, whatever the counters say.
//! Such trials are invalid. A ZFS volume, whose reads the ARC serves unless its `primarycache` forbids it, and a
//! bcache or dm-cache volume, which keeps parts of one device on another, get a warning: the kernel says that the
//! cache is there, not what it served.
//!
//! The null engine completes each request itself and moves nothing; nor do fio's engines for names of files.
//!
//! Buffered writes are checked by `write-back`.
//!
//! Behind a network file system the mount's counters replace the device's. The server's cache cannot be observed
//! from here.
//!
//! Verdict: invalid as a statement about the device; the throughput remains what a program gets here. Not checked
//! where there is neither a counter nor a view of the cache. Not checked, too, where the counter did not move while
//! the run itself was filling (under a tenth of the fill): the head of an NVMe multipath set counts nothing.
//!
//! Another tool's buffered result, without a witness in its file, gets a warning. Where its file has counters of the
//! device for the whole run (fio's disk statistics) that allow for less than half of its bytes, it is invalid. Where
//! only requests are counted, one may be of 4 MiB; for random reads of less than 128 KiB, of these. fio reads the
//! counters last up to half a second before its end, so that runs under 2 s are not judged by them.
//!
//! Example: a 100 MiB file, just written, was read back at 400 to 450 MiB/s from a USB hard disk that can give a
//! third of it. The report concluded that the disk is as fast as an SSD. Another found strided reads "at very high
//! throughput" on a Mac whose F_NOCACHE does not evict what is already in memory.
//!
//! What to do: measure with direct I/O (the default where the file system supports it), or over a span several
//! times larger than memory. Where direct reads moved nothing, the file has holes: fill it first. For writes, count
//! the flush, or measure direct writes. For a loop device, use `losetup --direct-io=on /dev/loop0`, or measure where
//! its file lies.

use iosonde_model::CheckName;
use iosonde_model::{
    About, CacheBelow, Device, Medium, Op, Reason, Run, Scope, Trial, Verdict,
    cause::{self, NoWitness},
};
#[cfg(test)]
use iosonde_model::{Rw, TrialSpec, Witnesses};

use super::{
    Check,
    counted::{self, Witnessed},
    judged,
};
#[cfg(test)]
use super::{Specimens, specimen};

/// See the manual page above: ten times what the counters' readings may miss.
const MOVED_SHARE_MIN: f64 = 0.95;
/// Share of the span from which on it counts as wholly resident.
const RESIDENT_SHARE_MIN: f64 = 0.95;
/// Below this, one stray page counts too much.
const JUDGED_BYTES_MIN: u64 = 1 << 20;

/// Engines of fio, and of iosonde, that complete requests themselves, or work on names and not on data.
const MOVES_NOTHING: [&str; 8] =
    ["null", "cpuio", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"];

pub(super) struct CacheServed;

impl Check for CacheServed {
    fn id(&self) -> CheckName {
        CheckName::CacheServed
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let device = &run.info.device;
        // Buffered writes are checked by `write-back`.
        let own =
            |trial: &&Trial| has_no_storage(trial, device) || trial.spec.direct || trial.spec.has(Op::Read);
        let judged = judged::measuring(scope, run).filter(own);
        judged.map(|trial| {
            let by_counters = verdict(&counted::witnessed(trial, run), device);
            judged::through_the_cache(by_counters, trial, run, Op::Read)
        })
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let hole = || {
            let mut trial = specimen::usual();
            trial.witnesses.block_layer_read_bytes = Some(0);
            trial
        };
        let written = specimen::healthy(Rw::Write, 1 << 20, 1, 2000);
        let mut kept_back = written.clone();
        kept_back.witnesses.block_layer_write_bytes = Some(150 << 20);
        // A direct read is believed although all of its span lies in the page cache.
        let mut resident = specimen::usual();
        let own = &mut resident.witnesses;
        (own.resident_before_bytes, own.resident_after_bytes) = (Some(1 << 30), Some(1 << 30));
        let mut tiny = specimen::healthy(Rw::RandRead, 4096, 1, 100);
        tiny.witnesses.block_layer_read_bytes = Some(0);
        let above = |cache: CacheBelow| Device {
            direct: true,
            caches_below: vec![cache],
            ..Device::unknown("file", 1 << 30)
        };
        let looped = above(CacheBelow::Loop { device: "loop0".into(), file: "/disk.img".into() });
        let tier = above(CacheBelow::Tier { device: "bcache0".into(), mechanism: "bcache".into() });
        // The fill went to the lower page cache: its counters do not count as standing still.
        let mut filled = specimen::filled(0, 0, hole());
        filled.info.device = looped.clone();
        let issued = specimen::buffered(None, None).witnesses.issued_read_bytes;
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                specimen::run(specimen::healthy(Rw::RandRw, 4096, 8, 20_000)),
                specimen::run(specimen::buffered(Some(issued), Some(0))),
                specimen::run(written),
                specimen::run(resident),
            ],
            invalid: vec![
                specimen::run(specimen::buffered(Some(issued / 33), Some(1 << 30))),
                specimen::run(specimen::buffered(Some(issued / 2), None)),
                // A neighbour reads as much as we do: the sum hides it, the cache shows it.
                specimen::run(specimen::buffered(Some(issued), Some(1 << 30))),
                specimen::run(specimen::buffered(None, Some(1 << 30))),
                specimen::run(kept_back),
                specimen::run(hole()),
                specimen::run_on(in_memory(), specimen::usual()),
                specimen::run(by_the_null_engine()),
                specimen::imported(by_the_null_engine()),
                by_another_tool(Some(1 << 30), 4.0),
                specimen::run_on(looped, specimen::usual()),
                filled,
                // The fill was counted, or went to memory.
                specimen::filled(1 << 30, 0, hole()),
                specimen::filled(0, 1 << 30, hole()),
            ],
            warning: vec![
                specimen::imported(specimen::buffered(None, None)),
                // Counters that may not count, that show enough, and that were read too early.
                by_another_tool(Some(0), 4.0),
                beside_a_buffered_stream(),
                by_another_tool(Some(16 << 30), 4.0),
                by_another_tool(Some(1 << 30), 1.0),
                specimen::run_on(tier, specimen::usual()),
            ],
            not_checked: vec![
                specimen::run(specimen::buffered(None, None)),
                specimen::run(tiny),
                // The head of a multipath set counts nothing, whatever passes it.
                specimen::filled(0, 0, hole()),
                specimen::filled(100 << 20, 0, hole()),
            ],
        }
    }
}

#[cfg(test)]
fn in_memory() -> Device {
    Device { medium: Medium::Memory, file_system: Some("tmpfs".into()), ..Device::unknown("file", 1 << 30) }
}

#[cfg(test)]
fn by_the_null_engine() -> Trial {
    let mut trial = specimen::usual();
    trial.spec.engine = MOVES_NOTHING[0].to_owned();
    trial
}

/// 8 GiB of buffered reads, and what the file has of the device's counters.
#[cfg(test)]
fn by_another_tool(read_most_bytes: Option<u64>, measured_s: f64) -> Run {
    let mut trial = specimen::buffered(None, None);
    trial.measured_s = measured_s;
    trial.read.as_mut().expect("it reads").bytes = 8 << 30;
    trial.witnesses.read_most_bytes = read_most_bytes;
    trial.witnesses.write_most_bytes = Some(0);
    specimen::imported(trial)
}

/// A direct stream, and a buffered one at the same time.
#[cfg(test)]
fn beside_a_buffered_stream() -> Run {
    let mut trial = specimen::usual();
    trial.witnesses = Witnesses::default();
    trial.spec.and = vec![TrialSpec { direct: false, ..trial.spec.clone() }];
    specimen::imported(trial)
}

fn has_no_storage(trial: &Trial, device: &Device) -> bool {
    device.medium == Medium::Memory || MOVES_NOTHING.contains(&trial.spec.engine.as_str())
}

fn verdict(trial: &Witnessed<'_>, device: &Device) -> Verdict {
    if MOVES_NOTHING.contains(&trial.spec.engine.as_str()) {
        let engine = trial.spec.engine.clone();
        return Verdict::Invalid(Reason::new(About::Device, cause::CacheServed::NoStorage { engine }));
    }
    if device.medium == Medium::Memory {
        let name = device.file_system.clone().or(device.name.clone());
        return Verdict::Invalid(Reason::new(About::Device, cause::CacheServed::Memory { name }));
    }
    if let Some(cache) = device.caches_below.iter().find(|cache| cache.is_page_cache()) {
        return Verdict::Invalid(below(cache));
    }
    let own = |op: &Op| trial.spec.has(*op) && (trial.spec.direct || *op != Op::Write);
    let verdicts = Op::DIRECTIONS.into_iter().filter(own).map(|op| one_way(trial, op));
    let severity = |verdict: &Verdict| match verdict {
        Verdict::Invalid(_) => 3,
        Verdict::Warning(_) => 2,
        Verdict::NotChecked(_) => 1,
        Verdict::Pass => 0,
    };
    let tier = device.caches_below.first().map(|cache| Verdict::Warning(below(cache)));
    verdicts.chain(tier).max_by_key(severity).unwrap_or(Verdict::Pass)
}

fn below(cache: &CacheBelow) -> Reason {
    Reason::new(About::Device, cause::CacheServed::Below { cache: cache.clone() })
}

fn one_way(trial: &Witnessed<'_>, op: Op) -> Verdict {
    let unknown = |why: NoWitness| Verdict::NotChecked(Reason::new(About::Device, why));
    let invalid = |why: cause::CacheServed| Verdict::Invalid(Reason::new(About::Device, why));
    let witnesses = &trial.witnesses;
    let (issued_bytes, moved_bytes) = match op {
        // Behind a network file system the server stands in the device's place.
        Op::Read => {
            (witnesses.issued_read_bytes, witnesses.block_layer_read_bytes.or(witnesses.network_read_bytes))
        }
        Op::Write => (
            witnesses.issued_write_bytes,
            witnesses.block_layer_write_bytes.or(witnesses.network_write_bytes),
        ),
        Op::Trim | Op::Flush => return unknown(NoWitness::NoData { op }),
    };
    if moved_bytes.is_none() && trial.witnesses.resident_after_bytes.is_none() {
        return unknown(trial.missing());
    }
    if issued_bytes < JUDGED_BYTES_MIN {
        return unknown(NoWitness::TooSmall { issued_bytes, needed_bytes: JUDGED_BYTES_MIN });
    }
    if let Some(moved_bytes) = moved_bytes
        && (moved_bytes as f64) < MOVED_SHARE_MIN * issued_bytes as f64
    {
        let (direct, server) = (trial.spec.direct, trial.witnesses.block_layer_device.is_none());
        return invalid(cause::CacheServed::Shortfall { op, direct, server, issued_bytes, moved_bytes });
    }
    if op == Op::Read && !trial.spec.direct && wholly_resident(trial) {
        return invalid(cause::CacheServed::Resident { span_bytes: trial.spec.span_bytes });
    }
    match moved_bytes {
        Some(_) => Verdict::Pass,
        None => unknown(trial.missing()),
    }
}

fn wholly_resident(trial: &Trial) -> bool {
    let enough = RESIDENT_SHARE_MIN * trial.spec.span_bytes as f64;
    let resident = |bytes: Option<u64>| bytes.is_some_and(|bytes| bytes as f64 >= enough);
    resident(trial.witnesses.resident_before_bytes) && resident(trial.witnesses.resident_after_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(trial: &Trial) -> Verdict {
        let run = specimen::run(trial.clone());
        verdict(&counted::witnessed(trial, &run), &run.info.device)
    }

    #[test]
    fn its_facts_are_what_moved_and_where() {
        let mut trial = specimen::buffered(None, None);
        let issued_bytes = trial.witnesses.issued_read_bytes;
        let shortfall = |server, moved_bytes| {
            let (op, direct) = (Op::Read, false);
            let facts = cause::CacheServed::Shortfall { op, direct, server, issued_bytes, moved_bytes };
            Verdict::Invalid(Reason::new(About::Device, facts))
        };
        trial.witnesses.block_layer_read_bytes = Some(69_206_016);
        assert_eq!(judged(&trial), shortfall(false, 69_206_016));
        // Behind a network file system the server stands in the device's place.
        trial.witnesses.block_layer_read_bytes = None;
        trial.witnesses.block_layer_device = None;
        trial.witnesses.network_read_bytes = Some(0);
        assert_eq!(judged(&trial), shortfall(true, 0));
        trial.witnesses.network_read_bytes = Some(issued_bytes);
        assert_eq!(judged(&trial), Verdict::Pass);
    }
}
