//! Flushes that end before the medium can have kept anything.
//!
//! Looks at: workloads that make writes durable (`--sync`), the medium, and what the kernel says of the drive's cache.
//!
//! Rule on a disk that rotates: a write can be on the medium only when its place has passed under the head. The fastest
//! disks make 15,000 rotations per minute, 4 ms each, so that half of all commits take longer than 2 ms at least. A
//! median below that: something answers early. Rule on any drive with a volatile cache (`write back`): a flush is a
//! command to the drive and its answer, which takes 3 µs and more even where the drive has nothing to do; a mean below
//! that never left the computer. In another tool's result that is a warning on any drive.
//!
//! Verdict: a warning about the storage; its commits are as fast as measured, and may be lost at a power failure. Not
//! checked where the medium is hidden (a virtual machine's disk, a network): the host may answer flushes without
//! passing them on, and nothing here shows it. A flash drive that answers early is not seen either: with capacitors for
//! a power failure it may.
//!
//! Example: a disk behind a RAID controller in write-back mode without a battery; a program under `eatmydata`; a file
//! system mounted with `nobarrier`.
//!
//! What to do: look for a cache between program and medium (RAID controller, `nobarrier`, `eatmydata`, the host's cache
//! mode `unsafe`), and find out whether it outlives a power failure.

use iosonde_model::{About, CheckName, Reason, Run, Scope, Sync, Trial, Verdict, cause};
#[cfg(test)]
use iosonde_model::{Device, Medium, Rw};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Half a rotation of the fastest disks, 15,000 per minute.
const HALF_ROTATION_NS: f64 = 2e6;
/// A command to a drive and its answer, with nothing to do in between. A choice well below the 10 µs that a read of the
/// fastest drives takes (Optane), and above the time of a system call alone.
const COMMAND_NS: f64 = 3e3;

pub(super) struct EarlyFlush;

impl Check for EarlyFlush {
    fn id(&self) -> CheckName {
        CheckName::EarlyFlush
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let imported = run.info.is_imported();
        // Other tools time flushes and no commits; some of their files do not say how writes were flushed.
        let durable = |trial: &&Trial| match imported {
            true => trial.flush.as_ref().is_some_and(|flush| flush.latency_ns.mean.is_some()),
            false => trial.spec.sync != Sync::None && trial.commits().is_some(),
        };
        let own = judged::measuring(scope, run).filter(durable)?;
        if imported { Some(of_another_tool(own)) } else { Some(verdict(own, run)) }
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let on = |device: &Device, commit_ns: u64, flush_ns: u64| {
            specimen::run_on(device.clone(), committing(commit_ns, flush_ns))
        };
        let disk = Device { medium: Medium::Disk, ..Device::unknown("block", 1 << 30) };
        let write_back = Some("write back".to_owned());
        let drive =
            Device { medium: Medium::Flash, write_cache: write_back, ..Device::unknown("block", 1 << 30) };
        let guest = Device { medium: Medium::Virtual, ..Device::unknown("block", 1 << 30) };
        Specimens {
            pass: vec![on(&disk, 8_300_000, 8_000_000), on(&drive, 30_000, 12_000)],
            warning: vec![
                on(&disk, 200_000, 150_000),
                on(&drive, 3_000, 900),
                specimen::imported(committing(3_000, 214)),
            ],
            not_checked: vec![on(&guest, 60_000, 30_000), specimen::imported(committing(60_000, 30_000))],
            ..Specimens::default()
        }
    }
}

/// A writer whose every write is flushed.
#[cfg(test)]
fn committing(commit_ns: u64, flush_ns: u64) -> Trial {
    let mut trial = specimen::healthy(Rw::Write, 4096, 1, 1_000_000_000 / commit_ns);
    trial.spec.sync = Sync::Fdatasync { every: 1 };
    let direction = |ns: u64| specimen::direction(1000, 4096, ns);
    let [commit, flush] = [direction(commit_ns), direction(flush_ns)];
    trial.flush = Some(iosonde_model::Flush {
        ios: 1000,
        errors: 0,
        latency_ns: flush.latency_ns,
        histogram: flush.histogram,
        commit: Some(iosonde_model::Commits { latency_ns: commit.latency_ns, histogram: commit.histogram }),
    });
    trial
}

fn of_another_tool(trial: &Trial) -> Verdict {
    let reason = |cause| Reason::new(About::Device, cause);
    match trial.flush.as_ref().and_then(|flush| flush.latency_ns.mean) {
        Some(flush_ns_mean) if flush_ns_mean < COMMAND_NS => {
            Verdict::Warning(reason(cause::EarlyFlush::BeforeAnyDrive { flush_ns_mean }))
        }
        _ => Verdict::NotChecked(reason(cause::EarlyFlush::MediumHidden)),
    }
}

fn verdict(trial: &Trial, run: &Run) -> Verdict {
    let device = &run.info.device;
    let reason = |cause: cause::EarlyFlush| Reason::new(About::Device, cause);
    let every = trial.spec.sync.flush_every().unwrap_or(1);
    let commit_ns_p50 = trial.commits().and_then(|commits| commits.quantile_ns(0.5));
    let flush_ns_mean = trial.flush.as_ref().and_then(|flush| flush.latency_ns.mean);
    let volatile = device.write_cache.as_deref() == Some("write back");
    match (device.rotates(), commit_ns_p50, flush_ns_mean) {
        (Some(true), Some(commit_ns_p50), _) if every == 1 && commit_ns_p50 < HALF_ROTATION_NS => {
            Verdict::Warning(reason(cause::EarlyFlush::BeforeRotation {
                commit_ns_p50,
                half_rotation_ns: HALF_ROTATION_NS,
            }))
        }
        (_, _, Some(flush_ns_mean)) if volatile && flush_ns_mean < COMMAND_NS => {
            Verdict::Warning(reason(cause::EarlyFlush::BeforeCommand {
                flush_ns_mean,
                command_ns: COMMAND_NS,
            }))
        }
        (Some(_), ..) => Verdict::Pass,
        (None, ..) => Verdict::NotChecked(reason(cause::EarlyFlush::MediumHidden)),
    }
}
