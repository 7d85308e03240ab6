//! Words of the check `corrupted`.

use iosonde_model::{Verification, cause::Corrupted, units};

/// `1 lost, 2 torn of 1 k blocks read back: data corruption`.
pub(super) fn words(cause: &Corrupted) -> String {
    let Verification { checked, lost, torn, misplaced, stale, unreadable, unmarked } = cause.found;
    let read = units::count((checked + unmarked) as f64);
    if cause.bad > 0 {
        let kinds = [
            (lost, "lost"),
            (stale, "stale"),
            (torn, "torn"),
            (misplaced, "misplaced"),
            (unreadable, "unreadable"),
        ];
        let kinds =
            kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        return format!(
            "data corruption: {kinds} of {read} blocks read back; save your data from this storage"
        );
    }
    if checked == 0 {
        return format!("none of {read} blocks read back carries the mark of `--verify`");
    }
    format!(
        "{unmarked} of {read} blocks read back carry no mark of `--verify`: overwritten, or damaged as a whole"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corruption_comes_before_missing_marks() {
        let of = |found: Verification| words(&found.into());
        let found = Verification { checked: 1000, stale: 2, ..Verification::default() };
        assert_eq!(
            of(Verification { unmarked: 5, ..found }),
            "data corruption: 2 stale of 1.00 k blocks read back; save your data from this storage"
        );
        let unmarked = Verification { stale: 0, unmarked: 1, ..found };
        assert!(of(unmarked).starts_with("1 of 1.00 k blocks read back carry no mark"), "{}", of(unmarked));
    }
}
