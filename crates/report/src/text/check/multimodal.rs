//! Words of the check `multimodal`.

use iosonde_model::{cause::Multimodal, units};

pub(super) fn words(cause: &Multimodal) -> String {
    match *cause {
        Multimodal::NoTrials => "no trial of the point is valid".to_owned(),
        Multimodal::NoLatencies => "no latency histogram is given".to_owned(),
        Multimodal::TooFewRequests { requests, needed } => {
            format!("{requests} requests; latency groups need {needed}")
        }
        Multimodal::Groups { op, low_share, low_ns, high_share, high_ns, mean_ns } => format!(
            "two latency groups of {op}s, {} ({}) and {} ({}); use percentiles, not the mean ({})",
            units::time(low_ns),
            units::percent(low_share),
            units::time(high_ns),
            units::percent(high_share),
            units::time(mean_ns)
        ),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Op;

    use super::*;

    #[test]
    fn both_groups_stand_with_their_shares() {
        let groups = Multimodal::Groups {
            op: Op::Write,
            low_share: 0.9,
            low_ns: 115e3,
            high_share: 0.1,
            high_ns: 387e3,
            mean_ns: 142.2e3,
        };
        assert_eq!(
            words(&groups),
            "two latency groups of writes, 115 µs (90 %) and 387 µs (10 %); use percentiles, not the mean (142 µs)"
        );
    }
}
