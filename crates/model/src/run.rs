//! One execution of a study on a target: the whole document, as kept, exported and shown.

use serde::{Deserialize, Serialize};

use crate::{Device, Finding, Host, Judgement, Point, RunHost, Trial, fio::FioJobs};

/// The version of the JSON document.
pub const RUN_SCHEMA: u32 = 2;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Finished.
    Done,
    /// Stopped by a signal or a kill; `resume` goes on.
    Interrupted,
    /// In progress.
    Running,
    /// Ended by an error.
    Failed,
}

impl std::fmt::Display for RunState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Running => "running",
            Self::Failed => "failed",
        })
    }
}

/// Description of a run without its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Short and unique in a notebook: `7f3a91`.
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// The user's note.
    pub note: Option<String>,
    /// The study's name; `point` for a single workload.
    pub study: String,
    /// The first of the runs that this one repeats; `None` for that one itself and for runs without repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Number of the repeat, from 1; `None` for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Runs on other targets that took turns with this one, trial by trial within each round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_turn_with: Vec<String>,
    /// The run, among those, on the storage above which this target lies: their difference is what the layers between
    /// cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// An earlier run of this storage that this one is compared with as soon as it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The study's text, so that the run can be repeated when the study has changed.
    #[serde(default)]
    pub study_source: String,
    /// The target as it was typed.
    pub target: String,
    /// Seed of the random number generator.
    pub seed: u64,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// Duration on the run's own clock, in seconds.
    pub elapsed_s: f64,
    /// State of the run: `done`, `interrupted`, `running` or `failed`.
    pub state: RunState,
    /// The command line.
    pub command: String,
    /// Bytes written to the target, preparation included.
    pub bytes_written: u64,
    /// Budget, preparation included.
    #[serde(default)]
    pub budget_s: Option<f64>,
    /// Requested half width of the intervals, as a share of the value.
    #[serde(default)]
    pub precision: f64,
    /// Confidence of every interval, as a share: 0.95.
    #[serde(default)]
    pub confidence: f64,
    /// Rounds that were completed.
    #[serde(default)]
    pub rounds: u32,
    /// Device that is measured.
    pub device: Device,
    /// Machine that measures.
    pub host: Host,
    /// The hosts that measured at the same time, that of `host` included; empty where it was alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RunHost>,
    /// Options as given, needed to resume the run.
    #[serde(default)]
    pub options: serde_json::Value,
    /// Jobs of a run that came from fio's job files or command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio: Option<FioJobs>,
}

/// The study's name of results that another tool measured.
pub const IMPORT: &str = "import";

impl RunInfo {
    /// Returns true if trials are independent workloads without repetition: single points, fio's jobs and imported
    /// results.
    pub fn is_single(&self) -> bool {
        self.study == "point" || self.fio.is_some() || self.is_imported()
    }

    /// Returns true if another tool measured the results.
    pub fn is_imported(&self) -> bool {
        self.study == IMPORT
    }
}

/// Execution of a study on a target, with everything concluded from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of iosonde that concluded.
    pub iosonde: String,
    /// Version of this document: 2.
    pub schema: u32,
    /// Description of the run.
    #[serde(rename = "run")]
    pub info: RunInfo,
    /// Trials in the order of execution.
    pub trials: Vec<Trial>,
    /// Results of all trials of each point.
    pub points: Vec<Point>,
    /// Verdicts of the checks. Worked out from the trials, and not kept.
    #[serde(skip)]
    pub verdicts: Vec<Judgement>,
    /// Findings about the storage. Worked out from the trials, and not kept.
    #[serde(skip)]
    pub findings: Vec<Finding>,
}

impl Run {
    /// A run of which nothing has been concluded yet.
    pub fn new(info: RunInfo, trials: Vec<Trial>) -> Self {
        Self {
            iosonde: env!("CARGO_PKG_VERSION").to_owned(),
            schema: RUN_SCHEMA,
            info,
            trials,
            points: Vec::new(),
            verdicts: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The trial of that id.
    pub fn trial(&self, id: u64) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.id == id)
    }
}
