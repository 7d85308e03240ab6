//! Least power: what a confined thread can still do. Each test confines threads of its own, for good.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr, unsafe_code)]

use std::{
    fs, io,
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
};

use iosonde_rig::confine::{confine, with_least_power};

/// landlock_create_ruleset(2) says which version a kernel has.
fn has_landlock_of(least: libc::c_long, which: &str) -> bool {
    const VERSION: u32 = 1;
    // SAFETY: without a rule set the call reads no memory and makes nothing.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    if version < least {
        eprintln!("skipped: the kernel has no Landlock of version {least}, which knows {which}: {version}");
    }
    version >= least
}

fn has_landlock() -> bool {
    has_landlock_of(3, "truncating")
}

fn on_a_thread<R: Send>(what: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(what).join().unwrap())
}

fn refused(result: io::Result<()>) {
    let kind = result.unwrap_err().kind();
    assert_eq!(kind, io::ErrorKind::PermissionDenied);
}

fn status(name: &str) -> String {
    let text = fs::read_to_string("/proc/thread-self/status").unwrap();
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
}

/// Every way to change what is in a folder, but for those of root alone.
fn changes(folder: &Path) -> Vec<io::Result<()>> {
    let old = folder.join("old");
    vec![
        fs::write(folder.join("new"), "x"),
        fs::OpenOptions::new().append(true).open(&old).map(drop),
        fs::OpenOptions::new().write(true).truncate(true).open(&old).map(drop),
        fs::create_dir(folder.join("folder")),
        std::os::unix::fs::symlink(&old, folder.join("link")),
        fs::hard_link(&old, folder.join("hard")),
        fs::rename(&old, folder.join("renamed")),
        fs::remove_file(folder.join("renamed")).or_else(|_| fs::remove_file(&old)),
    ]
}

#[test]
fn a_confined_thread_and_those_it_starts_change_nothing_elsewhere() {
    if !has_landlock() {
        return;
    }
    let (allowed, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&allowed, &other] {
        fs::write(folder.path().join("old"), "precious").unwrap();
    }
    let before = fs::OpenOptions::new().write(true).open(other.path().join("old")).unwrap();
    on_a_thread(|| {
        assert!(confine(&[allowed.path().to_owned(), "/nowhere/at/all".into()]));
        for _ in 0..2 {
            changes(other.path()).into_iter().for_each(refused);
        }
        on_a_thread(|| changes(other.path()).into_iter().for_each(refused));
        // Reading is what witnesses do, and what was open before stays so: the target.
        assert_eq!(fs::read_to_string(other.path().join("old")).unwrap(), "precious");
        assert_eq!(io::Write::write(&mut &before, b"m").unwrap(), 1);
        for change in changes(allowed.path()) {
            change.unwrap();
        }
    });
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(other.path().join("old")).unwrap(), "mrecious");
}

/// Neither from here nor to here.
#[test]
fn a_confined_thread_makes_and_takes_no_tcp_connection() {
    if !has_landlock_of(4, "the network") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let both = || [TcpStream::connect(address).map(drop), TcpListener::bind("127.0.0.1:0").map(drop)];
    for free in both() {
        free.unwrap();
    }
    on_a_thread(|| {
        assert!(confine(&[]));
        both().into_iter().for_each(refused);
        on_a_thread(|| both().into_iter().for_each(refused));
    });
}

#[test]
fn a_confined_thread_has_three_capabilities_at_most_and_gains_none() {
    // DAC_OVERRIDE, CHOWN and IPC_LOCK of linux/capability.h; SYS_ADMIN where rings need it.
    let admin = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|text| text.trim() == "1");
    let most = 1_u64 << 1 | 1 | 1 << 14 | u64::from(admin) << 21;
    on_a_thread(|| {
        let had = u64::from_str_radix(&status("CapPrm:"), 16).unwrap();
        confine(&[]);
        for set in ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"] {
            let has = u64::from_str_radix(&status(set), 16).unwrap();
            assert_eq!(has & !(most & had), 0, "{set} {has:x}");
        }
        assert!(!has_landlock() || status("NoNewPrivs:") == "1");
    });
}

#[test]
fn what_follows_outside_has_all_the_power_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let written = on_a_thread(|| {
        let inside = || fs::write(&report, "from inside").is_ok();
        let outside = |inside| (inside, fs::write(&report, "from outside").is_ok());
        with_least_power(Some(&[]), inside, outside).unwrap()
    });
    assert_eq!(written, (!has_landlock(), true));
}

/// Where each open is measured, Landlock would be measured with it.
#[test]
fn without_places_only_capabilities_are_given_up() {
    let admin = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|text| text.trim() == "1");
    let most = 1_u64 << 1 | 1 | 1 << 14 | u64::from(admin) << 21;
    let folder = tempfile::tempdir().unwrap();
    let (written, has) = on_a_thread(|| {
        let inside = || (fs::write(folder.path().join("made"), "x").is_ok(), status("CapEff:"));
        with_least_power(None, inside, |inside| inside).unwrap()
    });
    let has = u64::from_str_radix(&has, 16).unwrap();
    assert_eq!((written, has & !most), (true, 0), "{has:x}");
}
