//! Keeps: the notebook of runs, an SQLite file that people can query.
//!
//! Every trial is committed as soon as it ends and never while one runs, so that kill -9 loses at most the trial
//! in flight and the notebook's own writes never fall into a measurement. Whoever wants the figures without
//! iosonde opens the file with `sqlite3`: `runs` and `trials` carry plain columns beside the JSON text.
//!
//! The order of a run's life: [`Notebook::begin`] (holds a [`RunLock`] until the run ends), then for every trial
//! [`Notebook::append`] and, where [`same_storage`] says so, [`Notebook::settle`], at the end
//! [`Notebook::update`]. A run whose lock is free although it is written down as running was killed: it is shown
//! as interrupted and can be claimed again with [`Notebook::claim`].

mod disks;
mod error;
pub mod export;
pub mod import;
mod journal;
mod lock;
mod notebook;
mod place;
mod read;
mod run_file;
mod schema;
mod settle;
mod stray;
mod write;

pub use disks::same_storage;
pub use error::StoreError;
pub use journal::{Journal, journal_kind};
pub use lock::RunLock;
pub use notebook::Notebook;
pub use place::default_path;
pub use read::RunSummary;
pub use run_file::{RunFileError, read_run};
