//! Direct I/O that used the page cache all the same.
//!
//! Looks at: how much of the span is in the page cache before and after a trial with direct I/O.
//!
//! Rule: direct I/O leaves nothing in the cache. If the cached part of the span grows by more than half of the
//! moved bytes (or of the span, if that is less), the requests were buffered: invalid. If it grows by more than a
//! tenth, some of them may have been: a warning. If it did not grow because the whole span was already cached, the
//! device's count decides: where the device moved fewer than half of the bytes, the cache served them. A program
//! that only reads a few pages of the same file stays far below a tenth of a trial.
//!
//! Verdict: invalid as a statement about the device. Not checked without a view of the cache, nor without the
//! device's count where the whole span was cached before. Not checked on memory file systems, which accept direct
//! I/O and have no cache to bypass.
//!
//! Example: file systems that compress or encrypt (ZFS before 2.3, some FUSE and overlay mounts) accept O_DIRECT
//! and serve it from memory. A Mac's F_NOCACHE stores nothing new and still returns what is there.
//!
//! What to do: measure on the file system below, on the block device itself, or over a span several times larger
//! than memory.

use iosonde_model::{
    About, Cause, CheckName, Device, Medium, Reason, Run, Scope, Trial, Verdict,
    cause::{self, NoWitness},
};

use super::{Check, counted, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Growth of the cached part, as a share of what was moved, that cannot come from anything else.
const GROWN_VOID: f64 = 0.5;
/// Growth that another program's reads do not reach in a trial.
const GROWN_DOUBT: f64 = 0.1;
/// Below this, one stray page counts too much.
const JUDGED_BYTES_MIN: u64 = 1 << 20;

pub(super) struct DirectIgnored;

impl Check for DirectIgnored {
    fn id(&self) -> CheckName {
        CheckName::DirectIgnored
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let trial = judged::measuring(scope, run).filter(|trial| trial.spec.direct)?;
        Some(verdict(&counted::witnessed(trial, run), &run.info.device))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let residents = |before: Option<u64>, after: Option<u64>| {
            let mut trial = specimen::usual();
            trial.witnesses.resident_before_bytes = before;
            trial.witnesses.resident_after_bytes = after;
            trial
        };
        let span = 1 << 30;
        let mut served = residents(Some(span), Some(span));
        served.witnesses.block_layer_read_bytes = Some(0);
        let uncounted = specimen::filled(0, 0, served.clone());
        let mut hole = residents(Some(0), Some(0));
        hole.witnesses.block_layer_read_bytes = Some(0);
        let memory = Device { medium: Medium::Memory, ..Device::unknown("file", span) };
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                // All of it is cached, and the device moved the bytes nevertheless: honoured.
                specimen::run(residents(Some(span), Some(span))),
                // Direct writes drop cached pages.
                specimen::run(residents(Some(span), Some(0))),
                // A hole moves nothing and leaves nothing: honoured (`cache-served` speaks of the hole).
                specimen::run(hole),
            ],
            // 100,000 × 1.1 reads of 4 KiB are 450 MB.
            warning: vec![specimen::run(residents(Some(0), Some(60 << 20)))],
            invalid: vec![specimen::run(residents(Some(0), Some(400 << 20))), specimen::run(served)],
            not_checked: vec![
                specimen::run(residents(None, None)),
                specimen::run_on(memory, specimen::usual()),
                // All of it is cached, by whomever, and the device counts nothing at all: either may have served it.
                uncounted,
            ],
        }
    }
}

fn verdict(trial: &Trial, device: &Device) -> Verdict {
    let abstain = |why: Cause| Verdict::NotChecked(Reason::new(About::Device, why));
    if device.medium == Medium::Memory {
        return abstain(cause::DirectIgnored::Memory.into());
    }
    let witnesses = &trial.witnesses;
    let (Some(before_bytes), Some(after_bytes)) =
        (witnesses.resident_before_bytes, witnesses.resident_after_bytes)
    else {
        let said = witnesses.absent.clone();
        return abstain(cause::DirectIgnored::CacheUnknown { said }.into());
    };
    let issued_bytes = witnesses.issued_read_bytes + witnesses.issued_write_bytes;
    if issued_bytes < JUDGED_BYTES_MIN {
        return abstain(NoWitness::TooSmall { issued_bytes, needed_bytes: JUDGED_BYTES_MIN }.into());
    }
    let could_grow_bytes = issued_bytes.min(trial.spec.span_bytes) as f64;
    let grown_bytes = after_bytes.saturating_sub(before_bytes);
    if grown_bytes as f64 > GROWN_DOUBT * could_grow_bytes {
        let reason =
            Reason::new(About::Device, cause::DirectIgnored::CacheGrew { grown_bytes, issued_bytes });
        let certain = grown_bytes as f64 > GROWN_VOID * could_grow_bytes;
        return if certain { Verdict::Invalid(reason) } else { Verdict::Warning(reason) };
    }
    let share = |moved_bytes: u64| moved_bytes as f64 / issued_bytes as f64;
    match (moved_bytes(trial), before_bytes as f64 / trial.spec.span_bytes as f64) {
        (Some(moved_bytes), cached_share) if share(moved_bytes) < 0.5 && cached_share > 0.5 => {
            let served = cause::DirectIgnored::ServedFromCache { cached_share, moved_bytes, issued_bytes };
            Verdict::Invalid(Reason::new(About::Device, served))
        }
        (None, cached_share) if cached_share > 0.5 => {
            abstain(cause::DirectIgnored::NoCount { cached_share }.into())
        }
        _ => Verdict::Pass,
    }
}

/// Bytes that the device moved, both directions together.
fn moved_bytes(trial: &Trial) -> Option<u64> {
    Some(trial.witnesses.block_layer_read_bytes? + trial.witnesses.block_layer_write_bytes?)
}
