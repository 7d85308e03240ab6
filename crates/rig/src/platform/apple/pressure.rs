//! Levels of pressure on memory.

/// Whether memory is short, from the kernel's level, `kern.memorystatus_vm_pressure_level`: 1 normal, 2 warning,
/// 4 critical.
pub(in crate::platform) fn memory_short(level: u32) -> Option<bool> {
    match level {
        1 => Some(false),
        2 | 4 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_short_and_an_unknown_level_is_none() {
        assert_eq!([1, 2, 4].map(memory_short), [Some(false), Some(true), Some(true)]);
        assert_eq!(memory_short(0), None);
    }
}
