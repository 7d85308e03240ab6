//! A service of files with known times: what a file system or its server does with names and small files.
//!
//! Law: `servers` equal servers, one queue before them, first come, first served. Each step takes its time, multiplied
//! by a lognormal factor of mean 1 where `cv` is given. With W workers that each ask for one thing at a time, the
//! service does min(W, `servers`) / time a second, and one waits max(1, W / `servers`) times as long.
//!
//! ```toml
//! [files]
//! servers = 2
//! create = "200us"            # and stat, open, read, list (of a directory), rename, unlink, write_fsync
//! stat = "5us"
//! # ..
//! sync = "20ms"               # all that was created, to storage
//! cv = 0.3                    # default 0
//! ```

use iosonde_model::{FileError, FileStep, units::TimeNs};
use rand_distr::{Distribution, LogNormal};
use serde::Deserialize;

use crate::{
    random::{Random, stream, whole_ns},
    reader::Reader,
};

/// Meaning of the keys that must be given.
pub(crate) const NEEDED: &[(&str, &str)] = &[
    ("files.servers", "how many serve at once"),
    ("files.create", "how long a new file takes, such as \"200us\""),
    ("files.stat", "how long `stat` takes"),
    ("files.open", "how long opening takes"),
    ("files.read", "how long opening and reading takes"),
    ("files.list", "how long listing a directory takes"),
    ("files.rename", "how long renaming takes"),
    ("files.unlink", "how long removing takes"),
    ("files.write_fsync", "how long a new file takes that is flushed"),
    ("files.sync", "how long it takes to bring to storage what was created"),
];

#[derive(Deserialize)]
struct FilesKeys {
    servers: u32,
    create: TimeNs,
    stat: TimeNs,
    open: TimeNs,
    read: TimeNs,
    list: TimeNs,
    rename: TimeNs,
    unlink: TimeNs,
    write_fsync: TimeNs,
    sync: TimeNs,
    #[serde(default)]
    cv: f64,
}

/// Times of a service of files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilesSettings {
    servers: u32,
    /// In the order of [`FileStep::ALL`].
    step_ns: [u64; 8],
    sync_ns: u64,
    cv: f64,
}

impl FilesSettings {
    /// Reads `[files]`.
    pub(crate) fn read(reader: &Reader) -> Result<Option<Self>, FileError> {
        let Some(keys) = reader.section::<FilesKeys>("files")? else { return Ok(None) };
        if !(1..=1024).contains(&keys.servers) {
            return Err(reader.impossible("files.servers", "there must be between 1 and 1,024"));
        }
        if !(0.0..=10.0).contains(&keys.cv) {
            return Err(reader.impossible("files.cv", "deviation over mean, between 0 and 10"));
        }
        let step_ns = [
            keys.create,
            keys.stat,
            keys.open,
            keys.read,
            keys.list,
            keys.rename,
            keys.unlink,
            keys.write_fsync,
        ]
        .map(|time| time.0);
        if step_ns.contains(&0) {
            return Err(reader.impossible("files", "what takes no time never ends a loop"));
        }
        Ok(Some(Self { servers: keys.servers, step_ns, sync_ns: keys.sync.0, cv: keys.cv }))
    }
}

/// A service of files at work.
#[derive(Debug)]
pub struct FileService {
    settings: FilesSettings,
    /// When each server is free.
    free_ns: Vec<u64>,
    random: Random,
    /// Factor of each time.
    factor: Option<LogNormal<f64>>,
}

impl FileService {
    pub(crate) fn new(settings: FilesSettings, seed: u64) -> Self {
        let factor = (settings.cv > 0.0).then(|| {
            LogNormal::from_mean_cv(1.0, settings.cv)
                .expect("mean and deviation were checked when they were read")
        });
        Self { settings, free_ns: vec![0; settings.servers as usize], random: stream(seed, "files"), factor }
    }

    /// Takes a request at a time that is no earlier than that of any before it, and returns when it is answered.
    pub fn serve(&mut self, now_ns: u64, step: FileStep) -> u64 {
        let place = FileStep::ALL.iter().position(|one| *one == step).expect("all steps are in it");
        let factor = self.factor.map_or(1.0, |factor| factor.sample(&mut self.random));
        let time_ns = whole_ns(self.settings.step_ns[place] as f64 * factor).max(1);
        let first = self.free_ns.iter_mut().min().expect("there is a server");
        *first = (*first).max(now_ns) + time_ns;
        *first
    }

    /// Time to bring to storage what was created, in nanoseconds.
    pub fn sync_ns(&self) -> u64 {
        self.settings.sync_ns
    }
}
