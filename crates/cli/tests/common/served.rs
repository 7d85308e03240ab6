//! A file that the test itself serves to the kernel (FUSE), so that every engine meets its faults: those of the kernel
//! too, which no library between program and kernel reaches. It needs root or fusermount;
//! where both are missing the test says so.

use std::{
    any::Any,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI32, AtomicU64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, Request, WriteFlags,
};

/// Moves half of what was requested.
pub(crate) const SHORT: i32 = -1;
/// Is never answered.
pub(crate) const NEVER: i32 = -2;
const FILE: INodeNo = INodeNo(2);
/// What the kernel remembers of names and sizes: they do not change.
const KNOWN_FOR: Duration = Duration::from_secs(3600);

/// A mounted folder with the file `data` in it.
pub(crate) struct Served {
    faults: Arc<Faults>,
    folder: PathBuf,
    session: Option<BackgroundSession>,
}

/// One transfer in so many meets a fault: an errno, SHORT or NEVER.
#[derive(Default)]
struct Faults {
    one_in: AtomicU64,
    kind: AtomicI32,
    draws: AtomicU64,
    /// Replies that were never sent. Dropping one would answer it.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

struct OneFile {
    bytes: Mutex<Vec<u8>>,
    /// Whether the page cache lies between, without which there is no mapping and no buffered request.
    cached: bool,
    faults: Arc<Faults>,
}

impl Served {
    /// Serves a file of so many MiB in a folder; says so where this user may not.
    pub(crate) fn at(folder: &Path, mib: usize) -> Option<Self> {
        Self::mount(folder, mib, false)
    }

    /// Like `new`, buffered.
    pub(crate) fn cached_at(folder: &Path, mib: usize) -> Option<Self> {
        Self::mount(folder, mib, true)
    }

    fn mount(folder: &Path, mib: usize, cached: bool) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let faults = Arc::new(Faults::default());
        let bytes = Mutex::new(vec![0xa5; mib << 20]);
        let file = OneFile { bytes, cached, faults: Arc::clone(&faults) };
        match fuser::spawn_mount(file, folder, &Config::default()) {
            Ok(session) => Some(Self { faults, folder: folder.to_owned(), session: Some(session) }),
            Err(error) => {
                eprintln!("skipped: no file system in user space (FUSE): {error}");
                None
            }
        }
    }

    /// From now on one transfer in so many meets this fault; 0 for none.
    pub(crate) fn meets(&self, kind: i32, one_in: u64) {
        self.faults.kind.store(kind, Ordering::SeqCst);
        self.faults.one_in.store(one_in, Ordering::SeqCst);
    }

    /// Waits until a request is there that will not be answered.
    pub(crate) fn keeps_one(&self) {
        while self.faults.kept.lock().unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Answers everything that waits, with an error, and what comes later as a sound file does.
    pub(crate) fn comes_back(&self) {
        self.meets(0, 0);
        self.faults.kept.lock().unwrap().clear();
    }

    /// What a device that is pulled out does: whatever is under way and comes later fails.
    pub(crate) fn pull_out(&self) {
        // The file is open, so that this unmounts nothing; it ends the connection first.
        let _ = Command::new("umount").arg("-f").arg(&self.folder).output();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.pull_out();
        self.faults.kept.lock().unwrap().clear();
        drop(self.session.take());
        let _ = Command::new("umount").args(["-q", "-l"]).arg(&self.folder).output();
    }
}

impl Faults {
    fn drawn(&self) -> Option<i32> {
        let one_in = self.one_in.load(Ordering::SeqCst);
        // splitmix64 of a counter: the same faults in every run.
        let mut draw =
            self.draws.fetch_add(1, Ordering::SeqCst).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        draw = (draw ^ (draw >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        draw = (draw ^ (draw >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let hit = one_in > 0 && (draw ^ (draw >> 31)).is_multiple_of(one_in);
        hit.then(|| self.kind.load(Ordering::SeqCst))
    }

    fn keep(&self, reply: impl Any + Send) {
        self.kept.lock().unwrap().push(Box::new(reply));
    }
}

impl OneFile {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        let size = if is_file { self.bytes.lock().unwrap().len() as u64 } else { 0 };
        FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o644 } else { 0o755 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for OneFile {
    /// As a block device does it, an asynchronous request does not wait inside the call.
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == "data" {
            reply.entry(&KNOWN_FOR, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&KNOWN_FOR, &self.attributes(inode));
    }

    /// Direct, so that the page cache hides no fault, unless buffered I/O is the subject.
    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let direct = if self.cached { FopenFlags::empty() } else { FopenFlags::FOPEN_DIRECT_IO };
        reply.opened(FileHandle(0), direct);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let bytes = self.bytes.lock().unwrap();
        let from = bytes.len().min(offset as usize);
        let part = &bytes[from..bytes.len().min(from + size as usize)];
        match self.faults.drawn() {
            None => reply.data(part),
            Some(SHORT) => reply.data(&part[..part.len() / 2]),
            Some(NEVER) => self.faults.keep(reply),
            Some(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = match self.faults.drawn() {
            None => data,
            Some(SHORT) => &data[..data.len() / 2],
            Some(NEVER) => return self.faults.keep(reply),
            Some(errno) => return reply.error(Errno::from_i32(errno)),
        };
        let mut bytes = self.bytes.lock().unwrap();
        match bytes.get_mut(offset as usize..offset as usize + data.len()) {
            Some(place) => {
                place.copy_from_slice(data);
                reply.written(data.len() as u32);
            }
            None => reply.error(Errno::ENOSPC),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}
