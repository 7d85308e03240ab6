//! Direct I/O that was asked for and went through the page cache all the same.
//!
//! Looks at: how much of the span lies in the page cache before and after a trial that asked to bypass it.
//!
//! Rule: direct I/O leaves nothing in the cache. If the cached part of the span grows by more than half of
//! the bytes that were moved (or of the span, if that is less), the requests went through it: void. If it
//! grows by more than a tenth, some of them may have: doubt. If it did not grow because all of it was
//! already there, the device's count decides: fewer than half of the bytes moved, and the cache served
//! them. A program that only reads a few pages of the same file stays far below a tenth of a trial.
//!
//! Verdict: void as a statement about the device. Without a view of the cache, without the device's count where all
//! of it was cached already, and on memory file systems, which take the request for direct I/O and have nothing to
//! bypass, it abstains.
//!
//! Example: file systems that compress or encrypt (ZFS before 2.3, some FUSE and overlay mounts) accept
//! O_DIRECT and serve it from memory; a Mac's F_NOCACHE stores nothing new and still returns what is there.
//!
//! What to do: measure on the file system below, on the block device itself, or over a span several times
//! larger than memory.

use iosonde_model::{About, CheckName, Device, Medium, Reason, Run, Scope, Trial, Verdict, units};

use super::{Check, counted, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Growth of the cached part, as a share of what was moved, that cannot come from anything else.
const GROWN_VOID: f64 = 0.5;
/// Growth that somebody else's reading does not reach in a trial.
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
    let abstain = |why: String| Verdict::NotChecked(Reason::new(About::Device, why));
    if device.medium == Medium::Memory {
        return abstain("this is memory: there is nothing for direct I/O to bypass".into());
    }
    let witnesses = &trial.witnesses;
    let (Some(before_bytes), Some(after_bytes)) =
        (witnesses.resident_before_bytes, witnesses.resident_after_bytes)
    else {
        let absent = &witnesses.absent;
        let why = if absent.is_empty() { "it was not read".to_owned() } else { absent.join("; ") };
        return abstain(format!("what the page cache holds cannot be told: {why}"));
    };
    let issued_bytes = witnesses.issued_read_bytes + witnesses.issued_write_bytes;
    if issued_bytes < JUDGED_BYTES_MIN {
        return abstain(format!("only {} were moved in all", units::decimal_bytes(issued_bytes)));
    }
    let could_grow_bytes = issued_bytes.min(trial.spec.span_bytes) as f64;
    let grown_bytes = after_bytes.saturating_sub(before_bytes) as f64;
    let reason = |why: String| {
        Reason::new(About::Device, why)
            .with("grown_bytes", grown_bytes)
            .with("issued_bytes", issued_bytes as f64)
    };
    let grown = units::decimal_bytes(after_bytes.saturating_sub(before_bytes));
    let issued = units::decimal_bytes(issued_bytes);
    if grown_bytes > GROWN_DOUBT * could_grow_bytes {
        let why = format!("direct I/O of {issued} left {grown} more in the page cache, where it leaves none");
        let certain = grown_bytes > GROWN_VOID * could_grow_bytes;
        return if certain { Verdict::Invalid(reason(why)) } else { Verdict::Warning(reason(why)) };
    }
    match (moved_share(trial), before_bytes as f64 / trial.spec.span_bytes as f64) {
        (Some(moved), cached) if moved < 0.5 && cached > 0.5 => Verdict::Invalid(reason(format!(
            "{} of the span lay in the page cache and the device moved {} of the {issued}: direct I/O was \
             served from memory",
            units::percent(cached),
            units::percent(moved)
        ))),
        (None, cached) if cached > 0.5 => abstain(format!(
            "{} of the span lay in the page cache already, and no counter tells whether the device moved the bytes",
            units::percent(cached)
        )),
        _ => Verdict::Pass,
    }
}

/// What the device moved as a share of what was asked, both directions together.
fn moved_share(trial: &Trial) -> Option<f64> {
    let witnesses = &trial.witnesses;
    let issued_bytes = witnesses.issued_read_bytes + witnesses.issued_write_bytes;
    let moved_bytes = witnesses.block_layer_read_bytes? + witnesses.block_layer_write_bytes?;
    (issued_bytes > 0).then(|| moved_bytes as f64 / issued_bytes as f64)
}
