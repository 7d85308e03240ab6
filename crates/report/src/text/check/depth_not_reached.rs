//! Words of the check `depth-not-reached`.

use iosonde_model::cause::DepthNotReached;

pub(super) fn words(cause: &DepthNotReached) -> String {
    match cause {
        DepthNotReached::DepthIsLimit => {
            "with a rate or with flushes, the queue depth is a limit, not a target".to_owned()
        }
        DepthNotReached::Uncounted => "the queue depth was not recorded".to_owned(),
        DepthNotReached::Short { in_flight_mean, asked } => {
            format!(
                "the mean queue depth was {in_flight_mean:.1}, not {asked}: use more jobs or a non-blocking engine"
            )
        }
        DepthNotReached::TooFew { requests, asked } => {
            format!(
                "{requests} requests are too few to keep QD {asked}: allow more time, a larger job or `--max-write`"
            )
        }
        DepthNotReached::DeviceUnseen { asked } => {
            format!("the program kept queue depth {asked}; the depth at the device is unknown (no counters)")
        }
        DepthNotReached::ShortAtDevice { in_flight_mean, device_in_flight_mean, .. } => {
            format!(
                "only {device_in_flight_mean:.0} of {in_flight_mean:.0} outstanding requests reached the device at \
                 once: throughput is that of QD {device_in_flight_mean:.0}, latency includes the wait before it"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_depths_are_named() {
        let short = DepthNotReached::Short { in_flight_mean: 18.0, asked: 32.0 };
        assert!(words(&short).starts_with("the mean queue depth was 18.0, not 32: "), "{}", words(&short));
        let above = DepthNotReached::ShortAtDevice {
            in_flight_mean: 1023.8,
            device_in_flight_mean: 202.2,
            asked: 1024.0,
        };
        assert_eq!(
            words(&above),
            "only 202 of 1024 outstanding requests reached the device at once: throughput is that of QD 202, latency \
             includes the wait before it"
        );
    }
}
