//! How large an own file may become.

/// Less than this is not worth measuring: it fits every write buffer and read cache there is.
pub(crate) const ROOM_MIN_BYTES: u64 = 64 << 20;

/// The most that is taken where a file system does not tell its size, as some user-space ones do not:
/// enough to measure, and little to clean up should it be too much.
const UNTOLD_BYTES: u64 = 1 << 30;

/// What stays free for others: a tenth, so that a small file system does not run full, and on a large one no more than
/// this. A tenth of 20 TB would refuse a file of 64 MiB where 1.9 TB are free.
const STAYS_FREE_MAX_BYTES: u64 = 10 << 30;

/// Space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Free bytes for this user; `None` if the file system does not report them.
    pub(crate) available_bytes: Option<u64>,
    /// The file system's size; 0 where it does not tell.
    pub(crate) total_bytes: u64,
    /// Largest size of an own file: at most half of the available bytes, and a tenth of the file system (10 GiB at
    /// most) stays free.
    pub(crate) own_bytes: u64,
    /// Size of an own file that takes the room of all: a fiftieth of what is available stays.
    pub(crate) whole_bytes: u64,
    /// True if not the file system but a limit of this process (`ulimit -f`) is the narrow place.
    pub(crate) process_limit: bool,
}

/// The room by the rules; `file_limit_bytes` is the largest file of this process.
pub(crate) fn share(total_bytes: u64, available_bytes: Option<u64>, file_limit_bytes: Option<u64>) -> Room {
    let stays_bytes = (total_bytes / 10).min(STAYS_FREE_MAX_BYTES);
    let by_rules =
        available_bytes.map_or(UNTOLD_BYTES, |bytes| (bytes / 2).min(bytes.saturating_sub(stays_bytes)));
    let limit_bytes = file_limit_bytes.unwrap_or(u64::MAX);
    let own_bytes = by_rules.min(limit_bytes);
    // Programs that write a little meanwhile find room: 64 MiB at least.
    let whole = |bytes: u64| bytes.saturating_sub((bytes / 50).max(ROOM_MIN_BYTES));
    let whole_bytes = available_bytes.map_or(UNTOLD_BYTES, whole).min(limit_bytes);
    Room { available_bytes, total_bytes, own_bytes, whole_bytes, process_limit: own_bytes < by_rules }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn half_of_what_is_available_unless_a_tenth_must_stay() {
        // 100 GiB with 80 free: half is 40, which leaves 40 > 10.
        assert_eq!(share(100 * GIB, Some(80 * GIB), None).own_bytes, 40 * GIB);
        // 100 GiB with 12 free: half is 6, but 10 must stay.
        assert_eq!(share(100 * GIB, Some(12 * GIB), None).own_bytes, 2 * GIB);
        assert_eq!(share(100 * GIB, Some(9 * GIB), None).own_bytes, 0);
        // A large one with little of it free keeps 10 GiB, not a tenth.
        assert_eq!(share(1000 * GIB, Some(24 * GIB), None).own_bytes, 12 * GIB);
        assert_eq!(share(1000 * GIB, Some(12 * GIB), None).own_bytes, 2 * GIB);
        let limited = share(100 * GIB, Some(80 * GIB), Some(GIB));
        assert_eq!(share(0, None, None).own_bytes, GIB);
        assert_eq!((limited.own_bytes, limited.process_limit), (GIB, true));
    }

    #[test]
    fn who_takes_all_leaves_a_fiftieth_and_64_mib_at_least() {
        let whole_bytes = |available, limit| share(100 * GIB, available, limit).whole_bytes;
        assert_eq!(whole_bytes(Some(50 * GIB), None), 49 * GIB);
        assert_eq!(whole_bytes(Some(GIB), None), GIB - ROOM_MIN_BYTES);
        assert_eq!(whole_bytes(Some(ROOM_MIN_BYTES / 2), None), 0);
        assert_eq!(whole_bytes(Some(50 * GIB), Some(GIB)), GIB);
        assert_eq!(whole_bytes(None, None), UNTOLD_BYTES);
    }

    proptest! {
        #[test]
        fn the_rules_hold_everywhere(total: u64, available: u64, limit: Option<u64>) {
            let available = available.min(total);
            let own = share(total, Some(available), limit).own_bytes;
            prop_assert!(own <= available / 2);
            prop_assert!(own == 0 || available - own >= (total / 10).min(10 * GIB));
        }
    }
}
