//! Refuses anything that could destroy data, and hands out the one descriptor that may be written.
//!
//! Refused whatever is given: devices that are mounted, swapped to or part of something, and files and
//! devices behind a loop device or in use as swap. An existing file needs the user's word, `--destroy`; a
//! device that holds anything needs its name as well, `--destroy=IDENTITY`. `--read-only` beats both: then
//! the only descriptor there is cannot write. A refusal comes before the first written byte.

mod admitted;
mod folder_need;
mod intent;
pub mod marker;
mod own_names;
pub(crate) mod refusal;
pub(crate) mod room;
pub(crate) mod target;

pub use admitted::Admitted;
pub use folder_need::FolderNeed;
pub use intent::{Destroy, Intent, OwnFiles, Protected, Writes};
pub use own_names::StrayRecorder;
pub(crate) use own_names::is_our_name;
pub use own_names::random_name;
pub use refusal::{Refusal, Remedy, quoted};
pub(crate) use room::{ROOM_MIN_BYTES, share};
pub use target::Target;
pub(crate) use target::in_words;

use crate::platform::guard::{block, directory, file, open_of_another};
pub use crate::platform::{
    TargetKind,
    guard::{
        DirectAbility, OwnFile, OwnFolder, direct_ability, refuse_strangers_link, remove_strays, set_direct,
        user_of,
    },
};

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

/// Makes a folder of our own in a directory, or returns a refusal with the remedy. `recorder` records it before it is
/// made.
pub fn admit_folder(
    target: &Target,
    need: FolderNeed,
    recorder: &mut dyn StrayRecorder,
) -> Result<OwnFolder, Refusal> {
    match target {
        Target::Directory(path) => directory::admit_folder(path, need, recorder)
            .map_err(|refusal| refusal.for_writes(Writes::Needed)),
        Target::File(path) | Target::BlockDevice(path) => Err(not_a_directory(path)),
        Target::Simulated(name) => Err(Refusal::new(format!("sim:{name} is simulated: nothing to open."))),
    }
}

/// Opens the files that another host made under these names in a directory, for reading.
///
/// # Errors
/// Returns a refusal with the remedy if one of them is not there.
pub fn files_of_another(
    path: &std::path::Path,
    names: &[String],
    maker: u32,
) -> Result<Vec<std::fs::File>, Refusal> {
    let open = |name: &String| open_of_another(path, name, false);
    names.iter().map(|name| open(name).map_err(|error| unseen(path, maker, &error))).collect()
}

/// Refuses a host from which a file of another host cannot be opened.
pub(crate) fn unseen(path: &std::path::Path, maker: u32, error: &std::io::Error) -> Refusal {
    let shown = path.display();
    match error.kind() {
        std::io::ErrorKind::NotFound => Refusal::new(format!(
            "does not see the file that host {maker} made under {shown}: not the same storage"
        ))
        .hint(
            "Mount the same file system there on all hosts, or use --layout file-per-host without --rotate.",
        ),
        _ => Refusal::new(format!(
            "cannot open the file that host {maker} made under {shown}: {}.",
            in_words(error)
        )),
    }
}

fn not_a_directory(path: &std::path::Path) -> Refusal {
    let refusal = Refusal::new(format!("{} is no directory, and files are made in one.", path.display()));
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if !parent.starts_with("/dev") => {
            refusal.command("Measure the directory that it lies in", parent, "")
        }
        _ => refusal.hint("Name a directory on the storage in question."),
    }
}
