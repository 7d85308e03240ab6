//! The devices that come with the program against their own truths.

mod drive;

use drive::next_done;
use iosonde_model::{FindingName, Op};
use iosonde_sim::{Ask, Device, DeviceFile, Known, builtin, truths, truths_with_references};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn file(name: &str) -> DeviceFile {
    DeviceFile::parse(builtin(name).unwrap(), name).unwrap()
}

fn truth(name: &str, finding: FindingName, op: Op) -> f64 {
    let all = truths(&file(name));
    let found = all.iter().find(|truth| truth.finding == finding && truth.conditions.op == Some(op));
    found.and_then(|truth| truth.value).unwrap_or_else(|| panic!("{name} has no {finding}"))
}

/// Where requests go.
enum Place {
    /// Anywhere.
    Random,
    /// One stripe of flash after another: spread evenly.
    Even,
    /// In sequence from the beginning.
    Sequence,
}

/// Runs a closed loop for `warm` requests and then `counted` ones; gives the mean time per request in
/// nanoseconds.
fn mean_ns(
    name: &str,
    op: Op,
    place: &Place,
    length_bytes: u64,
    depth: u64,
    (warm, counted): (u64, u64),
) -> f64 {
    let mut device = Device::new(&file(name), 3);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let blocks = device.capacity_bytes() / length_bytes;
    let mut ask = |tag: u64| {
        let offset_bytes = match place {
            Place::Random => random.random_range(0..blocks) * length_bytes,
            Place::Even => tag * 16_384 % (blocks * length_bytes),
            Place::Sequence => tag * length_bytes,
        };
        Ask { tag, op, offset_bytes, length_bytes: length_bytes as u32, direct: true }
    };
    let (mut asked, mut finished, mut now_ns, mut from_ns) = (0, 0, 0, 0);
    let mut done = Vec::new();
    while finished < warm + counted {
        while asked < finished + depth {
            device.submit(now_ns, ask(asked));
            asked += 1;
        }
        now_ns = next_done(&mut device, &mut done);
        finished += done.drain(..).len() as u64;
        if finished <= warm {
            from_ns = now_ns;
        }
    }
    (now_ns - from_ns) as f64 / (finished - warm) as f64
}

#[test]
fn one_alone_takes_the_base_latency() {
    let cases = [
        ("ideal", Op::Read, 1_000, 1e-9),
        ("ideal", Op::Write, 1_000, 1e-9),
        ("plain-nvme", Op::Read, 20_000, 0.003),
        ("plain-nvme", Op::Write, 20_000, 0.003),
        ("client-nvme", Op::Read, 1_000, 1e-4),
        ("client-nvme", Op::Write, 1_000, 1e-4),
        ("usb-stick", Op::Read, 1_000, 1e-4),
        // The deviation of one is 31 %, of the mean of 40,000 0.15 %.
        ("hdd-7200", Op::Read, 40_000, 0.006),
        ("nfs", Op::Write, 40_000, 0.006),
        ("cloud-volume", Op::Read, 20_000, 0.004),
        ("mac-nocache", Op::Read, 20_000, 0.005),
    ];
    for (name, op, counted, within) in cases {
        let measured = mean_ns(name, op, &Place::Random, 4096, 1, (1, counted));
        let off = measured / truth(name, FindingName::BaseLatency, op) - 1.0;
        assert!(off.abs() <= within, "{name} {op}: {measured} ns, {off:+.5} off");
    }
}

#[test]
fn enough_in_flight_reaches_the_highest_rate() {
    let cases = [
        ("ideal", Op::Read, Place::Random, 4, (400, 4_000), 1e-9),
        ("plain-nvme", Op::Read, Place::Random, 256, (1_000, 200_000), 0.005),
        ("plain-nvme", Op::Write, Place::Random, 256, (1_000, 200_000), 0.005),
        ("client-nvme", Op::Read, Place::Even, 256, (1_000, 200_000), 0.005),
        // 64 MiB of buffer hold 16,384 requests; after them the drain sets the pace.
        ("client-nvme", Op::Write, Place::Random, 64, (40_000, 100_000), 0.005),
        // Each rewrites 1 MiB; erases fall differently on each.
        ("usb-stick", Op::Write, Place::Random, 16, (32, 2_000), 0.01),
        // 5.4 million credits, spent in 6 million requests.
        ("cloud-volume", Op::Read, Place::Random, 32, (6_050_000, 10_000), 0.001),
    ];
    for (name, op, place, depth, counts, within) in cases {
        let measured = 1e9 / mean_ns(name, op, &place, 4096, depth, counts);
        let off = measured / truth(name, FindingName::MaxIops, op) - 1.0;
        assert!(off.abs() <= within, "{name} {op}: {measured} IOPS, {off:+.5} off");
    }
}

#[test]
fn large_requests_in_sequence_reach_the_bandwidth() {
    let cases = [
        ("plain-nvme", Op::Read, 32, (100, 4_000), 0.005),
        ("client-nvme", Op::Read, 32, (100, 4_000), 0.005),
        ("client-nvme", Op::Write, 32, (200, 4_000), 0.005),
        ("usb-stick", Op::Read, 4, (10, 200), 0.005),
        // 1 GB from the outer edge in, the rate has fallen by 0.02 %.
        ("hdd-7200", Op::Read, 4, (10, 1_000), 0.005),
        ("nfs", Op::Read, 4, (10, 1_000), 0.005),
    ];
    for (name, op, depth, counts, within) in cases {
        let measured = 1e9 * 1_048_576.0 / mean_ns(name, op, &Place::Sequence, 1 << 20, depth, counts);
        let off = measured / truth(name, FindingName::DeviceBandwidth, op) - 1.0;
        assert!(off.abs() <= within, "{name} {op}: {measured} B/s, {off:+.5} off");
    }
}

#[test]
fn what_has_no_formula_is_computed_with_an_interval() {
    let file = file("client-nvme");
    let all = truths_with_references(&file, 1);
    // Every finding is there, each in one of three ways, and a reference's interval holds its value.
    for &name in FindingName::ALL {
        assert!(all.iter().any(|truth| truth.finding == name), "{name}");
    }
    for truth in &all {
        match truth.known {
            Known::ClosedForm => assert!(truth.value.is_some() && truth.low.is_none(), "{truth:?}"),
            Known::NotDefined => assert!(truth.value.is_none() && truth.low.is_none(), "{truth:?}"),
            Known::Reference => assert!(truth.low <= truth.value && truth.value <= truth.high, "{truth:?}"),
        }
    }
    // Random addresses fall short of even ones: 88 % at QD 128 and 94 % at QD 256.
    for (depth, share) in [(128, 0.88), (256, 0.94)] {
        let at = |truth: &&iosonde_sim::Truth| {
            truth.finding == FindingName::MaxIops && truth.conditions.queue_depth == Some(depth)
        };
        let reached = all.iter().find(at).unwrap();
        assert_eq!(reached.conditions.random, Some(true));
        assert!((reached.value.unwrap() / 533_333.3 - share).abs() < 0.015, "{reached:?}");
    }
    assert_eq!(all, truths_with_references(&file, 1), "a truth is the same at every call");
}

#[test]
fn no_run_is_made_of_a_device_whose_rate_wanders() {
    let all = truths_with_references(&file("noisy-virtual-disk"), 1);
    assert!(all.iter().all(|truth| truth.known != Known::Reference));
    let depth = all.iter().find(|truth| truth.finding == FindingName::DepthFor95Percent).unwrap();
    assert!(depth.derivation.contains("no run tells it"), "{}", depth.derivation);
}
