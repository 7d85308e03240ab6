//! Refuses anything that could destroy data, and hands out the one descriptor that may be written.
//!
//! Refused whatever is given: devices that are mounted, swapped to or part of something, and files and
//! devices behind a loop device or in use as swap. An existing file needs the user's word, `--destroy`; a
//! device that holds anything needs its name as well, `--destroy=IDENTITY`. `--read-only` beats both: then
//! the only descriptor there is cannot write. A refusal comes before the first written byte.

mod block;
mod direct;
mod directory;
mod file;
mod identity;
mod loops;
mod open;
mod own;
mod refusal;
mod room;
mod signature;
mod target;
mod users;

use std::{fs::File, path::PathBuf, sync::Arc};

use iosonde_model::DeviceNote;

pub use direct::{DirectAbility, direct_ability, set_direct};
pub use own::{OwnFile, StrayRecorder, remove_strays};
pub use refusal::{Advice, Refusal, quoted};
pub use target::Target;

pub use crate::platform::Kind;

/// The user's word that what is there may be overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destroy {
    /// `--destroy`: enough for a file, and for a device that holds nothing.
    Plain,
    /// `--destroy=IDENTITY`: names the device.
    Identity(String),
}

/// Intended use of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// `--read-only`: nothing may be written, whatever else is given.
    pub read_only: bool,
    /// `--destroy`.
    pub destroy: Option<Destroy>,
    /// True if the study writes to an existing target. A directory's own file is filled in any case.
    pub writes: bool,
}

impl Intent {
    fn will_write(&self) -> bool {
        self.writes && !self.read_only
    }
}

/// An open target, judged.
#[derive(Debug)]
pub struct Admitted {
    /// The only descriptor to measure through. Cannot write unless `writable`.
    pub file: Arc<File>,
    /// Path as typed.
    pub path: PathBuf,
    /// Kind of the target.
    pub kind: Kind,
    /// iosonde's own file, in a directory; nothing remains of it when this is dropped.
    pub own: Option<OwnFile>,
    /// Present size: 0 for a fresh own file.
    pub size_bytes: u64,
    /// The most that may be filled, where that is not the present size: of an own file, its largest size;
    /// of a sparse file, what there is room for.
    pub room_bytes: Option<u64>,
    /// Free space in the file system of a directory, where it is known.
    pub free_bytes: Option<u64>,
    /// True if the target may be written.
    pub writable: bool,
    /// Notes on the target that a reader must know.
    pub notes: Vec<DeviceNote>,
}

/// Opens a target for the intended use, or returns a refusal with the remedy. `recorder` records an own file that needs
/// a name before the file is made.
pub fn admit(
    target: &Target,
    intent: &Intent,
    recorder: &mut dyn StrayRecorder,
) -> Result<Admitted, Refusal> {
    match target {
        Target::Directory(path) => directory::admit(path, intent, recorder),
        Target::File(path) => file::admit(path, intent),
        Target::BlockDevice(path) => block::admit(path, intent),
        Target::Simulated(name) => Err(Refusal::new(format!("sim:{name} is simulated: nothing to open."))),
    }
}

/// The kind was looked at when the command line was read, and is another now.
fn exchanged(path: &std::path::Path) -> Refusal {
    Refusal::new(format!("{} became something else while it was being opened.", path.display()))
        .hint("Nothing was written. Try again when it stays what it is.")
}
