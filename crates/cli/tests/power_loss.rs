//! Power loss at every moment: from the changes of the notebook's files during one whole run, their state after each
//! change is made again in another folder, and opened there.
//!
//! What the disk holds then is not known: it has what was flushed, and of the rest any part in any order, down to
//! single sectors. So each moment is opened three times: with every change so far, with what was flushed alone, and
//! with sectors drawn at random from what was not.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use common::{Bench, TINY, preload};
use iosonde_model::{Run, RunState};
use iosonde_store::Notebook;

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// One change of a file, or a word on stderr.
struct Event {
    kind: u8,
    offset: usize,
    bytes: Vec<u8>,
    name: String,
}

fn events(mut log: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(end) = log.iter().position(|&byte| byte == b'\n') {
        let head = std::str::from_utf8(&log[..end]).unwrap();
        let [kind, offset, length, name] = head.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("{head}")
        };
        let (length, rest): (usize, _) = (length.parse().unwrap(), &log[end + 1..]);
        let (bytes, name) = (rest[..length].to_vec(), name.to_owned());
        events.push(Event { kind: kind.as_bytes()[0], offset: offset.parse().unwrap(), bytes, name });
        log = &rest[length..];
    }
    events
}

/// One file: what is certainly on the disk, and what was changed since.
#[derive(Default)]
struct OneFile {
    flushed: Vec<u8>,
    since: Vec<(u8, usize, Vec<u8>)>,
}

fn apply(image: &mut Vec<u8>, kind: u8, offset: usize, bytes: &[u8]) {
    match kind {
        b'T' => image.resize(offset, 0),
        _ => {
            image.resize(image.len().max(offset + bytes.len()), 0);
            image[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }
}

impl OneFile {
    /// What the disk may hold: each sector of each change since the last flush, if `holds` says so.
    fn image(&self, mut holds: impl FnMut() -> bool) -> Vec<u8> {
        let mut image = self.flushed.clone();
        for (kind, offset, bytes) in &self.since {
            let mut at = 0;
            while at < bytes.len().max(1) {
                let end = (at + SECTOR - (offset + at) % SECTOR).min(bytes.len());
                if holds() {
                    apply(&mut image, *kind, offset + at, &bytes[at..end]);
                }
                at = end.max(at + 1);
            }
        }
        image
    }
}

/// Every file by its name.
type Image = BTreeMap<String, Vec<u8>>;

/// The notebook's files at one moment.
#[derive(Default)]
struct Disk {
    files: BTreeMap<String, OneFile>,
    random: u64,
}

impl Disk {
    fn take(&mut self, event: Event) {
        let Event { kind, offset, bytes, name } = event;
        if kind == b'U' {
            self.files.remove(&name);
            return;
        }
        let file = self.files.entry(name).or_default();
        match kind {
            b'F' => {
                file.flushed = file.image(|| true);
                file.since.clear();
            }
            _ => file.since.push((kind, offset, bytes)),
        }
    }

    /// xorshift64: half of all sectors.
    fn draw(random: &mut u64) -> bool {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        *random & (1 << 20) != 0
    }

    fn images(&mut self) -> [Image; 3] {
        let random = &mut self.random;
        let mut images = [BTreeMap::new(), BTreeMap::new(), BTreeMap::new()];
        for (name, file) in &self.files {
            images[0].insert(name.clone(), file.image(|| true));
            images[1].insert(name.clone(), file.image(|| false));
            images[2].insert(name.clone(), file.image(|| Self::draw(random)));
        }
        images
    }
}

/// Opens a state in a folder of its own and says how many trials it shows, which must be the first ones of the run.
fn opened(folder: &Path, image: &Image, whole: &Run) -> usize {
    for entry in fs::read_dir(folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for (name, bytes) in image {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let notebook = Notebook::open(&folder.join("n.db")).unwrap();
    let runs = notebook.list().unwrap();
    let [run] = &runs[..] else {
        assert!(runs.is_empty());
        return 0;
    };
    let run = notebook.load(&run.id).unwrap();
    assert!(run.trials.len() <= whole.trials.len() && run.trials == whole.trials[..run.trials.len()]);
    assert!(
        run.info.state == RunState::Interrupted
            || run.info.state == RunState::Done && run.trials == whole.trials
    );
    run.trials.len()
}

/// Records a run and opens every state that a power loss could leave; how many there were.
fn lose_power_throughout(bench: &Bench, words: &[&str], folds: bool) -> Option<usize> {
    let library = preload::library(bench)?;
    fs::create_dir(bench.path("store")).unwrap();
    let (store, log) = (bench.path("store/n.db"), bench.path("log"));
    bench.text("tiny.toml", TINY);
    let mut command = bench.command(words);
    command.args(["--verbose", "--store"]).arg(&store).env("LD_PRELOAD", library);
    let output = command.env("PRELOAD_WATCH", &store).env("PRELOAD_LOG", &log).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let notebook = Notebook::open(&store).unwrap();
    let whole = notebook.load(&notebook.resolve(None).unwrap()).unwrap();
    // In memory, where flushing costs nothing.
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let folder: PathBuf = made.path().to_owned();
    let (mut disk, mut said, mut states) = (Disk { random: 7, ..Disk::default() }, 0, 0);
    let mut before = Image::new();
    let mut foldings = 0;
    for event in events(&fs::read(&log).unwrap()) {
        if event.kind == b'S' {
            let text = String::from_utf8_lossy(&event.bytes).into_owned();
            said += text.lines().filter(|line| line.starts_with("trial")).count();
            continue;
        }
        // The index of the log is memory shared between processes, and made anew by whichever process opens first.
        if event.name.ends_with("-shm") || event.name.ends_with(".running") {
            continue;
        }
        foldings += usize::from(event.kind == b'F' && event.name == "n.db" && said > 0);
        disk.take(event);
        let images = disk.images();
        for (at, image) in images.iter().enumerate() {
            if at > 0 && *image == images[0] || *image == before {
                continue;
            }
            let kept = opened(&folder, image, &whole);
            assert!(said <= kept && kept <= said + 1, "{kept} trials are there, {said} were said to be kept");
            states += 1;
        }
        before = images.into_iter().next().unwrap();
    }
    assert_eq!(said, whole.trials.len());
    // The last one closes the notebook.
    assert_eq!(foldings > 1, folds, "the log was folded in {foldings} times");
    Some(states)
}

#[test]
fn a_simulated_run_cut_off_at_any_change_of_its_notebook_shows_its_first_trials() {
    let bench = Bench::new();
    let Some(states) = lose_power_throughout(&bench, &["run", "tiny.toml", "sim:ideal"], false) else {
        return;
    };
    assert!(states > 300, "{states} states");
}

/// On the storage under test, the log is folded into the notebook before each trial and written again from its
/// beginning.
#[test]
fn a_run_on_its_notebooks_own_disk_cut_off_at_any_change_shows_its_first_trials() {
    let bench = Bench::new();
    bench.file("data", 4);
    let words = ["run", "tiny.toml", "data", "--read-only"];
    let Some(states) = lose_power_throughout(&bench, &words, true) else { return };
    assert!(states > 300, "{states} states");
}
