//! The notebook, opened where the options say, and what the guard writes into it.

use std::{
    io,
    path::{Path, PathBuf},
};

use iosonde_model::{Closed, Medium, Run};
use iosonde_rig::guard::{self, Protected, StrayRecorder};
use iosonde_store::{Notebook, default_path, read_run};

use crate::{failure::Failure, screen::Screen, session::Session};

/// Opens the notebook for a new run, making it where there is none, and clears away what killed runs left.
pub fn open(store: Option<&Path>, screen: &Screen) -> Result<Notebook, Failure> {
    let mut notebook = Notebook::open(&path(store)?).map_err(Failure::usage)?;
    announce(&notebook, screen);
    clear_away(&mut notebook)?;
    Ok(notebook)
}

/// Opens the notebook to read in it; makes nothing and clears nothing away.
pub fn open_existing(store: Option<&Path>, screen: &Screen) -> Result<Notebook, Failure> {
    // Nothing has been done yet: a notebook that cannot be opened is the user's to mend.
    let notebook = Notebook::open_existing(&path(store)?).map_err(Failure::usage)?;
    announce(&notebook, screen);
    Ok(notebook)
}

/// Opens a notebook that is there to change what is in it, and clears away what killed runs left.
pub fn open_to_change(store: Option<&Path>, screen: &Screen) -> Result<Notebook, Failure> {
    // One that is not there is not made.
    drop(Notebook::open_existing(&path(store)?).map_err(Failure::usage)?);
    open(store, screen)
}

/// The notebook's file and its companions, which no target may be.
pub fn files(path: &Path) -> Vec<Protected> {
    let companion = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Protected { path: PathBuf::from(name), what: "a companion of iosonde's notebook of runs" }
    };
    let own = Protected { path: path.to_owned(), what: "iosonde's notebook of runs" };
    [own].into_iter().chain(["-wal", "-shm", "-journal"].map(companion)).collect()
}

/// Where the options and the environment say that it lies.
pub fn path(store: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = store.map_or_else(default_path, |path| Ok(path.to_owned())).map_err(Failure::usage)?;
    guard::refuse_strangers_link(&path).map_err(Failure::usage)?;
    Ok(path)
}

/// What a command needs beside its words to find this notebook: nothing where it lies in its usual place.
pub fn option(path: &Path) -> String {
    let named = std::env::var_os("IOSONDE_STORE").map(PathBuf::from);
    let usual = named.or_else(|| default_path().ok()).and_then(|usual| std::fs::canonicalize(usual).ok());
    if usual.as_deref() == Some(path) {
        return String::new();
    }
    format!(" --store {}", guard::quoted(path))
}

fn announce(notebook: &Notebook, screen: &Screen) {
    for note in notebook.notes() {
        screen.say(&format!("note          {note}"));
    }
}

/// Removes files that killed runs left on what they measured.
fn clear_away(notebook: &mut Notebook) -> Result<(), Failure> {
    for gone in guard::remove_strays(&notebook.strays()?) {
        notebook.forget_stray(&gone)?;
    }
    Ok(())
}

/// A new run's id. A simulated run's follows from its seed, so that repeating it gives the same document.
pub fn new_id(notebook: &Notebook, session: &Session, seed: u64) -> Result<String, Failure> {
    if session.device.medium == Medium::Simulated {
        // A multiplicative hash (Knuth), so that seeds 1, 2, .. do not give ids that begin alike.
        let id = format!("{:06x}", seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
        if notebook.id_is_free(&id)? {
            return Ok(id);
        }
    }
    Ok(notebook.fresh_id()?)
}

/// Writes own files down in the notebook before they are made.
pub struct Strays<'a>(pub &'a mut Notebook);

impl StrayRecorder for Strays<'_> {
    fn record(&mut self, path: &Path) -> io::Result<()> {
        self.0.record_stray(path).map_err(io::Error::other)
    }

    fn forget(&mut self, path: &Path) -> io::Result<()> {
        self.0.forget_stray(path).map_err(io::Error::other)
    }
}

/// For looking at a target without a notebook: a named own file lives only as long as the look.
#[derive(Debug, Default)]
pub struct Unwritten;

impl StrayRecorder for Unwritten {
    fn record(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn forget(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// The run that a reference names, concluded.
pub fn find(store: Option<&Path>, screen: &Screen, reference: Option<&str>) -> Result<Run, Failure> {
    concluded(found(store, screen, reference)?)
}

/// The run that a reference names, as it was kept: a file that `export` wrote, or a run of the notebook. A file needs
/// no notebook.
pub fn found(store: Option<&Path>, screen: &Screen, reference: Option<&str>) -> Result<Run, Failure> {
    // `last` is a run whatever lies here: a file of that name is `./last`.
    let file = |name: &&str| *name != "last" && !name.starts_with("last~") && Path::new(name).is_file();
    match reference.filter(file).map(Path::new) {
        Some(path) => read_run(path).map_err(Failure::usage),
        None => kept(&open_existing(store, screen)?, reference),
    }
}

/// The run that a reference names, concluded; none is the newest.
pub fn load(notebook: &Notebook, reference: Option<&str>) -> Result<Run, Failure> {
    concluded(kept(notebook, reference)?)
}

fn kept(notebook: &Notebook, reference: Option<&str>) -> Result<Run, Failure> {
    let id = notebook.resolve(reference).map_err(Failure::usage)?;
    Ok(notebook.load(&id)?)
}

fn concluded(mut run: Run) -> Result<Run, Failure> {
    let closed: Option<Vec<Option<Closed>>> =
        run.info.options.get("closed").and_then(|kept| serde_json::from_value(kept.clone()).ok());
    iosonde_infer::conclude::conclude(&mut run, closed.as_deref()).map_err(Failure::failed)?;
    Ok(run)
}
