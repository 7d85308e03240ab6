//! Words of the check `direct-ignored`.

use iosonde_model::{cause::DirectIgnored, units};

use crate::text::absence;

/// `direct I/O of 450 MB added 420 MB to the page cache; it should add nothing`.
pub(super) fn words(cause: &DirectIgnored) -> String {
    match cause {
        DirectIgnored::Memory => "the target is in memory: direct I/O has nothing to bypass".to_owned(),
        DirectIgnored::CacheUnknown { said } if said.is_empty() => {
            "the contents of the page cache were not read".to_owned()
        }
        DirectIgnored::CacheUnknown { said } => {
            let said: Vec<String> = said.iter().map(absence).collect();
            format!("the contents of the page cache are unknown: {}", said.join("; "))
        }
        DirectIgnored::CacheGrew { grown_bytes, issued_bytes } => format!(
            "direct I/O of {} added {} to the page cache; it should add nothing",
            units::decimal_bytes(*issued_bytes),
            units::decimal_bytes(*grown_bytes)
        ),
        DirectIgnored::ServedFromCache { cached_share, moved_bytes, issued_bytes } => format!(
            "memory served direct I/O: {} of the span was cached, and the device moved {} of {}",
            units::percent(*cached_share),
            units::percent(*moved_bytes as f64 / *issued_bytes as f64),
            units::decimal_bytes(*issued_bytes)
        ),
        DirectIgnored::NoCount { cached_share } => format!(
            "{} of the span was already cached, and no counter shows what the device moved",
            units::percent(*cached_share)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_the_cache_is_said_in_numbers() {
        let cause = DirectIgnored::CacheGrew { grown_bytes: 420_000_000, issued_bytes: 450_000_000 };
        assert_eq!(
            words(&cause),
            "direct I/O of 450 MB added 420 MB to the page cache; it should add nothing"
        );
    }
}
