//! Words of the check `saturated`.

use iosonde_model::{cause::Saturated, units};

use super::units::statistic;

pub(super) fn words(cause: &Saturated) -> String {
    match cause {
        Saturated::NoPercentile => "no percentile is given".to_owned(),
        Saturated::LastBin { op, percentile, bin_ns } => format!(
            "{op} {} is {} or more: the last bin of the histogram, which counts everything longer",
            statistic(*percentile),
            units::time(*bin_ns)
        ),
    }
}
