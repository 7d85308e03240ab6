//! Why there is no truth: the reasons, in words.

use iosonde_model::FindingName;

/// Why Hockney's line has no parameters here.
pub(super) const STAIRCASE: &str = "the medium's time is no straight line in the size: it goes by whole pages, or \
    waits for the slowest of several pieces";

/// Why no law of the present parts gives a value.
pub(super) fn why_not(finding: FindingName) -> String {
    let why = match finding {
        FindingName::RandomVsSequential | FindingName::StrideEffect => {
            "it depends on queue depth and span, and has no closed form here"
        }
        FindingName::StripeBytes => {
            "nothing is striped by address: there is one place, or a log that goes by the order of writing"
        }
        FindingName::MappingUnitBytes => "no part of this device maps addresses",
        FindingName::MixInterference => "it has no closed form here",
        FindingName::Crossover => "it depends on queue depth and on earlier writes",
        FindingName::WriteBufferBytes => "the device has no write buffer",
        FindingName::BurstRate => "no part takes writes faster than they last",
        FindingName::SustainedRate => "no part takes writes faster than they last",
        FindingName::CacheBytes => "the device has no cache",
        FindingName::CacheLatency => "the device has no cache, or its answer takes no time of its own",
        FindingName::ReadaheadBytes => "the host has no page cache",
        FindingName::ThrottleRate | FindingName::BurstCreditBytes => "nothing throttles the device",
        FindingName::ConstantLimit => "nothing throttles the device",
        FindingName::RotationPeriod | FindingName::SeekTimeAverage | FindingName::ZoneRatio => {
            "nothing rotates"
        }
        FindingName::Drift => "nothing drifts",
        FindingName::OrderEffect | FindingName::Shape => "it belongs to a run, not to the device",
        FindingName::Parallelism => "the device's laws do not say how much it does at once",
        FindingName::EffectiveDepth => "it belongs to a trial, not to the device",
        FindingName::IopsAtLatency => "it depends on the limit of the study",
        FindingName::NetworkRoundTrip => {
            "there is no network, or its server has no memory, so that its medium's time is part of every request"
        }
        FindingName::AlignmentEffect => {
            "it depends on the offset, the block size and the queue depth, and has no closed form here"
        }
        FindingName::BufferDrainRate => {
            "the device has no write buffer, or its drain depends on the pause or on what was written"
        }
        FindingName::HostSaturation => "it depends on the queue depth of each host",
        FindingName::JobsEffect => "it depends on how many workers there are and on their queue depth",
        FindingName::FastestSync => "it depends on the methods that are compared",
        FindingName::AcceleratorsFed | FindingName::CheckpointTime => {
            "it depends on the size of the reads and files, and on how many there are at once"
        }
        FindingName::ProcessorShare => "requests cost the program no time",
        FindingName::ProgramPlateau => "it depends on the sizes that are measured, and on what memory holds",
        // These have laws of their own, which say why where they give nothing.
        FindingName::DeviceBandwidth
        | FindingName::MaxIops
        | FindingName::BaseLatency
        | FindingName::PerRequestCost
        | FindingName::HalfSize
        | FindingName::PlateauBlockSize
        | FindingName::QueueDepthKnee
        | FindingName::DepthFor95Percent
        | FindingName::FlushLatency
        | FindingName::LogWritesPerS
        | FindingName::CommitLatency => "no law of this device's parts gives it",
    };
    why.to_owned()
}
