//! Portraits of runs whose findings are set.

use iosonde_model::{
    Conditions, Detail, Device, Finding, Medium, Op, Run, Status, TraitKey, TrialSpec, Unit,
};
use iosonde_testkit::specimen;

use super::*;

fn finding(name: FindingName, op: Op, block_size_bytes: u64, value: f64, unit: Unit) -> Finding {
    Finding {
        name,
        experiment: "x".into(),
        conditions: Conditions {
            op: Some(op),
            random: Some(true),
            block_size_bytes: Some(block_size_bytes),
            ..Conditions::default()
        },
        status: Status::Found,
        value: Some(value),
        unit,
        low: Some(value * 0.98),
        high: Some(value * 1.02),
        at_least: false,
        confidence: 0.95,
        detail: Detail::Plain,
        notes: Vec::new(),
        trials: vec![1],
    }
}

/// A run whose deepest trial had this queue depth.
fn run(findings: Vec<Finding>, depth: u32) -> Run {
    let mut trial = specimen::usual();
    trial.id = 1;
    trial.spec = TrialSpec { queue_depth: depth, span_bytes: 1 << 30, ..TrialSpec::default() };
    Run { findings, ..specimen::run_on(Device::unknown("simulated", 1 << 30), trial) }
}

fn value(portrait: &Portrait, key: TraitKey) -> f64 {
    portrait.find(key).unwrap_or_else(|| panic!("{key} is missing: {portrait:?}")).estimate.value
}

#[test]
fn flash_is_drawn_from_its_highest_rate_at_its_deepest() {
    // 32 units of 60 us behind a way of 6.5 us and 3.5 GB/s: 94 % of 533,333 at QD 256.
    let alone = 66_500.0 + 4096.0 / 3.5;
    let findings = vec![
        finding(FindingName::BaseLatency, Op::Read, 4096, alone, Unit::Time),
        finding(FindingName::BaseLatency, Op::Write, 4096, 19_670.0, Unit::Time),
        finding(FindingName::MaxIops, Op::Read, 4096, 501_000.0, Unit::Iops),
        finding(FindingName::DeviceBandwidth, Op::Read, 1 << 20, 3.5e9, Unit::Rate),
        finding(FindingName::DeviceBandwidth, Op::Write, 1 << 20, 480e6, Unit::Rate),
        finding(FindingName::WriteBufferBytes, Op::Write, 1 << 20, 67e6, Unit::Bytes),
        finding(FindingName::SustainedRate, Op::Write, 1 << 20, 480e6, Unit::Rate),
    ];
    let drawn = portrait(&run(findings.clone(), 256)).unwrap();
    assert_eq!(drawn.build, Build::Units);
    assert!((30.0..=34.0).contains(&value(&drawn, TraitKey::FlashUnits)), "{drawn:?}");
    assert_eq!(value(&drawn, TraitKey::BufferDrain), 480e6);
    // Writes in a burst come at the link's rate, not at the drain's.
    assert_eq!(value(&drawn, TraitKey::LinkWrite), 3.5e9);
    assert!(drawn.unidentified.contains(&Unidentified::Units), "{drawn:?}");
    // Where the units are known, what is left of a read is its way.
    let known = findings
        .into_iter()
        .chain([finding(FindingName::Parallelism, Op::Read, 4096, 32.0, Unit::None)])
        .collect();
    let drawn = portrait(&run(known, 256)).unwrap();
    assert_eq!(value(&drawn, TraitKey::FlashUnits), 32.0);
    assert!((value(&drawn, TraitKey::FlashRead) / 60e3 - 1.0).abs() < 0.05, "{drawn:?}");
    assert!(
        (value(&drawn, TraitKey::FlashRead) + value(&drawn, TraitKey::LinkLatency) - 66_500.0).abs() < 1.0
    );
}

#[test]
fn servers_are_whole_and_the_way_is_what_is_left() {
    // 4 servers of 80 us and a way of 9.1 us.
    let findings = vec![
        finding(FindingName::BaseLatency, Op::Read, 4096, 89_096.0, Unit::Time),
        finding(FindingName::MaxIops, Op::Read, 4096, 50_000.0, Unit::Iops),
        finding(FindingName::DeviceBandwidth, Op::Read, 1 << 20, 1e9, Unit::Rate),
    ];
    let drawn = portrait(&run(findings, 64)).unwrap();
    assert_eq!(drawn.build, Build::Servers);
    assert_eq!(value(&drawn, TraitKey::QueueServers), 4.0);
    assert!((value(&drawn, TraitKey::QueueService) - 80e3).abs() < 1.0);
    assert!((value(&drawn, TraitKey::LinkLatency) - 5e3).abs() < 1.0);
}

#[test]
fn a_guest_s_disk_that_calls_itself_rotating_is_drawn_by_what_was_measured() {
    let of = |medium, alone_ns: f64| {
        let findings = vec![
            finding(FindingName::BaseLatency, Op::Read, 4096, alone_ns, Unit::Time),
            finding(FindingName::MaxIops, Op::Read, 4096, 4.5e9 / alone_ns, Unit::Iops),
            finding(FindingName::DeviceBandwidth, Op::Read, 1 << 20, 1e8, Unit::Rate),
        ];
        let mut run = run(findings, 64);
        (run.info.device.medium, run.info.device.rotational) = (medium, Some(true));
        portrait(&run).unwrap().build
    };
    assert_eq!(of(Medium::Virtual, 8.9e6), Build::Servers);
    assert_eq!(of(Medium::Disk, 8.9e6), Build::Disk);
    // What answers sooner than any arm is no disk, whatever it is called: a network, a cache before it.
    assert_eq!(of(Medium::Disk, 3e5), Build::Servers);
}

#[test]
fn a_disk_is_known_by_its_turn_and_its_seek_is_what_the_turn_leaves() {
    let mut seek = finding(FindingName::BaseLatency, Op::Read, 4096, 12.7e6, Unit::Time);
    seek.conditions.span_bytes = Some(1 << 30);
    let findings = vec![
        seek,
        finding(FindingName::MaxIops, Op::Read, 4096, 150.0, Unit::Iops),
        finding(FindingName::DeviceBandwidth, Op::Read, 1 << 20, 210e6, Unit::Rate),
        finding(FindingName::RotationPeriod, Op::Write, 4096, 8.333e6, Unit::Time),
    ];
    let drawn = portrait(&run(findings, 64)).unwrap();
    assert_eq!(drawn.build, Build::Disk);
    assert!((value(&drawn, TraitKey::DiskRpm) - 7200.0).abs() < 2.0);
    // 12.7 ms - 4.17 ms - 30 us - 20 us, over all of what there is.
    assert!((value(&drawn, TraitKey::DiskSeekAverage) / 8.48e6 - 1.0).abs() < 0.01, "{drawn:?}");
}

#[test]
fn without_the_findings_that_it_rests_on_there_is_no_portrait() {
    let lacks = |run: &Run| portrait(run).unwrap_err();
    let nothing = NoPortrait { lacks: FindingName::BaseLatency, inconclusive: None };
    assert_eq!(lacks(&run(Vec::new(), 1)), nothing);
    let mut refused = finding(FindingName::BaseLatency, Op::Read, 4096, 1e5, Unit::Time);
    (refused.status, refused.value) = (Status::Inconclusive, None);
    // Without points there are no undisturbed trials to go by instead.
    let alone = Run { points: Vec::new(), ..run(vec![refused.clone()], 1) };
    let handed_on = lacks(&alone).inconclusive;
    assert_eq!(handed_on, Some(Box::new(refused)));
}
