//! A notebook that lies on the storage under test, as on a laptop, changes nothing. Alone in its file: cargo runs
//! test binaries one after another, and the other tests' notebooks would write meanwhile.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use common::{Bench, SMALL_STUDY, direct_here};

#[test]
fn a_notebook_on_the_storage_under_test_writes_nothing_while_a_trial_runs() {
    let bench = Bench::new();
    if !direct_here(&bench) {
        return;
    }
    bench.file("data", 64);
    bench.text("small.toml", SMALL_STUDY);
    let run = bench.run(&["run", "small.toml", "data", "--read-only"]);
    let written: Option<Vec<u64>> = run.trials.iter().map(|t| t.witnesses.block_layer_write_bytes).collect();
    let Some(written) = written else {
        eprintln!("skipped: no block-layer counters here");
        return;
    };
    // A commit is tens of KiB. Were its write-back left to a later moment, every trial would see it; others on this
    // machine write now and then, so a quarter of the trials must have seen less than one page.
    let quiet = written.iter().filter(|&&bytes| bytes < 4096).count();
    assert!(quiet * 4 >= written.len(), "bytes written during the reading trials: {written:?}");
}
