//! Simulated flash against its laws.

mod drive;

use drive::{closed_loop, device, next_done, random_blocks, read};
use iosonde_model::{FindingName, Op};
use iosonde_sim::{Ask, Device, DeviceFile, StartState, Truth, truths};

const UNITS: &str = "[flash]\nunits = 32\nstripe = \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\n\
    read = \"60us\"\nprogram = \"600us\"\n";
const KIB: u64 = 1024;

fn at(op: Op, offset_bytes: u64, length_bytes: u64) -> Ask {
    Ask { tag: 0, op, offset_bytes, length_bytes: length_bytes as u32, direct: true }
}

/// How long one request takes when the device has nothing else to do.
fn alone(device: &mut Device, now_ns: u64, ask: Ask) -> u64 {
    device.submit(now_ns, ask);
    let mut done = Vec::new();
    next_done(device, &mut done);
    done[0].at_ns - now_ns
}

#[test]
fn a_read_senses_whole_pages_in_parallel() {
    let took = |offset, length| alone(&mut device(UNITS, 1), 0, at(Op::Read, offset, length));
    assert_eq!(took(0, 512), 60_000);
    assert_eq!(took(0, 16 * KIB), 60_000);
    // Two pages on two units, and 32 on 32; the 33rd is the first unit's second.
    assert_eq!(took(16 * KIB - 512, 1024), 60_000);
    assert_eq!(took(0, 512 * KIB), 60_000);
    assert_eq!(took(0, 528 * KIB), 120_000);
}

#[test]
fn addresses_spread_evenly_reach_the_closed_form_and_one_unit_alone_a_thirty_second() {
    let rate = |stride: u64| {
        let ask = |tag: u64| at(Op::Read, tag * stride % (512 << 20), 4 * KIB);
        32_000.0 * 1e9 / closed_loop(&mut device(UNITS, 1), 32, 32_000, ask) as f64
    };
    // 32 / 60 us = 533,333; every 512 KiB is the same unit: 1 / 60 us.
    assert!((rate(16 * KIB) / 533_333.3 - 1.0).abs() < 1e-6);
    assert!((rate(512 * KIB) / 16_666.7 - 1.0).abs() < 1e-4);
}

#[test]
fn random_addresses_queue_at_each_unit_apart() {
    // Reference: 59 % at QD 32, 88 % at QD 128, 94 % at QD 256.
    for (depth, share) in [(32, 0.59), (128, 0.88), (256, 0.94)] {
        let ask = random_blocks(Op::Read, 262_144, 4096, 7);
        let end_ns = closed_loop(&mut device(UNITS, 1), depth, 1_000_000, ask);
        let reached = 1_000_000.0 * 1e9 / end_ns as f64 / 533_333.3;
        assert!((reached - share).abs() < 0.01, "QD {depth}: {reached}");
    }
}

#[test]
fn without_a_buffer_a_write_programs_every_page_it_touches() {
    let took = |offset, length| alone(&mut device(UNITS, 1), 0, at(Op::Write, offset, length));
    assert_eq!(took(0, 4 * KIB), 600_000);
    assert_eq!(took(0, 512 * KIB), 600_000);
    // Half a mapping unit: the page is sensed first, then programmed.
    assert_eq!(took(0, 2 * KIB), 660_000);
}

#[test]
fn a_full_block_costs_an_erase() {
    let toml = format!("{UNITS}erase = \"3ms\"\npages_per_block = 4\n");
    let mut chips = device(&toml, 1);
    // One unit, 12 programs: the 5th and the 9th find a full block.
    let end_ns = closed_loop(&mut chips, 1, 12, |_| at(Op::Write, 0, 16 * KIB));
    assert_eq!(end_ns, 12 * 600_000 + 2 * 3_000_000);
    assert_eq!((chips.counters().erased_blocks, chips.counters().programmed_bytes), (2, 12 * 16 * KIB));
}

#[test]
fn a_large_mapping_unit_is_read_and_rewritten_whole() {
    // A USB stick: one unit, 16 KiB pages, mapping unit 1 MiB: 4 KiB rewrites 64 pages after sensing 64.
    let stick = UNITS.replace("units = 32", "units = 1").replace("\"4KiB\"", "\"1MiB\"");
    let mut stick = device(&stick, 1);
    assert_eq!(alone(&mut stick, 0, at(Op::Write, 8 * KIB, 4 * KIB)), 64 * 660_000);
    assert_eq!(stick.counters().programmed_bytes, 1 << 20);
    assert_eq!(stick.counters().write_bytes, 4 * KIB);
}

/// 4 MiB of buffer over units that program 32 x 16 KiB / 600 us = 873.8 MB/s.
fn buffered(drain: &str) -> Device {
    device(&format!("{UNITS}write_buffer = {{ size = \"4MiB\", latency = \"12us\"{drain} }}\n"), 1)
}

#[test]
fn a_burst_goes_into_the_buffer_and_a_long_run_at_the_programs_pace() {
    let mut burst = buffered("");
    // 1,000 x 4 KiB fit; at QD 1 they take the buffer's latency.
    assert_eq!(closed_loop(&mut burst, 1, 1_000, random_blocks(Op::Write, 65_536, 4096, 3)), 12_000_000);
    // Written in sequence, 16 at a time: the units' pace, with 4 MiB still in the buffer at the end.
    let mut long = buffered("");
    let ask = |tag: u64| at(Op::Write, tag * 64 * KIB, 64 * KIB);
    let end_ns = closed_loop(&mut long, 16, 10_000, ask);
    let bytes = (10_000 * 64 * KIB - (4 << 20)) as f64;
    let rate = bytes * 1e9 / end_ns as f64;
    assert!((rate / 873_813_333.0 - 1.0).abs() < 0.005, "{rate}");
}

#[test]
fn small_random_writes_are_gathered_into_whole_pages() {
    let mut chips = buffered("");
    let end_ns = closed_loop(&mut chips, 64, 200_000, random_blocks(Op::Write, 65_536, 4096, 3));
    // Nearly every program is a whole page, so nothing is amplified; 64 units' tails at the end are 1 MiB.
    let counters = chips.counters();
    let amplified = counters.programmed_bytes as f64 / (counters.write_bytes - (4 << 20)) as f64;
    assert!((amplified - 1.0).abs() < 0.01, "{amplified}");
    // Random addresses leave units idle now and then: more than 90 % of the pace of addresses in sequence.
    let rate = (200_000.0 * 4096.0 - 4_194_304.0) * 1e9 / end_ns as f64;
    assert!(rate > 0.90 * 873_813_333.0 && rate < 873_813_333.0 * 1.001, "{rate}");
}

#[test]
fn the_drain_sets_what_lasts() {
    let mut slow = buffered(", drain = \"480MB/s\"");
    let end_ns = closed_loop(&mut slow, 16, 10_000, |tag| at(Op::Write, tag * 64 * KIB, 64 * KIB));
    let rate = (10_000 * 64 * KIB - (4 << 20)) as f64 * 1e9 / end_ns as f64;
    assert!((rate / 480e6 - 1.0).abs() < 0.002, "{rate}");
}

#[test]
fn a_buffer_smaller_than_its_open_pages_still_moves() {
    // 64 KiB of buffer, 32 units: 16 writes of 4 KiB fill it without filling a page anywhere.
    let toml = format!("{UNITS}write_buffer = {{ size = \"64KiB\", latency = \"12us\" }}\n");
    let mut tiny = device(&toml, 1);
    closed_loop(&mut tiny, 4, 500, |tag| at(Op::Write, tag * 16 * KIB, 4 * KIB));
    assert_eq!(tiny.counters().write_bytes, 500 * 4096);
    // Larger than the whole buffer.
    let mut done = Vec::new();
    tiny.submit(10_000_000_000, at(Op::Write, 0, 1 << 20));
    next_done(&mut tiny, &mut done);
    assert_eq!(done[0].result, 1 << 20);
}

#[test]
fn a_read_waits_for_one_program_at_most() {
    let mut chips = buffered("");
    // Everything on unit 0, 64 pages deep.
    closed_loop(&mut chips, 64, 64, |tag| at(Op::Write, tag * 512 * KIB, 16 * KIB));
    let now_ns = 12_000;
    let took = alone(&mut chips, now_ns, at(Op::Read, 0, 4096));
    // The program under way began at 0 and ends at 600 us.
    assert_eq!(took, 600_000 - now_ns + 60_000);
}

#[test]
fn what_was_read_lately_is_answered_from_the_cache() {
    let mut cached = device(&format!("{UNITS}read_cache = {{ size = \"32MiB\", latency = \"8us\" }}\n"), 1);
    assert_eq!(alone(&mut cached, 0, read(0, 4096)), 60_000);
    assert_eq!(alone(&mut cached, 1_000_000, read(0, 4096)), 8_000);
}

/// A log of 256 MiB on 4 units: blocks of 64 pages, 4 KiB mapping.
fn log(gc: &str) -> Device {
    let text = format!(
        "name = \"log\"\ncapacity = \"256MiB\"\n\
         [flash]\nunits = 4\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\n\
         erase = \"3ms\"\npages_per_block = 64\nplacement = \"log\"\ngc = \"{gc}\"\nspare = \"28%\"\n\
         write_buffer = {{ size = \"1MiB\", latency = \"12us\" }}\n"
    );
    Device::new(&DeviceFile::parse(&text, "log").unwrap(), 1)
}

#[test]
fn a_full_log_slows_down_to_what_collecting_leaves() {
    let mut chips = log("fifo");
    let blocks = 65_536;
    let mut random = random_blocks(Op::Write, blocks, 4096, 5);
    // Written once in sequence, then four times over at random.
    let mut ask = |tag: u64| if tag < blocks { at(Op::Write, tag * 4096, 4096) } else { random(tag) };
    let warm_ns = drive::closed_loop_between(&mut chips, 64, 0, 5 * blocks, &mut ask);
    let before = chips.counters();
    let end_ns = drive::closed_loop_between(&mut chips, 64, warm_ns, 2 * blocks, |tag| ask(tag + blocks));
    let after = chips.counters();
    // 28 % spare of 64 blocks a unit and 1.2 of working room are 84 whole blocks: 82.8 / 64 = 1.294, and
    // (u - 1) / ln u = 1 / 1.294 for u = 0.5838. Everything is written 2.403 times.
    let amplified = (after.programmed_bytes - before.programmed_bytes) as f64 / (2 * blocks * 4096) as f64;
    assert!((amplified / 2.403 - 1.0).abs() < 0.02, "{amplified}");
    let all = truths(chips.file());
    let of_writes =
        |truth: &&Truth| truth.finding == FindingName::MaxIops && truth.conditions.op == Some(Op::Write);
    let rate = all.iter().find(of_writes);
    let measured = 2.0 * blocks as f64 * 1e9 / (end_ns - warm_ns) as f64;
    let off = measured / rate.unwrap().value.unwrap() - 1.0;
    assert!(off.abs() < 0.03, "{measured}, {off:+.4} off");
}

#[test]
fn a_log_finds_what_it_wrote_where_it_wrote_it() {
    let mut chips = log("greedy");
    // 16 mapping units far apart, written one after another: four pages on four units.
    let written_ns = closed_loop(&mut chips, 1, 16, |tag| at(Op::Write, tag << 20, 4096));
    let mut done = Vec::new();
    let later_ns = written_ns + 1_000_000_000;
    (0..16).for_each(|tag| chips.submit(later_ns, at(Op::Read, tag << 20, 4096)));
    while done.len() < 16 {
        let now_ns = chips.next_event_ns().unwrap();
        chips.reap(now_ns, &mut done);
    }
    // Each unit senses its page four times: 4 x 60 us. Static placement would have had all 16 on one unit.
    assert_eq!(done.last().unwrap().at_ns - later_ns, 240_000);
}

#[test]
fn impossible_logs_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = "name = \"log\"\ncapacity = \"256MiB\"\n[flash]\nunits = 4\npage = \"16KiB\"\n\
            mapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\npages_per_block = 64\n\
            placement = \"log\"\nspare = \"28%\"\nwrite_buffer = { size = \"1MiB\", latency = \"12us\" }\n";
        assert!(DeviceFile::parse(text, "log").is_ok());
        DeviceFile::parse(&text.replace(from, to), "log").unwrap_err().to_string()
    };
    assert!(
        refused("\"28%\"", "\"1%\"")
            .contains("spare = 1% cannot be: each unit needs at least three blocks more")
    );
    assert!(refused("\"256MiB\"", "\"20TB\"").contains("up to 4,294,967,294 mapping units"));
    let slc = "spare = \"28%\"\nslc = { size = \"1GiB\", program = \"100us\", fold = \"idle 1s\" }";
    assert!(refused("spare = \"28%\"", &slc.replace("100us", "700us")).contains("in less than `program`"));
    assert!(refused("spare = \"28%\"", &slc.replace("idle 1s", "often")).contains("neither \"idle TIME\""));
    assert!(refused("spare = \"28%\"", &slc.replace("1GiB", "16KiB")).contains("one page of each unit"));
    assert!(refused("spare", "state = \"stable\"\nspare").contains("`stable` is no state"));
    assert!(refused("spare", "scale = 0\nspare").contains("scale = 0 cannot be"));
    assert!(
        refused("placement = \"log\"", "placement = \"static\"\nscale = 8")
            .contains("scale = 8 cannot be: only")
    );
    assert!(refused("mapping_unit = \"4KiB\"", "mapping_unit = \"64KiB\"").contains("it must divide a page"));
    assert!(refused("program = \"600us\"", "program = \"0us\"").contains("infinitely often"));
    assert!(
        refused("page = \"16KiB\"", "page = \"16KiB\"\nstripe = \"24KiB\"")
            .contains("a whole number of pages")
    );
}

#[test]
fn a_flush_waits_for_what_was_there_when_it_came() {
    let toml = format!("{UNITS}write_buffer = {{ size = \"4MiB\", latency = \"12us\", flush = \"1ms\" }}\n");
    let mut chips = device(&toml, 1);
    let flush = Ask { tag: 7, op: Op::Flush, offset_bytes: 0, length_bytes: 0, direct: true };
    // Nothing to wait for: the flush alone.
    assert_eq!(alone(&mut chips, 0, flush), 1_000_000);
    // A page that is not full is programmed as it is: 600 us, and the flush.
    let written_ns = 10_000_000 + alone(&mut chips, 10_000_000, at(Op::Write, 0, 4 * KIB));
    assert_eq!(alone(&mut chips, written_ns, flush), 600_000 + 1_000_000);
    // Three pages on one unit take three programs; a fourth that comes after the flush is not waited for.
    let now_ns = 20_000_000;
    (0..3).for_each(|k| chips.submit(now_ns, at(Op::Write, k * 512 * KIB, 16 * KIB)));
    chips.submit(now_ns + 15_000, flush);
    chips.submit(now_ns + 15_000, at(Op::Write, 3 * 512 * KIB, 16 * KIB));
    let mut done = Vec::new();
    chips.reap(now_ns + 100_000_000, &mut done);
    let flushed = done.iter().find(|one| one.tag == 7).unwrap();
    assert_eq!((flushed.at_ns, flushed.result), (now_ns + 3 * 600_000 + 1_000_000, 0));
    // Without a buffer whatever was acknowledged is there.
    assert_eq!(alone(&mut device(UNITS, 1), 0, flush), 1_000);
}

#[test]
fn reading_what_was_given_back_senses_nothing() {
    for mut chips in [device(UNITS, 1), log("greedy")] {
        let written_ns = alone(&mut chips, 0, at(Op::Write, 0, 64 * KIB));
        let mut now_ns = written_ns + 100_000_000;
        let mut took = |op, offset, length| {
            now_ns += 100_000_000;
            alone(&mut chips, now_ns, at(op, offset, length))
        };
        assert_eq!(took(Op::Read, 0, 16 * KIB), 60_000);
        assert_eq!(took(Op::Trim, 0, 32 * KIB), 1_000);
        assert_eq!(took(Op::Read, 0, 32 * KIB), 1_000);
        // What was not given back is still there, and what is written anew is there again.
        assert_eq!(took(Op::Read, 32 * KIB, 16 * KIB), 60_000);
        took(Op::Write, 0, 16 * KIB);
        assert_eq!(took(Op::Read, 0, 16 * KIB), 60_000);
    }
}

#[test]
fn trimming_half_of_a_full_log_halves_what_collecting_copies() {
    let amplified = |trims: bool| {
        let file = log("greedy").file().in_state(StartState::Filled { share: 1.0 }).unwrap();
        let mut chips = Device::new(&file, 1);
        let mut now_ns = 0;
        if trims {
            now_ns = closed_loop(&mut chips, 1, 128, |tag| at(Op::Trim, (128 + tag) << 20, 1 << 20));
        }
        // Over and over again over the first half.
        let before = chips.counters();
        drive::closed_loop_between(
            &mut chips,
            64,
            now_ns,
            200_000,
            random_blocks(Op::Write, 32_768, 4096, 5),
        );
        let after = chips.counters();
        (after.programmed_bytes - before.programmed_bytes) as f64 / (200_000.0 * 4096.0)
    };
    // 128 MiB in 327.7 MiB of flash: u = 0.12 at (u - 1) / ln u = 0.39, so 1.13.
    assert!((amplified(true) - 1.10).abs() < 0.06, "{}", amplified(true));
    assert!(amplified(false) > 1.5, "{}", amplified(false));
}

/// 128 MiB of fast cache before units that program 873.8 MB/s, four times as fast into the cache.
fn cached(fold: &str) -> Device {
    device(
        &format!(
            "{UNITS}write_buffer = {{ size = \"4MiB\", latency = \"12us\", drain = \"400MB/s\" }}\n\
             slc = {{ size = \"128MiB\", program = \"150us\", fold = \"{fold}\" }}\n"
        ),
        1,
    )
}

/// Bytes a second of writes in sequence from a moment on, `requests` of 64 KiB; and when they end.
fn write_rate(chips: &mut Device, from_ns: u64, first: u64, requests: u64) -> (f64, u64) {
    let ask = |tag: u64| at(Op::Write, (first + tag) * 64 * KIB % (512 << 20), 64 * KIB);
    let end_ns = drive::closed_loop_between(chips, 16, from_ns, requests, ask);
    ((requests * 64 * KIB) as f64 * 1e9 / (end_ns - from_ns) as f64, end_ns)
}

#[test]
fn a_fast_cache_takes_its_size_and_then_the_dense_cells_pace_rules() {
    let mut chips = cached("idle 1s");
    // 32 x 16 KiB / 150 us = 3.495 GB/s for the first 112 MiB (the buffer of 4 MiB makes it a little more).
    let (fast, now_ns) = write_rate(&mut chips, 0, 0, 1_792);
    assert!((fast / 3.495e9 - 1.0).abs() < 0.05, "{fast}");
    // Past the cache the drain decides.
    let (_, now_ns) = write_rate(&mut chips, now_ns, 1_792, 512);
    let (slow, now_ns) = write_rate(&mut chips, now_ns, 2_304, 3_200);
    assert!((slow / 400e6 - 1.0).abs() < 0.01, "{slow}");
    // Half a second of rest folds nothing; ten seconds fold all of it: 8,192 pages / 32 x 660 us = 0.17 s.
    let (still_slow, now_ns) = write_rate(&mut chips, now_ns + 500_000_000, 0, 512);
    assert!(still_slow < 600e6, "{still_slow}");
    let (fast_again, _) = write_rate(&mut chips, now_ns + 10_000_000_000, 0, 1_792);
    assert!((fast_again / 3.495e9 - 1.0).abs() < 0.05, "{fast_again}");
    assert!(chips.next_event_ns().is_some(), "there is something to fold");
}

#[test]
fn folding_stops_when_something_comes_and_ends_when_nothing_is_left() {
    let mut chips = cached("idle 100ms");
    let (_, now_ns) = write_rate(&mut chips, 0, 0, 1_792);
    let programmed = |chips: &Device| chips.counters().programmed_bytes;
    let written = programmed(&chips);
    let mut done = Vec::new();
    // A read in the middle of folding waits for one page at most, and folding for another 100 ms.
    chips.reap(now_ns + 150_000_000, &mut done);
    let folded = programmed(&chips) - written;
    assert!(folded > 20 << 20 && folded < 100 << 20, "{folded}");
    let took = alone(&mut chips, now_ns + 150_000_000, at(Op::Read, 0, 4 * KIB));
    assert!(took <= 660_000 + 60_000, "{took}");
    chips.reap(now_ns + 240_000_000, &mut done);
    assert!(programmed(&chips) - written <= folded + (32 << 14), "it goes on folding");
    chips.reap(now_ns + 10_000_000_000, &mut done);
    // Nearly all of the 112 MiB: what the buffer still gathered came later.
    assert!(programmed(&chips) - written >= 111 << 20);
    assert_eq!(chips.next_event_ns(), None);
}

#[test]
fn a_cache_that_folds_when_full_passes_every_page_on() {
    let toml = format!(
        "{UNITS}write_buffer = {{ size = \"4MiB\", latency = \"12us\" }}\n\
         slc = {{ size = \"64MiB\", program = \"150us\", fold = \"full\" }}\n"
    );
    let mut chips = device(&toml, 1);
    let (_, now_ns) = write_rate(&mut chips, 0, 0, 1_200);
    let (slow, _) = write_rate(&mut chips, now_ns, 1_200, 3_200);
    // 32 x 16 KiB / (60 + 600 + 150 us) = 647 MB/s, and the truth says so.
    assert!((slow / 647.27e6 - 1.0).abs() < 0.01, "{slow}");
    let all = truths(chips.file());
    let sustained = all.iter().find(|truth| truth.finding == FindingName::SustainedRate).unwrap();
    assert!((sustained.value.unwrap() / 647.27e6 - 1.0).abs() < 1e-4, "{sustained:?}");
    let bursts: Vec<_> = all.iter().filter(|truth| truth.finding == FindingName::BurstRate).collect();
    assert!((bursts[1].value.unwrap() / 3.4953e9 - 1.0).abs() < 1e-4, "{bursts:?}");
}

/// A drive of terabytes with 16 units, blocks of 256 pages and 15 % spare.
fn terabytes(capacity: &str, rest: &str) -> DeviceFile {
    let text = format!(
        "name = \"large\"\ncapacity = \"{capacity}\"\n\
         [flash]\nunits = 16\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\n\
         program = \"600us\"\nerase = \"3ms\"\npages_per_block = 256\nplacement = \"log\"\n\
         gc = \"greedy\"\nspare = \"15%\"\nwrite_buffer = {{ size = \"1GiB\", latency = \"12us\" }}\n{rest}\n"
    );
    DeviceFile::parse(&text, "large").unwrap()
}

/// Random writes of 4 KiB over a whole device: amplification and rate, after a buffer's worth.
fn steady_writes(file: &DeviceFile, seed: u64) -> (f64, f64) {
    let mut chips = Device::new(file, seed);
    let mut ask = random_blocks(Op::Write, file.capacity_bytes() / 4096, 4096, seed);
    let warm_ns = closed_loop(&mut chips, 64, 100_000, &mut ask);
    let before = chips.counters();
    let requests = 600_000;
    let end_ns = drive::closed_loop_between(&mut chips, 64, warm_ns, requests, ask);
    let programmed = chips.counters().programmed_bytes - before.programmed_bytes;
    (programmed as f64 / (requests * 4096) as f64, requests as f64 * 1e9 / (end_ns - warm_ns) as f64)
}

#[test]
fn a_scaled_drive_does_what_the_whole_one_would_at_every_scale() {
    // 2 TB: the smallest that is left has half a million pages. Half of that scale is twice as large.
    let small = terabytes("2TB", "state = \"steady\"");
    let by = small.scale().unwrap();
    let large = terabytes("2TB", &format!("state = \"steady\"\nscale = {}", (by / 2.0) as u64));
    assert!((small.capacity_bytes() as f64 * by / 2e12 - 1.0).abs() < 1e-6);
    assert!((large.scale().unwrap() / (by / 2.0) - 1.0).abs() < 0.03, "{:?} {by}", large.scale());
    let (amplified_small, rate_small) = steady_writes(&small, 3);
    let (amplified_large, rate_large) = steady_writes(&large, 4);
    let rate = |file| {
        truths(file)
            .into_iter()
            .find(|t| t.finding == FindingName::MaxIops && t.conditions.op == Some(Op::Write))
    };
    for (file, amplified, measured) in
        [(&small, amplified_small, rate_small), (&large, amplified_large, rate_large)]
    {
        // The law for blocks of 1,024 slots at 15 %: 4.00 times; fifo would be 4.01.
        assert!((amplified / 4.00 - 1.0).abs() < 0.02, "{amplified}");
        let closed = rate(file).unwrap().value.unwrap();
        assert!((measured / closed - 1.0).abs() < 0.02, "{measured} for {closed}");
    }
    assert!(
        (rate_small / rate_large - 1.0).abs() < 0.02
            && (amplified_small / amplified_large - 1.0).abs() < 0.02
    );
}

#[test]
fn a_drive_of_terabytes_begins_fresh_and_whole_and_is_scaled_once_it_is_full() {
    let fresh = terabytes("2TB", "");
    assert_eq!((fresh.capacity_bytes(), fresh.scale()), (2_000_000_000_000, None));
    // Fresh: nothing to collect, though the last byte is written.
    let mut chips = Device::new(&fresh, 1);
    closed_loop(&mut chips, 16, 10_000, |tag| at(Op::Write, (tag * 199_999_000) / 4096 * 4096, 4096));
    assert_eq!(chips.counters().erased_blocks, 0);
    let filled = fresh.in_state(StartState::Filled { share: 1.0 }).unwrap();
    let scale = filled.scale().unwrap();
    assert!(scale > 100.0 && filled.capacity_bytes() < 16 << 30, "{scale}");
    // So it is for a run that writes all of it, and not for one that writes a part.
    let written = |bytes: u64| fresh.written_to(bytes).unwrap().scale();
    assert_eq!((written(2_000_000_000_000), written(64 << 30)), (Some(scale), None));
    // What a small device needs no help with stays as it is.
    assert_eq!(terabytes("20GB", "state = \"steady\"").scale(), None);
}
