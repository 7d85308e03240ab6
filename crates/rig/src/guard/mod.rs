//! Refuses anything that could destroy data, and hands out the one descriptor that may be written.
//!
//! Refused whatever is given: devices that are mounted, swapped to or part of something, and files and
//! devices behind a loop device or in use as swap. An existing file needs the user's word, `--destroy`; a
//! device that holds anything needs its name as well, `--destroy=IDENTITY`. `--read-only` beats both: then
//! the only descriptor there is cannot write. A refusal comes before the first written byte.

mod admitted;
mod block;
mod direct;
mod directory;
mod file;
mod held;
mod identity;
mod inode;
mod intent;
mod links;
mod loops;
mod open;
mod own;
mod refusal;
mod room;
mod signature;
mod target;
mod users;

pub use admitted::Admitted;
pub use direct::{DirectAbility, direct_ability, set_direct};
use inode::Inode;
pub use intent::{Destroy, Intent, Protected, Writes};
pub use links::refuse_strangers_link;
pub(crate) use own::unnamed;
pub use own::{OwnFile, StrayRecorder, remove_strays};
pub use refusal::{Refusal, Remedy, quoted};
pub use target::Target;

pub use crate::platform::TargetKind;

/// Opens a target for the intended use, or returns a refusal with the remedy. `recorder` records an own file that needs
/// a name before the file is made.
pub fn admit(
    target: &Target,
    intent: &Intent,
    recorder: &mut dyn StrayRecorder,
) -> Result<Admitted, Refusal> {
    let admitted = match target {
        Target::Directory(path) => directory::admit(path, intent, recorder),
        Target::File(path) => file::admit(path, intent),
        Target::BlockDevice(path) => block::admit(path, intent),
        Target::Simulated(name) => Err(Refusal::new(format!("sim:{name} is simulated: nothing to open."))),
    };
    admitted.map_err(|refusal| refusal.for_writes(intent.writes))
}

/// What uses a regular file at this moment, as in "disk.img stands behind the loop device /dev/loop3": a loop device,
/// or the kernel as swap. `None` if nothing does, or if there is no file.
pub fn user_of(path: &std::path::Path) -> Option<String> {
    let stat = rustix::fs::stat(path).ok()?;
    users::user_of_file(&crate::platform::System::real(), Inode::of(&stat)).map(|user| user.to_string())
}
