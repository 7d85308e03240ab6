//! Differences of counters.

use iosonde_model::{Absence, Counter};

/// `after - before` of a counter of a device, mount or file; or that it was not read or went backwards.
pub(crate) fn grown(
    counter: Counter,
    of: &str,
    before: Option<u64>,
    after: Option<u64>,
) -> Result<u64, Absence> {
    let (Some(before), Some(after)) = (before, after) else {
        return Err(Absence::NotReadTwice { counter, of: of.to_owned() });
    };
    let backwards = || Absence::WentBackwards { counter, of: of.to_owned(), before, after };
    after.checked_sub(before).ok_or_else(backwards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_goes_backwards_is_absent_with_a_reason() {
        let counter = Counter::SectorsRead;
        let of = || "sda".to_owned();
        assert_eq!(grown(counter, "sda", Some(3), Some(10)), Ok(7));
        assert_eq!(
            grown(counter, "sda", Some(10), Some(3)),
            Err(Absence::WentBackwards { counter, of: of(), before: 10, after: 3 })
        );
        assert_eq!(grown(counter, "sda", None, Some(3)), Err(Absence::NotReadTwice { counter, of: of() }));
    }
}
