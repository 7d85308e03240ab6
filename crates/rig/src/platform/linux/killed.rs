//! Processes that have been killed and have not ended: the kernel waits for storage that does not answer.
//!
//! Such a process runs no instruction of its program any more, but its locks and open files are still there.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt,
};

/// Bits of `flags` in proc(5): the thread is being taken down (`PF_EXITING` of the kernel), or a signal ends it
/// (`PF_SIGNALED`). Between the two the kernel waits for the requests of its rings (`io_uring_files_cancel()`).
const ENDING: u64 = 0x4 | 0x400;
const KILL: u64 = 1 << (libc::SIGKILL - 1);

/// True if no thread of a process runs its program any more. False where the kernel does not tell.
pub fn is_killed(process: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return false };
    let mut threads = threads.flatten().peekable();
    threads.peek().is_some()
        && threads.all(|thread| match fs::read_to_string(thread.path().join("stat")) {
            Ok(stat) => ends(&stat).unwrap_or(false),
            // It has ended since.
            Err(_) => true,
        })
}

/// Whether a thread ends as soon as the kernel lets it, by its line in `/proc`.
fn ends(stat: &str) -> Option<bool> {
    // The name may have any letter in it, brackets and blanks, too.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let state = *fields.first()?;
    Some(matches!(state, "Z" | "X") || number(9)? & ENDING != 0 || number(31)? & KILL != 0)
}

/// True if a flock on the file is held, by killed processes alone.
pub fn locked_by_the_killed(file: &File) -> bool {
    let Ok(found) = file.metadata() else { return false };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let device = format!("{:02x}:{:02x}", rustix::fs::major(found.dev()), rustix::fs::minor(found.dev()));
    let holders = holders(&locks, &device, found.ino());
    !holders.is_empty() && holders.into_iter().all(is_killed)
}

/// Processes that hold a flock on a file. The device's number is not always what `stat` gives (Btrfs): where none is
/// that one, all files of this number are meant, on whatever device.
fn holders(locks: &str, device: &str, inode: u64) -> Vec<u32> {
    let of = |line: &str| {
        // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF`; one that waits has an arrow before it.
        let fields: Vec<&str> = line.split_ascii_whitespace().skip(1).collect();
        let [kind, _, _, process, place, ..] = fields[..] else { return None };
        let (on, number) = place.rsplit_once(':')?;
        (kind == "FLOCK" && number.parse() == Ok(inode)).then(|| (on == device, process.parse().unwrap_or(0)))
    };
    let all: Vec<(bool, u32)> = locks.lines().filter_map(of).collect();
    let exact = all.iter().any(|(same, _)| *same);
    all.into_iter().filter(|(same, _)| *same || !exact).map(|(_, process)| process).collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// A thread's line whose name has brackets and blanks in it.
    fn line(state: &str, flags: u64, pending: u64) -> String {
        let zeros = "0 ".repeat(21);
        format!("77 (a) b (c)) {state} 1 1 1 0 -1 {flags} {zeros}{pending} 0 0 0")
    }

    #[test]
    fn a_thread_that_runs_its_program_no_more_is_told_from_one_that_does() {
        let cases = [("S", 0, 0, false), ("D", 0x40_0040, 1, false), ("Z", 0, 0, true), ("X", 0, 0, true)];
        for (state, flags, pending, ended) in cases.into_iter().chain([
            ("D", 0x40_0044, 0, true),
            ("S", 0x40_0440, 0, true),
            ("D", 0, 256, true),
        ]) {
            assert_eq!(ends(&line(state, flags, pending)), Some(ended), "{state} {flags} {pending}");
        }
        assert_eq!(ends("77 (a) S 1"), None);
    }

    #[test]
    fn a_process_that_runs_is_not_killed_and_one_that_was_is() {
        assert!(!is_killed(std::process::id()) && !is_killed(u32::MAX));
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert!(!is_killed(child.id()));
        child.kill().unwrap();
        // It has ended then, and stands in /proc until it is waited for.
        let id = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
        let until = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(id), until).unwrap();
        assert!(is_killed(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn a_lock_is_its_holders() {
        let locks = "1: POSIX  ADVISORY  READ 12 fe:00:131 0 EOF\n2: FLOCK  ADVISORY  WRITE 13 fe:00:131 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 14 fe:00:131 0 EOF\n3: FLOCK  ADVISORY  READ 15 00:1d:132 0 EOF\n\
                     4: FLOCK  ADVISORY  READ 0 00:1d:131 0 EOF\n";
        assert_eq!(holders(locks, "fe:00", 131), [13]);
        assert_eq!(holders(locks, "00:2a", 131), [13, 0]);
        assert_eq!(holders(locks, "fe:00", 133), [0; 0]);
        // Held by this process, which lives.
        let file = tempfile::tempfile().unwrap();
        assert!(!locked_by_the_killed(&file));
        file.lock().unwrap();
        assert!(!locked_by_the_killed(&file));
    }
}
