//! Words of the check `missed-rate`.

use iosonde_model::{cause::MissedRate, units};

pub(super) fn words(cause: &MissedRate) -> String {
    match *cause {
        MissedRate::Uncounted => "the sustained rate was not recorded".to_owned(),
        MissedRate::LatenessUncounted => {
            "the rate was sustained; how late requests were submitted was not recorded".to_owned()
        }
        MissedRate::Short { achieved_rate_iops, asked_rate_iops, unserved } => {
            let never = match unserved {
                0 => String::new(),
                count => format!("; {} requests were never sent", units::count(count as f64)),
            };
            let (achieved, asked) = (units::count(achieved_rate_iops), units::count(asked_rate_iops));
            format!("sustained {achieved} of {asked} requested IOPS{never}")
        }
        MissedRate::Late { pacing_error_ns_p99, latency_ns_p50 } => format!(
            "the generator sent 1 % of the requests {} late or later (median latency: {})",
            units::time(pacing_error_ns_p99),
            units::time(latency_ns_p50)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rates_are_named() {
        let short = |unserved| {
            words(&MissedRate::Short { achieved_rate_iops: 50.6e3, asked_rate_iops: 64e3, unserved })
        };
        assert_eq!(short(0), "sustained 50.6 k of 64 k requested IOPS");
        assert!(short(3970).ends_with("IOPS; 3.97 k requests were never sent"), "{}", short(3970));
    }
}
