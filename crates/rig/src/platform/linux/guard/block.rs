//! A block device.

use std::{fs::File, io, path::Path, sync::Arc};

use rustix::{
    fs::{FileType, FlockOperation, OFlags, flock},
    io::Errno,
};

use super::{
    held::is_held_by_this_program,
    identity::{identity, names, twins},
    inode::Inode,
    open::OpenedPath,
    signature::signature,
    users::{User, behind_loops, user_of_device},
};
use crate::guard::{Admitted, Destroy, Intent, Refusal, in_words, refusal::exchanged};
use crate::platform::TargetKind;
use crate::platform::linux::{BlockDevice, DeviceNumber, System};

pub(crate) fn admit(path: &Path, intent: &Intent) -> Result<Admitted, Refusal> {
    let found = OpenedPath::at(path)?;
    if found.kind() != FileType::BlockDevice {
        return Err(exchanged(path));
    }
    let shown = path.display();
    let system = System::real();
    let number = DeviceNumber::of(found.stat.st_rdev);
    let device = BlockDevice::by_number(&system, number)
        .ok_or_else(|| Refusal::new(format!("{shown} is a node without a device behind it ({number}).")))?;
    let size_bytes = device.size_bytes().ok_or_else(|| {
        Refusal::new(format!("{shown} holds no medium: its size is 0. Nothing to measure."))
    })?;
    let writable = intent.will_write();
    let file = if writable {
        open_writable(&system, path, &found, &device, size_bytes, intent)?
    } else {
        found.open_read_only().map_err(|error| not_opened(path, "read", &error))?
    };
    Ok(Admitted {
        file: Arc::new(file),
        path: path.to_owned(),
        kind: TargetKind::Block,
        own: None,
        more: Vec::new(),
        size_bytes,
        room_bytes: None,
        free_bytes: None,
        writable,
        notes: Vec::new(),
    })
}

/// Claims the device, judges it through the descriptor that will write, and keeps the claim.
fn open_writable(
    system: &System,
    path: &Path,
    found: &OpenedPath,
    device: &BlockDevice,
    size_bytes: u64,
    intent: &Intent,
) -> Result<File, Refusal> {
    if let Some(user) = user_of_device(system, device) {
        return Err(in_use(path, &user));
    }
    let behind =
        behind_loops(system, device).into_iter().find_map(|thing| intent.protects(|path| thing.is_at(path)));
    if let Some(what) = behind {
        let sentence =
            format!("{} writes to the file behind it, which is {what}. It was not touched.", path.display());
        return Err(Refusal::new(sentence).without_writing(path));
    }
    for twin in twins(system, device) {
        if let Some(user) = user_of_device(system, &twin) {
            let (shown, node) = (path.display(), twin.node());
            let sentence = format!(
                "{shown} has the same world-wide name as {}, which {user}. It was not touched.",
                node.display()
            );
            return Err(Refusal::new(sentence).without_writing(path));
        }
    }
    if device.number_attribute("ro") == Some(1) {
        let refusal =
            Refusal::new(format!("{} is read-only: the kernel takes no writes for it.", path.display()));
        return Err(refusal.without_writing(path));
    }
    let Some(destroy) = &intent.destroy else {
        // Nothing will be written, so nothing is claimed: only what stands there is looked up for the advice.
        let holds = found.open_read_only().and_then(|file| signature(&file, size_bytes));
        return Err(needs_word(system, path, device, &holds));
    };
    // O_EXCL on a block device is a claim, kept until the descriptor is closed: it fails while a mount, a
    // RAID array or another claim holds the device, its disk or one of its partitions, and nobody can mount
    // it meanwhile.
    let file = claimed(found, intent).map_err(|error| not_opened(path, "written", &error))?;
    // udev leaves locked devices alone; it may hold the lock for a moment itself, which harms nobody.
    let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
    let holds = signature(&file, size_bytes);
    match destroy {
        Destroy::Identity(typed) if names(system, device, typed) => Ok(file),
        Destroy::Identity(typed) => {
            let own = identity(system, device);
            let sentence = format!(
                "--destroy={typed} does not name {}, which is {own}. It was not touched.",
                path.display()
            );
            Err(overwrite(Refusal::new(sentence).without_writing(path), path, &own))
        }
        Destroy::Plain if matches!(holds, Ok(None)) => Ok(file),
        Destroy::Plain => Err(needs_word(system, path, device, &holds)),
    }
}

/// The device, claimed for this process, or for another host of the run on this machine.
fn claimed(found: &OpenedPath, intent: &Intent) -> io::Result<File> {
    match found.open(OFlags::RDWR | OFlags::EXCL) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) && intent.beside_host0 => {
            if is_held_by_this_program(Inode::of(&found.stat)) {
                found.open(OFlags::RDWR)
            } else {
                Err(error)
            }
        }
        claimed => claimed,
    }
}

fn needs_word(
    system: &System,
    path: &Path,
    device: &BlockDevice,
    holds: &io::Result<Option<&'static str>>,
) -> Refusal {
    let shown = path.display();
    let sentence = match holds {
        Ok(None) => format!("{shown} looks empty, and this would overwrite it. It was not touched."),
        Ok(Some(what)) => format!("{shown} holds {what}, and this would overwrite it. It was not touched."),
        Err(error) => format!(
            "{shown} could not be read ({}), so what it holds is unknown, and this would overwrite it.",
            in_words(error)
        ),
    };
    let refusal = Refusal::new(sentence).without_writing(path);
    match holds {
        Ok(None) => refusal.command("Overwrite everything on it", path, "--destroy"),
        _ => overwrite(refusal, path, &identity(system, device)),
    }
}

fn in_use(path: &Path, user: &User) -> Refusal {
    let refusal = Refusal::new(format!("{} {user}. It was not touched.", path.display()));
    let refusal = refusal.without_writing(path);
    match user {
        User::Mounted { at, read_only: false, .. } | User::Loop { at: Some(at), .. } => {
            refusal.command("Measure inside the file system", at, "")
        }
        _ => refusal,
    }
}

fn not_opened(path: &Path, verb: &str, error: &io::Error) -> Refusal {
    let shown = path.display();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::BUSY) => Refusal::new(format!(
                "{shown} is held by the kernel: mounted elsewhere, or part of a RAID array or volume. \
                 It was not touched."
            )).without_writing(path),
        Some(Errno::PERM) if rustix::process::geteuid().is_root() => Refusal::new(format!(
            "{shown} cannot be {verb}, not even by root ({}): a container or this machine's policy forbids it.",
            in_words(error)
        ))
        .hint("Measure inside a file system on it: name one of its directories."),
        Some(Errno::ACCESS | Errno::PERM) => {
            Refusal::new(format!("{shown} cannot be {verb} by this user ({}).", in_words(error)))
                .hint("Disks belong to root and often to the group `disk`; run it as one of them.")
        }
        Some(Errno::ROFS) => Refusal::new(format!("{shown} is read-only.")).without_writing(path),
        _ => Refusal::new(format!("{shown} cannot be {verb}: {}.", in_words(error))),
    }
}

fn overwrite(refusal: Refusal, path: &Path, identity: &str) -> Refusal {
    refusal.command("Overwrite everything on it", path, &format!("--destroy={identity}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mounted_device_is_refused_with_two_ways_out() {
        let user = User::Mounted { through: None, at: "/home".into(), read_only: false };
        let text = in_use(Path::new("/dev/sda"), &user).for_command("iosonde run full").to_string();
        let want = "/dev/sda holds a mounted file system (/home). It was not touched.\n\
                    \x20 Measure it without writing:      iosonde run full /dev/sda --read-only\n\
                    \x20 Measure inside the file system:  iosonde run full /home";
        assert_eq!(text, want);
    }

    #[test]
    fn a_read_only_mount_offers_no_writing_inside() {
        let user = User::Mounted { through: None, at: "/cd".into(), read_only: true };
        assert_eq!(in_use(Path::new("/dev/sr0"), &user).advice.len(), 1);
    }

    #[test]
    fn a_device_held_by_nobody_we_can_see_is_still_held() {
        let text = not_opened(Path::new("/dev/sdb"), "written", &io::Error::from_raw_os_error(libc::EBUSY))
            .to_string();
        assert!(text.contains("held by the kernel") && text.contains("--read-only"), "{text}");
    }
}
