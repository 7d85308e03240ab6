//! The measured loop on real files: what it counts is what the kernel saw, and ends meet.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

use std::{
    fs::File,
    io::Write,
    sync::{Arc, atomic::AtomicBool},
};

use iosonde_model::{LoopNote, Op, Payload, Phase, RequestError, Rw, Trial, TrialSpec};
use iosonde_rig::{
    clock::Clock,
    drive::Limits,
    engine::{ENGINES, Storage},
    placement::Place,
    trial::{Bed, Order},
};

const MIB: u64 = 1 << 20;

fn bed(bytes: u64) -> (Bed, tempfile::NamedTempFile) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let block: Vec<u8> = (0..MIB).map(|i| (i * 7) as u8).collect();
    (0..bytes / MIB).for_each(|_| file.write_all(&block).unwrap());
    let open = File::options().read(true).write(true).open(file.path()).unwrap();
    (
        Bed {
            storage: Storage::File(Arc::new(open)),
            watch: None,
            clock: Clock::real(),
            folder: None,
            place: Place::default(),
        },
        file,
    )
}

fn spec(engine: &str, rw: Rw, depth: u32) -> TrialSpec {
    TrialSpec {
        rw,
        block_size_bytes: 4096,
        queue_depth: depth,
        jobs: 1,
        read_percent: None,
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: 8 * MIB,
        engine: engine.into(),
        direct: false,
        ..TrialSpec::default()
    }
}

fn run(bed: &mut Bed, spec: &TrialSpec, limits: Limits) -> Trial {
    let order = Order { spec, limits, phase: Phase::Measure, seed: 5 };
    bed.run(&order, &AtomicBool::new(false)).unwrap().trial
}

/// Every engine of the registry that works on this bed and keeps this queue depth.
fn engines(bed: &Bed, depth: u32) -> Vec<&'static str> {
    let usable = ENGINES.iter().filter(|kind| kind.name() != "sim").filter(|kind| {
        let probed = kind.probe(&bed.storage).and_then(|can| can.refuse_depth(kind.name(), depth));
        if let Err(why) = &probed {
            eprintln!("skipped: {why}");
        }
        probed.is_ok()
    });
    usable.map(|kind| kind.name()).collect()
}

#[test]
fn exactly_as_many_requests_as_asked_are_made_and_counted() {
    let (mut bed, _file) = bed(8 * MIB);
    let cases = [1, 7].map(|depth| engines(&bed, depth).into_iter().map(move |engine| (engine, depth)));
    for (engine, depth) in cases.into_iter().flatten() {
        let trial = run(&mut bed, &spec(engine, Rw::RandRead, depth), Limits::requests(1000));
        let read = trial.read.as_ref().unwrap();
        assert_eq!((read.ios, read.bytes, read.errors, read.short), (1000, 1000 * 4096, 0, 0), "{engine}");
        assert_eq!(read.histogram.total(), 1000);
        assert_eq!(trial.witnesses.issued_read_bytes, 1000 * 4096);
        assert_eq!(trial.windows.iter().map(|w| w.read.as_ref().unwrap().ios).sum::<u64>(), 1000);
        assert!(trial.write.is_none());
    }
}

#[test]
fn a_timed_trial_leaves_its_warm_up_out_and_keeps_its_depth() {
    let (mut bed, _file) = bed(8 * MIB);
    let cases = [1, 16].map(|depth| engines(&bed, depth).into_iter().map(move |engine| (engine, depth)));
    for (engine, depth) in cases.into_iter().flatten() {
        let trial = run(&mut bed, &spec(engine, Rw::RandRead, depth), Limits::time(300_000_000));
        let read = trial.read.as_ref().unwrap();
        // A tenth of 300 ms.
        assert!(trial.warmup_s >= 0.03, "{}", trial.warmup_s);
        assert!(trial.warmup_s + trial.measured_s >= 0.3, "{} + {}", trial.warmup_s, trial.measured_s);
        assert!(trial.witnesses.issued_ios > read.ios);
        assert!((read.iops * trial.measured_s - read.ios as f64).abs() < 1e-3);
        let in_flight = trial.in_flight_mean.unwrap();
        assert_eq!(trial.hung, 0, "{engine}");
        // psync makes its call inside submit: the loop sees nothing outstanding longer than the call itself.
        assert!(
            in_flight <= f64::from(depth) && in_flight > f64::from(depth) * 0.99,
            "{engine}: {in_flight}"
        );
        let littles_law = read.iops * read.latency_ns.mean.unwrap() / 1e9;
        assert!((littles_law / f64::from(depth) - 1.0).abs() < 0.05, "{engine}: {littles_law}");
    }
}

#[test]
fn what_is_written_arrives_and_differs_from_block_to_block() {
    let (mut bed, file) = bed(8 * MIB);
    for engine in engines(&bed, 1).into_iter().filter(|&engine| engine != "null") {
        file.as_file().set_len(0).unwrap();
        file.as_file().set_len(8 * MIB).unwrap();
        let order = Order {
            spec: &spec(engine, Rw::Write, 1),
            limits: Limits::requests(2048),
            phase: Phase::Prepare,
            seed: 5,
        };
        let trial = bed.run(&order, &AtomicBool::new(false)).unwrap().trial;
        assert_eq!(trial.direction(Op::Write).unwrap().bytes, 8 * MIB);
        let data = std::fs::read(file.path()).unwrap();
        let distinct: std::collections::HashSet<&[u8]> = data.chunks(4096).collect();
        assert_eq!(distinct.len(), 2048, "{engine}");
    }
}

#[test]
fn a_mix_never_writes_what_it_read() {
    for (engine, depth) in [("psync", 1), ("io_uring", 16)] {
        let (mut bed, file) = bed(8 * MIB);
        if !engines(&bed, depth).contains(&engine) {
            continue;
        }
        let before = std::fs::read(file.path()).unwrap();
        let mix = TrialSpec { payload: Payload::Zero, ..spec(engine, Rw::RandRw, depth) };
        let trial = run(&mut bed, &mix, Limits::requests(4000));
        assert_eq!((trial.read.unwrap().ios, trial.write.unwrap().ios), (2000, 2000));
        let after = std::fs::read(file.path()).unwrap();
        let blocks = || before.chunks(4096).zip(after.chunks(4096));
        assert!(blocks().any(|(before, after)| before != after));
        assert!(blocks().all(|(before, after)| after == before || after.iter().all(|&b| b == 0)), "{engine}");
    }
}

#[test]
fn errors_are_counted_with_their_name_and_never_timed() {
    let (_, file) = bed(8 * MIB);
    let read_only = File::open(file.path()).unwrap();
    let mut bed = Bed {
        storage: Storage::File(Arc::new(read_only)),
        watch: None,
        clock: Clock::real(),
        folder: None,
        place: Place::default(),
    };
    for engine in engines(&bed, 1).into_iter().filter(|&engine| engine != "null") {
        let trial = run(&mut bed, &spec(engine, Rw::RandWrite, 1), Limits::requests(10));
        let write = trial.write.as_ref().unwrap();
        assert_eq!((write.ios, write.errors), (0, 10), "{engine}");
        assert_eq!(write.latency_ns.mean, None);
        assert_eq!(
            trial.error_examples,
            [RequestError::System { errno: libc::EBADF, count: 10 }],
            "{engine}"
        );
    }
}

#[test]
fn reads_past_the_end_are_short() {
    let (mut bed, _file) = bed(4 * MIB);
    let trial = run(&mut bed, &spec("psync", Rw::Read, 1), Limits::requests(2048));
    let read = trial.read.as_ref().unwrap();
    // 8 MiB asked of a 4 MiB file, all blocks once: one half comes back empty.
    assert_eq!((read.ios, read.bytes, read.short), (2048, 4 * MIB, 1024));
}

#[test]
fn a_raised_stop_ends_the_trial() {
    let (mut bed, _file) = bed(8 * MIB);
    for engine in engines(&bed, 1) {
        let spec = spec(engine, Rw::RandRead, 1);
        let limits = Limits::time(3_600_000_000_000);
        let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: 1 };
        let trial = bed.run(&order, &AtomicBool::new(true)).unwrap().trial;
        assert!(trial.elapsed_s < 60.0, "{engine}");
    }
}

#[test]
fn what_an_engine_has_to_say_reaches_the_reader() {
    let (mut bed, file) = bed(8 * MIB);
    let order = |engine| spec(engine, Rw::RandRead, 1);
    let mut notes = |engine| {
        let (spec, limits) = (order(engine), Limits::requests(100));
        let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: 1 };
        bed.run(&order, &AtomicBool::new(false)).unwrap().notes
    };
    assert_eq!(notes("null"), [LoopNote::NothingMoved]);
    assert!(notes("mmap").is_empty());
    // An end inside the span, which only the run finds out.
    let shorter = File::options().write(true).open(file.path()).unwrap();
    assert!(notes("psync").is_empty());
    shorter.set_len(MIB).unwrap();
    assert!(matches!(notes("psync:nowait")[0], LoopNote::MadeAgain { requests: 1.. }));
}

#[test]
fn filling_goes_by_an_engine_that_moves_something() {
    let engine = |asked| iosonde_rig::prepare::order(asked, false, 0, MIB, 1.0).0;
    let fills = |asked| (engine(asked).engine, engine(asked).queue_depth);
    assert_eq!(fills("null"), ("psync".to_owned(), 1));
    assert_eq!(fills("mmap"), ("psync".to_owned(), 1));
    assert_eq!(fills("io_uring:sqpoll,iopoll"), ("io_uring".to_owned(), 8));
}
