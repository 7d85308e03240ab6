//! Published tables, judged.

use iosonde_model::{BlockSizes, IMPORT, LatencySummary, Rw};
use iosonde_testkit::specimen;

use super::*;

/// A row of the published table: depth, size, and thousands a second with microseconds for reads and writes.
fn row(depth: u32, size: u64, reads: Option<(f64, f64)>, writes: Option<(f64, f64)>) -> Trial {
    let mut trial = specimen::tabled();
    let empty = trial.read.take().unwrap();
    let side = |figures: Option<(f64, f64)>| {
        let (kiops, us) = figures?;
        let mut side = empty.clone();
        (side.iops, side.bytes_per_s) = (kiops * 1e3, kiops * 1e3 * size as f64);
        side.latency_ns = LatencySummary { mean: Some(us * 1e3), ..LatencySummary::default() };
        Some(side)
    };
    (trial.read, trial.write) = (side(reads), side(writes));
    trial.spec.rw = match (reads, writes) {
        (Some(_), Some(_)) => Rw::RandRw,
        (Some(_), None) => Rw::RandRead,
        _ => Rw::RandWrite,
    };
    trial.spec.read_percent = trial.spec.rw.is_mixed().then_some(50.0);
    (trial.spec.queue_depth, trial.spec.block_size_bytes) = (depth, size);
    trial
}

fn concluded(trials: Vec<Trial>) -> Run {
    let mut run = specimen::run(specimen::usual());
    run.info.study = IMPORT.into();
    run.trials = trials;
    for (place, trial) in run.trials.iter_mut().enumerate() {
        (trial.id, trial.point, trial.started_s) = (place as u64 + 1, Some(place), place as f64);
    }
    iosonde_infer::conclude::conclude(&mut run, None).unwrap();
    run
}

#[test]
fn an_imported_table_is_judged_worst_first() {
    let run = concluded(vec![
        row(64, 65_536, Some((19.7, 1167.0)), Some((20.1, 1993.0))),
        row(16, 4096, Some((76.1, 128.0)), Some((75.6, 52.0))),
        row(1024, 4096, Some((88.1, 2981.0)), Some((87.6, 2880.0))),
        row(64, 4096, Some((189.0, 248.0)), None),
    ]);
    let lines = result_lines(&run);
    let said: Vec<_> =
        lines.iter().map(|l| format!("{}: {}: {}", l.workload.whole(), l.verdict, l.why)).collect();
    assert_eq!(
        said,
        [
            // 88.1e3 × 2981e-6 + 87.6e3 × 2880e-6 = 514.9.
            "4 KiB random mix 50:50, QD 1024: invalid (queue depth): 88.1 k × 2.98 ms + 87.6 k × 2.88 ms = queue \
             depth 515, not 1024",
            // 189e3 × 248e-6 = 46.9.
            "4 KiB random reads, QD 64: invalid (queue depth): 189 k × 248 µs = queue depth 47, not 64",
            // 76.1e3 × 128e-6 + 75.6e3 × 52e-6 = 13.7.
            "4 KiB random mix 50:50, QD 16: invalid (queue depth): 76.1 k × 128 µs + 75.6 k × 52.0 µs = queue \
             depth 13.7, not 16",
            // 19.7e3 × 1167e-6 + 20.1e3 × 1993e-6 = 63.05.
            "64 KiB random mix 50:50, QD 64: valid: queue depth 63 of 64",
        ]
    );
    assert!(lines[0].meaning.as_ref().unwrap().starts_with("Either the queue depth was not reached"));
    assert_eq!(headline(&run, "a table"), "4 results from a table: 3 invalid, 1 without a fault");
    assert_eq!(would_settle(&run).unwrap(), "iosonde point TARGET --rw randrw --bs 4k --depth 1024");
}

/// M12: "lines up with the queuing theory".
#[test]
fn a_latency_that_grows_with_depth_is_held_against_the_law() {
    let run = concluded(vec![
        row(16, 4096, Some((76.1, 128.0)), Some((75.6, 52.0))),
        row(1024, 4096, Some((88.1, 2981.0)), Some((87.6, 2880.0))),
    ]);
    assert_eq!(
        across_depths(&run),
        [
            "4 KiB random mix 50:50, queue depth 16 to 1024 (×64): throughput grew ×1.16, so the mean latency must \
             grow ×55.3; it grew ×32.5. This contradicts Little's law (X·R = N)."
        ]
    );
    // Two depths that keep the law: 100 k × 160 us = 16, 200 k × 5,120 us = 1,024.
    let run = concluded(vec![
        row(16, 4096, Some((100.0, 160.0)), None),
        row(1024, 4096, Some((200.0, 5120.0)), None),
    ]);
    assert!(
        across_depths(&run)[0].ends_with("must grow ×32; it grew ×32, as expected."),
        "{:?}",
        across_depths(&run)
    );
}

#[test]
fn what_was_not_in_the_file_is_said() {
    let run = concluded(vec![row(64, 4096, Some((189.0, 248.0)), None)]);
    let said = unjudged(&run).join(", ");
    assert_eq!(said, "page cache, generator limit, failed requests, steady state, drift and noise");
    let mut silent = row(64, 4096, Some((189.0, 248.0)), None);
    silent.read.as_mut().unwrap().latency_ns.mean = None;
    let run = concluded(vec![silent]);
    assert_eq!(result_lines(&run)[0].verdict, "no fault found");
    assert!(unjudged(&run).iter().any(|line| line.starts_with("queue depth")));
}

#[test]
fn a_label_says_what_the_file_says() {
    let trial = |change: fn(&mut Trial)| {
        let mut trial = row(64, 4096, Some((100.0, 300.0)), Some((100.0, 300.0)));
        change(&mut trial);
        workload(&trial).whole()
    };
    assert_eq!(trial(|_| ()), "4 KiB random mix 50:50, QD 64");
    let unknown = trial(|trial| trial.unstated = vec![Unstated::Order, Unstated::QueueDepth]);
    assert_eq!(unknown, "4 KiB mix 50:50");
    let unlike = trial(|trial| {
        trial.spec.block_sizes = BlockSizes::weighted(&[(4096, 1.0), (65_536, 1.0)]);
        trial.spec.block_size_bytes = 65_536;
        let sides = [trial.read.as_mut().unwrap(), trial.write.as_mut().unwrap()];
        for (side, bytes) in sides.into_iter().zip([4096, 65_536]) {
            (side.ios, side.bytes) = (10, 10 * bytes);
        }
    });
    assert_eq!(unlike, "random mix 50:50, 4 KiB reads, 64 KiB writes, QD 64");
    let one_place = |blocks: u64| {
        let mut trial = row(1, 8192, None, Some((0.3, 3_800.0)));
        (trial.spec.rw, trial.spec.span_bytes) = (Rw::Write, blocks * 8192);
        workload(&trial).whole()
    };
    assert_eq!(
        [1, 2, 17].map(one_place),
        [
            "8 KiB writes of one block, QD 1",
            "8 KiB writes within 16 KiB, QD 1",
            "8 KiB sequential writes, QD 1"
        ]
    );
}

#[test]
fn what_memory_served_is_one_cause() {
    let mut trial = row(1, 4096, Some((650.0, 1.36)), None);
    trial.spec.direct = false;
    let read = trial.read.as_mut().unwrap();
    (read.ios, read.bytes) = (1_950_000, 1_950_000 * 4096);
    (trial.measured_s, trial.busy_share) = (3.0, Some(1.0));
    (trial.witnesses.read_most_bytes, trial.witnesses.write_most_bytes) = (Some(0), Some(4096));
    let run = concluded(vec![trial]);
    assert!(run.verdicts.iter().any(|judgement| judgement.check == CheckName::GeneratorBound));
    let lines = result_lines(&run);
    let alike = lines[0].alike.as_deref();
    assert!(
        matches!(alike, Some([Cause::NoWitness(cause::NoWitness::AtMost { most_bytes: 0, .. })])),
        "{alike:?}"
    );
}
