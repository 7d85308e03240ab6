//! How much of a file the page cache holds, asked with cachestat (Linux 6.5).
//!
//! mincore is no substitute: to a user who may not write the file it says that everything is resident.
//! cachestat refuses such a user with EPERM, and then there is no witness.

use std::{fs::File, io, ops::Range, os::fd::AsRawFd};

use iosonde_model::Absence;

/// Number of the system call; the same on every architecture.
const CACHESTAT: libc::c_long = 451;

/// An open file and the part of it that is addressed.
#[derive(Debug)]
pub(super) struct Residency {
    file: File,
    span: Range<u64>,
}

impl Residency {
    /// Tries once, so that a kernel or a user that cannot is known before the first trial.
    pub(super) fn open(file: &File, span: Range<u64>) -> Result<Self, Absence> {
        let file = file.try_clone().map_err(|error| why(&error))?;
        // One page suffices to learn whether it is allowed: the whole span may take milliseconds when
        // resident.
        resident_bytes(&file, span.start..span.end.min(span.start.saturating_add(1)))?;
        Ok(Self { file, span })
    }

    /// Looks at another part from now on.
    pub(super) fn set_span(&mut self, span: Range<u64>) {
        self.span = span;
    }

    /// Bytes of the span in the page cache now. Next to nothing for an empty cache; 0.1 ms a GiB on ext4,
    /// which caches in large pieces, up to 60 ns a page where every page stands alone.
    pub(super) fn bytes(&self) -> Result<u64, Absence> {
        resident_bytes(&self.file, self.span.clone())
    }

    /// Bytes of the span that were changed in the page cache and have not reached the device: dirty, or on their way.
    pub(super) fn dirty_bytes(&self) -> Result<u64, Absence> {
        of_pages(&self.file, self.span.clone(), |pages| pages.dirty.saturating_add(pages.under_write_back))
    }
}

/// Returns the bytes of `span` in the page cache: whole pages, at most the span.
pub fn resident_bytes(file: &File, span: Range<u64>) -> Result<u64, Absence> {
    of_pages(file, span, |pages| pages.cached)
}

fn of_pages(file: &File, span: Range<u64>, count: fn(&Cachestat) -> u64) -> Result<u64, Absence> {
    let length = span.end.saturating_sub(span.start);
    if length == 0 {
        // The kernel takes a length of 0 for "to the end".
        return Ok(0);
    }
    let pages = cachestat(file, span.start, length).map_err(|error| why(&error))?;
    let pages = count(&pages);
    Ok(pages.saturating_mul(rustix::param::page_size() as u64).min(length))
}

fn why(error: &io::Error) -> Absence {
    match error.raw_os_error() {
        Some(libc::EPERM) => Absence::PageCacheDenied,
        Some(libc::ENOSYS) => Absence::PageCacheUnsupported,
        errno => Absence::PageCacheFailed { errno },
    }
}

#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    under_write_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

fn cachestat(file: &File, offset: u64, length: u64) -> io::Result<Cachestat> {
    let range = CachestatRange { offset, length };
    let mut answer = Cachestat::default();
    // SAFETY: both structs have the kernel's layout (2 and 5 u64, all that the call reads and writes) and
    // outlive the call; the descriptor is open because `file` is borrowed. An unknown call number gives
    // ENOSYS.
    let result = unsafe {
        libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0 as libc::c_uint)
    };
    if result == 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_span_is_nothing_not_everything() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(resident_bytes(&file, 7..7), Ok(0));
    }

    #[test]
    fn what_was_written_is_resident() {
        use std::io::Write;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 40_000]).unwrap();
        match resident_bytes(&file, 0..40_000) {
            // Nothing has been asked to leave: all of it, and not a page more than the span.
            Ok(bytes) => assert_eq!(bytes, 40_000),
            Err(why) => {
                assert!(matches!(why, Absence::PageCacheDenied | Absence::PageCacheUnsupported), "{why:?}")
            }
        }
    }

    #[test]
    fn a_kernel_or_a_user_that_cannot_is_told_apart() {
        assert_eq!(why(&io::Error::from_raw_os_error(libc::EPERM)), Absence::PageCacheDenied);
        assert_eq!(why(&io::Error::from_raw_os_error(libc::ENOSYS)), Absence::PageCacheUnsupported);
    }
}
