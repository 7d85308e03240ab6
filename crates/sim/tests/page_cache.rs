//! The simulated page cache against its laws.

mod drive;

use drive::{closed_loop, device, random_blocks};
use iosonde_model::Op;
use iosonde_sim::{Ask, Device};

/// 60 us for a request of any size, QD 1, and 1 GB/s; a hit costs 2 us + 4,096 B / 10.24 GB/s = 2.4
/// us.
fn cached(host: &str) -> Device {
    device(
        &format!(
            "[host]\nrequest_cost = \"2us\"\ncopy_rate = \"10.24GB/s\"\n{host}\n\
             [link]\nbandwidth = \"1GB/s\"\n[queue]\nservers = 1\nservice = {{ fixed = \"60us\" }}"
        ),
        1,
    )
}

fn buffered(op: Op, block: u64, length_bytes: u32) -> Ask {
    Ask { tag: block, op, offset_bytes: block * u64::from(length_bytes), length_bytes, direct: false }
}

const MEBIBYTE: u64 = 1 << 20;

#[test]
fn what_is_held_costs_the_processor_alone() {
    let mut cache = cached("memory = \"256MiB\"\nreadahead = \"0\"");
    let cold_ns = closed_loop(&mut cache, 1, 100, |tag| buffered(Op::Read, tag, 4096));
    // 2 us + 60 us + 4,096 ns + 0.4 us each.
    assert_eq!(cold_ns, 100 * 66_496);
    assert_eq!(cache.resident_bytes(0..MEBIBYTE), Some(100 * 4096));
    let before = cache.counters();
    let mut done = Vec::new();
    cache.submit(cold_ns, buffered(Op::Read, 99, 4096));
    assert_eq!(drive::next_done(&mut cache, &mut done), cold_ns + 2_400);
    assert_eq!(cache.counters().read_bytes, before.read_bytes, "nothing moved below");
}

#[test]
fn random_reads_find_what_memory_holds_of_the_span() {
    // 64 MiB of memory, 160 MiB of span: 40 % found.
    let mut cache = cached("memory = \"64MiB\"");
    let blocks = 160 * MEBIBYTE / 4096;
    let mut ask = random_blocks(Op::Read, blocks, 4096, 3);
    let mut buffered_ask = |tag| Ask { direct: false, ..ask(tag) };
    let warm_ns = closed_loop(&mut cache, 1, 150_000, &mut buffered_ask);
    let before = cache.counters();
    // A second run begins where the first ended: time only goes on.
    assert!(warm_ns > 0);
    closed_loop_from(&mut cache, warm_ns, 200_000, &mut buffered_ask);
    let moved = cache.counters().read_bytes - before.read_bytes;
    let found = 1.0 - moved as f64 / (200_000.0 * 4096.0);
    // Binomial: one deviation is sqrt(0.4 x 0.6 / 200,000) = 0.11 %.
    assert!((found - 0.4).abs() < 0.004, "{found}");
    assert_eq!(cache.resident_bytes(0..160 * MEBIBYTE), Some(64 * MEBIBYTE));
}

/// One at a time from a moment on.
fn closed_loop_from(
    device: &mut Device,
    start_ns: u64,
    requests: u64,
    mut ask: impl FnMut(u64) -> Ask,
) -> u64 {
    let (mut now_ns, mut done) = (start_ns, Vec::new());
    for tag in 0..requests {
        device.submit(now_ns, ask(tag));
        now_ns = drive::next_done(device, &mut done);
        done.clear();
    }
    now_ns
}

#[test]
fn reads_in_sequence_come_a_window_at_a_time() {
    let mut cache = cached("memory = \"256MiB\"\nreadahead = \"128KiB\"");
    // The first read is alone (66,496 ns); from the second on, windows of 32 pages: 60 us + 131,072 ns, and
    // 32 times 2.4 us of processor.
    let window_ns = 60_000 + 131_072 + 32 * 2_400;
    let end_ns = closed_loop(&mut cache, 1, 1 + 32 * 50, |tag| buffered(Op::Read, tag, 4096));
    assert_eq!(end_ns, 66_496 + 50 * window_ns);
    assert_eq!(cache.counters().read_bytes, (1 + 32 * 50) * 4096);
}

#[test]
fn readers_of_one_absent_page_fetch_it_once() {
    let mut cache = cached("memory = \"256MiB\"\nreadahead = \"128KiB\"");
    let pages = 1 + 32 * 40;
    closed_loop(&mut cache, 32, pages, |tag| buffered(Op::Read, tag, 4096));
    assert_eq!(cache.counters().read_bytes, pages * 4096);
    let mut again = cached("memory = \"256MiB\"");
    closed_loop(&mut again, 64, 6_400, |_| buffered(Op::Read, 7, 4096));
    assert_eq!(again.counters().read_bytes, 4096);
}

#[test]
fn a_file_just_written_is_read_from_memory_unless_direct_io_is_honoured() {
    // The macOS report: written through the cache, then read with F_NOCACHE in strides.
    let moved = |direct: &str| {
        let mut cache = cached(&format!("memory = \"512MiB\"\ndirect = \"{direct}\""));
        let written_ns = closed_loop(&mut cache, 1, 64, |tag| buffered(Op::Write, tag, 1 << 20));
        let mut strided = |tag| Ask { direct: true, ..buffered(Op::Read, tag * 16 % 16_384, 4096) };
        let end_ns = closed_loop_from(&mut cache, written_ns, 1_000, &mut strided);
        (cache.counters().read_bytes, end_ns - written_ns)
    };
    // From memory: 1,000 x 2.4 us, 25 times what the device could do.
    assert_eq!(moved("nocache"), (0, 2_400_000));
    assert_eq!(moved("ignored"), (0, 2_400_000));
    assert_eq!(moved("honoured").0, 1_000 * 4096);
}

#[test]
fn nocache_keeps_nothing_that_it_fetched() {
    let mut cache = cached("memory = \"256MiB\"\ndirect = \"nocache\"");
    closed_loop(&mut cache, 1, 100, |tag| Ask { direct: true, ..buffered(Op::Read, tag, 4096) });
    assert_eq!(cache.resident_bytes(0..MEBIBYTE), Some(0));
}

#[test]
fn a_direct_write_drops_what_is_held() {
    let mut cache = cached("memory = \"256MiB\"\nreadahead = \"0\"");
    closed_loop(&mut cache, 1, 10, |tag| buffered(Op::Read, tag, 4096));
    let now_ns = cache.next_event_ns().unwrap_or(1_000_000_000);
    closed_loop_from(&mut cache, now_ns, 1, |tag| Ask { direct: true, ..buffered(Op::Write, tag, 8192) });
    assert_eq!(cache.resident_bytes(0..MEBIBYTE), Some(8 * 4096));
}

#[test]
fn a_short_burst_of_writes_is_memory_and_moves_later() {
    // Limit 20 % of 1 GiB; half of it, 102.4 MiB, may lie about. 100 writes of 1 MiB: 2 us + 102.4 us each.
    let mut cache = cached("memory = \"1GiB\"");
    let end_ns = closed_loop(&mut cache, 1, 100, |tag| buffered(Op::Write, tag, 1 << 20));
    assert_eq!(end_ns, 100 * 104_400);
    assert_eq!(cache.counters().write_bytes, 0);
    let mut done = Vec::new();
    // 30 s after the first they are written: 100 x (60 us + 1.05 ms) later nothing is left to do.
    cache.reap(29_000_000_000, &mut done);
    assert_eq!(cache.counters().write_bytes, 0);
    cache.reap(31_000_000_000, &mut done);
    assert_eq!(cache.counters().write_bytes, 100 * MEBIBYTE);
    assert_eq!(cache.next_event_ns(), None);
    assert_eq!(cache.resident_bytes(0..200 * MEBIBYTE), Some(100 * MEBIBYTE));
}

#[test]
fn a_long_run_of_writes_goes_at_the_devices_pace() {
    // 64 MiB of memory, 12.8 MiB of it dirty at most; 600 MiB written at 1 GB/s (the queue's 60 us overlap
    // with the transfer of the next): 629 ms, less the 12.8 MiB (2.1 %) that are still in memory at the end.
    let mut cache = cached("memory = \"64MiB\"");
    let end_ns = closed_loop(&mut cache, 1, 600, |tag| buffered(Op::Write, tag, 1 << 20));
    let ratio = end_ns as f64 / (600.0 * MEBIBYTE as f64 * (1.0 - 12.8 / 600.0));
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_flush_sends_what_was_dirty_and_does_not_wait_for_what_came_later() {
    let mut cache = cached("memory = \"1GiB\"");
    let written_ns = closed_loop(&mut cache, 1, 10, |tag| buffered(Op::Write, tag, 1 << 20));
    let flush = Ask { tag: 77, op: Op::Flush, offset_bytes: 0, length_bytes: 0, direct: false };
    cache.submit(written_ns, flush);
    cache.submit(written_ns, buffered(Op::Write, 50, 1 << 20));
    let mut done = Vec::new();
    while done.iter().all(|one: &iosonde_sim::Done| one.tag != 77) {
        drive::next_done(&mut cache, &mut done);
    }
    let took_ns = done.iter().find(|one| one.tag == 77).unwrap().at_ns - written_ns;
    // 10 MiB at 1 GB/s overlap with all 60 us but the last, and the flush itself: 2 us of processor, 1 us below. The
    // eleventh write stays in memory.
    assert!((10_485_760..10_620_000).contains(&took_ns), "{took_ns}");
    assert_eq!(cache.counters().write_bytes, 10 * MEBIBYTE);
    // Nothing dirty: nothing to wait for.
    let mut clean = cached("memory = \"1GiB\"");
    clean.submit(0, flush);
    // The page cache has no processor work to do for it: the queue's 1 us, and the program's 2 us.
    assert_eq!(drive::next_done(&mut clean, &mut Vec::new()), 3_000);
}

#[test]
fn a_trim_drops_pages_written_or_not() {
    let mut cache = cached("memory = \"1GiB\"");
    let now_ns = closed_loop(&mut cache, 1, 4, |tag| buffered(Op::Write, tag, 1 << 20));
    let trim = Ask { op: Op::Trim, offset_bytes: 100, length_bytes: 2 << 20, ..buffered(Op::Write, 0, 0) };
    closed_loop_from(&mut cache, now_ns, 1, |_| trim);
    // The first page is only grazed, and so is the last.
    assert_eq!(cache.resident_bytes(0..4 * MEBIBYTE), Some(2 * MEBIBYTE + 4096));
    cache.reap(100_000_000_000, &mut Vec::new());
    assert_eq!(cache.counters().write_bytes, 2 * MEBIBYTE + 4096);
}

#[test]
fn the_run_that_is_being_written_is_not_sent_half_done() {
    // 1 % of 1 GiB may wait; the device takes 20 ms for a request of any size: the writer is mostly held back, and yet
    // each page goes down once, by whole runs of 1 MiB.
    for length_bytes in [1_000, 1_024, 4_096, 40_960] {
        let mut slow = device(
            "[host]\nrequest_cost = \"2us\"\ncopy_rate = \"2GB/s\"\nmemory = \"1GiB\"\ndirty_limit = \"1%\"\n\
             [queue]\nservers = 1\nservice = { fixed = \"20ms\" }",
            1,
        );
        closed_loop(&mut slow, 1, (50 << 20) / u64::from(length_bytes), |tag| {
            buffered(Op::Write, tag, length_bytes)
        });
        let (bytes, requests) = (slow.counters().write_bytes, slow.counters().write_requests);
        assert!(
            requests > 35 && bytes == requests * MEBIBYTE,
            "{length_bytes} B: {requests} requests, {bytes} B"
        );
    }
}
