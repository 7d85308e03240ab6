//! Engines: ways to hand requests to storage, one file each.
//!
//! An engine has a cold half, [`EngineKind`], which is registered, and a hot half, [`Engine`], which is called
//! once a batch, reads no clock and allocates nothing. The driver stamps time, never the engine.

mod waiting;

use std::{fs::File, io, sync::Arc};

use iosonde_model::{LoopNote, Named, Op, Sync, registry};

use crate::{buffer::BufferPool, clock::Clock};

registry! {
    /// Registry of engines, the best general choice first.
    pub ENGINES: EngineKind "engine" {
        #[cfg(target_os = "linux")] io_uring::IoUring,
        #[cfg(target_os = "linux")] libaio::Libaio,
        #[cfg(windows)] iocp::Iocp,
        #[cfg(windows)] ioring::IoRing,
        threads::Threads,
        psync::Psync,
        #[cfg(target_os = "linux")] mmap::Mmap,
        null::Null,
        sim::Sim,
    }
}

/// Request to an engine: its slot (which selects its buffer) and what to transfer. A mix of reads and writes has twice
/// as many slots as the queue depth, so that data read never becomes data written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Index of the buffer. No other request may use it until the completion is reaped.
    pub slot: u32,
    /// Read, write, trim or flush.
    pub op: Op,
    /// Length in bytes; 0 for a flush.
    pub length_bytes: u32,
    /// Byte offset in the target; 0 for a flush.
    pub offset_bytes: u64,
}

/// Completion of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request's slot.
    pub slot: u32,
    /// Bytes moved (trimmed, where it was a trim; 0 of a flush), or a negative errno.
    pub result: i32,
}

/// Completions of one `reap`, with capacity for the whole queue depth.
pub type Completions = Vec<Completion>;

/// The hot half: called per batch, reads no clock, allocates nothing.
pub trait Engine {
    /// Takes requests, in order, as many as it can; says how many. The rest is offered again after a `reap`.
    /// `now_ns` is the driver's clock, which only virtual devices need.
    fn submit(&mut self, now_ns: u64, requests: &[Request]) -> io::Result<usize>;

    /// Appends completions, waiting at most `wait_ns` from now (0 polls, `u64::MAX` waits for ever) for the first.
    /// May return none. In virtual time it never waits: the driver moves the clock.
    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()>;

    /// Returns the time of the next completion in virtual time; `None` on real engines and where nothing is under way.
    fn next_event_ns(&self) -> Option<u64> {
        None
    }

    /// Returns notes for the reader that are known only after the run; called once, when it is over.
    fn remarks(&self) -> Vec<LoopNote> {
        Vec::new()
    }

    /// Ends the engine's own threads, once the loop is over, and returns the processor time that they used: seconds in
    /// user mode and in the kernel. `None` where it is not known.
    fn end_threads(&mut self) -> Option<(f64, f64)> {
        Some((0.0, 0.0))
    }
}

/// Opened target of a measurement.
#[derive(Debug)]
pub enum Storage {
    /// An open file or block device; `O_DIRECT` is set on it or not.
    File(Arc<File>),
    /// A simulated device, shared by all jobs of a trial.
    Simulated(SharedDevice),
}

pub use crate::simulated::SharedDevice;

/// Abilities of an engine on a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Requests run inside `submit`: no deadline can be kept, and the storage sees QD 1.
    pub blocking: bool,
    /// Largest queue depth.
    pub depth_max: u32,
    /// Limit behind `depth_max` and its remedy: the end of a sentence that refuses a larger depth.
    pub depth_why: &'static str,
}

impl Abilities {
    /// Checks a queue depth.
    ///
    /// # Errors
    /// Returns [`Unavailable`] with the reason if the engine cannot keep this queue depth.
    pub fn refuse_depth(&self, engine: &str, depth: u32) -> Result<(), Unavailable> {
        let Self { depth_max, depth_why, .. } = self;
        if depth <= *depth_max {
            return Ok(());
        }
        Err(Unavailable(format!(
            "{engine} keeps a queue depth of at most {depth_max}, not {depth}: {depth_why}"
        )))
    }
}

/// Reason why an engine cannot be used here, with the remedy, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Resources and settings with which an engine is opened.
pub struct Bench<'a> {
    /// Storage to measure.
    pub storage: &'a Storage,
    /// Largest queue depth.
    pub depth: u32,
    /// Aligned buffers, one for each slot: at least as many as the queue depth.
    pub buffers: &'a BufferPool,
    /// True if the page cache is bypassed. On files the descriptor carries it, simulated devices must be told.
    pub direct: bool,
    /// Method that makes writes durable. The engine requests `Dsync` with each write; a flush may be one of data alone
    /// (`fdatasync`).
    pub sync: Sync,
    /// Requested options, all known to the engine.
    pub options: &'a [&'static str],
    /// True if written data must be readable: a simulated device stores nothing otherwise.
    pub verify: bool,
    /// Number of the job, which tells jobs on one simulated device apart.
    pub job: u32,
    /// Its host, of several on one simulated device.
    pub host: u32,
    /// Where new files are created, for a stream that writes them.
    pub new_files: Option<NewFiles<'a>>,
}

/// Where a stream creates its files.
#[derive(Debug, Clone, Copy)]
pub struct NewFiles<'a> {
    /// Folder of the target; `None` on a simulated device.
    pub folder: Option<&'a File>,
    /// Offset of a file's first write.
    pub offset_bytes: u64,
    /// Size of a file.
    pub file_bytes: u64,
}

impl Bench<'_> {
    /// Returns true if the option was requested.
    pub fn has(&self, option: &str) -> bool {
        self.options.contains(&option)
    }
}

/// Option of an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineOption {
    /// Name, as in `io_uring:sqpoll`.
    pub name: &'static str,
    /// Explanation in one sentence.
    pub explain: &'static str,
}

/// Opened engine and the clock that times it.
pub struct Opened {
    /// Engine, ready for requests.
    pub engine: Box<dyn Engine>,
    /// Real clock, or that of the simulated device.
    pub clock: Clock,
    /// Notes for the reader: registered buffers refused for want of locked memory, ..
    pub notes: Vec<LoopNote>,
}

/// The cold half of an engine: registered.
pub trait EngineKind: Named {
    /// Tests on this storage whether the engine works, and returns its abilities.
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable>;

    /// Makes it ready.
    fn open(&self, bench: &Bench) -> io::Result<Opened>;

    /// Returns the engine's options.
    fn options(&self) -> &'static [EngineOption] {
        &[]
    }

    /// Tests on this storage whether the options work.
    fn probe_options(&self, _storage: &Storage, _options: &[&'static str]) -> Result<(), Unavailable> {
        Ok(())
    }

    /// Returns true if the engine can write a stream to new files.
    fn makes_files(&self) -> bool {
        false
    }

    /// Returns true if the engine may be chosen automatically. Otherwise it is not used to fill files either.
    fn by_itself(&self) -> bool {
        true
    }
}

/// Finds an engine with its options by the text of a workload: `io_uring`, `io_uring:sqpoll,iopoll`.
pub fn named(text: &str) -> Result<(&'static dyn EngineKind, Vec<&'static str>), Unavailable> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let kind = ENGINES.find(name).map_err(|unknown| Unavailable(unknown.to_string()))?;
    let mut options = Vec::new();
    for asked in rest.split(',').filter(|asked| !asked.is_empty()) {
        let known = kind.options().iter().find(|option| option.name == asked);
        options.push(known.ok_or_else(|| no_such_option(kind, asked))?.name);
    }
    Ok((kind, options))
}

fn no_such_option(kind: &dyn EngineKind, asked: &str) -> Unavailable {
    let names: Vec<&str> = kind.options().iter().map(|option| option.name).collect();
    let known =
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    Unavailable(format!("{} has no option `{asked}`: {known}", kind.name()))
}

/// Engine that works on a storage, with a note if it is not the best choice.
pub struct Chosen {
    /// Kind of the engine.
    pub kind: &'static dyn EngineKind,
    /// Name with options, as workloads carry it.
    pub name: String,
    /// Abilities on this storage.
    pub abilities: Abilities,
    /// Reason why it is not the first choice, where it is not.
    pub note: Option<LoopNote>,
}

/// Returns the requested engine, or the first in the registry that works on this storage. Engines that measure
/// something other than storage are used only on request.
pub fn choose(storage: &Storage, wanted: Option<&str>) -> Result<Chosen, Unavailable> {
    if let Some(name) = wanted {
        let (kind, options) = named(name)?;
        let abilities = kind.probe(storage)?;
        kind.probe_options(storage, &options)?;
        return Ok(Chosen { kind, name: name.to_owned(), abilities, note: None });
    }
    let simulated = matches!(storage, Storage::Simulated(_));
    let mut refused = Vec::new();
    let mine = |kind: &&dyn EngineKind| kind.by_itself() && (kind.name() == "sim") == simulated;
    for kind in ENGINES.iter().filter(mine) {
        match kind.probe(storage) {
            // A depth that the storage never sees must be requested explicitly.
            Ok(Abilities { blocking: true, depth_max: 2.., .. }) => {
                refused.push(format!("{} would make these requests one after the other", kind.name()));
            }
            Ok(abilities) => {
                let name = kind.name().to_owned();
                let note =
                    (!refused.is_empty()).then(|| LoopNote::OtherEngine { engine: name.clone(), refused });
                return Ok(Chosen { kind, name, abilities, note });
            }
            Err(Unavailable(why)) => refused.push(why),
        }
    }
    Err(Unavailable(format!("no engine works here: {}", refused.join("; "))))
}
