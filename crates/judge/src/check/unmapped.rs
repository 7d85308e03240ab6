//! Reads of data that was never written: holes, and space that was only reserved.
//!
//! Looks at: how much of the addressed span is unmapped, by the file system, before a trial that reads (SEEK_HOLE;
//! extents that `fallocate` reserved count as holes too). Also at what the device moved.
//!
//! Rule: these bytes are zeros made in memory, whatever the storage is. More than 10 % of the span is invalid: at
//! least every tenth request cost nothing, about the bound of `cache-served`. From 1 % on it is a warning: the mean
//! moves by as much as `quick` resolves with many trials. Where the device nevertheless moved all the bytes, the
//! holes were not read (a write had filled them), and the trial is valid.
//!
//! Verdict: invalid as a statement about the device. Not checked where the file system gives no information (block
//! devices, many network file systems). A device with trimmed blocks, or a thinly provisioned one, answers from its
//! tables alone, and this check does not see it.
//!
//! Example: a sparse file made with `truncate`, or by fio with `fallocate=posix` (its default on many systems), and
//! read before it was written: "reads" at the speed of memory, with direct I/O and a cold cache.
//!
//! What to do: write the whole file first; iosonde does so with the files that it makes.

use iosonde_model::{About, CheckName, Op, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Share of the span; see the manual page above.
const VOID_SHARE: f64 = 0.1;
const DOUBT_SHARE: f64 = 0.01;
/// Share of the read bytes that the device moved: the bound of `cache-served`.
const MOVED_SHARE: f64 = 0.9;

pub(super) struct Unmapped;

impl Check for Unmapped {
    fn id(&self) -> CheckName {
        CheckName::Unmapped
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).filter(|trial| trial.spec.has(Op::Read)).map(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |unmapped_bytes, moved_share: Option<f64>| {
            let mut trial = specimen::usual();
            trial.witnesses.unmapped_bytes = unmapped_bytes;
            let issued = trial.witnesses.issued_read_bytes as f64;
            trial.witnesses.block_layer_read_bytes = moved_share.map(|share| (share * issued) as u64);
            specimen::run(trial)
        };
        let span = 1 << 30;
        Specimens {
            pass: vec![
                with(Some(0), Some(1.0)),
                // 0.9 % of the span.
                with(Some(9 << 20), Some(1.0)),
                // The holes were filled, or not read: the device moved everything.
                with(Some(span / 2), Some(1.0)),
            ],
            warning: vec![with(Some(span / 20), Some(0.85)), with(Some(span / 50), None)],
            invalid: vec![
                with(Some(span), Some(0.0)),
                with(Some(span / 2), Some(0.5)),
                with(Some(span), None),
            ],
            not_checked: vec![with(None, Some(1.0))],
        }
    }
}

fn verdict(trial: &Trial) -> Verdict {
    let Some(unmapped_bytes) = trial.witnesses.unmapped_bytes else {
        return Verdict::NotChecked(Reason::new(About::Device, cause::Unmapped::Unknown));
    };
    let share = unmapped_bytes as f64 / trial.spec.span_bytes.max(1) as f64;
    let issued_bytes = trial.witnesses.issued_read_bytes;
    let moved = trial.witnesses.block_layer_read_bytes;
    let moved = moved.is_some_and(|bytes| bytes as f64 >= MOVED_SHARE * issued_bytes as f64);
    if share < DOUBT_SHARE || (moved && trial.spec.direct) {
        return Verdict::Pass;
    }
    let span_bytes = trial.spec.span_bytes;
    let reason = Reason::new(About::Device, cause::Unmapped::Holes { unmapped_bytes, span_bytes });
    if share > VOID_SHARE { Verdict::Invalid(reason) } else { Verdict::Warning(reason) }
}
