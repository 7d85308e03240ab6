//! A flush that writes out whatever the page cache has taken, for as long as that takes: 5 GB to a disk of 100 MB/s are
//! 50 s. No call is given up while there is one.

use std::sync::atomic::{AtomicUsize, Ordering};

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// One that is under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct LongFlush(());

impl LongFlush {
    pub(crate) fn begin() -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Returns true while any is.
    pub(crate) fn is_under_way() -> bool {
        UNDER_WAY.load(Ordering::Relaxed) > 0
    }
}

impl Drop for LongFlush {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}
