//! What was asked of a run, as it is kept with it.

use iosonde_model::{HostLayout, Run};
use iosonde_rig::guard::{Destroy, Intent, Writes};
use serde::{Deserialize, Serialize};

use crate::{args::TargetArgs, failure::Failure, hosts::Hosts, state::State};

/// Options of a run, kept with it so that `resume` uses the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Budget, preparation included.
    pub time_ns: u64,
    /// Half an interval's width, as a share.
    pub precision: f64,
    /// Confidence of every interval, as a share: 0.95.
    pub confidence: f64,
    /// Exactly so many rounds.
    pub rounds: Option<u32>,
    /// The prepared area.
    pub size_bytes: Option<u64>,
    /// The engine.
    pub engine: Option<String>,
    /// Direct I/O: insisted on, forbidden, or as the file system gives it.
    pub direct: Option<bool>,
    /// Write nothing.
    pub read_only: bool,
    /// The user's word to overwrite; empty without an identity.
    pub destroy: Option<String>,
    /// Which file that word was for.
    #[serde(default)]
    pub destroyed: Option<String>,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Where the order of points and their offsets follow from, where several targets take turns: theirs is one.
    #[serde(default)]
    pub order_seed: Option<u64>,
    /// The state that the storage is brought to first.
    #[serde(default)]
    pub state: Option<State>,
    /// The most that may be written in all.
    #[serde(default)]
    pub max_write_bytes: Option<u64>,
    /// The size is that of another run, and no smaller one will do however long filling takes.
    #[serde(default)]
    pub exact_size: bool,
    /// Hosts that measure at the same time, where there are several.
    #[serde(default)]
    pub hosts: Option<u32>,
    /// Layout of the data of hosts and workers.
    #[serde(default)]
    pub layout: Option<HostLayout>,
    /// Reads go to what another host wrote.
    #[serde(default)]
    pub rotate: bool,
    /// Measuring time that was added after the run had finished.
    #[serde(default)]
    pub additions: Vec<Addition>,
}

/// More of a finished run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    /// Time for it.
    pub time_ns: u64,
    /// Half an interval's width, as a share.
    pub precision: f64,
    /// Rounds in all once it is done.
    pub rounds: Option<u32>,
    /// Time measured so far at the request: the time of `--add` begins there, however often the run is resumed.
    #[serde(default)]
    pub begun_s: Option<f64>,
}

impl Options {
    /// Options that `run` and `point` share.
    pub fn of(args: &TargetArgs, time_ns: u64, precision: f64, rounds: Option<u32>) -> Self {
        // 53 bits: JSON numbers are doubles to many readers.
        let seed = args.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
        let usual = Self::usual(time_ns, precision, seed);
        Self {
            confidence: args.confidence,
            rounds,
            size_bytes: args.size,
            engine: args.engine.clone(),
            direct: args.direct.or(args.buffered.then_some(false)),
            read_only: args.read_only,
            destroy: args.destroy.clone(),
            hosts: args.hosts.or(usual.hosts),
            layout: args.layout,
            rotate: args.rotate,
            ..usual
        }
    }

    /// Options of a run for which nothing but time, precision and seed was given.
    pub fn usual(time_ns: u64, precision: f64, seed: u64) -> Self {
        Self {
            time_ns,
            precision,
            confidence: 0.95,
            rounds: None,
            size_bytes: None,
            engine: None,
            direct: None,
            read_only: false,
            destroy: None,
            destroyed: None,
            seed,
            order_seed: None,
            state: None,
            max_write_bytes: None,
            exact_size: false,
            hosts: Some(Hosts::of_process().count()).filter(|&count| count > 1),
            layout: None,
            rotate: false,
            additions: Vec::new(),
        }
    }

    /// The options that a run of a study was begun with; `fate` is what cannot be done with one of another version.
    pub fn kept(run: &Run, fate: &str) -> Result<Self, Failure> {
        serde_json::from_value(run.info.options.clone()).map_err(|error| {
            let id = &run.info.id;
            Failure::failed(format!("run {id} was kept by another version of iosonde and {fate}: {error}"))
        })
    }

    /// A user who confirms overwriting wants the target filled before it is read, too.
    pub fn intent(&self, writes: Writes) -> Intent {
        let overwrites = writes == Writes::None && self.destroy.is_some();
        let writes = if overwrites { Writes::Optional } else { writes };
        let destroy = self.destroy.as_ref().map(|identity| match identity.as_str() {
            "" => Destroy::Plain,
            identity => Destroy::Identity(identity.to_owned()),
        });
        Intent { read_only: self.read_only, destroy, ..Intent::of(writes) }
    }
}
