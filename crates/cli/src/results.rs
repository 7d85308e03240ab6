//! Other tools' results, read from files, folders and standard input, as a run that can be judged and kept.

use std::{
    borrow::Cow,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use iosonde_infer::conclude;
use iosonde_model::{Absence, Device, DeviceNote, Host, IMPORT, Run, RunInfo, RunState};
use iosonde_rig::{clock::Clock, guard::quoted};
use iosonde_store::import::{ImportError, Imported, import};

use crate::{
    failure::{Failure, in_words},
    screen::Screen,
};

/// The largest file that is read: a million results of fio would be 3 GB, which cannot be meant.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Folders within folders that are looked into.
const FOLDERS_MAX: usize = 8;
/// What a result's file is called; others in a folder are left alone.
const ENDINGS: [&str; 6] = ["json", "csv", "txt", "out", "xml", "terse"];

/// Results that were read from one file.
#[derive(Debug)]
pub struct Source {
    /// The path as it was given or found; `-` is standard input.
    pub name: String,
    /// Its content.
    pub imported: Imported,
}

/// A file of a folder that was left aside.
#[derive(Debug)]
pub struct LeftAside {
    /// Its path.
    pub name: String,
    /// Why, with the path.
    pub why: String,
}

/// Everything that the words name, in their order, and what was left aside.
pub fn read_all(words: &[PathBuf]) -> Result<(Vec<Source>, Vec<LeftAside>), Failure> {
    let (mut sources, mut left) = (Vec::new(), Vec::new());
    for word in words {
        if word == Path::new("-") {
            sources.push(read_one(word, standard_input()?)?);
        } else if word.is_dir() {
            folder(word, &mut sources, &mut left)?;
        } else {
            sources.push(read_one(word, file(word)?)?);
        }
    }
    Ok((sources, left))
}

/// Says what was left aside.
pub fn say_left(left: &[LeftAside], screen: Screen) {
    left.iter().for_each(|file| screen.say(&format!("note          left aside: {}", file.why)));
}

/// Name of what `-` reads.
const STANDARD_INPUT: &str = "standard input";

/// A path as people read it.
fn shown(path: &Path) -> String {
    if path == Path::new("-") { STANDARD_INPUT.to_owned() } else { path.display().to_string() }
}

fn read_one(path: &Path, bytes: Vec<u8>) -> Result<Source, Failure> {
    let (text, note) = text_of(&bytes);
    let mut imported = import(&text).map_err(|error| unreadable(path, &error))?;
    imported.notes.extend(note);
    Ok(Source { name: shown(path), imported })
}

fn unreadable(path: &Path, error: &ImportError) -> Failure {
    let name = shown(path);
    let place = error.place().map_or_else(|| " ".to_owned(), |(line, column)| format!(":{line}:{column}: "));
    let path = quoted(path);
    let instead = match error {
        ImportError::Empty | ImportError::Unknown | ImportError::Damaged(_) => String::new(),
        ImportError::JobFile => format!("; to run and judge it:  iosonde fio {path}"),
        ImportError::Run => format!("; to see it:  iosonde show {path}"),
    };
    Failure::usage(format!("{name}{place}{error}{instead}"))
}

/// The command for a file that holds a result and was named as something else.
pub fn command_for(path: &Path) -> Option<String> {
    let (text, shell) = (file(path).ok()?, quoted(path));
    match import(&text_of(&text).0) {
        Ok(_) | Err(ImportError::Damaged(_)) => Some(format!("iosonde judge {shell}")),
        Err(ImportError::Run) => Some(format!("iosonde show {shell}")),
        Err(ImportError::Empty | ImportError::Unknown | ImportError::JobFile) => None,
    }
}

/// The text of a file, and what was replaced in it. Windows' PowerShell writes UTF-16.
fn text_of(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    let units = |of: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect();
        Cow::Owned(String::from_utf16_lossy(&units))
    };
    match bytes {
        [0xff, 0xfe, ..] => (units(u16::from_le_bytes), None),
        [0xfe, 0xff, ..] => (units(u16::from_be_bytes), None),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(error) => {
                let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
                let note = format!("bytes that are not UTF-8 were replaced, the first in line {line}");
                (String::from_utf8_lossy(bytes), Some(note))
            }
        },
    }
}

/// The bytes of standard input.
///
/// # Errors
/// It cannot be read, or is larger than a file of results may be.
pub fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::failed(format!("{STANDARD_INPUT} cannot be read: {}", in_words(&error))))?;
    if bytes.len() as u64 > FILE_BYTES_MAX { Err(too_large(STANDARD_INPUT)) } else { Ok(bytes) }
}

fn too_large(name: &str) -> Failure {
    Failure::usage(format!("{name} is larger than 256 MiB, which no result is; name the result's own file"))
}

fn file(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    let found = fs::metadata(path)
        .map_err(|error| Failure::usage(format!("{name} cannot be read: {}", in_words(&error))))?;
    // A device or a pipe would be read for ever.
    if !found.is_file() {
        return Err(Failure::usage(format!("{name} is no file; for a pipe, use -  (standard input)")));
    }
    if found.len() > FILE_BYTES_MAX {
        return Err(too_large(&name.to_string()));
    }
    fs::read(path).map_err(|error| Failure::usage(format!("{name} cannot be read: {}", in_words(&error))))
}

/// Every result in a folder and below it; what is none is counted, not refused.
fn folder(path: &Path, sources: &mut Vec<Source>, left: &mut Vec<LeftAside>) -> Result<(), Failure> {
    let mut files = Vec::new();
    files_in(path, FOLDERS_MAX, &mut files).map_err(|error| {
        Failure::usage(format!("{} cannot be read: {}", path.display(), in_words(&error)))
    })?;
    files.sort();
    let (before, mut aside) = (sources.len(), Vec::new());
    for path in files {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !ENDINGS.contains(&ending) {
            continue;
        }
        let name = path.display().to_string();
        match file(&path).and_then(|bytes| read_one(&path, bytes)) {
            Ok(source) => sources.push(source),
            Err(failure) => aside.push(LeftAside { name, why: failure.text }),
        }
    }
    if sources.len() == before {
        let why = aside.first().map_or_else(
            || {
                format!(
                    "{} holds no file that ends in .json, .csv, .txt, .out, .xml or .terse",
                    path.display()
                )
            },
            |first| format!("{} holds no result: {}", path.display(), first.why),
        );
        return Err(Failure::usage(why));
    }
    left.extend(aside);
    Ok(())
}

fn files_in(folder: &Path, deeper: usize, out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        // Links are not followed: they may lead round in a circle.
        if kind.is_file() {
            out.push(path);
        } else if kind.is_dir() && deeper > 0 {
            files_in(&path, deeper - 1, out)?;
        }
    }
    Ok(())
}

/// Results as one run, concluded. Results of like workloads belong to one point.
pub fn run_of(id: &str, sources: Vec<Source>, command: &str) -> Result<Run, Failure> {
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    let programs: Vec<String> = sources.iter().filter_map(|source| source.imported.program.clone()).collect();
    let ended_s = sources.iter().filter_map(|source| source.imported.ended_s).reduce(f64::max);
    let several = sources.len() > 1;
    let (mut trials, mut notes) = (Vec::new(), Vec::new());
    for Source { name, imported } in sources {
        for mut trial in imported.trials {
            if several {
                trial.experiment = format!("{name}, {}", trial.experiment);
            }
            trials.push(trial);
        }
        for note in imported.notes {
            let note = if several { format!("{name}: {note}") } else { note };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let elapsed_s: f64 = trials.iter().map(|trial| trial.elapsed_s).sum();
    let started_at =
        ended_s.and_then(|ended_s| date(ended_s - elapsed_s)).unwrap_or_else(|| Clock::real().utc());
    let mut specs = Vec::new();
    let mut at_s = 0.0;
    for (place, trial) in trials.iter_mut().enumerate() {
        let point = specs.iter().position(|spec| *spec == trial.spec).unwrap_or(specs.len());
        if point == specs.len() {
            specs.push(trial.spec.clone());
        }
        (trial.id, trial.round, trial.point) = (place as u64 + 1, 1, Some(point));
        (trial.started_at, trial.started_s) = (started_at.clone(), at_s);
        // Tables without times still have an order.
        at_s += trial.elapsed_s.max(1e-3);
        trial.witnesses.absent.push(Absence::NotInFile);
    }
    let streams = trials.iter().flat_map(|trial| trial.spec.streams());
    let mut engines: Vec<&str> = streams.map(|stream| stream.engine.as_str()).collect();
    engines.dedup();
    let mut device = Device::unknown("imported", 0);
    device.engine = match engines[..] {
        [engine] => engine.to_owned(),
        // What the file does not say of one may be any.
        _ if engines.contains(&"unknown") => "unknown".into(),
        _ => "several engines".into(),
    };
    device.direct = trials.iter().all(|trial| trial.spec.direct);
    device.working_set_bytes = trials.iter().map(|trial| trial.spec.span_bytes).max().unwrap_or(0);
    device.notes = notes.into_iter().map(DeviceNote::from).collect();
    let target = if let [name] = &names[..] { name.clone() } else { format!("{} files", names.len()) };
    let options = serde_json::json!({ "program": programs.first(), "files": names });
    let info = RunInfo { started_at, elapsed_s, device, target, options, ..blank(id, command) };
    let mut run = Run::new(info, trials);
    conclude::conclude(&mut run, None).map_err(Failure::failed)?;
    Ok(run)
}

fn blank(id: &str, command: &str) -> RunInfo {
    RunInfo {
        id: id.to_owned(),
        label: None,
        note: None,
        study: IMPORT.to_owned(),
        series: None,
        in_turn_with: Vec::new(),
        over: None,
        against: None,
        repeat: None,
        study_source: String::new(),
        target: String::new(),
        seed: 0,
        started_at: String::new(),
        elapsed_s: 0.0,
        state: RunState::Done,
        command: command.to_owned(),
        bytes_written: 0,
        budget_s: None,
        precision: 0.0,
        confidence: 0.95,
        rounds: 1,
        device: Device::unknown("imported", 0),
        host: Host::default(),
        options: serde_json::Value::Null,
        hosts: Vec::new(),
        fio: None,
    }
}

/// A moment in seconds since 1970, as RFC 3339.
fn date(seconds: f64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond((seconds * 1000.0) as i64).ok()?;
    Some(format!("{at:.3}"))
}
