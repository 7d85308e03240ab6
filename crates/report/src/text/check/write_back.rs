//! Words of the check `write-back`.

use iosonde_model::{cause::WriteBack, units};

/// `the device took 6.8 % of the 2.31 GB written by the end of the trial; the rest was in memory`.
pub(super) fn words(cause: &WriteBack) -> String {
    let of = |bytes: &u64, issued_bytes: &u64| {
        let share = units::percent(*bytes as f64 / *issued_bytes as f64);
        format!("{share} of the {} written", units::decimal_bytes(*issued_bytes))
    };
    match cause {
        WriteBack::NotTaken { moved_bytes, issued_bytes } => format!(
            "the device took {} by the end of the trial; the rest was in memory",
            of(moved_bytes, issued_bytes)
        ),
        WriteBack::Dirty { dirty_after_bytes, issued_bytes } => {
            format!("{} was still in memory at the end of the trial", of(dirty_after_bytes, issued_bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_the_device_took() {
        // 150 of 2,200 MiB; 2.31 GB in all.
        assert_eq!(
            words(&WriteBack::NotTaken { moved_bytes: 150 << 20, issued_bytes: 2200 << 20 }),
            "the device took 6.8 % of the 2.31 GB written by the end of the trial; the rest was in memory"
        );
    }
}
