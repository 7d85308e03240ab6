//! Bytes that never moved: reads that memory served, direct writes that the device did not take.
//!
//! Looks at: the bytes that a trial's requests moved, against the bytes that the block device below the
//! file moved in the same time by the kernel's own count; where reads are buffered, also at how much of the
//! span was in the page cache before and after.
//!
//! Rule: a device that moved fewer than 95 % of the bytes did not serve the trial. Others' I/O on the same
//! device can only add to its count, so a shortfall is certain; what it cannot excuse is a sum. 95 % leaves
//! ten times what is lost between reading the counters and the requests (0.5 % in a trial of a second) and
//! catches a file of which a tenth is cached. A trial of less than 1 MiB is not judged: one stray page counts
//! too much there. Bytes are compared, never requests, since the kernel splits and merges those. Buffered
//! reads of a span that was wholly in the page cache, before and after, came from it even where others' I/O
//! hides the shortfall. Residency alone never voids direct I/O: it goes past the cache, whatever lies in
//! it. Memory file systems (tmpfs) have no device.
//!
//! Writes through the page cache are judged by `write-back`.
//!
//! Behind a network file system the mount's counters stand in the device's place; the server's cache is seen by
//! nobody here.
//!
//! Verdict: void as a statement about the device; the rates remain what a program here gets. Where there is
//! neither a counter nor a view of the cache, it abstains and says so; likewise where the counter stood still
//! while the run itself was filling (under a tenth of the fill): the head of an NVMe multipath set counts nothing.
//!
//! Another tool's result that went through the page cache, without a witness in its file, is doubted.
//!
//! Example: a 100 MiB file, just written, was read back at 400 to 450 MiB/s from a USB hard disk that can
//! give a third of it, and the report concluded that the disk is as fast as an SSD. Another found strided
//! reads "at very high throughput" on a Mac whose F_NOCACHE does not evict what is already in memory.
//!
//! What to do: measure with direct I/O (the default where the file system gives it), or over a span several
//! times larger than memory. Where direct reads moved nothing, the file has holes: fill it first. For
//! writes, count the flush, or measure direct writes.

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{
    About, Device, Medium, Op, Reason, Run, Scope, Trial, Verdict,
    cause::{self, NoWitness},
};

use super::{
    Check,
    counted::{self, Witnessed},
    judged,
};
#[cfg(test)]
use super::{Specimens, specimen};

/// See the manual page above: ten times what the counters' readings may miss.
const MOVED_SHARE_MIN: f64 = 0.95;
/// Of the span, for calling it wholly resident.
const RESIDENT_SHARE_MIN: f64 = 0.95;
/// Below this, one stray page counts too much.
const JUDGED_BYTES_MIN: u64 = 1 << 20;

pub(super) struct CacheServed;

impl Check for CacheServed {
    fn id(&self) -> CheckName {
        CheckName::CacheServed
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let device = &run.info.device;
        // Writes through the page cache are the business of `write-back`.
        let own =
            |trial: &&Trial| device.medium == Medium::Memory || trial.spec.direct || trial.spec.has(Op::Read);
        let judged = judged::measuring(scope, run).filter(own);
        judged.map(|trial| {
            judged::through_the_cache(verdict(&counted::witnessed(trial, run), device), trial, run)
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
        resident.witnesses.resident_before_bytes = Some(1 << 30);
        resident.witnesses.resident_after_bytes = Some(1 << 30);
        let mut tiny = specimen::healthy(Rw::RandRead, 4096, 1, 100);
        tiny.witnesses.block_layer_read_bytes = Some(0);
        let tmpfs = Device {
            medium: Medium::Memory,
            file_system: Some("tmpfs".into()),
            ..Device::unknown("file", 1 << 30)
        };
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
                specimen::run_on(tmpfs, specimen::usual()),
                // The fill was counted, or went to memory: the counters are a witness, and right.
                specimen::filled(1 << 30, 0, hole()),
                specimen::filled(0, 1 << 30, hole()),
            ],
            warning: vec![specimen::imported(specimen::buffered(None, None))],
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

fn verdict(trial: &Witnessed<'_>, device: &Device) -> Verdict {
    if device.medium == Medium::Memory {
        let name = device.file_system.clone().or(device.name.clone());
        return Verdict::Invalid(Reason::new(About::Device, cause::CacheServed::Memory { name }));
    }
    let own = |op: &Op| trial.spec.has(*op) && (trial.spec.direct || *op != Op::Write);
    let verdicts = Op::DIRECTIONS.into_iter().filter(own).map(|op| one_way(trial, op));
    let severity = |verdict: &Verdict| match verdict {
        Verdict::Invalid(_) => 3,
        Verdict::Warning(_) => 2,
        Verdict::NotChecked(_) => 1,
        Verdict::Pass => 0,
    };
    verdicts.max_by_key(severity).unwrap_or(Verdict::Pass)
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
