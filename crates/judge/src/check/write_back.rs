//! Buffered writes that had not reached the device at the end of the trial.
//!
//! Looks at: buffered writes. It compares how many bytes of the span were still dirty in the page cache after the
//! trial (or being written), and how many the device had taken, by the kernel's own count.
//!
//! Rule: a buffered write is complete when it is in memory; its throughput is the storage's only where the storage
//! keeps up. More than 10 % of the written bytes still in memory, or less than 90 % taken by the device: invalid.
//! The bound is that of `cache-served`, for the same reason: a tenth of a trial costs a tenth of its figures. From
//! 1 % still in memory: a warning. Writing one place again before it was written back also leaves the device with
//! less; memory did that work as well. Only what the file system reports of its own pages counts, so that other
//! programs' dirty pages do not.
//!
//! Verdict: invalid as a statement about the device; the throughput is what a program gets here until memory is
//! full. Not checked without a view of the page cache and without a count of the device. Direct writes are not this
//! check's subject (`cache-served` compares those with the device's count), nor is what the device itself keeps in
//! its own buffer.
//!
//! Example: two machines' writes compared without a flush ("7.07 times as fast", in the report); a copy of 2 GB
//! that "takes a second" to a USB stick and then minutes to unmount.
//!
//! Another tool's counters of the device count as in `cache-served`.
//!
//! What to do: direct I/O (the default where it exists), or `--sync fdatasync:N`, or write several times the size
//! of memory.

use iosonde_model::CheckName;
use iosonde_model::{
    About, Medium, Op, Reason, Run, Scope, Trial, Verdict,
    cause::{self, NoWitness},
};
#[cfg(test)]
use iosonde_model::{Rw, Sync};

use super::{
    Check,
    counted::{self, Witnessed},
    judged,
};
#[cfg(test)]
use super::{Specimens, specimen};

/// Share of the written bytes still in memory; see the manual page above.
const DIRTY_VOID: f64 = 0.1;
const DIRTY_DOUBT: f64 = 0.01;
/// Share of the written bytes that the device took.
const TAKEN_SHARE_MIN: f64 = 0.9;
/// Below this, one stray page counts too much.
const JUDGED_BYTES_MIN: u64 = 1 << 20;

pub(super) struct WriteBack;

impl Check for WriteBack {
    fn id(&self) -> CheckName {
        CheckName::WriteBack
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let memory = run.info.device.medium == Medium::Memory;
        let is_buffered =
            |trial: &Trial| trial.spec.streams().any(|spec| !spec.direct && spec.has(Op::Write));
        let own = |trial: &&Trial| is_buffered(trial) && !memory;
        judged::measuring(scope, run).filter(own).map(|trial| {
            let verdict = verdict(&counted::witnessed(trial, run));
            // What was flushed within the measured time is no longer in memory alone.
            // Of another tool's file, a flush at the end tells neither what was written twice nor its latency.
            let at_end = run.info.is_imported() && trial.spec.sync.at_end();
            let is_told = is_flushed(trial) && !at_end;
            if is_told { verdict } else { judged::through_the_cache(verdict, trial, run, Op::Write) }
        })
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        // 2,000 × 1.1 writes of 1 MiB.
        let with = |dirty_after_bytes, taken: Option<u64>| {
            let mut trial = specimen::healthy(Rw::Write, 1 << 20, 1, 2000);
            trial.spec.direct = false;
            trial.witnesses.dirty_after_bytes = dirty_after_bytes;
            trial.witnesses.block_layer_write_bytes = taken.map(|mib| mib << 20);
            specimen::run(trial)
        };
        let unseen = specimen::imported(with(None, None).trials.remove(0));
        // When another tool's flush at the end came, and for how long it took, is unknown.
        let mut at_end = unseen.clone();
        at_end.trials[0].spec.sync = Sync::FsyncAtEnd;
        let mut flushed = unseen.clone();
        flushed.trials[0].spec.sync = Sync::Fsync { every: 1 };
        let mut tiny = specimen::healthy(Rw::RandWrite, 4096, 1, 100);
        tiny.spec.direct = false;
        Specimens {
            pass: vec![with(Some(0), Some(2200)), with(None, Some(2200)), with(Some(0), None)],
            warning: vec![with(Some(100 << 20), Some(2100)), with(Some(100 << 20), None), unseen, at_end],
            invalid: vec![
                with(Some(1000 << 20), Some(1200)),
                with(Some(0), Some(150)),
                with(Some(500 << 20), None),
            ],
            not_checked: vec![with(None, None), specimen::run(tiny), flushed],
        }
    }
}

/// Returns true if writes were made durable while the clock ran: each, all at the end, or after a number that was
/// reached.
fn is_flushed(trial: &Trial) -> bool {
    let ios = trial.write.as_ref().map_or(0, |write| write.ios);
    match trial.spec.sync.flush_every() {
        Some(every) => ios == 0 || u64::from(every) <= ios,
        None => trial.spec.sync.at_end() || trial.spec.sync.with_each_write(),
    }
}

fn verdict(trial: &Witnessed<'_>) -> Verdict {
    let witnesses = &trial.witnesses;
    let issued_bytes = witnesses.issued_write_bytes;
    let abstain = |why: NoWitness| Verdict::NotChecked(Reason::new(About::Device, why));
    let (dirty, taken) = (witnesses.dirty_after_bytes, witnesses.block_layer_write_bytes);
    if dirty.is_none() && taken.is_none() {
        return abstain(trial.missing());
    }
    if issued_bytes < JUDGED_BYTES_MIN {
        return abstain(NoWitness::TooSmall { issued_bytes, needed_bytes: JUDGED_BYTES_MIN });
    }
    let share = |bytes: u64| bytes as f64 / issued_bytes as f64;
    let reason = |why: cause::WriteBack| Reason::new(About::Device, why);
    if let Some(moved_bytes) = taken.filter(|&bytes| share(bytes) < TAKEN_SHARE_MIN) {
        return Verdict::Invalid(reason(cause::WriteBack::NotTaken { moved_bytes, issued_bytes }));
    }
    let dirty_after_bytes = dirty.unwrap_or(0);
    let dirty = reason(cause::WriteBack::Dirty { dirty_after_bytes, issued_bytes });
    match share(dirty_after_bytes) {
        kept if kept > DIRTY_VOID => Verdict::Invalid(dirty),
        kept if kept > DIRTY_DOUBT => Verdict::Warning(dirty),
        _ => Verdict::Pass,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_facts_are_what_the_device_took() {
        let mut trial = specimen::healthy(Rw::Write, 1 << 20, 1, 2000);
        trial.spec.direct = false;
        let (moved_bytes, issued_bytes) = (150 << 20, trial.witnesses.issued_write_bytes);
        trial.witnesses.block_layer_write_bytes = Some(moved_bytes);
        let run = specimen::run(trial);
        let facts = cause::WriteBack::NotTaken { moved_bytes, issued_bytes };
        let expected = Verdict::Invalid(Reason::new(About::Device, facts));
        assert_eq!(verdict(&counted::witnessed(&run.trials[0], &run)), expected);
    }
}
