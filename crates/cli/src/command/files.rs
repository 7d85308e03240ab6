//! `iosonde files`: how fast are small files made, found, read and removed?

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_infer::files;
use iosonde_model::{
    Circumstances, Device, FilesCache, FilesLayout, FilesRound, Host, Medium, SmallFiles, units,
};
use iosonde_report::text;
use iosonde_rig::{
    clock::Clock,
    files::{
        DIRECTORIES_MAX, DropCaches, FILE_BYTES_MAX, FILES_MAX, FilesError, FilesPlace, PARTS, ROUNDS_MAX,
        ROUNDS_MIN, RealFiles, SimulatedFiles, WORKERS_MAX, measure,
    },
    guard::{self, FolderNeed, OwnFolder, Target, TargetKind},
    interrupt, platform,
};

use crate::{
    args::FilesArgs,
    failure::{Failure, INTERRUPTED, in_words},
    measure::{info, power, stall},
    notebook,
    progress::TransferProgress,
    screen::Screen,
    session,
};

const COMMAND: &str = "iosonde files";
/// Directories where nobody says how many.
const DIRECTORIES: u64 = 10;
/// Shortest part of a round's time.
const PART_MIN_NS: u64 = 1_000_000;
/// What a file takes beside its content: inode and name, with room to spare.
const FILE_OVERHEAD_BYTES: u64 = 1024;
/// What a directory takes at least.
const DIRECTORY_BYTES: u64 = 4096;

/// Measures small files.
pub fn run(args: &FilesArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    args.answer.check(&args.target, screen)?;
    let layout = layout(args)?;
    let seed = args.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
    match Target::parse(&args.target).map_err(|refusal| Failure::usage(refusal.for_command(COMMAND)))? {
        Target::Simulated(name) => args.answer.show(&simulated(args, &name, layout, seed, screen)?, screen),
        target => real(args, &target, layout, seed, store, screen),
    }
}

/// The requested layout, if it can be.
fn layout(args: &FilesArgs) -> Result<FilesLayout, Failure> {
    let &FilesArgs { files, size: file_bytes, workers, rounds, time: time_ns, .. } = args;
    let directories = args.directories.unwrap_or_else(|| DIRECTORIES.min(files));
    let between = |option: &str, value: u64, most: u64| {
        let message = format!("{option} {value}: there must be between 1 and {most}");
        if (1..=most).contains(&value) { Ok(()) } else { Err(Failure::usage(message)) }
    };
    between("--files", files, FILES_MAX)?;
    between("--directories", directories, DIRECTORIES_MAX)?;
    between("--workers", workers.into(), WORKERS_MAX.into())?;
    if directories > files || u64::from(workers) > files {
        return Err(Failure::usage(format!(
            "{directories} directories and {workers} workers for {files} files: each needs one at least; ask for more \
             files (--files)"
        )));
    }
    if file_bytes > FILE_BYTES_MAX {
        return Err(Failure::usage(format!(
            "--size {}: small files have {} at most; `iosonde run media` writes larger ones",
            units::size(file_bytes),
            units::size(FILE_BYTES_MAX)
        )));
    }
    if !(ROUNDS_MIN..=ROUNDS_MAX).contains(&rounds) {
        return Err(Failure::usage(format!(
            "--rounds {rounds}: there must be between {ROUNDS_MIN} and {ROUNDS_MAX}"
        )));
    }
    let least_ns = PART_MIN_NS * PARTS * rounds as u64;
    if time_ns < least_ns {
        let least = units::duration(least_ns as f64 / 1e9);
        return Err(Failure::usage(format!("--time: {rounds} rounds of eight steps need {least} at least")));
    }
    Ok(FilesLayout { files, file_bytes, directories, workers })
}

/// Measures the service of files of a simulated device.
fn simulated(
    args: &FilesArgs,
    name: &str,
    layout: FilesLayout,
    seed: u64,
    screen: Screen,
) -> Result<SmallFiles, Failure> {
    if args.uncached {
        return Err(Failure::usage(format!(
            "sim:{name} is simulated and has no memory to drop; leave --uncached out"
        )));
    }
    let file = session::device_file(name)?;
    let Some(service) = file.file_service(seed) else {
        return Err(Failure::usage(format!(
            "sim:{name} has no service of files: give a device's file a section [files] (docs/files.md)"
        )));
    };
    let mut device = Device::unknown("simulated", 0);
    device.name = Some(name.to_owned());
    device.description = Some(file.summary().to_owned()).filter(|summary| !summary.is_empty());
    device.medium = Medium::Simulated;
    let circumstances = circumstances(Some(device), Host::default());
    let mut place = SimulatedFiles::new(service, layout);
    let rounds = rounds(args, &mut place, screen)?;
    concluded(
        args,
        &rounds,
        Measured {
            layout,
            seed,
            circumstances,
            cache: FilesCache::Kept,
            elapsed_s: place.now_ns() as f64 / 1e9,
        },
    )
}

/// Measures in a folder of our own, which is gone afterwards.
fn real(
    args: &FilesArgs,
    target: &Target,
    layout: FilesLayout,
    seed: u64,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let mut book = notebook::open(store, &screen)?;
    let file_bytes = layout.file_bytes.next_multiple_of(DIRECTORY_BYTES) + FILE_OVERHEAD_BYTES;
    let need = FolderNeed {
        bytes: layout.files * file_bytes + layout.directories * DIRECTORY_BYTES,
        // The folder and the lock in it.
        files: layout.files + layout.directories + 2,
    };
    let device =
        platform::look(Path::new(&args.target), TargetKind::Directory).ok().map(|(device, _)| device);
    let circumstances = circumstances(device, platform::host());
    // Caught before anything is made: what is made is removed.
    let stop = interrupt::catch();
    let folder = guard::admit_folder(target, need, &mut notebook::Strays(&mut book))
        .map_err(|refusal| Failure::usage(refusal.for_command(COMMAND)))?;
    let switch = args.uncached.then(|| DropCaches::open().ok());
    let measured = || {
        let found = in_folder(args, &folder, Way { layout, seed, switch, circumstances }, stop, screen);
        Ok((found, folder))
    };
    // Landlock would be measured with each open.
    power::least(None, measured, move |measured| {
        let (found, folder) = measured?;
        let path = folder.path().to_owned();
        let gone = folder.remove(&mut notebook::Strays(&mut book))?;
        if !gone {
            let path = path.display();
            Screen::complain(&format!(
                "{path}: something in it is not iosonde's or cannot be removed; look at it"
            ));
        }
        args.answer.show(&found?, screen)
    })
}

/// When, where and how; taken before anything is measured.
fn circumstances(device: Option<Device>, host: Host) -> Circumstances {
    Circumstances { command: info::command_line(), started_at: Clock::real().utc(), device, host }
}

/// How files are measured.
struct Way {
    layout: FilesLayout,
    seed: u64,
    /// The kernel's switch, where --uncached was given and this user has it.
    switch: Option<Option<DropCaches>>,
    circumstances: Circumstances,
}

fn in_folder(
    args: &FilesArgs,
    folder: &OwnFolder,
    way: Way,
    stop: &AtomicBool,
    screen: Screen,
) -> Result<SmallFiles, Failure> {
    let Way { layout, seed, switch, circumstances } = way;
    let cache = match &switch {
        None => FilesCache::Kept,
        Some(None) => FilesCache::DataDropped,
        Some(Some(_)) => FilesCache::AllDropped,
    };
    let mut place = RealFiles::new(folder, layout, switch, seed, stop);
    let watch = stall::watch(stall::STALLED_FILLING_AFTER, args.target.clone(), String::new());
    let rounds = rounds(args, &mut place, screen);
    drop(watch);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure { code: INTERRUPTED, text: "interrupted; nothing is concluded".to_owned() });
    }
    let elapsed_s = place.now_ns() as f64 / 1e9;
    concluded(args, &rounds?, Measured { layout, seed, circumstances, cache, elapsed_s })
}

fn rounds(args: &FilesArgs, place: &mut dyn FilesPlace, screen: Screen) -> Result<Vec<FilesRound>, Failure> {
    let target = &args.target;
    screen.say(&format!(
        "testing       {target}: making, reading and removing {} files",
        units::count(args.files as f64)
    ));
    let mut progress = TransferProgress::of_rounds(&screen);
    let mut told = |done: usize, all: usize| progress.show("rounds", done as u64, all as u64);
    let rounds =
        measure(place, args.rounds, args.time, &mut told).map_err(|error| failure(target, &error))?;
    progress.end();
    Ok(rounds)
}

/// What the storage, or another program in the folder, did not allow.
fn failure(target: &str, FilesError { step, error }: &FilesError) -> Failure {
    if error.kind() == io::ErrorKind::Interrupted {
        return Failure { code: INTERRUPTED, text: "interrupted; nothing is concluded".to_owned() };
    }
    let what = step.map_or("making or removing directories", text::files::step);
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; ask for fewer or smaller files (--files, --size)"
        }
        _ => "",
    };
    Failure::failed(format!("{target}: {what} failed: {}{remedy}", in_words(error)))
}

/// What is known beside the rounds.
struct Measured {
    layout: FilesLayout,
    seed: u64,
    circumstances: Circumstances,
    cache: FilesCache,
    elapsed_s: f64,
}

fn concluded(args: &FilesArgs, rounds: &[FilesRound], measured: Measured) -> Result<SmallFiles, Failure> {
    let target = &args.target;
    let Measured { layout, seed, circumstances, cache, elapsed_s } = measured;
    let Some(found) = files::estimates(rounds, layout.workers) else {
        let undone =
            |round: &FilesRound| round.steps.iter().find(|times| times.done == 0).map(|times| times.step);
        let step = rounds.iter().find_map(undone).map_or("a step", text::files::step);
        return Err(Failure::failed(format!(
            "{target}: {step} came to nothing within its part of a round; use a longer --time than {}, or fewer \
             --files",
            units::duration(elapsed_s)
        )));
    };
    let device = circumstances.device.as_ref();
    Ok(SmallFiles {
        target: target.clone(),
        file_system: device.and_then(|device| device.file_system.clone()),
        in_memory: device.is_some_and(|device| device.medium == Medium::Memory),
        layout,
        cache,
        seed,
        rounds: rounds.len(),
        steps: found.steps,
        synced_creates_per_s: found.synced_creates_per_s,
        findings: found.findings,
        elapsed_s,
        circumstances,
    })
}
