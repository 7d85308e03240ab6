//! `run --repeats N`: the same run several times, each with a fresh process, file and fill.
//!
//! Trials inside one run share its file, its place on the storage and what came before it, so they cannot tell how
//! much the next run would differ. Repeats can, and `compare` takes them as its unit.

use std::{
    ffi::OsString,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use iosonde_model::Run;
use iosonde_rig::interrupt;
use iosonde_store::Notebook;

use super::finish;
use crate::{
    args::RunArgs,
    destination::Destination,
    failure::{Failure, INTERRUPTED, in_words},
    notebook,
    screen::Screen,
};

/// How often a repeat is looked at: ten checks per second would only cost processor time.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Looks after a signal until it is passed on: longer than the measured loop takes to see one.
const ENDS_BY_ITSELF: u32 = 30;

/// Runs every repeat in a process of its own, then shows the last one and how far they lie apart.
pub fn run(
    args: &RunArgs,
    repeats: u32,
    destination: &Destination,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let seed = args.target.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
    // Resolved once: `last~1` is another run as soon as the first repeat is kept.
    let like = args.like.as_ref().map(|reference| {
        // A file stays what it is.
        if Path::new(reference).is_file() {
            return Ok(reference.clone());
        }
        let book = notebook::open_existing(store, &screen)?;
        book.resolve(Some(reference)).map_err(Failure::usage)
    });
    let like = like.transpose()?;
    let mut runs: Vec<Run> = Vec::new();
    // Ctrl-C reaches the repeat as well, which saves what it has; this process waits for it.
    let stop = interrupt::catch();
    for number in 1..=repeats {
        screen.say(&format!("repeat        {number} of {repeats}"));
        let series = runs.first().map_or("new", |run| &run.info.id);
        if stop.load(Ordering::Relaxed) {
            return Err(Failure { code: INTERRUPTED, text: interrupted(&runs) });
        }
        let own_seed = seed.wrapping_add(u64::from(number - 1));
        let mut own = vec![format!("--seed={own_seed}"), format!("--part={number},{series}")];
        own.extend(like.iter().map(|id| format!("--like={id}")));
        carry_out(&part(std::env::args_os().skip(1), &own), stop).map_err(|failure| match failure.code {
            // The repeat itself has said how it is resumed, which completes no other.
            INTERRUPTED if number < repeats => Failure { text: unfinished(number, repeats), ..failure },
            _ => failure,
        })?;
        let book = notebook::open_existing(store, &screen)?;
        let series = runs.first().map(|run| &run.info.id);
        let id = newest(&book, &Part { number, seed: own_seed, series })?;
        runs.push(notebook::load(&book, Some(&id))?);
    }
    let book = notebook::open_existing(store, &screen)?;
    finish::repeats(runs, book.path(), destination, screen)
}

/// What tells one repeat from whatever else was begun in the notebook meanwhile.
struct Part<'a> {
    number: u32,
    seed: u64,
    series: Option<&'a String>,
}

/// The newest run that is this repeat.
fn newest(book: &Notebook, part: &Part) -> Result<String, Failure> {
    for run in book.list()? {
        let info = book.info(&run.id)?;
        if info.repeat == Some(part.number) && info.seed == part.seed && info.series.as_ref() == part.series {
            return Ok(info.id);
        }
    }
    Err(Failure::failed(format!("repeat {} has ended, and the notebook does not hold it", part.number)))
}

fn interrupted(runs: &[Run]) -> String {
    let kept = match runs {
        [] => return "interrupted before the first repeat had ended".to_owned(),
        [_] => "one repeat is kept".to_owned(),
        _ => format!("{} repeats are kept", runs.len()),
    };
    let first = &runs[0].info.id;
    format!("interrupted; {kept}, and `iosonde compare {first} OTHER` takes what there is")
}

fn unfinished(number: u32, repeats: u32) -> String {
    let begun = if number == 2 { "the one before it is whole" } else { "those before it are whole" };
    let before = if number == 1 { String::new() } else { format!("{begun}, ") };
    format!("that was repeat {number} of {repeats}; {before}{} have not begun", repeats - number)
}

/// The command line of one repeat: what the user typed, with a seed, a label and a place of its own.
fn part(words: impl Iterator<Item = OsString>, own: &[String]) -> Vec<OsString> {
    /// Options with a value that the whole series has, or that each repeat has its own of.
    const OWN: [&str; 3] = ["--repeats", "--seed", "--like"];
    let mut words = words.peekable();
    let mut part: Vec<OsString> = Vec::new();
    let mut skip = false;
    // Behind `--` there are no options any more, only words.
    while let Some(word) = words.next_if(|word| word != "--") {
        if std::mem::take(&mut skip) {
            continue;
        }
        let text = word.to_string_lossy().into_owned();
        if OWN.contains(&text.as_str()) {
            skip = true;
        } else if !OWN.iter().any(|name| text.starts_with(&format!("{name}="))) {
            part.push(word);
        }
    }
    part.extend(own.iter().map(OsString::from));
    part.extend(words);
    part
}

fn carry_out(words: &[OsString], stop: &AtomicBool) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format!("iosonde's own file cannot be found to start a repeat: {error}"))
    })?;
    let failed =
        |error: std::io::Error| Failure::failed(format!("a repeat cannot be run: {}", in_words(&error)));
    let mut child = Command::new(program).args(words).spawn().map_err(failed)?;
    let mut looked = 0;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        // Ctrl-C reaches both; a signal that was sent to this process alone is passed on once the repeat had time to
        // end by itself, because its second signal would kill it.
        if stop.load(Ordering::Relaxed) {
            looked += 1;
            if looked == ENDS_BY_ITSELF {
                interrupt::pass_on(child.id());
            }
        }
        std::thread::sleep(LOOK_EVERY);
    };
    match status.code() {
        Some(0) => Ok(()),
        // What went wrong has been said already.
        Some(code) => Err(Failure { code: u8::try_from(code).unwrap_or(1), text: String::new() }),
        None => Err(Failure { code: INTERRUPTED, text: "a repeat was killed".into() }),
    }
}
