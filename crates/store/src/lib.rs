//! Notebook of runs: one SQLite file that any program can query.
//!
//! Every trial is committed as soon as it ends, and nothing is written while one runs. So `kill -9` loses at most the
//! running trial, and the notebook's own writes never disturb a measurement. To read the figures without iosonde,
//! open the file with `sqlite3`: the tables `runs` and `trials` have plain columns beside the JSON text.
//!
//! Life of a run: [`Notebook::begin`] returns a [`RunLock`], which is held until the run ends. Each trial is kept with
//! [`Notebook::append`] and, where [`same_storage`] is true, [`Notebook::settle`]. [`Notebook::update`] stores the
//! final state. A run that is stored as running but not locked was killed: it is read as interrupted, and
//! [`Notebook::claim`] locks it again to resume it.
//!
//! [`export`] and [`import`] convert runs to and from other formats (CSV, fio's JSON); [`read_run`] reads a run from a
//! JSON file.
//!
//! # Example
//!
//! ```
//! use iosonde_model::{Device, Host, Phase, RunInfo, RunState, Rw, Trial, TrialSpec};
//! use iosonde_store::Notebook;
//!
//! let folder = tempfile::tempdir()?;
//! let mut notebook = Notebook::open(&folder.path().join("notebook.db"))?;
//!
//! let info = RunInfo {
//!     id: notebook.fresh_id()?,
//!     study: "quick".into(),
//!     target: "/dev/nvme0n1".into(),
//!     seed: 1,
//!     started_at: "2026-11-21T10:30:00Z".into(),
//!     state: RunState::Running,
//!     device: Device::unknown("block device", 1 << 30),
//!     host: Host::default(),
//!     precision: 0.05,
//!     confidence: 0.95,
//!     // Further fields: label, note, command, options, ..
//! #   label: None,
//! #   note: None,
//! #   series: None,
//! #   in_turn_with: Vec::new(),
//! #   over: None,
//! #   against: None,
//! #   repeat: None,
//! #   study_source: String::new(),
//! #   elapsed_s: 0.0,
//! #   command: "iosonde run quick /dev/nvme0n1".into(),
//! #   bytes_written: 0,
//! #   budget_s: Some(90.0),
//! #   rounds: 0,
//! #   options: serde_json::Value::Null,
//! #   hosts: Vec::new(),
//! #   fio: None,
//! };
//! let lock = notebook.begin(&info)?;
//!
//! let spec = TrialSpec { rw: Rw::RandRead, block_size_bytes: 4096, queue_depth: 8, ..TrialSpec::default() };
//! let trial = Trial { id: 1, elapsed_s: 1.0, ..Trial::blank(spec, Phase::Measure) };
//! notebook.append(&info.id, &trial)?;
//!
//! notebook.update(&RunInfo { state: RunState::Done, elapsed_s: 1.0, ..info.clone() })?;
//! drop(lock);
//!
//! let run = notebook.load(&info.id)?;
//! assert_eq!(run.info.state, RunState::Done);
//! assert_eq!(run.trials, [trial]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adopt;
mod companion;
mod error;
pub mod export;
mod files;
pub mod import;
mod journal;
mod lock;
mod notebook;
mod place;
mod platform;
mod read;
mod run_file;
mod schema;
mod settle;
mod stray;
mod text_file;
mod write;

pub use error::StoreError;
pub use files::is_notebook;
pub use journal::{Journal, journal_kind};
pub use lock::{LockedByTheKilled, RunLock, ask_of_the_killed};
pub use notebook::Notebook;
pub use place::default_path;
pub use platform::same_storage;
pub use read::RunSummary;
pub use run_file::{RunFileError, holds_run, read_run};
pub use text_file::{TEXT_BYTES_MAX, read_at_most, read_text};
