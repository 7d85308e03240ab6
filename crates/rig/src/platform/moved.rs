//! Bytes by direction, and processors' time: counters that several systems have in the same form.

use iosonde_model::{Absence, Counter};

use crate::witness::grown;

/// Bytes that a device or this process moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

impl Moved {
    /// What was moved between two readings of `of`.
    pub(crate) fn since(before: Option<Self>, after: Option<Self>, of: &str) -> Result<Self, Absence> {
        let delta = |counter: Counter, count: fn(Self) -> u64| {
            grown(counter, of, before.map(count), after.map(count))
        };
        Ok(Self {
            read_bytes: delta(Counter::BytesRead, |moved| moved.read_bytes)?,
            write_bytes: delta(Counter::BytesWritten, |moved| moved.write_bytes)?,
        })
    }
}

/// Share of all processors' time that was not idle between two readings of (idle time, all time), in any unit.
pub(crate) fn busy_share(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Option<f64> {
    let ((idle_before, all_before), (idle_after, all_after)) = before.zip(after)?;
    let (idle, all) = (idle_after.checked_sub(idle_before)?, all_after.checked_sub(all_before)?);
    (all > 0).then(|| 1.0 - idle.min(all) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_busy_machine() {
        assert_eq!(busy_share(Some((100, 200)), Some((150, 300))), Some(0.5));
        assert_eq!(busy_share(Some((100, 200)), Some((100, 200))), None);
        assert_eq!(busy_share(None, Some((1, 2))), None);
    }

    #[test]
    fn a_counter_that_was_read_once_is_absent() {
        let (early, late) =
            (Moved { read_bytes: 5, write_bytes: 7 }, Moved { read_bytes: 9, write_bytes: 7 });
        assert_eq!(
            Moved::since(Some(early), Some(late), "disk0"),
            Ok(Moved { read_bytes: 4, write_bytes: 0 })
        );
        let why = Absence::NotReadTwice { counter: Counter::BytesRead, of: "disk0".into() };
        assert_eq!(Moved::since(None, Some(late), "disk0"), Err(why));
    }
}
