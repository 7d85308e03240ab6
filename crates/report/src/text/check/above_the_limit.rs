//! Words of the check `above-the-limit`.

use iosonde_model::{cause::AboveTheLimit, units};

/// `472 MB/s is above the limit of one rotating disk (300 MB/s): probably a cache`.
pub(super) fn words(cause: &AboveTheLimit) -> String {
    match cause {
        AboveTheLimit::NoLimit { link: Some(link) } => format!("a {link} link has no known limit"),
        AboveTheLimit::NoLimit { link: None } => {
            "neither the link nor the medium of this target has a known limit".to_owned()
        }
        AboveTheLimit::Link { link, bytes_per_s, limit_bytes_per_s } => format!(
            "{} is above the limit of {link} ({}): probably a cache",
            units::rate(*bytes_per_s),
            units::rate(*limit_bytes_per_s)
        ),
        AboveTheLimit::RandomReads { iops, limit_iops, .. } => format!(
            "{} random reads per second are above the limit of one rotating disk ({limit_iops}): probably a cache",
            units::count(*iops)
        ),
        AboveTheLimit::DiskThroughput { bytes_per_s, limit_bytes_per_s, .. } => format!(
            "{} is above the limit of one rotating disk ({}): probably a cache",
            units::rate(*bytes_per_s),
            units::rate(*limit_bytes_per_s)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usb_disk_as_fast_as_an_ssd_is_said_in_numbers() {
        let cause = AboveTheLimit::DiskThroughput {
            bytes_per_s: 471.9e6,
            limit_bytes_per_s: 300e6,
            times_the_limit: 1.573,
        };
        assert_eq!(
            words(&cause),
            "472 MB/s is above the limit of one rotating disk (300 MB/s): probably a cache"
        );
    }
}
