//! Words of the check `unmapped`.

use iosonde_model::{cause::Unmapped, units};

/// `50 % of the 1 GiB span are holes (512 MiB), read without storage access; fill the file first`.
pub(super) fn words(cause: &Unmapped) -> String {
    match cause {
        Unmapped::Unknown => "the file system or the device does not report holes".to_owned(),
        Unmapped::Holes { unmapped_bytes, span_bytes } => format!(
            "{} of the {} span are holes ({}), read without storage access; fill the file first",
            units::percent(*unmapped_bytes as f64 / (*span_bytes).max(1) as f64),
            units::size(*span_bytes),
            units::size(*unmapped_bytes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_said_in_numbers() {
        assert_eq!(
            words(&Unmapped::Holes { unmapped_bytes: 1 << 29, span_bytes: 1 << 30 }),
            "50 % of the 1 GiB span are holes (512 MiB), read without storage access; fill the file first"
        );
    }
}
