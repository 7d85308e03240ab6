//! Where io_uring is forbidden, as in many containers, another engine measures instead, and the reader is told.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]
#![allow(unsafe_code)]

use std::sync::Arc;

use iosonde_model::LoopNote;
use iosonde_rig::engine::{Storage, choose};

/// Forbids io_uring_setup to this thread, as a container's filter does.
fn forbid_io_uring() -> bool {
    let jump = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        // The system call's number is the first word of seccomp_data.
        jump(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        jump(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: both calls read their arguments only; the filter applies to this thread alone and lasts until it ends.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter) == 0
    }
}

#[test]
fn another_engine_takes_over_and_says_so() {
    std::thread::spawn(|| {
        let storage = Storage::File(Arc::new(tempfile::tempfile().unwrap()));
        if !forbid_io_uring() {
            eprintln!("skipped: this kernel accepts no seccomp filter");
            return;
        }
        let chosen = choose(&storage, None).map_err(|e| e.to_string()).ok().unwrap();
        assert_eq!((chosen.kind.name(), chosen.abilities.blocking), ("threads", false));
        let Some(LoopNote::OtherEngine { engine, refused }) = chosen.note else { panic!("it says so") };
        assert!(engine == "threads" && refused[0].contains("io_uring is forbidden"), "{refused:?}");
        // Buffered requests of libaio run one after the other: it takes over direct ones alone.
        let file = tempfile::tempfile().unwrap();
        let flags = rustix::fs::fcntl_getfl(&file).unwrap() | rustix::fs::OFlags::DIRECT;
        if rustix::fs::fcntl_setfl(&file, flags).is_ok() {
            let chosen =
                choose(&Storage::File(Arc::new(file)), None).map_err(|e| e.to_string()).ok().unwrap();
            assert_eq!(chosen.kind.name(), "libaio");
        } else {
            eprintln!("skipped: no direct I/O on the temporary files' file system");
        }
        // Asked for by name it is an error, not a silent change of engine.
        assert!(choose(&storage, Some("io_uring")).is_err());
    })
    .join()
    .unwrap();
}
