//! Data that compresses or repeats, on storage that compresses or deduplicates.
//!
//! Looks at: what was written (`--payload`), who wrote the data that is read, and whether a layer below compresses
//! or deduplicates. Known layers: btrfs, f2fs or bcachefs mounted with compression, a file marked so or with
//! compressed parts, ZFS (which compresses by default), zram and VDO.
//!
//! Rule: zeros on such a layer are not stored at all: invalid. A payload of which a share compresses or repeats is
//! stored in less space: a warning, since the figure shows this saving and not the device. Zeros anywhere else are
//! a warning: some SSD controllers, most arrays and many hypervisors' images drop them silently. Random bytes pass;
//! reads of what this run filled with random bytes pass too. Reads of data from another source get a warning on a
//! layer that compresses.
//!
//! Verdict: about the device; the figures are those of this payload. Not checked in these cases:
//! - The storage below is hidden (a virtual machine's disk, a network), and the data came from another source,
//!   compresses or repeats.
//! - A file system that compresses single files does not say whether this one is compressed.
//! - Another tool's result does not say what was written on which storage.
//!
//! Example: fio's buffers are filled once and written again and again (without `refill_buffers`), which a
//! deduplicating layer stores once. `dd if=/dev/zero` measures how fast a compressing file system discards zeros.
//!
//! What to do: leave `--payload` at `random`, which neither compresses nor repeats. To learn what your data would
//! give, use a payload that compresses like it, and say so beside the figure.

use iosonde_model::{
    About, CheckName, Device, Op, Payload, Phase, Reason, Run, Scope, Trial, TrialSpec, Verdict,
    cause::{self, CompressingLayer, Saving},
};
#[cfg(test)]
use iosonde_model::{HidingLayer, Medium, Rw};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

pub(super) struct Compressible;

impl Check for Compressible {
    fn id(&self) -> CheckName {
        CheckName::Compressible
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let device = &run.info.device;
        let trial = judged::measuring(scope, run)?;
        let wrote_zeros = |spec: &TrialSpec| spec.rw.writes() && spec.payload == Payload::Zero;
        if run.info.is_imported() && trial.spec.streams().any(wrote_zeros) {
            let zeros = cause::Compressible::Zeros;
            return Some(Verdict::Warning(Reason::new(About::Device, zeros)));
        }
        if run.info.is_imported() {
            let unknown = cause::Compressible::Imported;
            return Some(Verdict::NotChecked(Reason::new(About::Device, unknown)));
        }
        Some(if trial.spec.has(Op::Write) { written(trial, device) } else { read(trial, run) })
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let btrfs = |options: &str| Device {
            file_system: Some("btrfs".into()),
            mount_options: Some(options.into()),
            medium: Medium::Flash,
            ..Device::unknown("directory", 1 << 30)
        };
        let writing = |device: Device, payload| {
            let mut trial = specimen::healthy(Rw::Write, 1 << 20, 8, 900);
            trial.spec.payload = payload;
            specimen::run_on(device, trial)
        };
        let unknown = || Device { medium: Medium::Flash, ..Device::unknown("directory", 1 << 30) };
        let plain = || Device { file_system: Some("ext4".into()), ..unknown() };
        let packed = || btrfs("rw,noatime,compress=zstd:3");
        let guest = || Device { unseen: vec![HidingLayer::VirtualMachineHost], ..plain() };
        let reading = |device: Device, filled: bool| {
            let mut run = if filled {
                specimen::filled(1 << 30, 0, specimen::usual())
            } else {
                specimen::run(specimen::usual())
            };
            run.info.device = device;
            run
        };
        Specimens {
            pass: vec![
                writing(packed(), Payload::Random),
                writing(btrfs("rw,noatime"), Payload::Random),
                writing(plain(), Payload::Compress { share: 0.5 }),
                reading(packed(), true),
                reading(plain(), false),
            ],
            warning: vec![
                writing(plain(), Payload::Zero),
                specimen::imported(writing(plain(), Payload::Zero).trials.remove(0)),
                writing(packed(), Payload::Compress { share: 0.5 }),
                reading(packed(), false),
                reading(Device { marked_compressed: Some(true), ..plain() }, false),
                lying_compressed(reading(plain(), false)),
            ],
            invalid: vec![writing(packed(), Payload::Zero)],
            not_checked: vec![
                reading(guest(), false),
                reading(btrfs("rw,noatime"), false),
                reading(unknown(), false),
                writing(guest(), Payload::Dedupe { share: 0.5 }),
                specimen::imported(specimen::usual()),
            ],
        }
    }
}

/// For a specimen: a quarter of what is read lies compressed.
#[cfg(test)]
fn lying_compressed(mut run: Run) -> Run {
    run.trials.iter_mut().for_each(|trial| trial.witnesses.compressed_bytes = Some(256 << 20));
    run
}

/// The layer that saves what it can; `None` where none is known.
fn saver(device: &Device, trial: &Trial) -> Option<CompressingLayer> {
    if let Some(compressed_bytes) = trial.witnesses.compressed_bytes.filter(|&bytes| bytes > 0) {
        return Some(CompressingLayer::CompressedExtents { compressed_bytes });
    }
    if device.marked_compressed == Some(true) {
        return Some(CompressingLayer::MarkedFile);
    }
    let options = device.mount_options.as_deref().unwrap_or_default();
    let option = |names: &[&str]| {
        let own = |option: &&str| names.iter().any(|name| option.split('=').next() == Some(name));
        options.split(',').find(own).filter(|option| !option.ends_with("=none") && !option.ends_with("=no"))
    };
    let mounted = |names: &[&str]| {
        let (file_system, option) = (device.file_system.clone()?, option(names)?.to_owned());
        Some(CompressingLayer::Mount { file_system, option })
    };
    match device.file_system.as_deref() {
        Some("btrfs") => mounted(&["compress", "compress-force"]),
        Some("f2fs") => mounted(&["compress_algorithm"]),
        Some("bcachefs") => mounted(&["compression"]),
        Some("zfs") => Some(CompressingLayer::Zfs),
        _ => None,
    }
    .or_else(|| {
        let zram = device.chain.iter().find(|name| name.starts_with("zram"));
        zram.map(|name| CompressingLayer::Zram { device: name.clone() })
    })
}

fn written(trial: &Trial, device: &Device) -> Verdict {
    let reason = |why: cause::Compressible| Reason::new(About::Device, why);
    let payloads = || trial.spec.streams().filter(|stream| stream.rw.writes()).map(|stream| stream.payload);
    let zero = payloads().any(|payload| payload == Payload::Zero);
    let saved = payloads().find_map(|payload| match payload {
        Payload::Compress { share } => Some((share, Saving::Compresses)),
        Payload::Dedupe { share } => Some((share, Saving::Repeats)),
        Payload::Both { compress, dedupe } => {
            Some((1.0 - (1.0 - compress) * (1.0 - dedupe), Saving::Compresses))
        }
        Payload::Random | Payload::Zero => None,
    });
    match (saver(device, trial), zero, saved) {
        (Some(layer), true, _) => Verdict::Invalid(reason(cause::Compressible::ZerosCompressed { layer })),
        (Some(layer), false, Some((saved_share, saving))) => {
            Verdict::Warning(reason(cause::Compressible::WrittenCompressed { layer, saved_share, saving }))
        }
        (None, true, _) => Verdict::Warning(reason(cause::Compressible::Zeros)),
        (None, false, Some((saved_share, saving))) if !device.unseen.is_empty() => {
            Verdict::NotChecked(reason(cause::Compressible::WrittenUnseen { saved_share, saving }))
        }
        _ => Verdict::Pass,
    }
}

/// Whether single files may lie compressed on this file system, or on one that nobody named, and nobody said whether
/// this one does.
fn may_be_packed(device: &Device, trial: &Trial) -> bool {
    let able = match device.file_system.as_deref() {
        Some(name) => matches!(name, "btrfs" | "f2fs" | "bcachefs"),
        // Only a bare device has none.
        None => device.kind != "block",
    };
    able && trial.witnesses.compressed_bytes.is_none()
}

/// Reads alone: what matters is who wrote what lies there.
fn read(trial: &Trial, run: &Run) -> Verdict {
    let own = |trial: &Trial| trial.phase == Phase::Prepare && trial.spec.has(Op::Write);
    // Filling comes first; looking no further keeps this cheap.
    if run.trials.iter().take_while(|trial| trial.phase == Phase::Prepare).any(own) {
        return Verdict::Pass;
    }
    let device = &run.info.device;
    let reason = |why: cause::Compressible| Reason::new(About::Device, why);
    match (saver(device, trial), device.unseen.is_empty()) {
        (Some(layer), _) => Verdict::Warning(reason(cause::Compressible::ReadCompressed { layer })),
        (None, false) => Verdict::NotChecked(reason(cause::Compressible::ReadUnseen)),
        (None, true) if may_be_packed(device, trial) => {
            Verdict::NotChecked(reason(cause::Compressible::ReadUnknown))
        }
        (None, true) => Verdict::Pass,
    }
}
