//! Words of the check `working-set`.

use iosonde_model::{cause::WorkingSet, units};

use crate::text::hidden_by;

/// `the area of 1 GiB fits into memory (8 GiB)`.
pub(super) fn words(cause: &WorkingSet) -> String {
    match cause {
        WorkingSet::Cached { cached_bytes, largest_bytes, ratio, working_set_bytes } => format!(
            "I/O within {} is {ratio:.1} times faster than within {}: a cache holds the working set ({})",
            units::size(*cached_bytes),
            units::size(*largest_bytes),
            units::size(*working_set_bytes)
        ),
        WorkingSet::FitsMemory { working_set_bytes, memory_bytes } => format!(
            "the area of {} fits into memory ({memory})",
            units::size(*working_set_bytes),
            memory = units::size(*memory_bytes)
        ),
        WorkingSet::MemoryUnknown { working_set_bytes } => format!(
            "the page cache may hold the working set ({}): the memory size of this machine is unknown",
            units::size(*working_set_bytes)
        ),
        WorkingSet::CacheOutside { working_set_bytes, layers } => format!(
            "whether {} holds the working set ({}) is unknown; use a `--size` several times its memory",
            hidden_by(layers).unwrap_or_default(),
            units::size(*working_set_bytes)
        ),
        WorkingSet::Imported => "the file does not state the memory size of the machine".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_named() {
        assert_eq!(
            words(&WorkingSet::FitsMemory { working_set_bytes: 1 << 30, memory_bytes: 8 << 30 }),
            "the area of 1 GiB fits into memory (8 GiB)"
        );
    }
}
