//! What would end a process or needs its limits changed: each in a process of its own.

#![allow(unsafe_code)]
// What a process of its own has to say goes to the test that started it.
#![allow(clippy::print_stdout)]

use std::{
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, Output},
};

use iosonde_model::{LoopNote, Op, Sync};
use iosonde_rig::engine::Request;

mod desk;
use desk::{BLOCK, Scratch, skip};

/// Set in the process that a test starts: the same test runs there, on the other side.
const INSIDE: &str = "IOSONDE_TEST_INSIDE";

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs this test again in a process of its own, after `before` in it.
fn in_a_process(test: &str, before: fn() -> std::io::Result<()>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    // SAFETY: `before` makes system calls alone.
    unsafe { command.pre_exec(before) };
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_file_cut_short_under_its_mapping_is_an_error_and_no_end() {
    let scratch = Scratch::new(64, false).unwrap();
    let mut desk = scratch.desk("mmap", 1, Sync::None).unwrap();
    assert_eq!(desk.blocks(Op::Read, 0..64), [BLOCK as i32; 64]);
    scratch.file.as_file().set_len(u64::from(16 * BLOCK)).unwrap();
    assert_eq!(desk.blocks(Op::Read, 12..20)[..], [[BLOCK as i32; 4], [-libc::EIO; 4]].concat());
    assert_eq!(desk.blocks(Op::Write, 12..20)[..], [[BLOCK as i32; 4], [-libc::EIO; 4]].concat());
    // A second time too: no empty page of ours is left where the file is missing.
    assert_eq!(desk.blocks(Op::Read, 16..20), [-libc::EIO; 4]);
    assert_eq!(desk.engine.remarks(), [LoopNote::BusErrors { requests: 12 }]);
    // Longer again, the file is there again.
    scratch.file.as_file().set_len(u64::from(64 * BLOCK)).unwrap();
    desk.fill(0, 0xee);
    assert_eq!(desk.blocks(Op::Read, [18]), [BLOCK as i32]);
    assert_eq!(desk.bytes(0), [0; BLOCK as usize]);
    assert_eq!(desk.blocks(Op::Write, [18]), [BLOCK as i32]);
    assert_eq!(scratch.numbers()[15..20], [15, 0, 0, 18, 0]);
}

#[test]
fn one_request_over_the_end_of_a_cut_file_fails_as_a_whole() {
    let scratch = Scratch::new(4, false).unwrap();
    let mut desk = scratch.desk("mmap", 1, Sync::None).unwrap();
    scratch.file.as_file().set_len(u64::from(BLOCK)).unwrap();
    let (length_bytes, offset_bytes) = (BLOCK, u64::from(BLOCK) / 2);
    let request = Request { slot: 0, op: Op::Read, length_bytes, offset_bytes };
    assert_eq!(desk.send(&[request])[0].result, -libc::EIO);
    assert_eq!(desk.blocks(Op::Read, [0, 1]), [BLOCK as i32, -libc::EIO]);
}

#[test]
fn a_bus_error_that_is_not_ours_still_ends_the_process() {
    if is_inside() {
        let (ours, theirs) = (Scratch::new(4, false).unwrap(), Scratch::new(4, false).unwrap());
        let mut desk = ours.desk("mmap", 1, Sync::None).unwrap();
        assert_eq!(desk.blocks(Op::Read, [0]), [BLOCK as i32]);
        let (protection, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
        // SAFETY: a new mapping; reading it after the file is gone is what this test is about.
        unsafe {
            let start =
                rustix::mm::mmap(std::ptr::null_mut(), 4096, protection, flags, theirs.descriptor(), 0);
            let start = start.unwrap();
            theirs.file.as_file().set_len(0).unwrap();
            println!("read {}", start.cast::<u8>().read_volatile());
        }
        return;
    }
    let output = in_a_process("a_bus_error_that_is_not_ours_still_ends_the_process", || Ok(()));
    assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{}", text(&output));
}

/// As an ordinary user's shell may have it: enough locked memory for a ring, too little for its buffers.
fn lock_little() -> std::io::Result<()> {
    const CAP_IPC_LOCK: libc::c_ulong = 14;
    let little = libc::rlimit { rlim_cur: 128 << 10, rlim_max: 128 << 10 };
    // SAFETY: both calls change this process alone; they fail where the right is not held anyway.
    unsafe {
        libc::setrlimit(libc::RLIMIT_MEMLOCK, &little);
        libc::prctl(libc::PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0);
    }
    Ok(())
}

#[test]
fn without_locked_memory_buffers_stay_unregistered_and_that_is_noted() {
    if is_inside() {
        let scratch = Scratch::new(64, false).unwrap();
        match scratch.desk("io_uring", 64, Sync::None) {
            Ok(mut desk) => {
                assert_eq!(desk.blocks(Op::Read, 0..64), [BLOCK as i32; 64]);
                println!("notes: {:?}", desk.notes);
            }
            Err(why) => println!("refused: {why}"),
        }
        return;
    }
    let test = "without_locked_memory_buffers_stay_unregistered_and_that_is_noted";
    let output = in_a_process(test, lock_little);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    if said.contains("refused: ") {
        return skip(test, said);
    }
    assert!(said.contains("UnregisteredBuffers"), "{said}");
}
