//! Real files, by system calls of several threads.

mod name;

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    sync::{
        RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use iosonde_model::{FileStep, FileStepTimes, FilesLayout, Histogram};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::{
    fs::{
        Advice, AtFlags, Mode, OFlags, RawDir, fadvise, fsync, mkdirat, openat, renameat, statat, syncfs,
        unlinkat,
    },
    io::Errno,
};

use self::name::FileName;
use super::{System, guard::OwnFolder, witness::ProcessIo};
use crate::{
    clock::Clock,
    files::{FilesError, FilesPlace, Worked, part, together},
};

/// First letter of a file as it was created.
const CREATED: u8 = b'f';
/// First letter of a file that was renamed.
const RENAMED: u8 = b'r';
/// First letter of a file that was written with a flush.
const FLUSHED: u8 = b's';
/// Each block of this length differs from every other: a file system that keeps equal blocks once keeps all.
const BLOCK_BYTES: usize = 4096;
/// As much as the C library asks for when a directory is listed.
const LIST_BYTES: usize = 32 << 10;

/// The kernel's switch that drops what is cached of all files. Opened while there is power to.
#[derive(Debug)]
pub struct DropCaches(File);

impl DropCaches {
    /// Opens it; only root can.
    pub fn open() -> io::Result<Self> {
        OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_CLOEXEC)
            .open("/proc/sys/vm/drop_caches")
            .map(Self)
    }

    fn now(&self) -> io::Result<()> {
        // 3: pages, and names with inodes (sysctl/vm.rst of the kernel).
        (&self.0).write_all(b"3")
    }
}

/// What failed where directories were made or removed, or caches dropped.
fn between(error: impl Into<io::Error>) -> FilesError {
    FilesError { step: None, error: error.into() }
}

/// Directory of a file.
fn directory_of(layout: &FilesLayout, file: u64) -> u64 {
    // The last one whose part begins at or before the file.
    (((file + 1) * layout.directories).div_ceil(layout.files) - 1).min(layout.directories - 1)
}

/// What is dropped before a step that reads.
#[derive(Debug)]
enum Dropped {
    Nothing,
    Data,
    All(DropCaches),
}

/// Files in a folder of our own.
pub struct RealFiles<'a> {
    folder: &'a OwnFolder,
    layout: FilesLayout,
    dropped: Dropped,
    stop: &'a AtomicBool,
    clock: Clock,
    process_io: Option<ProcessIo>,
    workers: Vec<Worker>,
}

/// What belongs to one worker over all rounds. Its loops allocate nothing.
struct Worker {
    /// Files that it created in this round, the first of its part.
    made: u64,
    /// Number of them that were renamed.
    renamed: u64,
    /// Files written with a flush.
    flushed: u64,
    /// Numbers of its files, shuffled anew before each step that reads.
    order: Vec<u32>,
    random: Xoshiro256PlusPlus,
    /// Content of a file.
    buffer: Vec<u8>,
    /// Room for names, always empty.
    listing: Vec<u8>,
}

impl<'a> RealFiles<'a> {
    /// Workers for a folder. With `uncached`, what is read is dropped from memory before: all of it where the kernel's
    /// switch is given, else the data of files.
    pub fn new(
        folder: &'a OwnFolder,
        layout: FilesLayout,
        uncached: Option<Option<DropCaches>>,
        seed: u64,
        stop: &'a AtomicBool,
    ) -> Self {
        let workers = (0..layout.workers).map(|nth| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(u64::from(nth)));
            let mut buffer = vec![0; layout.file_bytes as usize];
            random.fill_bytes(&mut buffer);
            let most = part(layout.files, u64::from(layout.workers), u64::from(nth));
            let order = Vec::with_capacity((most.end - most.start) as usize);
            let listing = Vec::with_capacity(LIST_BYTES);
            Worker { made: 0, renamed: 0, flushed: 0, order, random, buffer, listing }
        });
        let dropped = match uncached {
            None => Dropped::Nothing,
            Some(None) => Dropped::Data,
            Some(Some(switch)) => Dropped::All(switch),
        };
        let process_io = ProcessIo::open(&System::real()).ok();
        Self { folder, layout, dropped, stop, clock: Clock::real(), process_io, workers: workers.collect() }
    }

    fn prepare(&mut self, step: FileStep) -> Result<(), FilesError> {
        if matches!(step, FileStep::Stat | FileStep::Open | FileStep::Read) {
            for (worker, first) in self.workers.iter_mut().zip(firsts(&self.layout)) {
                worker.order.clear();
                worker.order.extend((first..first + worker.made).map(|file| file as u32));
                worker.order.shuffle(&mut worker.random);
            }
        }
        match &self.dropped {
            Dropped::All(switch) if step.reads() => switch.now().map_err(between),
            Dropped::Data if step == FileStep::Read => self.drop_data().map_err(between),
            _ => Ok(()),
        }
    }

    /// Drops the pages of each file; they are on storage by then.
    fn drop_data(&self) -> Result<(), Errno> {
        let mut name = FileName::new();
        for (worker, first) in self.workers.iter().zip(firsts(&self.layout)) {
            for file in first..first + worker.made {
                let path = name.set(directory_of(&self.layout, file), CREATED, file);
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                fadvise(
                    openat(self.folder.handle(), path, flags, Mode::empty())?,
                    0,
                    None,
                    Advice::DontNeed,
                )?;
            }
        }
        Ok(())
    }

    /// Runs all workers, which begin together.
    fn work(&mut self, step: FileStep, most_ns: u64) -> io::Result<Vec<Worked>> {
        let Clock::Real { counter, origin } = self.clock.clone() else {
            unreachable!("real files take real time")
        };
        let (folder, layout, stop) = (self.folder.handle(), self.layout, self.stop);
        let task = |nth: usize| Task { folder, layout, stop, nth: nth as u64, step, most_ns };
        if let [worker] = &mut self.workers[..] {
            return Ok(vec![task(0).on(self.clock.clone()).work(worker)?]);
        }
        let (gate, called_off) = (RwLock::new(()), AtomicBool::new(false));
        let (gate, called_off) = (&gate, &called_off);
        thread::scope(|scope| {
            let shut = gate.write();
            let start = |(nth, worker): (usize, _)| {
                let (task, counter) = (task(nth), counter.clone());
                let work = move || {
                    let bench = task.on(Clock::Real { counter, origin });
                    drop(gate.read());
                    let is_off = called_off.load(Ordering::Relaxed);
                    if is_off { Err(io::ErrorKind::Interrupted.into()) } else { bench.work(worker) }
                };
                thread::Builder::new().name(format!("files-{nth}")).spawn_scoped(scope, work)
            };
            let started: Vec<_> = self.workers.iter_mut().enumerate().map(start).collect();
            called_off.store(started.iter().any(Result::is_err), Ordering::Relaxed);
            drop(shut);
            let mut worked = Vec::with_capacity(started.len());
            let mut failed = None;
            for one in started {
                match one.map(thread::ScopedJoinHandle::join) {
                    Ok(Ok(Ok(one))) => worked.push(one),
                    Ok(Ok(Err(error))) => failed = failed.or(Some(error)),
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    Err(error) => return Err(error),
                }
            }
            failed.map_or(Ok(worked), Err)
        })
    }

    /// Removes the files of a step that was cut short, and those with a flush.
    fn clear(&mut self) -> Result<(), Errno> {
        let mut name = FileName::new();
        for (worker, first) in self.workers.iter_mut().zip(firsts(&self.layout)) {
            for file in first..first + worker.flushed {
                let path = name.set(directory_of(&self.layout, file), FLUSHED, file);
                unlinkat(self.folder.handle(), path, AtFlags::empty())?;
            }
            worker.flushed = 0;
        }
        Ok(())
    }
}

/// First file of each worker.
fn firsts(layout: &FilesLayout) -> impl Iterator<Item = u64> + use<> {
    let (files, workers) = (layout.files, u64::from(layout.workers));
    (0..workers).map(move |nth| part(files, workers, nth).start)
}

impl FilesPlace for RealFiles<'_> {
    fn begin(&mut self) -> Result<(), FilesError> {
        for number in 0..self.layout.directories {
            mkdirat(self.folder.handle(), name::directory(number), Mode::RWXU).map_err(between)?;
        }
        Ok(())
    }

    fn step(&mut self, step: FileStep, most_ns: u64) -> Result<FileStepTimes, FilesError> {
        self.prepare(step)?;
        let before_bytes = self.process_io.as_mut().and_then(ProcessIo::read_bytes);
        let worked = self.work(step, most_ns).map_err(|error| FilesError { step: Some(step), error })?;
        let after_bytes = self.process_io.as_mut().and_then(ProcessIo::read_bytes);
        let fetched_bytes =
            before_bytes.zip(after_bytes).and_then(|(before, after)| after.checked_sub(before));
        Ok(together(step, &worked, fetched_bytes))
    }

    fn sync(&mut self) -> Result<u64, FilesError> {
        let begin_ns = self.clock.now_ns();
        syncfs(self.folder.handle()).map_err(between)?;
        Ok(self.clock.now_ns() - begin_ns)
    }

    fn end(&mut self) -> Result<(), FilesError> {
        self.clear().map_err(between)?;
        for number in 0..self.layout.directories {
            unlinkat(self.folder.handle(), name::directory(number), AtFlags::REMOVEDIR).map_err(between)?;
        }
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}

/// What one worker has to do in one step.
#[derive(Clone, Copy)]
struct Task<'a> {
    folder: &'a File,
    layout: FilesLayout,
    stop: &'a AtomicBool,
    nth: u64,
    step: FileStep,
    most_ns: u64,
}

impl<'a> Task<'a> {
    /// A clock that reads the same as the others' belongs to one thread.
    fn on(self, clock: Clock) -> Bench<'a> {
        let Task { folder, layout, stop, most_ns, .. } = self;
        Bench { task: self, folder, layout, stop, clock, most_ns, name: FileName::new() }
    }
}

/// One worker in one step.
struct Bench<'a> {
    task: Task<'a>,
    folder: &'a File,
    layout: FilesLayout,
    stop: &'a AtomicBool,
    clock: Clock,
    most_ns: u64,
    name: FileName,
}

impl Bench<'_> {
    fn work(mut self, worker: &mut Worker) -> io::Result<Worked> {
        let Task { nth, step, .. } = self.task;
        let workers = u64::from(self.layout.workers);
        let own = part(self.layout.files, workers, nth);
        let first = own.start;
        match step {
            FileStep::Create => {
                let worked =
                    self.each(own, |bench, file| bench.write(file, CREATED, false, &mut worker.buffer))?;
                (worker.made, worker.renamed) = (worked.done, 0);
                Ok(worked)
            }
            FileStep::Stat => {
                let order = worker.order.iter().map(|file| u64::from(*file));
                self.each(order, Self::stat)
            }
            FileStep::Open => {
                let order = worker.order.iter().map(|file| u64::from(*file));
                self.each(order, |bench, file| bench.open(file).map(|_| 1))
            }
            FileStep::Read => {
                let Worker { order, buffer, .. } = worker;
                let order = order.iter().map(|file| u64::from(*file));
                self.each(order, |bench, file| bench.read(file, buffer))
            }
            FileStep::List => {
                let directories = part(self.layout.directories, workers, nth);
                self.each(directories, |bench, number| bench.list(number, &mut worker.listing))
            }
            FileStep::Rename => {
                let worked = self.each(first..first + worker.made, Self::rename)?;
                worker.renamed = worked.done;
                Ok(worked)
            }
            FileStep::Unlink => {
                let (renamed, end) = (first + worker.renamed, first + worker.made);
                // To its end: what stays would be removed without being timed.
                self.most_ns = u64::MAX;
                let worked = self.each(first..end, |bench, file| {
                    bench.unlink(file, if file < renamed { RENAMED } else { CREATED })
                })?;
                worker.made = 0;
                Ok(worked)
            }
            FileStep::WriteFsync => {
                let worked =
                    self.each(own, |bench, file| bench.write(file, FLUSHED, true, &mut worker.buffer))?;
                worker.flushed = worked.done;
                Ok(worked)
            }
        }
    }

    /// Does it with each as long as there is time; `act` returns how many it counts for.
    fn each(
        &mut self,
        all: impl Iterator<Item = u64>,
        mut act: impl FnMut(&mut Self, u64) -> Result<u64, Errno>,
    ) -> io::Result<Worked> {
        let mut latency = Histogram::new();
        let begin_ns = self.clock.now_ns();
        let mut done = 0;
        let mut before_ns = begin_ns;
        for one in all {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if before_ns - begin_ns >= self.most_ns {
                break;
            }
            done += act(self, one)?;
            let now_ns = self.clock.now_ns();
            latency.record(now_ns - before_ns);
            before_ns = now_ns;
        }
        Ok(Worked { done, begin_ns, end_ns: before_ns, latency })
    }

    fn write(&mut self, file: u64, letter: u8, flush: bool, buffer: &mut [u8]) -> Result<u64, Errno> {
        let content = &mut buffer[..self.layout.file_bytes as usize];
        for (block, number) in content.chunks_exact_mut(BLOCK_BYTES).zip(0_u64..) {
            block[..8].copy_from_slice(&(file << 16 | number).to_ne_bytes());
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.name.set(directory_of(&self.layout, file), letter, file);
        let made = openat(self.folder, path, flags, Mode::RUSR | Mode::WUSR)?;
        let mut left = &content[..];
        while !left.is_empty() {
            match rustix::io::write(&made, left)? {
                0 => return Err(Errno::NOSPC),
                written => left = &left[written..],
            }
        }
        if flush {
            fsync(&made)?;
        }
        Ok(1)
    }

    fn stat(&mut self, file: u64) -> Result<u64, Errno> {
        let path = self.name.set(directory_of(&self.layout, file), CREATED, file);
        statat(self.folder, path, AtFlags::SYMLINK_NOFOLLOW).map(|_| 1)
    }

    fn open(&mut self, file: u64) -> Result<rustix::fd::OwnedFd, Errno> {
        let path = self.name.set(directory_of(&self.layout, file), CREATED, file);
        openat(self.folder, path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    }

    fn read(&mut self, file: u64, buffer: &mut [u8]) -> Result<u64, Errno> {
        let open = self.open(file)?;
        let mut left = &mut buffer[..self.layout.file_bytes as usize];
        while !left.is_empty() {
            match rustix::io::read(&open, &mut *left)? {
                // Shorter than it was made.
                0 => return Err(Errno::IO),
                bytes => left = &mut left[bytes..],
            }
        }
        Ok(1)
    }

    fn list(&mut self, number: u64, listing: &mut Vec<u8>) -> Result<u64, Errno> {
        let path = self.name.directory(number);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = openat(self.folder, path, flags, Mode::empty())?;
        let mut entries = RawDir::new(open, listing.spare_capacity_mut());
        let mut names = 0;
        while let Some(entry) = entries.next() {
            names += u64::from(!matches!(entry?.file_name().to_bytes(), b"." | b".."));
        }
        Ok(names)
    }

    fn rename(&mut self, file: u64) -> Result<u64, Errno> {
        let directory = directory_of(&self.layout, file);
        let mut other = self.name.clone();
        let (from, to) = (self.name.set(directory, CREATED, file), other.set(directory, RENAMED, file));
        renameat(self.folder, from, self.folder, to).map(|()| 1)
    }

    fn unlink(&mut self, file: u64, letter: u8) -> Result<u64, Errno> {
        let path = self.name.set(directory_of(&self.layout, file), letter, file);
        unlinkat(self.folder, path, AtFlags::empty()).map(|()| 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_file_is_in_the_directory_whose_part_it_is_in(
            files in 1..5000_u64, directories in 1..100_u64, at in 0.0..1.0_f64,
        ) {
            let layout = FilesLayout { files, file_bytes: 0, directories: directories.min(files), workers: 1 };
            let file = (at * files as f64) as u64;
            let directory = directory_of(&layout, file);
            prop_assert!(part(files, layout.directories, directory).contains(&file), "{directory}");
        }
    }
}
