//! An engine without the measured loop: requests by hand, on a file of its own.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    os::fd::AsRawFd,
    path::Path,
    sync::{Arc, Mutex},
};

use iosonde_model::{LoopNote, Op, Sync};
use iosonde_rig::{
    buffer::BufferPool,
    engine::{self, Bench, Completion, ENGINES, Engine, Request, Storage},
};

pub const BLOCK: u32 = 4096;

/// Says on the terminal, past the test harness, that something was not tested; once, however many tests ask.
pub fn skip(what: &str, why: impl std::fmt::Display) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("skipped: {what}: {why}");
    if SAID.lock().unwrap().insert(line.clone()) {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Every engine that moves data of real files, alone and with each of its options.
pub fn real_engines() -> Vec<String> {
    let real = ENGINES.iter().filter(|kind| !["sim", "null"].contains(&kind.name()));
    real.flat_map(|kind| {
        let name = kind.name();
        let with = kind.options().iter().map(move |option| format!("{name}:{}", option.name));
        std::iter::once(name.to_owned()).chain(with)
    })
    .collect()
}

/// A file on the file system of the system's temporary files, with its descriptor.
pub struct Scratch {
    pub file: tempfile::NamedTempFile,
    pub storage: Storage,
    pub direct: bool,
}

impl Scratch {
    /// `blocks` of 4 KiB, each filled with its number; `None` where the file system has no direct I/O.
    pub fn new(blocks: u32, direct: bool) -> Option<Self> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        (0..blocks).for_each(|number| file.write_all(&[number as u8; BLOCK as usize]).unwrap());
        file.as_file().sync_all().unwrap();
        let open = File::options().read(true).write(true).open(file.path()).unwrap();
        if direct && !set_direct(&open) {
            return None;
        }
        Some(Self { file, storage: Storage::File(Arc::new(open)), direct })
    }

    /// The same engines on something else that can be opened.
    pub fn open(&mut self, path: &Path) {
        let open = File::options().read(true).write(true).open(path).unwrap();
        self.storage = Storage::File(Arc::new(open));
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    pub fn descriptor(&self) -> &File {
        match &self.storage {
            Storage::File(file) => file,
            Storage::Simulated(_) => unreachable!("it is a file"),
        }
    }

    /// The number of each block, as another program reads them.
    pub fn numbers(&self) -> Vec<u8> {
        let data = fs::read(self.path()).unwrap();
        let uniform = |block: &[u8]| block.iter().all(|&byte| byte == block[0]).then_some(block[0]);
        data.chunks(BLOCK as usize).map(|block| uniform(block).expect("a block of one byte")).collect()
    }

    /// Opens an engine on it; the sentence says why it cannot be.
    pub fn desk(&self, name: &str, depth: u32, sync: Sync) -> Result<Desk, String> {
        let chosen = engine::choose(&self.storage, Some(name)).map_err(|why| why.to_string())?;
        let (kind, options) = engine::named(name).unwrap();
        let depth = depth.min(chosen.abilities.depth_max);
        let buffers = BufferPool::new(depth, u64::from(BLOCK)).unwrap();
        let bench = Bench {
            verify: false,
            storage: &self.storage,
            depth,
            buffers: &buffers,
            direct: self.direct,
            sync,
            options: &options,
            job: 0,
            host: 0,
            new_files: None,
        };
        let opened = kind.open(&bench).map_err(|error| error.to_string())?;
        Ok(Desk { name: name.to_owned(), engine: opened.engine, notes: opened.notes, buffers, depth })
    }
}

fn set_direct(file: &File) -> bool {
    let flags = rustix::fs::fcntl_getfl(file).unwrap();
    rustix::fs::fcntl_setfl(file, flags | rustix::fs::OFlags::DIRECT).is_ok()
}

/// An open engine and its buffers. The engine is dropped first.
pub struct Desk {
    pub engine: Box<dyn Engine>,
    pub name: String,
    pub notes: Vec<LoopNote>,
    pub buffers: BufferPool,
    pub depth: u32,
}

impl Desk {
    /// Sends requests one batch of the depth after the other, and returns what became of each, in order. `op` is of
    /// whole blocks, by their numbers; the buffer is filled with the number before a write.
    pub fn blocks(&mut self, op: Op, numbers: impl IntoIterator<Item = u32>) -> Vec<i32> {
        let numbers: Vec<u32> = numbers.into_iter().collect();
        let mut results = Vec::new();
        for batch in numbers.chunks(self.depth as usize) {
            let request = |(slot, &number): (u32, &u32)| {
                if op == Op::Write {
                    self.fill(slot, number as u8);
                }
                Request { slot, op, length_bytes: BLOCK, offset_bytes: u64::from(number) * u64::from(BLOCK) }
            };
            let requests: Vec<Request> = (0..).zip(batch).map(request).collect();
            results.extend(self.send(&requests).iter().map(|completion| completion.result));
        }
        results
    }

    pub fn flush(&mut self) -> i32 {
        self.send(&[Request { slot: 0, op: Op::Flush, length_bytes: 0, offset_bytes: 0 }])[0].result
    }

    /// Sends requests and waits for all of them; sorted by slot.
    pub fn send(&mut self, mut requests: &[Request]) -> Vec<Completion> {
        let (mut all, mut done) = (Vec::new(), Vec::with_capacity(self.depth as usize));
        let asked = requests.len();
        let mut in_vain = 0;
        // Each wait takes a second at most: storage that needs longer than a minute is broken, not slow.
        while in_vain < 60 {
            let taken = self.engine.submit(0, requests).unwrap();
            requests = &requests[taken..];
            done.clear();
            self.engine.reap(1_000_000_000, &mut done).unwrap();
            all.extend_from_slice(&done);
            in_vain += u32::from(done.is_empty());
            if all.len() == asked {
                all.sort_by_key(|completion: &Completion| completion.slot);
                return all;
            }
        }
        panic!("{}: {} of {asked} requests came back", self.name, all.len());
    }

    pub fn fill(&self, slot: u32, byte: u8) {
        // SAFETY: the slot has BLOCK bytes, and nothing is outstanding between two batches.
        unsafe { std::ptr::write_bytes(self.buffers.slot(slot), byte, BLOCK as usize) };
    }

    pub fn bytes(&self, slot: u32) -> Vec<u8> {
        // SAFETY: as in `fill`.
        unsafe { std::slice::from_raw_parts(self.buffers.slot(slot), BLOCK as usize) }.to_vec()
    }
}

/// Pages of a file in the page cache: all of them, and the dirty ones. `None` where the kernel cannot tell.
pub fn cached_pages(file: &File) -> Option<(u64, u64)> {
    // struct cachestat: cached, dirty, under write-back, evicted, recently evicted. 451 everywhere (Linux 6.5).
    let (range, mut counts) = ([0_u64, 0], [0_u64; 5]);
    // SAFETY: the kernel reads two and writes five numbers of ours.
    let asked = unsafe { libc::syscall(451, file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0) };
    (asked == 0).then_some((counts[0], counts[1] + counts[2]))
}
