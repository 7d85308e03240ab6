//! Faults of every kind, put between the drain and the reading back, and none where there are none.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Seek, SeekFrom, Write},
    sync::{Arc, atomic::AtomicBool},
};

use iosonde_model::{LoopNote, Phase, Rw, TrialSpec, Verification};
use proptest::prelude::*;

use super::{SECTOR_BYTES, Unfit, VerifyPlan, mark::BlockMark};
use crate::{
    clock::Clock,
    crew::{self, Around, Shift},
    drive::Limits,
    engine::{ENGINES, Storage},
    placement::Place,
    platform::files,
    trial::{Bed, Order},
};

/// Runs a trial; `between` is called after the drain with the file, and may do to it what storage should not.
fn trial(file: &Arc<File>, spec: &TrialSpec, ios: u64, between: &mut dyn FnMut(&File)) -> Verification {
    struct Damage<'a>(&'a File, &'a mut dyn FnMut(&File));
    impl Around for Damage<'_> {
        fn before(&mut self) -> std::io::Result<()> {
            Ok(())
        }
        fn after(&mut self) {
            (self.1)(self.0);
        }
    }
    let storage = Storage::File(Arc::clone(file));
    let plan = VerifyPlan::new(&storage, spec, 5, &Clock::real()).unwrap();
    let stop = AtomicBool::new(false);
    let shift = Shift { phase: Phase::Measure, stop: &stop, plan: &plan, folder: None, early: None };
    let jobs = crew::jobs(spec, &[Limits::requests(ios)], (Phase::Measure, 5), &Place::default()).unwrap();
    let worked = crew::work(&storage, &jobs, shift, &mut Damage(file, between)).unwrap();
    worked.iter().filter_map(|worker| worker.found).reduce(|sum, more| sum + more).unwrap()
}

fn file(bytes: u64) -> Arc<File> {
    let file = files::temporary(&std::env::temp_dir()).unwrap();
    file.set_len(bytes).unwrap();
    Arc::new(file)
}

fn spec(engine: &str, rw: Rw, block_size_bytes: u64, span_bytes: u64) -> TrialSpec {
    TrialSpec {
        rw,
        block_size_bytes,
        span_bytes,
        queue_depth: if engine == "psync" { 1 } else { 16 },
        engine: engine.into(),
        direct: false,
        verify: true,
        ..TrialSpec::default()
    }
}

fn engines(file: &Arc<File>) -> Vec<&'static str> {
    let storage = Storage::File(Arc::clone(file));
    let works = |name: &&str| ENGINES.find(name).is_ok_and(|kind| kind.probe(&storage).is_ok());
    ["psync", "threads", "io_uring", "iocp"].into_iter().filter(works).collect()
}

fn put(mut file: &File, bytes: &[u8], at: u64) {
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

fn block(file: &File, bytes: usize, number: u64) -> Vec<u8> {
    let mut block = vec![0; bytes];
    assert_eq!(files::read_at(file, &mut block, number * bytes as u64).unwrap(), bytes);
    block
}

/// A thousand blocks, far apart enough that no fault hides another.
fn victims() -> impl Iterator<Item = u64> {
    (0..1000).map(|n| n * 3 + 1)
}

const BLOCKS: u64 = 3004;

/// All blocks are written twice; what the file held before, after the first pass and after the second can be put back.
fn faulty(bytes: usize, fault: impl Fn(&History, u64) -> Vec<u8>) -> Verification {
    let span_bytes = BLOCKS * bytes as u64;
    let file = file(span_bytes);
    let spec = spec("psync", Rw::Write, bytes as u64, span_bytes);
    trial(&file, &spec, BLOCKS, &mut |_| ());
    let all = || (0..BLOCKS).map(|number| block(&file, bytes, number)).collect::<Vec<_>>();
    let before = all();
    let storage = Storage::File(Arc::clone(&file));
    let plan = VerifyPlan::new(&storage, &spec, 5, &Clock::real()).unwrap();
    let stop = AtomicBool::new(false);
    // A first pass of the same trial, without its end: the generation before the last.
    let mut first = before.clone();
    for (number, block) in (0..).zip(&mut first) {
        plan.writer().write(block, number * bytes as u64, 1);
    }
    let history = History { before, first };
    struct Damage<'a>(&'a File, &'a dyn Fn(&File));
    impl Around for Damage<'_> {
        fn before(&mut self) -> std::io::Result<()> {
            Ok(())
        }
        fn after(&mut self) {
            (self.1)(self.0);
        }
    }
    let damage = |file: &File| {
        for victim in victims() {
            let changed = fault(&history, victim);
            let changed = if changed.is_empty() {
                torn(&block(file, bytes, victim), &history, victim)
            } else {
                changed
            };
            put(file, &changed, victim * bytes as u64);
        }
    };
    let shift = Shift { phase: Phase::Measure, stop: &stop, plan: &plan, folder: None, early: None };
    let jobs =
        crew::jobs(&spec, &[Limits::requests(2 * BLOCKS)], (Phase::Measure, 5), &Place::default()).unwrap();
    let worked = crew::work(&storage, &jobs, shift, &mut Damage(&file, &damage)).unwrap();
    worked[0].found.unwrap()
}

struct History {
    /// Blocks that an earlier trial left.
    before: Vec<Vec<u8>>,
    /// The first of this trial's two writes.
    first: Vec<Vec<u8>>,
}

/// The beginning of what was written, then what was there before it: this trial's earlier write, an earlier trial's,
/// zeros, or one changed byte.
fn torn(now: &[u8], history: &History, victim: u64) -> Vec<u8> {
    let sectors = now.len() / SECTOR_BYTES;
    let cut = SECTOR_BYTES * (1 + victim as usize % (sectors.max(2) - 1));
    let rest = match victim % 4 {
        0 if sectors > 1 => history.before[victim as usize][cut..].to_vec(),
        1 if sectors > 1 => history.first[victim as usize][cut..].to_vec(),
        2 if sectors > 1 => vec![0; now.len() - cut],
        _ => {
            let mut damaged = now.to_vec();
            damaged[victim as usize % now.len()] ^= 0x40;
            return damaged;
        }
    };
    [&now[..cut], &rest].concat()
}

const ALL_GOOD: Verification =
    Verification { checked: BLOCKS, lost: 0, torn: 0, misplaced: 0, stale: 0, unreadable: 0, unmarked: 0 };

#[test]
fn a_thousand_faults_of_each_kind_are_found_and_named() {
    for bytes in [512, 4096, 16_384] {
        let lost = faulty(bytes, |history, victim| history.before[victim as usize].clone());
        assert_eq!(lost, Verification { lost: 1000, ..ALL_GOOD }, "{bytes}");
        let zeros = faulty(bytes, |_, _| vec![0; bytes]);
        assert_eq!(zeros, Verification { lost: 1000, ..ALL_GOOD }, "{bytes}");
        let stale = faulty(bytes, |history, victim| history.first[victim as usize].clone());
        assert_eq!(stale, Verification { stale: 1000, ..ALL_GOOD }, "{bytes}");
        let misplaced = faulty(bytes, |history, victim| history.first[victim as usize + 1].clone());
        assert_eq!(misplaced, Verification { misplaced: 1000, ..ALL_GOOD }, "{bytes}");
        let torn = faulty(bytes, |_, _| Vec::new());
        assert_eq!(torn, Verification { torn: 1000, ..ALL_GOOD }, "{bytes}");
    }
}

#[test]
fn what_cannot_be_read_back_is_unreadable_and_its_neighbours_are_judged() {
    let span_bytes = 100 * 4096;
    let file = file(span_bytes);
    for engine in engines(&file) {
        let spec = spec(engine, Rw::Write, 4096, span_bytes);
        // The file ends 10 blocks early, and within a block.
        let found = trial(&file, &spec, 100, &mut |file| file.set_len(90 * 4096 - 1).unwrap());
        assert_eq!((found.checked, found.unreadable, found.bad()), (100, 11, 11), "{engine}");
        file.set_len(span_bytes).unwrap();
    }
}

#[test]
fn blocks_are_judged_apart_where_requests_hold_several() {
    let file = file(1 << 20);
    for engine in engines(&file) {
        let sizes = "4k:1,16k:1".parse().unwrap();
        let spec = TrialSpec { block_sizes: sizes, ..spec(engine, Rw::RandWrite, 16_384, 1 << 20) };
        // Far more requests than blocks: every block of 4 KiB is written.
        let found = trial(&file, &spec, 4000, &mut |file| put(file, &[0; 4096], 8 * 4096));
        assert_eq!((found.checked, found.lost, found.bad()), (256, 1, 1), "{engine}");
    }
}

/// Any workload that can be verified.
fn workload() -> impl Strategy<Value = (TrialSpec, u64)> {
    let rw = prop::sample::select(vec![Rw::Write, Rw::RandWrite, Rw::Rw, Rw::RandRw]);
    let sizes = prop::sample::select(vec!["512:1,2048:3", "4k:1,64k:1", "8k:9,16k:1"]);
    let one = prop::sample::select(vec![512u64, 1536, 4096, 65_536]);
    let payload = prop::sample::select(vec!["random", "compress:60%"]);
    let shape = (rw, prop::option::of(sizes), one, 1u32..40, 1u64..1500, 1u64..60);
    (shape, payload, 0.0f64..100.0, any::<bool>(), 0u64..9).prop_map(
        |((rw, sizes, one, depth, ios, blocks), payload, percent, uring, offset)| {
            let block_sizes: iosonde_model::BlockSizes =
                sizes.map_or_else(Default::default, |sizes| sizes.parse().unwrap());
            let block_size_bytes = block_sizes.largest_bytes().unwrap_or(one);
            let spec = TrialSpec {
                block_sizes,
                queue_depth: if uring { depth } else { 1 },
                payload: payload.parse().unwrap(),
                read_percent: rw.is_mixed().then_some(percent),
                offset_bytes: offset * 512,
                ..spec(
                    if uring { "io_uring" } else { "psync" },
                    rw,
                    block_size_bytes,
                    blocks * block_size_bytes,
                )
            };
            (spec, ios)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_false_alarm((spec, ios) in workload()) {
        let file = file(spec.offset_bytes + spec.span_bytes);
        prop_assume!(engines(&file).contains(&spec.engine.as_str()));
        // Twice over the same file: what the first left must not disturb the second.
        for _ in 0..2 {
            let found = trial(&file, &spec, ios, &mut |_| ());
            prop_assert_eq!(found.bad(), 0, "{:?}", found);
            prop_assert!(found.checked > 0 || spec.rw.is_mixed());
        }
    }
}

fn bed(file: &Arc<File>) -> Bed {
    Bed {
        storage: Storage::File(Arc::clone(file)),
        watch: None,
        clock: Clock::real(),
        folder: None,
        place: Place::default(),
    }
}

fn run(bed: &mut Bed, spec: &TrialSpec, ios: u64) -> std::io::Result<crate::trial::FinishedTrial> {
    let order = Order { spec, limits: Limits::requests(ios), phase: Phase::Prepare, seed: 3 };
    bed.run(&order, &AtomicBool::new(false))
}

#[test]
fn reading_back_is_in_no_figure_of_the_trial() {
    let file = file(1 << 20);
    for engine in engines(&file) {
        let trial = run(&mut bed(&file), &spec(engine, Rw::Write, 4096, 1 << 20), 256).unwrap().trial;
        assert_eq!(trial.verify.unwrap(), Verification { checked: 256, ..Verification::default() });
        assert!(trial.read.is_none());
        assert_eq!((trial.witnesses.issued_read_bytes, trial.witnesses.issued_ios), (0, 256));
    }
}

#[test]
fn what_was_marked_is_verified_as_it_is_read() {
    let file = file(1 << 20);
    for engine in engines(&file) {
        run(&mut bed(&file), &spec(engine, Rw::Write, 4096, 1 << 20), 256).unwrap();
        for block_size_bytes in [4096, 65_536] {
            let reads = spec(engine, Rw::Read, block_size_bytes, 1 << 20);
            let outcome = run(&mut bed(&file), &reads, (1 << 20) / block_size_bytes).unwrap();
            let all_good = Verification { checked: 256, ..Verification::default() };
            assert_eq!((outcome.trial.verify.unwrap(), outcome.notes.len()), (all_good, 0), "{engine}");
        }
        // One block of another place, one of two writes, one that never was.
        let elsewhere = block(&file, 4096, 200);
        put(&file, &elsewhere, 100 * 4096);
        put(&file, &[7; 512], 50 * 4096 + 1024);
        put(&file, &[0; 4096], 30 * 4096);
        let outcome = run(&mut bed(&file), &spec(engine, Rw::Read, 65_536, 1 << 20), 16).unwrap();
        let found = outcome.trial.verify.unwrap();
        assert_eq!((found.checked, found.misplaced, found.torn, found.bad()), (255, 1, 1, 2), "{engine}");
        assert!(
            outcome.notes.contains(&LoopNote::UnmarkedBlocks { unmarked: 1, blocks: 256 }),
            "{:?}",
            outcome.notes
        );
    }
}

#[test]
fn what_was_not_marked_cannot_be_verified_and_says_so() {
    let file = file(1 << 20);
    let why = |spec: &TrialSpec| {
        let error = run(&mut bed(&file), spec, 4).unwrap_err();
        Unfit::of(&error).expect("it is bad usage, not a failure").to_string()
    };
    let reads = |bytes| spec("psync", Rw::RandRead, bytes, 1 << 20);
    assert!(why(&reads(4096)).contains("none of the 31 blocks"), "{}", why(&reads(4096)));
    run(&mut bed(&file), &spec("psync", Rw::Write, 16_384, 1 << 20), 64).unwrap();
    assert!(why(&reads(4096)).contains("--bs 16 KiB"), "{}", why(&reads(4096)));
    let shifted = TrialSpec { offset_bytes: 512, span_bytes: (1 << 20) - 16_384, ..reads(16_384) };
    assert!(why(&shifted).contains("begin within one"), "{}", why(&shifted));
    assert!(why(&TrialSpec { align_bytes: Some(4096), ..reads(16_384) }).contains("--align"));
}

#[test]
fn generations_count_the_writes_to_each_block() {
    let file = file(8 * 4096);
    trial(&file, &spec("psync", Rw::Write, 4096, 8 * 4096), 20, &mut |_| ());
    let generations: BTreeMap<u32, usize> = (0..8).fold(BTreeMap::new(), |mut counts, number| {
        let mark = BlockMark::of_block(&block(&file, 4096, number)).unwrap();
        *counts.entry(mark.generation).or_default() += 1;
        counts
    });
    assert_eq!(generations, BTreeMap::from([(2, 4), (3, 4)]));
}
