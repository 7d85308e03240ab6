//! Proof that hosts have the same storage before them: host 0 writes random bytes, and the others must read the same.
//!
//! What nobody may write is compared as it is, at several places. That tells most storage apart, and does not tell two
//! copies apart.

use std::{
    hash::{DefaultHasher, Hasher},
    io,
    sync::atomic::AtomicBool,
    time::Duration,
};

use iosonde_model::Op;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::{
    clock::monotonic_ns,
    engine::{Request, Storage},
    prepare,
    verify::{Transfer, Way},
};

/// Length of the marker: a whole block to every file system and disk.
pub const BLOCK_BYTES: u32 = 4096;
/// Blocks that are compared, evenly over what there is.
const COMPARED: u64 = 16;
/// Attributes of files are 3 s old at most where NFS is mounted as usual (`acregmin` of nfs(5)).
const PATIENCE_NS: u64 = 4_000_000_000;
const PAUSE: Duration = Duration::from_millis(50);
/// Every system has it.
const ENGINE: &str = "psync";

fn way(storage: &Storage, direct: bool) -> Way<'_> {
    Way { storage, engine: ENGINE, direct, job: 0, depth: 1, largest_bytes: u64::from(BLOCK_BYTES) }
}

/// Writes random bytes at the beginning of the storage, and waits until they are there.
///
/// # Errors
/// They could not be written.
pub fn write(storage: &Storage, direct: bool, seed: u64) -> io::Result<()> {
    let mut todo = Some(Request { slot: 0, op: Op::Write, length_bytes: BLOCK_BYTES, offset_bytes: 0 });
    let mut written = -1;
    let next = |slot, buffer: &mut [u8]| {
        StdRng::seed_from_u64(seed).fill(&mut buffer[..BLOCK_BYTES as usize]);
        todo.take().map(|request| Request { slot, ..request })
    };
    let done = |_: Request, result: i32, _: &[u8]| written = result;
    Transfer::open(way(storage, direct))?.run(next, done, &AtomicBool::new(false))?;
    if written != BLOCK_BYTES as i32 {
        return Err(failed(written));
    }
    match storage {
        Storage::File(file) => file.sync_all(),
        Storage::Simulated(_) => Ok(()),
    }
}

/// Returns a number for what the storage holds in its first `length_bytes`, at up to 16 places.
///
/// # Errors
/// It could not be read.
pub fn digest(storage: &Storage, direct: bool, length_bytes: u64) -> io::Result<u64> {
    if let (Storage::File(file), false) = (storage, direct) {
        prepare::drop_pages(file, 0..length_bytes);
    }
    let blocks = (length_bytes / u64::from(BLOCK_BYTES)).max(1);
    let compared = blocks.min(COMPARED);
    let mut places =
        (0..compared).map(|n| (u128::from(blocks) * u128::from(n) / u128::from(compared)) as u64);
    let next = |slot, _: &mut [u8]| {
        let offset_bytes = places.next()? * u64::from(BLOCK_BYTES);
        Some(Request { slot, op: Op::Read, length_bytes: BLOCK_BYTES, offset_bytes })
    };
    let (mut hasher, mut failure) = (DefaultHasher::new(), None);
    let done = |_: Request, result: i32, bytes: &[u8]| match usize::try_from(result) {
        Ok(read) => hasher.write(&bytes[..read.min(bytes.len())]),
        Err(_) => failure = Some(result),
    };
    Transfer::open(way(storage, direct))?.run(next, done, &AtomicBool::new(false))?;
    failure.map_or(Ok(hasher.finish()), |result| Err(failed(result)))
}

/// Returns true as soon as the storage holds what host 0 saw. A network file system may show an older size for some
/// seconds.
///
/// # Errors
/// It could not be read.
pub fn is_seen(storage: &Storage, direct: bool, length_bytes: u64, seen: u64) -> io::Result<bool> {
    let began_ns = monotonic_ns();
    loop {
        if digest(storage, direct, length_bytes)? == seen {
            return Ok(true);
        }
        if monotonic_ns() - began_ns > PATIENCE_NS {
            return Ok(false);
        }
        std::thread::sleep(PAUSE);
    }
}

fn failed(result: i32) -> io::Error {
    if result < 0 { io::Error::from_raw_os_error(-result) } else { io::ErrorKind::WriteZero.into() }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, sync::Arc};

    use super::*;
    use crate::platform::files;

    fn storage(bytes: u64) -> (Storage, Arc<File>) {
        let file = Arc::new(files::temporary(&std::env::temp_dir()).unwrap());
        file.set_len(bytes).unwrap();
        (Storage::File(Arc::clone(&file)), file)
    }

    #[test]
    fn what_was_written_tells_one_file_from_another() {
        let ((one, file), (other, _)) = (storage(0), storage(1 << 20));
        write(&one, false, 7).unwrap();
        let seen = digest(&one, false, 4096).unwrap();
        let again = Storage::File(Arc::new(file.try_clone().unwrap()));
        assert_eq!(digest(&again, false, 4096).unwrap(), seen, "the same file");
        assert_ne!(digest(&other, false, 4096).unwrap(), seen, "zeros");
        write(&other, false, 8).unwrap();
        assert_ne!(digest(&other, false, 4096).unwrap(), seen, "another marker");
    }

    #[test]
    fn what_nobody_may_write_is_compared_all_over() {
        use std::io::{Seek, SeekFrom, Write};
        let ((one, _), (other, file)) = (storage(1 << 20), storage(1 << 20));
        assert_eq!(digest(&one, false, 1 << 20).unwrap(), digest(&other, false, 1 << 20).unwrap());
        let mut file = &*file;
        file.seek(SeekFrom::Start((1 << 20) / 16 * 15)).unwrap();
        file.write_all(&[1]).unwrap();
        assert_ne!(digest(&one, false, 1 << 20).unwrap(), digest(&other, false, 1 << 20).unwrap());
    }
}
