//! Claims against made-up runs: met, missed, exceeded, and under conditions that are not the claim's.

use iosonde_model::{
    About, CheckName, Claim, ClaimVerdict, DeviceNote, Estimate, Judgement, Level, LevelCondition, Outcome,
    Point, PointDirection, Run, Rw, Sheet, SheetBasis, SheetLine, TrialSpec, UnlikeClaim,
};
use iosonde_testkit::specimen;

use super::{MARGIN, lines};

const TB: u64 = 1_000_000_000_000;

fn run(rw: Rw, span_bytes: u64, iops: f64, half: f64) -> Run {
    let mut run = specimen::run(specimen::usual());
    run.trials.clear();
    (run.info.device.kind, run.info.device.size_bytes) = ("block".into(), Some(TB));
    run.info.bytes_written = 0;
    let spec = TrialSpec { rw, queue_depth: 256, span_bytes, ..TrialSpec::default() };
    let mut point = Point::planned(0, "queue-depth", spec);
    let estimate =
        |value: f64| Estimate { value, low: Some(value * (1.0 - half)), high: Some(value * (1.0 + half)) };
    let direction = PointDirection {
        iops: estimate(iops),
        bytes_per_s: estimate(iops * 4096.0),
        latency_ns_mean: None,
        latency_ns_p50: None,
        latency_ns_p99: None,
        latency_ns_p99_9: None,
        levels: Vec::new(),
    };
    if rw.writes() {
        point.write = Some(direction)
    } else {
        point.read = Some(direction)
    }
    run.points = vec![point];
    run
}

fn against(run: &Run, typed: &str, whole: bool, steady: bool) -> SheetLine {
    let claim =
        Claim { span: whole.then_some(1.0), steady, in_flight: Some(256), ..Claim::parse(typed).unwrap() };
    let sheet = Sheet {
        name: "x".into(),
        summary: String::new(),
        source: String::new(),
        capacity_bytes: None,
        claims: vec![claim],
    };
    lines(run, &sheet, MARGIN).remove(0)
}

/// Conditions that the measured point does not meet.
fn unlike(line: &SheetLine) -> &[UnlikeClaim] {
    match &line.basis {
        SheetBasis::Measured { unlike, .. } => unlike,
        _ => &[],
    }
}

#[test]
fn a_claim_is_met_missed_or_exceeded_with_certainty() {
    let verdict =
        |iops, half| against(&run(Rw::RandRead, TB, iops, half), "randread 4k 100000", true, false).verdict;
    assert_eq!(verdict(100_000.0, 0.01), ClaimVerdict::Meets);
    assert_eq!(verdict(90_000.0, 0.01), ClaimVerdict::Below);
    // 90 % ± 8 % reaches 97 %: not below with certainty, and not met either.
    assert_eq!(verdict(90_000.0, 0.08), ClaimVerdict::NotComparable);
    // Surely as much as is claimed, and perhaps more.
    assert_eq!(verdict(103_000.0, 0.06), ClaimVerdict::Meets);
    assert_eq!(verdict(120_000.0, 0.01), ClaimVerdict::Above);
}

#[test]
fn an_interval_that_holds_everything_meets_nothing() {
    // 46 k IOPS [8.6, 241].
    let mut rough = run(Rw::RandWrite, TB, 45_500.0, 0.0);
    let direction = rough.points[0].write.as_mut().unwrap();
    (direction.iops.low, direction.iops.high) = (Some(8_600.0), Some(241_000.0));
    for claimed in [10_000, 30_000, 60_000, 200_000] {
        let line = against(&rough, &format!("randwrite 4k {claimed}"), true, false);
        assert_eq!(line.verdict, ClaimVerdict::NotComparable, "{claimed}");
        assert!(unlike(&line).contains(&UnlikeClaim::WideInterval), "{line:?}");
    }
    assert_eq!(against(&rough, "randwrite 4k 300000", true, false).verdict, ClaimVerdict::Below);
    // Of two points for one claim the one that is significantly faster answers.
    let mut sure = rough.points[0].clone();
    (sure.id, sure.spec.jobs) = (1, 2);
    (sure.spec.queue_depth, sure.write.as_mut().unwrap().iops.value) = (128, 35_600.0);
    let iops = &mut sure.write.as_mut().unwrap().iops;
    (iops.low, iops.high) = (Some(35_200.0), Some(36_000.0));
    rough.points.push(sure);
    let line = against(&rough, "randwrite 4k 35000", true, false);
    assert_eq!((line.verdict, line.measured), (ClaimVerdict::Meets, Some(35_600.0)), "{line:?}");
}

#[test]
fn two_gigabytes_of_a_drive_are_not_the_drive() {
    let line = against(&run(Rw::RandWrite, 2 << 30, 316_935.0, 0.01), "randwrite 4k 118000", true, true);
    assert_eq!(line.verdict, ClaimVerdict::NotComparable);
    let [span, state] = unlike(&line) else { panic!("{line:?}") };
    assert_eq!(*span, UnlikeClaim::Span { span_bytes: Some(2 << 30), whole_bytes: TB });
    assert!(matches!(state, UnlikeClaim::NotSteady { drive_writes: Some(0.0), .. }), "{state:?}");
}

#[test]
fn a_fresh_drive_can_meet_or_miss_a_steady_claim_and_more_of_it_says_nothing() {
    let fresh = |iops| against(&run(Rw::RandWrite, TB, iops, 0.01), "randwrite 4k 118000", true, true);
    assert_eq!(fresh(300_000.0).verdict, ClaimVerdict::NotComparable);
    assert_eq!(fresh(50_000.0).verdict, ClaimVerdict::Below);
    let met = fresh(118_000.0);
    assert_eq!(met.verdict, ClaimVerdict::Meets);
    assert!(
        matches!(unlike(&met), [UnlikeClaim::NotSteady { .. }]),
        "and it is said that it is fresh: {met:?}"
    );
    let mut worn = run(Rw::RandWrite, TB, 118_000.0, 0.01);
    worn.info.bytes_written = 2 * TB;
    assert_eq!(against(&worn, "randwrite 4k 118000", true, true).verdict, ClaimVerdict::Meets);
    // Written over seven times, and the rate still changed: it was called steady for the bytes alone.
    worn.info.bytes_written = 7 * TB;
    worn.info.device.notes.push(DeviceNote::NotSteady { rounds: None });
    let line = against(&worn, "randwrite 4k 118000", true, true);
    assert_eq!((line.verdict, unlike(&line)), (ClaimVerdict::Meets, &[UnlikeClaim::StillChanging][..]));
}

#[test]
fn of_two_levels_each_must_meet_the_claim() {
    let mut run = run(Rw::RandRead, TB, 100_000.0, 0.01);
    let level = |iops: f64| {
        let told = |value: f64| Estimate { value, low: Some(value * 0.99), high: Some(value * 1.01) };
        Level {
            condition: LevelCondition::Lower,
            trial_ids: Vec::new(),
            iops: told(iops),
            bytes_per_s: told(iops * 4096.0),
        }
    };
    let verdict = |run: &Run| against(run, "randread 4k 100000", true, false);
    run.points[0].read.as_mut().unwrap().levels = vec![level(130_000.0), level(70_000.0)];
    let line = verdict(&run);
    assert_eq!(line.verdict, ClaimVerdict::NotComparable);
    assert_eq!(unlike(&line)[0], UnlikeClaim::TwoLevels { low: 70_000.0, high: 130_000.0 });
    run.points[0].read.as_mut().unwrap().levels = vec![level(50_000.0), level(70_000.0)];
    assert_eq!(verdict(&run).verdict, ClaimVerdict::Below);
}

#[test]
fn a_limit_of_the_program_refutes_no_claim() {
    let mut run = run(Rw::RandRead, TB, 50_000.0, 0.01);
    assert_eq!(against(&run, "randread 4k 100000", true, false).verdict, ClaimVerdict::Below);
    (run.points[0].trials, run.points[0].trial_ids) = (1, vec![7]);
    let by = |check| Judgement {
        scope: "trial".into(),
        trial: Some(7),
        point: None,
        check,
        verdict: Outcome::Invalid,
        about: About::Device,
        cause: None,
    };
    run.verdicts = vec![by(CheckName::GeneratorBound)];
    let line = against(&run, "randread 4k 100000", true, false);
    assert_eq!((line.verdict, unlike(&line)[0]), (ClaimVerdict::NotComparable, UnlikeClaim::ProgramLimit));
    // What a program was served under its own limit, the drive gives as well.
    assert_eq!(against(&run, "randread 4k 50000", true, false).verdict, ClaimVerdict::Meets);
    run.verdicts = vec![by(CheckName::CacheServed)];
    let line = against(&run, "randread 4k 50000", true, false);
    assert_eq!((line.verdict, unlike(&line)[0]), (ClaimVerdict::NotComparable, UnlikeClaim::MemoryAnswered));
}

#[test]
fn less_with_fewer_in_flight_than_claimed_is_no_refutation() {
    let with = |in_flight: u32, iops| {
        let mut run = run(Rw::RandRead, TB, iops, 0.01);
        run.points[0].spec.queue_depth = in_flight;
        against(&run, "randread 4k 100000", true, false)
    };
    assert_eq!(with(256, 90_000.0).verdict, ClaimVerdict::Below);
    assert_eq!(with(128, 90_000.0).verdict, ClaimVerdict::NotComparable);
    let fewer = UnlikeClaim::QueueDepth { measured: 128, claimed: 256 };
    assert_eq!(unlike(&with(128, 90_000.0)), [fewer]);
    assert_eq!(with(128, 100_000.0).verdict, ClaimVerdict::Meets, "as much with less is as much");
}

#[test]
fn what_was_not_measured_is_said() {
    let line = against(&run(Rw::RandRead, TB, 1e5, 0.01), "randwrite 4k 118000", false, false);
    assert_eq!((line.verdict, line.measured), (ClaimVerdict::NotComparable, None));
    assert_eq!(line.basis, SheetBasis::NotMeasured { rw: Rw::RandWrite, block_size_bytes: Some(4096) });
    let mut buffered = run(Rw::RandRead, TB, 1e5, 0.01);
    buffered.points[0].spec.direct = false;
    let line = against(&buffered, "randread 4k 100000", true, false);
    assert_eq!(line.verdict, ClaimVerdict::NotComparable);
    assert_eq!(unlike(&line), [UnlikeClaim::PageCache]);
}
