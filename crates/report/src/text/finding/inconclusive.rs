//! Words of why a finding is inconclusive.

use crate::text::number::{self, Style, with_interval};
use iosonde_model::{About, Estimate, Inconclusive, Unit};

use super::{cached, lack, limit, long_write, mapping_unit, platter, readahead};
use super::{
    curve, drift, effect, hosts, latency_limit, layout, queue_depth, size_law, training, value::depths,
};

/// A clause without its full stop.
pub(super) fn words(why: &Inconclusive) -> String {
    match why {
        Inconclusive::TooFewTrials { spec, valid, run, needed, about } => {
            let about = match about {
                About::All | About::Device => "",
                About::Rate => " for throughput",
                About::Latency => " for latency",
                About::Depth => " for queue depth",
            };
            let what = spec.describe();
            if valid == run {
                format!("{run} trials of {what}; {needed} are needed")
            } else if *valid == 0 {
                format!("none of the {run} trials of {what} is valid{about}")
            } else {
                format!("only {valid} of {run} trials of {what} are valid{about} ({needed} are needed)")
            }
        }
        Inconclusive::NoInterval { spec } => format!("{} has no confidence interval", spec.describe()),
        Inconclusive::NotANumber { spec } => {
            format!("trials of {} took no time, or their figures are not finite", spec.describe())
        }
        Inconclusive::EstimateNotANumber => "the estimate is not finite".to_owned(),
        Inconclusive::WideInterval { unit, low, high } if number::says_nothing(*unit, *low, *high) => {
            "trials differ so much that not even a factor of 100 is certain; use a longer `--time`".to_owned()
        }
        Inconclusive::WideInterval { unit, low, high } => {
            let estimate = Estimate { value: *low, low: Some(*low), high: Some(*high) };
            // Its name says that it is a queue depth.
            let style = if *unit == Unit::InFlight { Style::bare(*unit) } else { (*unit).into() };
            format!("it lies {}; use a longer `--time`", with_interval(style, &estimate))
        }
        Inconclusive::Effect(problem) => effect::problem(*problem),
        Inconclusive::UnsureFeature(feature) => curve::unsure(feature),
        Inconclusive::RoomForFeature(room) => curve::room(room),
        Inconclusive::CloseCurves => {
            "reads and writes are too close together, or too uncertain; use a longer `--time`".to_owned()
        }
        Inconclusive::Drift(problem) => drift::problem(problem),
        Inconclusive::DiskThatNeverWaits => {
            "requests to this rotating disk never wait for a platter, so a cache answers them; use a larger `--size`"
                .to_owned()
        }
        Inconclusive::Lacks(lack) => lack::words(*lack),
        Inconclusive::FewFigures { trials, needed } => {
            format!("trials that have this figure: {trials}; {needed} are needed")
        }
        Inconclusive::Cache(problem) => cached::problem(*problem),
        Inconclusive::Readahead(problem) => readahead::problem(problem),
        Inconclusive::LongWrite(problem) => long_write::problem(*problem),
        Inconclusive::Limit(problem) => limit::problem(*problem),
        Inconclusive::MappingUnit(problem) => mapping_unit::problem(problem),
        Inconclusive::Platter(problem) => platter::problem(problem),
        Inconclusive::NothingMeasured => "nothing was measured".to_owned(),
        Inconclusive::NoCpuTime => "too few trials have a CPU time".to_owned(),
        Inconclusive::SizeLaw(problem) => size_law::problem(problem),
        Inconclusive::QueueDepth(problem) => queue_depth::problem(problem),
        Inconclusive::Hosts(problem) => hosts::problem(problem),
        Inconclusive::ExcludedDepths { queue_depths, .. } => format!(
            "at {}, the device held fewer than half of the requests at once; the other depths show no knee",
            depths(queue_depths)
        ),
        Inconclusive::LatencyLimit { problem, .. } => latency_limit::problem(problem),
        Inconclusive::Layout(problem) => layout::problem(problem),
        Inconclusive::CheckpointCutShort { bytes } => training::cut_short(*bytes),
    }
}
