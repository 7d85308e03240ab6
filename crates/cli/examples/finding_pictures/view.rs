//! What each picture shows: which figure over what, and where the truth lies in it.

use iosonde_model::{Finding, FindingName, Run};

use crate::data::{self, Axis, Figure};
use crate::frame::{Frame, Mark};

/// The picture for a finding whose truth is known.
pub fn of(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let over = |axis: &Axis, figure| data::over(run, finding, axis, figure);
    let level = |frame: Frame| frame.with(Mark::level(truth));
    let place = |frame: Frame| frame.with(Mark::place(truth));
    match finding.name {
        FindingName::DeviceBandwidth => level(data::bars(run, finding, Figure::Rate)),
        FindingName::MaxIops => level(over(&data::IN_FLIGHT, Figure::Requests)),
        FindingName::QueueDepthKnee | FindingName::DepthFor95Percent => {
            place(over(&data::IN_FLIGHT, Figure::Requests))
        }
        FindingName::HostSaturation => place(over(&data::HOSTS, Figure::Requests)),
        FindingName::BaseLatency => level(data::quantiles(run, finding)),
        FindingName::PerRequestCost => level(over(&data::BLOCK, Figure::TimeEach).logarithmic()),
        FindingName::HalfSize | FindingName::PlateauBlockSize | FindingName::ProgramPlateau => {
            place(over(&data::BLOCK, Figure::Rate))
        }
        FindingName::RandomVsSequential
        | FindingName::StrideEffect
        | FindingName::AlignmentEffect
        | FindingName::JobsEffect => times_first(data::bars(run, finding, Figure::Requests), truth),
        FindingName::MixInterference => times_first(data::bars(run, finding, Figure::MeanTime), truth),
        FindingName::Shape => times_most(over(&data::STRIDE, Figure::Requests), truth),
        FindingName::Parallelism => times_least(over(&data::STRIDE, Figure::Requests), truth),
        FindingName::StripeBytes => place(over(&data::STRIDE, Figure::Requests)),
        FindingName::Crossover => place(data::both(run, finding, &data::IN_FLIGHT)),
        FindingName::CacheBytes => place(over(&data::SPAN, Figure::Requests)),
        FindingName::CacheLatency => level(data::all(run, &data::SPAN, Figure::MeanTime).logarithmic()),
        FindingName::MappingUnitBytes => place(over(&data::BLOCK, Figure::Requests)),
        FindingName::ReadaheadBytes => data::pieces(run, finding, truth),
        FindingName::BurstRate | FindingName::SustainedRate => level(data::course(run, finding)),
        FindingName::WriteBufferBytes | FindingName::BurstCreditBytes => level(data::beyond(run, finding)),
        FindingName::ThrottleRate => level(data::whole_course(run, finding)),
        FindingName::ConstantLimit => level(data::by_trial(run, finding, Figure::Requests)),
        FindingName::EffectiveDepth => level(data::by_trial(run, finding, Figure::InFlight)),
        FindingName::Drift => data::over_time(run, finding, truth),
        FindingName::OrderEffect => data::by_what_came_before(run, finding, truth),
        FindingName::FlushLatency => level(data::quantiles(run, finding)),
        FindingName::LogWritesPerS | FindingName::FastestSync => {
            level(data::by_trial(run, finding, Figure::Requests))
        }
        FindingName::ProcessorShare => level(data::by_trial(run, finding, Figure::Busy)),
        FindingName::RotationPeriod => data::turn(run, finding, truth),
        FindingName::SeekTimeAverage => data::seeks(run, finding, truth),
        FindingName::ZoneRatio => data::zones(run, finding, truth),
        FindingName::IopsAtLatency => data::loads(run, finding).with(Mark::place(truth)),
        _ => usual(run, finding, truth),
    }
}

/// By the unit alone, for a finding that nothing above knows.
fn usual(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let Some(axis) = data::widest(run, finding) else {
        return match finding.unit.name() {
            "B/s" => data::course(run, finding).with(Mark::level(truth)),
            "ns" => data::quantiles(run, finding).with(Mark::level(truth)),
            "IOPS" => data::by_trial(run, finding, Figure::Requests).with(Mark::level(truth)),
            "B" => data::beyond(run, finding).with(Mark::level(truth)),
            _ => data::bars(run, finding, Figure::Requests),
        };
    };
    let over = |figure| data::over(run, finding, axis, figure);
    match finding.unit.name() {
        "B/s" => over(Figure::Rate).with(Mark::level(truth)),
        "ns" => over(Figure::TimeEach).logarithmic().with(Mark::level(truth)),
        "IOPS" => over(Figure::Requests).with(Mark::level(truth)),
        "B" | "requests" => over(Figure::Requests).with(Mark::place(truth)),
        _ => over(Figure::Requests),
    }
}

fn times(frame: Frame, of: Option<f64>, truth: f64, what: &str) -> Frame {
    let words = format!("true: {} × {what}", crate::scale::short(&format!("{truth:.3}")));
    match of {
        Some(of) => frame.with(Mark::Level { at: of * truth, words, is_truth: true }),
        None => frame,
    }
}

fn times_first(frame: Frame, truth: f64) -> Frame {
    let first = frame.values().next();
    times(frame, first, truth, "the first")
}

fn times_most(frame: Frame, truth: f64) -> Frame {
    let most = frame.values().reduce(f64::max);
    times(frame, most, truth, "the others")
}

fn times_least(frame: Frame, truth: f64) -> Frame {
    let least = frame.values().reduce(f64::min);
    times(frame, least, truth, "the slowest, where all meet on one")
}
