//! What is kept comes back to the last bit; what could not come back is not kept.

use iosonde_model::{Direction, LatencySummary, Phase, RequestError, RunInfo, RunState, Rw, Trial};
use iosonde_store::{Notebook, StoreError};
use proptest::{num::f64::*, prelude::*};

use crate::examples::{direction, info, notebook, trial};

/// Every finite number: what is measured, and what is not.
fn number() -> impl Strategy<Value = f64> {
    NORMAL | SUBNORMAL | ZERO | NEGATIVE
}

fn any_direction() -> impl Strategy<Value = Direction> {
    let latencies = prop::collection::vec(any::<u64>(), 0..30);
    (latencies, any::<[u64; 4]>(), number(), number(), prop::option::of(number())).prop_map(
        |(latencies, [ios, bytes, errors, short], iops, bytes_per_s, stddev)| {
            let plain = direction(&latencies, 1.0);
            let latency_ns = LatencySummary { stddev, ..plain.latency_ns };
            // Halved: the errors of both directions are added.
            let errors = errors / 2;
            Direction { ios, bytes, errors, short, iops, bytes_per_s, latency_ns, ..plain }
        },
    )
}

fn any_trial() -> impl Strategy<Value = Trial> {
    let phase = prop::sample::select(vec![Phase::Prepare, Phase::Canary, Phase::Measure]);
    let rw = prop::sample::select(Rw::ALL.to_vec());
    let counts = (any::<[u64; 6]>(), prop::option::of(0..usize::MAX), any::<[u32; 3]>());
    let numbers = (prop::array::uniform4(number()), prop::array::uniform4(prop::option::of(number())));
    let directions = (prop::option::of(any_direction()), prop::option::of(any_direction()));
    (phase, rw, counts, numbers, directions, "\\PC{0,20}").prop_map(
        |(phase, rw, (counts, point, [round, depth, jobs]), (numbers, options), (read, write), text)| {
            let mut out = trial(1);
            (out.phase, out.spec.rw, out.round, out.point) = (phase, rw, round, point);
            (out.spec.queue_depth, out.spec.jobs) = (depth, jobs);
            [out.spec.block_size_bytes, out.spec.span_bytes, out.unserved, out.hung, ..] = counts;
            [out.witnesses.issued_write_bytes, out.witnesses.issued_ios] = [counts[4], counts[5]];
            [out.started_s, out.elapsed_s, out.warmup_s, out.measured_s] = numbers;
            [out.in_flight_mean, out.busy_share, out.cpu_user_s, out.spec.read_percent] = options;
            (out.read, out.write) = (read, write);
            (out.experiment, out.error_examples) = (text.clone(), vec![RequestError::Other(text)]);
            out
        },
    )
}

proptest! {
    // 64: each case opens a notebook and syncs it.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_trial_comes_back_to_the_last_bit(kept in any_trial()) {
        // Sums of two huge rates overflow to infinity, which no column takes; no storage comes near.
        prop_assume!(kept.iops().is_finite() && kept.bytes_per_s().is_finite());
        let (_folder, mut notebook) = notebook();
        let _lock = notebook.begin(&info("7f3a91")).unwrap();
        notebook.append("7f3a91", &kept).unwrap();
        let run = notebook.load("7f3a91").unwrap();
        prop_assert_eq!(&run.trials[..], &[kept][..]);
    }
}

#[test]
fn a_run_comes_back_whole_and_in_the_order_of_execution() {
    let (_folder, mut notebook) = notebook();
    let kept = info("7f3a91");
    let _lock = notebook.begin(&kept).unwrap();
    for id in [2, 1, 3] {
        notebook.append("7f3a91", &trial(id)).unwrap();
    }
    let done = RunInfo { state: RunState::Done, elapsed_s: 0.1 + 0.2, bytes_written: 77, rounds: 5, ..kept };
    notebook.update(&done).unwrap();
    let run = notebook.load("7f3a91").unwrap();
    assert_eq!(run.info, done);
    assert_eq!(run.trials, [trial(1), trial(2), trial(3)]);
}

#[test]
fn histograms_keep_their_exact_mean_and_ends() {
    let (_folder, mut notebook) = notebook();
    let _lock = notebook.begin(&info("a")).unwrap();
    notebook.append("a", &trial(1)).unwrap();
    let read = notebook.load("a").unwrap().trials[0].read.clone().unwrap();
    // Buckets alone would give the edges of the bucket of 80,123 ns, which is 256 ns wide.
    assert_eq!(read.histogram.min_ns(), Some(80_123));
    assert_eq!(read.histogram.max_ns(), Some(1_000_001));
    // (80,123 + 81,456 + 1,000,001) / 3 = 387,193.3; the sum is kept in whole nanoseconds.
    let mean = read.histogram.mean_ns().unwrap();
    assert!((mean - 1_161_580.0 / 3.0).abs() <= 1.0 / 3.0, "{mean}");
}

#[test]
fn a_figure_that_is_no_number_is_refused_before_it_spoils_the_run() {
    let (_folder, mut notebook) = notebook();
    let _lock = notebook.begin(&info("a")).unwrap();
    let mut broken = trial(1);
    broken.measured_s = f64::NAN;
    let error = notebook.append("a", &broken).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    notebook.append("a", &trial(1)).unwrap();
    assert_eq!(notebook.load("a").unwrap().trials.len(), 1);
}

#[test]
fn a_trial_is_kept_once_and_only_in_a_run() {
    let (_folder, mut notebook) = notebook();
    let _lock = notebook.begin(&info("7f3a91")).unwrap();
    notebook.append("7f3a91", &trial(1)).unwrap();
    let twice = notebook.append("7f3a91", &trial(1)).unwrap_err();
    assert_eq!(twice.to_string(), "trial 1 of run `7f3a91` is in the notebook already");
    let nowhere = notebook.append("7f3a92", &trial(1)).unwrap_err().to_string();
    assert!(nowhere.contains("no run `7f3a92`; did you mean `7f3a91`?"), "{nowhere}");
}

#[test]
fn settling_brings_the_trials_into_the_file_itself() {
    let (folder, mut notebook) = notebook();
    let _lock = notebook.begin(&info("a")).unwrap();
    notebook.append("a", &trial(1)).unwrap();
    // A copy of the file alone, without its log, holds what the disk's owner no longer has to write.
    let trials_in_the_file_alone = |name: &str| {
        let copy = folder.path().join(name);
        std::fs::copy(folder.path().join("notebook.db"), &copy).unwrap();
        Notebook::open(&copy).unwrap().load("a").map_or(0, |run| run.trials.len())
    };
    assert_eq!(trials_in_the_file_alone("before.db"), 0);
    notebook.settle().unwrap();
    assert_eq!(trials_in_the_file_alone("after.db"), 1);
    // And again, now that the log is written from its beginning.
    notebook.append("a", &trial(2)).unwrap();
    notebook.settle().unwrap();
    assert_eq!(trials_in_the_file_alone("again.db"), 2);
}
