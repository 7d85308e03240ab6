//! Whatever is asked of whatever device: every request is answered once, in order of time, the same way each
//! time.

use iosonde_model::Op;
use iosonde_sim::{Ask, Counters, Device, DeviceFile, Done, builtin, builtin_names};
use proptest::prelude::*;

/// A request, and how long after the one before it.
fn any_ask() -> impl Strategy<Value = (u64, Ask)> {
    // Offsets anywhere near the beginning, so that requests meet, or anywhere at all; aligned or not.
    let offset = prop_oneof![(0u64..64).prop_map(|block| block * 4096), 0u64..1 << 20, 0u64..1 << 43];
    let length = prop_oneof![Just(4096u32), Just(131_072), 0u32..3_000_000];
    let op =
        prop_oneof![4 => Just(Op::Read), 4 => Just(Op::Write), 1 => Just(Op::Trim), 1 => Just(Op::Flush)];
    (0u64..2_000_000, op, offset, length, any::<bool>()).prop_map(
        |(gap_ns, op, offset_bytes, length_bytes, direct)| {
            let place = if op == Op::Flush { (0, 0) } else { (offset_bytes, length_bytes) };
            (gap_ns, Ask { tag: 0, op, offset_bytes: place.0, length_bytes: place.1, direct })
        },
    )
}

fn run(file: &DeviceFile, asks: &[(u64, Ask)]) -> (Vec<Done>, Counters) {
    let mut device = Device::new(file, 7);
    let mut now_ns = 0;
    for (tag, (gap_ns, ask)) in asks.iter().enumerate() {
        now_ns += gap_ns;
        device.submit(now_ns, Ask { tag: tag as u64, ..*ask });
    }
    let mut done = Vec::new();
    while let Some(event_ns) = device.next_event_ns() {
        device.reap(event_ns, &mut done);
    }
    (done, device.counters())
}

/// Parts that no built-in device has.
const UNUSUAL: &str = "name = \"unusual\"\ncapacity = \"64MiB\"\n\
    [host]\nrequest_cost = { read = \"1us\", write = \"2us\" }\nmemory = \"64MiB\"\ncopy_rate = \"10GB/s\"\n\
    direct = \"ignored\"\ndirty_limit = \"1%\"\nrun_effect = 0.1\npoint_run_effect = 0.1\n\
    [throttle]\niops = 5000\n\
    [network]\nround_trip = \"101us\"\nbandwidth = \"118MB/s\"\nserver_cache = \"1MiB\"\n\
    [link]\nbandwidth = \"1GB/s\"\nduplex = false\nmax_transfer = \"64KiB\"\nslots = 5\n\
    [thermal]\nafter = \"5ms at full rate\"\nfactor = 0.5\nrecover = \"1ms\"\n\
    [noise]\nlatency_cv = 0.3\npoint_run_effect = 0.1\n\
    neighbour = { every = \"20ms\", for = \"5ms\", takes = \"80%\" }\n\
    [faults]\nstuck = { at = \"10ms\", for = \"20ms\" }\n\
    [flash]\nunits = 3\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\n\
    erase = \"1ms\"\npages_per_block = 4\nplacement = \"log\"\ngc = \"fifo\"\nspare = \"10%\"\n\
    write_buffer = { size = \"100KiB\", latency = \"9us\", drain = \"300MB/s\", flush = \"40us\" }\n\
    slc = { size = \"1MiB\", program = \"100us\", fold = \"idle 3ms\" }\nstate = \"filled:80%\"\n\
    read_cache = { size = \"1MiB\", latency = \"8us\" }\n";

/// A disk with unusual values.
const UNUSUAL_DISK: &str = "name = \"unusual-disk\"\ncapacity = \"1GB\"\n\
    [host]\nmemory = \"64MiB\"\ncopy_rate = \"10GB/s\"\ndirect = \"nocache\"\n\
    [link]\nslots = 2\n\
    [disk]\nrpm = 7200\nseek = { track = \"0.6ms\", average = \"8.5ms\" }\nouter = \"210MB/s\"\n\
    inner = \"105MB/s\"\ncache = \"1MiB\"\nwrite_cache = \"1MiB\"\nqueue = { slots = 8, policy = \"sptf\" }\n";

/// Making this one means reaching its steady state, a second each time: it gets few cases, the others many.
const SLOWLY_MADE: &str = "d7-p5600-steady";

fn every_request_is_answered_once(name: &str, text: &str, asks: &[(u64, Ask)]) -> Result<(), TestCaseError> {
    let file = DeviceFile::parse(text, name).unwrap();
    let (done, counters) = run(&file, asks);
    let mut answered: Vec<u64> = done.iter().map(|one| one.tag).collect();
    answered.sort_unstable();
    prop_assert_eq!(answered, (0..asks.len() as u64).collect::<Vec<_>>(), "{}", name);
    prop_assert!(done.is_sorted_by_key(|one| one.at_ns), "{}", name);
    for one in &done {
        let asked = asks[one.tag as usize].1;
        let room = file.capacity_bytes().saturating_sub(asked.offset_bytes);
        let room = room.min(asked.length_bytes.into());
        let expected = match asked.op {
            Op::Write if room < asked.length_bytes.into() => -28,
            _ => room as i32,
        };
        prop_assert_eq!(one.result, expected, "{} {:?}", name, asked);
    }
    prop_assert_eq!((done, counters), run(&file, asks), "{} again", name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn devices_answer_every_request_once(asks in prop::collection::vec(any_ask(), 1..120)) {
        let quickly_made = builtin_names().filter(|name| *name != SLOWLY_MADE);
        let built_in = quickly_made.map(|name| (name, builtin(name).unwrap()));
        for (name, text) in built_in.chain([("unusual", UNUSUAL), ("unusual-disk", UNUSUAL_DISK)]) {
            every_request_is_answered_once(name, text, &asks)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn a_drive_in_steady_state_answers_every_request_once(
        asks in prop::collection::vec(any_ask(), 60..120),
    ) {
        every_request_is_answered_once(SLOWLY_MADE, builtin(SLOWLY_MADE).unwrap(), &asks)?;
    }
}
