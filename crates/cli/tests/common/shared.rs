//! Simulated runs that several tests of one program look at, each made once: the same command with the same seed gives
//! the same run.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex, OnceLock},
};

use super::{Bench, Run};

/// A run and the notebook that holds it.
pub(crate) struct Shared {
    pub(crate) run: Run,
    notebook: Vec<u8>,
}

impl Shared {
    /// A bench whose notebook has the run.
    pub(crate) fn bench(&self) -> Bench {
        let bench = Bench::new();
        fs::write(bench.path("notebook.db"), &self.notebook).unwrap();
        bench
    }
}

type Runs = BTreeMap<Vec<String>, Arc<OnceLock<Arc<Shared>>>>;
static RUNS: Mutex<Runs> = Mutex::new(BTreeMap::new());

/// The run that `iosonde run` with these words makes, on a bench without files of its own.
pub(crate) fn run(words: &[&str]) -> Arc<Shared> {
    let words = [&["run"], words].concat();
    let key = words.iter().copied().map(str::to_owned).collect();
    let place = RUNS.lock().unwrap().entry(key).or_default().clone();
    // Outside of the lock: a test waits for the run that it needs, not for another's.
    let made = place.get_or_init(|| {
        let bench = Bench::new();
        let run = bench.run(&words);
        Arc::new(Shared { run, notebook: fs::read(bench.path("notebook.db")).unwrap() })
    });
    made.clone()
}
