//! What every engine does alike: bytes arrive, come back, become durable, go away, and errors are results.

#![allow(unsafe_code)]

use std::{fs::File, os::unix::fs::MetadataExt, sync::Arc};

use iosonde_model::{LoopNote, Op, Sync};
use iosonde_rig::engine::{self, ENGINES, Request, Storage};

mod desk;
mod support;

use desk::{BLOCK, Scratch, cached_pages, real_engines, skip};

const SYNCED: Sync = Sync::Fdatasync { every: 1 };

/// Runs a test with every engine that works, buffered and direct.
fn with_every_engine(blocks: u32, depth: u32, sync: Sync, test: impl Fn(&str, &Scratch, desk::Desk)) {
    for direct in [false, true] {
        for name in real_engines() {
            let what = format!("{name}, {}", if direct { "direct" } else { "buffered" });
            let Some(scratch) = Scratch::new(blocks, direct) else {
                skip(&what, "no direct I/O on the temporary files' file system");
                continue;
            };
            match scratch.desk(&name, depth, sync) {
                Ok(desk) => test(&what, &scratch, desk),
                Err(why) => skip(&what, why),
            }
        }
    }
}

#[test]
fn what_is_written_is_there_and_comes_back() {
    with_every_engine(64, 8, Sync::None, |what, scratch, mut desk| {
        // Block n gets the number 63 - n, from the last to the first.
        for number in (0..64).rev() {
            let slot = number % desk.depth;
            desk.fill(slot, (63 - number) as u8);
            let offset_bytes = u64::from(number) * u64::from(BLOCK);
            let request = Request { slot, op: Op::Write, length_bytes: BLOCK, offset_bytes };
            assert_eq!(desk.send(&[request])[0].result, BLOCK as i32, "{what}");
        }
        assert_eq!(scratch.numbers(), (0..64).rev().collect::<Vec<u8>>(), "{what}");
        for first in (0..64).step_by(desk.depth as usize) {
            (0..desk.depth).for_each(|slot| desk.fill(slot, 0xee));
            let results = desk.blocks(Op::Read, first..first + desk.depth);
            assert!(results.iter().all(|&result| result == BLOCK as i32), "{what}: {results:?}");
            for slot in 0..desk.depth {
                assert_eq!(desk.bytes(slot), vec![(63 - first - slot) as u8; BLOCK as usize], "{what}");
            }
        }
    });
}

#[test]
fn a_whole_depth_is_in_flight_at_once_and_each_comes_back_once() {
    with_every_engine(64, 64, Sync::None, |what, _, mut desk| {
        let results = desk.blocks(Op::Read, 0..64);
        assert_eq!(results, vec![BLOCK as i32; 64], "{what}");
        if desk.depth == 64 {
            (0..64).for_each(|slot| assert_eq!(desk.bytes(slot)[0], slot as u8, "{what}"));
        }
    });
}

/// A thread that falls asleep while a request comes would leave it until another one comes: `send` then waits in vain.
#[test]
fn threads_leave_no_request_behind() {
    let scratch = Scratch::new(64, false).unwrap();
    for depth in [2, 3, 8, 64] {
        let mut desk = scratch.desk("threads", depth, Sync::None).unwrap();
        let request = |slot| {
            let offset_bytes = u64::from(slot) * u64::from(BLOCK);
            Request { slot, op: Op::Read, length_bytes: BLOCK, offset_bytes }
        };
        for batch in 0..10_000 {
            // Alone, all together, and what lies between.
            let requests: Vec<Request> = (0..batch % depth + 1).map(request).collect();
            let done = desk.send(&requests);
            assert!(done.iter().all(|one| one.result == BLOCK as i32), "{depth}, {batch}");
        }
        let (user_s, system_s) = desk.engine.end_threads().unwrap();
        assert!(user_s + system_s > 0.0, "their processor time is known");
    }
}

#[test]
fn a_flush_leaves_nothing_dirty() {
    for sync in [Sync::Fsync { every: 1 }, SYNCED] {
        with_every_engine(16, 4, sync, |what, scratch, mut desk| {
            let Some(_) = cached_pages(scratch.descriptor()) else {
                return skip(what, "this kernel cannot tell what is dirty (cachestat)");
            };
            desk.blocks(Op::Write, 0..16);
            // `dontcache` starts writing back at once.
            if !scratch.direct && !what.contains("dontcache") {
                let (_, dirty) = cached_pages(scratch.descriptor()).unwrap();
                assert_eq!(dirty, 16, "{what}: the test must find something to flush");
            }
            assert_eq!(desk.flush(), 0, "{what}");
            assert_eq!(cached_pages(scratch.descriptor()).unwrap().1, 0, "{what}");
            // Nothing to flush is no error.
            assert_eq!(desk.flush(), 0, "{what}");
        });
    }
}

#[test]
fn with_dsync_and_osync_each_write_is_durable_when_it_completes() {
    for sync in [Sync::Dsync, Sync::Osync] {
        with_every_engine(16, 4, sync, |what, scratch, mut desk| {
            assert_eq!(desk.blocks(Op::Write, 0..16), vec![BLOCK as i32; 16], "{what}");
            match cached_pages(scratch.descriptor()) {
                Some((_, dirty)) => assert_eq!(dirty, 0, "{what}"),
                None => skip(what, "this kernel cannot tell what is dirty (cachestat)"),
            }
        });
    }
}

#[test]
fn a_trimmed_range_reads_zeros_and_holds_no_blocks() {
    with_every_engine(64, 8, Sync::None, |what, scratch, mut desk| {
        let before = scratch.file.as_file().metadata().unwrap();
        let results = desk.blocks(Op::Trim, 16..48);
        if results[0] == -libc::EOPNOTSUPP {
            return skip(what, "the temporary files' file system punches no holes");
        }
        assert_eq!(results, vec![BLOCK as i32; 32], "{what}: a trim reports its length");
        let after = scratch.file.as_file().metadata().unwrap();
        assert_eq!(after.len(), before.len(), "{what}");
        // st_blocks counts 512 bytes; a file system may keep a block for its own use.
        let freed = (before.blocks() - after.blocks()) * 512;
        assert!(freed >= 31 * u64::from(BLOCK), "{what}: {freed} B were freed");
        let expected = (0..64).map(|n| if (16..48).contains(&n) { 0 } else { n });
        assert_eq!(scratch.numbers(), expected.collect::<Vec<u8>>(), "{what}");
        desk.fill(0, 0xee);
        assert_eq!(desk.blocks(Op::Read, [20]), [BLOCK as i32], "{what}");
        assert_eq!(desk.bytes(0), [0; BLOCK as usize], "{what}");
    });
}

#[test]
fn a_trimmed_range_of_a_block_device_reads_zeros() {
    let device = match support::Loop::new(4) {
        Ok(device) => device,
        Err(why) => return skip("trims of a block device", why),
    };
    for name in real_engines() {
        let mut scratch = Scratch::new(1, false).unwrap();
        scratch.open(&device.node);
        let mut desk = match scratch.desk(&name, 4, Sync::None) {
            Ok(desk) => desk,
            Err(why) => {
                skip(&format!("{name}, buffered"), why);
                continue;
            }
        };
        assert_eq!(desk.blocks(Op::Write, 1..9), [BLOCK as i32; 8], "{name}");
        assert_eq!(desk.blocks(Op::Trim, 3..7), [BLOCK as i32; 4], "{name}");
        let first = |number| {
            desk.fill(0, 0xee);
            assert_eq!(desk.blocks(Op::Read, [number]), [BLOCK as i32], "{name}");
            desk.bytes(0)[0]
        };
        assert_eq!((1..9).map(first).collect::<Vec<u8>>(), [1, 2, 0, 0, 0, 0, 7, 8], "{name}");
    }
}

#[test]
fn writes_to_a_read_only_descriptor_fail_one_by_one() {
    for name in real_engines() {
        let mut scratch = Scratch::new(16, false).unwrap();
        scratch.storage = Storage::File(Arc::new(File::open(scratch.path()).unwrap()));
        let mut desk = match scratch.desk(&name, 8, Sync::None) {
            Ok(desk) => desk,
            Err(why) => {
                skip(&name, why);
                continue;
            }
        };
        assert_eq!(desk.blocks(Op::Write, 0..16), [-libc::EBADF; 16], "{name}");
        assert_eq!(desk.blocks(Op::Trim, [3]), [-libc::EBADF], "{name}");
        // The engine is as good as before.
        assert_eq!(desk.blocks(Op::Read, 0..16), [BLOCK as i32; 16], "{name}");
        assert_eq!(scratch.numbers(), (0..16).collect::<Vec<u8>>(), "{name}");
    }
}

#[test]
fn reads_past_the_end_come_back_short() {
    with_every_engine(2, 1, Sync::None, |what, _, mut desk| {
        assert_eq!(desk.blocks(Op::Read, 1..4), [BLOCK as i32, 0, 0], "{what}");
    });
}

#[test]
fn polling_an_idle_engine_returns_at_once_with_nothing() {
    with_every_engine(2, 4, Sync::None, |what, _, mut desk| {
        let mut done = Vec::with_capacity(4);
        desk.engine.reap(0, &mut done).unwrap();
        assert_eq!(done, [], "{what}");
        // A wait has an end, too: nothing is outstanding that could end it.
        desk.engine.reap(1_000_000, &mut done).unwrap();
        assert_eq!(done, [], "{what}");
    });
}

#[test]
fn null_completes_everything_and_touches_nothing() {
    let scratch = Scratch::new(4, false).unwrap();
    let mut desk = scratch.desk("null", 128, Sync::None).unwrap();
    assert_eq!(desk.notes, [LoopNote::NothingMoved]);
    for op in [Op::Read, Op::Write, Op::Trim] {
        assert_eq!(desk.blocks(op, 0..128), [BLOCK as i32; 128]);
    }
    assert_eq!(desk.flush(), 0);
    assert_eq!(scratch.numbers(), [0, 1, 2, 3]);
}

#[test]
fn a_depth_that_is_not_to_be_had_is_refused_with_the_reason() {
    let scratch = Scratch::new(4, false).unwrap();
    let reasons = [
        ("psync", 2, "--jobs"),
        ("mmap", 2, "--jobs"),
        ("io_uring", 32_769, "at most 32768, not 32769"),
        ("libaio", 1 << 30, "fs.aio-max-nr"),
        ("threads", 1025, "at most 1024, not 1025"),
    ];
    for (name, depth, reason) in reasons {
        let kind = ENGINES.find(name).unwrap();
        let abilities = match kind.probe(&scratch.storage) {
            Ok(abilities) => abilities,
            Err(why) => {
                skip(name, why);
                continue;
            }
        };
        let why = abilities.refuse_depth(name, depth).unwrap_err().to_string();
        assert!(why.starts_with(name) && why.contains(reason), "{why}");
        assert!(abilities.refuse_depth(name, abilities.depth_max).is_ok());
    }
}

#[test]
fn engines_that_measure_something_else_are_never_chosen_unasked() {
    let by_themselves: Vec<&str> = ENGINES.iter().filter(|kind| kind.by_itself()).map(|k| k.name()).collect();
    assert_eq!(by_themselves, ["io_uring", "libaio", "threads", "psync", "sim"]);
}

#[test]
fn options_are_known_explained_and_refused_where_they_do_nothing() {
    let scratch = Scratch::new(4, false).unwrap();
    for kind in ENGINES.iter() {
        for option in kind.options() {
            assert!(option.explain.ends_with('.') && option.explain.len() > 20, "{}", option.name);
        }
    }
    for name in ["psync:hipri", "io_uring:iopoll"] {
        // Buffered: there is no device to poll.
        let why = engine::choose(&scratch.storage, Some(name)).err().unwrap().to_string();
        assert!(why.starts_with(name) && why.contains("direct"), "{why}");
    }
    let why = engine::choose(&scratch.storage, Some("mmap:sqpoll")).err().unwrap().to_string();
    assert_eq!(why, "mmap has no option `sqpoll`: it has random");
    let Some(direct) = Scratch::new(4, true) else { return skip("mmap", "no direct I/O here") };
    let why = engine::choose(&direct.storage, Some("mmap")).err().unwrap().to_string();
    assert!(why.contains("--buffered"), "{why}");
}

#[test]
fn dontcache_leaves_nothing_in_the_page_cache() {
    let scratch = Scratch::new(64, false).unwrap();
    for engine in ["psync", "io_uring"] {
        let name = format!("{engine}:dontcache");
        let mut desk = match scratch.desk(&name, 1, Sync::None) {
            Ok(desk) => desk,
            Err(why) => {
                skip(&name, why);
                continue;
            }
        };
        if cached_pages(scratch.descriptor()).is_none() {
            return skip(&name, "this kernel cannot tell what is cached (cachestat)");
        }
        forget(&scratch);
        desk.blocks(Op::Read, 0..64);
        assert_eq!(cached_pages(scratch.descriptor()).unwrap().0, 0, "{name}");
        let mut desk = scratch.desk(engine, 1, Sync::None).unwrap();
        desk.blocks(Op::Read, 0..64);
        assert_eq!(cached_pages(scratch.descriptor()).unwrap().0, 64, "{engine}");
    }
}

#[test]
fn atomic_writes_are_refused_where_the_kernel_promises_none() {
    let Some(direct) = Scratch::new(4, true) else { return skip("atomic writes", "no direct I/O here") };
    for engine in ["psync:atomic", "io_uring:atomic"] {
        match engine::choose(&direct.storage, Some(engine)) {
            // 4 KiB lies within the limits of all devices that have them.
            Ok(_) => {
                let mut desk = direct.desk(engine, 1, Sync::None).unwrap();
                assert_eq!(desk.blocks(Op::Write, 0..4), [BLOCK as i32; 4], "{engine}");
            }
            Err(why) => {
                let why = why.to_string();
                assert!(why.contains("atomic writes") || why.contains("io_uring is"), "{why}");
            }
        }
    }
    let buffered = Scratch::new(4, false).unwrap();
    assert!(engine::choose(&buffered.storage, Some("psync:atomic")).is_err());
}

#[test]
fn nowait_makes_what_would_wait_a_second_time_and_says_how_often() {
    let scratch = Scratch::new(64, false).unwrap();
    let mut desk = match scratch.desk("psync:nowait", 1, Sync::None) {
        Ok(desk) => desk,
        Err(why) => return skip("psync:nowait", why),
    };
    assert_eq!(desk.blocks(Op::Read, 0..64), [BLOCK as i32; 64]);
    assert_eq!(desk.engine.remarks(), [], "all of it was cached");
    // A read that must wait starts the kernel's read-ahead and then says that it would wait; on a busy processor the
    // data may be there before it says so (six of ten times beside three busy loops on two cores): 64 chances.
    for block in 0..64 {
        forget(&scratch);
        assert_eq!(desk.blocks(Op::Read, block..block + 1), [BLOCK as i32]);
    }
    let remarks = desk.engine.remarks();
    assert!(matches!(remarks[..], [LoopNote::MadeAgain { requests: 1.. }]), "{remarks:?}");
}

#[test]
fn a_sleeping_submission_thread_is_woken() {
    let scratch = Scratch::new(4, false).unwrap();
    let mut desk = match scratch.desk("io_uring:sqpoll", 4, Sync::None) {
        Ok(desk) => desk,
        Err(why) => return skip("io_uring:sqpoll", why),
    };
    for _ in 0..2 {
        assert_eq!(desk.blocks(Op::Read, 0..4), [BLOCK as i32; 4]);
        // Longer than the 100 ms for which the thread looks for work.
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    assert_eq!(desk.notes[0], LoopNote::KernelSubmits);
}

#[test]
fn buffered_libaio_says_that_the_storage_sees_one_at_a_time() {
    let scratch = Scratch::new(4, false).unwrap();
    match scratch.desk("libaio", 8, Sync::None) {
        Ok(desk) => assert_eq!(desk.notes, [LoopNote::OneAfterTheOther]),
        Err(why) => return skip("libaio", why),
    }
    assert!(ENGINES.find("libaio").unwrap().probe(&scratch.storage).unwrap().blocking);
    let Some(direct) = Scratch::new(4, true) else { return skip("libaio", "no direct I/O here") };
    assert_eq!(direct.desk("libaio", 8, Sync::None).unwrap().notes, []);
}

/// Drops a file from the page cache; what was just written must be on the disk for it.
fn forget(scratch: &Scratch) {
    scratch.descriptor().sync_all().unwrap();
    rustix::fs::fadvise(scratch.descriptor(), 0, None, rustix::fs::Advice::DontNeed).unwrap();
    assert_eq!(cached_pages(scratch.descriptor()).unwrap().0, 0, "the cache was emptied");
}
